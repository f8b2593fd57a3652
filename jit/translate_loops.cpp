// The shape of loops in stage 2. What the optimiser does for loops it does for natural ones: one block where
// all ways in arrive. Bytecode enters a loop at its condition and goes back to its body, and code can be entered
// at the head of any loop, which would make two ways in and more. Hence
//
// - the condition is made twice, in front of the loop and at its end, so that the body begins the loop;
// - a loop is entered by a block of its own, where what was read out of the frame meets what was computed;
// - code entered at the head of an inner loop goes there by way of the heads of the loops around it, each of
//   which asks once a round whether it is only passed through.
//
// Loops that are not tidy (loops.h) stay as they are in bytecode, and what they contain is entered directly.
#include "jit/translator.h"

namespace posset::jit {

namespace {

// How often looking for a strip may be in vain before a loop runs without until it is entered again. Not at the
// first time: often only the first or the last rounds are different.
constexpr uint32_t kTries = 3;

}  // namespace

const Loop* Translator::loop_at(uint32_t pc) const {
  for (const Loop& loop : loops_) {
    if (loop.head == pc && loop.tidy) return &loop;
  }
  return nullptr;
}

size_t Translator::number_of_loop(const Loop& loop) const { return static_cast<size_t>(&loop - loops_.data()); }

// Where code outside of the loop goes to enter it.
llvm::BasicBlock* Translator::before_loop(const Loop& loop) {
  llvm::BasicBlock*& before = shapes_[number_of_loop(loop)].before;
  if (before) return before;
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  before = late("before");
  b_.SetInsertPoint(before);
  LoopShape& shape = shapes_[number_of_loop(loop)];
  if (shape.tries) put(b_.getInt32(kTries), shape.tries);
  b_.CreateBr(blocks_[loop.head]);
  return before;
}

llvm::BasicBlock* Translator::way_to(uint32_t pc) {
  const Loop* loop = loop_at(pc);
  if (!loop || (loop->contains(here_) && guarded_ != loop)) return blocks_[pc];
  return before_loop(*loop);
}

// The condition in front of the loop, for the jump that enters it. False: it is an ordinary jump.
bool Translator::guard_loop(uint32_t pc) {
  const Loop* entered = nullptr;
  for (const Loop& loop : loops_) {
    if (loop.tidy && loop.entry == chunk_.target_at(pc) && loop.entry != loop.head && !loop.contains(pc)) entered = &loop;
  }
  if (!entered) return false;
  std::vector<llvm::BasicBlock*> own(blocks_.begin() + entered->entry, blocks_.begin() + entered->latch + 1);
  for (uint32_t at = entered->entry; at <= entered->latch; ++at) {
    if (blocks_[at]) blocks_[at] = block("guard");
  }
  b_.CreateBr(block_at(entered->entry));
  guarded_ = entered;
  for (uint32_t at = entered->entry; at <= entered->latch; at += chunk_.length_at(at)) instruction(at);
  const uint32_t next = entered->latch + chunk_.length_at(entered->latch);
  if (reached_ && !b_.GetInsertBlock()->getTerminator()) b_.CreateBr(block_at(next));
  guarded_ = nullptr;
  std::copy(own.begin(), own.end(), blocks_.begin() + entered->entry);
  return true;
}

// ---- entering at the head of an inner loop ----

// Zero, which the optimiser cannot know: it would otherwise lead the ways of the entries right into the loops.
llvm::Value* Translator::no_entry() {
  llvm::Value* low = b_.CreateAnd(b_.CreatePtrToInt(host(), b_.getInt64Ty()), word(alignof(void*) - 1));
  return b_.CreateTrunc(low, b_.getInt32Ty());
}

void Translator::shape_loops() {
  if (is_quick()) return;
  loops_ = find_loops(chunk_);
  shapes_.resize(loops_.size());
  prepare_strips();
}

// Not of what is inlined: it is entered by the call only.
void Translator::prepare_entries() {
  if (is_quick() || chunk_.loop_heads.empty()) return;
  no_entry_ = no_entry();
  passing_ = new_variable(b_.getInt32Ty());
  put(no_entry_, passing_);
}

// Where the code entered at a loop's head by that number goes on.
llvm::BasicBlock* Translator::way_from_entry(uint32_t pc, uint32_t number) {
  const Loop* loop = loop_at(pc);
  if (!loop) return blocks_[pc];
  const Loop* outermost = loop;
  for (int up = loop->parent; up >= 0; up = loops_[static_cast<size_t>(up)].parent) {
    if (!loops_[static_cast<size_t>(up)].tidy) return blocks_[pc];
    outermost = &loops_[static_cast<size_t>(up)];
  }
  if (outermost == loop) {
    bound_by_loop(*loop);
    return before_loop(*loop);
  }
  put(b_.CreateXor(entry_number_, no_entry_), passing_);
  const Loop* inner = loop;
  while (inner->parent >= 0) {
    const Loop& outer = loops_[static_cast<size_t>(inner->parent)];
    shapes_[number_of_loop(outer)].passing.push_back({number, inner, inner == loop});
    inner = &outer;
  }
  return before_loop(*outermost);
}

// At the head: on to an inner loop where the code was entered for that.
void Translator::pass_through(uint32_t pc) {
  const Loop* loop = loop_at(pc);
  if (!loop || shapes_[number_of_loop(*loop)].passing.empty()) return;
  const auto& passing = shapes_[number_of_loop(*loop)].passing;
  auto* body = block("body");
  auto* choice = b_.CreateSwitch(load(b_.getInt32Ty(), passing_), body, static_cast<unsigned>(passing.size()));
  for (const auto& each : passing) {
    choice->addCase(b_.getInt32(each.number), each.arrives ? arrival(*each.to) : before_loop(*each.to));
  }
  go_on_in(body);
}

llvm::BasicBlock* Translator::arrival(const Loop& loop) {
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  auto* arrived = late("arrived");
  b_.SetInsertPoint(arrived);
  put(no_entry_, passing_);
  bound_by_loop(loop);
  b_.CreateBr(before_loop(loop));
  return arrived;
}

// On the way back to the head of a loop that is passed through: what is in variables that nobody reads in the
// next round would otherwise have to be kept for an entry that has long been over.
void Translator::forget_dead(uint32_t head) {
  const Loop* loop = loop_at(head);
  if (!loop || shapes_[number_of_loop(*loop)].passing.empty()) return;
  auto forget = [&](llvm::AllocaInst* variable) {
    if (variable) put(llvm::PoisonValue::get(variable->getAllocatedType()), variable);
  };
  const State& there = kinds_->at_leader(head);
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    const Kind kind = there.kinds[reg];
    // What is still to be converted is read on the way (block_at).
    if (!cached(reg) || (kind != Kind::None && kind != after_.kinds[reg])) continue;
    if (kind != Kind::Any) forget(tags_[reg]);
    if (kind == Kind::None || kind == Kind::Nil || kind == Kind::Float || is_unboxed(kind)) forget(payloads_[reg]);
    if (kind != Kind::Float) forget(numbers_[reg]);
    if (!is_unboxed(kind)) forget_parts(reg);
  }
}

}  // namespace posset::jit
