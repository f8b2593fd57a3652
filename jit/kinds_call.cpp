// Which calls are inlined, and what is then known behind them: part of kinds.h. A call is inlined when the
// profile has seen one callee, whose body is small and has no handlers of its own; what is made of it is said in
// translate_inline.cpp. A function is inlined into itself a few times, which saves most of the calls of a
// recursion with a small body.
#include <algorithm>
#include <bit>

#include "interp/syntax/ast.h"
#include "jit/kinds.h"
#include "jit/versions.h"

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;
using bytecode::Seen;

namespace {

// Instructions.
constexpr uint32_t kLargestCallee = 80;  // where the unit itself calls; half of it for each call farther down
constexpr uint32_t kDeepest = 6;
// A function within itself by way of others: each round brings all of their bodies along.
constexpr uint32_t kLargestRoundAbout = 10;
// A call that is not inlined is code, too: about as much as so many instructions.
constexpr uint32_t kCall = 6;
// A function within itself, so often. Where it calls itself in several places the code grows with a power of that, and
// the leaves save as many calls: twice where it is short.
constexpr uint32_t kMostRecursion = 2;
constexpr uint32_t kMostBranchingRecursion = 1;
constexpr uint32_t kLargestBranchingTwice = 12;
// With a loop in it, into a function that calls itself.
constexpr uint32_t kLargestRound = 24;

// Of a body that works through its arguments in several versions; empty: of no such body.
std::vector<Known> version_of(const Chunk& body) {
  const auto versions = body.loop_heads.empty() ? std::vector<std::vector<Kind>>() : kinds_of_versions(body);
  if (versions.size() <= 1) return {};
  return {versions.front().begin(), versions.front().end()};
}

// Whether something is not known that a version is for.
bool leaves_open(const std::vector<Known>& version, const std::vector<Known>& arguments) {
  bool open = false;
  for (size_t n = 0; n < std::min(version.size(), arguments.size()); ++n) {
    open |= version[n].kind != Kind::None && arguments[n].kind == Kind::Any;
  }
  return open;
}

// Whether the function of that unit has called itself.
bool calls_unit(const Chunk& chunk, uint32_t unit) {
  for (uint32_t pc = 0; pc < chunk.size; pc += chunk.length_at(pc)) {
    const Seen seen{chunk.profile[pc].load(std::memory_order_relaxed)};
    if (chunk.op_at(pc) == Op::CallKnown && seen.callee() == unit) return true;
  }
  return false;
}

// Whether it does little more than make a record or a short list.
bool makes_parts(const Chunk& body) {
  constexpr uint32_t kLargest = 20;
  for (uint32_t pc = 0; pc < body.size && body.size <= kLargest; pc += body.length_at(pc)) {
    if (body.op_at(pc) == Op::MakeRecord || body.op_at(pc) == Op::MakeList) return true;
  }
  return false;
}

// Of what may be inlined into a unit. Where something is passed or made that may be unboxed a call is dear: it would become
// an object for that.
uint32_t cost_of(const Chunk& body, bool with_parts) {
  constexpr uint32_t kLessWithParts = 4;
  const uint32_t more = body.size - std::min(body.size, kCall);
  return with_parts ? more / kLessWithParts : more;
}

// Whether it has a loop, also by a tail call.
bool goes_round(const Chunk& chunk) {
  constexpr uint8_t kRound = bytecode::Branch | bytecode::Step;
  for (uint32_t pc = 0; pc < chunk.size; pc += chunk.length_at(pc)) {
    if ((bytecode::info(chunk.op_at(pc)).flags & kRound) == kRound) return true;
  }
  return false;
}

// What works for long, compared with its call: where it is large and goes round.
bool is_long(const Chunk& body) { return body.size > kLargestRound && goes_round(body); }

uint64_t marks_of(const Insn* call, const Chunk& body) {
  return static_cast<Op>(call->op) == Op::CallKnown ? body.inout_mask : std::bit_cast<uint64_t>(call[1]);
}

}  // namespace

bool Kinds::is_recursive(uint32_t pc) const {
  const auto found = callees_.find(pc);
  return found != callees_.end() && found->second.recursive;
}

// Whether the function calls itself, and in other places too.
bool Kinds::branches(const Insn& call, const Chunk& body) const {
  if (&body != &chunk_) return false;
  uint32_t places = 0;
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    places += chunk_.at(pc).op == call.op && chunk_.at(pc).b == call.b;
  }
  return places > 1;
}

