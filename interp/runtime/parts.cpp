// Parts (posse.h): how they are computed, with stacks and an account of their own, and what becomes of the records whose parts
// they are. Elsewhere: which are handed over, and waiting for them (posse.cpp).
#include <algorithm>
#include <new>
#include <utility>

#include "interp/runtime/posse.h"
#include "interp/value/list.h"

namespace posset::interp {

namespace {

namespace posse = sched::posse;

constexpr size_t kRegisterBytes = size_t{64} << 20;
constexpr size_t kMostFreeRegisters = 16;

const std::vector<uint32_t>& inputs_of(const ForkRecord& record) {
  return record.closure->function->decl->fork_point(record.point()).inputs;
}

}  // namespace

// ---- delegates ----

Delegate::Delegate(Seat& home, ForkRecord* first, size_t count, bool small_sides_later)
    : home_(home),
      first_(first),
      record_(*first),
      small_sides_later_(small_sides_later),
      depth_(home.context_.depth),
      depth_limit_(home.context_.depth_limit),
      stop_(home.stop_ ? *home.stop_ : home.actor_->stopped),
      room_(home.room()),
      parts_(count),
      left_(count),
      parent_(home.running_) {
  for (size_t n = 0; n < count; ++n) parts_[n].frame = first[n].frame;
  if (record_.header & ForkRecord::kBuiltin) return;
  closure_ = Value::copy(Borrowed::heap(Tag::Fn, record_.closure));
  const std::vector<uint32_t>& slots = inputs_of(record_);
  inputs_.reserve(count * slots.size());
  for (size_t n = 0; n < count; ++n) {
    for (uint32_t slot : slots) inputs_.push_back(Value::copy(first[n].frame[slot]));
  }
}

// Without a seat for it, it has failed.
void Delegate::run(posse::Executor& here) {
  if (Seat* seat = home_.posse_.seat_of(here)) seat->run(*this);
  publish();
}

// What has not been done has failed.
void Delegate::publish() {
  skip_unless_run();
  if (of_small_sides() && !complete_) parent_->set_dropped();
  // Published under that lock; nothing of the posse is touched afterwards.
  home_.executor_->under_lock([this] {
    done_ = parts_.size();
    return true;
  });
}

// That so many parts have been done, and not the last yet: it is the victim's after that.
void Delegate::tell(size_t parts) {
  home_.executor_->under_lock([this, parts] {
    done_ = parts;
    return true;
  });
}

void Delegate::skip_unless_run() {
  if (!begun_ && (record_.header & ForkRecord::kBuiltin)) record_.part->skip();
}

// In the source, for people.
std::string Delegate::place() const {
  if (record_.header & ForkRecord::kBuiltin) {
    const TracePoint place = record_.part->place();
    return place.function ? place.function->module->source->place(place.function->spans[place.site].begin) : "in a built-in";
  }
  const syntax::FunctionDecl& decl = *record_.closure->function->decl;
  return decl.module->source->place(decl.fork_point(record_.point()).span.begin);
}

bool Delegate::any_failed() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& each) { return each.failed; });
}

void Delegate::take_records(ForkRecord* first) {
  for (size_t n = 0; n < parts_.size(); ++n) {
    first[n].header |= ForkRecord::kTaken;
    first[n].delegate = this;
  }
}

Value Delegate::evaluate(Context& context, size_t number) {
  begun_ = true;
  try {
    if (record_.header & ForkRecord::kBuiltin) return record_.part->run(context);
    if (small_sides_later_) context.small_sides_later = record_.closure->function->decl;
    Value* const inputs = inputs_.data() + number * inputs_of(record_).size();
    return context.runtime.tier(0)->evaluate_fork(context, record_.closure, inputs, record_.point());
  } catch (const std::bad_alloc&) {
    return context.error_pending() ? Value::failure() : context.raise_memory_limit();
  }
}

// ---- computing ----

// Null: no memory.
std::unique_ptr<RegisterStack> Seat::take_registers() {
  if (free_registers_.empty()) return std::unique_ptr<RegisterStack>(new (std::nothrow) RegisterStack(kRegisterBytes));
  auto registers = std::move(free_registers_.back());
  free_registers_.pop_back();
  return registers;
}

