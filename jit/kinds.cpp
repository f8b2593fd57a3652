// See kinds.h.
#include "jit/kinds.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "interp/runtime/powers.h"
#include "jit/intrinsics.h"

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;
using bytecode::Seen;
using interp::Packing;
using interp::Tag;

namespace {

constexpr uint32_t kOftenRemade = 3;
// Instructions that are inlined into a unit at most. LLVM takes about a millisecond for one of them, and four times as
// many made no benchmark faster.
constexpr uint32_t kMostInlined = 80;

}  // namespace

bool keeps_sizes(Op op) {
  switch (op) {
    case Op::Neg:
    case Op::Not:
    case Op::Binary:
    case Op::JumpIf:
    case Op::CallNative:
    case Op::CheckParam:
    case Op::CheckType:
    case Op::Index:
    case Op::ViewIndex:
    case Op::Field:
    case Op::ViewField:
    case Op::Len:
    case Op::CodeAt:
    case Op::Has:
    case Op::SetIndex:
    case Op::Swap:
    case Op::PlaceLocal:
    case Op::PlaceIndex:
    case Op::PlaceField:
    case Op::UpdateIndex:
    case Op::UpdateField: return true;
    default: return is_in(op, Op::Add, Op::ModI) || is_in(op, Op::Eq, Op::Ge) || is_in(op, Op::JumpEq, Op::LoopGeK);
  }
}

Tag tag_of_kind(Kind kind) {
  switch (kind) {
    case Kind::Bool: return Tag::Bool;
    case Kind::Int: return Tag::Int;
    case Kind::Float: return Tag::Float;
    case Kind::Ints:
    case Kind::Floats:
    case Kind::Bools:
    case Kind::Items: return Tag::List;
    case Kind::UnboxedList: return Tag::List;
    case Kind::UnboxedRecord:
    case Kind::Record: return Tag::Record;
    case Kind::Variant: return Tag::Variant;
    case Kind::Ref: return Tag::Ref;
    case Kind::Text: return Tag::Str;
    default: return Tag::Nil;
  }
}

Kind kind_of_mask(uint64_t mask) {
  const uint64_t tags = mask & Seen::kTags;
  if (std::popcount(tags) != 1) return Kind::Any;
  switch (static_cast<Tag>(std::countr_zero(tags))) {
    case Tag::Nil: return Kind::Nil;
    case Tag::Bool: return Kind::Bool;
    case Tag::Int: return Kind::Int;
    case Tag::Float: return Kind::Float;
    case Tag::Record: return Kind::Record;
    case Tag::Variant: return Kind::Variant;
    case Tag::Str: return Kind::Text;
    case Tag::List: break;
    default: return Kind::Any;
  }
  if (mask == (Seen::of(Tag::List) | Seen::of(Packing::Int))) return Kind::Ints;
  if (mask == (Seen::of(Tag::List) | Seen::of(Packing::Float))) return Kind::Floats;
  if (mask == (Seen::of(Tag::List) | Seen::of(Packing::Bool))) return Kind::Bools;
  if (mask == (Seen::of(Tag::List) | Seen::of(Packing::Any))) return Kind::Items;
  return Kind::Any;
}

namespace {

// What these give, however they are done.
Kind known_result(Op op) {
  switch (op) {
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
    case Op::In:
    case Op::Has:
    case Op::Not: return Kind::Bool;
    case Op::Len:
    case Op::CodeAt: return Kind::Int;
    default: return Kind::Any;
  }
}

}  // namespace

bool is_on_bits(syntax::BinaryOp op) {
  switch (op) {
    case syntax::BinaryOp::WrapAdd:
    case syntax::BinaryOp::WrapSub:
    case syntax::BinaryOp::WrapMul:
    case syntax::BinaryOp::Shl:
    case syntax::BinaryOp::Shr:
    case syntax::BinaryOp::BitAnd:
    case syntax::BinaryOp::BitXor:
    case syntax::BinaryOp::BitOr: return true;
    default: return false;
  }
}

Kind element_of(Kind list) {
  switch (list) {
    case Kind::Ints: return Kind::Int;
    case Kind::Floats: return Kind::Float;
    case Kind::Bools: return Kind::Bool;
    default: return Kind::Any;
  }
}

Kind list_for(Kind element) {
  switch (element) {
    case Kind::Int: return Kind::Ints;
    case Kind::Float: return Kind::Floats;
    case Kind::Bool: return Kind::Bools;
    default: return Kind::Items;
  }
}

Kind joined(Kind a, Kind b) {
  if (a == b || b == Kind::None) return a;
  return a == Kind::None ? b : Kind::Any;
}

Known joined(const Known& a, const Known& b) {
  if (a.kind == Kind::None || b.kind == Kind::None) return a.kind == Kind::None ? b : a;
  if (a == b) return a;
  const Known one = boxed(a), other = boxed(b);
  const Kind kind = joined(one.kind, other.kind);
  if (!has_fields(kind) || one.shape != other.shape || one.shape == kNoShape) return kind;
  return {kind, one.shape, told_by_both(one.fields, other.fields)};
}

Known boxed(const Known& v) {
  if (v.kind == Kind::UnboxedRecord) return {Kind::Record, v.shape, v.fields};
  if (v.kind != Kind::UnboxedList) return v;
  Kind list = list_for(field_kind(v.fields, 0));
  for (uint32_t n = 1; n < count_parts(v.fields); ++n) {
    if (list_for(field_kind(v.fields, n)) != list) list = Kind::Items;
  }
  return list;
}

