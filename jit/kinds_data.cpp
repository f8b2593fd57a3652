// Plans for what looks into containers: fields by the shape that the inline cache has seen, patterns, walks to
// places. See kinds.h.
//
// A walk (PlaceLocal, steps, an end) is done in place as a whole or not at all: its steps only look, everything
// that may not fit is found before its end changes anything, and then the walk exits at its beginning. So the
// walk needs no pointer that a tier could see, only the container it has come to (State::place), and every
// container on its way must have no other owner: copying a shared one is left to exec or to bytecode.
#include <algorithm>
#include <bit>
#include <utility>

#include "interp/syntax/ast.h"
#include "interp/value/objects.h"
#include "interp/value/shape.h"
#include "jit/kinds.h"

namespace posset::jit {

using bytecode::Insn;
using bytecode::Op;
using bytecode::Seen;
using bytecode::SeenInside;
using syntax::BinaryOp;

Plan Kinds::container_plan(uint32_t pc, const Insn& insn, const State& before) const {
  switch (static_cast<Op>(insn.op)) {
    case Op::Index:
    case Op::ViewIndex: return index_plan(pc, insn, before);
    case Op::Has: return map_plan(pc, Seen::First, Kind::Bool, {Way::Exec});
    case Op::Field:
    case Op::ViewField:
    case Op::TestField: return read_field_plan(pc, insn, before);
    case Op::SetField: return set_field_plan(pc, insn, before);
    case Op::SetIndex: return set_index_plan(pc, insn, before);
    case Op::TestRecord:
    case Op::TestVariant:
    case Op::TestList:
    case Op::TestConst: return test_plan(pc, insn, before);
    case Op::TestType:
    case Op::CheckParam:
    case Op::CheckType: return type_plan(pc, insn, before);
    case Op::ViewItem: return view_item_plan(pc, insn, before);
    case Op::PlaceLocal:
    case Op::PlaceRef: return walk_plan(pc, before);
    case Op::MakeRecord:
    case Op::MakeVariant:
    case Op::MakeList:
    case Op::Push: return make_plan(insn, before);
    case Op::NewList:
    case Op::NewListFor: return new_list_plan(pc, insn);
    case Op::Pop: return pop_plan(pc, insn, before);
    default: return step_plan(pc, before);
  }
}

// ---- elements and keys ----

bool Kinds::meets_maps(uint32_t pc, Seen::Operand operand) const { return seen(pc).tags(operand) == Seen::of(interp::Tag::Map); }

// What looks a key up.
Plan Kinds::map_plan(uint32_t pc, Seen::Operand container, Kind result, Plan otherwise) const {
  if (!meets_maps(pc, container)) return otherwise;
  Plan plan{Way::Dynamic, Kind::Any, Kind::Any, Kind::Any, result};
  plan.maps = true;
  return plan;
}

Plan Kinds::index_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  if (before.kinds[insn.b] == Kind::UnboxedList) return unboxed_list_plan(pc, insn, before);
  const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
  const Kind c = speculated(before.kinds[insn.c], pc, Seen::Second);
  if ((insn.x & bytecode::kConsumeB) && (!is_list(b) || c != Kind::Int)) return map_plan(pc, Seen::First, Kind::Any, {Way::Exec});
  // Its slot is not pinned, because the profile knows of lists only.
  const bool lists_only = op == Op::ViewIndex && (insn.x & bytecode::kHolds) && looks_into_lists(pc);
  if (lists_only && (!is_list(b) || c != Kind::Int)) return {Way::Exit};
  if (ascii_so_far(pc, b) && c == Kind::Int) return {Way::Inline, Kind::Any, b, c};
  if (!is_list(b) || c != Kind::Int) return map_plan(pc, Seen::First, Kind::Any, text_plan(pc, Kind::Any, {Way::Dynamic}));
  return {Way::Inline, Kind::Any, b, c, b == Kind::Items ? speculated_part(pc) : element_of(b)};
}

// ---- fields ----

uint16_t field_mask(uint32_t field) { return static_cast<uint16_t>(interp::FieldKinds::mask(field)); }

