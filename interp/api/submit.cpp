// Submitting evaluations and asking their futures. submission.h says who owns what when.
#include <posset/submit.h>

#include <xxhash.h>

#include <cmath>

#include "interp/api/fiber_carrier.h"
#include "interp/api/misuse.h"
#include "interp/api/submission.h"
#include "sched/base/stack_area.h"
#include "sched/base/wait.h"

using posset::api::Entry;
using posset::api::Evaluation;
using posset::api::in;
using posset::api::Listener;
using posset::api::Ownership;
using posset::api::Submission;
using posset::api::this_thread;
using posset::api::view;
using posset::interp::ErrorCode;
using posset::interp::Value;
using posset::sched::kNever;
using posset::sched::kSecond;
using posset::sched::MutexLock;
using posset::sched::Outcome;
using posset::sched::SystemClock;

namespace {

bool has_ended(const Submission& s) { return s.progress >= POSSET_FUTURE_DONE; }

posset::sched::HybridScheduler& scheduler_of(const posset_context* context) {
  return context->runtime.control.scheduler();
}

// Seconds from now on the system's clock; further than a clock goes is never.
int64_t after(double seconds) {
  constexpr double kFar = 1e9;
  if (seconds >= kFar) return kNever;
  return SystemClock().now_ns() + static_cast<int64_t>(seconds * static_cast<double>(kSecond));
}

bool is_overdue(const Submission& s) {
  return s.deadline_ns != kNever && SystemClock().now_ns() >= s.deadline_ns;
}

// ---- evaluating ----

// Leaves a task whose evaluation has no value: its time says nothing about the next one's.
struct EvaluationFailed {};

// False: it is not to begin.
bool begin(Submission& s) {
  MutexLock lock(s.ownership->mutex);
  if (s.cancelled || s.expired) return false;
  s.expired = is_overdue(s);
  if (s.expired) return false;
  s.progress = POSSET_FUTURE_RUNNING;
  return true;
}

void evaluate(Submission& s, posset::sched::TaskContext& task) {
  if (!begin(s)) throw EvaluationFailed();
  posset_context* context = s.context;
  posset::api::enter_context(*context);
  {
    const posset::api::FiberCarrier::Ride ride(*context, task);
    Evaluation evaluation(context, Evaluation::Kind::Run);
    if (s.deadline_ns != kNever) context->end_by(SystemClock::time_point(s.deadline_ns));
    posset_value value = posset_nil();
    s.status = POSSET_NO_MEMORY;  // should it not come back
    s.status = s.work.run(s, &value);
    s.result = posset::api::adopt(value);
    if (s.status == POSSET_RAISED) s.result = context->take_error();
  }
  if (s.status != POSSET_OK) throw EvaluationFailed();
}

posset_progress final_progress(const Submission& s) {
  if (s.progress == POSSET_FUTURE_RUNNING)
    return s.status == POSSET_OK ? POSSET_FUTURE_DONE : POSSET_FUTURE_FAILED;
  return s.expired && !s.cancelled ? POSSET_FUTURE_FAILED : POSSET_FUTURE_CANCELLED;
}

// What became of a call's arguments: nil, but for those that were lent. The caller has the context.
void keep_lent(Submission& s) {
  std::vector<posset_value>& arguments = s.work.arguments;
  if (s.progress == POSSET_FUTURE_RUNNING) {
    for (posset_value& each : arguments) s.work.lent.push_back(posset::api::adopt(std::exchange(each, posset_nil())));
  } else {
    posset_release_all(arguments.data(), arguments.size());
  }
  s.lent = std::move(s.work.lent);
}

// An exception has nowhere to go: the context would never be free of its callers.
void tell(const std::vector<Listener>& listeners, posset_progress progress) noexcept {
  for (const Listener& each : listeners) each.call(each.data, progress);
}

bool is_idle(const Ownership& ownership) POSSET_REQUIRES(ownership.mutex) {
  return !ownership.pending && ownership.telling == 0;
}

// Where many have stacks a context does not keep those it has grown for the next time: others cannot go on without.
void leave_stacks(posset_context& context) {
  if (!posset::sched::StackMappings::are_scarce()) return;
  posset::sched::StackChain spare;
  context.native.give_back(spare);
}

// Told by the scheduler, once, on the worker or on the thread that took the task out of the queue.
void end(Submission& s) {
  posset_context* context = s.context;
  Ownership& ownership = *s.ownership;
  posset::api::enter_context(*context);
  leave_stacks(*context);
  keep_lent(s);
  s.work = posset::api::Work();
  MutexLock lock(ownership.mutex);
  while (s.detached && (s.result->is_heap() || !s.lent.empty())) {
    lock.unlock();
    s.result = Value();
    s.lent.clear();
    lock.lock();
  }
  const posset_progress progress = s.progress = final_progress(s);
  const std::vector<Listener> listeners = std::move(s.listeners);
  context->clear_interrupt();  // a wish to cancel that came too late
  context->heap.unbind_from_thread();
  context->heap.set_given_away(false);
  context->thread.store(0, std::memory_order_release);
  std::shared_ptr<Submission> self = std::move(ownership.pending);
  ownership.ended.notify_all();
  if (!listeners.empty()) {
    ++ownership.telling;
    lock.unlock();
    tell(listeners, progress);
    lock.lock();
    --ownership.telling;
    ownership.ended.notify_all();
  }
  const bool last = ownership.handles == 0 && is_idle(ownership);
  lock.unlock();
  if (last) posset::api::destroy(context);
}

// ---- submitting ----

bool is_seconds(double seconds) { return seconds >= 0; }  // not a number is none

bool is_priority(posset_priority priority) {
  switch (priority) {
    case POSSET_PRIORITY_INTERACTIVE:
    case POSSET_PRIORITY_NORMAL:
    case POSSET_PRIORITY_LOW:
    case POSSET_PRIORITY_BATCH:
      return true;
  }
  return false;
}

// The right to fill in a submission: nobody is in the context, and nobody gets in. Without `keep` it is given
// back in the end.
class Claim {
 public:
  explicit Claim(posset_context* context) {
    uintptr_t nobody = 0;
    // Acquire: what the thread that was inside before has written is seen.
    if (context && context->thread.compare_exchange_strong(nobody, posset::api::kSubmitted,
                                                           std::memory_order_acquire)) {
      if (!context->reservation.take_away(this_thread())) {
        context->thread.store(0, std::memory_order_release);
        return;
      }
      context->reservation.forget();
      context->heap.set_given_away(true);
      context_ = context;
    }
  }
  ~Claim() {
    if (!context_) return;
    context_->heap.set_given_away(false);
    context_->thread.store(0, std::memory_order_release);
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  explicit operator bool() const { return context_ != nullptr; }
  void keep() { context_ = nullptr; }

 private:
  posset_context* context_ = nullptr;
};

// A handle of a context, given back unless it is kept.
class Hold {
 public:
  explicit Hold(posset_context* context) : context_(context) { posset_context_retain(context); }
  ~Hold() { posset_context_release(context_); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  void keep() { context_ = nullptr; }

 private:
  posset_context* context_;
};

// Without the handle it is to hold.
std::unique_ptr<posset_future> make_future(const std::shared_ptr<Submission>& s) {
  auto future = std::make_unique<posset_future>();
  future->context = s->context;
  future->submission = s;
  return future;
}

void set_pending(Ownership& ownership, std::shared_ptr<Submission> s) {
  MutexLock lock(ownership.mutex);
  ownership.pending = std::move(s);
}

posset::sched::Admission hand_over(const std::shared_ptr<Submission>& s, posset::sched::Task task, int64_t room_ns) {
  posset::sched::HybridScheduler& scheduler = scheduler_of(s->context);
  set_pending(*s->ownership, s);
  try {
    const auto admission = room_ns != 0 ? scheduler.submit_by(std::move(task), room_ns)
                                        : scheduler.try_submit(std::move(task));
    if (admission != posset::sched::Admission::Accepted) set_pending(*s->ownership, nullptr);
    return admission;
  } catch (...) {
    set_pending(*s->ownership, nullptr);
    throw;
  }
}

posset::sched::Task task_of(const std::shared_ptr<Submission>& s, posset_priority priority) {
  posset::sched::Task task;
  task.run = [s](posset::sched::TaskContext& running) { evaluate(*s, running); };
  task.done = [s](Outcome) { end(*s); };
  task.lane = posset::sched::Lane::Eval;
  task.priority = static_cast<posset::sched::Priority>(priority);
  task.type = {posset::sched::TaskKind::Eval, s->work.hash};
  task.job = s->job;
  return task;
}

// What is wrong with options, null: nothing.
const char* problem_of(const posset_submit_options& options) {
  if (!is_priority(options.priority)) return "the option priority is none of the priorities";
  if (!is_seconds(options.deadline_seconds)) return "the option deadline_seconds is negative";
  if (!is_seconds(options.room_seconds)) return "the option room_seconds is negative";
  return nullptr;
}

// Words for misuse, where this thread may enter the context to leave them.
posset_status refuse(posset_context* context, const char* why) {
  const Entry entry(context);
  return entry.failed() ? POSSET_MISUSE : posset::api::misuse(context, why);
}

// Hands a context over. `fill` writes the work.
template <class Fill>
posset_status submit(posset_context* context, const posset_submit_options* given, posset_future** out, Fill&& fill) {
  posset_submit_options options = posset_submit_defaults();
  if (out) *out = nullptr;
  if (!context || !posset::api::read_struct(given, options)) return POSSET_MISUSE;
  if (const char* problem = problem_of(options)) return refuse(context, problem);
  Claim claim(context);
  if (!claim) return POSSET_BUSY;
  if (context->finished) return posset::api::misuse(context, "the context has been finished");
  try {
    auto s = std::make_shared<Submission>();
    s->context = context;
    s->ownership = context->ownership;
    s->job = context->runtime.control.next_job();
    if (options.deadline_seconds > 0) s->deadline_ns = after(options.deadline_seconds);
    fill(s->work);
    if (!context->fiber_carrier) context->fiber_carrier = std::make_unique<posset::api::FiberCarrier>(*context);
    posset::sched::Task task = task_of(s, options.priority);
    std::unique_ptr<posset_future> future = make_future(s);
    const int64_t room_ns = options.room_seconds > 0 ? after(options.room_seconds) : 0;
    // The future's, before the work is handed over: that may have been done, and have dropped all others, by then.
    Hold hold(context);
    const auto admission = hand_over(s, std::move(task), room_ns);
    if (admission != posset::sched::Admission::Accepted) return POSSET_FULL;
    claim.keep();
    hold.keep();
    if (out) {
      *out = future.release();
    } else {
      posset_future_release(future.release());
    }
  } catch (const std::bad_alloc&) {
    return POSSET_NO_MEMORY;
  }
  return POSSET_OK;
}

posset_status run_text(Submission& s, posset_value* out) {
  posset_diagnostics* found = nullptr;
  const posset_status status = posset_eval(s.context, posset::api::text(s.work.text), out, &found);
  s.diagnostics.reset(found);
  return status;
}

posset_status run_program(Submission& s, posset_value* out) { return posset_run(&s.work.program, out); }

posset_status run_call(Submission& s, posset_value* out) {
  return posset_invoke(s.context, posset::api::out(s.work.callee), s.work.arguments.data(), s.work.arguments.size(),
                       out);
}

uint64_t hash_of_callee(posset::interp::Borrowed callee) {
  using posset::interp::Closure;
  if (callee.is(posset::interp::Tag::Fn)) return callee.as<Closure>()->function->decl->hash.low;
  return callee.is(posset::interp::Tag::Builtin) ? reinterpret_cast<uint64_t>(callee.as_builtin()) : 0;
}

}  // namespace

extern "C" {

posset_status posset_submit_eval(posset_context* context, posset_text text, const posset_submit_options* options,
                                 posset_future** out) {
  if (text.size >= UINT32_MAX) return POSSET_MISUSE;
  return submit(context, options, out, [&](posset::api::Work& work) {
    work.run = run_text;
    work.text = view(text);
    work.hash = XXH3_64bits(work.text.data(), work.text.size());
  });
}

posset_status posset_submit_run(posset_program* program, const posset_submit_options* options, posset_future** out) {
  if (!program) return POSSET_MISUSE;
  return submit(program->context, options, out, [&](posset::api::Work& work) {
    work.run = run_program;
    work.program = *program;  // the handle may be freed meanwhile
    work.hash = program->tree->top->hash.low;
  });
}

posset_status posset_submit_invoke(posset_context* context, posset_value function, posset_value* arguments,
                                   size_t count, const posset_submit_options* options, posset_future** out) {
  if (count != 0 && !arguments) return POSSET_MISUSE;
  if (!context) return POSSET_MISUSE;
  if (posset::api::is_foreign(context, in(function)) || posset::api::has_foreign(context, arguments, count))
    return refuse(context, posset::api::kForeign);
  const posset_status status = submit(context, options, out, [&](posset::api::Work& work) {
    work.run = run_call;
    work.callee = Value::copy(in(function));
    work.arguments.assign(arguments, arguments + count);
    work.lent.reserve(count);  // no memory is asked for at the end
    work.hash = hash_of_callee(in(function));
  });
  if (status == POSSET_OK) std::fill_n(arguments, count, posset_nil());
  return status;
}

}  // extern "C"

// ---- handles ----

namespace {

// True: it had not ended. The caller holds a handle of the context.
bool cancel(Submission& s) {
  {
    MutexLock lock(s.ownership->mutex);
    if (has_ended(s)) return false;
    s.cancelled = true;
    if (s.progress == POSSET_FUTURE_RUNNING) {
      posset::api::interrupt(*s.context);
      return true;
    }
  }
  // Where it waits no more a worker is about to begin, and will see.
  scheduler_of(s.context).cancel(s.job);
  return true;
}

// Takes it out of the queue once its deadline has come. The caller holds a handle.
void expire(Submission& s) {
  {
    MutexLock lock(s.ownership->mutex);
    if (s.progress != POSSET_FUTURE_QUEUED || s.cancelled || s.expired || !is_overdue(s)) return;
    s.expired = true;
  }
  scheduler_of(s.context).cancel(s.job);
}

// Waits once; false: it ended or the time is over.
bool wait_once(Submission& s, int64_t until_ns) {
  expire(s);
  MutexLock lock(s.ownership->mutex);
  if (has_ended(s) || SystemClock().now_ns() >= until_ns) return false;
  const bool may_expire = s.progress == POSSET_FUTURE_QUEUED && !s.expired && !s.cancelled;
  const int64_t wake_ns = may_expire ? std::min(until_ns, s.deadline_ns) : until_ns;
  posset::sched::wait_on(SystemClock(), lock, s.ownership->ended, wake_ns);
  return true;
}

}  // namespace

void posset::api::retain(Ownership& ownership) {
  MutexLock lock(ownership.mutex);
  ++ownership.handles;
}

bool posset::api::release(posset_context* context) {
  std::shared_ptr<Ownership> ownership = context->ownership;
  MutexLock lock(ownership->mutex);
  while (ownership->handles == 1 && !is_idle(*ownership)) {
    // The handle is kept meanwhile. Host functions and listeners may take and release others.
    std::shared_ptr<Submission> pending = ownership->pending;
    lock.unlock();
    if (pending) cancel(*pending);
    const bool own_thread = context->runtime.control.is_own_thread();
    lock.lock();
    if (ownership->pending != pending || is_idle(*ownership)) continue;
    if (own_thread) break;  // it may be waiting for itself: the evaluation's end destroys
    lock.wait(ownership->ended);
  }
  return --ownership->handles == 0 && is_idle(*ownership);
}

namespace {

// Keeps a future, and with it its context, while a call works on it: a listener may release the caller's.
class Held {
 public:
  explicit Held(posset_future* future) : future_(future) { posset_future_retain(future_); }
  ~Held() { posset_future_release(future_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  posset_future* future_;
};

// False: it has ended, as `progress` says, and the listener will not be told.
bool listen(Submission& s, Listener listener, posset_progress& progress) {
  MutexLock lock(s.ownership->mutex);
  progress = s.progress;
  if (!has_ended(s)) s.listeners.push_back(listener);
  return !has_ended(s);
}

// The end has come, and the context lets one in.
posset_status may_take(posset_future& future, const Evaluation& evaluation) {
  if (evaluation.failed()) return evaluation.status();
  Submission& s = *future.submission;
  MutexLock lock(s.ownership->mutex);
  // On the thread of the evaluation itself the context lets one in.
  return has_ended(s) ? POSSET_OK : POSSET_BUSY;
}

posset_status take(posset_future& future, posset_value* out, posset_diagnostics** diagnostics) {
  Submission& s = *future.submission;
  if (std::exchange(s.taken, true)) return posset::api::misuse(future.context, "the result has been taken", POSSET_NOT_FOUND);
  if (diagnostics) *diagnostics = s.diagnostics.release();
  if (s.status == POSSET_OK) return posset::api::give(std::move(s.result), out);
  if (s.status != POSSET_RAISED) return s.status;
  if (s.result->is(posset::interp::Tag::Error)) {
    future.context->restore_error(std::move(s.result));
  } else if (s.expired) {
    future.context->raise(ErrorCode::TimeLimit, "the deadline passed before the evaluation began");
  } else {
    future.context->raise(ErrorCode::Interrupted, "cancelled before the evaluation began");
  }
  return POSSET_RAISED;
}

}  // namespace

extern "C" {

void posset_future_retain(posset_future* future) {
  if (future) future->handles.fetch_add(1, std::memory_order_relaxed);
}

void posset_future_release(posset_future* future) {
  // Acquire and release: what every holder did happens before the end.
  if (!future || future->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  posset_context* context = future->context;
  bool ended = false;
  {
    Submission& s = *future->submission;
    MutexLock lock(s.ownership->mutex);
    ended = has_ended(s);
    s.detached = true;
    if (ended) {
      future->value = std::move(s.result);
      future->lent = std::move(s.lent);
    }
  }
  if (ended) {
    posset::api::free_or_leave(context, future);
  } else {
    delete future;
  }
  posset_context_release(context);
}

posset_progress posset_future_progress(posset_future* future) {
  if (!future) return POSSET_FUTURE_CANCELLED;
  const Held held(future);
  Submission& s = *future->submission;
  expire(s);
  MutexLock lock(s.ownership->mutex);
  return s.progress;
}

bool posset_future_wait(posset_future* future, double seconds) {
  if (!future) return true;
  const Held held(future);
  Submission& s = *future->submission;
  const int64_t until_ns = seconds < 0 ? kNever : after(std::isnan(seconds) ? 0 : seconds);
  while (wait_once(s, until_ns)) {
  }
  MutexLock lock(s.ownership->mutex);
  return has_ended(s);
}

bool posset_future_cancel(posset_future* future) {
  if (!future) return false;
  const Held held(future);
  return cancel(*future->submission);
}

posset_status posset_future_on_done(posset_future* future, posset_future_callback callback, void* data) {
  if (!future || !callback) return POSSET_MISUSE;
  const Held held(future);
  posset_progress progress = POSSET_FUTURE_QUEUED;
  try {
    if (listen(*future->submission, {callback, data}, progress)) return POSSET_OK;
  } catch (const std::bad_alloc&) {
    return POSSET_NO_MEMORY;
  }
  callback(data, progress);
  return POSSET_OK;
}

posset_status posset_future_take(posset_future* future, posset_value* out, posset_diagnostics** diagnostics) {
  if (out) *out = posset_nil();
  if (diagnostics) *diagnostics = nullptr;
  if (!future) return POSSET_MISUSE;
  const Held held(future);
  expire(*future->submission);  // before the context is entered: it ends it
  Evaluation evaluation(future->context);
  const posset_status ready = may_take(*future, evaluation);
  return ready == POSSET_OK ? take(*future, out, diagnostics) : ready;
}

posset_status posset_future_take_arguments(posset_future* future, posset_value* arguments, size_t count) {
  if (!future || (count != 0 && !arguments)) return POSSET_MISUSE;
  std::fill_n(arguments, count, posset_nil());
  const Held held(future);
  expire(*future->submission);  // before the context is entered: it ends it
  Evaluation evaluation(future->context);
  const posset_status ready = may_take(*future, evaluation);
  if (ready != POSSET_OK) return ready;
  Submission& s = *future->submission;
  if (std::exchange(s.lent_taken, true)) return posset::api::misuse(future->context, "the arguments have been taken", POSSET_NOT_FOUND);
  for (size_t i = 0; i < count && i < s.lent.size(); ++i) {
    arguments[i] = posset::api::out(s.lent[i].take());
  }
  s.lent.clear();
  return POSSET_OK;
}

posset_context* posset_future_context(posset_future* future) { return future ? future->context : nullptr; }

}  // extern "C"
