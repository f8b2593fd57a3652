// What the compile scheduler is given: a task, how urgent it is, what it resembles and who may run it; and
// what it answers. A task ends in exactly one of Done, Failed (an exception left it) and Cancelled (it never
// ran), which its `done` is told once. A task that was not accepted is told nothing: the caller knows.
#pragma once

#include <cstdint>
#include <functional>

#include "sched/base/clock.h"
#include "sched/trace_events.h"

namespace posset::sched {

// Lower runs first. A scale of its own: the graph scheduler's bands go the other way.
enum class Priority : uint8_t {
  Interactive = 0,
  Normal = 5,
  BackgroundCompile = 10,
  Low = 20,
  Batch = 50,
};

// What kind of consumer a task is for. One queue and one order for all. Native compilations take a thousand times
// as long as others, which must not wait for them: docs/decisions/007.
enum class Lane : uint8_t { Eval, Compile, Native };
constexpr Lane kLanes[] = {Lane::Eval, Lane::Compile, Lane::Native};

// The lanes a consumer takes from.
using LaneMask = uint8_t;
constexpr LaneMask lane_bit(Lane lane) { return static_cast<LaneMask>(1U << static_cast<unsigned>(lane)); }
constexpr LaneMask kEvalLane = lane_bit(Lane::Eval);
constexpr LaneMask kCompileLane = lane_bit(Lane::Compile);
constexpr LaneMask kNativeLane = lane_bit(Lane::Native);
constexpr LaneMask kAllLanes = kEvalLane | kCompileLane | kNativeLane;

enum class TaskKind : uint8_t { Eval, BytecodeCompile, JitCompile, Generic };

// Tasks of one type are expected to take about as long as each other.
struct TaskType {
  TaskKind kind = TaskKind::Generic;
  uint64_t hash = 0;  // the structural hash of what is evaluated or compiled; 0: the kind alone
  bool operator==(const TaskType&) const = default;
};

enum class Admission : uint8_t { Accepted, QueueFull, Stopped };

enum class StopMode : uint8_t {
  Drain,    // what was accepted before runs
  Discard,  // what has not begun is cancelled
};

// What a running task sees of its scheduler. Used by the task's own thread.
class TaskContext {
 public:
  TaskContext(const Clock& clock, uint64_t job, Route route) : clock_(clock), job_(job), route_(route) {}
  TaskContext(const TaskContext&) = delete;
  TaskContext& operator=(const TaskContext&) = delete;

  uint64_t job() const { return job_; }
  Route route() const { return route_; }

  // While one lives the task waits for something, and the time does not count as its run time.
  class Suspension {
   public:
    explicit Suspension(TaskContext& context) : context_(context), since_ns_(context.clock_.now_ns()) {}
    ~Suspension() { context_.suspended_ns_ += context_.clock_.now_ns() - since_ns_; }
    Suspension(const Suspension&) = delete;
    Suspension& operator=(const Suspension&) = delete;

   private:
    TaskContext& context_;
    int64_t since_ns_;
  };
  int64_t suspended_ns() const { return suspended_ns_; }

  // It found nothing to do: how long it took says nothing of others of its type, and is not recorded.
  void is_no_measure() { measures_ = false; }
  bool measures() const { return measures_; }

 private:
  const Clock& clock_;
  const uint64_t job_;
  const Route route_;
  int64_t suspended_ns_ = 0;
  bool measures_ = true;
};

struct Task {
  std::function<void(TaskContext&)> run;
  // Told how the task ended, after `run` was destroyed, on the thread that ended it (a worker, or whoever
  // cancels or stops), with no lock held. May be empty. What it throws is counted and forgotten.
  std::function<void(Outcome)> done;
  Lane lane = Lane::Compile;
  Priority priority = Priority::BackgroundCompile;
  TaskType type;
  uint64_t job = 0;  // the caller's number for it: in traces, and to cancel it
};

}  // namespace posset::sched
