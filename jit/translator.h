// The translator's state and what its families share. Definitions by family: translator.cpp (blocks,
// prologue, errors, generic instructions), translate_arith.cpp, translate_control.cpp, translate_data.cpp,
// translate_call.cpp.
//
// Registers stay in the frame (two words each), so that at every instruction the frame is what the machine
// would have and nothing has to be rebuilt when an instruction raises or code goes back to bytecode.
//
// Blocks: one per leader of the bytecode, in its order; what is unlikely goes to the end of the function,
// because the quick pipeline keeps the order it is given.
#pragma once

#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "bytecode/native.h"
#include "interp/value/objects.h"
#include "jit/translate.h"

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;
using interp::Borrowed;
using interp::Tag;

// What is known of a value when code is made.
enum class Kind : uint8_t { Any, Bool, Int, Float };

// An operand: both words, and what is known of them. `tag` is null when the kind says it.
struct Operand {
  Kind kind = Kind::Any;
  llvm::Value* tag = nullptr;
  llvm::Value* payload = nullptr;  // i64, as in Borrowed::word1
};

class Translator {
 public:
  Translator(const Chunk& chunk, const Prepare& prepare);
  std::unique_ptr<Translation> run();

 private:
  // ---- translator.cpp ----
  void find_leaders();
  void prologue();
  void enter_switch();
  void instruction(uint32_t pc);
  bool inlined(uint32_t pc, const Insn& insn);  // false: left to exec
  void generic(uint32_t pc);
  void generic_branch(uint32_t pc, llvm::Value* next);
  void raised_block();
  void finish();

  const Insn& at(uint32_t pc) const { return chunk_.code[chunk_.size + pc]; }
  uint32_t length(uint32_t pc) const { return bytecode::has_next_word(static_cast<Op>(at(pc).op)) ? 2 : 1; }
  uint32_t target(uint32_t pc) const;
  llvm::Value* address(const void* p);
  llvm::Value* pc_address(uint32_t pc) { return address(chunk_.code.get() + chunk_.size + pc); }
  llvm::Constant* word(uint64_t v) { return b_.getInt64(v); }
  llvm::Value* tag_word(Tag tag) { return word(static_cast<uint64_t>(tag)); }

  llvm::Function* helper(const char* name, llvm::Type* result, std::initializer_list<llvm::Type*> parameters);
  llvm::Value* call_exec(uint32_t pc);
  // Goes to the error path unless the helper's outcome (i8) says all is well.
  void raise_unless(llvm::Value* ok, uint32_t pc);
  void raise(uint32_t pc);

  llvm::BasicBlock* block(const char* name);  // not placed yet
  llvm::BasicBlock* cold(const char* name);   // at the end of the function
  void go_on_in(llvm::BasicBlock* next);      // places it here and emits into it
  void branch(llvm::Value* condition, llvm::BasicBlock* yes, llvm::BasicBlock* no);
  llvm::BasicBlock* block_at(uint32_t pc) { return blocks_[pc]; }

  // Registers.
  llvm::Value* word_pointer(llvm::Value* base, uint64_t offset);
  llvm::Value* register_pointer(uint16_t reg) { return word_pointer(registers_, uint64_t{reg} * sizeof(Borrowed)); }
  Operand read(uint16_t reg);
  Operand constant(uint16_t index);
  static Operand unknown(llvm::Value* tag, llvm::Value* payload) { return {Kind::Any, tag, payload}; }
  Operand integer(int64_t v) { return {Kind::Int, nullptr, word(static_cast<uint64_t>(v))}; }
  llvm::Value* tag_of(const Operand& v);
  void write(uint16_t reg, const Operand& v);
  // True when the kind is known to be this, false when it is known not to be; null: `test` tells.
  llvm::Value* is(const Operand& v, Kind kind);
  llvm::Value* is_heap(const Operand& v);
  llvm::Value* as_double(const Operand& v) { return b_.CreateBitCast(v.payload, b_.getDoubleTy()); }
  llvm::Value* as_payload(llvm::Value* number) { return b_.CreateBitCast(number, b_.getInt64Ty()); }
  llvm::Value* load_word(llvm::Value* base, uint64_t offset) { return b_.CreateLoad(b_.getInt64Ty(), word_pointer(base, offset)); }
  void store_word(llvm::Value* base, uint64_t offset, llvm::Value* v) { b_.CreateStore(v, word_pointer(base, offset)); }
  llvm::Value* object(const Operand& v) { return b_.CreateIntToPtr(v.payload, b_.getPtrTy()); }
  void retain(const Operand& v);

