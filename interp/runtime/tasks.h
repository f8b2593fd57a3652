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
#include <memory>
#include <optional>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/value/objects.h"
#include "sched/fiber/executors.h"
#include "sched/fiber/parker.h"

namespace posset::interp {

class Tasks;
struct Channel;
struct Job;
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
  bool has_any() const;

 private:
  Waiter *first_ = nullptr, *last_ = nullptr;
};

// A task, or the evaluation of the host. Counted: by the handle, and by its fiber until its end.
struct Job {
  explicit Job(Tasks& of, Channel* its_channel = nullptr) : tasks(of), channel(its_channel), is_generator(its_channel) {}

  Tasks& tasks;
  Channel* channel;         // that it generates for, while somebody has that
  const bool is_generator;
  uint32_t references = 1;
  Value callee;
  Value arguments;  // a list
  TaskObject* handle = nullptr;     // while somebody has it
  Value error;                      // that nobody has awaited; until the evaluation's end
  WaitQueue ended_queue;            // who awaits it
  sched::fiber::Parker* parker = nullptr;  // while it waits
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

  // callee(..arguments), a list, as a task. Gives the handle, or nil when it is `held` by nobody.
  Value spawn(Value callee, Value arguments, bool held);
  // Starts it for a channel, which holds it.
  Job* start_generator(Channel& channel, Value callee, Value arguments);
  Value await(Borrowed task);
  // The end of the evaluation with that result: waits for all tasks.
  Value finish(Value result);

  // What runs waits until it is woken or the deadline comes; may return early. False: raised, it is to end.
  bool wait(int64_t deadline_ns, const char* what);
  void wake(Job& job);
  // Waits until one thing of the choice has happened. False: raised.
  bool wait_for(const Choice& choice, const char* what);
  Job& current() { return *current_; }
  void cancel(Job& job);
  void release(Job& job);
  void drop_handle(Job& job);
  int64_t now_ns() const;
  // Waits until all tasks but the one that calls have ended. False: raised.
  bool join_all();
  // Lets others go on first.
  bool yield();

  // A slice of steps has ended. False: raised.
  bool at_slice_end();
  uint64_t live() const { return live_; }
  uint64_t begun() const { return begun_; }

 private:
  bool start();
  Value first_unawaited();
  bool schedule(Job& job);
  void run(Job& job);
  Value call(Job& job);
  void end(Job& job, Value result);
  void cancel_all();
  bool may_go_on();
  void set_alarm();
  template <class Body>
  void aside(Body&& body);
  std::unique_ptr<RegisterStack> take_registers();

  Context& context_;
  Job host_;             // the evaluation
  Job* current_ = &host_;
  Job* jobs_ = nullptr;  // that have not ended
  uint64_t live_ = 0;    // of these, those that are no generators
  uint64_t begun_ = 0;
  WaitQueue joining_;    // who waits for the end of others
  bool alarm_ = false;   // the evaluation has to look what is wrong
  bool stuck_ = false;
  static constexpr int64_t kNotYet = -1;
  int64_t since_ns_ = kNotYet;  // when what runs first asked after it had gone on
  Value fatal_;           // a limit that a task has reached
  std::vector<Job*> failed_;  // whose error nobody had awaited when they ended; counted
  std::vector<std::unique_ptr<RegisterStack>> free_registers_;
  std::optional<sched::fiber::Executors> executors_;
};

// The tasks of a context, made when they are first asked for.
Tasks& tasks_of(Context& context);
void destroy_task(TaskObject* object);  // the heap's hook

}  // namespace posset::interp