Kinds::Kinds(const Chunk& chunk, int stage, const Bodies& bodies, const std::vector<Kind>& version, Itself itself)
    : chunk_(chunk),
      arguments_(version.begin(), version.end()),
      held_(chunk.registers),
      live_(live_registers(chunk, held_)),
      pinned_(chunk.registers),
      states_(chunk.size),
      leaders_(chunk.size, 0) {
  const bool steady = chunk.times_remade(stage + 1) < kOftenRemade;
  shared_ = std::make_shared<Shared>(Shared{bodies, steady, stage > 1, itself == Itself::Inlined, kMostInlined, false, Returned(chunk.slots)});
  prepare();
  solve_held();
  solve_recursion();
}

Kinds::Kinds(const Callee& callee, const Kinds& caller)
    : chunk_(*callee.body),
      caller_(&caller),
      arguments_(callee.arguments),
      leaf_(callee.leaf),
      shared_(caller.shared_),
      held_(chunk_.registers),
      live_(live_registers(chunk_, held_)),
      pinned_(chunk_.registers),
      states_(chunk_.size),
      leaders_(chunk_.size, 0) {
  prepare();
}

Kinds::~Kinds() = default;

void Kinds::prepare() {
  roots_.assign(chunk_.size, bytecode::kNoRegister);
  begins_.assign(chunk_.size, 0);
  copy_profile();
  returned_ = Returned(chunk_.slots);
  find_leaders();
  // Not without a profile.
  for (uint32_t pc = 0; shared_->steady && pc < chunk_.size; ++pc) {
    exits_where_new_ |= profile_[pc] != 0;
  }
  pin();
  find_ends_of_loops();
  find_captured();
  solve();
}

// What follows a loop has often not run when code is made: the loop has been running all the time, or in code of
// its own. It is nothing new for all that.
void Kinds::find_ends_of_loops() {
  certain_.assign(chunk_.size, 0);
  auto goes_back = [&](uint32_t pc) {
    return (bytecode::info(chunk_.op_at(pc)).flags & bytecode::Branch) && chunk_.target_at(pc) <= pc;
  };
  for (uint32_t latch = 0; latch < chunk_.size; latch += chunk_.length_at(latch)) {
    if (!goes_back(latch)) continue;
    for (uint32_t pc = latch; pc < chunk_.size && !certain_[pc];) {
      const bytecode::OpInfo& known = bytecode::info(chunk_.op_at(pc));
      if (pc != latch) certain_[pc] = 1;
      const bool ends = known.flags & bytecode::Ends, branches = known.flags & bytecode::Branch;
      if ((ends && !branches) || (branches && !ends && !goes_back(pc)) || (ends && goes_back(pc))) break;
      pc = ends ? chunk_.target_at(pc) : pc + chunk_.length_at(pc);
    }
  }
}

void Kinds::copy_profile() {
  for (uint32_t pc = 0; pc < chunk_.size; ++pc) {
    profile_.push_back(chunk_.profile[pc].load(std::memory_order_relaxed));
    insides_.push_back(chunk_.insides[pc].load(std::memory_order_relaxed));
  }
  for (const auto& cache : chunk_.caches) caches_.push_back(cache->seen.load(std::memory_order_relaxed));
}

void Kinds::pin() {
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    const Insn& insn = chunk_.at(pc);
    // Where the look is not done in place, it may give its slot something.
    if (chunk_.op_at(pc) == Op::ViewIndex && (insn.x & bytecode::kHolds) && !looks_into_lists(pc)) {
      pinned_.add(insn.a - chunk_.slots);
    }
    const bool local = chunk_.op_at(pc) == Op::PlaceLocal;
    if (!local && chunk_.op_at(pc) != Op::PlaceRef) continue;
    const uint32_t end = walk_end(pc);
    if (end == 0 && local) pinned_.add(insn.a);
    if (end != 0 && local) roots_[end] = insn.a;
    for (uint32_t each = pc; each <= end; ++each) begins_[each] = pc;
  }
}

bool Kinds::looks_into_lists(uint32_t pc) const {
  return is_list(seen_kind(pc, Seen::First)) && seen_kind(pc, Seen::Second) == Kind::Int;
}

// The instruction that ends the walk begun by PlaceLocal or PlaceRef; 0 when there is a branch or a use of the
// register on the way.
uint32_t Kinds::walk_end(uint32_t begin) const {
  const uint16_t root = chunk_.at(begin).a;
  for (uint32_t pc = begin + chunk_.length_at(begin); pc < chunk_.size && !leaders_[pc]; pc += chunk_.length_at(pc)) {
    const Op op = chunk_.op_at(pc);
    bool used = false;
    for_each_access(chunk_, pc, [&](const Access& each) { used |= each.first <= root && root < each.first + each.count; });
    if (used) return 0;
    if (op == Op::PlaceIndex || op == Op::PlaceField) continue;
    const bool ends = is_in(op, Op::StoreIndex, Op::StorePlace) || is_in(op, Op::UpdateIndex, Op::TakePlace) || op == Op::PushPlace;
    return ends ? pc : 0;
  }
  return 0;
}

std::optional<uint16_t> Kinds::walk_root(uint32_t pc) const {
  return roots_[pc] == bytecode::kNoRegister ? std::nullopt : std::optional(roots_[pc]);
}

