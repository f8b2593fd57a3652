// See loans.h.
#include "jit/loans.h"

#include <algorithm>
#include <vector>

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;

namespace {

// Instructions of a loan at most: every beginning looks for its end.
constexpr uint32_t kLongest = 200;

class Search {
 public:
  Search(const Kinds& kinds, uint32_t pc) : kinds_(kinds), chunk_(kinds.chunk()), loan_{pc, pc, pc, chunk_.at(pc).a} {
    const Op op = chunk_.op_at(pc);
    loan_.is_argument = op == Op::Copy || op == Op::Move;
    taken_ = op == Op::TakeIndex || op == Op::TakeField;
    if (!taken_) {
      container_ = chunk_.at(pc).b;
      return;
    }
    walk_ = kinds.walk_begin(pc);
    container_ = chunk_.at(walk_).a;
    for (uint32_t step = walk_; step <= pc; step += chunk_.length_at(step)) {
      if (chunk_.op_at(step) == Op::PlaceIndex) indexes_.push_back(chunk_.at(step).a);
      if (chunk_.op_at(step) == Op::TakeIndex) indexes_.push_back(chunk_.at(step).b);
    }
  }

  std::optional<Loan> run(State state) {
    if (loan_.reg == container_ || is_index(loan_.reg)) return std::nullopt;
    // What a temporary has may itself be counted by nobody.
    if (!taken_ && container_ >= chunk_.slots) return std::nullopt;
    uint32_t pc = loan_.first + chunk_.length_at(loan_.first);
    for (bool reached = true; pc < chunk_.size && pc - loan_.first < kLongest; pc += chunk_.length_at(pc)) {
      if (kinds_.is_leader(pc)) {
        state = kinds_.at_leader(pc);
        reached = state.reached && !is_handler(pc);
      }
      if (!reached) continue;
      Kinds::box(kinds_.to_box(pc, state), state);
      const Plan plan = kinds_.plan(pc, state);
      if (ends_at(pc, plan)) return is_closed() ? std::optional(loan_) : std::nullopt;
      if (plan.way == Way::Exit) {
        reached = false;
        continue;
      }
      if (!is_harmless(pc, plan) || !keeps(pc)) return std::nullopt;
      const uint8_t flags = bytecode::info(chunk_.op_at(pc)).flags;
      if ((flags & bytecode::Branch) && !goes_ahead(pc)) return std::nullopt;
      state = kinds_.after(pc, plan, state);
      reached = !(flags & bytecode::Ends);
    }
    return std::nullopt;
  }

 private:
  bool is_index(uint32_t reg) const { return std::find(indexes_.begin(), indexes_.end(), reg) != indexes_.end(); }

  // ---- the end ----

  bool ends_at(uint32_t pc, const Plan& plan) {
    const Insn& insn = chunk_.at(pc);
    const Op op = static_cast<Op>(insn.op);
    loan_.end_begin = loan_.end = pc;
    if (loan_.is_argument) return (plan.way == Way::Inline || kinds_.is_recursive(pc)) && kinds_.lends_to(pc, loan_.reg);
    if (!taken_) {
      if (op == Op::Field && insn.b == loan_.reg) return plan.way == Way::Inline && (insn.x & bytecode::kConsumeB);
      const uint32_t count = op == Op::Drop ? 1 : op == Op::DropRange ? insn.b : 0;
      auto drops = [&](uint32_t reg) { return reg >= insn.a && reg < insn.a + count; };
      return drops(loan_.reg) && !drops(container_);
    }
    if (plan.way != Way::Inline || insn.a != container_) return false;
    if (op == Op::PlaceLocal) return is_same_walk(pc);
    const Insn& take = chunk_.at(loan_.first);
    const bool fits = static_cast<Op>(take.op) == Op::TakeIndex ? op == Op::SetIndex : op == Op::SetField;
    return fits && walk_ + chunk_.length_at(walk_) == loan_.first && insn.b == take.b && insn.c == loan_.reg &&
           insn.x == bytecode::kConsumeC;
  }

  bool is_same_walk(uint32_t pc) {
    uint32_t taking = walk_ + chunk_.length_at(walk_);
    for (pc += chunk_.length_at(pc); taking < loan_.first; taking += chunk_.length_at(taking), pc += chunk_.length_at(pc)) {
      if (chunk_.at(pc).op != chunk_.at(taking).op || chunk_.at(pc).a != chunk_.at(taking).a) return false;
    }
    const Insn& take = chunk_.at(loan_.first);
    const Op giving = static_cast<Op>(take.op) == Op::TakeIndex ? Op::StoreIndex : Op::StoreField;
    loan_.end = pc;
    return chunk_.op_at(pc) == giving && chunk_.at(pc).a == take.b && chunk_.at(pc).b == loan_.reg &&
           chunk_.at(pc).x == bytecode::kConsumeB;
  }

  // ---- the way there ----

  // Done in place whatever comes, by code whose only way out is an exit or an error that is raised here.
  bool is_harmless(uint32_t pc, const Plan& plan) const {
    const Op op = chunk_.op_at(pc);
    switch (op) {
      case Op::Raise:
      case Op::Throw:
      case Op::Jump:
      case Op::JumpSet:
      case Op::JumpNil: return true;
      case Op::MakeRecord:
      case Op::MakeList:
      case Op::TestType:
      case Op::TestRecord:
      case Op::TestVariant:
      case Op::TestField:
      case Op::ViewItem:
      case Op::SetField:
      case Op::StoreIndex:
      case Op::StoreField:
      case Op::TakeIndex:
      case Op::TakeField: return plan.way == Way::Inline;
      default: return is_in(op, Op::Nop, Op::LoadUnset) || (keeps_sizes(op) && plan.way == Way::Inline);
    }
  }

