// Selections instead of branches: see choices.h.
#include <llvm/IR/MDBuilder.h>

#include "bytecode/exits.h"
#include "jit/translator.h"

namespace posset::jit {

using bytecode::Expected;

// `holds`: the jump is taken. False: it is a branch.
bool Translator::choose(uint32_t pc, llvm::Value* holds) {
  if (is_quick() || plan_.way != Way::Inline || overflowed_) return false;
  const auto choice = find_choice(chunk_, *kinds_, pc, after_, [&](uint32_t each) { return is_proved_sum(each) || is_proved_append(each); });
  if (!choice) return false;
  exit_ = beyond_leaf_ ? beyond_leaf_ : exit_with(pc, expectation(0) | Expected::because(Expected::Why::Choice));
  const State before = after_;
  auto values = [&](const State& state, const std::vector<uint32_t>& registers) {
    std::vector<Operand> all;
    for (uint32_t reg : registers) {
      const Known known = state.known(reg);
      all.push_back(known.kind == Kind::None ? Operand{Kind::None} : cached_value(reg, known));
    }
    return all;
  };
  const std::vector<Operand> old = values(before, choice->written);
  llvm::Value* fails[2];
  Operand appended;
  std::vector<Operand> given[2];
  const Choice::Way* ways[] = {&choice->falls, &choice->jumps};
  for (int n = 0; n < 2; ++n) {
    fails[n] = compute_way(*ways[n], before);
    given[n] = values(ways[n]->behind, choice->results);
    if (n == 0 && choice->append) appended = read_appended(*choice);
    // The exit finds what was there before.
    for (size_t i = 0; i < old.size(); ++i) {
      if (old[i].kind != Kind::None) keep(choice->written[i], old[i].kind, old[i]);
    }
  }
  // Chosen in front of the branch, where the condition need not be kept for it.
  std::vector<Operand> results;
  for (size_t i = 0; i < choice->results.size(); ++i) results.push_back(either(holds, given[1][i], given[0][i]));
  leave_choice(holds, fails[1], fails[0]);
  for (size_t i = 0; i < choice->results.size(); ++i) keep(choice->results[i], results[i].kind, results[i]);
  if (choice->append) append_unless(holds, chunk_.at(*choice->append), appended);
  after_ = choice->falls.behind;
  b_.CreateBr(block_at(choice->join));
  return true;
}

// Which way is taken does not matter while neither has overflowed, which is asked first, so that nothing is guessed
// here either. The weights keep the optimiser from making one question of the two.
void Translator::leave_choice(llvm::Value* holds, llvm::Value* jumps_fails, llvm::Value* falls_fails) {
  constexpr uint32_t kUsual = 2000;  // to one
  auto* chosen = block("chosen");
  auto* either_fails = cold("either_fails");
  llvm::MDNode* rarely = llvm::MDBuilder(*context_).createBranchWeights(1, kUsual);
  b_.CreateCondBr(b_.CreateOr(jumps_fails, falls_fails), either_fails, chosen, rarely);
  b_.SetInsertPoint(either_fails);
  b_.CreateCondBr(b_.CreateSelect(holds, jumps_fails, falls_fails), exit_, chosen);
  go_on_in(chosen);
}

// The item, which the way has computed.
Operand Translator::read_appended(const Choice& choice) {
  const uint16_t reg = chunk_.at(*choice.append).b;
  return cached_value(reg, choice.falls.behind.kinds[reg]);
}

// The strip has room for an item in every round.
void Translator::append_unless(llvm::Value* condition, const Insn& append, const Operand& v) {
  const Operand list = appended_list(append.a);
  llvm::AllocaInst* size = size_in_strip(append.a);
  llvm::Value* before = load(b_.getInt64Ty(), size);
  put_element(list, before, packing_of_kind(list.kind), v);
  put(b_.CreateAdd(before, b_.CreateZExt(b_.CreateNot(condition), b_.getInt64Ty()), "", true, true), size);
}

// Gives whether something has overflowed.
llvm::Value* Translator::compute_way(const Choice::Way& way, const State& before) {
  const Plan plan_of_jump = plan_;
  const State state_of_jump = state_;
  const uint32_t jump = here_;
  overflowed_ = b_.getFalse();
  state_ = before;
  refined_.clear();
  for (uint32_t pc = way.begin; pc < way.end; pc += chunk_.length_at(pc)) {
    here_ = pc;
    plan_ = kinds_->plan(pc, state_);
    after_ = kinds_->after(pc, plan_, state_);
    if (chunk_.op_at(pc) != bytecode::Op::AppendItem && !move(chunk_.at(pc))) arith(pc, chunk_.at(pc));
    state_ = after_;
  }
  here_ = jump;
  plan_ = plan_of_jump;
  state_ = state_of_jump;
  return std::exchange(overflowed_, nullptr);
}

// Of one kind.
Operand Translator::either(llvm::Value* condition, const Operand& a, const Operand& b) {
  if (a.kind == Kind::Nil) return a;
  if (a.kind == Kind::Float) return floating(b_.CreateSelect(condition, as_double(a), as_double(b)));
  return {a.kind, nullptr, b_.CreateSelect(condition, a.payload, b.payload)};
}

}  // namespace posset::jit