uint32_t Kinds::exit_pc(uint32_t pc, const Plan& plan) const {
  const Op op = chunk_.op_at(pc);
  const bool walks = is_in(op, Op::PlaceIndex, Op::TakePlace) || op == Op::PushPlace;
  return walks && plan.way == Way::Inline ? begins_[pc] : pc;
}

// ---- the fixed point ----

State Kinds::at_start() const {
  State state(chunk_.registers, Kind::None);
  const RegisterSet demanded = chunk_.is_loop ? demanded_registers(chunk_) : live_[0];
  for (uint32_t reg = 0; reg < chunk_.registers && !caller_; ++reg) {
    if (live(0, reg)) state.kinds[reg] = demanded.has(reg) ? expected(reg) : Kind::Any;
    // Of a call of itself the arguments are not in the frame.
    if (live(0, reg) && !pinned(reg) && reg < chunk_.outline.parameters) state.dirty.add(reg);
  }
  for (uint32_t reg = 0; reg < arguments_.size() && caller_; ++reg) {
    state.know(reg, pinned(reg) ? Kind::Any : arguments_[reg]);
    if (!pinned(reg)) state.dirty.add(reg);
  }
  return state;
}

// Of a register when the chunk is entered: what the version is for, or what all instructions that read it have seen.
Kind Kinds::expected(uint32_t reg) const {
  if (pinned(reg)) return Kind::Any;
  if (reg < arguments_.size() && arguments_[reg].kind != Kind::None) return arguments_[reg].kind;
  if (exited(0)) return Kind::Any;
  uint64_t mask = 0;
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    const Insn& insn = chunk_.at(pc);
    // Before the first round it is none of those that are read.
    if (chunk_.is_loop && is_next_item(static_cast<Op>(insn.op)) && insn.b == reg) return Kind::Any;
    mask |= mask_read(pc, reg);
  }
  return mask == 0 ? guessed(reg) : kind_of_mask(mask);
}

namespace {

// With b a register: how c is given, by the order of opcodes.
enum class OperandForm : uint8_t { Registers, Constant, ConstantFirst, Immediate };

struct Arithmetic {
  Op first;  // of its forms
  OperandForm form;
};

Arithmetic arithmetic(Op op) {
  static constexpr Op kFirst[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::IntDiv, Op::Mod};
  const Op first = *std::prev(std::upper_bound(std::begin(kFirst), std::end(kFirst), op));
  return {first, static_cast<OperandForm>(static_cast<int>(op) - static_cast<int>(first))};
}

}  // namespace

// Of one that only instructions read which have not run, as a counter of what is rare: what stands beside it there.
Kind Kinds::guessed(uint32_t reg) const {
  Kind guess = Kind::None;
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    const Insn& insn = chunk_.at(pc);
    const auto op = static_cast<Op>(insn.op);
    if (!is_in(op, Op::Add, Op::ModI) || insn.b != reg) continue;
    const Arithmetic what = arithmetic(op);
    if (what.form == OperandForm::Immediate) guess = joined(guess, Kind::Int);
    if (what.form == OperandForm::Constant) guess = joined(guess, constant_kind(insn.c));
  }
  return is_number(guess) ? guess : Kind::Any;
}

// What the instruction has seen in the register, if it reads it.
uint64_t Kinds::mask_read(uint32_t pc, uint32_t reg) const {
  const Insn& insn = chunk_.at(pc);
  const bytecode::OpInfo& known = bytecode::info(static_cast<Op>(insn.op));
  const Seen seen = this->seen(pc);
  const bool replaced = static_cast<Op>(insn.op) == Op::Store || static_cast<Op>(insn.op) == Op::Drop;
  uint64_t mask = 0;
  int next = Seen::First;
  auto look = [&](char kind, uint16_t operand) {
    if (kind == 'V' && operand == reg && !replaced) mask |= seen.mask(Seen::Changed);
    if (kind != 'R' || next > Seen::Second) return;
    if (operand == reg) mask |= seen.mask(static_cast<Seen::Operand>(next));
    ++next;
  };
  look(known.a, insn.a);
  if (known.b == 'W') return mask;
  look(known.b, insn.b);
  look(known.c, insn.c);
  return mask;
}

// A function that is inlined into itself is not called as a value; what it has captured is not looked at.
void Kinds::find_captured() {
  captured_.clear();
  for (uint32_t pc = 0; pc < chunk_.size && caller_ && &chunk_ != &outermost(); pc += chunk_.length_at(pc)) {
    const Op op = chunk_.op_at(pc);
    if (op != Op::ViewCaptured && op != Op::GetCaptured) continue;
    Kind& kind = captured_.try_emplace(chunk_.at(pc).b, Kind::None).first->second;
    kind = joined(kind, first_use(pc));
  }
  for (auto& [number, kind] : captured_) {
    if (!is_plain(kind)) kind = Kind::Any;
  }
}

// What has been seen in the register that the instruction writes, where it is read next.
Kind Kinds::first_use(uint32_t from) const {
  const uint32_t reg = chunk_.at(from).a;
  for (uint32_t pc = from + chunk_.length_at(from); pc < chunk_.size && !leaders_[pc]; pc += chunk_.length_at(pc)) {
    bool used = false;
    for_each_access(chunk_, pc, [&](const Access& each) { used |= each.first <= reg && reg < each.first + each.count; });
    if (used) return exited(pc) ? Kind::Any : kind_of_mask(mask_read(pc, reg));
  }
  return Kind::Any;
}

