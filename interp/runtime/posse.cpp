// See posse.h.
#include "interp/runtime/posse.h"

#include <algorithm>
#include <new>
#include <utility>

#include "interp/runtime/call.h"
#include "interp/runtime/reach.h"
#include "interp/runtime/tasks.h"

namespace posset::interp {

namespace {

namespace posse = sched::posse;

constexpr int64_t kQuantumNs = sched::kMillisecond;
// How often who waits looks at the limits.
constexpr int64_t kLookNs = 5 * sched::kMillisecond;
// And at what else the thread may have to do.
constexpr int64_t kTurnsNs = sched::kMillisecond;
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

Seat::~Seat() = default;

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
  if (!executor_) return;
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
  return posse_.stopped() || (stop_ && stop_->load(std::memory_order_relaxed));
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
  const int64_t now_ns = posse_.crew().clock().now_ns();
  if (!actor_->quantum.has_begun()) {
    begin_quantum(now_ns);
    return true;
  }
  if (!actor_->quantum.is_used(now_ns) || context_.heap.is_guarded()) return true;
  take_part();
  return pause();
}

// The host's thread becomes an executor, if it is none yet.
void Seat::take_part() {
  if (executor_) return;
  executor_ = &posse_.crew().enter(posse_.cabal());
  posse_.stop(false);
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
  Member& top = members().top();
  auto theft = members().end_quantum(context_.fork_top);
  ForkRecord* const rest = theft ? nullptr : linear_part();
  if (theft.kept && !has_place()) return true;
  const auto done = [&](ForkDepth::Need need) {
    context_.fork_depth.end_quantum(context_.depth, need);
    return true;
  };
  if (!posse_.crew().has_offer(&posse_, *executor_, posse_.cabal())) return done(ForkDepth::Need::None);
  if (!theft && !rest) return done(ForkDepth::Need::Unmet);
  if (theft) members().widen(theft);
  if (theft && !give(theft)) return done(ForkDepth::Need::Unmet);
  done(ForkDepth::Need::Given);
  if (rest) {
    run_above(top, rest, 1, /*small_sides_later=*/true);
  } else {
    if (!theft.kept) return true;
    run_above(top, theft.kept, theft.kept_count);
  }
  return wait_for(top);
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

// What stands for the rest of a linear recursion that has just left it, if going on with that first pays.
ForkRecord* Seat::linear_part() {
  const bool large = has_large_levels();
  if (!large || context_.fork_top == context_.fork_base || !has_place()) return nullptr;
  ForkRecord* const record = context_.fork_top - 1;
  if (!record->is_open() || record->header & ForkRecord::kBuiltin || record->point() >= syntax::kMostForks) return nullptr;
  const syntax::FunctionDecl* const decl = record->closure_of()->function->decl;
  if (decl->forks[record->point()].left_point == 0) return nullptr;
  const bool failed = std::find(in_order_only_.begin(), in_order_only_.end(), decl) != in_order_only_.end();
  return failed ? nullptr : record;
}

// False: it could not be, or nobody took it. Nothing throws once it has been claimed. What others need for their parts must
// not be missing here: the next stack, which all that runs here has as well, is there before anybody has anything.
bool Seat::give(posse::Theft<Member>& theft) {
  const int64_t begin_ns = now_if_traced();
  if (!context_.native.reserve()) return false;
  const bool whole = is_worth_sharing(*theft.given, theft.given_count);
  if (!whole && !is_worth_sharing(*theft.given, 1)) return false;
  const size_t count = share(theft.given, whole ? theft.given_count : 1);
  if (count == 0) return false;
  auto delegate = std::make_unique<Delegate>(*this, *theft.of, theft.given, count);
  posse::Executor* other = posse_.crew().claim(&posse_, *executor_, posse_.cabal());
  if (!other) return false;
  delegate->take_records(theft.given);
  executor_->under_lock([&] {
    ++theft.of->pending;
    return false;
  });
  trace_taken(*delegate, *other, now_if_traced() - begin_ns);
  other->send(*delegate.release());
  return true;
}

// What is marked first, by this executor, must not take longer than it computes. That is guessed to be as long as what comes
// before the record has taken so far; so what is not worth it now may be later.
bool Seat::is_worth_sharing(const ForkRecord& record, size_t count) {
  constexpr double kMarkNs = 25, kFewObjects = 4096;
  if (record.header & ForkRecord::kBuiltin) return true;
  double reached = 0;
  for (const uint32_t slot : point_of(record).inputs) {
    reached += guess_reached(record.frame[slot], random_) * static_cast<double>(count);
  }
  const auto before_ns = static_cast<double>(members().generation() - record.stamp()) *
                         static_cast<double>(posse_.quantum_ns());
  return reached <= kFewObjects || reached * kMarkNs <= before_ns;
}

// How many can be shared, up to the first that cannot.
size_t Seat::share(ForkRecord* first, size_t count) {
  Sharing sharing(posse_.root());
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

// A record of a member that waits is done here, on top. The member may be older than the one on top, which must not wait for
// what else that one waits for: it might be waited for by it.
void Seat::run_above(Member& member, ForkRecord* kept, size_t count, bool small_sides_later) {
  for (size_t n = 0; n < count; ++n) kept[n].settle();
  Delegate* delegate = nullptr;
  try {
    if (small_sides_later) in_order_only_.reserve(in_order_only_.size() + 1);
    delegate = new Delegate(*this, member, kept, count, small_sides_later);
  } catch (const std::bad_alloc&) {
    kept->header |= ForkRecord::kRefused;
    return;
  }
  delegate->take_records(kept);
  trace_taken(*delegate, *executor_, 0);
  const syntax::FunctionDecl* const decl = small_sides_later ? delegate->record_.closure->function->decl : nullptr;
  run(*delegate);
  if (small_sides_later && delegate->any_failed() && in_order_only_.size() < in_order_only_.capacity()) in_order_only_.push_back(decl);
}

bool Seat::has_pending(Member& member) {
  bool pending = false;
  executor_->under_lock([&] {
    pending = member.pending != 0;
    return false;
  });
  return pending;
}

bool Seat::should_stop() const { return posse_.stopped() || posse_.root().wants_to_stop(); }

// Of those here the most basal that is old enough, on top of who waits. False: there is none, or no place for it.
bool Seat::take_own_part() {
  if (is_stopped() || !has_place()) return false;
  const auto theft = members().while_top_waits();
  if (theft) run_above(*theft.of, theft.given, theft.given_count);
  return static_cast<bool>(theft);
}

bool Seat::has_place() const { return actor_->accounts.size() < kMostParts; }

// Until what was stolen from it has been done; other work is done meanwhile. False: raised.
bool Seat::wait_for(Member& member) {
  Tasks* const tasks = context_.tasks.get();
  if (tasks && tasks->has_begun()) return wait_by_turns(member);
  wait_pending(member);
  return end_of_wait();
}

// Work of the posse, while there is place for it.
void Seat::wait_pending(Member& member) {
  while (has_pending(member)) {
    if (take_own_part()) continue;
    const posse::Owner owner = has_place() ? static_cast<posse::Owner>(&posse_) : this;
    const int64_t deadline_ns = posse_.crew().clock().now_ns() + kLookNs;
    auto done = [&member] { return member.pending == 0; };
    posse::Work* const work = posse_.crew().wait(*executor_, owner, deadline_ns, done);
    actor_->quantum.begin_anew();
    if (work) {
      work->run(*executor_);
    } else if (&context_ == &posse_.root() && context_.wants_to_stop()) {
      posse_.stop(true);
    }
  }
}

// First its own records, then whatever else is ready on this thread.
bool Seat::wait_by_turns(Member& member) {
  Tasks& tasks = *context_.tasks;
  while (has_pending(member)) {
    if (is_to_stop(tasks) || !take_own_part()) let_others(tasks, member);
  }
  return end_of_wait();
}

bool Seat::is_to_stop(Tasks& tasks) {
  if (context_.wants_to_stop()) posse_.stop(true);
  return posse_.stopped() || actor_->ends || tasks.current().cancelled;
}

// Until its parts have been done. What it does by turns is left meanwhile, if it can be; when that
// calls it back, because its end has come, it waits on for what is told to stop then.
void Seat::let_others(Tasks& tasks, Member& member) {
  Turn* const turn = tasks.current().turn;
  bool left = turn && turn->parts_begin();
  while (has_pending(member)) {
    if (left && turn->is_called_back()) left = take_turn(*turn) && turn->parts_begin();
    if (is_to_stop(tasks)) actor_->stopped.store(true, std::memory_order_relaxed);
    wait_a_moment(tasks, member);
  }
  if (left) take_turn(*turn);
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
void Seat::wait_a_moment(Tasks& tasks, Member& member) {
  actor_->waits_for = &member;
  actor_->next_waiting = std::exchange(waiting_, actor_);
  if (tasks.others_ready() <= waiting_count_++) {
    // Timers and other threads make something ready without ending this wait.
    const int64_t deadline_ns = posse_.crew().clock().now_ns() + kTurnsNs;
    posse_.crew().wait(*executor_, this, deadline_ns, [this] {
      const Actor* each = waiting_;
      while (each && each->waits_for->pending != 0) each = each->next_waiting;
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
  if (actor_->ends && !actor_->error->is_nil()) {
    actor_->ends = is_above_root();
    context_.restore_error(std::move(actor_->error));
    return false;
  }
  actor_->ends = false;
  return !should_stop() || context_.poll();
}

// ---- what the trace is told ----

void Seat::trace(TierEvent event, std::initializer_list<int64_t> fields) {
  if (sched::Trace* const to = context_.runtime.trace.get()) to->record(static_cast<uint16_t>(event), fields);
}

int64_t Seat::now_if_traced() const { return context_.runtime.trace ? posse_.crew().clock().now_ns() : 0; }

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
    each.context->heap.take_remote_frees();
    each.context->heap.unbind_from_thread();
  }
  root_context_.heap.take_remote_frees();
}

// ---- the whole ----

Posse::Posse(Context& root) : root_context_(root), crew_(*root.runtime.crew), quantum_ns_(quantum_of(root.runtime.options, kQuantumNs)),
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
      context->live_closures = &helper.seat->live_closures_;
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