uint16_t field_of_kind(uint32_t field, Kind kind) {
  using interp::FieldKinds;
  const uint32_t of = kind == Kind::Int     ? FieldKinds::kInt
                      : kind == Kind::Float ? FieldKinds::kFloat
                      : kind == Kind::Bool  ? FieldKinds::kBool
                                            : FieldKinds::kAny;
  return static_cast<uint16_t>(FieldKinds::at(field, of));
}

Kind field_kind(uint16_t known, uint32_t field) {
  using interp::FieldKinds;
  switch (known >> (2 * field) & 3) {
    case FieldKinds::kInt: return Kind::Int;
    case FieldKinds::kFloat: return Kind::Float;
    case FieldKinds::kBool: return Kind::Bool;
    default: return Kind::Any;
  }
}

// Where a field is in what the register is known to be, or else in what the cache has seen.
bool Kinds::find_field(uint16_t cache, uint32_t known_shape, Kind base, Plan& plan) const {
  const uint64_t seen = caches_[cache];
  if (known_shape == kNoShape) {
    if (seen == UINT64_MAX) return false;
    known_shape = static_cast<uint32_t>(seen >> 32);
  }
  const interp::Shape* shape = chunk_.runtime->shapes.shape(known_shape);
  const auto& names = shape->fields;
  const auto found = std::find(names.begin(), names.end(), chunk_.caches[cache]->name);
  if (found == names.end() || shape->is_variant() != (base == Kind::Variant)) return false;
  plan.shape = known_shape;
  plan.field = static_cast<uint32_t>(found - names.begin());
  return true;
}

// What the instruction reads of a record in the register that has the shape; 0: nothing plain.
uint16_t Kinds::field_read(uint32_t pc, uint16_t reg, uint32_t shape) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  Plan plan;
  uint16_t cache = insn.c;
  if (op == Op::PlaceLocal) {
    const uint32_t next = pc + chunk_.length_at(pc);
    if (insn.a != reg || chunk_.op_at(next) != Op::UpdateField) return 0;
    pc = next;
    cache = chunk_.at(next).a;
  } else if (op == Op::TestField) {
    cache = static_cast<uint16_t>(std::bit_cast<uint64_t>(chunk_.at(pc + 1)));
  } else if (op != Op::Field && op != Op::ViewField) {
    return 0;
  }
  if (op != Op::PlaceLocal && insn.b != reg) return 0;
  const bool is_variant = chunk_.runtime->shapes.shape(shape)->is_variant();
  if (exited(pc) || !find_field(cache, shape, is_variant ? Kind::Variant : Kind::Record, plan)) return 0;
  return field_of_kind(plan.field, speculated_part(pc));
}

// To the next instruction and nowhere else, unless it exits or raises.
bool Kinds::goes_on_behind(uint32_t pc) const {
  const Op op = chunk_.op_at(pc);
  const uint32_t next = pc + chunk_.length_at(pc);
  const bool ends = bytecode::info(op).flags & (bytecode::Branch | bytecode::Ends);
  return next < chunk_.size && !(leaders_[next] & kJumpedTo) && (!ends || op == Op::TestField);
}

// What is sure to be read of the record before it is another one, `first` and more.
uint16_t Kinds::fields_read_soon(uint32_t pc, uint16_t reg, uint32_t shape, uint16_t first) const {
  constexpr uint32_t kFurthest = 64;
  uint16_t known = first;
  const uint32_t end = pc + kFurthest;
  while (pc < end && goes_on_behind(pc)) {
    pc += chunk_.length_at(pc);
    const Op op = chunk_.op_at(pc);
    bool written = op == Op::SetField && chunk_.at(pc).a == reg;
    for_each_access(chunk_, pc, [&](const Access& each) {
      written |= each.written && each.first <= reg && reg < each.first + each.count;
    });
    const uint16_t read = field_read(pc, reg, shape);
    if (!(fields_told(known) & fields_told(read))) known |= read;
    if (op == Op::PlaceLocal && read) pc += chunk_.length_at(pc);
    else if (written) break;
  }
  return known == first ? 0 : known;
}