void Kinds::find_leaders() {
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    const Insn& insn = chunk_.at(pc);
    const bytecode::OpInfo& known = bytecode::info(static_cast<Op>(insn.op));
    if (known.flags & bytecode::Branch) leaders_[chunk_.target_at(pc)] |= kJumpedTo;
    const bool ends = known.flags & (bytecode::Branch | bytecode::Ends);
    if (ends && pc + chunk_.length_at(pc) < chunk_.size) leaders_[pc + chunk_.length_at(pc)] |= kBehindBranch;
  }
  leaders_[0] |= kJumpedTo;
  for (const bytecode::Region& region : chunk_.regions) leaders_[region.handler] |= kJumpedTo;
}

void Kinds::solve() {
  // A handler is entered with everything in the frame.
  for (const bytecode::Region& region : chunk_.regions) {
    merge(region.handler, State(chunk_.registers, Kind::Any));
  }
  merge(0, at_start());
  while (!work_.empty()) {
    const uint32_t pc = work_.back();
    work_.pop_back();
    flow(pc, states_[pc]);
  }
}

// What a call of itself gives: nothing at first, then what is returned if that is so, until both are the same. What
// returns by way of such a call only does not count.
void Kinds::solve_recursion() {
  while (shared_->recursive) {
    Returned& itself = shared_->itself;
    if (!itself.widen(returned_) && itself.value.kind != Kind::None) return;
    if (itself.value.kind == Kind::None) itself.value = Kind::Any;
    solve_again();
  }
}

void Kinds::solve_again() {
  shared_->budget = kMostInlined;
  callees_.clear();
  states_.assign(chunk_.size, State());
  returned_ = Returned(chunk_.slots);
  solve();
}

// Of a loop's own code: taken to hold nothing counted, its own variables are dead at its end. Those of which that is
// not so are not, and may be of other kinds for it. That is told by what instructions write, by what ways that meet
// leave open, for there code may be entered with whatever bytecode has put there, and by handlers: what they find is
// written by no instruction.
void Kinds::solve_held() {
  if (!chunk_.is_loop) return;
  for (const bytecode::Region& region : chunk_.regions) {
    hold(region.reg);
    if (region.cleanup) hold(region.reg + 1U);
  }
  for (RegisterSet held(chunk_.registers); held_ != held;) {
    held = held_;
    live_ = live_registers(chunk_, held_);
    solve_again();
  }
}

void Kinds::note_held(uint32_t pc, const State& after) {
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; each.written && reg < each.first + each.count; ++reg) {
      if (!is_plain(after.kinds[reg])) hold(reg);
    }
  });
}

void Kinds::hold(uint32_t reg) {
  if (reg >= chunk_.first_local && reg < chunk_.slots) held_.add(reg);
}

bool Returned::widen(const Returned& other) {
  bool wider = false;
  auto join = [&](Known& known, const Known& more) {
    const Known both = joined(known, more);
    wider |= both != known;
    known = both;
  };
  join(value, other.value);
  for (size_t slot = 0; slot < slots.size(); ++slot) join(slots[slot], other.slots[slot]);
  return wider;
}

void Kinds::flow(uint32_t pc, const State& from) {
  State state = from;
  for (;;) {
    const Insn& insn = chunk_.at(pc);
    const bytecode::OpInfo& known = bytecode::info(static_cast<Op>(insn.op));
    box(to_box(pc, state), state);
    const Plan todo = plan(pc, state);
    if (todo.way == Way::Exit || todo.result == Kind::None) return;
    if (static_cast<Op>(insn.op) == Op::Return) note_return(insn, state);
    State next = after(pc, todo, state);
    if (chunk_.is_loop) note_held(pc, next);
    // Results of others are taken in bytecode.
    const bool goes = static_cast<Op>(insn.op) != Op::Merge;
    if (goes && (known.flags & bytecode::Branch)) merge(chunk_.target_at(pc), next);
    // There is no item where the loop ends.
    if (is_next_item(static_cast<Op>(insn.op)) && todo.way == Way::Inline) next.leave(insn.b, state);
    state = std::move(next);
    pc += chunk_.length_at(pc);
    if ((known.flags & bytecode::Ends) || pc >= chunk_.size) return;
    if (leaders_[pc]) {
      merge(pc, state);
      return;
    }
  }
}

bool Kinds::merge(uint32_t into, const State& from) {
  State& state = states_[into];
  bool changed = !state.reached;
  if (!state.reached) state = State(chunk_.registers, Kind::None);
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    if (pinned(reg)) state.kinds[reg] = Kind::Any;
    if (pinned(reg) || !live(into, reg)) continue;
    const Known known = joined(state.known(reg), from.known(reg));
    if (chunk_.is_loop && known.kind != Kind::None && !is_plain(known.kind)) hold(reg);
    changed |= known != state.known(reg);
    state.know(reg, known);
    if (from.dirty.has(reg) && !state.dirty.has(reg)) {
      state.dirty.add(reg);
      changed = true;
    }
  }
  if (changed) work_.push_back(into);
  return changed;
}

// ---- plans ----

Kind Kinds::constant_kind(uint16_t index) const {
  const interp::Borrowed v = chunk_.constants[index];
  return v.is_int() ? Kind::Int : v.is_float() ? Kind::Float : v.is_bool() ? Kind::Bool : v.is_nil() ? Kind::Nil : Kind::Any;
}

Kind Kinds::seen_kind(uint32_t pc, Seen::Operand operand) const {
  return exited(pc) ? Kind::Any : kind_of_mask(seen(pc).mask(operand));
}

