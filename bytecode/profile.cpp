// The operand profile: which types each instruction has met, for the tiers above and for `explain`.
#include <algorithm>
#include <vector>

#include "bytecode/vm.h"
#include "interp/value/list.h"
#include "interp/value/record.h"

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
    case Op::ViewItem:
    case Op::Pop:
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

// Of no item of an empty list does its packing say anything: `[]` becomes a list of ints with its first.
bool iterates_nothing(Op op, Borrowed v) {
  return (op == Op::IterBegin || op == Op::ForNext) && v.is_list() && v.as<interp::List>()->size == 0;
}

// A built-in function may be one on numbers: all arguments together.
uint64_t seen_as_arguments(const Insn& insn, const Borrowed* registers) {
  uint64_t seen = 0;
  for (uint16_t n = 0; n < insn.c; ++n) seen |= bits_of(registers[insn.a + 2 + n], false);
  return seen;
}

uint64_t seen_by(const Insn& insn, const Borrowed* registers) {
  const Op opcode = static_cast<Op>(insn.op);
  const OpInfo& op = info(opcode);
  uint64_t seen = 0;
  int next = Seen::First;
  // Of operands only: what is about to be written may have been freed.
  auto bits = [&](uint16_t reg) {
    const Borrowed v = registers[reg];
    return bits_of(v, looks_inside(opcode) && !iterates_nothing(opcode, v));
  };
  auto note = [&](char kind, uint16_t reg) {
    if (kind == 'V') seen |= bits(reg) << (Seen::kBits * Seen::Changed);
    if (kind == 'R' && next <= Seen::Second) seen |= bits(reg) << (Seen::kBits * next++);
  };
  note(op.a, insn.a);
  if (op.b != 'W') {
    note(op.b, insn.b);
    note(op.c, insn.c);
  }
  if (opcode == Op::CallNative) seen |= seen_as_arguments(insn, registers) << (Seen::kBits * Seen::First);
  return seen;
}

// Whom a call is about to call, by number; 0: no call, or of something that is neither.
uint32_t callee_of(const Insn& insn, const Borrowed* registers, const Function& function) {
  const Op op = static_cast<Op>(insn.op);
  if (!is_call(op)) return 0;
  const Borrowed callee = op == Op::CallValue ? registers[insn.b] : *function.links[insn.b];
  if (callee.is(interp::Tag::Fn)) return callee.as<Closure>()->function->unit->number;
  if (callee.is(interp::Tag::Builtin)) return Seen::kNative | static_cast<uint32_t>(callee.as_builtin()->intrinsic);
  return 0;
}

uint64_t with_callee(uint64_t before, uint32_t callee) {
  const uint64_t known = before >> Seen::kCallee & UINT32_MAX;
  if (known != 0 && known != callee) return Seen::kSeveralCallees;
  return uint64_t{callee} << Seen::kCallee;
}

// ---- inside containers ----

// The instructions of a walk beyond its first: they look at the place the walk has come to.
bool looks_at_place(Op op) {
  return op == Op::PlaceIndex || op == Op::PlaceField || op == Op::StoreIndex || op == Op::StoreField ||
         op == Op::UpdateIndex || op == Op::UpdateField || op == Op::TakeIndex || op == Op::TakeField ||
         op == Op::PushPlace;
}

}  // namespace

Borrowed item_at(Borrowed base, Borrowed index) {
  if (!base.is_list() || !index.is_int()) return Borrowed::unset();
  auto* list = base.as<interp::List>();
  const auto at = static_cast<uint64_t>(index.as_int());
  return at < list->size ? interp::list_get(list, at) : Borrowed::unset();
}

namespace {

Borrowed last_item(Borrowed base) {
  if (!base.is_list()) return Borrowed::unset();
  return item_at(base, Borrowed::integer(static_cast<int64_t>(base.as<interp::List>()->size) - 1));
}

}  // namespace

Borrowed field_of(const Chunk& chunk, Borrowed base, const FieldCache& cache) {
  if (base.is(interp::Tag::Ref)) return cache.name->text == "value" ? base.as<interp::Ref>()->value : Borrowed::unset();
  if (!base.is_record() && !base.is_variant()) return Borrowed::unset();
  auto* record = base.as<interp::Record>();
  const int at = chunk.runtime->shapes.shape(record->shape)->index_of(cache.name);
  return at == interp::Shape::kNotFound ? Borrowed::unset() : record->fields()[at];
}

