// See config.h.
#include "sched/fiber/config.h"

namespace posset::sched::fiber {

const char* explain(Scheduled answer) {
  switch (answer) {
    case Scheduled::Accepted: return "accepted";
    case Scheduled::QueueFull: return "too many tasks wait to begin: try again later, or raise max_pending";
    case Scheduled::Stopped: return "the executors have stopped";
    case Scheduled::NotBound:
      return "this thread is not bound to the executors: bind it, or configure worker threads";
    case Scheduled::NoThread: return "the system gave no thread to run tasks on";
  }
  return "";
}

namespace {

std::string lines_of(const std::vector<BlockedTask>& blocked) {
  std::string text;
  for (const BlockedTask& task : blocked) {
    text += "\n  " + task.title + " waits for " + task.waits_for + " on worker " + std::to_string(task.worker) +
            (task.timed ? ", with a deadline" : "");
  }
  return text;
}

}  // namespace

std::string StuckReport::text() const {
  std::string text = std::to_string(blocked.size()) + " tasks are blocked and nothing else goes on";
  if (reason == Reason::AtCap) {
    text = std::to_string(waiting) + " tasks wait to begin and every fiber is blocked: a deadlock, or max_fibers is too low";
  }
  return text + lines_of(blocked);
}

std::string StopReport::text() const {
  if (in_time) return "everything ended in time";
  return std::to_string(never_began) + " tasks never began, " + std::to_string(blocked.size()) + " were blocked, " +
         std::to_string(bound) + " threads are bound" + lines_of(blocked);
}

}  // namespace posset::sched::fiber
