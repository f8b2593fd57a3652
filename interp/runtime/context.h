// A Context is one isolated world: heap, globals, modules, limits, register stack. One thread uses it at a
// time. Everything that runs takes it as its first argument. What contexts share (units, tiers, shapes,
// options) is RuntimeState.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interp/runtime/code_cache.h"
#include "interp/runtime/deferred_requests.h"
#include "interp/runtime/error.h"
#include "interp/runtime/function.h"
#include "interp/runtime/host_object.h"
#include "interp/runtime/host_pace.h"
#include "interp/runtime/native.h"
#include "interp/runtime/native_plugin.h"
#include "interp/runtime/strand.h"
#include "interp/runtime/tier.h"
#include "interp/runtime/tier_control.h"
#include "interp/runtime/tree_account.h"
#include "interp/syntax/resolver.h"
#include "interp/value/heap.h"
#include "interp/value/objects.h"
#include "interp/value/reference_cache.h"
#include "interp/value/shape.h"
#include "interp/value/string.h"
#include "sched/base/processors.h"
#include "sched/base/wake_up.h"

namespace posset::sched::posse {
class Crew;
}

namespace posset::interp {

class Carrier;
class Posse;
class Seat;
class Tasks;

struct RuntimeOptions {
  uint32_t thresholds[kTiers] = {0, 2, 100, 500};
  int max_tier = 3;
  int forced_tier = -1;        // >= 0: compile every unit for it before its first execution
  size_t code_limit_bytes = SIZE_MAX;  // units and code together
  size_t trace_events = 0;     // kept at most; 0: tracing is off
  uint32_t evaluation_threads = 0;     // of the compile scheduler (sched/p2/hybrid.h); 0: as it chooses
  uint32_t queue_limit = 0;            // likewise
  std::string native_plugin = kNativePlugin;  // where the native compiler is, see native_plugin.h
  uint8_t native_passes = 2;           // of tier 3's code, a jit::Pipeline
  uint32_t exit_stress = 0;            // seed by which guards of native code fail at random, for tests; 0: off
  uint32_t native_watch = 0;           // who is told of native code: kWatchPerf, kWatchGdb
  uint32_t workers = 1;                // executors for pure work
  uint32_t quantum_us = 0;             // 0: as posse.h chooses
  uint32_t cabal_limit = 0;            // executors for one evaluation; 0: no limit
  std::string cache_directory;         // where native code is kept between runs (code_cache.h); empty: nowhere
  uint64_t cache_limit_bytes = 0;      // of its files together
};

struct BuiltinModule {
  struct Export {
    const NativeFunction* function = nullptr;
    Borrowed constant;         // when there is no function
    const char* doc = "";
    Value value() const { return function ? Value::adopt(Borrowed::builtin(function)) : Value::copy(constant); }
  };
  std::unordered_map<std::string, Export> exports;
  // Null: there is none of the name.
  const Export* find(std::string_view name) const {
    const auto found = exports.find(std::string(name));
    return found == exports.end() ? nullptr : &found->second;
  }
};

// Shared by all contexts of one runtime. Built-ins and built-in modules are registered before the first
// context is made and never change afterwards.
class RuntimeState {
 public:
  explicit RuntimeState(RuntimeOptions options);
  ~RuntimeState();

  void attach(const TierInterface* tier);  // before the first context is made
  const TierInterface* tier(int level) const { return tiers_[level]; }

  // A string that is never counted and lives as long as the runtime; equal texts are one object. Any thread.
  Borrowed immortal_string(std::string_view text);
  // The error where there is no memory for one. It has neither place nor trace, is never counted, and stays as it is.
  ErrorObject* no_memory() const { return no_memory_; }

  const RuntimeOptions options;
  StackPool stacks;                                     // for registers and fork records
  // For the fibers of tasks.
  sched::StackPool task_stacks{size_t{256} << 10, 64, sched::StackArea::Use::Begins};
  ShapeTable shapes;
  sched::SystemClock clock;
  sched::Processors processors{sched::hardware_threads()};
  const std::unique_ptr<sched::Trace> trace;  // null: off
  UnitTable units;
  NativePlugin native;
  CodeCache cache;

