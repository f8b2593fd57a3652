// See tier_control.h.
#include "interp/runtime/tier_control.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/evaluators.h"
#include "interp/runtime/posse.h"
#include "interp/runtime/trace_events.h"
#include "sched/p2/hybrid.h"

namespace posset::interp {

namespace {

// Counts stay exact up to here; beyond, nobody asks.
constexpr uint32_t kCountedFor = 10000;

// What has not been found running for so many slices has probably ended.
constexpr uint32_t kIdleSlices = 16;
// What has been within so few runs now, or will again: an inner loop between two entries.
constexpr uint32_t kFewSlices = 2;

// What is found running more rarely than once in so many takes too little of the time to wait for.
constexpr uint32_t kMostUsualGap = 128;

// What compiling native code takes as long as too little of it has been timed.
constexpr double kUsualNativeNs = 2 * sched::kMillisecond, kUsualOptimisedNs = 10 * sched::kMillisecond;
// A loop in code that the code around it will replace is looked at after so many of its slices again.
constexpr uint32_t kSupersededSlices = 8;

// What a submitted evaluation computes while others that have begun are ready.
constexpr int64_t kEvaluationQuantumNs = 10 * sched::kMillisecond;

sched::TaskType task_type(int level) {
  return {level == 1 ? sched::TaskKind::BytecodeCompile : sched::TaskKind::JitCompile, static_cast<uint64_t>(level)};
}

// Of the body or loop and all loops in it, whose rounds count for its code.
uint32_t most_counted(const Unit& unit, int loop) {
  uint32_t count = unit.counted(loop).count.load(std::memory_order_relaxed);
  for (int inner = 0; inner < static_cast<int>(unit.loop_parents.size()); ++inner) {
    if (unit.is_inside(inner, loop)) count = std::max(count, unit.counted(inner).count.load(std::memory_order_relaxed));
  }
  return count;
}

uint16_t kind(TierEvent event) { return static_cast<uint16_t>(event); }

uint32_t evaluation_threads(const RuntimeOptions& given) {
  return given.evaluation_threads != 0 ? given.evaluation_threads : static_cast<uint32_t>(sched::hardware_threads());
}

// A submitted evaluation has one of them, and its parts the others.
uint32_t executor_threads(const RuntimeOptions& given) { return std::max(evaluation_threads(given), given.workers); }

sched::HybridOptions scheduler_options(RuntimeState& runtime, std::function<bool()> on_evaluation) {
  const RuntimeOptions& given = runtime.options;
  sched::HybridOptions options;
  options.processors = &runtime.processors;
  options.evaluation_threads = 0;
  options.on_evaluation = std::move(on_evaluation);
  if (given.queue_limit != 0) options.max_queue_size = given.queue_limit;
  if (given.workers > 1) options.native_niceness = 0;
  return options;
}

}  // namespace

// A declaration and the trees it refers to, which may be other modules': a context may go while they are compiled.
struct TierControl::KeptTrees {
  std::shared_ptr<const syntax::Module> own;
  std::vector<std::shared_ptr<const syntax::Module>> linked;

  explicit KeptTrees(const syntax::FunctionDecl& decl) : own(decl.module->shared_from_this()) {
    for (const syntax::Link& link : decl.links) {
      const syntax::Module* home = link.home();
      if (home && home != decl.module && !has(home)) linked.push_back(home->shared_from_this());
    }
  }
  bool has(const syntax::Module* module) const {
    return std::any_of(linked.begin(), linked.end(), [&](const auto& each) { return each.get() == module; });
  }
};

// One request, from the threshold to the published code. It keeps alive what it reads.
struct TierControl::Compilation {
  UnitRef unit;
  KeptTrees trees;
  const syntax::FunctionDecl* decl;
  int loop;
  int level;
  uint64_t job;
  bool in_background = false;
  bool only_kept = false;  // nothing is to be compiled: the code cache has it, or nobody
  Compilation* next = nullptr;  // of those that have ended