// On top of what runs here, if anything does, with stacks and steps of its own. Throws nothing: without memory it fails.
void Seat::run(Delegate& delegate) {
  std::unique_ptr<RegisterStack> registers = take_registers();
  if (!registers) return;
  Strand below = std::move(static_cast<Strand&>(context_));
  static_cast<Strand&>(context_) = Strand();
  context_.stand_on(*registers, context_.limits().stack_bytes);
  const bool alone = members().empty();
  // Its fork records lie above those of as many calls.
  context_.depth = alone ? delegate.depth_ : std::max(delegate.depth_, below.depth);
  context_.depth_limit =
      std::min(alone ? forks_->calls() : below.depth_limit, delegate.depth_limit_);
  delegate.below_ = std::exchange(running_, &delegate);
  const std::atomic<bool>* const below_stops = stop_;
  if (is_helper()) stop_ = &delegate.stop_;
  context_.native.go_on_from(below.native);
  if (alone) {
    actor_->quantum.begin_anew();
    context_.heap.bind_to_thread();
    if (is_helper()) context_.runtime.processors.begin();
    context_.native.enter(context_.limits().stack_bytes);
    context_.code_slot.enter();
    context_.references.begin();
    context_.heap.take_remote_frees();
    if (context_.holds_half_shared && context_.heap.bury_while_wanted() && context_.heap.live_objects() == 0) {
      context_.holds_half_shared = false;
    }
  }
  context_.begin_forks(alone ? forks_->begin() : below.fork_top);
  const int64_t begin_ns = now_if_traced();
  try {
    compute(delegate);
    if (alone) context_.runtime.control.settle(context_);
  } catch (const std::bad_alloc&) {
    // What has no result by now has failed.
  }
  trace(TierEvent::part_computed, {static_cast<int64_t>(delegate.job_), static_cast<int64_t>(delegate.steps_), begin_ns != 0 && !delegate.complete_, now_if_traced() - begin_ns});
  if (alone) {
    if (is_helper()) context_.runtime.processors.end();
    context_.references.end();
    context_.code_slot.leave();
  }
  running_ = delegate.below_;
  stop_ = below_stops;
  context_.native.give_back(below.native);
  static_cast<Strand&>(context_) = std::move(below);
  if (free_registers_.size() < kMostFreeRegisters) free_registers_.push_back(std::move(registers));
}

void Seat::run_here(Delegate& delegate) {
  run(delegate);
  delegate.skip_unless_run();
}

size_t Seat::room() const {
  const Heap& heap = context_.heap;
  return heap.limit_bytes() - std::min(heap.limit_bytes(), heap.used_bytes());
}

// With what memory its victim has left. That of a part of one's own is what there is.
void Seat::compute(Delegate& delegate) {
  Member member(context_.fork_top, members().generation(), chain());
  const bool alone = members().empty(), own = &delegate.home_ == this;
  actor_->accounts.push_back({});
  members().push(member);
  actor_->accounts.back() = context_.begin_account();
  Heap& heap = context_.heap;
  // What is free there, or has died, would not count.
  heap.bury_while_wanted();
  if (alone && heap.used_bytes() > delegate.room_ / 16) heap.trim_pages();
  const size_t limit = heap.limit_bytes();
  if (!own) heap.set_limit_bytes(heap.used_bytes() + std::min(delegate.room_, room()));
  // What comes behind a failure in the source is probably not wanted, and may never end.
  const size_t count = delegate.parts_.size();
  delegate.begin_ns_ = context_.runtime.clock.now_ns();
  delegate.live_before_ = heap.live_objects();
  for (size_t done = 0; done < count && compute_part(delegate, delegate.in_turn(done), alone);) {
    delegate.computed_.store(++done, std::memory_order_relaxed);
    if (done < count && !own && delegate.list_->is_nil()) delegate.tell(done);
  }
  const bool listed = finish_list(delegate, alone);
  delegate.complete_ = listed && delegate.computed_.load(std::memory_order_relaxed) == count;
  if (!own) {
    heap.set_limit_bytes(limit);
    heap.end_overdraft();  // of the room that the parts had
  }
  heap.bury_while_wanted();  // nobody may come for long
  delegate.steps_ = context_.steps_used();
  context_.resume_account(actor_->accounts.back());
  actor_->accounts.pop_back();
  members().pop();
}

