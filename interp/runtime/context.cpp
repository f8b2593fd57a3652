// Life of runtimes and contexts, steps and limits. Errors on their way are in
// error.cpp, modules in instantiate.cpp.
#include "interp/runtime/context.h"

#include <algorithm>

#include "interp/runtime/carrier.h"
#include "interp/runtime/evaluators.h"
#include "interp/runtime/posse.h"
#include "interp/runtime/tasks.h"
#include "sched/posse/crew.h"

namespace posset::interp {

namespace {

// 100,000 frames of 640 registers fit.
constexpr size_t kRegisterBytes = size_t{1} << 30;
constexpr size_t kHelperRegisterBytes = size_t{1} << 20;

// Under exit stress loops are to be back in native code soon after each exit.
constexpr int64_t kStressedSlice = 28;

}  // namespace

RuntimeState::RuntimeState(RuntimeOptions given)
    : options(given),
      trace(given.trace_events > 0 ? std::make_unique<sched::Trace>(clock, given.trace_events) : nullptr),
      native(given.native_plugin),
      cache(given.cache_directory, given.cache_limit_bytes),
      constants_(shapes),
      control(*this, clock, trace.get()) {
  units.set_limit(options.code_limit_bytes);
  units.set_trace(trace.get());
  constexpr uint64_t kSeed = 1;
  if (options.workers > 1) {
    Evaluators& executors = control.evaluators();
    crew = std::make_unique<sched::posse::Crew>([&executors] { return executors.executors(); }, executors.threads(),
                                                options.workers - 1, kSeed, trace.get());
  }
  make_helper = [](Context& root) {
    auto made = std::make_shared<Context>(root.runtime, root.limits(), Context::Role::Helper);
    made->heap.join(root.heap);
    return made;
  };
  make_no_memory();
}

std::string_view RuntimeState::module_with(std::string_view name) const {
  std::string_view of;
  for (const auto& [module, builtin] : modules) {
    if (builtin.find(name) && (of.empty() || module < of)) of = module;
  }
  return of;
}

void RuntimeState::make_no_memory() {
  no_memory_data_.code = ErrorCode::MemoryLimit;
  no_memory_data_.limit = true;
  auto* made = constants_.make<ErrorObject>(Tag::Error);
  if (!made) throw std::bad_alloc();
  made->message = immortal_string("memory limit: more than the system or one context can have");
  made->value = Borrowed::unset();
  made->data = &no_memory_data_;
  made->charged = 0;
  made->count = 0;
  no_memory_ = made;
}

RuntimeState::~RuntimeState() = default;

Borrowed RuntimeState::immortal_string(std::string_view text) {
  if (text.size() <= kMaxShort) return make_short(text);
  std::lock_guard lock(constants_mutex_);
  auto found = immortal_strings_.find(std::string(text));
  if (found != immortal_strings_.end()) return found->second;
  Value string = make_string(constants_, text);
  if (string.failed()) throw std::bad_alloc();
  auto place = immortal_strings_.emplace(std::string(text), Borrowed::nil()).first;  // before it is for ever
  Borrowed made = place->second = string.take();
  string_hash(made);  // written now, so that threads only read it
  made.object()->count = 0;
  return made;
}

void RuntimeState::attach(const TierInterface* tier) {
  tiers_[tier->level] = tier;
  units.attach(tier->level, tier);
}

Context::Context(RuntimeState& shared, const Limits& limits, Role role)
    : runtime(shared),
      heap(shared.shapes),
      code_slot(shared.units.reclaimer),
      live_closures(role == Role::Helper ? &closures_of_helper_ : nullptr),
      registers_(role == Role::Host ? kRegisterBytes : kHelperRegisterBytes, &shared.stacks) {
  stand_on(registers_, limits.stack_bytes);
  install_hooks();
  set_limits(limits);
  if (runtime.crew && role == Role::Host) {
    posse = std::make_unique<Posse>(*this);
    seat = &posse->root_seat();
    heap.keep_spares();
  }
  exit_random_ = runtime.options.exit_stress;
  if (exit_random_ != 0) force_next_exit();
}

Context::~Context() {
  heap.stop_wish = {};  // all of it goes
  drop_values();
  posse.reset();  // what died in helpers had values of this one
  heap.bury_all();
  heap.collect_cycles(/*shared_too=*/true);
  heap.bury_all();
  instances.clear();  // which count the closures that die
}

// Reference counts have 32 bits and a reference takes 16 bytes: in less than 32 GiB none can overflow.
constexpr size_t kMostMemory = size_t{24} << 30;

void Context::set_limits(const Limits& limits) {
  limits_ = limits;
  heap.set_limit_bytes(std::min(limits.memory_bytes, kMostMemory));
  depth_limit = limits.nested_calls;
  first_slice_ = slice_within(limits.steps);
  has_new_limits_ = true;
}

// ---- steps ----

uint64_t Context::steps_used() const { return steps_before_slice_ + static_cast<uint64_t>(slice_ - fuel); }

bool Context::has_steps(uint64_t steps) const {
  const uint64_t used = steps_used();
  return used <= limits_.steps && steps <= limits_.steps - used;
}

// The slice begins anew: the steps left in it stay above zero, as native code wants them.
void Context::add_steps(uint64_t steps) {
  steps_before_slice_ = steps_used() + steps;
  start_slice();
}

Context::StepAccount Context::begin_account() {
  const StepAccount account = this->account();
  steps_before_slice_ = 0;
  start_slice();
  return account;
}

void Context::resume_account(const StepAccount& account) {
  steps_before_slice_ = account.before_slice;
  slice_ = account.slice;
  fuel = account.fuel;
}

int64_t Context::slice_within(uint64_t steps) const {
  return static_cast<int64_t>(std::min<uint64_t>(runtime.options.exit_stress ? kStressedSlice : kSlice, steps));
}

void Context::start_slice() {
  slice_ = slice_within(limits_.steps - std::min(limits_.steps, steps_before_slice_));
  fuel = slice_;
}

void Context::begin_evaluation() {
  native.enter(limits_.stack_bytes);
  bound_registers(registers_, limits_.stack_bytes);
  tree_account->settle(*this);
  has_new_limits_ = false;
  phase_ = Phase::Settled;
  steps_before_slice_ = 0;
  slice_ = 0;
  start_slice();
  if (heap.is_overdrawn()) end_slice();  // by an evaluation that has ended before it polled, and kept what it made
  start_clock();
}

void Context::end_slice() {
  slice_ -= fuel;
  fuel = 0;
}

void Context::start_clock() {
  // What the clock never comes to is no limit: its end is 292 years away.
  constexpr double kNoLimitSeconds = 1e9;
  has_deadline_ = limits_.seconds > 0 && limits_.seconds < kNoLimitSeconds;
  if (!has_deadline_) return;
  deadline_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                     std::chrono::duration<double>(limits_.seconds));
}