namespace {

Borrowed part_of_pattern(const Insn& insn, const Borrowed* r) {
  const Borrowed base = r[insn.b];
  if (insn.c == kNoRegister) return base;
  if (base.is_variant()) return base.as<interp::Record>()->fields()[insn.c];
  if (!base.is_list()) return Borrowed::unset();
  const auto size = static_cast<int64_t>(base.as<interp::List>()->size);
  return item_at(base, Borrowed::integer(insn.x & kSense ? size - 1 - insn.c : insn.c));
}

}  // namespace

Borrowed part_read(const Chunk& chunk, uint32_t at, const Borrowed* r, const Borrowed* place) {
  const Insn& insn = chunk.at(at);
  auto cache = [&](uint64_t index) -> const FieldCache& { return *chunk.caches[index]; };
  switch (static_cast<Op>(insn.op)) {
    case Op::Index:
    case Op::ViewIndex: return item_at(r[insn.b], r[insn.c]);
    case Op::Field:
    case Op::ViewField: return field_of(chunk, r[insn.b], cache(insn.c));
    case Op::TestField:
      return field_of(chunk, r[insn.b], cache(std::bit_cast<uint64_t>(chunk.at(at + 1))));
    case Op::ViewItem: return part_of_pattern(insn, r);
    case Op::ForNext: return item_at(r[insn.a], r[insn.a + 1]);
    case Op::SetIndex: return item_at(r[insn.a], r[insn.b]);
    case Op::SetField: return field_of(chunk, r[insn.a], cache(insn.b));
    case Op::Pop: return last_item(r[insn.b]);
    case Op::TakeIndex: return item_at(*place, r[insn.b]);
    case Op::TakeField: return field_of(chunk, *place, cache(insn.b));
    case Op::StoreIndex:
    case Op::UpdateIndex: return item_at(*place, r[insn.a]);
    case Op::StoreField:
    case Op::UpdateField: return field_of(chunk, *place, cache(insn.a));
    case Op::UpdatePlace:
    case Op::TakePlace: return *place;
    default: return Borrowed::unset();
  }
}

namespace {

uint64_t seen_inside(const Chunk& chunk, uint32_t at, const Borrowed* registers, const Borrowed* place) {
  const Op op = chunk.op_at(at);
  const Borrowed part = part_read(chunk, at, registers, place);
  const uint64_t bits = part.is_unset() ? 0 : bits_of(part, true);
  return looks_at_place(op) ? bits | SeenInside::of_place(bits_of(*place, true)) : bits;
}

// What a link's cell has, which no register leads to.
uint64_t seen_in_link(const Insn& insn, const Function& function) {
  const Op op = static_cast<Op>(insn.op);
  if (op != Op::ViewLink && op != Op::GetLink) return 0;
  const Borrowed v = *function.links[insn.b];
  return v.is_unset() ? 0 : bits_of(v, true);
}

void add_bits(std::atomic<uint64_t>& slot, uint64_t bits) {
  const uint64_t before = slot.load(std::memory_order_relaxed);
  if ((before | bits) != before) slot.store(before | bits, std::memory_order_relaxed);
}

// Beyond its budget a chunk goes on recording until a further tier has been asked for, within bounds: its
// executions are counted as long as it records. Of what has run before, a sample is enough then: while the compiler
// is busy with others, noting everything would make the program half as fast for as long.
constexpr int32_t kLongestRecording = 1000000;
constexpr int32_t kSample = 17;  // a prime: few loops have a multiple of as many instructions

bool is_sampled(int32_t left) { return left > 0 || left % kSample == 0; }

bool goes_on(const Chunk& chunk, int32_t left, const Function& function) {
  if (left > 0 || !is_sampled(left)) return true;
  return left > -kLongestRecording && chunk.runtime->control.may_promote(function.unit->counted(chunk.loop));
}

}  // namespace

void note(Chunk& chunk, uint32_t at, const Borrowed* registers, const Borrowed* place, const Function& function) {
  const Insn& insn = chunk.at(at);
  uint64_t seen = seen_by(insn, registers) | Seen::kRan;
  const uint64_t before = chunk.profile[at].load(std::memory_order_relaxed);
  const uint32_t callee = callee_of(insn, registers, function);
  if (callee != 0) seen |= with_callee(before, callee);
  add_bits(chunk.profile[at], seen);
  const uint64_t arguments = callee & Seen::kNative ? seen_as_arguments(insn, registers) : 0;
  add_bits(chunk.insides[at], seen_inside(chunk, at, registers, place) | seen_in_link(insn, function) | arguments);
}