// False: it has failed, and those behind it are not worth a try.
bool Seat::compute_part(Delegate& delegate, size_t number, bool alone) {
  Delegate::Part& part = delegate.parts_[number];
  const bool own = &delegate.home_ == this;
  Heap& heap = context_.heap;
  const size_t used = heap.used_bytes();
  const uint64_t steps = context_.steps_used(), peak = heap.begin_peak(), quanta = members().generation();
  ForkRecord* const base = context_.fork_top;
  Value result = !context_.stack_top ? context_.raise_memory_limit() : delegate.evaluate(context_, number);
  // One of one's own may run before what it would otherwise run on top of: it has to fit there, too, where its value
  // already is, but nothing that has died.
  heap.bury_while_wanted();
  const uint64_t highest = std::max<uint64_t>(heap.end_peak(peak), heap.used_bytes());  // what is not wanted goes there too
  part.peak = highest - (own ? heap.used_bytes() : used);
  part.steps = context_.steps_used() - steps;
  part.quanta = members().generation() - quanta;
  context_.drop_kept_views();
  context_.scratch = Value();
  if (finish(delegate, number, std::move(result), alone)) return true;
  drop(base);
  if (!context_.error_pending()) return false;
  const bool limit = context_.limit_pending();
  if (limit && context_.pending_code() == ErrorCode::Interrupted) context_.interrupt();
  Value error = context_.take_error();
  if (actor_->ends) actor_->error = std::move(error);
  return false;
}

bool Seat::finish(Delegate& delegate, size_t number, Value result, bool alone) {
  Delegate::Part& part = delegate.parts_[number];
  if (result.failed()) return false;
  if (delegate.parts_.size() > 1 && result->is_heap()) {
    if (!list(delegate, number, std::move(result))) return false;
  } else if (&delegate.home_ == this) {
    part.outcome.keep(std::move(result));
  } else if (!part.outcome.pack(context_, std::move(result), alone)) {
    return false;
  } else if (!posse_.add_waiting(part.outcome.bytes())) {
    part.outcome.discard(context_);
    return false;
  }
  part.failed = false;
  return true;
}

// A heap for each of many would take a page for each.
bool Seat::list(Delegate& delegate, size_t number, Value result) {
  Heap& heap = context_.heap;
  if (delegate.list_->is_nil()) {
    List* const made = new_list(heap, Packing::Any, delegate.parts_.size());
    if (!made) return false;
    delegate.list_ = Value::adopt(Borrowed::heap(Tag::List, made));
  }
  Borrowed list = delegate.list_.take();
  const size_t place = list.as<List>()->size;
  const bool ok = list_push(heap, list, std::move(result));
  delegate.list_ = Value::adopt(list);
  if (ok) delegate.parts_[number].place = static_cast<uint32_t>(place);
  return ok;
}

// What has been told of before is not touched: the victim may have it.
bool Seat::finish_list(Delegate& delegate, bool alone) {
  if (delegate.list_->is_nil()) return true;
  bool ok = delegate.all_.pack(context_, std::move(delegate.list_), alone);
  if (ok && !posse_.add_waiting(delegate.all_.bytes())) {
    delegate.all_.discard(context_);
    ok = false;
  }
  for (Delegate::Part& each : delegate.parts_) {
    if (!ok && each.place != Delegate::kNoPlace) each.failed = true;
  }
  return ok;
}

// ---- what becomes of records ----

// Before the first quantum there is no member.
void Seat::took_back(ForkRecord* from) {
  if (!members().empty() && members().top().base == context_.fork_base) members().took_back(from);
}

bool Seat::merge(ForkRecord& record, Value& result) {
  took_back(&record);
  if (!(record.header & ForkRecord::kTaken)) return false;
  Delegate& delegate = *record.delegate;
  const size_t number = delegate.number_of(record);
  const bool judged = delegate.given_.at_ns != 0;
  const Pace met = judged ? pace() : Pace();
  wait_for(delegate, number);  // what is done meanwhile leaves its records where this one was
  const int64_t done_ns = judged ? context_.runtime.clock.now_ns() : 0;
  Delegate::Part& part = delegate.parts_[number];
  const bool fits = part.peak == 0 || context_.heap.note_peak(part.peak);
  const bool ok = !part.failed && fits && context_.has_steps(part.steps) && take(delegate, number, result);
  if (ok && judged) judge(delegate, met, context_.runtime.clock.now_ns() - done_ns);
  if (ok) merged_steps_ += part.steps;
  if (ok) context_.add_steps(part.steps);
  part.failed = !ok;
  if (!ok && !members().empty()) members().top().hold(part.quanta + 1);
  if (!ok && delegate.small_sides_later_) note_in_order(delegate.record_.closure->function->decl);
  if (delegate.left_ == 1) trace(TierEvent::part_merged, {static_cast<int64_t>(delegate.job_), !delegate.any_failed()});
  forget(delegate, number);
  return ok;
}

bool Seat::take(Delegate& delegate, size_t number, Value& result) {
  Delegate::Part& part = delegate.parts_[number];
  if (part.place == Delegate::kNoPlace) {
    posse_.remove_waiting(part.outcome.bytes());
    return part.outcome.take(context_, result);
  }
  if (delegate.list_->is_nil() && !take_list(delegate)) return false;
  List* const list = delegate.list_->as<List>();
  result = Value::adopt(std::exchange(list->any()[part.place], Borrowed::nil()));
  return true;
}