bool Kinds::calls_what_is_long() const {
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    const uint32_t unit = chunk_.op_at(pc) == Op::CallKnown ? seen(pc).callee() : 0;
    const Chunk* body = unit != 0 ? shared_->bodies(unit) : nullptr;
    if (body && body != &chunk_ && is_long(*body)) return true;
  }
  return false;
}

// A function that calls itself is there several times: within itself, and once more where it leaves records. What is long has code
// of its own and is called; and then so is the function itself, as that matters as little. A merge sort's code would be four merges.
bool Kinds::is_better_called(const Chunk& body) const {
  if (!shared_->recursive) return false;
  return &body == &outermost() ? root().calls_what_is_long() : is_long(body);
}

bool Kinds::can_inline(uint32_t pc, const Insn& insn, const Chunk& body) const {
  if (is_better_called(body)) return false;
  if (!body.outline.takes(insn.c) || body.is_loop || !body.regions.empty() || marks_of(&chunk_.at(pc), body) != body.inout_mask) return false;
  uint32_t deep = 0, within_itself = 0;
  for (const Kinds* each = this; each; each = each->caller_) {
    ++deep;
    within_itself += &each->chunk_ == &body;
  }
  const bool once = branches(insn, body) && body.size > kLargestBranchingTwice;
  const uint32_t most = once ? kMostBranchingRecursion : kMostRecursion;
  if (within_itself > most || deep > kDeepest) return false;
  const bool round_about = within_itself > 0 && &body != &chunk_;
  const uint32_t largest = round_about ? kLargestRoundAbout : kLargestCallee >> (deep - 1);
  return body.size <= largest;
}

bool Kinds::passes_unboxed(const Insn& insn, const State& before) const {
  const auto first = before.kinds.begin() + insn.a + 2;
  return std::any_of(first, first + insn.c, is_unboxed);
}

Kinds::Callee& Kinds::callee_at(uint32_t pc, const Insn& insn, const State& before) const {
  const auto [found, fresh] = callees_.try_emplace(pc);
  Callee& callee = found->second;
  if (!fresh) return callee;
  const Seen seen = this->seen(pc);
  callee.boxes = seen.native() != interp::Intrinsic::None;
  if (seen.callee() == 0 || (seen.word & Seen::kExited)) return callee;
  const Chunk* body = shared_->bodies(seen.callee());
  callee.recursive = body == &outermost() && static_cast<Op>(insn.op) == Op::CallKnown && body->outline.takes(insn.c);
  shared_->recursive |= callee.recursive;
  if (!body || (callee.recursive && !shared_->inlines_itself)) return callee;
  if (!calls_unit(*body, seen.callee())) callee.called = body;
  callee.cost = cost_of(*body, shared_->unboxes && (makes_parts(*body) || passes_unboxed(insn, before)));
  const bool whole = can_inline(pc, insn, *body) && callee.cost <= shared_->budget;
  if (!whole && !(callee.recursive && can_have_leaf(insn, *body))) return callee;
  callee.leaf = !whole;
  callee.boxes = !whole;
  callee.unit = seen.callee();
  callee.body = body;
  if (!whole) return callee;
  shared_->budget -= callee.cost;
  callee.version = version_of(*body);
  return callee;
}

Plan Kinds::call_plan(uint32_t pc, const Insn& insn, const State& before) const {
  Callee& callee = callee_at(pc, insn, before);
  if (intrinsic(pc) != interp::Intrinsic::None) return intrinsic_plan(pc, insn, before);
  std::vector<Known> arguments(insn.c);
  for (uint32_t n = 0; n < insn.c; ++n) {
    arguments[n] = before.known(insn.a + 2U + n);
    if (arguments[n].kind == Kind::None) arguments[n] = Kind::Any;
    if (callee.boxes) arguments[n] = boxed(arguments[n]);
  }
  // Kinds become more general as more is known, never less: what has been unknown once remains it.
  shared_->unsure |= callee.recursive && leaves_open(root().arguments_, arguments);
  if (callee.body && leaves_open(callee.version, arguments)) {
    shared_->budget += callee.cost;
    callee.body = nullptr;
    callee.kinds = nullptr;
  }
  if (!callee.body) return plan_of_call(callee);
  if (!callee.kinds || callee.arguments != arguments) {
    callee.arguments = arguments;
    callee.kinds.reset(new Kinds(callee, *this));
  }
  // What never comes back would be code for exits only.
  callee.boxes |= !callee.kinds->returned_.reached;
  if (callee.leaf || !callee.kinds->returned_.reached) return plan_of_call(callee);
  const Known& result = callee.kinds->returned_.value;
  Plan plan{Way::Inline, Kind::Any, Kind::Any, Kind::Any, result.kind, result.shape};
  plan.fields = result.fields;
  return plan;
}

