// See choices.h.
#include "jit/choices.h"

#include <algorithm>
#include <bit>

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;

namespace {

// Instructions that compute, on both ways together: what a wrong guess costs is worth about five times as many.
constexpr int kMostWork = 4;

class Search {
 public:
  Search(const Chunk& chunk, const Kinds& kinds, const std::function<bool(uint32_t)>& is_proved)
      : chunk_(chunk), kinds_(kinds), is_proved_(is_proved) {}

  std::optional<Choice> find(uint32_t jump, const State& state);

 private:
  bool find_ends(uint32_t jump, Choice& choice) const;
  bool walk(Choice::Way& way, State state, Choice& choice);
  bool appends(uint32_t pc, const State& state, Choice& choice);
  bool fits(uint32_t pc, const Plan& plan, const State& state);
  bool computes(uint32_t pc, const Plan& plan, const State& state);
  static void note_written(uint32_t reg, Choice& choice);
  bool find_results(Choice& choice) const;

  const Chunk& chunk_;
  const Kinds& kinds_;
  const std::function<bool(uint32_t)>& is_proved_;
  int work_ = 0;
  bool checks_ = false;  // the optimiser could not do it
};

// Where the jump falls through, up to where it goes: all of it, or, ended by a jump further on, one of two ways.
bool Search::find_ends(uint32_t jump, Choice& choice) const {
  const uint32_t other = chunk_.target_at(jump);
  uint32_t last = jump + chunk_.length_at(jump);
  if (other <= last || other - last > 3 * kMostWork) return false;
  choice.falls.begin = last;
  while (last + chunk_.length_at(last) < other) last += chunk_.length_at(last);
  const bool two = chunk_.op_at(last) == Op::Jump && chunk_.target_at(last) > other;
  choice.falls.end = two ? last : other;
  choice.jumps.begin = other;
  choice.jumps.end = choice.join = two ? chunk_.target_at(last) : other;
  return choice.join - other <= 3 * kMostWork;
}

bool Search::computes(uint32_t pc, const Plan& plan, const State& state) {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  const bytecode::OpInfo& known = bytecode::info(op);
  const bool told = (known.b != 'R' || state.kinds[insn.b] == plan.b) && (known.c != 'R' || state.kinds[insn.c] == plan.c);
  const bool certain = (known.b != 'R' || plan.b != Kind::Any) && (known.c != 'R' || plan.c != Kind::Any);
  if (!told || !certain || ++work_ > kMostWork) return false;
  if (op == Op::IntDivI || op == Op::ModI) return insn.imm_c() > 0 && std::has_single_bit(static_cast<uint16_t>(insn.c));
  if (!is_in(op, Op::Add, Op::MulI) && op != Op::Neg) return false;
  checks_ |= plan.result == Kind::Int && !is_proved_(pc);
  return true;
}

bool Search::fits(uint32_t pc, const Plan& plan, const State& state) {
  const Insn& insn = chunk_.at(pc);
  const Op op = static_cast<Op>(insn.op);
  if (op == Op::Nop) return true;
  if (plan.way != Way::Inline || kinds_.pinned(insn.a)) return false;
  if (op == Op::CheckParam || op == Op::CheckType) return state.kinds[insn.a] == plan.a;  // nothing is asked
  switch (op) {
    case Op::LoadNil:
    case Op::LoadBool:
    case Op::LoadInt:
    case Op::LoadConst: return true;
    case Op::Copy:
    case Op::Move: return is_plain(state.kinds[insn.b]);
    case Op::Store: return is_plain(state.kinds[insn.b]) && is_plain(state.kinds[insn.a]);
    default: return computes(pc, plan, state);
  }
}

bool Search::walk(Choice::Way& way, State state, Choice& choice) {
  for (uint32_t pc = way.begin; pc < way.end; pc += chunk_.length_at(pc)) {
    if (pc != way.begin && kinds_.is_leader(pc)) return false;
    const Plan plan = kinds_.plan(pc, state);
    if (choice.append || (!fits(pc, plan, state) && !appends(pc, state, choice))) return false;
    state = kinds_.after(pc, plan, state);
    if (choice.append) break;
    for_each_access(chunk_, pc, [&](const Access& each) {
      for (uint32_t reg = each.first; each.written && reg < each.first + each.count; ++reg) note_written(reg, choice);
    });
  }
  way.behind = std::move(state);
  return !choice.append || *choice.append + chunk_.length_at(*choice.append) == choice.join;
}

bool Search::appends(uint32_t pc, const State& state, Choice& choice) {
  if (chunk_.op_at(pc) != Op::AppendItem || pc >= choice.falls.end || !is_proved_(pc)) return false;
  if (!is_plain(state.kinds[chunk_.at(pc).b])) return false;
  choice.append = pc;
  checks_ = true;
  return ++work_ <= kMostWork;
}

void Search::note_written(uint32_t reg, Choice& choice) {
  std::vector<uint32_t>& all = choice.written;
  if (std::find(all.begin(), all.end(), reg) == all.end()) all.push_back(reg);
}

bool Search::find_results(Choice& choice) const {
  for (uint32_t reg : choice.written) {
    if (kinds_.at_leader(choice.join).kinds[reg] == Kind::None) continue;
    const Kind kind = choice.falls.behind.kinds[reg];
    if (kind != choice.jumps.behind.kinds[reg] || !is_plain(kind)) return false;
    choice.results.push_back(reg);
  }
  return !choice.results.empty() || choice.append;
}

std::optional<Choice> Search::find(uint32_t jump, const State& state) {
  Choice choice;
  if (!find_ends(jump, choice) || !walk(choice.falls, state, choice) || !walk(choice.jumps, state, choice)) return std::nullopt;
  if (!checks_ || !find_results(choice)) return std::nullopt;
  return choice;
}

}  // namespace

std::optional<Choice> find_choice(const Chunk& chunk, const Kinds& kinds, uint32_t jump, const State& state,
                                  const std::function<bool(uint32_t)>& is_proved) {
  if (kinds.exited(jump)) return std::nullopt;
  return Search(chunk, kinds, is_proved).find(jump, state);
}

}  // namespace posset::jit