Plan Kinds::read_field_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  const uint16_t cache = op == Op::TestField ? static_cast<uint16_t>(std::bit_cast<uint64_t>(chunk_.at(pc + 1))) : insn.c;
  const Plan otherwise{op == Op::Field && (insn.x & bytecode::kConsumeB) ? Way::Exec : Way::Dynamic};
  const Kind base = speculated(before.kinds[insn.b], pc, Seen::First);
  if (base == Kind::UnboxedRecord) return unboxed_field_plan(cache, before.known(insn.b), otherwise);
  if (op != Op::TestField && chunk_.caches[cache]->name->text == "value" && is_ref(pc, insn.b, before)) {
    return {Way::Inline, Kind::Any, Kind::Ref, Kind::Any, speculated_part(pc)};
  }
  if (exited(pc) || !has_fields(base)) return otherwise;
  // Where it is only asked whether the field is there, nothing is expected of it.
  const bool is_read = op != Op::TestField || live(pc + chunk_.length_at(pc), insn.a);
  Plan plan{Way::Inline, Kind::Any, base, Kind::Any, is_read ? speculated_part(pc) : Kind::Any};
  if (!find_field(cache, before.shapes[insn.b], base, plan)) return otherwise;
  const uint16_t told = field_of_kind(plan.field, plan.result);
  const bool consumes = op == Op::Field && (insn.x & bytecode::kConsumeB);
  if (told && !consumes && !tells(before.fields[insn.b], told)) plan.together = fields_read_soon(pc, insn.b, plan.shape, told);
  return plan;
}

Plan Kinds::set_field_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Kind base = speculated(before.kinds[insn.a], pc, Seen::Changed);
  if (base == Kind::UnboxedRecord) {
    Plan plan{Way::Inline, base};
    const bool stays = !pinned(insn.c) && field_of_kind(0, before.kinds[insn.c]);
    return stays && find_field(insn.b, before.shapes[insn.a], Kind::Record, plan) ? plan : Plan{Way::Dynamic};
  }
  if (exited(pc) || !has_fields(base)) return {Way::Dynamic};
  Plan plan{Way::Inline, base};
  return find_field(insn.b, before.shapes[insn.a], base, plan) ? plan : Plan{Way::Dynamic};
}

Plan Kinds::set_index_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Kind a = speculated(before.kinds[insn.a], pc, Seen::Changed);
  const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
  const Kind c = speculated(before.kinds[insn.c], pc, Seen::Second);
  if (exited(pc) || !is_list(a) || b != Kind::Int) return {Way::Dynamic};
  if (a == Kind::Items) return {Way::Inline, a, b};
  return c == element_of(a) ? Plan{Way::Inline, a, b, c} : Plan{Way::Dynamic};
}

// ---- patterns ----

Plan Kinds::test_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  const Kind a = speculated(before.kinds[insn.a], pc, Seen::First);
  bool fits = false;
  if (op == Op::TestRecord) fits = a == Kind::Record || a == Kind::UnboxedRecord;
  if (op == Op::TestVariant) fits = a == Kind::Variant;
  if (op == Op::TestList) fits = a == Kind::UnboxedList;
  return fits ? Plan{Way::Inline, a} : Plan{Way::Dynamic};
}

std::optional<bool> told_by_kind(const bytecode::Chunk::Type& type, Kind kind) {
  using interp::TypeTags;
  if (kind == Kind::Any || kind == Kind::None) return std::nullopt;
  if (is_packed(kind) && (type.element.fit & TypeTags::bit(tag_of_kind(element_of(kind))))) return true;
  const uint32_t tag = TypeTags::bit(tag_of_kind(kind));
  if (type.tags.fit & tag) return true;
  return type.tags.open & tag ? std::nullopt : std::optional(false);
}

// Nothing is done where the kind tells, be it that no other has been met. What fails a check raises, which is exec's.
Plan Kinds::type_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const bytecode::Chunk::Type& type = chunk_.types[insn.b];
  const Kind a = speculated(before.kinds[insn.a], pc, Seen::First);
  const std::optional<bool> told = told_by_kind(type, is_unboxed(a) ? boxed(before.known(insn.a)).kind : a);
  const bool jumps = static_cast<Op>(insn.op) == Op::TestType;
  if (told && (*told || jumps)) return {Way::Inline, a};
  return {type.tags.fit == 0 && !jumps ? Way::Exec : Way::Dynamic};
}