// Of what the instruction reads out of a container.
Kind Kinds::speculated_part(uint32_t pc) const {
  return exited(pc) ? Kind::Any : kind_of_mask(bytecode::SeenInside{insides_[pc]}.part());
}

bool Kinds::meets_texts(uint32_t pc, Seen::Operand operand) const {
  const uint64_t tags = seen(pc).tags(operand);
  return tags && !(tags & ~(Seen::of(Tag::Str) | Seen::of(Tag::ShortStr)));
}

// Where characters are bytes. Code that left there met a text where they are not.
bool Kinds::ascii_so_far(uint32_t pc, Kind b) const { return b == Kind::Text && !exited(pc); }

Plan Kinds::text_plan(uint32_t pc, Kind result, Plan otherwise) const {
  if (!meets_texts(pc, Seen::First)) return otherwise;  // in operand b
  Plan plan{Way::Dynamic, Kind::Any, Kind::Any, Kind::Any, result};
  plan.texts = true;
  return plan;
}

Kind Kinds::speculated(Kind known, uint32_t pc, Seen::Operand operand) const {
  return known == Kind::Any ? seen_kind(pc, operand) : known;
}

Plan Kinds::plan(uint32_t pc, const State& before) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  const bool is_new = !(profile_[pc] & (Seen::kRan | Seen::kExited)) && !certain_[pc];
  if (exits_where_new_ && is_new && before.place == Kind::None && !is_plain_block(pc, before)) return {Way::Exit};
  Plan plan = plan_by_family(pc, insn, before);
  if (leaf_ && !stays_in_leaf(insn, plan, before)) return {Way::Exit};
  if (plan.result == Kind::Any) plan.result = known_result(op);
  return plan;
}

namespace {

// What these do follows from the kinds of their operands.
bool needs_no_profile(Op op) {
  return moves_values(op) || is_in(op, Op::Add, Op::ModI) || op == Op::Neg || op == Op::Not || is_in(op, Op::Eq, Op::Ge) ||
         is_in(op, Op::JumpEq, Op::LoopGeK) || op == Op::JumpIf || op == Op::LoopIf || op == Op::Jump || op == Op::Loop;
}

}  // namespace

// A few instructions on operands of known kinds, from there to the end of their block. That they have never run is no reason
// to leave: there is nothing to be learnt from a run, and code of many rare branches was made anew for each.
bool Kinds::is_plain_block(uint32_t pc, const State& before) const {
  constexpr int kMost = 8;
  State state = before;
  for (int n = 0; n < kMost; ++n) {
    const Insn& insn = chunk_.at(pc);
    const Op op = static_cast<Op>(insn.op);
    if (!needs_no_profile(op)) return false;
    const Plan plan = plan_by_family(pc, insn, state);
    if (plan.way != Way::Inline) return false;
    state = after(pc, plan, state);
    pc += chunk_.length_at(pc);
    const bool is_end = bytecode::info(op).flags & (bytecode::Branch | bytecode::Ends);
    if (is_end || pc >= chunk_.size || leaders_[pc]) return true;
  }
  return false;
}

Plan Kinds::plan_by_family(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  if (is_in(op, Op::Add, Op::ModI) || op == Op::Neg || op == Op::Not || op == Op::BitNot) {
    return number_plan(pc, insn, before);
  }
  if (op == Op::Binary) return binary_plan(pc, insn, before);
  if (is_in(op, Op::Eq, Op::Ge) || is_in(op, Op::JumpEq, Op::LoopGeK) || op == Op::JumpIf || op == Op::LoopIf ||
             op == Op::JumpAnswer) {
    return compare_plan(pc, insn, before);
  }
  if (is_in(op, Op::IterBegin, Op::ForNext)) return loop_plan(pc, insn, before);
  if (is_in(op, Op::CallKnown, Op::CallValue)) return leaf_ ? Plan{Way::Exit} : call_plan(pc, insn, before);
  return data_plan(pc, insn, before);
}

Plan Kinds::number_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  if (op == Op::BitNot) {
    const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
    return b == Kind::Int ? Plan{Way::Inline, Kind::Any, b, Kind::Any, b} : Plan{Way::Exec};
  }
  if (op == Op::Neg || op == Op::Not) {
    const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
    const bool fits = op == Op::Not ? b == Kind::Bool : is_number(b);
    return fits ? Plan{Way::Inline, Kind::Any, b, Kind::Any, b} : Plan{Way::Dynamic};
  }
  const auto [first, form] = arithmetic(op);
  const bool constant_first = form == OperandForm::ConstantFirst;
  const Kind b = constant_first ? constant_kind(insn.b) : speculated(before.kinds[insn.b], pc, Seen::First);
  const Kind c = form == OperandForm::Constant    ? constant_kind(insn.c)
                 : form == OperandForm::Immediate ? Kind::Int
                                           : speculated(before.kinds[insn.c], pc, constant_first ? Seen::First : Seen::Second);
  if (!is_number(b) || !is_number(c)) {
    const Kind other = b == Kind::Float ? c : c == Kind::Float ? b : Kind::None;
    const auto operand = b == Kind::Float && !constant_first ? Seen::Second : Seen::First;
    const bool sums = first != Op::IntDiv && first != Op::Mod;
    if (other != Kind::Any || !sums || !has_been_number(pc, operand)) return {Way::Dynamic};
    return {Way::Inline, Kind::Any, b, c, Kind::Float};
  }
  const bool ints = b == Kind::Int && c == Kind::Int;
  if (!ints && (first == Op::IntDiv || first == Op::Mod)) return {Way::Exec, Kind::Any, b, c, Kind::Any};
  if (ints && exited(pc) && first != Op::Div) return {Way::Dynamic};
  return {Way::Inline, Kind::Any, b, c, ints && first != Op::Div ? Kind::Int : Kind::Float};
}