  Counted& counted() { return unit->counted(loop); }
};

TierControl::TierControl(RuntimeState& runtime, const sched::Clock& clock, sched::Trace* trace)
    : runtime_(runtime),
      clock_(clock),
      trace_(trace),
      scheduler_(std::make_unique<sched::HybridScheduler>(clock, trace, scheduler_options(runtime, [this] {
        return evaluators_->take_one();
      }))),
      evaluators_(std::make_unique<Evaluators>(clock, trace, *scheduler_, executor_threads(runtime.options),
                                               evaluation_threads(runtime.options),
                                               quantum_of(runtime.options, kEvaluationQuantumNs))) {}

TierControl::~TierControl() {
  stop();
  free_ended();
}

// `count` is of what has been executed, which may be a loop of what `counted` is the code of.
// `passed` executions have gone by since it was last asked.
bool TierControl::wanted(int level, uint32_t count, Counted& counted, uint32_t passed) const {
  const RuntimeOptions& options = runtime_.options;
  if (level > options.max_tier || !runtime_.tier(level)) return false;
  if (counted.status[level].load(std::memory_order_acquire) != TierStatus::NotStarted) return false;
  // Native code is made from bytecode and what it recorded.
  if (level > 1 && counted.status[1].load(std::memory_order_acquire) != TierStatus::Ready) return false;
  if (options.forced_tier >= level) return true;
  if (count < options.thresholds[level]) return false;
  const uint32_t patience = counted.patience[level].load(std::memory_order_relaxed);
  if (patience != 0) counted.patience[level].store(patience - std::min(patience, passed), std::memory_order_relaxed);
  return patience <= passed && !waits_for_quick_code(level, counted);
}

// Optimised code is asked for once the quick native code is there: until then it would only take up room in the queue,
// for what may have ended when its turn comes.
bool waits_for_quick_code(int level, const Counted& counted) {
  return level == kOptimisingTier && counted.status[level - 1].load(std::memory_order_acquire) == TierStatus::Compiling;
}

// Where one execution has lasted until a loop in it had optimised code, bytecode would be slower until it has such code
// itself, which is made from nothing: the walker goes on and enters the loop's. What else it does is worth a
// compilation when it is done as often as other things that are.
bool TierControl::left_to_loops(Unit& unit, int loop, uint32_t count) const {
  if (count >= runtime_.options.thresholds[kOptimisingTier] || in_foreground(1)) return false;
  for (int inner = 0; inner < static_cast<int>(unit.loop_parents.size()); ++inner) {
    if (inner == loop || unit.counted(inner).ready.load(std::memory_order_acquire) < kOptimisingTier) continue;
    if (!unit.is_inside(inner, loop)) continue;
    unit.counted(loop).reason[1].store(Reason::left_to_loops, std::memory_order_relaxed);
    return true;
  }
  return false;
}

bool TierControl::is_settled(const Counted& counted, uint32_t count) const {
  const int ready = counted.ready.load(std::memory_order_acquire);
  for (int level = 1; level <= runtime_.options.max_tier && level < kTiers; ++level) {
    if (!runtime_.tier(level)) continue;
    TierStatus status = counted.status[level].load(std::memory_order_acquire);
    if (status == TierStatus::NotStarted || status == TierStatus::Compiling) return false;
    if (status == TierStatus::Ready && level > ready) return false;  // it is being published
  }
  // While the entry is not noted, the counting that would note it must not stop.
  if (counted.entry_job[ready].load(std::memory_order_relaxed) != 0) return false;
  return count >= kCountedFor;
}

int TierControl::count_and_promote(Context& context, const Function& function, Counted& counted, int loop) {
  const uint32_t count = counted.tick();
  found_running(counted);
  if (wanted(1, count, counted) && !left_to_loops(*function.unit, loop, count)) request_bytecode(context, function, loop, count);
  for (int level = 2; level < kTiers; ++level) {
    if (wanted(level, count, counted)) request(function, loop, level, count);
  }
  if (context.deferred.wait()) attend_deferred(context);
  if (is_settled(counted, count)) counted.settled.store(true, std::memory_order_release);
  const int ready = counted.ready.load(std::memory_order_acquire);
  if (trace_ && ready > 0) note_entry(function, counted, loop, ready, count);
  return ready;
}

void TierControl::count_round(const Function& function, int loop, int owner) {
  const uint32_t count = function.unit->counted(loop).tick();
  Counted& home = function.unit->counted(owner);
  found_running(home);
  for (int level = 2; level < kTiers; ++level) {
    if (wanted(level, count, home)) request(function, owner, level, count);
  }
}

void TierControl::ask_again(const Function& function, int loop, int owner) {
  // On the average: each of them uses up a step.
  const uint32_t count = function.unit->counted(loop).tick(kSlice);
  Counted& home = function.unit->counted(owner);
  found_running(home);
  for (int level = 2; level < kTiers; ++level) {
    if (wanted(level, count, home, kSlice)) request(function, owner, level, count);
  }
}

bool TierControl::may_promote(const Counted& counted) const {
  for (int level = 2; level <= runtime_.options.max_tier && level < kTiers; ++level) {
    const bool is_open = counted.status[level].load(std::memory_order_relaxed) == TierStatus::NotStarted;
    if (is_open && runtime_.tier(level) && !waits_for_quick_code(level, counted)) return true;
  }
  return false;
}

bool TierControl::awaits_native(const Counted& counted) const {
  const TierStatus status = counted.status[2].load(std::memory_order_relaxed);
  return (status == TierStatus::NotStarted || status == TierStatus::Compiling) && runtime_.options.max_tier >= 2 && runtime_.tier(2);
}

void TierControl::make_for_columns(const Function& function) {
  Counted& counted = function.unit->body;
  void* below = counted.code[1].load(std::memory_order_acquire);
  TierStatus expected = TierStatus::Ready;
  if (!below || !counted.status[kOptimisingTier].compare_exchange_strong(expected, TierStatus::Compiling,
                                                                         std::memory_order_acq_rel)) {
    return;
  }
  runtime_.tier(1)->want_columns(below);
  hand_over(function, -1, kOptimisingTier);
}

void TierControl::make_anew(const Function& function, int loop, int level, std::atomic<uint32_t>& times) {
  constexpr uint8_t kMostAttempts = 12;
  Counted& counted = function.unit->counted(loop);
  TierStatus expected = TierStatus::Ready;
  if (!counted.status[level].compare_exchange_strong(expected, TierStatus::Compiling, std::memory_order_acq_rel)) {
    return bear(*function.unit, loop, level);
  }
  times.fetch_add(1, std::memory_order_relaxed);
  const uint8_t before = counted.made_anew[level].fetch_add(1, std::memory_order_relaxed);
  const Reason reason = before >= kMostAttempts ? Reason::exits_often : Reason::none;
  if (trace_) {
    trace_->record(kind(TierEvent::code_withdrawn),
                   {function.unit->number, loop, level, before + 1, static_cast<int64_t>(reason)});
  }
  counted.borne[level].store(0, std::memory_order_relaxed);
  counted.reason[level].store(Reason::being_compiled, std::memory_order_relaxed);
  if (reason == Reason::none) return hand_over(function, loop, level);
  runtime_.units.withdraw(*function.unit, loop, level);
  counted.reason[level].store(reason, std::memory_order_relaxed);
  counted.status[level].store(TierStatus::Failed, std::memory_order_release);
}

// Code that is being made anew exits often again. In the tiers below there are no exits, but they are slower.
void TierControl::bear(Unit& unit, int loop, int level) {
  constexpr uint8_t kMost = 32;
  Counted& counted = unit.counted(loop);
  if (counted.borne[level].fetch_add(1, std::memory_order_relaxed) != kMost) return;
  if (runtime_.units.withdraw(unit, loop, level)) counted.reason[level].store(Reason::being_compiled, std::memory_order_relaxed);
}

void TierControl::note_native_entry(const Function& function, int loop) {
  Counted& counted = function.unit->counted(loop);
  const int ready = counted.ready.load(std::memory_order_acquire);
  if (ready > 1) note_entry(function, counted, loop, ready, counted.count.load(std::memory_order_relaxed));
}

void TierControl::note_side_exit(const Function& function, int loop, int level, const SideExit& exit) {
  trace_->record(kind(TierEvent::side_exit), {function.unit->number, loop, level, trace_->text(exit.place),
                                              trace_->text(exit.expected), trace_->text(exit.found)});
}

void TierControl::note_entry(const Function& function, Counted& counted, int loop, int level, uint32_t count) {
  if (counted.entry_job[level].load(std::memory_order_relaxed) == 0) return;
  const uint64_t job = counted.entry_job[level].exchange(0, std::memory_order_relaxed);
  if (job == 0) return;  // another thread was first
  trace_->record(kind(TierEvent::tier_entered),
                 {function.unit->number, loop, level, static_cast<int64_t>(job), count});
}

// What exit stress finds depends on its seed, so it must not depend on time.
bool TierControl::in_foreground(int level) const {
  return runtime_.options.forced_tier >= level || runtime_.options.exit_stress != 0;
}

// `before`: why there was no code.
bool TierControl::win(Unit& unit, int loop, int level, uint32_t count, Reason& before) {
  Counted& counted = unit.counted(loop);
  TierStatus expected = TierStatus::NotStarted;
  if (!counted.status[level].compare_exchange_strong(expected, TierStatus::Compiling, std::memory_order_acq_rel)) {
    return false;
  }
  before = counted.reason[level].exchange(Reason::being_compiled, std::memory_order_relaxed);
  if (trace_) trace_->record(kind(TierEvent::threshold_crossed), {unit.number, loop, level, count});
  return true;
}

void TierControl::request(const Function& function, int loop, int level, uint32_t count) {
  Reason before;
  if (!win(*function.unit, loop, level, count, before)) return;
  hand_over(function, loop, level);
}

void TierControl::request_bytecode(Context& context, const Function& function, int loop, uint32_t count) {
  Reason before;
  if (!win(*function.unit, loop, 1, count, before)) return;
  // What comes again is not so short-lived after all.
  if (in_foreground(1) || before == Reason::short_lived) return hand_over(function, loop, 1);
  if (context.deferred.is_full()) hand_over_deferred(context);
  context.deferred.add({&function, loop});
}

void TierControl::hand_over(const Function& function, int loop, int level) noexcept try {
  free_some_ended();
  auto job = std::make_unique<Compilation>(runtime_.units.share(*function.unit), KeptTrees(*function.decl),
                                           function.decl, loop, level, next_job());
  if (in_foreground(level)) {
    stacks_.run([&] { compile(*job); });
  } else {
    submit(std::move(job));
  }
} catch (const std::bad_alloc&) {
  give_back(*function.unit, loop, level);
}

// ---- deferred requests ----

void TierControl::hand_over_deferred(Context& context) noexcept {
  context.deferred.take_if([](const auto&) { return true; },
                           [this](const auto& request) { hand_over(*request.function, request.loop, 1); });
}

void TierControl::attend_deferred(Context& context) noexcept {
  const int64_t done = scheduler_->spent_ns();
  switch (context.deferred.take_late(done)) {
    case DeferredRequests::Late::No: break;
    case DeferredRequests::Late::Untaken: scheduler_->hurry(sched::Lane::Compile); break;
    case DeferredRequests::Late::Undone:
      if (compiles_here_) compile_some_here();
      break;
  }
  if (context.deferred.empty()) return;
  hand_over_deferred(context);
  context.deferred.hand_over(done);
}

// Where there are fewer processors than threads that want one, those that compile may not run for milliseconds, in which
// a program walks the tree.
void TierControl::compile_some_here() noexcept try {
  constexpr int kSome = 4;
  stacks_.run([this] {
    for (int i = 0; i < kSome && scheduler_->run_one(sched::kCompileLane); ++i) {
    }
  });
} catch (const std::bad_alloc&) {
  // They wait for the threads, as before.
}

// Asked for again at the next execution.
void TierControl::give_up(const Function& function, int loop) {
  postpone(*function.unit, loop, 1, next_job(), Reason::short_lived, 0);
}

void TierControl::settle(Context& context) noexcept {
  if (context.deferred.empty()) return;
  // No loop runs any more, and a top level runs once.
  auto has_ended = [](const DeferredRequests::Request& request) {
    const ModuleInstance& module = *request.function->module;
    if (request.loop >= 0) return true;
    return request.function->in_top_level && module.live_closures == 0 && module.state != ModuleInstance::State::Running;
  };
  context.deferred.take_if(has_ended, [this](const auto& request) { give_up(*request.function, request.loop); });
  hand_over_deferred(context);
}

void TierControl::forget_deferred(Context& context, const ModuleInstance& module) noexcept {
  context.deferred.take_if([&](const auto& request) { return request.function->module == &module; },
                           [this](const auto& request) { give_up(*request.function, request.loop); });
}

// ---- compilations ----

void TierControl::submit(std::unique_ptr<Compilation> owned) {
  Compilation* job = owned.get();
  job->in_background = true;
  if (trace_) {
    trace_->record(kind(TierEvent::compile_requested),
                   {job->unit->number, job->loop, job->level, static_cast<int64_t>(job->job)});
  }
  sched::Task task;
  task.run = [this, job](sched::TaskContext& context) {
    if (!compile(*job)) context.is_no_measure();
  };
  task.done = [this, job](sched::Outcome outcome) {
    // Nobody cancels compilations but the scheduler's end; no memory to publish code is a failure.
    if (outcome != sched::Outcome::Done) {
      postpone(*job, outcome == sched::Outcome::Cancelled ? Reason::stopped : Reason::failed);
    }
    ended(std::unique_ptr<Compilation>(job));
  };
  task.lane = job->level == 1 ? sched::Lane::Compile : sched::Lane::Native;
  task.type = task_type(job->level);
  // Optimised code takes ten times as long to make as quick native code, which helps most of those that wait more. A
  // program's first compilations, which matter most to it, come before there are run times to see that from.
  if (job->level == kOptimisingTier) task.priority = sched::Priority::Low;
  task.job = job->job;
  pending_.fetch_add(1, std::memory_order_relaxed);
  const sched::Admission admission = scheduler_->try_submit(std::move(task));
  if (admission == sched::Admission::Accepted) {
    owned.release();  // `done` has it
    return;
  }
  postpone(*job, admission == sched::Admission::QueueFull ? Reason::queue_full : Reason::stopped);
  ended(std::move(owned));
}

void TierControl::refused(Compilation& job, const Refusal& refusal) {
  Counted& counted = job.counted();
  runtime_.units.withdraw(*job.unit, job.loop, job.level);
  counted.reason[job.level].store(refusal.reason, std::memory_order_relaxed);
  counted.status[job.level].store(TierStatus::Failed, std::memory_order_release);
  if (!trace_) return;
  const std::string at = refusal.span.end == 0 ? "" : job.trees.own->source->place(refusal.span.begin);
  trace_->record(kind(TierEvent::compile_refused),
                 {job.unit->number, job.loop, job.level, static_cast<int64_t>(job.job),
                  static_cast<int64_t>(refusal.reason), trace_->text(at)});
}

// Whoever is counted when the time has come asks again; after every time that the queue was full, twice as late:
// where it stays full, what is hottest would ask most and be told the same.
void TierControl::postpone(Compilation& job, Reason reason) {
  constexpr int kMostDoublings = 16;
  Counted& counted = job.counted();
  if (job.only_kept) return give_back(*job.unit, job.loop, job.level);
  uint32_t patience = std::max(1U, runtime_.options.thresholds[job.level] / 4);
  if (reason == Reason::queue_full) {
    const uint8_t before = counted.refusals[job.level].fetch_add(1, std::memory_order_relaxed);
    const int doublings = std::min({int{before}, kMostDoublings, std::countl_zero(patience) - 1});
    patience <<= doublings;
  }
  if (reason == Reason::superseded) patience = std::max(patience, kSupersededSlices * uint32_t{kSlice});
  postpone(*job.unit, job.loop, job.level, job.job, reason, patience);
}

void TierControl::postpone(Unit& unit, int loop, int level, uint64_t job, Reason reason, uint32_t patience) {
  Counted& counted = unit.counted(loop);
  runtime_.units.withdraw(unit, loop, level);
  counted.patience[level].store(patience, std::memory_order_relaxed);
  counted.reason[level].store(reason, std::memory_order_relaxed);
  if (trace_) {
    trace_->record(kind(TierEvent::compile_postponed),
                   {unit.number, loop, level, static_cast<int64_t>(job), static_cast<int64_t>(reason),
                    counted.count.load(std::memory_order_relaxed) + patience});
  }
  give_back(unit, loop, level);
}

// Native code of a loop by itself is only for a loop that is running. While the request waited, the loop may have ended,
// or the code around it may have come, which is what will be entered. Where the loop goes on for all that, it asks again.
// Optimised code of a function is for one that is still called: it may have been inlined where it was.
Reason TierControl::no_use(Compilation& job) {
  if (job.level == 1 || in_foreground(job.level)) return Reason::none;
  // What it is made anew for is in use, which code of the last tier does not tell.
  if (job.counted().code[job.level].load(std::memory_order_acquire)) return Reason::none;
  const uint32_t idle = idle_slices(job.counted());
  if (job.loop < 0 && job.level < kOptimisingTier) return Reason::none;
  if (is_superseded(job) && !has_gone_on(job, idle)) return Reason::superseded;
  return idle > (has_left_loop(job) ? kFewSlices : kIdleSlices) ? Reason::idle : Reason::none;
}

// Only the loop's own code asks for more of it.
bool TierControl::has_left_loop(Compilation& job) const {
  return job.loop >= 0 && job.counted().inside.load(std::memory_order_relaxed) == 0;
}

// How long the loop's rounds are nobody knows; the next entry of the code around is one round away from being made. It
// is worth a compilation once it has run for as long as that takes: never more than twice what the better choice would
// have cost.
bool TierControl::has_gone_on(Compilation& job, uint32_t idle) {
  const int64_t now_ns = clock_.now_ns();
  std::atomic<int64_t>& superseded_ns = job.counted().superseded_ns;
  const int64_t since_ns = superseded_ns.load(std::memory_order_relaxed);
  if (since_ns == 0 || idle > kFewSlices) {
    superseded_ns.store(now_ns, std::memory_order_relaxed);
    return false;
  }
  const double usual_ns = job.level == kOptimisingTier ? kUsualOptimisedNs : kUsualNativeNs;
  return static_cast<double>(now_ns - since_ns) >= std::max(usual_ns, scheduler_->estimate_ns(task_type(job.level)));
}

// Optimised code takes so long to make that the code around the loop will be there, even if it has not been asked for.
bool TierControl::is_superseded(const Compilation& job) const {
  for (int around = job.loop; around >= 0;) {
    around = job.unit->loop_parents[static_cast<size_t>(around)];
    if (around >= 0 && job.level == kOptimisingTier) return true;
    if (job.unit->counted(around).status[1].load(std::memory_order_acquire) == TierStatus::Ready) return true;
  }
  return false;
}

bool TierControl::compile(Compilation& job) {
  const TierInterface* tier = runtime_.tier(job.level);
  if (tier->prepare && !job.only_kept) tier->prepare(runtime_);  // or not: `make` will find out why
  if (const Reason reason = no_use(job); reason != Reason::none) {
    postpone(job, reason);
    return false;
  }
  make(job, *tier);
  return true;
}

void TierControl::make(Compilation& job, const TierInterface& tier) {
  // Compilers of later tiers read the code of earlier ones.
  Reclaimer::Pin pin(runtime_.units.reclaimer);
  void* below = job.level > 1 ? job.counted().code[1].load(std::memory_order_acquire) : nullptr;
  if (job.level > 1 && !below) return postpone(job, Reason::evicted);  // meanwhile
  const auto number = static_cast<int64_t>(job.job);
  auto started = [&] { trace_->record(kind(TierEvent::compile_started), {job.unit->number, job.loop, job.level, number}); };
  if (trace_ && !job.only_kept) started();
  const int64_t begin_ns = clock_.now_ns();
  Refusal refusal{Reason::failed, {}, {.only = job.only_kept}};
  void* code = nullptr;
  try {
    code = tier.compile(runtime_, *job.decl, job.loop, below, refusal);
    if (code && job.level == 1) let_learn(job, code);
  } catch (const std::bad_alloc&) {
    refusal.reason = Reason::failed;
  } catch (const std::exception&) {
    refusal.reason = Reason::internal;
  }
  note_cache(job, refusal.cache);
  if (!code && job.only_kept) return give_back(*job.unit, job.loop, job.level);
  if (!code) {
    refused(job, refusal);
    return;
  }
  if (trace_) {
    if (job.only_kept) started();  // what is not there has not begun
    trace_->record(kind(TierEvent::compile_finished),
                   {job.unit->number, job.loop, job.level, number, clock_.now_ns() - begin_ns,
                    static_cast<int64_t>(tier.memory(code)), refusal.cache.hit});
    job.counted().entry_job[job.level].store(job.job, std::memory_order_relaxed);
  }
  if (!publish(job, code, below)) return postpone(job, Reason::evicted);
  if (refusal.cache.hit) take_kept_above(job);
  request_above(job);
}

// What has waited for quick code, unless it has ended meanwhile. Native code asks only when a slice ends.
void TierControl::request_above(const Compilation& below) {
  const int level = below.level + 1;
  Counted& counted = below.unit->counted(below.loop);
  if (level != kOptimisingTier || !below.in_background || below.only_kept || idle_slices(counted) > kFewSlices) return;
  const uint32_t count = most_counted(*below.unit, below.loop);
  Reason before;
  if (!wanted(level, count, counted) || !win(*below.unit, below.loop, level, count, before)) return;
  try {
    submit(std::make_unique<Compilation>(runtime_.units.share(*below.unit), below.trees, below.decl, below.loop, level, next_job()));
  } catch (const std::bad_alloc&) {
    give_back(*below.unit, below.loop, level);
  }
}

// What calls small functions most of the time is rarely found running, though it is.
void TierControl::found_running(Counted& counted) const {
  const uint32_t now = slices_.load(std::memory_order_relaxed);
  const uint32_t before = counted.last_slice.load(std::memory_order_relaxed);
  if (before == now) return;
  counted.last_slice.store(now, std::memory_order_relaxed);
  if (before == 0 || static_cast<int32_t>(now - before) < 0) return;  // threads that count together lose some
  const uint32_t gap = std::min(now - before, kMostUsualGap);
  counted.usual_gap.store((counted.usual_gap.load(std::memory_order_relaxed) + gap) / 2, std::memory_order_relaxed);
}

// Beyond twice as many as usually pass. Of one evaluation: those that run at the same time end slices, too.
uint32_t TierControl::idle_slices(const Counted& counted) const {
  const uint32_t passed = slices_.load(std::memory_order_relaxed) - counted.last_slice.load(std::memory_order_relaxed);
  const uint32_t usual = 2 * counted.usual_gap.load(std::memory_order_relaxed);
  const auto evaluations = static_cast<uint32_t>(std::max<int64_t>(1, scheduler_->evaluations()));
  return (passed - std::min(passed, usual)) / evaluations;
}

// The loops' own code, and the walker, have recorded what the code around would otherwise have to find out.
void TierControl::let_learn(Compilation& job, void* code) {
  std::vector<const void*> own;
  for (int loop = 0; loop < static_cast<int>(job.unit->loop_parents.size()); ++loop) {
    if (loop == job.loop || !job.unit->is_inside(loop, job.loop)) continue;
    if (const void* found = job.unit->counted(loop).code[1].load(std::memory_order_acquire)) own.push_back(found);
  }
  const auto learn = runtime_.tier(1)->learn;
  if (learn) learn(code, own, job.unit->signatures);
}

// A unit may have become hot long before its bytecode came, which is to record something first.
void TierControl::let_record(Compilation& job) const {
  const uint32_t threshold = runtime_.options.thresholds[kOptimisingTier];
  const uint32_t recorded = threshold / 4;
  const uint32_t count = most_counted(*job.unit, -1);
  const uint32_t unrecorded = threshold - recorded;  // may pass before
  const uint32_t patience = count > unrecorded ? std::min(recorded, count - unrecorded) : 0;
  job.counted().patience[kOptimisingTier].store(patience, std::memory_order_relaxed);
}

bool TierControl::publish(Compilation& job, void* code, void* below) {
  UnitTable& units = runtime_.units;
  if (job.level == 1) let_record(job);
  return job.in_background ? units.publish_patiently(*job.unit, job.loop, job.level, code, below)
                           : units.publish(*job.unit, job.loop, job.level, code, below);
}

void TierControl::note_cache(const Compilation& job, const CacheUse& cache) {
  for (Reason reason : {cache.not_used, cache.not_kept}) {
    if (reason == Reason::none || !trace_) continue;
    trace_->record(kind(TierEvent::cache_refused), {job.unit->number, job.loop, job.level,
                                                    static_cast<int64_t>(job.job), static_cast<int64_t>(reason)});
  }
}

// Code of a tier that was kept says that an earlier run got as far, and mostly further. Linking what it has kept of
// the next tier costs less than executing what is there until the threshold; if it has kept none, the threshold
// decides as always.
void TierControl::take_kept_above(const Compilation& below) {
  const int level = below.level + 1;
  Counted& counted = below.unit->counted(below.loop);
  TierStatus expected = TierStatus::NotStarted;
  if (level > runtime_.options.max_tier || level >= kTiers || !runtime_.tier(level) ||
      !counted.status[level].compare_exchange_strong(expected, TierStatus::Compiling, std::memory_order_acq_rel)) {
    return;
  }
  Compilation job{runtime_.units.share(*below.unit), below.trees, below.decl, below.loop, level, next_job()};
  job.only_kept = true;
  job.in_background = below.in_background;
  compile(job);
}

// As if nobody had asked. What was to be made anew has gone.
void TierControl::give_back(Unit& unit, int loop, int level) {
  runtime_.units.withdraw(unit, loop, level);
  TierStatus expected = TierStatus::Compiling;
  Counted& counted = unit.counted(loop);
  counted.status[level].compare_exchange_strong(expected, TierStatus::NotStarted, std::memory_order_acq_rel);
  counted.settled.store(false, std::memory_order_release);
}

void TierControl::ended(std::unique_ptr<Compilation> owned) {
  Compilation* job = owned.release();
  job->next = ended_.load(std::memory_order_relaxed);
  while (!ended_.compare_exchange_weak(job->next, job, std::memory_order_release, std::memory_order_relaxed)) {
  }
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_all();
}

// Takes some of those that have ended, at most `most`; whoever does so at the same time leaves them alone.
TierControl::Compilation* TierControl::take_ended(int most) {
  if (!freeing_.try_lock()) return nullptr;
  // A look first: the line is the compile threads' mostly.
  if (!to_free_ && ended_.load(std::memory_order_relaxed)) to_free_ = ended_.exchange(nullptr, std::memory_order_acquire);
  Compilation* first = to_free_;
  Compilation** rest = &first;
  for (int taken = 0; *rest && taken < most; ++taken) rest = &(*rest)->next;
  to_free_ = std::exchange(*rest, nullptr);
  freeing_.unlock();
  return first;
}

// A request adds one and frees two, so they never become many, and no request pays for a whole burst.
void TierControl::free_some_ended() {
  constexpr int kSome = 2;
  std::unique_ptr<Compilation> job(take_ended(kSome));
  while (job) job.reset(std::exchange(job->next, nullptr));
}

void TierControl::free_ended() {
  while (std::unique_ptr<Compilation> job{take_ended(1)}) {
  }
}

void TierControl::stop() {
  scheduler_->stop(sched::StopMode::Discard);
  evaluators_->stop();
}

bool TierControl::is_own_thread() const { return scheduler_->is_own_thread() || evaluators_->is_own_thread(); }

void TierControl::wait() {
  for (size_t pending; (pending = pending_.load(std::memory_order_acquire)) != 0;) pending_.wait(pending);
  free_ended();
}

}  // namespace posset::interp
