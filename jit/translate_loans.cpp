// Code between the beginning and the end of a loan: see loans.h.
#include <algorithm>

#include "jit/translator.h"

namespace posset::jit {

// Whether what the instruction reads or, at `place`, takes out is lent instead.
bool Translator::lend(uint32_t pc, llvm::Value* place) {
  const Insn& insn = chunk_.at(pc);
  if (plan_.way != Way::Inline || !cached(insn.a)) return false;
  // What is read of an unknown kind may be no object at all, and then there is little to gain.
  if (!place && (!is_counted(plan_.result) || (insn.x & bytecode::kConsumeB))) return false;
  const auto loan = find_loan(*kinds_, pc, after_);
  if (!loan) return false;
  lent_.push_back({*loan, place, place ? place_memory() : Memory::Count, plan_.field});
  return true;
}

// What gives back what has never left its place has nothing to do.
bool Translator::ends_loan(uint32_t pc) {
  for (const Lent& each : lent_) {
    if (!each.place || pc < each.loan.end_begin) continue;
    if (pc == each.loan.end) write(each.loan.reg, nil());
    return true;
  }
  return false;
}

bool Translator::is_lent(uint16_t reg) const {
  return std::any_of(lent_.begin(), lent_.end(), [&](const Lent& each) {
    return each.loan.reg == reg && each.loan.end == here_;
  });
}

// Whether what is copied or moved to be an argument is lent to the call. Moved, it must be borrowed.
bool Translator::lend_argument(const Insn& insn) {
  const Kind kind = state_.kinds[insn.b];
  if (!is_counted(kind) || !cached(insn.a) || insn.a < chunk_.slots) return false;
  const auto loan = find_loan(*kinds_, here_, after_);
  if (!loan) return false;
  lent_.push_back({*loan, nullptr, Memory::Count, 0});
  return true;
}

bool Translator::is_borrowed(uint16_t reg) const {
  return std::find(borrowed_.begin(), borrowed_.end(), reg) != borrowed_.end();
}

// What the frame would own by now, and does not.
void Translator::add_borrowed(std::vector<uint32_t>& to) const {
  std::copy_if(borrowed_.begin(), borrowed_.end(), std::back_inserter(to), [this](uint16_t slot) {
    return state_.kinds[slot] != Kind::Nil && state_.kinds[slot] != Kind::None;
  });
}

// Arguments that are lent, of a call that is not made as was expected.
void Translator::settle_arguments(const Insn& insn) {
  for (uint16_t n = 0; n < insn.c; ++n) {
    const auto reg = static_cast<uint16_t>(insn.a + 2 + n);
    if (is_lent(reg)) retain_rarely(read(reg));
  }
}

// Code is made in the order of the bytecode, but for conditions of loops.
void Translator::forget_loans(uint32_t pc) {
  std::erase_if(lent_, [&](const Lent& each) { return pc <= each.loan.first || pc > each.loan.end; });
}

bool Translator::is_handler(uint32_t pc) const {
  return std::any_of(chunk_.regions.begin(), chunk_.regions.end(),
                     [&](const bytecode::Region& region) { return region.handler == pc; });
}

llvm::Value* Translator::record_around(llvm::Value* place, uint32_t field) {
  const auto back = static_cast<int64_t>(sizeof(interp::Record) + uint64_t{field} * sizeof(interp::Borrowed));
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), place, word(static_cast<uint64_t>(-back)));
}

// Everything as bytecode has it. An error has done so before it came to a handler.
void Translator::settle_loans() {
  settle_places();
  for (uint32_t reg : lent_registers()) retain_rarely(cached_value(reg, state_.kinds[reg]));
}

// Of what has been taken out.
void Translator::settle_places() {
  for (const Lent& each : lent_) {
    if (each.loan.first < handler_ || !each.place) continue;
    store_value(each.place, nil(), each.memory);
    if (each.memory == Memory::Fields) note_field(record_around(each.place, each.field), each.field, nil());
  }
}

// What they hold has no owner for it.
std::vector<uint32_t> Translator::lent_registers() const {
  std::vector<uint32_t> found;
  for (const Lent& each : lent_) {
    if (each.loan.first >= handler_ && !each.place) found.push_back(each.loan.reg);
  }
  return found;
}

}  // namespace posset::jit