void Context::settle_in() {
  phase_ = Phase::Settled;
  start_clock();
  if (on_settled_in) on_settled_in(*this);
  if (seat) seat->settle_in();
}

void Context::end_by(std::chrono::steady_clock::time_point deadline) {
  if (!has_deadline_ || deadline < deadline_) deadline_ = deadline;
  has_deadline_ = true;
}

// ---- exit stress ----

// Near and far ones alike: the distance is of a random magnitude, up to 1023 guards. The generator is SplitMix64.
void Context::force_next_exit() {
  uint64_t z = exit_random_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  const uint64_t magnitude = z >> 32 & 0xff;
  guards_left = static_cast<int64_t>(1 + z % (uint64_t{2} << (magnitude % 10)));
}

bool Context::take_forced_exit() {
  if (guards_left > 0) return false;
  force_next_exit();
  return true;
}

void Context::interrupt() {
  if (helps) return helps->root().interrupt();
  interrupted_.store(true, std::memory_order_relaxed);
  wake_up.post();
}

bool Context::wants_to_stop() const {
  if (phase_ == Phase::Idle) return false;
  return is_interrupted() || (has_deadline_ && std::chrono::steady_clock::now() >= deadline_);
}

bool Context::is_cancelled() const { return seat && (helps || seat->runs_part()) && seat->is_stopped(); }

bool Context::is_stopping() const {
  if (phase_ == Phase::Idle) return false;
  return (pending_ && pending_->data->limit) || must_stop();
}

int64_t Context::time_limit_ns() const {
  return has_deadline_ ? deadline_.time_since_epoch() / std::chrono::nanoseconds(1) : sched::kNever;
}

bool Context::poll_after_host_call() {
  host_pace_.look(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  const int64_t left = fuel;
  if (!poll()) return false;
  // The slice goes on, for it must also end elsewhere: at the head of the loop that calls newer code is taken up.
  const int64_t cut = fuel - std::min(left, fuel);
  fuel -= cut;
  slice_ -= cut;
  return true;
}

bool Context::raise_stop() {
  stopped_ = stopped_ || wants_to_stop();
  if (is_interrupted()) {  // until the evaluation ends, whatever the host makes of the error
    raise(ErrorCode::Interrupted, "interrupted");
  } else if (wants_to_stop()) {
    raise(ErrorCode::TimeLimit, "time limit exceeded");
  } else {
    raise(ErrorCode::Cancelled, "the evaluation that this is a part of has ended");
  }
  return false;
}

bool Context::poll() {
  if (is_brief()) settle_in();
  steps_before_slice_ += static_cast<uint64_t>(slice_ - fuel);
  slice_ = fuel = 0;
  runtime.control.end_slice();
  runtime.control.hand_over_deferred(*this);
  if (wants_to_stop()) return raise_stop();
  heap.bury_some();
  const bool overdrawn = heap.is_overdrawn_by_living();
  heap.end_overdraft();
  if (overdrawn) {
    raise_memory_limit();
    return false;
  }
  if (steps_before_slice_ > limits_.steps) {
    raise(ErrorCode::StepLimit, "step limit of " + std::to_string(limits_.steps) + " exceeded");
    return false;
  }
  if (seat && seat->has_kept_error()) return seat->end_of_wait();
  if (is_cancelled()) return raise_stop();
  start_slice();
  if (tasks && !tasks->at_slice_end()) {
    if (seat) seat->ends_whole();
    return false;
  }
  if (seat && !seat->at_slice_end()) return false;
  if (carrier) carrier->slice_ends();
  return true;
}

}  // namespace posset::interp
