// Submissions and who holds a context. One record of each context, its Ownership, has the number of its
// handles and the submission that is pending, under one mutex; it outlives the context, so that whoever gives
// the last handle back and whoever ends the last evaluation can settle under it which of the two destroys.
//
// The context itself, its heap and what a Submission carries of it, belong to one party at a time:
//
//   the host's thread   claims it (posset_context::thread becomes kSubmitted), fills in the Submission
//   nobody              while it waits in the scheduler's queue
//   the worker          from `begin` on: posset_context::thread is the worker, so that entries work
//   whoever ends it     the worker, or the thread that took it out of the queue: drops the arguments, and
//                       a result nobody wants; then, in one step under the mutex, the end is told and the
//                       context is free; then, without it, the listeners are called
//   the host            takes the result inside an Entry
//
// A context does not end while listeners are being called. On a thread of the host that happens inside a call
// which holds a handle, so that only on a worker the last handle can go in a listener: the worker then destroys.
//
// The task in the queue holds no handle: so a worker never gives one back, and the context's end, the
// runtime's and the join of its threads happen where the host releases. Only when a host function drops the
// last handle from a worker does the worker destroy the context, after its evaluation.
#pragma once

#include <condition_variable>
#include <memory>
#include <string>
#include <vector>

#include "interp/api/handles.h"
#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"

namespace posset::api {

struct Ownership {
  sched::Mutex mutex;
  std::condition_variable ended;  // the pending one, or the calling of listeners
  uint32_t handles POSSET_GUARDED_BY(mutex) = 1;
  uint32_t telling POSSET_GUARDED_BY(mutex) = 0;  // threads that are calling listeners
  std::shared_ptr<Submission> pending POSSET_GUARDED_BY(mutex);
};

// What is to be evaluated; which one it is, is the function.
struct Work {
  posset_status (*run)(Submission& submission, posset_value* out) = nullptr;
  std::string text;
  posset_program program;
  interp::Value callee;
  std::vector<posset_value> arguments;
  std::vector<interp::Value> lent;  // room for what becomes of them
  uint64_t hash = 0;  // what is alike takes alike long
};

struct Listener {
  posset_future_callback call;
  void* data;
};

struct Submission {
  posset_context* context = nullptr;  // there as long as this is pending
  std::shared_ptr<Ownership> ownership;
  uint64_t job = 0;
  int64_t deadline_ns = sched::kNever;
  Work work;

  // Of whoever has the context.
  posset_status status = POSSET_RAISED;  // with no result: it never began
  interp::Value result;                  // the value, or the error value
  std::vector<interp::Value> lent;       // what a call has made of its arguments
  std::unique_ptr<posset_diagnostics> diagnostics;
  bool taken = false;
  bool lent_taken = false;

  // Guarded by the ownership's mutex:
  posset_progress progress = POSSET_FUTURE_QUEUED;
  bool cancelled = false;
  bool expired = false;   // its deadline came before it began
  bool detached = false;  // nobody will ask
  std::vector<Listener> listeners;
};

void retain(Ownership& ownership);
// Gives a handle of the context back; the last one ends what is pending first. True: the caller destroys.
bool release(posset_context* context);

}  // namespace posset::api

// An orphan holds no handle.
struct posset_future : posset::api::Orphan {
  std::atomic<uint32_t> handles{1};
  posset_context* context = nullptr;  // counted
  std::shared_ptr<posset::api::Submission> submission;
  std::vector<posset::interp::Value> lent;  // to go with it
};