// All of it lies in this heap from now on, also what its code would only make later: not where that could be missed.
bool Seat::take_list(Delegate& delegate) {
  const size_t bytes = delegate.all_.bytes();
  posse_.remove_waiting(bytes);
  if (bytes <= room() / 4 && delegate.all_.take(context_, delegate.list_)) return true;
  delegate.all_.discard(context_);
  for (Delegate::Part& each : delegate.parts_) each.failed = each.failed || each.place != Delegate::kNoPlace;
  return false;
}

// It has been taken back, or is not wanted any more.
void Seat::forget(Delegate& delegate, size_t number) {
  Outcome& outcome = delegate.parts_[number].outcome;
  posse_.remove_waiting(outcome.bytes());
  outcome.discard(context_);
  if (--delegate.left_ != 0) return;
  posse_.remove_waiting(delegate.all_.bytes());
  delegate.all_.discard(context_);
  delete &delegate;
}

void Seat::drop(ForkRecord* from) {
  took_back(from);
  const auto taken = [](const ForkRecord& record) { return (record.header & ForkRecord::kTaken) != 0; };
  if (std::any_of(from, context_.fork_top, taken)) wait_for_dropped(from);
  while (context_.fork_top > from) {
    const ForkRecord& record = *--context_.fork_top;
    if (taken(record)) forget(*record.delegate, record.delegate->number_of(record));
  }
}

// The error that is on its way waits, too, for others may have their turns; what comes up meanwhile goes on in its place.
void Seat::wait_for_dropped(ForkRecord* from) {
  Context::Unwinding unwinding = context_.set_error_aside();
  for (ForkRecord* record = context_.fork_top; record-- > from;) {
    if (record->header & ForkRecord::kTaken) record->delegate->set_dropped();
  }
  for (ForkRecord* record = context_.fork_top; record-- > from;) {
    if (record->header & ForkRecord::kTaken) wait_for(*record->delegate, record->delegate->number_of(*record));
  }
  if (has_kept_error() && !unwinding.error->is_nil()) {
    raise_kept_error();
  } else {
    context_.go_on_with(std::move(unwinding));
  }
}

namespace {

// The place of a record's code on the register stack.
const Borrowed* frame_of(const ForkRecord& record) {
  return record.header & ForkRecord::kTaken ? record.delegate->frame_of(record) : record.frame;
}

}  // namespace

// Which of its own a frame has left nobody counts: code that was entered in the middle or is nested deep has left none.
// What built-ins have left goes when they do, and small sides (their points are above all others) are the walker's.
void Seat::drop_above(const Borrowed* frame, uint32_t open) {
  ForkRecord* const base = context_.fork_base;
  ForkRecord* from = context_.fork_top;
  while (from > base && frame_of(from[-1]) > frame) --from;
  for (ForkRecord* own = from; own > base && frame_of(own[-1]) == frame;) {
    --own;
    const bool by_code = !(own->header & ForkRecord::kBuiltin) && !own->is_small_side();
    if (by_code && !(open & syntax::fork_point_bit(own->point()))) from = own;
  }
  drop(from);
}

// ---- what forks.h declares ----

namespace {

// A built-in leaves its own where the frames of what it calls begin.
bool is_of(const ForkRecord& record, uint32_t point, const Borrowed* frame) {
  return !(record.header & ForkRecord::kBuiltin) && record.point() == point && frame_of(record) == frame;
}

}  // namespace

bool merge_touched(Context& context, uint32_t point, const Borrowed* frame, Value& result) {
  ForkRecord& record = context.fork_top[-1];
  if (!is_of(record, point, frame)) return false;
  --context.fork_top;
  return result_of(context, record, result);
}

LeftPart left_part(Context& context, ForkRecord& record, const Borrowed* frame, uint32_t point) {
  if (!is_of(record, point, frame)) return LeftPart::None;
  if (record.header & ForkRecord::kTaken) return LeftPart::Taken;
  Value none;
  result_of(context, record, none);
  return LeftPart::Untaken;
}

bool result_of(Context& context, ForkRecord& record, Value& result) {
  return context.seat && context.seat->merge(record, result);
}

void drop_all_forks(Context& context, ForkRecord* from) {
  if (context.seat) {
    context.seat->drop(from);
  } else {
    context.fork_top = from;
  }
}

void drop_forks_above(Context& context, const Borrowed* frame, uint32_t open) {
  if (context.seat) context.seat->drop_above(frame, open);
}

}  // namespace posset::interp
