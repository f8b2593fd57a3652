// Which records are kept unboxed, that is as their fields, and where they become objects: part of kinds.h. How that is done
// is in translate_unboxed.cpp.
//
// A record is unboxed when all of its fields are known to be numbers or bools where it is made. It stays so while it is
// moved, passed to what is inlined, or asked for a field; any other instruction gets an object. Where ways meet it is
// unboxed if it is so on all of them, with fields of the same kinds (joined()).
#include <algorithm>

#include "interp/value/objects.h"
#include "interp/value/shape.h"
#include "jit/kinds.h"

namespace posset::jit {

using bytecode::Insn;
using bytecode::Op;

// ---- making and reading ----

// Unboxed where all of its fields are known to be numbers or bools.
Plan Kinds::record_plan(const Insn& insn, const State& before) const {
  const interp::Shape& shape = *chunk_.shapes[insn.c];
  const auto count = static_cast<uint32_t>(shape.fields.size());
  Plan plan{Way::Dynamic, Kind::Any, Kind::Any, Kind::Any, Kind::Record, shape.id};
  bool plain = shared_->unboxes && !pinned(insn.a) && count > 0 && count <= interp::FieldKinds::kFields;
  for (uint32_t n = 0; n < count; ++n) {
    const uint32_t reg = insn.b + n;
    const uint16_t told = pinned(reg) ? uint16_t{0} : field_of_kind(n, before.kinds[reg]);
    plan.fields |= told;
    plain &= told != 0;
  }
  if (!plain) return plan;
  plan.way = Way::Inline;
  plan.result = Kind::Unboxed;
  return plan;
}

// The fields of such a record are all known.
Plan Kinds::unboxed_field_plan(uint16_t cache, const Known& base, const Plan& otherwise) const {
  Plan plan{Way::Inline, Kind::Any, base.kind};
  if (!find_field(cache, base.shape, Kind::Record, plan)) return otherwise;
  plan.result = field_kind(base.fields, plan.field);
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
    case Op::TestType:
    case Op::CheckParam:
    case Op::CheckType: return true;
    case Op::SetField: return reg == insn.a && before.kinds[insn.c] != Kind::Unboxed;
    case Op::CallKnown:
    case Op::CallLink:
    case Op::CallValue: return reg >= insn.a + 2U && reg < insn.a + 2U + insn.c;
    default: return false;
  }
}

std::vector<Kinds::Boxing> Kinds::to_box(uint32_t pc, const State& before) const {
  std::vector<Boxing> found;
  if (std::find(before.kinds.begin(), before.kinds.end(), Kind::Unboxed) == before.kinds.end()) return found;
  const Plan todo = plan(pc, before);
  auto add = [&](uint32_t reg, uint32_t source) {
    const bool known = std::any_of(found.begin(), found.end(), [&](const Boxing& each) { return each.reg == reg; });
    if (!known && before.kinds[reg] == Kind::Unboxed) found.push_back({reg, source});
  };
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; each.read && reg < each.first + each.count; ++reg) {
      if (before.kinds[reg] != Kind::Unboxed || takes_unboxed(pc, todo, before, reg)) continue;
      const auto source = before.copied_from(reg);
      const bool is_copy = source && live(pc, *source);
      if (is_copy) add(*source, *source);
      add(reg, is_copy ? *source : reg);
    }
  });
  return found;
}

void Kinds::box(const std::vector<Boxing>& all, State& state) {
  for (const Boxing& each : all) {
    state.set(each.reg, {Kind::Record, state.shapes[each.reg], state.fields[each.reg]}, true);
  }
}

}  // namespace posset::jit
