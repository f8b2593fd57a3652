// Who is compiled when: the counters and thresholds of architecture.md ("Units and tiers"). Each execution of
// a unit that may still rise is counted. When a count reaches a tier's threshold one requester wins and hands
// the compilation to the scheduler (sched/p2/hybrid.h), bytecode a moment later (deferred_requests.h); everybody, the
// winner too, goes on where they are and takes the code at a later entry or loop head. A request the scheduler refuses is repeated after a quarter of
// the threshold's executions, then after twice as many. With a forced tier compilations happen at once, in the requesting thread.
//
// One per runtime; any thread. Elsewhere: what is counted and evicted (unit.h), how code is made (tier.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "interp/runtime/function.h"
#include "interp/runtime/unit.h"
#include "sched/base/clock.h"
#include "sched/base/stack_pool.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"

namespace posset::sched {
class HybridScheduler;
}

namespace posset::interp {

class Context;
class Evaluators;
class RuntimeState;
struct CacheUse;
struct Refusal;
struct TierInterface;

// A way out of native code into bytecode, told.
struct SideExit {
  std::string place;  // a line for each frame, the inlined ones first, as in traces of errors
  std::string expected, found;
};

// Whether code of that level is not asked for before the code of the level below has come.
bool waits_for_quick_code(int level, const Counted& counted);

struct ReadyCode {
  int level;
  void* code;  // null at level 0
};

class TierControl {
 public:
  TierControl(RuntimeState& runtime, const sched::Clock& clock, sched::Trace* trace);
  ~TierControl();  // stops
  TierControl(const TierControl&) = delete;
  TierControl& operator=(const TierControl&) = delete;

  // Called at every execution (function entry, loop iteration) while a higher tier than the running one may
  // be wanted: counts, and asks for compilation when due. Gives the highest tier that is ready. `counted` is
  // that of the function's body (loop < 0) or loop.
  int count_and_promote(Context& context, const Function& function, Counted& counted, int loop);

  // Bytecode is made by the compile threads alone, however long they take: for tests that hold these up. Before anything runs.
  void leave_to_threads() { compiles_here_ = false; }
  // Hands over what the context has deferred.
  void hand_over_deferred(Context& context) noexcept;
  // The context's outermost evaluation has ended: the same, but for what has ended with it.
  void settle(Context& context) noexcept;
  // The module, which has run, goes, and with it its functions.
  void forget_deferred(Context& context, const ModuleInstance& module) noexcept;

  // Called for a round of loop `loop`, or an execution (-1), inside code of tier 1 or above that belongs to
  // `owner`: the function's body (-1) or a loop around. Counts, and asks for that code in a higher tier.
  void count_round(const Function& function, int loop, int owner);
  // The end of a slice of steps in a round of loop `loop` or a call (-1), in code of tier 1 or above that belongs to
  // `owner` and may not be counted any more: counts for as many executions as a slice has steps, and asks for that code
  // in a higher tier when due.
  void ask_again(const Function& function, int loop, int owner);
  // A slice of steps has ended, whoever used it up.
  void end_slice() { slices_.store(slices_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  // Counting can still lead to a compilation.
  bool may_promote(const Counted& counted) const;
  // Quick native code is still to be made, or is being made.
  bool awaits_native(const Counted& counted) const;
  // The code of a tier exits often: it is made anew from what the profile says by now; after some times it is given up.
  // What there is stays until the other comes, unless it goes on like this. `times` is counted up before it is made.
  void make_anew(const Function& function, int loop, int level, std::atomic<uint32_t>& times);
  // The function's code of the last tier does rows of columns one by one: it is made anew so that it does several at once. What
  // there is stays until the other comes. While the context evaluates.
  void make_for_columns(const Function& function);
  // Native code is entered: the first time, the trace tells.
  void note_native_entry(const Function& function, int loop);

  // Native code made for the function or loop has been left. Only while there is a trace.
  void note_side_exit(const Function& function, int loop, int level, const SideExit& exit);

  // The end: what waits, compilations and evaluations, is dropped, what runs is waited for, what comes later refused.
  void stop();

  // Waits until every compilation that was asked for has ended.
  void wait();

  sched::HybridScheduler& scheduler() { return *scheduler_; }
  Evaluators& evaluators() { return *evaluators_; }
  // Whether the caller is a thread of either, which must not wait for its end.
  bool is_own_thread() const;
  uint64_t next_job() { return jobs_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct KeptTrees;
  struct Compilation;
  void bear(Unit& unit, int loop, int level);
  void attend_deferred(Context& context) noexcept;
  void compile_some_here() noexcept;
  bool wanted(int level, uint32_t count, Counted& counted, uint32_t passed = 1) const;
  bool is_settled(const Counted& counted, uint32_t count) const;
  bool in_foreground(int level) const;
  bool left_to_loops(Unit& unit, int loop, uint32_t count) const;
  void request_bytecode(Context& context, const Function& function, int loop, uint32_t count);
  void request(const Function& function, int loop, int level, uint32_t count);
  bool win(Unit& unit, int loop, int level, uint32_t count, Reason& before);
  void hand_over(const Function& function, int loop, int level) noexcept;
  void give_up(const Function& function, int loop);
  void submit(std::unique_ptr<Compilation> job);
  uint32_t idle_slices(const Counted& counted) const;
  Reason no_use(Compilation& job);
  bool has_gone_on(Compilation& job, uint32_t idle);
  bool has_left_loop(Compilation& job) const;
  bool is_superseded(const Compilation& job) const;
  void found_running(Counted& counted) const;
  // False: it was of no use, and nothing was compiled.
  bool compile(Compilation& job);
  void make(Compilation& job, const TierInterface& tier);
  void let_learn(Compilation& job, void* code);
  void let_record(Compilation& job) const;
  bool publish(Compilation& job, void* code, void* below);
  void refused(Compilation& job, const Refusal& refusal);
  void postpone(Compilation& job, Reason reason);
  void postpone(Unit& unit, int loop, int level, uint64_t job, Reason reason, uint32_t patience);
  void note_cache(const Compilation& job, const CacheUse& cache);
  void take_kept_above(const Compilation& below);
  void request_above(const Compilation& below);
  void give_back(Unit& unit, int loop, int level);
  void ended(std::unique_ptr<Compilation> job);
  Compilation* take_ended(int most) POSSET_EXCLUDES(freeing_);
  void free_some_ended();
  void free_ended();
  void note_entry(const Function& function, Counted& counted, int loop, int level, uint32_t count);

  RuntimeState& runtime_;
  const sched::Clock& clock_;
  sched::Trace* const trace_;
  std::atomic<uint64_t> jobs_{1};
  bool compiles_here_ = true;
  // For compilers, which recurse as deep as the source is nested, on threads that evaluate.
  sched::StackPool stacks_{size_t{16} << 20};
  std::atomic<uint32_t> slices_{0};  // a clock of the programs' own; evaluations at the same time may lose some
  std::atomic<size_t> pending_{0};  // asked for and not ended
  // Ended, and to be freed by whoever asks next. That is mostly the thread whose memory the trees are: given back
  // there they are used again at once, where memory that another thread has freed comes back slowly and cold. No more
  // than the scheduler's queues hold.
  std::atomic<Compilation*> ended_{nullptr};
  sched::Mutex freeing_;  // taken only where it is free
  Compilation* to_free_ POSSET_GUARDED_BY(freeing_) = nullptr;  // those that were taken from there
  // The last two: their threads end before the rest goes.
  std::unique_ptr<sched::HybridScheduler> scheduler_;
  std::unique_ptr<Evaluators> evaluators_;
};

}  // namespace posset::interp