  // By name.
  std::unordered_map<std::string_view, const NativeFunction*> builtins;
  std::unordered_map<std::string_view, const NativeFunction*> internal_builtins;  // that only the resolver calls
  // Of either kind; null: there is none.
  const NativeFunction* find_builtin(std::string_view name) const;
  std::unordered_map<std::string, BuiltinModule> modules;
  // What a module exports under the name; null: nothing, or there is no such module.
  const BuiltinModule::Export* export_of(std::string_view module, std::string_view name) const {
    const auto found = modules.find(std::string(module));
    return found == modules.end() ? nullptr : found->second.find(name);
  }
  // The first module by name that exports it; empty: none.
  std::string_view module_with(std::string_view name) const;
  HostTypes host_types;
  std::atomic<int64_t> next_task{1};  // numbers of tasks in the trace; relaxed: only different

  // Those of pure work; null: there is only one executor.
  std::unique_ptr<sched::posse::Crew> crew;
  // A context in which a thread of the crew works for another context. Set before the first context is made.
  std::function<std::shared_ptr<Context>(Context& root)> make_helper;

 private:
  const TierInterface* tiers_[kTiers] = {};
  std::mutex constants_mutex_;
  Heap constants_;
  std::unordered_map<std::string, Borrowed> immortal_strings_;
  ErrorData no_memory_data_;
  ErrorObject* no_memory_ = nullptr;
  void make_no_memory();

 public:
  TierControl control;  // last: its threads end before what they read goes
};

struct Limits {
  size_t memory_bytes = SIZE_MAX;
  uint64_t steps = UINT64_MAX;
  double seconds = 0;                   // 0: none
  uint32_t nested_calls = 100000;
  uint64_t output_bytes = UINT64_MAX;
  size_t stack_bytes = SIZE_MAX;        // of native stack, and as many of registers, for an evaluation or task
};

// Steps a slice may have before limits are looked at: short enough that an interrupt acts within a fraction of a
// millisecond, long enough that looking costs nothing.
// Loops take up new code where a slice ends at their head. Together with the step that finds it used up a slice
// is a prime number of steps, so its ends come to every place of a round, however many steps a round takes.
constexpr int64_t kSlice = 8190;

class Context : public Strand {
 public:
  // A helper has stacks for each part that it computes, and nothing of its own to compute.
  enum class Role : uint8_t { Host, Helper };
  Context(RuntimeState& runtime, const Limits& limits, Role role = Role::Host);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  RuntimeState& runtime;
  std::vector<std::unique_ptr<int64_t>> counts_of_unwanted;  // of closures that die in the heap in portions (outcome.cpp)
  Heap heap;
  ReferenceCache references{heap};  // by which a thread counts while it computes parts, or waits for some
  Reclaimer::Slot code_slot;  // entered while the context evaluates