// A test has told that the item is there.
Plan Kinds::view_item_plan(uint32_t pc, const Insn& insn, const State& before) const {
  if (insn.c == bytecode::kNoRegister) return {Way::Inline, Kind::Any, Kind::Any, Kind::Any, before.kinds[insn.b]};
  const Kind b = speculated(before.kinds[insn.b], pc, Seen::First);
  if (b == Kind::UnboxedList) {
    const Known list = before.known(insn.b);
    const bool from_end = insn.x & bytecode::kSense;
    return unboxed_item_plan(from_end ? int64_t{count_parts(list.fields)} - insn.c - 1 : insn.c, list);
  }
  if (exited(pc) || (b != Kind::Variant && !is_list(b))) return {Way::Exec};
  const bool packed = is_list(b) && b != Kind::Items;
  return {Way::Inline, Kind::Any, b, Kind::Any, packed ? element_of(b) : speculated_part(pc)};
}

// ---- building ----

Plan Kinds::make_plan(const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  Plan plan{Way::Dynamic};
  if (op == Op::MakeRecord) {
    plan = record_plan(insn, before);
  } else if (op == Op::MakeVariant) {
    plan.result = Kind::Variant;
    const bytecode::Outline::Link& constructor = chunk_.outline.links[insn.c];
    if (!constructor.exact || constructor.count != insn.x) plan.way = Way::Exec;
  } else if (op == Op::MakeList) {
    plan = list_plan(insn, before);
  }
  return plan;
}

// A list under construction whose items have all been of one kind has their packing from the beginning.
Plan Kinds::new_list_plan(uint32_t pc, const Insn& insn) const {
  for (uint32_t at = pc + chunk_.length_at(pc); at < chunk_.size; at += chunk_.length_at(at)) {
    const Insn& append = chunk_.at(at);
    if (static_cast<Op>(append.op) != Op::AppendItem || append.a != insn.a) continue;
    const Kind packed = exited(at) ? Kind::Any : list_for(kind_of_mask(mask_read(at, append.b)));
    if (is_packed(packed)) return {Way::Exec, Kind::Any, Kind::Any, Kind::Any, packed};
    break;
  }
  return {static_cast<Op>(insn.op) == Op::NewList ? Way::Dynamic : Way::Exec};
}

// Of a list of the registers: that of the items when they are all of one kind that is packed, of anything when one
// is in no packed list or they differ. Any: not known.
Kind Kinds::packing_made(const Insn& insn, const State& before) const {
  Kind first = Kind::None;
  bool differ = false, unknown = false;
  for (uint32_t reg = insn.b; reg < uint32_t{insn.b} + insn.c; ++reg) {
    const Kind kind = pinned(reg) ? Kind::Any : before.kinds[reg];
    if (kind == Kind::Nil || is_list(kind) || has_fields(kind) || is_unboxed(kind)) return Kind::Items;
    if (kind == Kind::Any || kind == Kind::None) unknown = true;
    else if (first == Kind::None) first = kind;
    else if (kind != first) differ = true;
  }
  if (differ || insn.c == 0) return Kind::Items;
  if (unknown) return Kind::Any;
  return first == Kind::Int ? Kind::Ints : first == Kind::Float ? Kind::Floats : Kind::Bools;
}

Plan Kinds::pop_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Kind list = speculated(before.kinds[insn.b], pc, Seen::Changed);
  if (exited(pc) || !is_list(list) || insn.a == insn.b) return {Way::Exec};
  return {Way::Inline, Kind::Any, list, Kind::Any, list == Kind::Items ? speculated_part(pc) : element_of(list)};
}

// ---- walks ----

// The profile has one mask for refs and what else is rare; it is told by the guard.
bool Kinds::is_ref(uint32_t pc, uint16_t reg, const State& before) const {
  const Kind known = pinned(reg) ? Kind::Any : before.kinds[reg];
  return known == Kind::Ref || (known == Kind::Any && !exited(pc) && seen(pc).mask(Seen::First) == Seen::of(interp::Tag::Ref));
}

