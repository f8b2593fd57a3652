// Pure work on several executors. Where the compiler has found that two parts of an expression are independent
// (syntax::ForkPoint), the code leaves a record of the second before it does the first, and takes it back when it comes to
// the second: done by somebody else meanwhile, or, as a rule, not. Records are only ever looked at by the executor that
// left them, between two slices of steps: at the end of a quantum it hands some to executors without work, by the rules of
// sched/posse. Code that nobody steals from pays for a few stores.
//
// Who computes what, and in which order, never shows. A part is computed with the limits of the whole, and where it fails,
// by an error or a limit, or would exceed the steps that are left, what was computed is thrown away and it is done in its
// turn by the code that left the record. So there is one place where errors come from, and one order. The memory that a part
// needed in a heap of its own must have had room in that of its victim when it is taken back.
//
// A posse is what works for one evaluation. It has a seat on each executor that takes part: a context there, whose heap is
// that thread's own, and the members of the posse on that executor, each on top of the one it interrupted. What goes to
// another executor is marked shared (sharing.h); what comes back changes hands with its memory, so that it belongs to one
// thread and can be changed in place (outcome.h).
//
// A chain of records (sched/posse/member.h) is one delegate of many parts, each with a result of its own, so each is
// taken back or done again by itself. Where a linear recursion leaves no chain, because its record stands for all the rest,
// and somebody has nothing to do, that is given the rest and leaves one (walk_forks.cpp): of small sides, whose first ones
// come back to who waits for the rest. Where one of them fails, what runs on top of it may never end and is not wanted.
//
// Tasks. Whatever a context runs by turns, the host's evaluation and its tasks (and handlers of
// graphs, which are called on tasks' fibers), is an actor: a stack of members of its own, that may
// be a victim and wait. Meanwhile the thread's other tasks have their turns, also in the middle of
// a part that is done here. So a thread with tasks never offers itself to its posse: what it would
// be sent might keep them waiting. The account of steps is swapped with the actor (`leave`,
// `come_back`).
//
// Helpers are tasks of the runtime's executors (evaluators.h): who waits for a part there, or has computed for a quantum while
// others are ready, gives the thread to those. What a host evaluates on a thread of its own keeps that.
//
// Elsewhere: the rules and the executors (sched/posse).
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "interp/runtime/forks.h"
#include "interp/runtime/outcome.h"
#include "interp/runtime/sharing.h"
#include "interp/runtime/trace_events.h"
#include "sched/base/random.h"
#include "sched/posse/crew.h"
#include "sched/posse/member.h"
#include "sched/posse/payoff.h"
#include "sched/posse/quantum.h"

namespace posset::interp {

class Delegate;
class Posse;
class Tasks;
class Turn;

// As the option says, or `otherwise`.
inline int64_t quantum_of(const RuntimeOptions& options, int64_t otherwise) {
  return options.quantum_us != 0 ? options.quantum_us * sched::kMicrosecond : otherwise;
}

// Of what computes for a posse.
inline int64_t posse_quantum_ns(const RuntimeOptions& options) { return quantum_of(options, sched::kMillisecond); }

using Member = sched::posse::Member<ForkRecord>;

// What computes by turns with others on one executor.
struct Actor {
  explicit Actor(int64_t quantum_ns) : quantum(quantum_ns) {}

  sched::posse::MemberStack<ForkRecord> members;
  std::unique_ptr<Member> root;
  // When the last quantum had been used: nested calls, and steps.
  uint32_t depth = 0;
  uint64_t steps = 0;
  sched::posse::Quantum quantum;
  // The accounts below the one that runs: of the evaluation, then of parts. And that one, while
  // others have their turn.
  std::vector<Context::StepAccount> accounts;
  Context::StepAccount own_account{};
  // While it lets others run until its parts have been done:
  const Delegate* waits_for = nullptr;
  size_t waits_for_part = 0;
  Actor* next_waiting = nullptr;
  // Whoever computes parts for it, here and elsewhere, is to end.
  std::atomic<bool> stopped{false};
  // It was told so in the middle of a part: by this error, which goes on in its own code.
  bool ends = false;
  Value error;
};

// The part of a posse on one executor. Used by that executor's thread.
class Seat {
 public:
  Seat(Posse& posse, Context& context);
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // The evaluation of the host begins here, and ends.
  void begin();
  void end();
  // It is longer than had been thought, and its first quantum begins now.
  void settle_in() {
    actor_->quantum.begin_anew();
    context_.fork_depth.begin(context_.depth);
  }

  // A task begins on a strand of its own, and ends.
  void begin_task(Actor& actor) { actor_ = &actor; }
  void end_task();
  // Others have their turns until what runs comes back.
  Actor& leave();
  void come_back(Actor& actor);
  // The error that has just been raised at the end of a slice is about all that the actor does, not
  // about a part.
  void ends_whole() { actor_->ends = is_above_root(); }
  int64_t quantum_ns() const;
  // Whether what runs has been given up.
  bool is_stopped() const;
  bool runs_part() const { return running_ != nullptr; }
  // An error has come up while it waited, and is to be raised.
  bool has_kept_error() const { return actor_->ends && !actor_->error->is_nil(); }
  // Raises it. False: that, or a limit.
  bool end_of_wait();