  // ---- errors (error.cpp) ----
  // Makes the pending error; gives Failed. Must not be called while one is pending. Where there is no memory for it, that is
  // the error.
  Value raise(ErrorCode code, std::string message, std::string hint = {}) noexcept;
  Value raise_memory_limit() noexcept;
  // What std::bad_alloc becomes, whatever is pending. Who meets it between values and frames, where an error would be raised:
  // the tiers, and the calls of native functions.
  Value raise_no_memory() noexcept;
  // Throws a script value (an error value keeps its place and trace).
  Value throw_value(Value thrown);
  // Throws an error that ended another task or graph: its last trace point is none of the running function, also where both
  // ran the same one.
  Value throw_from_elsewhere(Value error);
  bool error_pending() const { return pending_ != nullptr; }
  std::string pending_message() const { return std::string(string_view_of(pending_->message)); }
  ErrorCode pending_code() const { return pending_->data->code; }
  bool limit_pending() const { return pending_ && pending_->data->limit; }
  // The error surfaces in a frame of `function` at `site`; only the first call per frame counts.
  void note_failure(const Function& function, uint32_t site);
  bool failure_noted() const { return noted_; }
  // That site: what sets an error aside notes it again when the error goes on.
  uint32_t noted_site() const { return point_.site; }
  // A frame is left because of the error. After `blame_caller` the frame leaves no point and the caller's call is the place.
  void leave_failed();
  // A function of the host is left because of it.
  void leave_host_function(const NativeFunction& function);
  // The error is about the value that is called; where a name or field stands there, the place of the error adds it.
  Value raise_of_callee(ErrorCode code, std::string message, std::string hint);
  // The pending error is about the call, not about anything in the frame that is being left.
  void blame_caller() { blame_caller_ = noted_ = true; }
  // The pending error as a value, trace ended here; Failed when it is a limit (still pending then).
  Value catch_error();
  // The pending error taken by the host, limits too.
  Value take_error();
  // Sets an error taken by `take_error` or set aside pending again, unchanged.
  void restore_error(Value error);
  // An error on its way out of a frame, set aside while something else runs in this context. Nil: none is pending.
  struct Unwinding {
    Value error;
    TracePoint point;
    bool noted, blames_caller;
  };
  Unwinding set_error_aside();
  void go_on_with(Unwinding unwinding);

  // Where the built-in is called that runs, as the trace is told of its parts; set while there is one. It takes it.
  TracePoint call_place;
  TracePoint take_call_place() { return std::exchange(call_place, {}); }

  // ---- loops whose rounds others may do (rounds.h) ----
  // Quanta that have been used, and which of them a loop must have begun before for somebody to want its rest.
  int64_t quanta = 1;
  int64_t rest_wanted = 0;

