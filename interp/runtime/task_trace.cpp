// See task_trace.h.
#include "interp/runtime/task_trace.h"

#include <initializer_list>
#include <utility>

#include "interp/runtime/trace_events.h"

namespace posset::interp {

namespace {

void record(sched::Trace& trace, TierEvent event, std::initializer_list<int64_t> fields) {
  trace.record(static_cast<uint16_t>(event), fields);
}

}  // namespace

// How long it has been as it was; from now on it is otherwise.
int64_t TaskTrace::since(Traced& task) const {
  const int64_t now_ns = runtime_.clock.now_ns();
  return now_ns - std::exchange(task.since_ns, now_ns);
}

void TaskTrace::made(Traced& task, std::string_view name, std::string_view place) {
  sched::Trace& trace = *runtime_.trace;
  task.number = runtime_.next_task.fetch_add(1, std::memory_order_relaxed);
  task.name = trace.text(name);
  task.since_ns = runtime_.clock.now_ns();
  record(trace, TierEvent::task_made, {task.number, task.name, trace.text(place)});
}

void TaskTrace::tell_went_on(Traced& task) {
  record(*runtime_.trace, TierEvent::task_went_on, {task.number, task.name, since(task)});
}

void TaskTrace::tell_left(Traced& task, const char* until) {
  sched::Trace& trace = *runtime_.trace;
  record(trace, TierEvent::task_ran, {task.number, task.name, trace.text(until), since(task)});
}

void TaskTrace::ended(const Traced& task, sched::Outcome outcome) {
  if (!is_on() || task.number == 0) return;
  record(*runtime_.trace, TierEvent::task_ended, {task.number, task.name, static_cast<int64_t>(outcome)});
}

}  // namespace posset::interp