Plan Kinds::walk_plan(uint32_t pc, const State& before) const {
  const Plan plan = begin_of_walk(pc, before);
  if (plan.way != Way::Inline) return plan;
  State state = after(pc, plan, before);
  for (uint32_t at = pc + chunk_.length_at(pc);; at += chunk_.length_at(at)) {
    const Plan step = step_plan(at, state);
    if (step.way != Way::Inline) return {Way::Exec};
    const Op op = chunk_.op_at(at);
    if (op != Op::PlaceIndex && op != Op::PlaceField) return plan;
    state = after(at, step, state);
  }
}

Plan Kinds::begin_of_walk(uint32_t pc, const State& before) const {
  const Insn& insn = chunk_.at(pc);
  if (exited(pc)) return {Way::Exec};
  if (static_cast<Op>(insn.op) == Op::PlaceRef) return begin_at_ref(pc, insn, before);
  if (pinned(insn.a)) return {Way::Exec};
  const Plan plan{Way::Inline, speculated(before.kinds[insn.a], pc, Seen::Changed)};
  return has_fields(plan.a) || is_list(plan.a) ? plan : Plan{Way::Exec};
}

// At its cell when that is what is read or replaced, else at what is in it.
Plan Kinds::begin_at_ref(uint32_t pc, const Insn& insn, const State& before) const {
  const bool is_host = insn.x & bytecode::kSense;
  if (is_host || walk_end(pc) == 0 || !is_ref(pc, insn.a, before)) return {Way::Exec};
  const Op next = chunk_.op_at(pc + chunk_.length_at(pc));
  Plan plan{Way::Inline, Kind::Ref};
  plan.result = next == Op::StorePlace || next == Op::UpdatePlace || next == Op::TakePlace ? Kind::Ref : next_place(pc);
  return plan.result == Kind::Any ? Plan{Way::Exec} : plan;
}

Plan Kinds::step_plan(uint32_t pc, const State& before) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  // Nothing is taken out of what others reach by the same ref.
  const bool copies = (op == Op::TakeIndex || op == Op::TakeField) && chunk_.op_at(begins_[pc]) == Op::PlaceRef;
  if (copies) return {Way::Exec};
  switch (op) {
    case Op::StorePlace:
    case Op::UpdatePlace:
    case Op::TakePlace: return before.place == Kind::Ref ? cell_step_plan(pc, insn, before) : Plan{Way::Exec};
    case Op::PlaceIndex:
    case Op::StoreIndex:
    case Op::UpdateIndex:
    case Op::TakeIndex: return is_list(before.place) ? index_step_plan(pc, insn, before) : Plan{Way::Exec};
    case Op::PlaceField:
    case Op::StoreField:
    case Op::UpdateField:
    case Op::TakeField: return has_fields(before.place) ? field_step_plan(pc, insn, before) : Plan{Way::Exec};
    default: return {Way::Exec};
  }
}

// What the next step has found at its place: what this one comes to.
Kind Kinds::next_place(uint32_t pc) const {
  const Kind kind = kind_of_mask(SeenInside{insides_[pc + chunk_.length_at(pc)]}.place());
  return has_fields(kind) || is_list(kind) ? kind : Kind::Any;
}

Plan Kinds::index_step_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  const Kind list = before.place;
  const Kind item = list == Kind::Items ? speculated_part(pc) : element_of(list);
  const Kind at = speculated(before.kinds[op == Op::TakeIndex ? insn.b : insn.a], pc, Seen::First);
  if (at != Kind::Int) return {Way::Exec};
  Plan plan{Way::Inline, at};
  switch (op) {
    case Op::PlaceIndex:
      plan.result = next_place(pc);
      return list == Kind::Items && plan.result != Kind::Any ? plan : Plan{Way::Exec};
    case Op::TakeIndex: return {Way::Inline, Kind::Any, at, Kind::Any, item};
    case Op::StoreIndex:
      plan.b = list == Kind::Items ? Kind::Any : speculated(before.kinds[insn.b], pc, Seen::Second);
      return list == Kind::Items || plan.b == item ? plan : Plan{Way::Exec};
    default:
      if (insn.x & bytecode::kSense) return {Way::Exec};
      plan.part = item;
      plan = update_plan(pc, plan, speculated(before.kinds[insn.b], pc, Seen::Second), insn.c, before);
      return list == Kind::Items || plan.result == item ? plan : Plan{Way::Exec};
  }
}