  // ---- steps, limits, safepoints (context.cpp) ----
  // Counts down at every function entry and loop iteration; below zero calls `poll`.
  int64_t fuel = 0;
  bool charge(uint64_t steps) {          // false: a limit was hit, the error is pending
    fuel -= static_cast<int64_t>(steps);
    return fuel >= 0 || poll();
  }
  bool charge_one() { return --fuel >= 0 || poll(); }
  // The next step ends the slice.
  void cut_slice() { slice_ -= std::exchange(fuel, 0); }
  bool poll();
  // A host's function has run.
  bool after_host_call() { return !host_pace_.is_due() || poll_after_host_call(); }
  uint64_t steps_used() const;
  // Steps that were spent elsewhere and belong to this evaluation. Not before it is seen that it has so many left.
  bool has_steps(uint64_t steps) const;
  void add_steps(uint64_t steps);
  // A part of the evaluation with a count of its own. What `begin_account` gives, `resume_account` takes.
  struct StepAccount {
    uint64_t before_slice;
    int64_t slice, fuel;
  };
  StepAccount account() const { return {steps_before_slice_, slice_, fuel}; }
  StepAccount begin_account();
  void resume_account(const StepAccount& account);
  // Any thread, and signal handlers.
  // Of a helper: the evaluation that it works for.
  void interrupt();
  // Ends the sleep of the thread that evaluates, while all its tasks wait.
  sched::WakeUp wake_up;
  // What that thread does instead, an event loop of the host: waits so long at most, unless `wake_up` is posted. False:
  // it has failed. Null: it sleeps. Not exchanged while anything is evaluated.
  struct Idle {
    std::function<bool(int64_t most_ns)> wait;
    bool hears;  // of posts: else it is not asked for long
  };
  const Idle* idle = nullptr;
  // What the evaluation gives its thread to others by (carrier.h); null: it has one of its own.
  Carrier* carrier = nullptr;
  // An interruption or the time limit, at the next `poll`. Between evaluations there is none: an interruption waits for the next.
  bool wants_to_stop() const;
  // What runs here is a part of an evaluation that has ended or wants to stop, or one that nobody waits for.
  bool is_cancelled() const;
  // Either: `poll` raises it.
  bool must_stop() const { return wants_to_stop() || is_cancelled(); }
  // The same where somebody has seen that it must. False.
  bool raise_stop();
  // Or it has come already, and the evaluation is on its way to its end: whatever takes long and can wait is left.
  bool is_stopping() const;
  // An interruption or the time limit has come in this evaluation, whatever has become of the error.
  bool has_been_stopped() const { return stopped_ || is_stopping(); }
  // When the time limit comes, in the time of the runtime's clock; kNever: there is none.
  int64_t time_limit_ns() const;
  void clear_interrupt() { interrupted_.store(false, std::memory_order_relaxed); }
  bool is_interrupted() const { return interrupted_.load(std::memory_order_relaxed); }
  const Limits& limits() const { return limits_; }
  void set_limits(const Limits& limits);
  // Starts the clocks of an outermost evaluation.
  void begin_evaluation();
  // The next step polls. The steps of the slice that are left count as not taken.
  void end_slice();
  // Instead, for one that is likely to end within its first slice of steps: the clock is not read and the scheduler not
  // told. It becomes like every other (`settle_in`) at the end of a slice, or where it calls the host or has to do with
  // tasks; its time counts from there. Only where it `may_be_brief`.
  void begin_brief_evaluation() {
    native.enter(limits_.stack_bytes);
    steps_before_slice_ = 0;
    slice_ = fuel = first_slice_;
    has_deadline_ = false;
    phase_ = Phase::Brief;
  }
  bool may_be_brief() const {
    return !has_new_limits_ && !pending_ && !tasks_at_work && !heap.is_overdrawn() && !is_interrupted();
  }
  // The limit lets an evaluation pass that is one step and does nothing but compute.
  bool has_plain_step() const { return first_slice_ > 0; }
  bool is_idle() const { return phase_ == Phase::Idle; }
  bool is_brief() const { return phase_ == Phase::Brief; }
  void settle_in();
  void (*on_settled_in)(Context&) = nullptr;  // for who tells the scheduler of evaluations
  // Has left nothing to do behind it but to give back what it has of the context.
  bool has_ended_briefly() const { return is_brief() && deferred.empty() && !keeps_views() && !scratch->is_heap(); }
  void end_evaluation() {
    phase_ = Phase::Idle;
    if (stopped_) clear_interrupt();
    stopped_ = false;
    has_deadline_ = false;
  }
  // The evaluation that has just begun ends then at the latest, as at its own time limit.
  void end_by(std::chrono::steady_clock::time_point deadline);
  //   if (context.native.low()) return context.on_fresh_stack([&] { return walk(node); });
  template <class Body>
  Value on_fresh_stack(Body&& body) {
    Value result;
    auto keep = [&] { result = body(); };
    if (!native.on_fresh_segment(keep)) return raise_stack_overflow();
    return result;
  }
  Value raise_stack_overflow();

  // ---- exit stress (RuntimeOptions::exit_stress) ----
  // Guards that native code still passes; where none is left it exits. Only counted while the stress is on.
  int64_t guards_left = INT64_MAX;
  // Whether the exit that is being taken was forced; the next one is set then.
  bool take_forced_exit();

  DeferredRequests deferred;             // empty outside of evaluations

  // ---- calls (call.h) ----

  // ---- names the host has set ----
  std::unordered_map<std::string, std::unique_ptr<Borrowed>> host_globals;  // owned values
  std::unordered_map<std::string, const NativeFunction*> host_functions;
  HostObject* host_objects = nullptr;             // all of them, see host_object.h