  // A slice of steps has ended. False: raised.
  bool at_slice_end();
  // The record, which has been taken off the stack and was touched, gives its result; false: it is to be computed in place.
  bool merge(ForkRecord& record, Value& result);
  // An error has ended code that had left the records from there on.
  void drop(ForkRecord* from);
  // The records of frames above that one have been left so, and its own but those of the points `open`, by bit.
  void drop_above(const Borrowed* frame, uint32_t open);

  // Whose evaluation it is.
  const Context& posse_root() const;
  // Computes a part on top of what runs.
  void run(Delegate& delegate);
  // One whose place is here.
  void run_here(Delegate& delegate);

 private:
  friend class Delegate;
  friend class Posse;
  friend class Together;
  // A part is computed on top of what began.
  bool is_above_root() const {
    return actor_->root && !members().empty() && &members().top() != actor_->root.get();
  }
  sched::posse::MemberStack<ForkRecord>& members() const { return actor_->members; }
  void drop_members();
  bool look();
  std::unique_ptr<RegisterStack> take_registers();
  void take_part();
  void take_executor(sched::posse::Executor* executor) { executor_ = executor; }
  void begin_quantum(int64_t now_ns);
  bool pause();
  bool give(ForkRecord* first, size_t count, bool small_sides_later);
  const Delegate* with_waiters() const;
  bool has_offer(const Delegate* waiters) const;
  sched::posse::Executor* claim(const Delegate* waiters);
  bool is_worth_sharing(const ForkRecord& record, size_t count);
  size_t share(ForkRecord* first, size_t count);
  bool has_large_levels();
  ForkRecord* linear_part(ForkRecord* given);
  bool goes_in_order(const syntax::FunctionDecl* decl) const;
  void note_in_order(const syntax::FunctionDecl* decl);
  size_t chain() const;
  bool has_place() const;
  bool is_helper() const;
  template <class Done>
  sched::posse::Work* wait(sched::posse::Owner owner, int64_t deadline_ns, Done&& done);
  template <class Done>
  sched::posse::Work* wait_uncounted(sched::posse::Owner owner, int64_t deadline_ns, Done&& done);
  void make_way();
  bool is_waited_for() const;
  void wait_for(Delegate& delegate, size_t number);
  void wait_alone(Delegate& delegate, size_t number);
  bool is_to_stop(Tasks& tasks);
  void let_others(Tasks& tasks, Delegate& delegate, size_t number);
  bool take_turn(Turn& turn);
  void wait_a_moment(Tasks& tasks, Delegate& delegate, size_t number);
  bool is_done(const Delegate& delegate, size_t number);
  // How many parts had been computed, from when on.
  struct Progress {
    size_t computed = 0;
    int64_t since_ns = 0;
  };
  void wait_for_dropped(ForkRecord* from);
  void raise_kept_error();
  bool is_kept_back(const Delegate& delegate, size_t number, Progress& progress, int64_t now_ns);
  void took_back(ForkRecord* from);
  bool should_stop() const;
  // When, and what has been done by then.
  struct Pace {
    int64_t at_ns = 0, idle_ns = 0;
    uint64_t steps = 0, merged_steps = 0;
  };
  Pace pace() const;
  bool is_judged(const ForkRecord& first, size_t count) const;
  bool is_held(const ForkRecord& record) const;
  void judge(const Delegate& delegate, const Pace& met, int64_t taken_ns);
  void compute(Delegate& delegate);
  bool compute_part(Delegate& delegate, size_t number, bool alone);
  bool finish(Delegate& delegate, size_t number, Value result, bool alone);
  bool list(Delegate& delegate, size_t number, Value result);
  bool finish_list(Delegate& delegate, bool alone);
  bool take(Delegate& delegate, size_t number, Value& result);
  bool take_list(Delegate& delegate);
  void forget(Delegate& delegate, size_t number);
  void trace(TierEvent event, std::initializer_list<int64_t> fields);
  int64_t now_if_traced() const;
  void trace_taken(Delegate& delegate, const sched::posse::Executor& by, int64_t sharing_ns);
  size_t room() const;

  Posse& posse_;
  Context& context_;
  sched::posse::Executor* executor_ = nullptr;
  std::unique_ptr<ForkStack> forks_;
  Actor own_;             // the host's evaluation, or whatever is sent to a helper
  Actor* actor_ = &own_;  // that runs
  Delegate* running_ = nullptr;  // the part on top, of those that are computed here
  const std::atomic<bool>* stop_ = nullptr;  // of a helper: of whom it works for just now
  Actor* waiting_ = nullptr;                 // those that let others run until parts have been done
  uint32_t waiting_count_ = 0;
  std::vector<std::unique_ptr<RegisterStack>> free_registers_;
  // Whose linear recursions have failed with what is small left for later.
  std::vector<const syntax::FunctionDecl*> in_order_only_;
  sched::Random random_{1};
  int64_t idle_ns_ = 0;         // in all, while it waited for parts with nothing else to do
  uint64_t merged_steps_ = 0;   // in all, of parts that were taken back
  sched::posse::Payoff payoff_;
};

// Parts that are computed away from their places, those of records that lie one on the other; as a rule there is one. Belongs
// to the records, and goes with the last.
class Delegate final : public sched::posse::Work {
 public:
  // Throws std::bad_alloc.
  Delegate(Seat& home, ForkRecord* first, size_t count, bool small_sides_later);