Plan Kinds::field_step_plan(uint32_t pc, const Insn& insn, const State& before) const {
  const Op op = static_cast<Op>(insn.op);
  Plan plan{Way::Inline};
  if (!find_field(op == Op::TakeField ? insn.b : insn.a, before.place_shape, before.place, plan)) return {Way::Exec};
  switch (op) {
    case Op::PlaceField:
      plan.result = next_place(pc);
      return plan.result != Kind::Any ? plan : Plan{Way::Exec};
    case Op::TakeField: plan.result = speculated_part(pc); return plan;
    case Op::StoreField: return plan;
    default: break;
  }
  plan.part = speculated_part(pc);
  const uint16_t told = field_of_kind(plan.field, plan.part);
  if (told && before.root != bytecode::kNoRegister && !tells(before.place_fields, told)) {
    plan.together = fields_read_soon(pc, before.root, plan.shape, told);
  }
  return update_plan(pc, plan, speculated(before.kinds[insn.b], pc, Seen::First), insn.c, before);
}

Plan Kinds::cell_step_plan(uint32_t pc, const Insn& insn, const State& before) const {
  Plan plan{Way::Inline};
  switch (static_cast<Op>(insn.op)) {
    case Op::StorePlace: return plan;
    case Op::TakePlace: plan.result = speculated_part(pc); return plan;
    default: break;
  }
  plan.part = speculated_part(pc);
  plan = update_plan(pc, plan, speculated(before.kinds[insn.a], pc, Seen::First), insn.b, before);
  plan.a = std::exchange(plan.b, Kind::Any);
  return plan;
}

// old op= right: two numbers.
Plan Kinds::update_plan(uint32_t pc, Plan plan, Kind right, uint16_t old, const State& before) const {
  const auto op = static_cast<BinaryOp>(std::bit_cast<uint64_t>(chunk_.at(pc + 1)));
  const bool simple = op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul || op == BinaryOp::Div;
  if (!simple || !is_number(plan.part) || !is_number(right)) return {Way::Exec};
  if (old != bytecode::kNoRegister) {
    const Kind known = before.kinds[old];
    if (pinned(old) || (known != Kind::Any && known != plan.part)) return {Way::Exec};
  }
  const bool ints = plan.part == Kind::Int && right == Kind::Int && op != BinaryOp::Div;
  plan.b = right;
  plan.result = ints ? Kind::Int : Kind::Float;
  return plan;
}

// ---- effects ----