  // ---- modules (instantiate.cpp) ----
  // Loads the text of a module: gives false and `why` when it cannot. `key` identifies it.
  using Loader = std::function<bool(const std::string& from_key, const std::string& path, std::string& key,
                                    std::string& name, std::string& text, std::string& why)>;
  Loader loader;
  std::unordered_map<std::string, std::shared_ptr<syntax::Module>> trees;        // parsed, by key
  std::unordered_map<const syntax::Module*, std::unique_ptr<ModuleInstance>> instances;
  // Of the last operator of fixpoint.solve, by its unit; one of `instances` (fixpoint_sweep.h). Null: none.
  struct OperatorLoops {
    uint32_t unit = 0;
    ModuleInstance* module = nullptr;
  } operator_loops;
  syntax::SessionScope session;
  const std::shared_ptr<TreeAccount> tree_account = std::make_shared<TreeAccount>();  // also of trees that outlive it

  // What `spawn` has started (tasks.h); null: nothing yet.
  std::unique_ptr<Tasks> tasks;
  bool tasks_at_work = false;  // this evaluation has, or may have, to do with them
  // Now it has; a brief one is none any more.
  void begin_with_tasks() {
    if (is_brief()) settle_in();
    tasks_at_work = true;
  }

  // Who computes parts of what this evaluates (posse.h); null: nobody does.
  std::unique_ptr<Posse> posse;
  Seat* seat = nullptr;
  Posse* helps = nullptr;  // the posse that this is a helper's context of
  // Of a helper: counts its closures instead of their modules, and lives as long as what dies in portions.
  int64_t* const live_closures;
  bool holds_half_shared = false;  // values that parts elsewhere cannot be given, nor what is made of them (sharing.h)

  // ---- output and grants ----
  std::function<bool(std::string_view)> output;   // false: could not be written
  uint64_t output_written = 0;

  // Is told how far a built-in has come that takes long, at most ten times a second, on the thread that evaluates. Empty: nobody.
  struct Progress {
    const char* what;   // the built-in
    bool ended;         // it is over; only after others
    double seconds;
    uint64_t updates;
    double residual;
  };
  std::function<void(const Progress&)> progress;

 private:
  Value make_error(ErrorCode code, std::string message, std::string hint, bool limit);
  void lose_trace() noexcept;
  Value own_error(Value thrown);
  void extend_trace(const TracePoint& point);
  void place_error(const TracePoint& point);
  void name_callee(const TracePoint& point);
  bool has_trace() const { return count_of(pending_) != 0; }
  ErrorObject* pending_ = nullptr;                // owned
  TracePoint point_;                              // of the frame the error is in
  bool noted_ = false;
  bool blame_caller_ = false;
  Limits limits_;
  uint64_t steps_before_slice_ = 0;               // steps charged before the current slice
  int64_t slice_ = 0;                             // fuel the current slice started with
  uint64_t exit_random_ = 0;                      // state of the generator of forced exits
  std::atomic<bool> interrupted_{false};
  std::chrono::steady_clock::time_point deadline_{};
  bool has_deadline_ = false;
  enum class Phase : uint8_t { Idle, Brief, Settled };
  bool stopped_ = false;
  Phase phase_ = Phase::Settled;                  // who helps others evaluates all its life
  bool has_new_limits_ = true;                    // no evaluation has begun with them
  int64_t first_slice_ = 0;                       // fuel of the first slice of an evaluation
  HostPace host_pace_;
  int64_t closures_of_helper_ = 0;
  RegisterStack registers_;
  bool poll_after_host_call();
  int64_t slice_within(uint64_t steps) const;
  void start_slice();
  void start_clock();
  void force_next_exit();
  void install_hooks();   // instantiate.cpp
  void drop_values();     // instantiate.cpp
};

// The code to enter next, counting and promoting while that can still change anything.
inline ReadyCode ready_code(Context& context, const Function& function, Counted& counted, int loop) {
  int level = counted.settled.load(std::memory_order_acquire)
                  ? counted.ready.load(std::memory_order_acquire)
                  : context.runtime.control.count_and_promote(context, function, counted, loop);
  // Code may be evicted between being found ready and being taken.
  for (; level > 0; --level) {
    if (void* code = counted.code[level].load(std::memory_order_acquire)) return {level, code};
  }
  return {0, nullptr};
}

}  // namespace posset::interp