  // What an executor was sent for; the victim may go on when it returns.
  void run(sched::posse::Executor& here) override;
  void give_up() override { publish(); }
  // Nobody wants it any more: whoever computes it gives up.
  bool is_dropped() const { return dropped_.load(std::memory_order_relaxed); }
  void set_dropped() { dropped_.store(true, std::memory_order_relaxed); }
  // Under the lock of the victim's executor.
  bool has_done(size_t number) const { return has_in_turn(number, done_); }
  const Borrowed* frame_of(const ForkRecord& record) { return parts_[number_of(record)].frame; }

 private:
  friend class Seat;
  friend class Together;
  static constexpr uint32_t kNoPlace = UINT32_MAX;
  struct Part {
    Borrowed* frame = nullptr;
    Outcome outcome;
    uint32_t place = kNoPlace;  // in the list of all, of what consists of objects and was one of many
    uint64_t steps = 0;
    uint64_t quanta = 0;  // that it took
    size_t peak = 0;      // bytes of memory that it needed at once, in the heap of a helper
    bool failed = true;
  };
  size_t number_of(const ForkRecord& record) const { return static_cast<size_t>(&record - first_); }
  bool any_failed() const;  // by the victim, when all have been done
  // Parts are computed in the order of the source.
  bool of_small_sides() const { return record_.is_small_side(); }
  size_t in_turn(size_t place) const { return of_small_sides() ? place : parts_.size() - 1 - place; }
  bool has_in_turn(size_t number, size_t count) const { return in_turn(number) < count; }
  // They are not open any more, but the delegate's.
  void take_records(ForkRecord* first);
  Value evaluate(Context& context, size_t number);
  void publish();
  void skip_unless_run();
  void tell(size_t parts);
  std::string place() const;

  Seat& home_;
  const ForkRecord* const first_;  // the place of it
  const ForkRecord record_;  // as the first was left
  Value closure_;              // of that
  std::vector<Value> inputs_;  // of the parts, one behind the other: an error may end their frames before they have been done
  const bool small_sides_later_;
  const uint32_t depth_, depth_limit_;
  const std::atomic<bool>& stop_;
  const size_t room_;  // bytes of memory that the victim had left
  std::vector<Part> parts_;
  Outcome all_;              // a list, until the first of it is taken back
  Value list_;               // then
  size_t left_;              // records that have not been taken back
  uint64_t steps_ = 0;
  bool begun_ = false;
  size_t done_ = 0;          // parts; under the lock of the victim's executor
  std::atomic<size_t> computed_{0};  // parts, some of which wait to be packed with the others
  bool complete_ = false;    // all have been computed; by who computes
  int64_t begin_ns_ = 0;     // and there
  uint64_t live_before_ = 0;  // objects, when it began
  Seat::Pace given_{};        // of the victim, when it was handed over; not judged: nothing
  std::atomic<bool> dropped_{false};
  Delegate* const parent_;           // that the victim computes a part of; null: the evaluation
  Delegate* below_ = nullptr;  // that its executor computes it on top of
  uint64_t job_ = 0;         // in the trace
};

// All that works for the evaluations of one context.
class Posse {
 public:
  explicit Posse(Context& root);

  Seat& root_seat() { return root_; }
  Context& root() { return root_context_; }
  sched::posse::Crew& crew() { return crew_; }
  // The seat of a worker's executor; the caller is its task. Null: no memory for it.
  Seat* seat_of(sched::posse::Executor& executor);
  sched::posse::Cabal& cabal() { return cabal_; }
  int64_t quantum_ns() const { return quantum_ns_; }
  // When an evaluation has ended.
  void free_what_was_left();
  // Whether what works for it is to end.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  void stop(bool stopped) { stopped_.store(stopped, std::memory_order_relaxed); }
  // Outcomes that wait to be taken may hold as much memory together as one context. False: this would be more.
  bool add_waiting(size_t bytes);
  void remove_waiting(size_t bytes) { waiting_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  struct Helper {
    std::shared_ptr<Context> context;
    std::unique_ptr<Seat> seat;
  };
  Context& root_context_;
  sched::posse::Crew& crew_;
  const int64_t quantum_ns_;
  sched::posse::Cabal cabal_;  // under the lock of the crew
  Seat root_;
  std::atomic<bool> stopped_{false};
  std::atomic<size_t> waiting_bytes_{0};
  sched::Mutex mutex_;
  std::vector<Helper> helpers_ POSSET_GUARDED_BY(mutex_);  // by number of the executor
};

}  // namespace posset::interp
