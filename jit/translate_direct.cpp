// Arguments in registers of the processor, between functions. Besides the function that is entered with its arguments in the
// frame a version may have one that takes them by kind; the former looks at the frame and passes on. Who calls knows of what
// kinds its arguments are, and asks whether the callee has such an entry for them (interp::NativeDirect); it looks after the
// room for what is inlined into the callee, too. Where there is no such entry, or no room, the call is made as always.
//
// Only where the kinds of all parameters are known: one that may be anything would have to be looked at in the frame. Of
// functions with loops, what a call costs does not matter; functions that call themselves do so by kind anyway, and what it
// costs to enter them is to make their activation (translate_recursion.cpp). What the callee needs of its arguments in the
// frame is written where something asks for it.
#include <cstddef>

#include "bytecode/native.h"
#include "interp/runtime/context.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::NativeDirect;

namespace {

constexpr uint32_t kMostArguments = 8;
constexpr unsigned kFirstArgument = 3;  // behind context, closure and registers

bool is_passed(Kind kind) { return kind != Kind::None && kind != Kind::Nil && kind != Kind::Any; }

uint64_t with_kind(uint64_t kinds, uint32_t argument, Kind kind) {
  return kinds | static_cast<uint64_t>(kind) << (4 * argument);
}
static_assert(static_cast<int>(Kind::Any) < 16 && 4 * kMostArguments <= 32);

// As far as its bytecode tells.
bool can_be_direct(const Chunk& chunk, uint32_t arguments) {
  return !chunk.is_loop && chunk.loop_heads.empty() && chunk.inout_mask == 0 && chunk.outline.takes(arguments);
}

uint64_t with_count(uint64_t kinds, uint32_t count) { return kinds | uint64_t{count} << 32; }

}  // namespace

// ---- what is called ----

bool Translator::is_direct() const {
  const uint32_t count = chunk_.outline.parameters;
  if (is_quick() || recursive() || !can_be_direct(chunk_, count)) return false;
  if (count == 0 || count > kMostArguments || !kinds_->at_leader(0).reached) return false;
  for (uint32_t n = 0; n < count; ++n) {
    if (!cached(n) || !is_passed(kinds_->at_leader(0).kinds[n])) return false;
  }
  return true;
}

llvm::Function* Translator::new_direct_function() {
  std::vector<llvm::Type*> types(kFirstArgument, b_.getPtrTy());
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) {
    const bool is_number = kinds_->at_leader(0).kinds[n] == Kind::Float;
    types.push_back(is_number ? b_.getDoubleTy() : static_cast<llvm::Type*>(b_.getInt64Ty()));
  }
  llvm::Function* entered = unit_.entered[version_];
  auto* type = llvm::FunctionType::get(entered->getReturnType(), types, false);
  auto* made = llvm::Function::Create(type, llvm::Function::ExternalLinkage, entered->getName() + " direct", *module_);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  return made;
}

void Translator::make_direct_function() {
  direct_ = new_direct_function();
  enter_from_frame();
  function_ = direct_;
}

void Translator::enter_from_frame() {
  begin_wrapper(function_);
  read_frame(0, 0);
  std::vector<llvm::Value*> arguments{function_->getArg(0), closure_, registers_};
  arguments_by_kind(arguments);
  b_.CreateRet(b_.CreateCall(direct_, arguments));
  end_wrapper();
}

// A function around the body, which has variables of its own.
void Translator::begin_wrapper(llvm::Function* made) {
  in_wrapper_ = true;
  function_ = made;
  b_.SetInsertPoint(llvm::BasicBlock::Create(*context_, "entry", function_));
  closure_ = function_->getArg(1);
  registers_ = function_->getArg(2);
}

void Translator::end_wrapper() {
  in_wrapper_ = false;
  insert_late_blocks();
  for (auto* all : {&tags_, &payloads_, &numbers_}) all->assign(chunk_.registers, nullptr);
  parts_.clear();
  size_areas();
  forget_needless_unsets();
}

