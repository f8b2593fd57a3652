// The operand profile: which types each instruction has met, for the tiers above and for `explain`.
#include <algorithm>

#include "bytecode/vm.h"

namespace posset::bytecode {

namespace {

// These look into their operands themselves. Others may name a register that holds what has long been freed:
// the first of no items, the variable of a loop to come.
bool looks_inside(Op op) {
  switch (op) {
    case Op::Index:
    case Op::ViewIndex:
    case Op::Len:
    case Op::SetIndex:
    case Op::PlaceLocal:
    case Op::IterBegin:
    case Op::ForRange:
    case Op::ForNext: return true;
    default: return false;
  }
}

uint64_t bits_of(Borrowed v, bool inside) {
  uint64_t bits = Seen::of(v.tag());
  if (inside && v.is_list()) bits |= Seen::of(v.as<interp::List>()->packing());
  return bits;
}

uint64_t seen_by(const Insn& insn, const Borrowed* registers) {
  const OpInfo& op = info(static_cast<Op>(insn.op));
  const bool inside = looks_inside(static_cast<Op>(insn.op));
  uint64_t seen = 0;
  int next = Seen::First;
  auto note = [&](char kind, uint16_t reg) {
    if (kind == 'V') seen |= bits_of(registers[reg], inside) << (Seen::kBits * Seen::Changed);
    if (kind == 'R' && next <= Seen::Second) seen |= bits_of(registers[reg], inside) << (Seen::kBits * next++);
  };
  note(op.a, insn.a);
  if (op.b != 'W') {
    note(op.b, insn.b);
    note(op.c, insn.c);
  }
  return seen;
}

// Whom a call of a closure is about to call; null: something else, or no call.
const Function* callee_of(const Insn& insn, const Borrowed* registers, const Function& function) {
  const Op op = static_cast<Op>(insn.op);
  if (op != Op::CallKnown && op != Op::CallLink && op != Op::CallValue) return nullptr;
  const Borrowed callee = op == Op::CallValue ? registers[insn.b] : *function.links[insn.b];
  return callee.is(interp::Tag::Fn) ? callee.as<Closure>()->function : nullptr;
}

uint64_t with_callee(uint64_t before, uint32_t unit) {
  const uint64_t known = before >> Seen::kCallee & UINT32_MAX;
  if (known != 0 && known != unit) return Seen::kSeveralCallees;
  return uint64_t{unit} << Seen::kCallee;
}

// Beyond its budget a chunk goes on recording until a further tier has been asked for, within bounds: its
// executions are counted as long as it records.
constexpr int32_t kLongestRecording = 1000000;

bool goes_on(const Chunk& chunk, int32_t left, const Function& function) {
  if (left > 0) return true;
  return left > -kLongestRecording && chunk.runtime->control.may_promote(function.unit->counted(chunk.loop));
}

}  // namespace

bool record(Chunk& chunk, const Insn* pc, const Borrowed* registers, const Function& function) {
  uint32_t at = chunk.index_of(pc);
  // Bit 63: has run, even without operands.
  const Insn& insn = chunk.code[at + chunk.size];
  uint64_t seen = seen_by(insn, registers) | Seen::kRan;
  std::atomic<uint64_t>& slot = chunk.profile[at];
  const uint64_t before = slot.load(std::memory_order_relaxed);
  if (const Function* callee = callee_of(insn, registers, function)) seen |= with_callee(before, callee->unit->number);
  if ((before | seen) != before) slot.store(before | seen, std::memory_order_relaxed);
  int32_t left = chunk.recording_budget.load(std::memory_order_relaxed) - 1;
  chunk.recording_budget.store(left, std::memory_order_relaxed);
  if (goes_on(chunk, left, function)) return false;
  const Insn* recording = chunk.code.get();  // unless there is native code meanwhile
  chunk.entry.compare_exchange_strong(recording, chunk.code.get() + chunk.size, std::memory_order_relaxed);
  return true;
}

namespace {

std::string mask_text(uint64_t mask) {
  std::string out;
  std::string_view last;
  for (uint32_t tag = 0; tag < 16; ++tag) {
    if (!(mask >> tag & 1)) continue;
    std::string_view name = interp::type_name(static_cast<interp::Tag>(tag));
    if (name == last) continue;
    if (!out.empty()) out += "|";
    out += tag == 15 ? "other" : name;
    last = name;
  }
  return out;
}

}  // namespace

std::string types_seen(const Chunk& chunk) {
  std::string out;
  for (uint32_t at = 0; at < chunk.size; ++at) {
    const Seen seen{chunk.profile[at].load(std::memory_order_relaxed)};
    if (!seen.tags(Seen::First)) continue;
    const Insn& insn = chunk.code[at + chunk.size];
    out += std::to_string(at) + " " + info(static_cast<Op>(insn.op)).name + " " + mask_text(seen.tags(Seen::First));
    if (static_cast<Op>(insn.op) != Op::CallValue && seen.tags(Seen::Second)) out += ", " + mask_text(seen.tags(Seen::Second));
    out += "\n";
  }
  return out;
}

}  // namespace posset::bytecode