// Now an int and now a float, as what floats are added to that has begun as 0.
bool Kinds::has_been_number(uint32_t pc, Seen::Operand operand) const {
  constexpr uint64_t kNumbers = Seen::of(Tag::Int) | Seen::of(Tag::Float);
  return !exited(pc) && seen(pc).tags(operand) == kNumbers;
}

syntax::BinaryOp Kinds::operator_at(uint32_t pc) const {
  return static_cast<syntax::BinaryOp>(std::bit_cast<uint64_t>(chunk_.at(pc + 1)));
}

// The rarer operators. What is done to the bits of ints never fails, but for counts of shifts.
Plan Kinds::binary_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const syntax::BinaryOp op = operator_at(pc);
  if (op == syntax::BinaryOp::Pow) return power_plan(pc, insn, before);
  const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
  const Kind c = speculated(before.kinds[insn.c], pc, Seen::Second);
  if (!is_on_bits(op) || exited(pc) || b != Kind::Int || c != Kind::Int) return {Way::Exec};
  return {Way::Inline, Kind::Any, b, c, Kind::Int};
}

// A number to a power that is known.
Plan Kinds::power_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const std::optional<int64_t> exponent = loaded_before(pc, insn.c);
  if (!exponent || *exponent < 0 || *exponent > interp::kMostMultiplied) return {Way::Exec};
  const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
  if (!is_number(b) || before.kinds[insn.c] != Kind::Int) return {Way::Exec};
  if (b == Kind::Int && exited(pc)) return {Way::Exec};  // where it overflows
  return {Way::Inline, Kind::Any, b, Kind::Int, b};
}

// The number that the instruction in front has put into the register.
std::optional<int64_t> Kinds::loaded_before(uint32_t pc, uint16_t reg) const {
  uint32_t before = 0;
  for (uint32_t at = 0; at < pc; at += chunk_.length_at(at)) before = at;
  const Insn& insn = chunk_.at(before);
  if (pc == 0 || leaders_[pc] || static_cast<Op>(insn.op) != Op::LoadInt || insn.a != reg) return std::nullopt;
  return insn.imm_b();
}

namespace {

bool is_exact(interp::Borrowed v) { return v.is_int() && v.as_int() >= -kMostExact && v.as_int() <= kMostExact; }

}  // namespace

Plan Kinds::compare_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  if (op == Op::JumpIf || op == Op::LoopIf || op == Op::JumpAnswer) {
    const Kind a = speculated(before.kinds[insn.a], pc, Seen::First);
    return a == Kind::Bool ? Plan{Way::Inline, a} : Plan{Way::Dynamic};
  }
  const bool value = is_in(op, Op::Eq, Op::Ge);
  const Kind left = speculated(before.kinds[value ? insn.b : insn.a], pc, Seen::First);
  const int variant = value ? 0 : (static_cast<int>(op) - static_cast<int>(Op::JumpEq)) % 3;
  const Kind right = variant == 1   ? Kind::Int
                     : variant == 2 ? constant_kind(insn.b)
                                    : speculated(before.kinds[value ? insn.c : insn.b], pc, Seen::Second);
  // A float and an int of the program, which a float can be, too.
  const bool as_floats = left == Kind::Float && (variant == 1 || (variant == 2 && is_exact(chunk_.constants[insn.b])));
  if (!is_number(left) || (left != right && !as_floats)) {
    Plan plan{Way::Dynamic};
    plan.texts = meets_texts(pc, Seen::First) &&
                 (variant == 2 ? chunk_.constants[insn.b].is_short_string() : variant == 0 && meets_texts(pc, Seen::Second));
    return plan;
  }
  return value ? Plan{Way::Inline, Kind::Any, left, right} : Plan{Way::Inline, left, right};
}

Plan Kinds::loop_plan(uint32_t pc, const Insn& insn, const State& before) const {
  switch (static_cast<Op>(insn.op)) {
    case Op::IterRange: {
      const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
      const Kind c = speculated(before.kinds[insn.c], pc, Seen::Second);
      if (b == Kind::Int && c == Kind::Int) return {Way::Inline, Kind::Any, b, c};
      return {Way::Exec};
    }
    case Op::ForRange: {
      const Kind a = speculated(before.kinds[insn.a], pc, Seen::Changed);
      if (a == Kind::Nil) return {Way::Inline, a, Kind::Any, Kind::Any, Kind::Int};
      return {Way::Exec};
    }
    case Op::ForNext: {
      const Kind a = speculated(before.kinds[insn.a], pc, Seen::Changed);
      if (is_list(a)) return {Way::Inline, a, Kind::Any, Kind::Any, a == Kind::Items ? speculated_part(pc) : element_of(a)};
      if (a == Kind::Nil || a == Kind::Bool) return {Way::Inline, a, Kind::Any, Kind::Any, Kind::Int};
      Plan plan{Way::Dynamic};
      plan.texts = meets_texts(pc, Seen::Changed);
      return plan;
    }
    case Op::IterBegin: {
      Kind a = speculated(before.kinds[insn.a], pc, Seen::Changed);
      // Empty lists only. The guard is its own: an empty list will do, whatever its packing.
      if (a == Kind::Any && !exited(pc) && seen(pc).mask(Seen::Changed) == Seen::of(Tag::List)) a = Kind::Items;
      return is_list(a) ? Plan{Way::Inline, Kind::Any, Kind::Any, Kind::Any, a} : Plan{Way::Exec};
    }
    default: return {Way::Exec};
  }
}