  // Leaves the container, the way to the place and the register alone; what has been taken out may be changed where
  // it is.
  bool keeps(uint32_t pc) const {
    const Insn& insn = chunk_.at(pc);
    const Op op = static_cast<Op>(insn.op);
    const bool in_place = taken_ && insn.a == loan_.reg &&
                          (op == Op::PlaceLocal || (op == Op::SetField && insn.c != loan_.reg) ||
                           (op == Op::SetIndex && insn.b != loan_.reg && insn.c != loan_.reg));
    bool kept = true;
    for_each_access(chunk_, pc, [&](const Access& each) {
      auto touches = [&](uint32_t reg) { return reg >= each.first && reg < each.first + each.count; };
      if (touches(container_) && (taken_ || each.written)) kept = false;
      if (touches(loan_.reg) && each.written && !in_place) kept = false;
      for (uint16_t index : indexes_) kept &= !(each.written && touches(index));
    });
    return kept;
  }

  bool goes_ahead(uint32_t pc) {
    const uint32_t target = chunk_.target_at(pc);
    furthest_ = std::max(furthest_, target);
    return target > pc;
  }

  // ---- ways in and out ----

  bool is_inside(uint32_t pc) const { return pc > loan_.first && pc <= loan_.end; }

  // Entered at its beginning and left at its end only.
  bool is_closed() const {
    if (furthest_ > loan_.end_begin) return false;
    for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
      if (!(bytecode::info(chunk_.op_at(pc)).flags & bytecode::Branch)) continue;
      if (is_inside(chunk_.target_at(pc)) && !is_inside(pc)) return false;
    }
    return std::all_of(chunk_.regions.begin(), chunk_.regions.end(), [&](const bytecode::Region& region) {
      return !is_inside(region.handler) || (is_inside(region.begin) && goes_on_raising(region.handler));
    });
  }

  bool is_handler(uint32_t pc) const {
    return std::any_of(chunk_.regions.begin(), chunk_.regions.end(),
                       [&](const bytecode::Region& region) { return region.handler == pc; });
  }

  // A cleanup that never comes back: the loan is settled when it runs.
  bool goes_on_raising(uint32_t pc) const {
    while (chunk_.op_at(pc) != Op::Rethrow) {
      pc += chunk_.length_at(pc);
      if (pc >= chunk_.size || kinds_.is_leader(pc)) return false;
    }
    return true;
  }

  const Kinds& kinds_;
  const bytecode::Chunk& chunk_;
  Loan loan_;
  bool taken_ = false;
  uint32_t walk_ = 0;        // of a value taken out: where its walk begins
  uint16_t container_ = 0;   // the variable it stands in
  std::vector<uint16_t> indexes_;
  uint32_t furthest_ = 0;    // where a jump goes
};

// ---- loans to itself ----

// What has loops is entered there with what bytecode has owned, and a handler goes on with what an error has made good.
uint64_t only_read(const Kinds& kinds) {
  const Chunk& chunk = kinds.chunk();
  uint64_t found = 0;
  if (!kinds.is_recursive() || !chunk.loop_heads.empty() || !chunk.regions.empty()) return found;
  for (uint32_t n = 0; n < chunk.outline.parameters && n < 64; ++n) {
    if (is_counted(kinds.at_leader(0).kinds[n]) && kinds.only_reads(n)) found |= uint64_t{1} << n;
  }
  return found;
}

// What it gives up there, if it does, it would have given up soon: it returns next.
bool returns_next(const Chunk& chunk, uint32_t pc) {
  pc += chunk.length_at(pc);
  while (pc < chunk.size && chunk.op_at(pc) == Op::Jump && chunk.target_at(pc) > pc) pc = chunk.target_at(pc);
  return pc < chunk.size && chunk.op_at(pc) == Op::Return;
}

// Those of them that are held, or handed on.
uint64_t held(const Kinds& kinds, uint64_t parameters) {
  const Chunk& chunk = kinds.chunk();
  kinds.lend_to_itself(parameters);
  kinds.for_each_reached([&](uint32_t pc, const Plan& plan, const State& before) {
    const Insn& insn = chunk.at(pc);
    const Op op = static_cast<Op>(insn.op);
    const bool gives_up = op == Op::Move || (reads_out(op) && insn.x & bytecode::kConsumeB);
    if (!gives_up || insn.b >= 64 || !(parameters >> insn.b & 1) || returns_next(chunk, pc)) return true;
    const auto loan = op == Op::Move ? find_loan(kinds, pc, kinds.after(pc, plan, before)) : std::nullopt;
    if (!loan || !kinds.is_recursive(loan->end)) parameters &= ~(uint64_t{1} << insn.b);
    return true;
  });
  return parameters;
}

}  // namespace

void settle_loans_to_itself(std::span<const Kinds* const> versions) {
  uint64_t lent = UINT64_MAX;
  for (const Kinds* each : versions) lent &= only_read(*each);
  for (uint64_t before = 0; lent != before;) {
    before = lent;
    for (const Kinds* each : versions) lent &= held(*each, before);
  }
  for (const Kinds* each : versions) each->lend_to_itself(lent);
}

std::optional<Loan> find_loan(const Kinds& kinds, uint32_t pc, const State& after) {
  return Search(kinds, pc).run(after);
}

}  // namespace posset::jit
