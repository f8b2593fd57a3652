// See posse.h.
#include "interp/runtime/posse.h"

#include <algorithm>
#include <new>
#include <utility>

#include "interp/runtime/aside.h"
#include "interp/runtime/call.h"
#include "interp/runtime/carrier.h"
#include "interp/runtime/reach.h"
#include "interp/runtime/tasks.h"
#include "sched/trace_events.h"

namespace posset::interp {

namespace {

namespace fiber = sched::fiber;
namespace posse = sched::posse;

// How often who waits looks at the limits.
constexpr int64_t kLookNs = 5 * sched::kMillisecond;
// And at what else the thread may have to do.
constexpr int64_t kTurnsNs = sched::kMillisecond;
// How often who makes way looks whether it still has to.
constexpr int64_t kMakeWayNs = sched::kMillisecond / 2;
// How long a part may take that others wait for to be packed.
constexpr int64_t kKeptBackNs = 20 * sched::kMillisecond;
// Parts on top of each other on one executor, each with registers of its own.
constexpr size_t kMostParts = 16;

const syntax::ForkPoint& point_of(const ForkRecord& record) {
  return record.closure_of()->function->decl->fork_point(record.point());
}

// `again`: another of that kind has been.
bool share_part(Sharing& sharing, const ForkRecord& record, bool again) {
  const syntax::ForkPoint& point = point_of(record);
  const auto is_pure = [&](const syntax::Given& given) {
    const bool local = given.from == syntax::Given::From::Local;
    return is_pure_function(local ? record.frame[given.index] : record.closure->captured()[given.index]);
  };
  return std::all_of(point.given.begin(), point.given.end(), is_pure) && (again || sharing.add_part(record.closure, point.body)) &&
         std::all_of(point.inputs.begin(), point.inputs.end(), [&](uint32_t slot) { return sharing.add(record.frame[slot]); });
}

}  // namespace

// ---- a seat ----

Seat::Seat(Posse& posse, Context& context)
    : posse_(posse),
      context_(context),
      forks_(std::make_unique<ForkStack>(posse.root().limits().nested_calls, &context.runtime.stacks)),
      own_(posse.quantum_ns()) {
  free_registers_.reserve(kMostParts);
}

// The heap of a helper that dies asks whether there is a wish to stop.
Seat::~Seat() {
  if (context_.seat == this) context_.seat = nullptr;
}

const Context& Seat::posse_root() const { return posse_.root(); }

// An evaluation begins, which has no way to fail: without memory for a larger stack the old one serves.
void Seat::begin() {
  const uint32_t calls = posse_.root().limits().nested_calls;
  if (forks_->asked_calls() != calls) {
    if (auto* made = new (std::nothrow) ForkStack(calls, &context_.runtime.stacks)) forks_.reset(made);
  }
  context_.depth_limit = std::min(calls, forks_->calls());
  context_.begin_forks(forks_->begin());
  in_order_only_.clear();
  payoff_.clear();
  actor_->quantum.begin_anew();
}

void Seat::drop_members() {
  if (members().empty()) return;
  drop(context_.fork_base);
  members().clear();
  actor_->root.reset();
}

void Seat::end() {
  drop_members();
  context_.heap.free_spares();
  if (!executor_) return;
  context_.references.end();
  context_.runtime.processors.end();
  posse_.crew().leave(*std::exchange(executor_, nullptr));
  posse_.free_what_was_left();
}

// ---- by turns ----

int64_t Seat::quantum_ns() const { return posse_.quantum_ns(); }

void Seat::end_task() {
  drop_members();
  actor_ = &own_;  // until whoever is next comes back
}

// Others go on with the evaluation's account, which lies below all those of parts.
Actor& Seat::leave() {
  Actor& actor = *actor_;
  if (!actor.accounts.empty()) {
    actor.own_account = context_.account();
    context_.resume_account(actor.accounts.front());
  }
  return actor;
}

void Seat::come_back(Actor& actor) {
  actor_ = &actor;
  actor.quantum.begin_anew();
  if (actor.accounts.empty()) return;
  actor.accounts.front() = context_.account();
  context_.resume_account(actor.own_account);
}

bool Seat::is_stopped() const {
  // What is on top of a part that nobody wants stops with it: it is computed in its place then.
  for (const Delegate* each = running_; each; each = each->below_) {
    if (each->is_dropped()) return true;
  }
  return should_stop() || (stop_ && stop_->load(std::memory_order_relaxed));
}

// ---- at the end of slices ----

// Native code calls this, which no exception may pass. Without memory nothing is handed over.
bool Seat::at_slice_end() {
  try {
    return look();
  } catch (const std::bad_alloc&) {
    return true;
  }
}

bool Seat::look() {
  const int64_t now_ns = context_.runtime.clock.now_ns();
  if (!actor_->quantum.has_begun()) {
    begin_quantum(now_ns);
    return true;
  }
  if (!actor_->quantum.is_used(now_ns) || context_.heap.is_guarded()) return true;
  context_.references.flush();  // or what is dropped would live for as long as nothing comes in its place
  take_part();
  if (!pause()) return false;
  if (is_helper()) {
    make_way();
    const Aside aside(context_);
    fiber::this_fiber::yield_preempted_regardless();
  }
  return true;
}

// The host's thread becomes an executor, if it is none yet.
void Seat::take_part() {
  if (executor_) return;
  executor_ = &posse_.crew().enter(posse_.cabal());
  context_.runtime.processors.begin();
  context_.references.begin();
  posse_.stop(false);
}

// A helper whose processor is wanted for compiling stops for as long, unless somebody waits for what it computes.
void Seat::make_way() {
  sched::Processors& processors = context_.runtime.processors;
  if (is_waited_for() || !processors.end_if_short()) return;
  do {
    wait(this, context_.runtime.clock.now_ns() + kMakeWayNs, [] { return false; });
    if (is_waited_for() || is_stopped()) {
      processors.begin();
      return;
    }
  } while (!processors.begin_if_room());
}

bool Seat::is_waited_for() const {
  for (const Delegate* each = running_; each; each = each->below_) {
    if (each->home_.executor_->is_waiting()) return true;
  }
  return false;
}

// A computation becomes a member when it has run for a moment: most are over before.
void Seat::begin_quantum(int64_t now_ns) {
  if (!context_.fork_top) return;  // it leaves no records
  if (members().empty()) {
    actor_->root = std::make_unique<Member>(context_.fork_base, members().generation(), chain());
    members().push(*actor_->root);
  }
  actor_->quantum.begin(now_ns);
  members().begin_quantum(context_.fork_top);
}

// After a fully used quantum. False: raised.
bool Seat::pause() {
  actor_->quantum.begin_anew();  // what is done on top of this one looks at it too
  ForkRecord* const given = members().end_quantum(context_.fork_top);
  ForkRecord* const rest = linear_part(given);
  const auto done = [&](ForkDepth::Need need) {
    context_.fork_depth.end_quantum(context_.depth, need);
    context_.rest_wanted = need == ForkDepth::Need::Unmet ? context_.quanta : 0;
    ++context_.quanta;
    return true;
  };
  if ((given && is_held(*given)) || !has_offer(with_waiters())) return done(ForkDepth::Need::None);
  const bool met = rest ? give(rest, 1, /*small_sides_later=*/true)
                        : given && give(given, members().count(given), /*small_sides_later=*/false);
  return done(met ? ForkDepth::Need::Given : ForkDepth::Need::Unmet);
}

// Under exit stress nearly every chain is long enough, so that there are some.
size_t Seat::chain() const { return context_.runtime.options.exit_stress != 0 ? 3 : posse::kChain; }

// Since the last quantum had been used: whether what there is to do on a level of a recursion takes much longer than to walk
// one (about as long as so many steps of native code do).
bool Seat::has_large_levels() {
  constexpr uint64_t kSteps = 4000;
  const uint32_t depth = std::exchange(actor_->depth, context_.depth);
  const uint64_t now = context_.steps_used(), before = std::exchange(actor_->steps, now);
  if (context_.runtime.options.exit_stress != 0) return true;
  const uint64_t levels = context_.depth > depth ? context_.depth - depth : 1;
  return now > before && (now - before) / levels >= kSteps;
}

// What stands for the rest of a linear recursion, if going on with that first pays: what is to be given, whose small side has
// taken a quantum, or else what has been left just now, on a large level. Who waits for it does what comes first in it, so where it
// could not, it is done in order.
ForkRecord* Seat::linear_part(ForkRecord* given) {
  const bool large = has_large_levels(), by_turns = context_.tasks && context_.tasks->has_begun();
  if (by_turns || !has_place() || context_.fork_top == context_.fork_base || members().top().is_held()) return nullptr;
  ForkRecord* const record = given ? given : context_.fork_top - 1;
  if (!(given || large) || !record->is_open() || record->header & ForkRecord::kBuiltin || record->is_small_side()) return nullptr;
  const syntax::FunctionDecl* const decl = record->closure_of()->function->decl;
  return decl->forks[record->point()].left_point == 0 || goes_in_order(decl) ? nullptr : record;
}

bool Seat::goes_in_order(const syntax::FunctionDecl* decl) const {
  return std::find(in_order_only_.begin(), in_order_only_.end(), decl) != in_order_only_.end();
}

// False: it could not be, or nobody took it. Nothing throws once it has been claimed. What others need for their parts must
// not be missing here: the next stack, which all that runs here has as well, is there before anybody has anything.
bool Seat::give(ForkRecord* first, size_t count, bool small_sides_later) {
  const int64_t begin_ns = now_if_traced();
  if (!context_.native.reserve()) return false;
  const bool whole = is_worth_sharing(*first, count);
  if (!whole && !is_worth_sharing(*first, 1)) return false;
  const size_t asked = whole ? count : 1, shared = share(first, asked);
  if (shared < asked && first->is_small_side()) {
    running_->set_dropped();  // it would be done last here, and comes before the others in the source
    return false;
  }
  if (shared == 0) return false;
  auto delegate = std::make_unique<Delegate>(*this, first, shared, small_sides_later);
  posse::Executor* const other = claim(with_waiters());
  if (!other) return false;
  if (is_judged(*first, shared)) delegate->given_ = pace();
  delegate->take_records(first);
  trace_taken(*delegate, *other, now_if_traced() - begin_ns);
  other->send(*delegate.release());
  return true;
}

// ---- whether it pays ----

// Under exit stress everything is handed over. By turns others run while one waits.
bool Seat::is_judged(const ForkRecord& first, size_t count) const {
  const bool by_turns = context_.tasks && context_.tasks->has_begun();
  return count == 1 && !by_turns && context_.runtime.options.exit_stress == 0 && !(first.header & ForkRecord::kBuiltin) && point_of(first).alike;
}

bool Seat::is_held(const ForkRecord& record) const {
  return !(record.header & ForkRecord::kBuiltin) && payoff_.is_held(&point_of(record), context_.quanta);
}

Seat::Pace Seat::pace() const { return {context_.runtime.clock.now_ns(), idle_ns_, context_.steps_used(), merged_steps_}; }

// `met`: when it came to where it needs the part. What it has done itself since it gave that tells how long that would have taken.
void Seat::judge(const Delegate& delegate, const Pace& met, int64_t taken_ns) {
  constexpr int64_t kLeastSteps = 1000;
  const Pace& given = delegate.given_;
  const auto steps = static_cast<int64_t>(delegate.parts_[0].steps);
  // Too few, or below zero, where something on top of this has taken parts back: it would have taken longer then.
  const auto own_steps = static_cast<int64_t>(met.steps - given.steps - (met.merged_steps - given.merged_steps));
  const int64_t own_ns = met.at_ns - given.at_ns - (met.idle_ns - given.idle_ns);
  if (std::min(own_steps, steps) < kLeastSteps || own_ns <= 0) return;
  const auto alone_ns = static_cast<int64_t>(static_cast<double>(steps) * static_cast<double>(own_ns) / static_cast<double>(own_steps));
  const int64_t lost_ns = idle_ns_ - met.idle_ns + taken_ns;
  const uint64_t quanta = payoff_.note(&point_of(delegate.record_), lost_ns, alone_ns, context_.quanta);
  if (quanta != 0) trace(TierEvent::part_unpaid, {static_cast<int64_t>(delegate.job_), lost_ns, alone_ns, static_cast<int64_t>(quanta)});
}

// ---- who takes it ----

// Those who have nothing to do take anything; those who wait for a part, what it consists of. There it is computed beside other
// things, so its result has to be copied: which is guessed to take as much of the time as for what has been made here so far.
const Delegate* Seat::with_waiters() const {
  constexpr int64_t kCopyNs = 60, kMostOfTime = 4;
  if (!running_ || context_.runtime.options.exit_stress != 0) return running_;
  const int64_t took_ns = context_.runtime.clock.now_ns() - running_->begin_ns_;
  const auto made = static_cast<int64_t>(context_.heap.live_objects() - running_->live_before_);
  return made * kCopyNs <= took_ns / kMostOfTime ? running_ : nullptr;
}

bool Seat::has_offer(const Delegate* waiters) const {
  if (context_.holds_half_shared || !context_.runtime.processors.has_room()) return false;
  posse::Crew& crew = posse_.crew();
  for (const Delegate* each = waiters; each; each = each->parent_) {
    if (crew.has_offer(each, *executor_, posse_.cabal())) return true;
  }
  return crew.has_idle(posse_.cabal());
}

posse::Executor* Seat::claim(const Delegate* waiters) {
  posse::Crew& crew = posse_.crew();
  for (const Delegate* each = waiters; each; each = each->parent_) {
    if (posse::Executor* const other = crew.claim(each, *executor_, posse_.cabal())) return other;
  }
  return crew.claim_idle(posse_.cabal());
}

// What is marked first, by this executor, must take little of what it computes. That is guessed to be as long as what comes
// before the record has taken so far; so what is not worth it now may be later.
bool Seat::is_worth_sharing(const ForkRecord& record, size_t count) {
  constexpr double kMarkNs = 25, kGain = 8, kFewObjects = 4096;
  if (record.header & ForkRecord::kBuiltin) return true;
  double reached = 0;
  for (const uint32_t slot : point_of(record).inputs) {
    reached += guess_reached(record.frame[slot], random_) * static_cast<double>(count);
  }
  const auto before_ns = static_cast<double>(members().generation() - record.stamp()) *
                         static_cast<double>(posse_.quantum_ns());
  return reached <= kFewObjects || reached * kMarkNs * kGain <= before_ns;
}

// How many can be shared, up to the first that cannot.
size_t Seat::share(ForkRecord* first, size_t count) {
  Sharing sharing(context_, posse_.root());
  for (size_t n = 0; n < count; ++n) {
    first[n].settle();
    const bool builtin = first[n].header & ForkRecord::kBuiltin;
    if (builtin ? first[n].part->share(sharing) : share_part(sharing, first[n], n > 0)) {
      sharing.keep();
      continue;
    }
    first[n].header |= ForkRecord::kRefused;
    return n;
  }
  return count;
}

// Does nothing without memory: it is tried again then.
void Seat::note_in_order(const syntax::FunctionDecl* decl) try {
  if (!goes_in_order(decl)) in_order_only_.push_back(decl);
} catch (const std::bad_alloc&) {
}

bool Seat::is_done(const Delegate& delegate, size_t number) {
  bool done = false;
  executor_->under_lock([&] {
    done = delegate.has_done(number);
    return false;
  });
  return done;
}

bool Seat::is_helper() const { return &context_ != &posse_.root(); }

bool Seat::should_stop() const { return posse_.stopped() || posse_.root().wants_to_stop(); }

bool Seat::has_place() const { return actor_->accounts.size() < kMostParts; }

// Until it has been done, or given up. Other work is done meanwhile.
void Seat::wait_for(Delegate& delegate, size_t number) {
  context_.references.flush();
  Tasks* const tasks = context_.tasks.get();
  if (tasks && tasks->has_begun()) {
    let_others(*tasks, delegate, number);
  } else {
    wait_alone(delegate, number);
  }
}

// Whether the part has been computed for long, and waits to be packed with one that comes behind it in the source, and may
// never end.
bool Seat::is_kept_back(const Delegate& delegate, size_t number, Progress& progress, int64_t now_ns) {
  const size_t computed = delegate.computed_.load(std::memory_order_relaxed);
  if (computed != progress.computed) progress = {computed, now_ns};
  return delegate.has_in_turn(number, computed) && now_ns - progress.since_ns >= kKeptBackNs;
}

// Others have the thread meanwhile, where it is one of the runtime's; the executor does work for `owner`, which is given.
template <class Done>
posse::Work* Seat::wait(posse::Owner owner, int64_t deadline_ns, Done&& done) {
  if (is_helper()) {
    const Aside aside(context_);
    const fiber::ThisParker parker(fiber::ThisParker::kRegardless);
    return executor_->wait(owner, *parker, deadline_ns, done);
  }
  if (fiber::Parker* const carried = context_.carrier ? context_.carrier->parker() : nullptr) {
    return executor_->wait(owner, *carried, deadline_ns, done);
  }
  fiber::ThreadParker thread;
  const int64_t since_ns = now_if_traced();
  posse::Work* const work = executor_->wait(owner, thread, deadline_ns, done);
  if (since_ns != 0) context_.runtime.trace->record(static_cast<uint16_t>(sched::TraceKind::executor_idle), {now_if_traced() - since_ns});
  return work;
}

// As one that does not compute.
template <class Done>
posse::Work* Seat::wait_uncounted(posse::Owner owner, int64_t deadline_ns, Done&& done) {
  const sched::Processors::Waiting waiting(context_.runtime.processors);
  return wait(owner, deadline_ns, done);
}

// What it consists of is done meanwhile, while there is place for it.
void Seat::wait_alone(Delegate& delegate, size_t number) {
  Progress progress;
  while (!is_done(delegate, number)) {
    const int64_t now_ns = context_.runtime.clock.now_ns(), deadline_ns = now_ns + kLookNs;
    if (is_stopped() || is_kept_back(delegate, number, progress, now_ns)) delegate.set_dropped();
    const posse::Owner owner = has_place() && !delegate.is_dropped() ? static_cast<posse::Owner>(&delegate) : this;
    posse::Work* const work = wait_uncounted(owner, deadline_ns, [&] { return delegate.has_done(number); });
    idle_ns_ += context_.runtime.clock.now_ns() - now_ns;
    actor_->quantum.begin_anew();
    if (work) {
      work->run(*executor_);
    } else if (!is_helper() && context_.wants_to_stop()) {
      posse_.stop(true);
    }
  }
}

bool Seat::is_to_stop(Tasks& tasks) {
  if (context_.wants_to_stop()) posse_.stop(true);
  return posse_.stopped() || actor_->ends || tasks.current().cancelled;
}

// Until its parts have been done. What it does by turns is left meanwhile, if it can be; when that
// calls it back, because its end has come, it waits on for what is told to stop then.
void Seat::let_others(Tasks& tasks, Delegate& delegate, size_t number) {
  Turn* const turn = tasks.current().turn;
  bool left = turn && turn->parts_begin();
  Progress progress;
  while (!is_done(delegate, number)) {
    if (is_kept_back(delegate, number, progress, context_.runtime.clock.now_ns())) delegate.set_dropped();
    if (left && turn->is_called_back()) left = take_turn(*turn) && turn->parts_begin();
    if (is_to_stop(tasks)) actor_->stopped.store(true, std::memory_order_relaxed);
    wait_a_moment(tasks, delegate, number);
  }
  if (left) take_turn(*turn);
  if (!actor_->ends) actor_->stopped.store(false, std::memory_order_relaxed);
  if (has_kept_error()) context_.cut_slice();
}

// False: an error is kept that ends all that it does.
bool Seat::take_turn(Turn& turn) {
  if (turn.parts_end()) return true;
  actor_->ends = true;
  actor_->error = context_.take_error();
  return false;
}

// Until something is ready, or a part of something that waits so has been done. What waits so is
// among the ready.
void Seat::wait_a_moment(Tasks& tasks, Delegate& delegate, size_t number) {
  actor_->waits_for = &delegate;
  actor_->waits_for_part = number;
  actor_->next_waiting = std::exchange(waiting_, actor_);
  if (tasks.others_ready() <= waiting_count_++) {
    // Timers and other threads make something ready without ending this wait.
    const int64_t deadline_ns = context_.runtime.clock.now_ns() + kTurnsNs;
    wait_uncounted(this, deadline_ns, [this] {
      const Actor* each = waiting_;
      while (each && !each->waits_for->has_done(each->waits_for_part)) each = each->next_waiting;
      return each != nullptr;
    });
  }
  tasks.let_others_run();
  --waiting_count_;
  Actor** place = &waiting_;
  while (*place != actor_) place = &(*place)->next_waiting;
  *place = actor_->next_waiting;
  actor_->quantum.begin_anew();
}

// False: raised.
bool Seat::end_of_wait() {
  actor_->stopped.store(false, std::memory_order_relaxed);
  if (has_kept_error()) {
    raise_kept_error();
    return false;
  }
  actor_->ends = false;
  return !should_stop() || context_.poll();
}

// What ends it all is kept again by a part that it ends.
void Seat::raise_kept_error() {
  actor_->ends = is_above_root();
  context_.restore_error(std::move(actor_->error));
}

// ---- what the trace is told ----

void Seat::trace(TierEvent event, std::initializer_list<int64_t> fields) {
  if (sched::Trace* const to = context_.runtime.trace.get()) to->record(static_cast<uint16_t>(event), fields);
}

int64_t Seat::now_if_traced() const { return context_.runtime.trace ? context_.runtime.clock.now_ns() : 0; }

// Before it begins. Throws nothing: without memory the trace is not told.
void Seat::trace_taken(Delegate& delegate, const posse::Executor& by, int64_t sharing_ns) try {
  if (!context_.runtime.trace) return;
  delegate.job_ = context_.runtime.control.next_job();
  trace(TierEvent::part_taken, {static_cast<int64_t>(delegate.job_), context_.runtime.trace->text(delegate.place()), by.number(), sharing_ns});
} catch (const std::bad_alloc&) {
}

bool Posse::add_waiting(size_t bytes) {
  const size_t before = waiting_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes <= root_context_.limits().memory_bytes && before <= root_context_.limits().memory_bytes - bytes) return true;
  remove_waiting(bytes);
  return false;
}