Plan Kinds::data_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  if (moves_values(op)) return {Way::Inline};
  switch (op) {
    case Op::LoadUnset:
    case Op::Jump:
    case Op::Loop:
    case Op::TailJump:
    case Op::JumpSet:
    case Op::JumpNil:
    case Op::Return:
    case Op::LoopDone:
    case Op::LoopReturn:
    case Op::Fork:
    case Op::Merge:
    case Op::Rounds:
    case Op::CallbackRounds:
    case Op::CallbackReady: return {Way::Inline};
    case Op::ViewCaptured:
    case Op::GetCaptured: {
      const auto found = captured_.find(insn.b);
      return {Way::Inline, Kind::Any, Kind::Any, Kind::Any, found == captured_.end() ? Kind::Any : found->second};
    }
    case Op::ViewLink:
    case Op::GetLink:
      if (exited(pc)) return {Way::Dynamic};
      return {Way::Inline, Kind::Any, Kind::Any, Kind::Any, speculated_part(pc)};
    case Op::AppendItem: return {Way::Dynamic};
    case Op::CodeAt: {
      if (insn.x & (bytecode::kConsumeB | bytecode::kConsumeC)) return {Way::Exec};
      const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
      const Kind c = speculated(before.kinds[insn.c], pc, Seen::Second);
      return ascii_so_far(pc, b) && c == Kind::Int ? Plan{Way::Inline, Kind::Any, b, c} : text_plan(pc, Kind::Int, {Way::Exec});
    }
    case Op::Swap: {
      const Kind a = speculated(before.kinds[insn.a], pc, Seen::Changed);
      const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
      const Kind c = speculated(before.kinds[insn.c], pc, Seen::Second);
      if (is_list(a) && b == Kind::Int && c == Kind::Int) return {Way::Inline, a, b, c};
      return {Way::Exec};
    }
    case Op::In: {
      if (meets_texts(pc, Seen::Second)) return text_plan(pc, Kind::Bool, {Way::Exec});
      return map_plan(pc, Seen::Second, Kind::Bool, {Way::Exec});
    }
    case Op::CallNative: return intrinsic_plan(pc, insn, before);
    case Op::Len: {
      if (before.kinds[insn.b] == Kind::UnboxedList) return {Way::Inline, Kind::Any, Kind::UnboxedList, Kind::Any, Kind::Int};
      // What a call has just made may well be empty, of no packing yet; its length needs none.
      const bool made = insn.x & bytecode::kConsumeB;
      const Kind b = made ? before.kinds[insn.b] : speculated(before.kinds[insn.b], pc, Seen::First);
      if (is_list(b) || ascii_so_far(pc, b)) return {Way::Inline, Kind::Any, b, Kind::Any, Kind::Int};
      return text_plan(pc, Kind::Int, {Way::Dynamic, Kind::Any, Kind::Any, Kind::Any, Kind::Int});
    }
    default: return container_plan(pc, insn, before);
  }
}

interp::Intrinsic Kinds::intrinsic(uint32_t pc) const {
  return exited(pc) ? interp::Intrinsic::None : intrinsic_called(chunk_, pc, seen(pc));
}

// The profile has one mask for all arguments.
Kind Kinds::speculated_argument(uint32_t pc, uint32_t n, const State& before) const {
  const uint32_t reg = chunk_.at(pc).a + 2U + n;
  if (pinned(reg)) return Kind::Any;
  if (chunk_.op_at(pc) == Op::CallNative) return speculated(before.kinds[reg], pc, Seen::First);
  return before.kinds[reg] == Kind::Any ? speculated_part(pc) : before.kinds[reg];
}

// Operand a stands for the first argument, operand c for the second, if that may be of another kind.
Plan Kinds::intrinsic_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const interp::Intrinsic which = intrinsic(pc);
  if (is_of_floats(which, insn.c)) return float_plan(pc, insn, before);
  Kind argument = Kind::None;
  for (uint32_t n = 0; n < insn.c; ++n) argument = joined(argument, speculated_argument(pc, n, before));
  const auto result = intrinsic_result(which, argument, insn.c);
  if (!result) return {Way::Exec};
  return {Way::Inline, argument, Kind::Any, Kind::Any, *result};
}

Plan Kinds::float_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Kind first = speculated_argument(pc, 0, before);
  const Kind second = insn.c == 2 ? speculated_argument(pc, 1, before) : Kind::Any;
  if (!is_number(first) || (insn.c == 2 && !is_number(second))) return {Way::Exec};
  return {Way::Inline, first, Kind::Any, second, Kind::Float};
}

// ---- effects ----

State Kinds::after(uint32_t pc, const Plan& plan, const State& before) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  State state = before;
  if (plan.way == Way::Exec) return left_to_exec(pc, plan, std::move(state));
  const bytecode::OpInfo& known = bytecode::info(op);
  if (plan.way == Way::Inline) {
    auto refine = [&](char kind, uint16_t reg, Kind to) {
      if ((kind == 'R' || kind == 'V') && to != Kind::Any && !pinned(reg)) state.kinds[reg] = to;
    };
    refine(known.a, insn.a, plan.a);
    if (known.b != 'W') refine(known.b, insn.b, plan.b);
    refine(known.c, insn.c, plan.c);
    if (inlined(pc)) pass_back(pc, insn, state);
  }
  if (plan.way == Way::Dynamic) forget_consumed(pc, state);
  return moved(pc, plan, std::move(state));
}

