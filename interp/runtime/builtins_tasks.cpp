// Channels and generators as built-ins, and the module `task`.
#include <algorithm>
#include <cmath>

#include "interp/runtime/builtins.h"
#include "interp/runtime/channel.h"
#include "interp/value/record.h"

namespace posset::interp {

Value builtin_chan(NativeCall& call) {
  int64_t capacity = 0;
  if (!want_int(call, 0, capacity)) return Value::failure();
  if (capacity < 0) {
    return raise_argument(call, ErrorCode::OutOfRange, 0,
                          "how many values may wait in it cannot be " + std::to_string(capacity));
  }
  return make_channel(call.context, static_cast<uint64_t>(capacity));
}

Value builtin_gen(NativeCall& call) {
  return want_function(call, 0) ? make_generator(call.context, call.take(0)) : Value::failure();
}

namespace {

// When argument i, so many seconds, has passed. False: raised. What may wait is charged for: a host that limits steps must
// not be kept for ever by what makes none.
bool want_deadline(const NativeCall& call, uint32_t i, int64_t& deadline_ns) {
  constexpr double kMostSeconds = 9e9;  // some less than a clock of nanoseconds holds
  constexpr double kStepsPerSecond = 1e6;
  if (!want_number(call, i)) return false;
  const double seconds = call[i].is_int() ? static_cast<double>(call[i].as_int()) : call[i].as_float();
  if (!(seconds >= 0)) {
    raise_argument(call, ErrorCode::OutOfRange, i, "a time to wait is 0 or more seconds");
    return false;
  }
  if (!call.context.charge(static_cast<uint64_t>(std::min(seconds, kMostSeconds) * kStepsPerSecond))) return false;
  const int64_t now_ns = tasks_of(call.context).now_ns();
  // A time that is too long to be met is one nevertheless, for which no deadlock is reported; without end there is none.
  constexpr int64_t kLast = sched::kNever / 2;  // times are added to it
  if (std::isinf(seconds)) deadline_ns = sched::kNever;
  else deadline_ns = seconds >= kMostSeconds ? kLast : std::min(kLast - now_ns, static_cast<int64_t>(seconds * 1e9)) + now_ns;
  return true;
}

Value task_sleep(NativeCall& call) {
  int64_t deadline_ns = 0;
  if (!want_deadline(call, 0, deadline_ns)) return Value::failure();
  deadline_ns = std::min(deadline_ns, sched::kNever / 2);
  Tasks& tasks = tasks_of(call.context);
  do {
    if (!tasks.wait(deadline_ns, "a time")) return Value::failure();
  } while (tasks.now_ns() < deadline_ns);
  return Value();
}

Value task_select(NativeCall& call) {
  int64_t deadline_ns = sched::kNever;
  const bool limited = call.count > 0 && call[call.count - 1].is_number();
  if (limited && !want_deadline(call, call.count - 1, deadline_ns)) return Value::failure();
  return select(call.context, call.arguments, call.count - limited, deadline_ns);
}

Value task_join_all(NativeCall& call) {
  if (!tasks_of(call.context).join_all()) return Value::failure();
  return call.has(0) ? call.take(0) : Value();
}

Value task_yield(NativeCall& call) { return tasks_of(call.context).yield() ? Value() : Value::failure(); }

Value task_cancel(NativeCall& call) {
  if (!call[0].is(Tag::Task)) return raise_argument(call, 0, "task");
  Tasks& tasks = tasks_of(call.context);
  Job& job = *call[0].as<TaskObject>()->job;
  if (!job.ended) tasks.cancel(job);
  // One that cancels itself ends here.
  return &job != &tasks.current() || tasks.yield() ? Value() : Value::failure();
}

// {task, waits_for}. Failed: raised.
Value waiting_task(Context& context, const std::string& task, const char* waits_for) {
  Heap& heap = context.heap;
  Value name = make_string(heap, task);
  Value what = make_string(heap, waits_for);
  if (name.failed() || what.failed()) return context.raise_memory_limit();
  RecordBuilder record(heap);
  record.set(heap.shapes().symbol("task"), std::move(name));
  record.set(heap.shapes().symbol("waits_for"), std::move(what));
  return or_memory_limit(context, record.finish());
}

Value task_stats(NativeCall& call) {
  const Tasks& tasks = tasks_of(call.context);
  Heap& heap = call.context.heap;
  RecordBuilder record(heap);
  auto set = [&](const char* name, uint64_t count) {
    record.set(heap.shapes().symbol(name), Value::integer(static_cast<int64_t>(count)));
  };
  set("begun", tasks.counts().begun);
  set("live", tasks.counts().live);
  set("failed", tasks.counts().failed);
  set("cancelled", tasks.counts().cancelled);
  bool whole = true;
  ListBuilder waiting(call.context);
  tasks.each_waiting([&](const std::string& task, const char* waits_for) {
    Value each = whole ? waiting_task(call.context, task, waits_for) : Value::failure();
    whole = !each.failed() && waiting.push(std::move(each));
  });
  Value all = whole ? waiting.finish() : Value::failure();
  if (all.failed()) return all;
  record.set(heap.shapes().symbol("waiting"), std::move(all));
  return or_memory_limit(call.context, record.finish());
}

constexpr NativeFunction row(const char* name, const char* signature, const char* doc, NativeEntry entry, uint16_t least,
                             uint16_t most) {
  return module_function("task", name, signature, doc, entry, least, most);
}

constexpr NativeFunction kTaskRows[] = {
    row("sleep", "sleep(seconds)", "Waits so long; other tasks go on. A second counts as a million steps.", task_sleep, 1, 1),
    row("select", "select(..cases)",
        "The first thing that can happen, as [index, value]: a channel receives, a pair [channel, value] sends, a task ends. "
        "With a number at the end it waits so many seconds at most, and then gives nil.",
        task_select, 1, NativeFunction::kAnyCount),
    row("join_all", "join_all(x = nil)",
        "Waits until all tasks but this one have ended; gives x. The end of a script does.", task_join_all, 0, 1),
    row("yield", "yield()", "Lets others go on first.", task_yield, 0, 0),
    row("cancel", "cancel(t)", "Ends a task where it waits, or at its next step. One that has ended stays as it is.",
        task_cancel, 1, 1),
    row("stats", "stats()", "Of this context: how many tasks have begun, have not ended (live), have failed or were cancelled; which are waiting, and for what.", task_stats,
        0, 0),
};

}  // namespace

void register_task_module(RuntimeState& runtime) { register_module(runtime, kTaskRows); }

}  // namespace posset::interp
