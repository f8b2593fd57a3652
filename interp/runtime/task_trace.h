// What the trace is told of the tasks of a context: when each was made, had the thread, left it and for what, and ended.
// The views make a track of each from that. Without a trace nothing is done but to look whether there is one.
#pragma once

#include <cstdint>
#include <string_view>

#include "interp/runtime/context.h"
#include "sched/trace_events.h"

namespace posset::interp {

class TaskTrace {
 public:
  explicit TaskTrace(RuntimeState& runtime) : runtime_(runtime) {}

  // What is known of a task: nothing at first, and nothing is told of it until it was made.
  struct Traced {
    int64_t number = 0;
    int64_t name = 0;      // a text
    int64_t since_ns = 0;  // that it had the thread, or had it no more
  };

  bool is_on() const { return runtime_.trace != nullptr; }
  void made(Traced& task, std::string_view name, std::string_view place);
  void went_on(Traced& task) {
    if (is_on() && task.number != 0) tell_went_on(task);
  }
  // `until`: what it waits for; empty: it has come to its end.
  void left(Traced& task, const char* until) {
    if (is_on() && task.number != 0) tell_left(task, until);
  }
  void ended(const Traced& task, sched::Outcome outcome);

 private:
  void tell_went_on(Traced& task);
  void tell_left(Traced& task, const char* until);
  int64_t since(Traced& task) const;

  RuntimeState& runtime_;
};

}  // namespace posset::interp