namespace {

// Read, and not changed in place.
bool is_operand(const Insn& insn, uint32_t reg) {
  const bytecode::OpInfo& known = bytecode::info(static_cast<Op>(insn.op));
  if (known.a == 'R' && insn.a == reg) return true;
  if (known.b == 'W') return false;
  return (known.b == 'R' && insn.b == reg) || (known.c == 'R' && insn.c == reg);
}

// What has fields keeps them while one of them is replaced, or while something within it is.
bool keeps_shape(Op op) {
  return op == Op::SetField || op == Op::PlaceLocal || is_in(op, Op::StoreIndex, Op::StoreField) ||
         is_in(op, Op::UpdateIndex, Op::UpdateField) || is_in(op, Op::TakeIndex, Op::TakeField);
}

}  // namespace

// Where the fast paths do not fit, exec consumes counted operands, which are nil then.
void Kinds::forget_consumed(uint32_t pc, State& state) const {
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; each.read && each.written && reg < each.first + each.count; ++reg) {
      if (pinned(reg) || !is_counted(state.kinds[reg]) || !is_operand(chunk_.at(pc), reg)) continue;
      state.know(reg, Kind::Any);
    }
  });
}

State Kinds::left_to_exec(uint32_t pc, const Plan& plan, State state) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  const char kind = bytecode::info(op).a;
  auto changed = [&](uint32_t reg, bool in_place) {
    if (pinned(reg)) return;
    const bool stays = in_place && has_fields(state.kinds[reg]) && keeps_shape(op);
    state.set(reg, stays ? Known(state.kinds[reg], state.shapes[reg]) : Kind::Any, false);
  };
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; reg < each.first + each.count; ++reg) {
      if (each.written) changed(reg, kind == 'V' && reg == insn.a);
      state.dirty.remove(reg);
    }
  });
  if (const auto root = walk_root(pc)) changed(*root, true);
  take_back(pc, insn, state);
  // A direct call has its result in registers.
  if ((kind == 'D' || kind == 'U') && !pinned(insn.a)) {
    state.set(insn.a, plan.result, is_in(op, Op::CallKnown, Op::CallValue));
  }
  return state;
}

// Of instructions that are not left to exec.
State Kinds::moved(uint32_t pc, const Plan& plan, State state) const {
  const Insn& insn = chunk_.at(pc);
  auto set = [&](uint32_t reg, Kind kind) {
    if (!pinned(reg)) state.set(reg, kind, true);
  };
  auto copy = [&](uint32_t reg, uint32_t from) {
    if (!pinned(reg)) state.set(reg, state.known(from), true);
  };
  switch (static_cast<Op>(insn.op)) {
    case Op::LoadNil: set(insn.a, Kind::Nil); break;
    case Op::LoadBool: set(insn.a, Kind::Bool); break;
    case Op::LoadInt:
    case Op::LoadQuanta: set(insn.a, Kind::Int); break;
    case Op::LoadConst: set(insn.a, constant_kind(insn.b)); break;
    case Op::Copy:
      copy(insn.a, insn.b);
      if (is_unboxed(state.kinds[insn.a])) state.copies.push_back({insn.a, insn.b});
      break;
    case Op::Move:
      copy(insn.a, insn.b);
      set(insn.b, Kind::Nil);
      break;
    case Op::Store:
      if (insn.a == insn.b) break;
      copy(insn.a, insn.b);
      if (insn.x & bytecode::kConsumeB) set(insn.b, Kind::Nil);
      break;
    case Op::Drop: set(insn.a, Kind::Nil); break;
    case Op::DropRange:
      for (uint32_t n = 0; n < insn.b; ++n) set(insn.a + n, Kind::Nil);
      break;
    case Op::IterRange:
      set(insn.a, Kind::Nil);
      set(insn.a + 1U, Kind::Int);
      set(insn.a + 2U, Kind::Int);
      break;
    case Op::IterBegin:
      set(insn.a, plan.result);
      set(insn.a + 1U, Kind::Int);
      // Where it is a map, and its items are taken apart, that may become a pair.
      set(insn.a + 2U, plan.way == Way::Exec && (insn.x & bytecode::kSense) ? Kind::Any : Kind::Int);
      break;
    case Op::AppendItem: {
      // An item that does not fit takes the packing away.
      const Kind list = state.kinds[insn.a];
      const bool fits = is_packed(list) && state.kinds[insn.b] == element_of(list);
      if (!fits && !pinned(insn.a)) state.kinds[insn.a] = Kind::Any;
      if (leaves_nil(insn, state.kinds[insn.b])) set(insn.b, Kind::Nil);
      break;
    }
    case Op::Len:
      if (insn.x & bytecode::kConsumeB) set(insn.b, Kind::Nil);
      set(insn.a, plan.result);
      break;
    case Op::CodeAt: set(insn.a, plan.result); break;
    case Op::ForRange:
    case Op::ForNext:
      set(insn.a + 1U, Kind::Int);
      if (state.kinds[insn.a + 2U] != Kind::Int) set(insn.a + 2U, Kind::Any);
      set(insn.b, plan.result);
      break;
    default: part_moved(pc, plan, state);
  }
  return state;
}

}  // namespace posset::jit