// What reads, replaces or takes a part, on either way out.
void Kinds::part_moved(uint32_t pc, const Plan& plan, State& state) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  auto set = [&](uint32_t reg, Kind kind) {
    if (!pinned(reg)) state.set(reg, kind, true);
  };
  auto learn = [&](uint32_t reg) {
    if (plan.way == Way::Inline && !pinned(reg)) state.shapes[reg] = plan.shape;
  };
  auto tell = [&](uint32_t reg, uint16_t more, uint16_t no_more = 0) {
    if (!pinned(reg)) state.fields[reg] = static_cast<uint16_t>((state.fields[reg] & ~(fields_told(more) | no_more)) | more);
  };
  switch (op) {
    case Op::Field:
    case Op::ViewField:
    case Op::TestField:
      learn(insn.b);
      if (plan.way == Way::Inline && plan.shape != kNoShape) tell(insn.b, plan.together ? plan.together : field_of_kind(plan.field, plan.result));
      if (op == Op::Field && (insn.x & bytecode::kConsumeB)) set(insn.b, Kind::Nil);
      return set(insn.a, plan.result);
    case Op::SetField:
      state.part_copies(insn.a);
      learn(insn.a);
      tell(insn.a, plan.way == Way::Inline ? field_of_kind(plan.field, state.kinds[insn.c]) : 0,
           plan.way == Way::Inline ? field_mask(plan.field) : UINT16_MAX);
      if (insn.x & bytecode::kConsumeC) set(insn.c, Kind::Nil);
      return;
    case Op::SetIndex:
      // Left to exec it may get another packing.
      if (plan.way != Way::Inline && !pinned(insn.a)) state.kinds[insn.a] = Kind::Any;
      // A number that a packed list gets stays where it was, too: nobody looks there again.
      if ((insn.x & bytecode::kConsumeC) && (plan.way != Way::Inline || !is_packed(plan.a))) set(insn.c, Kind::Nil);
      return;
    case Op::MakeRecord:
    case Op::MakeVariant:
    case Op::MakeList:
      for_each_access(chunk_, pc, [&](const Access& each) {
        for (uint32_t n = 0; each.read && n < each.count; ++n) set(each.first + n, Kind::Nil);
      });
      set(insn.a, plan.result);
      if (op != Op::MakeVariant && !pinned(insn.a)) state.know(insn.a, {plan.result, plan.shape, plan.fields});
      return;
    case Op::Push:
      // The first item gives an empty list its packing, one that does not fit takes it away.
      if (!pinned(insn.a)) state.kinds[insn.a] = Kind::Any;
      if (insn.x & bytecode::kConsumeB) set(insn.b, Kind::Nil);
      return;
    default: break;
  }
  if ((op == Op::Index || op == Op::Has) && (insn.x & bytecode::kConsumeB)) set(insn.b, Kind::Nil);
  if (op == Op::In && (insn.x & bytecode::kConsumeC)) set(insn.c, Kind::Nil);
  const char kind = bytecode::info(op).a;
  if (kind == 'D' || kind == 'U') set(insn.a, plan.result);
  if (is_in(op, Op::CallKnown, Op::CallValue) && !pinned(insn.a)) {
    state.know(insn.a, {plan.result, plan.shape, plan.fields});
  }
  if (plan.way == Way::Inline && (op == Op::PlaceLocal || op == Op::PlaceRef || state.place != Kind::None)) walked(pc, plan, state);
}

void Kinds::walked(uint32_t pc, const Plan& plan, State& state) const {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  if (op == Op::PlaceLocal) {
    state.place = plan.a;
    state.root = insn.a;
    state.place_shape = state.shapes[insn.a];
    state.place_fields = state.fields[insn.a];
    return;
  }
  if (op == Op::PlaceRef) {
    state.place = plan.result;
    return;
  }
  if (state.place == Kind::None) return;
  if (plan.shape != kNoShape && state.root != bytecode::kNoRegister) {
    state.shapes[state.root] = plan.shape;
    state.fields[state.root] = fields_after(pc, plan, state);
  }
  const bool consumes = (op == Op::StoreIndex || op == Op::StoreField) && (insn.x & bytecode::kConsumeB) && !is_packed(state.place);
  if (consumes && !pinned(insn.b)) state.set(insn.b, Kind::Nil, true);
  const bool consumes_a = op == Op::StorePlace && (insn.x & bytecode::kConsumeA);
  if (consumes_a && !pinned(insn.a)) state.set(insn.a, Kind::Nil, true);
  state.place = op == Op::PlaceIndex || op == Op::PlaceField ? plan.result : Kind::None;
  state.place_shape = kNoShape;
  state.place_fields = 0;
  state.root = bytecode::kNoRegister;
}

// Of the record that the walk is still at, behind the instruction.
uint16_t Kinds::fields_after(uint32_t pc, const Plan& plan, const State& state) const {
  const Insn& insn = chunk_.at(pc);
  const auto others = static_cast<uint16_t>(state.fields[state.root] & ~fields_told(plan.together));
  const auto known = static_cast<uint16_t>((others | plan.together) & ~field_mask(plan.field));
  switch (static_cast<Op>(insn.op)) {
    case Op::UpdateField: return known | field_of_kind(plan.field, plan.result);
    case Op::StoreField: return known | field_of_kind(plan.field, pinned(insn.b) ? Kind::Any : state.kinds[insn.b]);
    default: return known;
  }
}

}  // namespace posset::jit
