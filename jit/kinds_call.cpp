// Which calls are inlined, and what is then known behind them: part of kinds.h. A call is inlined when the
// profile has seen one callee, whose body is small and has no handlers of its own; what is made of it is said in
// translate_inline.cpp. A function is inlined into itself a few times, which saves most of the calls of a
// recursion with a small body.
#include <algorithm>
#include <bit>

#include "interp/syntax/ast.h"
#include "jit/kinds.h"

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;
using bytecode::Seen;

namespace {

// Instructions.
constexpr uint32_t kLargestCallee = 80;
constexpr uint32_t kDeepest = 6;
// A function within itself, so often.
constexpr uint32_t kMostRecursion = 2;

uint64_t marks_of(const Insn* call, const Chunk& body) {
  return static_cast<Op>(call->op) == Op::CallKnown ? body.inout_mask : std::bit_cast<uint64_t>(call[1]);
}

}  // namespace

bool Kinds::is_recursive(uint32_t pc) const {
  const auto found = callees_.find(pc);
  return found != callees_.end() && found->second.recursive;
}

bool Kinds::can_inline(uint32_t pc, const Insn& insn, const Chunk& body) const {
  if (!body.outline.takes(insn.c) || body.is_loop || !body.regions.empty() || marks_of(&insn_at(pc), body) != body.inout_mask) return false;
  uint32_t deep = 0, within_itself = 0;
  for (const Kinds* each = this; each; each = each->caller_) {
    ++deep;
    within_itself += &each->chunk_ == &body;
  }
  if (deep > kDeepest || within_itself > kMostRecursion) return false;
  return body.size <= kLargestCallee && body.size <= shared_->budget;
}

Kinds::Callee& Kinds::callee_at(uint32_t pc, const Insn& insn) const {
  const auto [found, fresh] = callees_.try_emplace(pc);
  Callee& callee = found->second;
  if (!fresh) return callee;
  const Seen seen = this->seen(pc);
  if (seen.callee() == 0 || (seen.word & Seen::kExited)) return callee;
  const Chunk* body = shared_->bodies(seen.callee());
  callee.recursive = body == &outermost() && static_cast<Op>(insn.op) == Op::CallKnown && body->outline.takes(insn.c);
  shared_->recursive |= callee.recursive;
  if (!body || !can_inline(pc, insn, *body)) return callee;
  callee.unit = seen.callee();
  callee.body = body;
  shared_->budget -= body->size;
  return callee;
}

Plan Kinds::call_plan(uint32_t pc, const Insn& insn, const State& before) const {
  Callee& callee = callee_at(pc, insn);
  if (!callee.body) return {Way::Exec};
  std::vector<Kind> arguments(insn.c);
  for (uint32_t n = 0; n < insn.c; ++n) {
    const Kind kind = before.kinds[insn.a + 2U + n];
    arguments[n] = kind == Kind::None ? Kind::Any : kind;
  }
  if (!callee.kinds || callee.arguments != arguments) {
    callee.arguments = arguments;
    callee.kinds.reset(new Kinds(*callee.body, *this, std::move(arguments)));
  }
  // What never comes back would be code for exits only.
  if (!callee.kinds->returned_.reached) return {Way::Exec};
  return {Way::Inline, Kind::Any, Kind::Any, Kind::Any, callee.kinds->returned_.value};
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
    state.set(insn.a + 2U + n, lent ? callee.returned_.slots[n] : Kind::Nil, true);
  }
}

void Kinds::note_return(const Insn& insn, const State& state) {
  returned_.reached = true;
  auto known = [&](uint32_t reg) { return pinned(reg) ? Kind::Any : state.kinds[reg]; };
  returned_.value = joined(returned_.value, known(insn.a));
  for (uint32_t slot = 0; slot < chunk_.slots; ++slot) {
    returned_.slots[slot] = joined(returned_.slots[slot], known(slot));
  }
}

uint32_t Kinds::extent() const {
  uint32_t most = chunk_.registers;
  for (const auto& [pc, callee] : callees_) {
    if (callee.kinds) most = std::max(most, insn_at(pc).a + 2U + callee.kinds->extent());
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

void Kinds::for_each_inlined(const std::function<void(uint32_t unit, const Chunk&)>& visit) const {
  for (const auto& [pc, callee] : callees_) {
    if (!callee.kinds) continue;
    visit(callee.unit, *callee.body);
    callee.kinds->for_each_inlined(visit);
  }
}

}  // namespace posset::jit
