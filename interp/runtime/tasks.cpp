// See tasks.h.
#include "interp/runtime/tasks.h"

#include <algorithm>
#include <utility>

#include "interp/runtime/call.h"
#include "interp/runtime/carrier.h"
#include "interp/runtime/channel.h"
#include "interp/runtime/doorbell.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/posse.h"
#include "sched/base/stack_area.h"

namespace posset::interp {

namespace {

namespace fiber = sched::fiber;

constexpr uint32_t kNestedCalls = 10000;
constexpr size_t kRegisterBytes = size_t{64} << 20;  // 400 for each of kNestedCalls; less where that cannot be had
constexpr size_t kIdleStackBytes = size_t{1} << 20;
constexpr int64_t kQuantumNs = 10 * sched::kMillisecond;  // what may be computed while others are ready
constexpr int64_t kAgainNs = 10 * sched::kMillisecond;
constexpr int64_t kFirstPauseNs = 5 * sched::kMillisecond, kLastPauseNs = 2 * sched::kSecond;  // for registers: 2.5 s in all
// Charged for a task: what it touches of its stacks.
constexpr size_t kChargedBytes = size_t{16} << 10;
constexpr size_t kMostFreeStacks = 64;
// Of tasks that an error tells of: the first ones tell what is wrong.
constexpr size_t kMostTold = 8;

// "count_words (words.posset:26:1)".
std::string name_of(const Job& job) { return job.function->name.empty() ? "<fn>" : std::string(job.function->name); }

std::string text_of(const Job& job) {
  if (!job.function) return "of the host";
  return name_of(job) + " (" + job.function->module->source->place(job.function->span.begin) + ")";
}

// Which task, where and why, by the error that is pending.
std::string problem_of(const Job& job, Context& context) {
  const std::string message = context.pending_message();
  Value error = context.take_error();
  const ErrorData& data = *error->as<ErrorObject>()->data;
  const std::string where = data.located ? " at " + source_of(data.place)->place(span_of(data.place).begin) : "";
  context.restore_error(std::move(error));
  return text_of(job) + ", which failed" + where + ": " + message;
}

// What an error's trace tells of tasks, as far as there is room.
class Told {
 public:
  explicit Told(Borrowed error) : data_(*error.as<ErrorObject>()->data) {}
  void tell(std::string task) {
    if (count_++ < kMostTold) data_.trace.add_part("task " + std::move(task));
  }
  ~Told() {
    if (count_ > kMostTold) data_.trace.add_part(std::to_string(count_ - kMostTold) + " other tasks");
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

 private:
  ErrorData& data_;
  size_t count_ = 0;
};

}  // namespace

// ---- waiting ----

Waiter::~Waiter() {
  if (queue) queue->remove(*this);
}

WaitQueue::~WaitQueue() {
  while (first_) remove(*first_);
}

void WaitQueue::push(Waiter& waiter) {
  waiter.queue = this;
  waiter.previous = last_;
  (last_ ? last_->next : first_) = &waiter;
  last_ = &waiter;
}

void WaitQueue::remove(Waiter& waiter) {
  (waiter.previous ? waiter.previous->next : first_) = waiter.next;
  (waiter.next ? waiter.next->previous : last_) = waiter.previous;
  waiter.next = waiter.previous = nullptr;
  waiter.queue = nullptr;
}

// What is cancelled ends when it goes on: what it was given would be lost.
bool Waiter::is_open() const { return !choice.by && !choice.job.cancelled; }

Waiter* WaitQueue::claim() {
  while (Waiter* waiter = first_) {
    remove(*waiter);
    if (!waiter->is_open()) continue;
    waiter->choice.by = waiter;
    return waiter;
  }
  return nullptr;
}

Waiter* WaitQueue::take() {
  Waiter* const waiter = claim();
  if (waiter) waiter->choice.job.tasks.wake(waiter->choice.job);
  return waiter;
}

Waiter* WaitQueue::first() const {
  Waiter* waiter = first_;
  while (waiter && !waiter->is_open()) waiter = waiter->next;
  return waiter;
}

// ---- life ----

Tasks& tasks_of(Context& context) {
  if (!context.tasks) context.tasks = std::make_unique<Tasks>(context);
  context.begin_with_tasks();
  return *context.tasks;
}

Tasks::Tasks(Context& context)
    : context_(context), trace_(context.runtime), host_(*this), quantum_ns_(quantum_of(context.runtime.options, kQuantumNs)) {
  host_.begun = true;
}

Tasks::~Tasks() = default;

int64_t Tasks::now_ns() const { return context_.runtime.clock.now_ns(); }

bool Tasks::start() {
  if (executors_) return true;
  context_.begin_with_tasks();
  fiber::Config config;
  config.stacks = &context_.runtime.task_stacks;
  config.max_fibers = UINT32_MAX;
  config.name = "tasks";
  config.on_stuck = [this](const fiber::StuckReport& report) { nothing_happens(report.waiting); };
  config.wake_up = &context_.wake_up;
  config.on_watch = [this] {
    if (context_.wants_to_stop()) set_alarm();
  };
  // What has come already is told again until the evaluation has ended by it: the first time may
  // have found it in the middle.
  config.watch_at = [this] {
    return context_.wants_to_stop() ? now_ns() + kAgainNs : context_.time_limit_ns();
  };
  if (context_.idle) {
    config.on_sleep = [this](int64_t until_ns) { sleep_until(until_ns); };
  } else if (context_.carrier) {
    config.on_sleep = [this](int64_t until_ns) { context_.carrier->sleep(until_ns); };
  }
  executors_.emplace(context_.runtime.clock, std::move(config), nullptr);
  if (executors_->bind()) {
    trace_made(host_);
    return true;
  }
  executors_.reset();
  context_.raise(ErrorCode::HostError, "this thread cannot run tasks");
  return false;
}

void Tasks::nothing_happens(uint32_t never_begin) {
  if (outside_ > 0) return;
  for (size_t i = onlookers_.size(); i-- > 0;) {
    if (onlookers_[i]->nothing_happens()) return;
  }
  stuck_ = true;
  without_stack_ = never_begin;
  set_alarm();
}

void Tasks::set_alarm() {
  alarm_ = true;
  wake(host_);
}

// Where nothing can go on, whatever has its stack here: `context_` is nobody's.
void Tasks::sleep_until(int64_t until_ns) {
  if (context_.wake_up.take()) return;
  if (!idle_stack_) idle_stack_ = std::make_unique<sched::NativeStack>(kIdleStackBytes);
  if (idle_failed_ || !idle_stack_->ok()) return context_.wake_up.wait_until(context_.runtime.clock, until_ns);
  if (!context_.idle->hears) until_ns = std::min(until_ns, now_ns() + kAgainNs);
  auto body = [&] { idle(until_ns == sched::kNever ? sched::kNever : std::max<int64_t>(0, until_ns - now_ns())); };
  idle_stack_->run([](void* what) { (*static_cast<decltype(body)*>(what))(); }, &body);
}

// It runs nothing in the context, as an accessor does not. What it raises there all the same is nobody's.
void Tasks::idle(int64_t most_ns) {
  Strand left = std::move(static_cast<Strand&>(context_));  // behind by somebody who comes back to it
  context_.heap.in_accessor = true;
  idle_failed_ = !context_.idle->wait(most_ns);
  context_.heap.in_accessor = false;
  if (context_.error_pending()) static_cast<void>(context_.take_error());
  if (idle_failed_) set_alarm();
  static_cast<Strand&>(context_) = std::move(left);
}

std::unique_ptr<Tasks::Stacks> Tasks::take_stacks() {
  if (!free_stacks_.empty()) {
    auto stacks = std::move(free_stacks_.back());
    free_stacks_.pop_back();
    return stacks;
  }
  auto stacks = std::make_unique<Stacks>(kRegisterBytes, context_.runtime.stacks);
  if (context_.posse) stacks->forks = std::make_unique<ForkStack>(kNestedCalls, &context_.runtime.stacks);
  return stacks;
}

void Tasks::release(Job& job) {
  if (--job.references != 0) return;
  context_.heap.discharge(kChargedBytes);
  delete &job;
}

// ---- starting ----

namespace {

const syntax::FunctionDecl* function_of(Borrowed callee) {
  return callee.is(Tag::Fn) ? callee.as<Closure>()->function->decl : nullptr;
}

}  // namespace

// ---- the trace ----

// A helper without a function is a graph's, which has events of its own.
void Tasks::trace_made(Job& job) {
  if (!trace_.is_on() || job.body) return;
  if (&job == &host_) {
    trace_.made(job.traced, "evaluation", "");
  } else if (!job.function) {
    trace_.made(job.traced, text_of(job), "");
  } else {
    trace_.made(job.traced, name_of(job), job.function->module->source->place(job.function->span.begin));
  }
}

void Tasks::trace_end(Job& job) {
  using sched::Outcome;
  trace_.left(job.traced, "");
  trace_.ended(job.traced, job.cancelled ? Outcome::Cancelled : job.failed ? Outcome::Failed : Outcome::Done);
  job.traced = {};
}

// What a fiber runs of a job. Where none can be had for it, it is destroyed with the job that never began.
class Tasks::Beginning {
 public:
  explicit Beginning(Job& job) : job_(&job) {}
  Beginning(Beginning&& other) noexcept : job_(std::exchange(other.job_, nullptr)) {}
  ~Beginning() {
    if (job_) job_->tasks.never_begins(*job_);
  }
  Beginning& operator=(Beginning&&) = delete;
  void operator()() {
    Job& job = *std::exchange(job_, nullptr);
    job.tasks.run(job);
  }