void Translator::say_direct(Translation& made) const {
  uint64_t kinds = 0;
  const uint32_t count = chunk_.outline.parameters;
  for (uint32_t n = 0; n < count && direct_; ++n) kinds = with_kind(kinds, n, kinds_->at_leader(0).kinds[n]);
  made.direct.push_back({direct_ ? direct_->getName().str() : "", with_count(kinds, count), kinds_->extent(), kinds_->depth()});
}

// ---- the call ----

std::optional<uint64_t> Translator::kinds_given(const Insn& insn) const {
  if (insn.c == 0 || insn.c > kMostArguments) return std::nullopt;
  uint64_t kinds = 0;
  for (uint16_t n = 0; n < insn.c; ++n) {
    const uint32_t reg = insn.a + 2U + n;
    if (!cached(reg) || !is_passed(state_.kinds[reg])) return std::nullopt;
    kinds = with_kind(kinds, n, state_.kinds[reg]);
  }
  return with_count(kinds, insn.c);
}

// Which version of the callee takes what is given, if it can have such an entry.
std::optional<size_t> Translator::version_called(uint32_t pc, const Insn& insn) const {
  const Chunk* called = is_quick() || static_cast<Op>(insn.op) != Op::CallKnown ? nullptr : kinds_->called(pc);
  if (!called || !can_be_direct(*called, insn.c) || !kinds_given(insn)) return std::nullopt;
  const auto versions = kinds_of_versions(*called);
  if (versions.size() < 2) return 0;
  for (size_t version = 0; version < versions.size(); ++version) {
    bool fits = true;
    for (uint16_t n = 0; n < insn.c; ++n) {
      fits &= versions[version][n] == Kind::None || versions[version][n] == state_.kinds[insn.a + 2U + n];
    }
    if (fits) return version;
  }
  return std::nullopt;
}

// Nothing is in the frame where it goes on `otherwise`.
void Translator::call_by_kind(uint32_t pc, const Insn& insn, const Callee& callee, llvm::BasicBlock* otherwise,
                              llvm::BasicBlock* after) {
  const size_t version = *version_called(pc, insn);
  llvm::Value* direct = acquired(callee.chunk, offsetof(Chunk, direct) + version * sizeof(void*));
  auto* there = block("there");
  b_.CreateCondBr(b_.CreateIsNotNull(direct), there, otherwise);
  go_on_in(there);
  llvm::Value* registers = fixed(load(b_.getInt32Ty(), word_pointer(direct, offsetof(NativeDirect, registers))));
  llvm::Value* inner = fixed(load(b_.getInt32Ty(), word_pointer(direct, offsetof(NativeDirect, depth))));
  llvm::Value* kinds = fixed(load_word(direct, offsetof(NativeDirect, kinds)));
  llvm::Value* base = register_pointer(static_cast<uint16_t>(insn.a + 2));
  llvm::Value* depth = b_.CreateAdd(depth_here(), b_.getInt32(calls_deep()));
  llvm::Value* fits = b_.CreateAnd(b_.CreateICmpEQ(kinds, word(*kinds_given(insn))),
                                   has_room(registers, base, b_.CreateAdd(depth, inner)));
  auto* entered = block("direct");
  b_.CreateCondBr(fits, entered, otherwise);
  go_on_in(entered);
  std::vector<llvm::Value*> arguments{host(), callee.closure, base};
  std::vector<llvm::Type*> types(kFirstArgument, b_.getPtrTy());
  for (uint16_t n = 0; n < insn.c; ++n) {
    const Operand v = read(static_cast<uint16_t>(insn.a + 2 + n));
    arguments.push_back(v.kind == Kind::Float ? as_double(v) : payload_of(v));
    types.push_back(arguments.back()->getType());
  }
  auto* type = llvm::FunctionType::get(unit_.entered.front()->getReturnType(), types, false);
  llvm::Value* code = fixed(load(b_.getPtrTy(), word_pointer(direct, offsetof(NativeDirect, code))));
  finish_call(pc, insn, enter_callee(code, type, arguments, depth), after);
}

}  // namespace posset::jit
