// See strips.h.
#include "jit/strips.h"

#include <algorithm>
#include <bit>
#include <map>

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;

namespace {

constexpr uint32_t kLongestBody = 200;  // words: the body is made twice

using Known = std::map<uint16_t, int>;  // terms by register

class Finder {
 public:
  Finder(const Chunk& chunk, const Kinds& kinds, const std::vector<Loop>& loops, const Loop& loop)
      : chunk_(chunk), kinds_(kinds), loops_(loops), loop_(loop), written_(chunk.registers), set_(chunk.registers) {}

  std::optional<Strip> run() {
    const Insn& latch = chunk_.at(loop_.latch);
    if (!loop_.tidy || loop_.entry != loop_.latch || loop_.latch - loop_.head > kLongestBody) return std::nullopt;
    if (!is_innermost() || !kinds_.at_leader(loop_.head).reached || !kinds_.at_leader(loop_.latch).reached) return std::nullopt;
    const Op op = static_cast<Op>(latch.op);
    strip_.counted = op == Op::ForRange;
    if (!strip_.counted && !find_comparison(latch, op)) return std::nullopt;
    if (strip_.counted) strip_.counter = latch.b;
    if (!find_written() || kinds_.pinned(strip_.counter)) return std::nullopt;
    enter(loop_.head, {{strip_.counter, add({Term::Form::Counter, 0, 0, -1, -1, true, true})}});
    if (!walk()) return std::nullopt;
    if (!strip_.counted && !find_step()) return std::nullopt;
    return std::move(strip_);
  }

 private:
  const bytecode::OpInfo& info(uint32_t pc) const { return bytecode::info(chunk_.op_at(pc)); }

  bool is_innermost() const {
    bool only = true;
    for (const Loop& other : loops_) only &= &other == &loop_ || !loop_.contains(other.head);
    for (uint32_t pc = loop_.head; pc < loop_.latch; pc += chunk_.length_at(pc)) {
      only &= !(info(pc).flags & bytecode::Branch) || chunk_.target_at(pc) > pc;
    }
    return only;
  }

  // LoopLt and its kin, with the sense that goes on while it holds.
  bool find_comparison(const Insn& latch, Op op) {
    if (!is_in(op, Op::JumpLt, Op::LoopGeK) || !(latch.x & bytecode::kSense)) return false;
    constexpr int kVariants = 6;  // of a comparison in the opcode table; the second half goes back
    const int row = (static_cast<int>(op) - static_cast<int>(Op::JumpLt)) / kVariants;
    const int variant = (static_cast<int>(op) - static_cast<int>(Op::JumpLt)) % kVariants;
    strip_.upwards = row < 2;                 // Lt, Le, Gt, Ge
    strip_.strict = row == 0 || row == 2;
    strip_.counter = latch.a;
    limit_register_ = variant == 3;
    if (variant == 4) strip_.limit = add({Term::Form::Constant, 0, latch.imm_b()});
    return variant == 3 || variant == 4;
  }

  // What the loop writes. Nothing is left to exec, so operands on numbers keep what they have.
  bool find_written() {
    for (uint32_t pc = loop_.head; pc <= loop_.latch; pc += chunk_.length_at(pc)) {
      const Op op = chunk_.op_at(pc);
      const bool reads = is_in(op, Op::Add, Op::LoopGeK) || op == Op::Index || op == Op::ViewIndex ||
                         op == Op::SetIndex || op == Op::Swap || op == Op::UpdateIndex || op == Op::PlaceLocal ||
                         op == Op::Len;
      for_each_access(chunk_, pc, [&](const Access& each) {
        for (uint32_t reg = each.first; each.written && !(reads && each.read) && reg < each.first + each.count; ++reg) {
          written_.add(reg);
          if (!grows(pc)) set_.add(reg);
        }
      });
    }
    return true;
  }

  // x += y or x -= y.
  bool grows(uint32_t pc) const {
    const Op op = chunk_.op_at(pc);
    const bool sum = op == Op::Add || op == Op::AddI || op == Op::Sub || op == Op::SubI;
    return sum && chunk_.at(pc).a == chunk_.at(pc).b;
  }

  int add(const Term& term) {
    strip_.terms.push_back(term);
    return static_cast<int>(strip_.terms.size()) - 1;
  }

  // ---- what registers hold ----

  void enter(uint32_t pc, const Known& from) {
    if (!entered_.count(pc)) {
      entered_[pc] = from;
      return;
    }
    std::erase_if(entered_[pc], [&](const auto& each) {
      auto found = from.find(each.first);
      return found == from.end() || found->second != each.second;
    });
  }

