// See exits.h. What did not fit is found by asking the questions of the guards again, in their order: kinds of
// operands, the callee, what is in the container, and last what an operation on numbers can meet.
#include "bytecode/exits.h"

#include <optional>

#include "interp/runtime/error.h"
#include "interp/value/list.h"
#include "interp/value/print.h"
#include "interp/value/record.h"

namespace posset::bytecode {

namespace {

using interp::List;
using interp::Packing;
using interp::Record;
using interp::Shape;
using interp::Tag;

// What was expected, and found instead.
using Answer = std::optional<std::pair<std::string, std::string>>;

uint32_t kind_number(Borrowed v) {
  if (v.is_list()) return static_cast<uint32_t>(Seen::kFirstPacking) + static_cast<uint32_t>(v.as<List>()->packing());
  return static_cast<uint32_t>(Seen::number_of(v.tag()));
}

std::string list_text(Packing packing) {
  switch (packing) {
    case Packing::Int: return "[int]";
    case Packing::Float: return "[float]";
    case Packing::Bool: return "[bool]";
    case Packing::Any: break;
  }
  return "list of anything";
}

std::string kind_text(uint32_t number) {
  if (number >= static_cast<uint32_t>(Seen::kFirstPacking)) return list_text(static_cast<Packing>(number - Seen::kFirstPacking));
  return interp::type_name(static_cast<Tag>(number));
}

std::string shape_text(const Shape& shape) {
  if (shape.is_variant()) return "variant " + shape.constructor;
  std::string out = "shape {";
  for (const interp::Symbol* field : shape.fields) out += (out.back() == '{' ? "" : ", ") + field->text;
  return out + "}";
}

std::string function_text(const interp::Function& function) {
  return function.decl->name.empty() ? "<fn>" : std::string(function.decl->name);
}

std::string value_kind(Borrowed v) {
  if (v.is_list()) return list_text(v.as<List>()->packing());
  return interp::type_name(v.tag());
}

std::string number_text(Borrowed v) {
  constexpr size_t kMostBytes = 30;
  return interp::brief(v, kMostBytes);
}

// The instruction whose guard failed, and what it works on.
struct Guard {
  const NativeFrame& frame;
  const Chunk& chunk;
  uint32_t at;
  Expected expected;
  Borrowed place = Borrowed::unset();  // where a walk has come to