bool record(Chunk& chunk, const Insn* pc, const Borrowed* registers, const Borrowed* place, const Function& function) {
  const uint32_t at = chunk.index_of(pc);
  int32_t left = chunk.recording_budget.load(std::memory_order_relaxed) - 1;
  if (left == kRecordingBriefly) left = -kLongestRecording;
  chunk.recording_budget.store(left, std::memory_order_relaxed);
  const bool has_run = chunk.profile[at].load(std::memory_order_relaxed) & Seen::kRan;
  if (at == 0 && !chunk.is_loop) chunk.signatures.note(interp::Signature::of(registers, chunk.outline.parameters));
  if (is_sampled(left) || !has_run) note(chunk, at, registers, place, function);
  if (goes_on(chunk, left, function)) return false;
  const Insn* recording = chunk.code.get();  // unless there is native code meanwhile
  chunk.entry.compare_exchange_strong(recording, chunk.code.get() + chunk.size, std::memory_order_relaxed);
  return true;
}

namespace {

struct Site {
  uint32_t site;
  uint16_t op;
  uint32_t pc;
  auto operator<=>(const Site&) const = default;
};

std::vector<Site> sites_of(const Chunk& chunk) {
  std::vector<Site> sites;
  for (uint32_t pc = 0; pc < chunk.size; pc += chunk.length_at(pc)) sites.push_back({chunk.sites[pc], chunk.at(pc).op, pc});
  std::sort(sites.begin(), sites.end());
  return sites;
}

// Both have their instructions in the order of the same tree, so that of several alike the next is the one.
void learn(Chunk& chunk, const std::vector<Site>& sites, const Chunk& from) {
  uint32_t next = 0;
  for (uint32_t pc = 0; pc < from.size; pc += from.length_at(pc)) {
    const Site wanted{from.sites[pc], from.at(pc).op, next};
    const auto found = std::lower_bound(sites.begin(), sites.end(), wanted);
    if (found == sites.end() || found->site != wanted.site || found->op != wanted.op) continue;
    next = found->pc + 1;
    std::atomic<uint64_t>& seen = chunk.profile[found->pc];
    seen.store(Seen::joined(seen.load(std::memory_order_relaxed), from.profile[pc].load(std::memory_order_relaxed),
                            is_call(from.op_at(pc))),
               std::memory_order_relaxed);
    chunk.insides[found->pc].fetch_or(from.insides[pc].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

}  // namespace

void learn(Chunk& chunk, std::span<const void* const> loops, const interp::Signatures& signatures) {
  if (!chunk.is_loop) chunk.signatures.add(signatures.words());
  if (loops.empty()) return;
  const std::vector<Site> sites = sites_of(chunk);
  for (const void* each : loops) learn(chunk, sites, *static_cast<const Chunk*>(each));
}

namespace {

std::string mask_text(uint64_t mask) {
  std::string out;
  std::string_view last;
  for (int tag = 0; tag <= Seen::kOtherTag; ++tag) {
    if (!(mask >> tag & 1)) continue;
    std::string_view name = interp::type_name(static_cast<interp::Tag>(tag));
    if (name == last) continue;
    if (!out.empty()) out += "|";
    out += tag == Seen::kOtherTag ? "other" : name;
    last = name;
  }
  return out;
}

}  // namespace

std::string types_seen(const Chunk& chunk) {
  std::string out;
  const std::vector<interp::Signature> signatures = chunk.signatures.all();
  for (size_t n = 0; n < signatures.size() && signatures.size() > 1; ++n) {
    out += "called with " + signatures[n].text(chunk.outline.parameters) + "\n";
  }
  for (uint32_t at = 0; at < chunk.size; ++at) {
    const Seen seen{chunk.profile[at].load(std::memory_order_relaxed)};
    if (!seen.tags(Seen::First)) continue;
    const Insn& insn = chunk.at(at);
    out += std::to_string(at) + " " + info(static_cast<Op>(insn.op)).name + " " + mask_text(seen.tags(Seen::First));
    if (static_cast<Op>(insn.op) != Op::CallValue && seen.tags(Seen::Second)) out += ", " + mask_text(seen.tags(Seen::Second));
    out += "\n";
  }
  return out;
}

}  // namespace posset::bytecode