// Of one that is not inlined, or its leaf only.
Plan Kinds::plan_of_call(Callee& callee) const {
  Kind result = callee.recursive ? shared_->itself.value.kind : Kind::Any;
  if (callee.leaf && callee.kinds->returned_.reached) {
    result = joined(result, callee.kinds->returned_.value.kind);
  } else if (callee.leaf) {  // all it does is call
    callee.leaf = false;
    callee.body = nullptr;
    callee.kinds = nullptr;
  }
  return {Way::Exec, Kind::Any, Kind::Any, Kind::Any, result};
}

// ---- leaves ----

// The leaf of a function is what it does where it calls nothing and changes nothing but its own numbers. Half of the
// calls of a recursion that branches end there, so the leaf is inlined where such a function calls itself, and the call
// is made where more is to be done: then as if nothing had happened, because nothing has. A recursion in one place has
// one leaf for all of its calls, which is not worth the code.
bool Kinds::can_have_leaf(const Insn& insn, const Chunk& body) const {
  const bool plain = body.outline.takes(insn.c) && !body.is_loop && body.regions.empty() && body.inout_mask == 0;
  return !leaf_ && plain && branches(insn, body);
}

bool Kinds::has_leaf(uint32_t pc) const {
  const auto found = callees_.find(pc);
  return found != callees_.end() && found->second.leaf && found->second.kinds;
}

bool Kinds::stays_in_leaf(const Insn& insn, const Plan& plan, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  if (plan.way != Way::Inline || (bytecode::info(op).flags & bytecode::Step)) return false;
  if (op == Op::Copy) return is_plain(before.kinds[insn.b]);
  return is_in(op, Op::LoadNil, Op::LoadConst) || is_in(op, Op::Add, Op::ModI) || is_in(op, Op::Eq, Op::Ge) ||
         is_in(op, Op::JumpEq, Op::JumpGeK) || op == Op::Neg || op == Op::Not || op == Op::JumpIf || op == Op::JumpNil ||
         op == Op::Jump || op == Op::Move || op == Op::Nop || op == Op::CheckParam || op == Op::CheckType || op == Op::Return;
}

// ---- arguments that are lent (loans.h) ----

bool Kinds::lends_to(uint32_t pc, uint32_t reg) const {
  const Insn& insn = chunk_.at(pc);
  if (!is_in(static_cast<Op>(insn.op), Op::CallKnown, Op::CallValue)) return false;
  const Kinds* callee = inlined(pc);
  const uint32_t first = insn.a + 2U;
  if (is_recursive(pc) && (!callee || has_leaf(pc))) {
    return reg >= first && reg < first + insn.c && reg - first < 64 && (shared_->lent >> (reg - first) & 1);
  }
  if (has_leaf(pc)) return false;
  if (!callee || !callee->returned_.reached) return false;  // it is called
  return reg >= first && reg < first + insn.c && callee->only_reads(reg - first);
}

// Of a parameter.
bool Kinds::only_reads(uint32_t slot) const {
  if (pinned(slot) || slot >= 64 || (chunk_.inout_mask >> slot & 1)) return false;
  return for_each_reached([&](uint32_t pc, const Plan& plan, const State&) { return only_reads(pc, plan, slot); });
}

bool Kinds::for_each_reached(const std::function<bool(uint32_t pc, const Plan& plan, const State& before)>& visit) const {
  State state;
  bool reached = false;
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    if (is_leader(pc)) {
      state = at_leader(pc);
      reached = state.reached;
    }
    if (!reached) continue;
    box(to_box(pc, state), state);
    const Plan plan = this->plan(pc, state);
    if (plan.way == Way::Exit) {
      reached = false;
      continue;
    }
    if (!visit(pc, plan, state)) return false;
    state = after(pc, plan, state);
    reached = !(bytecode::info(chunk_.op_at(pc)).flags & bytecode::Ends);
  }
  return true;
}

// What a move takes away is counted then; what an instruction in place reads for the last time is not released by it.
bool Kinds::only_reads(uint32_t pc, const Plan& plan, uint32_t slot) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  if (op == Op::Return) return true;
  if (op == Op::Move) return insn.a != slot;
  if (reads_out(op) && insn.b == slot) return insn.a != slot && (op != Op::Index || insn.c != slot) && plan.way == Way::Inline;
  bool kept = true;
  for_each_access(chunk_, pc, [&](const Access& each) {
    kept &= !each.written || slot < each.first || slot >= each.first + each.count;
  });
  return kept;
}

