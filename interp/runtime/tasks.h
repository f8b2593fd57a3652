// The tasks of a context: what `spawn` starts. Each runs on a fiber of executors without threads of their own
// (sched/fiber), so all tasks of a context run on the thread that evaluates, one at a time: another goes on where one waits,
// or has computed for a quantum. That is how values can be handed from one to another as they are.
//
// A task ends with the evaluation that the host began, which waits for it (`finish`). Before that it is cancelled when
// nobody has its handle any more, unless `spawn` stood as a statement: then it was not meant to be held. A limit that one
// of them reaches ends the evaluation. Where all wait and nothing can wake them, the evaluation's own wait raises.
//
// Elsewhere: what is set aside while something waits (strand.h), channels and generators (channel.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/error.h"
#include "interp/runtime/task_trace.h"
#include "interp/value/objects.h"
#include "sched/base/clock.h"
#include "sched/base/native_stack.h"
#include "sched/fiber/executors.h"
#include "sched/fiber/parker.h"

namespace posset::interp {

class Doorbell;
class Tasks;
struct Channel;
struct Job;
struct Spawn;
struct Waiter;

// One wait of something, for one or several things of which one is to happen.
struct Choice {
  explicit Choice(Job& waiting) : job(waiting) {}
  Job& job;
  Waiter* by = nullptr;  // what has happened
};

// A place in the queue for one thing, on the stack of what waits. It leaves the queue when it goes.
struct Waiter {
  Waiter(Choice& its_choice, Value its_value = Value()) : choice(its_choice), value(std::move(its_value)) {}
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  bool is_open() const;  // nothing has happened yet, and something still may

  Choice& choice;
  Value value;          // what is sent, or has been received
  bool closed = false;  // there is nothing to be had any more
  class WaitQueue* queue = nullptr;
  Waiter *next = nullptr, *previous = nullptr;
};

// First come, first served.
class WaitQueue {
 public:
  WaitQueue() = default;
  ~WaitQueue();
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;

  void push(Waiter& waiter);
  void remove(Waiter& waiter);
  // The first for which nothing else has happened: now this has, and it is woken. Null: there is none.
  Waiter* take();
  // The same, but whoever takes it has to wake its job, or to hand over to it (`Tasks::wait_for`).
  Waiter* claim();
  // That one, left where it is.
  Waiter* first() const;
  bool has_any() const { return first() != nullptr; }

 private:
  Waiter *first_ = nullptr, *last_ = nullptr;
};

// What a job does by turns with others of its kind, as the handlers of a graph are: it is told when the job is left in the
// middle, so that the others have their turns meanwhile. Each gives false when it has raised, and the job is to end.
class Turn {
 public:
  // What the host was given for it, if it is one of its handlers.
  virtual const void* of_host() const { return nullptr; }
  virtual bool wait_begins() = 0;
  virtual bool wait_ends() = 0;
  virtual bool quantum_ends() = 0;
  // It waits for parts that others compute, which end by themselves; so it can wait in place where
  // it cannot be left (false, and nothing is raised).
  virtual bool parts_begin() = 0;
  // It is its turn again though it has not asked for it.
  virtual bool is_called_back() const = 0;
  virtual bool parts_end() = 0;

 protected:
  ~Turn() = default;
};

// What goes on in helpers, and is told when nothing can happen any more: every job waits, or cannot begin for want of a stack.
class Onlooker {
 public:
  // False: it has nothing to do about it.
  virtual bool nothing_happens() = 0;

 protected:
  ~Onlooker() = default;
};

// A task, a helper or the evaluation of the host. A helper belongs to something else, a generator or a graph, which ends it
// and is told of its errors. Counted: by the handle, and by its fiber until its end.
struct Job {
  explicit Job(Tasks& of, bool helps = false) : tasks(of), is_helper(helps) {}

  Tasks& tasks;
  Channel* channel = nullptr;  // that it generates for, while somebody has that
  const bool is_helper;
  uint32_t references = 1;
  std::function<void()> body;  // what it does, if it calls no function of a script by itself
  Turn* turn = nullptr;        // while it has one
  Value callee;
  Value arguments;  // a list
  const syntax::FunctionDecl* function = nullptr;  // that it calls, as long as it does; null: one of the host
  const char* waits_for = nullptr;                 // while it waits
  std::string problem;                             // which and why, once it has failed by itself
  TracePoint spawned;                              // the call behind `spawn`; of a helper none
  std::shared_ptr<const syntax::Module> tree;      // that it points into
  TaskObject* handle = nullptr;     // while somebody has it
  Value error;                      // that nobody has awaited; until the evaluation's end
  WaitQueue ended_queue;            // who awaits it
  sched::fiber::Parker* parker = nullptr;  // while it waits
  TaskTrace::Traced traced;
  bool is_listed = false;
  bool begun = false;
  bool woken = false;
  bool cancelled = false;
  bool ended = false;
  bool failed = false;
  bool awaited = false;
  Job *next = nullptr, *previous = nullptr;  // of those that have not ended
};

class Tasks {
 public:
  explicit Tasks(Context& context);
  ~Tasks();  // after `finish`
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  Value spawn(Value callee, Value arguments, const Spawn& spawn);  // call.h
  // Starts it for a channel, which holds it.
  Job* start_generator(Channel& channel, Value callee, Value arguments);
  // Starts a helper that runs `body`, which throws nothing and leaves no error pending. Null: raised.
  Job* start_helper(std::function<void()> body);
  int64_t quantum_ns() const { return quantum_ns_; }
  Value await(Borrowed task);
  // The end of the evaluation with that result: waits for all tasks.
  Value finish(Value result);