  // ---- translate_arith.cpp ----
  struct Arith;
  bool arith(uint32_t pc, const Insn& insn);
  bool unary(uint32_t pc, const Insn& insn);
  void two_numbers(uint32_t pc, const Insn& insn, const Arith& rule, const Operand& b, const Operand& c);
  llvm::Value* int_result(const Arith& rule, llvm::Value* b, llvm::Value* c, llvm::BasicBlock* slow);
  llvm::Value* checked(llvm::Value* b, llvm::Value* c, unsigned intrinsic, llvm::BasicBlock* slow);
  llvm::Value* floor_divided(const Arith& rule, llvm::Value* b, llvm::Value* c, llvm::BasicBlock* slow);
  void float_result(const Insn& insn, const Arith& rule, const Operand& b, const Operand& c, llvm::BasicBlock* slow);

  // ---- translate_control.cpp ----
  bool move(uint32_t pc, const Insn& insn);
  void store(uint32_t pc, const Insn& insn);
  void drop(uint16_t first, uint16_t count);
  bool compare(uint32_t pc, const Insn& insn);
  bool jump(uint32_t pc, const Insn& insn);
  void compare_value(uint32_t pc, const Insn& insn, int which);
  void compare_jump(uint32_t pc, const Insn& insn, int which, bool back, const Operand& b);
  // Branches on b `which` c: to `holds` or `fails`, or to `slow` when these are no numbers of one kind.
  void compare_branch(int which, const Operand& b, const Operand& c, llvm::BasicBlock* holds,
                      llvm::BasicBlock* fails, llvm::BasicBlock* slow);
  void jump_on_bool(uint32_t pc, const Insn& insn, bool back);
  void for_range(uint32_t pc, const Insn& insn);
  // Charges a step for the instruction and goes on at the target.
  void go_round(uint32_t pc, uint32_t to);
  llvm::BasicBlock* round_block(uint32_t pc, uint32_t to);
  void charge_step(uint32_t pc);

  // ---- translate_data.cpp ----
  bool data(uint32_t pc, const Insn& insn);
  llvm::Value* element(const Operand& list, const Operand& at, llvm::BasicBlock* slow);
  llvm::Value* packing_of(const Operand& list);
  llvm::Value* element_pointer(const Operand& list, llvm::Value* at, interp::Packing packing);
  Operand load_element(const Operand& list, llvm::Value* at, interp::Packing packing);
  void store_element(const Operand& list, llvm::Value* at, interp::Packing packing, const Operand& v,
                     llvm::BasicBlock* slow);
  void index(uint32_t pc, const Insn& insn);
  void set_index(uint32_t pc, const Insn& insn);
  llvm::Value* field_pointer(const Operand& base, uint16_t cache, llvm::BasicBlock* slow);
  void field(uint32_t pc, const Insn& insn);
  void length_of(uint32_t pc, const Insn& insn);
  llvm::Value* is_unique(const Operand& v);

  // ---- translate_call.cpp ----
  bool call(uint32_t pc, const Insn& insn);
  void leave(const Insn& insn);
  void release_registers(llvm::Value* first, llvm::Value* count);

  // Emits the slow way of an instruction in a cold block: exec, then on to the instruction after it.
  llvm::BasicBlock* slow_way(uint32_t pc, llvm::BasicBlock* after);

  const Chunk& chunk_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::Value* host_ = nullptr;       // Context*
  llvm::Value* closure_ = nullptr;
  llvm::Value* registers_ = nullptr;
  llvm::Value* frame_ = nullptr;      // NativeFrame, an alloca
  std::vector<llvm::BasicBlock*> blocks_;  // by instruction; null: no leader
  std::vector<llvm::BasicBlock*> cold_;
  llvm::BasicBlock* raised_ = nullptr;
  llvm::PHINode* raised_pc_ = nullptr;
};

}  // namespace posset::jit