// What one has released of another's may refer to the root's.
void Posse::free_what_was_left() {
  sched::MutexLock lock(mutex_);
  for (Helper& each : helpers_) {
    if (!each.context) continue;
    each.context->heap.bind_to_thread();
    each.context->heap.bury_some();
    each.context->heap.take_remote_frees();
    each.context->heap.unbind_from_thread();
  }
  root_context_.heap.take_remote_frees();
}

// ---- the whole ----

Posse::Posse(Context& root) : root_context_(root), crew_(*root.runtime.crew), quantum_ns_(posse_quantum_ns(root.runtime.options)),
      cabal_(root.runtime.options.cabal_limit), root_(*this, root) {}

Seat* Posse::seat_of(posse::Executor& executor) {
  if (root_.executor_ == &executor) return &root_;
  sched::MutexLock lock(mutex_);
  try {
    if (helpers_.size() <= executor.number()) helpers_.resize(executor.number() + 1);
    Helper& helper = helpers_[executor.number()];
    if (!helper.context) {
      auto context = root_context_.runtime.make_helper(root_context_);
      context->helps = this;
      helper.seat = std::make_unique<Seat>(*this, *context);
      helper.seat->take_executor(&executor);
      context->seat = helper.seat.get();
      helper.context = std::move(context);
    }
    // The host may have changed them since.
    if (helper.seat->members().empty()) {
      helper.context->set_limits(root_context_.limits());
      helper.seat->begin();
    }
    return helper.seat.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace posset::interp
