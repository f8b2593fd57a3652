// Which records and lists are kept unboxed, that is as their parts, and where they become objects: part of kinds.h. How that
// is done is in translate_unboxed.cpp.
//
// One is unboxed when all of its few parts are known to be numbers or bools where it is made. It stays so while it is
// moved, passed to what is inlined, or asked for a part that is known when code is made; any other instruction gets an
// object. Where ways meet it is unboxed if it is so on all of them, with parts of the same kinds (joined()).
#include <algorithm>

#include "interp/value/objects.h"
#include "interp/value/shape.h"
#include "jit/kinds.h"

namespace posset::jit {

using bytecode::Insn;
using bytecode::Op;

// ---- making and reading ----

// What parts that are all known to be numbers or bools are; nothing: some are not, or there are too many of them.
std::optional<uint16_t> Kinds::parts_made(uint16_t first, uint32_t count, const State& before) const {
  if (!shared_->unboxes || count == 0 || count > interp::FieldKinds::kFields) return std::nullopt;
  uint16_t told = 0;
  for (uint32_t n = 0; n < count; ++n) {
    const uint16_t part = pinned(first + n) ? uint16_t{0} : field_of_kind(n, before.kinds[first + n]);
    if (part == 0) return std::nullopt;
    told |= part;
  }
  return told;
}

Plan Kinds::record_plan(const Insn& insn, const State& before) const {
  const interp::Shape& shape = *chunk_.shapes[insn.c];
  Plan plan{Way::Dynamic, Kind::Any, Kind::Any, Kind::Any, Kind::Record, shape.id};
  const auto parts = parts_made(insn.b, static_cast<uint32_t>(shape.fields.size()), before);
  if (!parts) return plan;
  plan.fields = *parts;
  if (pinned(insn.a)) return plan;
  plan.way = Way::Inline;
  plan.result = Kind::UnboxedRecord;
  return plan;
}

Plan Kinds::list_plan(const Insn& insn, const State& before) const {
  const auto parts = pinned(insn.a) ? std::nullopt : parts_made(insn.b, insn.c, before);
  if (parts) {
    Plan plan{Way::Inline, Kind::Any, Kind::Any, Kind::Any, Kind::UnboxedList};
    plan.fields = *parts;
    return plan;
  }
  const Kind made = packing_made(insn, before);
  return {made == Kind::Any ? Way::Exec : Way::Dynamic, Kind::Any, Kind::Any, Kind::Any, made};
}

// The fields of such a record are all known.
Plan Kinds::unboxed_field_plan(uint16_t cache, const Known& base, const Plan& otherwise) const {
  Plan plan{Way::Inline, Kind::Any, base.kind};
  if (!find_field(cache, base.shape, Kind::Record, plan)) return otherwise;
  plan.result = field_kind(base.fields, plan.field);
  return plan;
}

// An item at a place that the instruction before has loaded.
Plan Kinds::unboxed_list_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const auto index = loaded_before(pc, insn.c);
  return index ? unboxed_item_plan(*index, before.known(insn.b)) : Plan{Way::Dynamic};
}

Plan Kinds::unboxed_item_plan(int64_t index, const Known& list) const {
  if (index < 0 || index >= int64_t{count_parts(list.fields)}) return {Way::Dynamic};
  Plan plan{Way::Inline, Kind::Any, list.kind};
  plan.field = static_cast<uint32_t>(index);
  plan.result = field_kind(list.fields, plan.field);
  return plan;
}

// ---- becoming objects ----

// In that register.
bool Kinds::takes_unboxed(uint32_t pc, const Plan& plan, const State& before, uint32_t reg) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  if (plan.way == Way::Exit) return true;  // which boxes it for the frame
  if (op == Op::Return) return caller_ || (reg != insn.a && !(reg < 64 && (chunk_.inout_mask >> reg & 1)));
  if (moves_values(op) || op == Op::JumpNil || op == Op::JumpSet) return true;
  if (plan.way != Way::Inline) return false;
  switch (op) {
    case Op::Field:
    case Op::ViewField:
    case Op::TestField:
    case Op::TestRecord:
    case Op::TestList:
    case Op::Index:
    case Op::ViewIndex:
    case Op::Len:
    case Op::TestType:
    case Op::CheckParam:
    case Op::CheckType: return true;
    case Op::ViewItem: return insn.c != bytecode::kNoRegister;
    case Op::SetField: return reg == insn.a && !is_unboxed(before.kinds[insn.c]);
    case Op::CallKnown:
    case Op::CallLink:
    case Op::CallValue: return reg >= insn.a + 2U && reg < insn.a + 2U + insn.c && !callees_.at(pc).boxes;
    default: return false;
  }
}

// Whether the instruction is in a loop, and none in the innermost writes the register.
bool Kinds::stays_in_loop(uint32_t pc, uint32_t reg) const {
  uint32_t head = 0, latch = UINT32_MAX;
  for (uint32_t at = pc; at < chunk_.size; at += chunk_.length_at(at)) {
    const bool branches = bytecode::info(chunk_.op_at(at)).flags & bytecode::Branch;
    if (!branches || chunk_.target_at(at) > pc || (latch != UINT32_MAX && chunk_.target_at(at) <= head)) continue;
    head = chunk_.target_at(at);
    latch = at;
  }
  bool stays = latch != UINT32_MAX;
  for (uint32_t at = head; stays && at <= latch; at += chunk_.length_at(at)) {
    for_each_access(chunk_, at, [&](const Access& each) {
      stays &= !(each.written && reg >= each.first && reg < each.first + each.count);
    });
  }
  return stays;
}

std::vector<Kinds::Boxing> Kinds::to_box(uint32_t pc, const State& before) const {
  std::vector<Boxing> found;
  if (std::none_of(before.kinds.begin(), before.kinds.end(), is_unboxed)) return found;
  const Plan todo = plan(pc, before);
  auto add = [&](uint32_t reg, uint32_t source) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const Boxing& each) { return each.reg == reg; });
    if (!known && is_unboxed(before.kinds[reg])) found.push_back({reg, source});
  };
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; each.read && reg < each.first + each.count; ++reg) {
      if (!is_unboxed(before.kinds[reg]) || takes_unboxed(pc, todo, before, reg)) continue;
      const auto source = before.copied_from(reg);
      const bool is_copy = source && live(pc, *source) && stays_in_loop(pc, *source);
      if (is_copy) add(*source, *source);
      add(reg, is_copy ? *source : reg);
    }
  });
  return found;
}

void Kinds::box(const std::vector<Boxing>& all, State& state) {
  for (const Boxing& each : all) state.set(each.reg, boxed(state.known(each.reg)), true);
}

}  // namespace posset::jit