  int term_of(uint16_t reg, const State& state) {
    auto found = known_now_.find(reg);
    if (found != known_now_.end()) return found->second;
    const State& first = kinds_.at_leader(loop_.head);
    if (written_.has(reg) || kinds_.pinned(reg) || first.kinds[reg] != Kind::Int || state.kinds[reg] != Kind::Int) return -1;
    auto [place, fresh] = fixed_.try_emplace(reg, -1);
    if (fresh) place->second = add({Term::Form::Register, reg});
    return place->second;
  }

  bool walk() {
    State state = kinds_.at_leader(loop_.head);
    bool reached = true;
    for (uint32_t pc = loop_.head; pc <= loop_.latch; pc += chunk_.length_at(pc)) {
      if (auto found = entered_.find(pc); found != entered_.end()) {
        if (reached && pc != loop_.head) enter(pc, known_now_);
        known_now_ = found->second;
        state = kinds_.at_leader(pc);
        reached = state.reached;
      }
      if (!reached) continue;
      const Plan plan = kinds_.plan(pc, state);
      if (plan.way == Way::Exit) {
        reached = false;
        continue;
      }
      const bool harmless = leaves_lists(chunk_.op_at(pc)) && !counts_references(chunk_.at(pc), plan, state);
      if (plan.way != Way::Inline || !harmless) return false;
      const State after = kinds_.after(pc, plan, state);
      if (pc == loop_.latch) return strip_.counted || find_limit(state);
      look_at(pc, plan, after);
      state = after;
      if (info(pc).flags & bytecode::Branch) leave_for(chunk_.target_at(pc));
      reached = !(info(pc).flags & bytecode::Ends);
      if ((info(pc).flags & bytecode::Branch) && reached) leave_for(pc + chunk_.length_at(pc));
    }
    return false;  // the condition is never reached
  }

  void leave_for(uint32_t to) {
    if (loop_.contains(to)) enter(to, known_now_);
  }

  // Done in place, these change no list's size, and its owners only where counts_references says so.
  static bool leaves_lists(Op op) {
    switch (op) {
      case Op::Nop:
      case Op::LoadNil:
      case Op::LoadBool:
      case Op::LoadInt:
      case Op::LoadConst:
      case Op::Copy:
      case Op::Move:
      case Op::Store:
      case Op::Drop:
      case Op::DropRange:
      case Op::Jump:
      case Op::LoopIf:
      case Op::JumpSet:
      case Op::JumpNil:
      case Op::ForRange:
      case Op::ViewCaptured: return true;
      default: return keeps_sizes(op);
    }
  }

  static bool counts_references(const Insn& insn, const Plan& plan, const State& state) {
    switch (static_cast<Op>(insn.op)) {
      case Op::Copy: return !is_plain(state.kinds[insn.b]);
      case Op::Store: return !is_plain(state.kinds[insn.a]) || !is_plain(state.kinds[insn.b]);
      case Op::Drop: return !is_plain(state.kinds[insn.a]);
      case Op::Index:
      case Op::Field: return !is_plain(plan.result) || (insn.x & bytecode::kConsumeB);
      case Op::SetIndex: return plan.a == Kind::Items;
      case Op::Len: return insn.x & bytecode::kConsumeB;
      case Op::DropRange:
        for (uint32_t n = 0; n < insn.b; ++n) {
          if (!is_plain(state.kinds[insn.a + n])) return true;
        }
        return false;
      default: return false;
    }
  }

  // ---- instructions ----

  void look_at(uint32_t pc, const Plan& plan, const State& after) {
    const Insn& insn = chunk_.at(pc);
    const Op op = static_cast<Op>(insn.op);
    int result = -1;
    if (is_in(op, Op::Add, Op::MulI) && plan.result == Kind::Int) result = sum(pc, insn, op, after);
    if (op == Op::LoadInt) result = add({Term::Form::Constant, 0, insn.imm_b()});
    if (op == Op::Copy || op == Op::Move || op == Op::Store) result = term_of(insn.b, after);
    if (op == Op::Index || op == Op::ViewIndex) look(pc, insn.b, plan.b, term_of(insn.c, after), false);
    if (op == Op::SetIndex) look(pc, insn.a, plan.a, term_of(insn.b, after), true);
    if (op == Op::UpdateIndex && kinds_.walk_begin(pc) == pc - 1) {
      look(pc, chunk_.at(pc - 1).a, after.kinds[chunk_.at(pc - 1).a], term_of(insn.a, after), true);
    }
    const char kind = info(pc).a;
    const bool changes_list = op == Op::SetIndex || op == Op::Swap || op == Op::PlaceLocal;
    if (kind == 'D' || kind == 'U' || (kind == 'V' && !changes_list)) known_now_.erase(insn.a);
    if (op == Op::DropRange) {
      for (uint32_t n = 0; n < insn.b; ++n) known_now_.erase(static_cast<uint16_t>(insn.a + n));
    }
    if (op == Op::Move || op == Op::Store) known_now_.erase(insn.b);
    if (result >= 0 && !kinds_.pinned(insn.a)) known_now_[insn.a] = result;
  }

