// See why.h.
#include "interp/api/why.h"

#include <algorithm>

#include "interp/runtime/trace_events.h"

namespace posset::api {

using interp::Counted;
using interp::Reason;

int Part::tier() const {
  int highest = unit.body.ready.load(std::memory_order_acquire);
  for (int at = loop; at >= 0; at = unit.loop_parents[static_cast<size_t>(at)]) {
    highest = std::max<int>(highest, unit.counted(at).ready.load(std::memory_order_acquire));
  }
  return highest;
}

bool Part::within() const { return tier() > counted().ready.load(std::memory_order_acquire); }

namespace {

std::string executions(uint32_t count) {
  return std::to_string(count) + (count == 1 ? " execution is" : " executions are") + " needed";
}

// Native code is made from bytecode: where there will be none, that is why.
bool lacks_bytecode(const Counted& counted, int level) {
  return level > 1 && counted.status[1].load(std::memory_order_acquire) == interp::TierStatus::Failed;
}

uint32_t patience(const Counted& counted, int level) { return counted.patience[level].load(std::memory_order_relaxed); }

// Of bytecode that came late.
std::string awaited(const Counted& counted, int level) {
  const uint32_t more = patience(counted, level);
  return more == 0 ? "" : ", and " + std::to_string(more) + " more in tier 1";
}

}  // namespace

Reason why_not(const interp::RuntimeState& runtime, const Counted& counted, int level) {
  if (!runtime.tier(level)) return Reason::not_built;
  if (level > runtime.options.max_tier) return Reason::above_highest;
  const Reason noted = counted.reason[lacks_bytecode(counted, level) ? 1 : level].load(std::memory_order_relaxed);
  if (noted != Reason::none) return noted;
  const bool hot = counted.count.load(std::memory_order_relaxed) >= runtime.options.thresholds[level];
  return hot && interp::waits_for_quick_code(level, counted) ? Reason::after_quick : Reason::not_hot;
}

std::string why_not_text(const interp::RuntimeState& runtime, const Part& part, int level) {
  const auto& options = runtime.options;
  const Reason reason = why_not(runtime, part.counted(), level);
  std::string text = level <= part.tier() ? "by itself, " : "";
  const bool told_of_level = reason == Reason::not_built || reason == Reason::above_highest;
  if (!told_of_level && lacks_bytecode(part.counted(), level)) text += "needs tier 1: ";
  text += text_of(reason);
  switch (reason) {
    case Reason::above_highest:
      return text + ", " + std::to_string(options.max_tier);
    case Reason::not_hot:
      return text + ": " + executions(options.thresholds[level]) + awaited(part.counted(), level);
    case Reason::evicted:
      return text + ": " + executions(options.thresholds[level]) + " again";
    case Reason::queue_full:
    case Reason::stopped:
      return text + ": asked again at " +
             std::to_string(part.counted().count.load(std::memory_order_relaxed) + patience(part.counted(), level)) +
             " executions";
    default:
      return text;
  }
}

// ---- exits ----

void add_exit(std::vector<ToldExit>& exits, ToldExit one) {
  for (ToldExit& each : exits) {
    if (each.at != one.at || each.expected != one.expected || each.found != one.found) continue;
    each.times += one.times;
    return;
  }
  exits.push_back(std::move(one));
}

std::vector<ToldExit> exits_of(const interp::RuntimeState& runtime, const Part& part) {
  std::vector<ToldExit> found;
  if (!runtime.trace) return found;
  const sched::TraceSnapshot snapshot = runtime.trace->snapshot();
  auto text = [&](int64_t index) { return snapshot.texts[static_cast<size_t>(index)]; };
  for (const sched::TraceEvent& event : snapshot.events) {
    if (event.kind != static_cast<uint16_t>(interp::TierEvent::side_exit)) continue;
    if (event.fields[0] != part.unit.number || event.fields[1] != part.loop) continue;
    add_exit(found, {text(event.fields[3]), text(event.fields[4]), text(event.fields[5])});
  }
  return found;
}

std::string exit_text(const ToldExit& exit) {
  const std::string times = exit.times == 1 ? "once" : std::to_string(exit.times) + " times";
  return "left native code " + times + " " + exit.at + ": expected " + exit.expected + ", found " + exit.found;
}

}  // namespace posset::api