  const Insn& insn() const { return chunk.at(at); }
  Op op() const { return static_cast<Op>(insn().op); }
  Borrowed reg(uint16_t number) const { return frame.registers[number]; }
  bool is_in(Op first, Op last) const { return op() >= first && op() <= last; }
};

// ---- walks to places ----

bool steps_on_place(Op op) { return (op >= Op::PlaceIndex && op <= Op::TakePlace) || op == Op::PushPlace; }

// From the beginning of the walk to the guard, without changing anything.
Borrowed walk(const Guard& guard, uint32_t begin) {
  const Chunk& chunk = guard.chunk;
  Borrowed place = guard.reg(chunk.at(begin).a);
  for (uint32_t at = begin + 1; at < guard.at && !place.is_unset(); ++at) {
    const Insn& insn = chunk.at(at);
    const auto op = static_cast<Op>(insn.op);
    if (op == Op::PlaceIndex) place = item_at(place, guard.reg(insn.a));
    if (op == Op::PlaceField) place = field_of(chunk, place, *chunk.caches[insn.a]);
  }
  return place;
}

// ---- the questions ----

Answer ask_kind(uint32_t wanted, Borrowed v, const char* what) {
  if (wanted == Expected::kAnything || v.is_unset() || kind_number(v) == wanted) return std::nullopt;
  return std::pair{what + kind_text(wanted), what + value_kind(v)};
}

Answer ask_operands(const Guard& guard) {
  const OpInfo& op = info(guard.op());
  const Insn& insn = guard.insn();
  auto ask = [&](char kind, uint16_t reg, Expected::Operand operand) -> Answer {
    if (kind != 'R' && kind != 'V') return std::nullopt;
    return ask_kind(guard.expected.kind(operand), guard.reg(reg), "");
  };
  if (Answer a = ask(op.a, insn.a, Expected::A)) return a;
  if (op.b == 'W') return std::nullopt;
  if (Answer b = ask(op.b, insn.b, Expected::B)) return b;
  return ask(op.c, insn.c, Expected::C);
}

Borrowed called_at(const NativeFrame& frame, uint32_t at) {
  const Insn& call = frame.chunk->at(at);
  return static_cast<Op>(call.op) == Op::CallValue ? frame.registers[call.b] : *frame.closure->function->links[call.b];
}

Answer ask_callee(const Guard& guard) {
  const Op op = guard.op();
  if (!is_call(op)) return std::nullopt;
  const Seen seen{guard.chunk.profile[guard.at].load(std::memory_order_relaxed)};
  const uint32_t wanted = seen.callee();
  const Borrowed callee = called_at(guard.frame, guard.at);
  const std::string name = wanted ? guard.chunk.runtime->units.name_of(wanted) : "";
  const std::string known = name.empty() ? "the callee seen before" : "callee " + name;
  if (callee.is(Tag::Builtin) && seen.native() == callee.as_builtin()->intrinsic) return std::nullopt;
  if (!callee.is(Tag::Fn)) return std::pair{known, value_kind(callee)};
  const interp::Function& function = *callee.as<Closure>()->function;
  if (function.unit->number == wanted) return std::nullopt;
  return std::pair{known, "callee " + function_text(function)};
}

const FieldCache* field_cache(const Guard& guard, Borrowed& base) {
  const Insn& insn = guard.insn();
  auto of = [&](Borrowed container, uint64_t cache) {
    base = container;
    return guard.chunk.caches[cache].get();
  };
  switch (guard.op()) {
    case Op::Field:
    case Op::ViewField: return of(guard.reg(insn.b), insn.c);
    case Op::TestField: return of(guard.reg(insn.b), std::bit_cast<uint64_t>((&insn)[1]));
    case Op::SetField: return of(guard.reg(insn.a), insn.b);
    case Op::TakeField: return of(guard.place, insn.b);
    case Op::PlaceField:
    case Op::StoreField:
    case Op::UpdateField: return of(guard.place, insn.a);
    default: return nullptr;
  }
}

Answer ask_shape(const Guard& guard) {
  Borrowed base = Borrowed::unset();
  const FieldCache* cache = field_cache(guard, base);
  if (!cache) return std::nullopt;
  const interp::ShapeTable& shapes = guard.chunk.runtime->shapes;
  const uint64_t seen = cache->seen.load(std::memory_order_relaxed);
  const std::string wanted = seen == UINT64_MAX ? "the shape seen before" : shape_text(*shapes.shape(static_cast<uint32_t>(seen >> 32)));
  if (!base.is_record() && !base.is_variant()) return std::pair{wanted, value_kind(base)};
  const uint32_t shape = base.as<Record>()->shape;
  if (shape == seen >> 32) return std::nullopt;
  return std::pair{wanted, shape_text(*shapes.shape(shape))};
}

// The container whose item the instruction wants, and the index; null: it wants none.
const Borrowed* indexed(const Guard& guard, Borrowed& base) {
  const Insn& insn = guard.insn();
  const Borrowed* r = guard.frame.registers;
  auto of = [&](Borrowed container, uint16_t index) {
    base = container;
    return &r[index];
  };
  switch (guard.op()) {
    case Op::Index:
    case Op::ViewIndex: return of(r[insn.b], insn.c);
    case Op::SetIndex: return of(r[insn.a], insn.b);
    case Op::TakeIndex: return of(guard.place, insn.b);
    case Op::PlaceIndex:
    case Op::StoreIndex:
    case Op::UpdateIndex: return of(guard.place, insn.a);
    case Op::Swap: {
      const bool first = r[insn.a].is_list() && r[insn.b].is_int() &&
                         static_cast<uint64_t>(r[insn.b].as_int()) < r[insn.a].as<List>()->size;
      return of(r[insn.a], first ? insn.c : insn.b);
    }
    default: return nullptr;
  }
}

Answer ask_index(const Guard& guard) {
  Borrowed base = Borrowed::unset();
  const Borrowed* index = indexed(guard, base);
  if (!index || !base.is_list() || !index->is_int()) return std::nullopt;
  const uint64_t size = base.as<List>()->size;
  if (static_cast<uint64_t>(index->as_int()) < size) return std::nullopt;
  return std::pair{"an index below " + std::to_string(size), number_text(*index)};
}

Answer ask_part(const Guard& guard) {
  const bool reads_link = guard.op() == Op::ViewLink || guard.op() == Op::GetLink;
  const Borrowed part = reads_link ? *guard.frame.closure->function->links[guard.insn().b]
                                   : part_read(guard.chunk, guard.at, guard.frame.registers, &guard.place);
  return ask_kind(guard.expected.kind(Expected::Part), part, "inside: ");
}

// A list of that packing.
Answer ask_iteration(const Guard& guard) {
  if (guard.op() != Op::IterBegin) return std::nullopt;
  return ask_kind(guard.expected.kind(Expected::Part), guard.reg(guard.insn().a), "");
}

// Changed in place only where nobody else would see it.
Answer ask_owners(const Guard& guard) {
  const OpInfo& op = info(guard.op());
  const Insn& insn = guard.insn();
  Borrowed changed = Borrowed::unset();
  if (op.a == 'V') changed = guard.reg(insn.a);
  if (op.b == 'V') changed = guard.reg(insn.b);
  if (!guard.place.is_unset()) changed = guard.place;
  if (!changed.is_heap() || changed.object()->count == 1) return std::nullopt;
  return std::pair{std::string("one owner"), std::string("several owners")};
}

// Left and right of an operation on numbers.
Borrowed operand(const Guard& guard, char kind, uint16_t number) {
  if (kind == 'K') return guard.chunk.constants[number];
  if (kind == 'I') return Borrowed::integer(static_cast<int16_t>(number));
  return guard.reg(number);
}

const char* symbol_of(const Guard& guard) {
  if (guard.is_in(Op::Add, Op::AddI)) return " + ";
  if (guard.is_in(Op::Sub, Op::SubI)) return " - ";
  if (guard.is_in(Op::Mul, Op::MulI)) return " * ";
  if (guard.is_in(Op::IntDiv, Op::IntDivI)) return " // ";
  return guard.is_in(Op::Mod, Op::ModI) ? " % " : nullptr;
}

Answer ask_result(const Guard& guard) {
  const Insn& insn = guard.insn();
  if (guard.op() == Op::Neg) return std::pair{std::string("no overflow"), "-(" + number_text(guard.reg(insn.b)) + ")"};
  if (guard.op() == Op::UpdateIndex || guard.op() == Op::UpdateField) {
    const Borrowed part = part_read(guard.chunk, guard.at, guard.frame.registers, &guard.place);
    return std::pair{std::string("no overflow"), number_text(part) + " changed by " + number_text(guard.reg(insn.b))};
  }
  const char* symbol = symbol_of(guard);
  if (!symbol) return std::nullopt;
  const OpInfo& op = info(guard.op());
  const Borrowed left = operand(guard, op.b, insn.b), right = operand(guard, op.c, insn.c);
  const bool divides = guard.is_in(Op::IntDiv, Op::ModI) && right.is_int() && right.as_int() == 0;
  return std::pair{std::string(divides ? "a divisor other than 0" : "no overflow"), number_text(left) + symbol + number_text(right)};
}

// Nothing that could be asked here: the tags tell what there was. Not all registers named need hold anything that
// lives, so that nothing is looked into.
Answer all_tags(const Guard& guard) {
  const OpInfo& op = info(guard.op());
  const Insn& insn = guard.insn();
  std::string found = op.name;
  auto add = [&](char kind, uint16_t reg) {
    if (kind == 'R' || kind == 'V') found += std::string(" ") + interp::type_name(guard.reg(reg).tag());
  };
  add(op.a, insn.a);
  if (op.b != 'W') add(op.b, insn.b);
  if (op.b != 'W') add(op.c, insn.c);
  return std::pair{std::string("what the code was made for"), found};
}

// What is live at an entry holds something.
Answer ask_entry(const Guard& guard) {
  const uint32_t reg = guard.expected.reg();
  const std::string where = "at entry, r" + std::to_string(reg) + ": ";
  if (reg < guard.chunk.registers) {
    if (Answer answer = ask_kind(guard.expected.kind(Expected::Part), guard.reg(static_cast<uint16_t>(reg)), where.c_str())) return answer;
  }
  return std::pair{std::string("at entry: what the code was made for"), std::string("something else")};
}

// The call is the instruction before.
Answer ask_result_of_call(const Guard& guard) {
  const Insn& call = guard.chunk.code[guard.chunk.size + guard.at - 1];
  const std::string kind = kind_text(guard.expected.kind(Expected::Part));
  const uint32_t argument = guard.expected.kind(Expected::A);
  if (argument == Expected::kAnything) return std::pair{"a call gives " + kind, value_kind(guard.reg(call.a))};
  return std::pair{"a call leaves " + kind + " in argument " + std::to_string(argument + 1),
                   value_kind(guard.reg(static_cast<uint16_t>(call.a + 2 + argument)))};
}

Answer ask_captured(const Guard& guard) {
  const Closure* callee = callee_at(guard.frame, guard.at);
  const uint32_t number = guard.expected.kind(Expected::A);
  if (!callee || number >= callee->size) return std::nullopt;
  return ask_kind(guard.expected.kind(Expected::Part), callee->captured()[number], "captured: ");
}

Answer ask_all(const Guard& guard) {
  switch (guard.expected.why()) {
    case Expected::Why::Operands:
    case Expected::Why::Raised:
    case Expected::Why::Refused: break;
    case Expected::Why::New: return std::pair{std::string("never reached"), std::string("reached")};
    case Expected::Why::Entry: return ask_entry(guard);
    case Expected::Why::Result: return ask_result_of_call(guard);
    case Expected::Why::Choice: return std::pair{std::string("ints that do not overflow, on the way taken"), std::string("overflow")};
    case Expected::Why::Part: return std::pair{std::string("a part that is still to be computed"), std::string("its result")};
    case Expected::Why::Steps: return std::pair{std::string("steps for all inlined calls"), std::string("fewer")};
    case Expected::Why::Captured:
      if (Answer answer = ask_captured(guard)) return answer;
  }
  for (auto ask : {ask_callee, ask_operands, ask_shape, ask_index, ask_part, ask_iteration, ask_owners, ask_result}) {
    if (Answer answer = ask(guard)) return answer;
  }
  return all_tags(guard);
}

std::string place_of(const NativeFrame& frame, uint32_t at, uint32_t depth) {
  std::string out = interp::trace_line({frame.closure->function->decl, frame.chunk->site_of(at, false)});
  const NativeFrame* inner = &frame;
  for (; depth > 0; --depth, inner = inner->caller) {
    const NativeFrame& caller = *inner->caller;
    const uint32_t call = caller.chunk->index_of(inner->call);
    out += ", " + interp::trace_line({caller.closure->function->decl, caller.chunk->site_of(call, false)});
  }
  return out;
}

}  // namespace

const Closure* callee_at(const NativeFrame& frame, uint32_t at) {
  const Borrowed callee = called_at(frame, at);
  return callee.is(Tag::Fn) ? callee.as<Closure>() : nullptr;
}

interp::SideExit tell_exit(const NativeFrame& frame, uint32_t at, uint32_t depth, Expected expected) {
  Guard guard{frame, *frame.chunk, at + expected.ahead(), expected};
  if (steps_on_place(guard.op()) && expected.ahead() > 0) guard.place = walk(guard, at);
  const Answer answer = ask_all(guard);
  return {place_of(frame, guard.at, depth), answer->first, answer->second};
}

uint32_t native_misfit(const Borrowed* registers, const uint32_t* expected, uint32_t count) {
  for (uint32_t n = 0; n < count; ++n) {
    const Expected each{expected[n]};
    if (kind_number(registers[each.reg()]) != each.kind(Expected::Part)) return each.word;
  }
  return 0;
}

}  // namespace posset::bytecode