  void look(uint32_t pc, uint16_t list, Kind kind, int term, bool changes) {
    if (term < 0 || written_.has(list) || kinds_.pinned(list) || !is_list(kind)) return;
    const Kind known = kinds_.at_leader(loop_.head).kinds[list];
    if (known != kind && known != Kind::Any) return;
    for (const Strip::Look& other : strip_.looks) {
      if (other.list == list && other.kind != kind) return;
    }
    strip_.looks.push_back({pc, list, kind, term, changes});
  }

  int sum(uint32_t pc, const Insn& insn, Op op, const State& after) {
    const Op first = op >= Op::Mul ? Op::Mul : op >= Op::Sub ? Op::Sub : Op::Add;
    const int variant = static_cast<int>(op) - static_cast<int>(first);
    if (variant == 1 || variant == 2) return -1;  // constants of more than 16 bits
    const int left = term_of(insn.b, after);
    const int right = variant == 3 ? add({Term::Form::Constant, 0, insn.imm_c()}) : term_of(insn.c, after);
    if (left < 0 && right >= 0 && grows(pc)) grow(pc, insn, right, first == Op::Sub, after);
    if (left < 0 || right < 0) return -1;
    const Term l = strip_.terms[static_cast<size_t>(left)], r = strip_.terms[static_cast<size_t>(right)];
    if (first == Op::Mul && l.varies && r.varies) return -1;
    Term made{first == Op::Add ? Term::Form::Add : first == Op::Sub ? Term::Form::Sub : Term::Form::Mul, 0, 0, left, right};
    made.varies = l.varies || r.varies;
    made.by_one = first == Op::Add ? l.by_one != r.by_one && l.varies != r.varies
                                   : first == Op::Sub && l.by_one && !r.varies;
    const int term = add(made);
    strip_.sums.push_back(pc);
    strip_.checked.push_back(term);
    return term;
  }

  void grow(uint32_t pc, const Insn& insn, int term, bool down, const State& after) {
    const Kind first = kinds_.at_leader(loop_.head).kinds[insn.a];
    if (set_.has(insn.a) || kinds_.pinned(insn.a) || first != Kind::Int || after.kinds[insn.a] != Kind::Int) return;
    strip_.growths.push_back({pc, insn.a, term, down});
  }

  // ---- loops by comparison ----

  bool find_limit(const State& state) {
    if (limit_register_) strip_.limit = term_of(chunk_.at(loop_.latch).b, state);
    last_ = known_now_.count(strip_.counter) ? known_now_[strip_.counter] : -1;
    return strip_.limit >= 0 && last_ >= 0 && !strip_.terms[static_cast<size_t>(strip_.limit)].varies;
  }

  // At the end of a round the counter is what it was, and a step that does not change.
  bool find_step() {
    const Term& last = strip_.terms[static_cast<size_t>(last_)];
    const auto wanted = strip_.upwards ? Term::Form::Add : Term::Form::Sub;
    if (last.form != wanted) return false;
    const auto form = [&](int term) { return strip_.terms[static_cast<size_t>(term)].form; };
    if (form(last.left) != Term::Form::Counter || strip_.terms[static_cast<size_t>(last.right)].varies) return false;
    strip_.step = last.right;
    // Only a step of one is known to be one before the code runs.
    const Term step = strip_.terms[static_cast<size_t>(strip_.step)];
    const bool one = strip_.upwards && step.form == Term::Form::Constant && step.value == 1;
    for (Term& term : strip_.terms) term.by_one = term.by_one && one;
    return true;
  }

  const Chunk& chunk_;
  const Kinds& kinds_;
  const std::vector<Loop>& loops_;
  const Loop& loop_;
  Strip strip_;
  RegisterSet written_;
  RegisterSet set_;  // to something else than a sum of itself
  std::map<uint32_t, Known> entered_;  // by leader within the body
  Known known_now_;
  std::map<uint16_t, int> fixed_;
  bool limit_register_ = false;
  int last_ = -1;  // the counter's term at the end of a round
};

}  // namespace

std::optional<Strip> find_strip(const Chunk& chunk, const Kinds& kinds, const std::vector<Loop>& loops,
                                const Loop& loop) {
  return Finder(chunk, kinds, loops, loop).run();
}

}  // namespace posset::jit