  // What runs waits until it is woken or the deadline comes; may return early. False: raised, it is to end.
  bool wait(int64_t deadline_ns, const char* what) { return wait(deadline_ns, what, nullptr, nullptr); }
  void wake(Job& job);
  // The same for a helper's own purposes: nothing is raised, whatever there would be to raise. May return early.
  // Or until the bell is rung.
  void park(int64_t deadline_ns, const char* what, Doorbell* bell = nullptr, Job* next = nullptr);
  // The same as `wait`, or until the bell is rung by somebody outside: as long as that may happen, nothing is a deadlock.
  bool wait_outside(Doorbell& bell, const char* what);
  // Waits until one thing of the choice has happened. False: raised. `next`, if there is one, is woken first, whatever comes
  // then: it goes on as soon as this waits, unless others are before it.
  bool wait_for(const Choice& choice, const char* what, Job* next = nullptr);
  Job& current() { return *current_; }
  void cancel(Job& job);
  void release(Job& job);
  void drop_handle(Job& job);
  int64_t now_ns() const;
  // Waits until all tasks but the one that calls have ended. False: raised.
  bool join_all();
  // Lets others go on first.
  bool yield();
  void let_others_run();
  // How many others could run now, unless a time has to come first.
  uint32_t others_ready() const { return sched::fiber::this_fiber::others_ready(); }
  // Until `leave` it is told when nothing happens, before the evaluation is; the last that came
  // first.
  void watch(Onlooker& onlooker) { onlookers_.push_back(&onlooker); }
  void leave(Onlooker& onlooker);
  // Whether somebody else could do anything: but for the evaluation and so many other jobs.
  bool is_alone(size_t jobs) const { return job_count_ <= jobs; }
  bool is_host(const Job& job) const { return &job == &host_; }

  // A slice of steps has ended. False: raised.
  bool at_slice_end();
  // Whether there is anything but the evaluation.
  bool has_begun() const { return executors_.has_value(); }
  // Whether it is a task that runs, not the evaluation.
  bool runs_task() const { return current_ != &host_; }
  struct Counts {
    uint64_t begun = 0, live = 0;        // helpers are none
    uint64_t failed = 0, cancelled = 0;  // of those that have ended
  };
  const Counts& counts() const { return counts_; }
  // Tasks that wait now, from the newest to the oldest: which, and for what.
  void each_waiting(const std::function<void(std::string task, const char* waits_for)>& visit) const;

 private:
  bool start();
  void tell_unawaited(Value& error, bool failed);
  bool raise_deadlock(const char* what);
  bool wait(int64_t deadline_ns, const char* what, Doorbell* bell, Job* next);
  void sleep_until(int64_t until_ns);
  void idle(int64_t most_ns);
  void nothing_happens(uint32_t never_begin);
  class Beginning;
  void never_begins(Job& job);
  void cancel_waiting();
  bool schedule(Job& job);
  Job* start_helper(std::unique_ptr<Job> job);
  void run(Job& job);
  Value perform(Job& job, bool has_registers);
  Value call(Job& job);
  void locate(const Job& job);
  void end(Job& job, Value result);
  Value cut_off();
  void cancel_all();
  // False: raised. Asked twice in each wait.
  bool may_go_on() { return (!current_->cancelled && !(alarm_ && current_ == &host_)) || is_to_go_on(); }
  bool is_to_go_on();
  void set_alarm();
  void trace_made(Job& job);
  void trace_end(Job& job);
  template <class Body>
  void aside(const char* until, Body&& body);
  struct Stacks {
    Stacks(size_t register_bytes, StackPool& pool) : registers(register_bytes, &pool) {}
    RegisterStack registers;
    std::unique_ptr<ForkStack> forks;  // null: nothing leaves fork records
    bool are_there() const { return registers.begin() && (!forks || forks->begin()); }
  };
  std::unique_ptr<Stacks> take_stacks();

  Context& context_;
  TaskTrace trace_;
  Job host_;             // the evaluation
  Job* current_ = &host_;
  Job* jobs_ = nullptr;  // that have not ended
  Job* dropped_ = nullptr;  // helpers that never began, which a graph may still look at; until the evaluation's end
  size_t job_count_ = 0;
  Counts counts_;
  std::vector<Onlooker*> onlookers_;
  WaitQueue joining_;    // who waits for the end of others
  bool alarm_ = false;   // the evaluation has to look what is wrong
  bool stuck_ = false;
  uint32_t without_stack_ = 0;  // tasks that could not begin when it was found so
  bool idle_failed_ = false;
  uint32_t outside_ = 0;       // that wait for somebody outside
  std::unique_ptr<sched::NativeStack> idle_stack_;
  const int64_t quantum_ns_;
  static constexpr int64_t kNotYet = -1;
  int64_t since_ns_ = kNotYet;  // when what runs first asked after it had gone on
  Value fatal_;           // a limit that a task has reached
  std::vector<Job*> failed_;  // whose error nobody had awaited when they ended; counted
  std::vector<std::unique_ptr<Stacks>> free_stacks_;
  std::optional<sched::fiber::Executors> executors_;
};

// The tasks of a context, made when they are first asked for.
Tasks& tasks_of(Context& context);
void destroy_task(TaskObject* object);  // the heap's hook

}  // namespace posset::interp