 private:
  Job* job_;
};

// False: raised, and the arguments are released.
bool Tasks::schedule(Job& job) {
  ++job.references;
  const fiber::Scheduled answer = executors_->schedule(Beginning(job), {.same_thread = true});
  if (answer != fiber::Scheduled::Accepted) {
    release(job);
    context_.raise(ErrorCode::HostError, "the tasks have been stopped");
    return false;
  }
  trace_made(job);
  job.next = jobs_;
  if (jobs_) jobs_->previous = &job;
  jobs_ = &job;
  job.is_listed = true;
  ++job_count_;
  counts_.live += !job.is_helper;
  counts_.begun += !job.is_helper;
  return true;
}

Value Tasks::spawn(Value callee, Value arguments, const Spawn& spawn) {
  auto* handle = start() ? context_.heap.make<TaskObject>(Tag::Task) : nullptr;
  if (handle) {
    handle->job = nullptr;
    handle->result = Borrowed::nil();
  }
  const Value task = handle ? Value::adopt(Borrowed::heap(Tag::Task, handle)) : Value();
  if (!handle || !context_.heap.charge(kChargedBytes)) {
    return context_.error_pending() ? Value::failure() : context_.raise_memory_limit();
  }
  auto* job = new Job(*this);
  job->callee = std::move(callee);
  job->arguments = std::move(arguments);
  job->function = function_of(job->callee);
  job->spawned = {spawn.function.decl, spawn.site};
  job->tree = spawn.function.module->tree;
  if (!schedule(*job)) {
    release(*job);
    return Value::failure();
  }
  if (!spawn.held) {
    release(*job);
    return Value();
  }
  handle->job = job;
  job->handle = handle;
  return Value::copy(task);
}

// Null: raised.
Job* Tasks::start_helper(std::unique_ptr<Job> job) {
  if (!start()) return nullptr;
  if (!context_.heap.charge(kChargedBytes)) {
    context_.raise_memory_limit();
    return nullptr;
  }
  if (schedule(*job)) return job.release();
  release(*job.release());
  return nullptr;
}

Job* Tasks::start_generator(Channel& channel, Value callee, Value arguments) {
  auto job = std::make_unique<Job>(*this, true);
  job->channel = &channel;
  job->callee = std::move(callee);
  job->arguments = std::move(arguments);
  job->function = function_of(job->callee);
  return start_helper(std::move(job));
}

// Nobody keeps it but its fiber.
Job* Tasks::start_helper(std::function<void()> body) {
  auto made = std::make_unique<Job>(*this, true);
  made->body = std::move(body);
  Job* job = start_helper(std::move(made));
  if (job) release(*job);
  return job;
}

// ---- running ----

// What runs has its part of the context set aside while `body` lets others run. The trace is told until what; null: there
// are none.
template <class Body>
void Tasks::aside(const char* until, Body&& body) {
  Job& self = *current_;
  if (until) trace_.left(self.traced, until);
  const StrandAside own(context_);
  Actor* const actor = context_.seat ? &context_.seat->leave() : nullptr;
  body();
  if (actor) context_.seat->come_back(*actor);
  own.come_back(context_);
  current_ = &self;
  since_ns_ = kNotYet;
  if (until) trace_.went_on(self.traced);
}

// On a fiber, from its beginning to its end. Whoever ran before has set its part aside.
void Tasks::run(Job& job) {
  auto stacks = take_stacks();
  // Registers that others have are there when these end, if that is soon; what is refused for want of memory stays so.
  const auto come_later = [&] { return !stacks->are_there() && sched::StackMappings::are_scarce() && !job.cancelled; };
  for (int64_t pause_ns = kFirstPauseNs; come_later() && pause_ns <= kLastPauseNs; pause_ns *= 2) {
    fiber::this_fiber::sleep_until(now_ns() + pause_ns);
    stacks = take_stacks();
  }
  current_ = &job;
  trace_.went_on(job.traced);
  job.begun = true;
  since_ns_ = kNotYet;
  StrandAside::begin(context_);
  const size_t stack_bytes = context_.limits().stack_bytes;
  context_.stand_on(stacks->registers, stack_bytes);
  context_.depth_limit = std::min(kNestedCalls, context_.limits().nested_calls);
  if (stacks->forks) {
    context_.begin_forks(stacks->forks->begin());
    context_.depth_limit = std::min(context_.depth_limit, stacks->forks->calls());
  }
  context_.native.enter(fiber::this_fiber::stack_low(), stack_bytes);
  std::optional<Actor> actor;
  if (context_.seat) context_.seat->begin_task(actor.emplace(context_.seat->quantum_ns()));
  Value result = perform(job, stacks->are_there());
  if (result.failed()) locate(job);
  if (actor) context_.seat->end_task();
  context_.drop_kept_views();
  context_.scratch = Value();
  end(job, std::move(result));
  if (free_stacks_.size() < kMostFreeStacks && stacks->are_there()) free_stacks_.push_back(std::move(stacks));
  static_cast<Strand&>(context_) = Strand();  // nobody comes back to it
  release(job);
}

// There was no stack for it, or it was cancelled while it waited for one. Between others, or in the evaluation: what they have
// set aside, or have here, is left alone.
void Tasks::never_begins(Job& job) {
  if (!job.is_listed) return;  // it was refused
  Strand own = std::exchange(static_cast<Strand&>(context_), Strand());
  Job* const current = std::exchange(current_, &job);
  Value result;
  if (!job.body) {
    result = job.cancelled ? context_.raise(ErrorCode::Cancelled, "the task was cancelled") : context_.raise_memory_limit();
    locate(job);
  }
  end(job, std::move(result));
  if (job.body) {
    job.next = std::exchange(dropped_, &job);
  } else {
    release(job);
  }
  current_ = current;
  static_cast<Strand&>(context_) = std::move(own);
}

// Everything ends, and what waits for a stack without one: there may be none for long.
void Tasks::cancel_waiting() {
  cancel_all();
  executors_->drop_waiting();
}

Value Tasks::perform(Job& job, bool has_registers) {
  if (job.body) {
    job.body();
    return Value();
  }
  // Calls want registers before they run. Without any, as under a limit on address space, it is memory that is missing.
  if (!has_registers) return context_.raise_memory_limit();
  return may_go_on() ? call(job) : Value::failure();
}

Value Tasks::call(Job& job) {
  const Value callee = std::move(job.callee);
  Value result;
  try {
    result = call_with_list(context_, callee, std::move(job.arguments));
    if (result.failed() && !job.cancelled && !job.is_helper) job.problem = problem_of(job, context_);
  } catch (const std::bad_alloc&) {
    result = context_.error_pending() ? Value::failure() : context_.raise_memory_limit();
  }
  job.function = nullptr;  // it may go with the callee
  return result;
}

// A call that failed before it was in any function, for its arguments or within a built-in, points at the `spawn`.
void Tasks::locate(const Job& job) {
  if (!job.spawned.function) return;
  Value error = context_.take_error();
  ErrorData& data = *error->as<ErrorObject>()->data;
  if (!data.located) {
    data.keep(job.tree);
    data.place = job.spawned;
    data.located = true;
    data.trace.add(job.spawned);
  }
  context_.restore_error(std::move(error));
}

// What a generator gives that somebody has beyond the evaluation it was made in.
Value Tasks::cut_off() {
  context_.raise(ErrorCode::Cancelled, "the generator has ended with the evaluation that it was made in",
                 "what is to be there later is kept in a list, or made anew");
  return context_.take_error();
}

void Tasks::end(Job& job, Value result) {
  job.failed = result.failed();
  if (job.failed) {
    const bool is_limit = context_.limit_pending();
    result = context_.take_error();
    if (is_limit && !job.cancelled && fatal_->is_nil()) {
      fatal_ = Value::copy(result);
      cancel_all();
      set_alarm();
    }
    if (!job.cancelled && !job.awaited && !job.is_helper) {
      job.error = Value::copy(result);
      ++job.references;
      failed_.push_back(&job);
    }
  }
  job.callee = Value();
  job.ended = true;
  trace_end(job);
  (job.previous ? job.previous->next : jobs_) = job.next;
  if (job.next) job.next->previous = job.previous;
  --job_count_;
  counts_.live -= !job.is_helper;
  counts_.failed += job.failed && !job.cancelled && !job.is_helper;
  counts_.cancelled += job.cancelled && !job.is_helper;
  if (job.handle) job.handle->result = result.take();
  while (job.ended_queue.take()) {
  }
  if (job.channel) generator_ended(*job.channel, job.cancelled ? cut_off() : job.failed ? std::move(result) : Value());
  while (joining_.take()) {
  }
}

bool Tasks::is_to_go_on() {
  Job& self = *current_;
  if (self.cancelled) {
    context_.raise(ErrorCode::Cancelled, "the task was cancelled");
    return false;
  }
  if (&self != &host_ || !std::exchange(alarm_, false)) return true;
  if (!fatal_->is_nil()) {
    context_.restore_error(std::move(fatal_));
    return false;
  }
  if (context_.wants_to_stop()) return context_.poll();
  if (!std::exchange(idle_failed_, false)) return true;
  context_.raise(ErrorCode::HostError, "the host's event loop has failed");
  return false;
}

void Tasks::park(int64_t deadline_ns, const char* what, Doorbell* bell, Job* next) {
  Job& self = *current_;
  aside(what, [&] {
    fiber::ThisParker parker(fiber::ThisParker::kRegardless);
    self.parker = &*parker;
    self.waits_for = what;
    if (bell) bell->lie_down(*parker);
    auto is_woken = [&] { return self.woken || (bell && bell->has_rung()); };
    while (!is_woken() && (deadline_ns == sched::kNever || now_ns() < deadline_ns)) {
      if (!next) {
        self.parker->park(deadline_ns, what);
      } else {
        next->woken = true;
        self.parker->hand_over(*std::exchange(next, nullptr)->parker, deadline_ns, what);
      }
    }
    if (next) wake(*next);
    if (bell) bell->get_up();
    self.parker = nullptr;
    self.waits_for = nullptr;
    self.woken = false;
  });
}

bool Tasks::wait_outside(Doorbell& bell, const char* what) {
  ++outside_;
  const bool goes_on = wait(sched::kNever, what, &bell, nullptr);
  --outside_;
  return goes_on;
}

bool Tasks::wait(int64_t deadline_ns, const char* what, Doorbell* bell, Job* next) {
  Job& self = *current_;
  // Whose turn it is may wake others before it waits: they come behind `next`.
  if (next && (self.turn || !next->parker)) wake(*std::exchange(next, nullptr));
  if (!(has_begun() || start()) || !may_go_on()) {
    if (next) wake(*next);
    return false;
  }
  if (self.turn && !self.turn->wait_begins()) return false;
  park(deadline_ns, what, bell, next);
  if (self.turn && !self.turn->wait_ends()) return false;
  if (!may_go_on()) return false;
  return &self != &host_ || !std::exchange(stuck_, false) || raise_deadlock(what);
}

void Tasks::each_waiting(const std::function<void(std::string, const char*)>& visit) const {
  for (const Job* job = jobs_; job; job = job->next) {
    if (job->waits_for && !job->body) visit(text_of(*job), job->waits_for);
  }
}

// Of those that wait, and of those that have failed meanwhile, for which the others may be waiting.
bool Tasks::raise_deadlock(const char* what) {
  const std::string waits = std::string("deadlock: this waits for ") + what;
  if (without_stack_ == 0) {
    context_.raise(ErrorCode::Deadlock, waits + ", and so does every task", "nothing is left that could wake one of them");
  } else {
    const std::string few = std::to_string(job_count_ - std::min<size_t>(job_count_, without_stack_));
    context_.raise(ErrorCode::Deadlock,
                   waits + ", and so do " + few + " tasks; there is no stack for the other " + std::to_string(without_stack_),
                   "a task that has begun has a stack until it ends, and a process can have so many: let fewer wait at a time");
  }
  Value error = context_.take_error();
  {
    Told told(error);
    for (const Job* job : failed_) {
      if (!job->awaited) told.tell(job->problem);
    }
    each_waiting([&](std::string task, const char* waits_for) { told.tell(std::move(task) + ", which waits for " + waits_for); });
  }
  context_.restore_error(std::move(error));
  return false;
}

void Tasks::wake(Job& job) {
  job.woken = true;
  if (job.parker) job.parker->unpark();
}

bool Tasks::wait_for(const Choice& choice, const char* what, Job* next) {
  while (!choice.by) {
    if (!wait(sched::kNever, what, nullptr, std::exchange(next, nullptr))) return false;
  }
  if (next) wake(*next);
  return true;
}

void Tasks::let_others_run() {
  aside(is_alone(runs_task() ? 1 : 0) ? nullptr : "its turn", [] { fiber::this_fiber::yield_preempted(); });
}

bool Tasks::yield() {
  if (!executors_) return true;
  if (!may_go_on()) return false;
  let_others_run();
  if (current_->turn && !current_->turn->quantum_ends()) return false;
  return may_go_on();
}

void Tasks::leave(Onlooker& onlooker) { std::erase(onlookers_, &onlooker); }

bool Tasks::at_slice_end() {
  if (!executors_) return true;
  // The clock is first read when a slice has ended: most that run end or wait before.
  const int64_t now = now_ns();
  if (since_ns_ == kNotYet) since_ns_ = now;
  if (now - since_ns_ >= quantum_ns_ && !context_.heap.is_guarded()) return yield();
  return may_go_on();
}

// ---- ends ----

Value Tasks::await(Borrowed task) {
  if (!task.is(Tag::Task)) {
    return context_.raise(ErrorCode::TypeMismatch, "await needs a task, got " + kind_and_value(context_, task),
                          "`spawn f(x)` gives one");
  }
  Job& job = *task.as<TaskObject>()->job;
  if (&job == current_) {
    return context_.raise(ErrorCode::BadArgument, "a task cannot await itself", "this is the task " + text_of(job));
  }
  const Value held = Value::copy(task);
  job.awaited = true;
  if (!job.ended) {
    Choice choice(*current_);
    Waiter waiter(choice);
    job.ended_queue.push(waiter);
    if (!wait_for(choice, "a task")) return Value::failure();
  }
  const Borrowed result = task.as<TaskObject>()->result;
  if (!job.failed) return Value::copy(result);
  if (job.cancelled) return context_.raise(ErrorCode::TaskCancelled, "the task was cancelled");
  return context_.throw_from_elsewhere(Value::copy(result));
}

void Tasks::cancel(Job& job) {
  if (job.ended) return;
  job.cancelled = true;
  wake(job);
}

void Tasks::cancel_all() {
  for (Job* job = jobs_; job; job = job->next) cancel(*job);
}

Value spawn_task(Context& context, Value callee, Value arguments, const Spawn& spawn) {
  return tasks_of(context).spawn(std::move(callee), std::move(arguments), spawn);
}

Value await_task(Context& context, Borrowed task) { return tasks_of(context).await(task); }

void destroy_task(TaskObject* object) {
  if (Job* job = object->job) job->tasks.drop_handle(*job);
}

void Tasks::drop_handle(Job& job) {
  job.handle = nullptr;
  cancel(job);
  release(job);
}

// The first error that nobody has awaited is the evaluation's, if that has none; its trace tells of the others.
void Tasks::tell_unawaited(Value& error, bool failed) {
  std::optional<Told> told;
  if (failed && !error->is_nil()) told.emplace(error);
  for (Job* job : failed_) {
    if (!job->awaited && !failed) {
      error = std::move(job->error);
      told.emplace(error);
      failed = true;
    } else if (!job->awaited && told) {
      told->tell(std::move(job->problem));
    }
    job->error = Value();
    release(*job);
  }
  failed_.clear();
}

bool Tasks::join_all() {
  const bool is_counted = current_ != &host_ && !current_->is_helper;
  while (counts_.live > (is_counted ? 1 : 0)) {
    Choice choice(*current_);
    Waiter waiter(choice);
    joining_.push(waiter);
    if (!wait_for(choice, "other tasks to end")) return false;
  }
  return true;
}

Value Tasks::finish(Value result) {
  if (!executors_) return result;
  Value error;
  bool failed = result.failed();
  auto fail = [&] {
    Value later = context_.take_error();
    if (!failed) error = std::move(later);
    failed = true;
    cancel_waiting();
  };
  if (failed) {
    error = context_.take_error();
    cancel_waiting();
  }
  while (counts_.live > 0) {
    if (!join_all()) fail();
  }
  cancel_waiting();  // the helpers
  while (jobs_) {
    Choice choice(host_);
    Waiter waiter(choice);
    joining_.push(waiter);
    if (!wait_for(choice, "other tasks to end")) fail();
  }
  executors_->unbind();
  executors_.reset();
  while (Job* const job = dropped_) {
    dropped_ = job->next;
    release(*job);
  }
  host_.failed = failed;
  trace_end(host_);
  alarm_ = stuck_ = idle_failed_ = false;
  fatal_ = Value();
  const bool is_deadlock = failed && error->as<ErrorObject>()->data->code == ErrorCode::Deadlock;
  if (is_deadlock) {  // which tells of them already
    for (Job* job : failed_) job->awaited = true;
  }
  tell_unawaited(error, failed);
  if (error->is_nil()) return result;
  context_.restore_error(std::move(error));
  return Value::failure();
}

}  // namespace posset::interp