const Chunk* Kinds::called(uint32_t pc) const {
  const auto found = callees_.find(pc);
  return found == callees_.end() ? nullptr : found->second.called;
}

const Kinds* Kinds::inlined(uint32_t pc) const {
  const auto found = callees_.find(pc);
  return found == callees_.end() ? nullptr : found->second.kinds.get();
}

// The arguments are gone; of inout parameters what the callee has left.
void Kinds::pass_back(uint32_t pc, const Insn& insn, State& state) const {
  const Kinds& callee = *callees_.at(pc).kinds;
  for (uint32_t n = 0; n < insn.c; ++n) {
    const bool lent = n < 64 && (callee.chunk_.inout_mask >> n & 1);
    state.set(insn.a + 2U + n, lent ? callee.returned_.slots[n] : Known(Kind::Nil), true);
  }
}

// What a call of itself, which is made, has left in the frame of what was lent to it.
void Kinds::take_back(uint32_t pc, const Insn& insn, State& state) const {
  if (!is_recursive(pc)) return;
  const Returned& itself = shared_->itself;
  const uint64_t lent = outermost().inout_mask;
  for (uint32_t n = 0; n < insn.c && n < 64; ++n) {
    const uint32_t reg = insn.a + 2U + n;
    if (!(lent >> n & 1) || pinned(reg) || itself.slots[n].kind == Kind::None) continue;
    state.set(reg, itself.slots[n], false);
  }
}

void Kinds::note_return(const Insn& insn, const State& state) {
  returned_.reached = true;
  // Of what is called, and not inlined, kinds are all that others can rely on: what it gives may come from bytecode.
  auto known = [&](uint32_t reg) {
    return pinned(reg) ? Known(Kind::Any) : caller_ ? state.known(reg) : Known(state.kinds[reg]);
  };
  returned_.value = joined(returned_.value, known(insn.a));
  for (uint32_t slot = 0; slot < chunk_.slots; ++slot) {
    returned_.slots[slot] = joined(returned_.slots[slot], known(slot));
  }
}

std::optional<uint32_t> Kinds::steps_of_calls() const {
  constexpr uint32_t kMost = 16;  // a slice ends so many steps early, and under exit stress it has hardly more
  uint32_t steps = 0;
  State state = at_leader(0);
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    const uint8_t flags = bytecode::info(chunk_.op_at(pc)).flags;
    if (pc != 0 && is_leader(pc)) return std::nullopt;
    box(to_box(pc, state), state);
    const Plan plan = this->plan(pc, state);
    if (plan.way == Way::Exit) break;
    if (plan.way != Way::Inline || (flags & bytecode::Branch)) return std::nullopt;
    if (flags & bytecode::Step) {
      const Kinds* callee = inlined(pc);
      const auto inner = callee && !has_leaf(pc) ? callee->steps_of_calls() : std::nullopt;
      if (!inner) return std::nullopt;
      steps += 1 + *inner;
      if (steps > kMost) return std::nullopt;
    }
    if (flags & bytecode::Ends) break;
    state = after(pc, plan, state);
  }
  return steps;
}

uint32_t Kinds::extent() const {
  uint32_t most = chunk_.registers;
  for (const auto& [pc, callee] : callees_) {
    if (callee.kinds) most = std::max(most, chunk_.at(pc).a + 2U + callee.kinds->extent());
  }
  return most;
}

uint32_t Kinds::depth() const {
  uint32_t most = 0;
  for (const auto& [pc, callee] : callees_) {
    if (callee.kinds) most = std::max(most, 1 + callee.kinds->depth());
  }
  return most;
}

uint32_t Kinds::widest() const {
  uint32_t most = chunk_.registers;
  for_each_inlined([&](uint32_t, const Chunk& body) { most = std::max(most, body.registers); });
  return most;
}

bool Kinds::has_loops() const {
  bool found = goes_round(chunk_);
  for_each_inlined([&](uint32_t, const Chunk& body) { found |= goes_round(body); });
  return found;
}

void Kinds::for_each_inlined(const std::function<void(uint32_t unit, const Chunk&)>& visit) const {
  for (const auto& [pc, callee] : callees_) {
    if (!callee.kinds) continue;
    visit(callee.unit, *callee.body);
    callee.kinds->for_each_inlined(visit);
  }
}

}  // namespace posset::jit
