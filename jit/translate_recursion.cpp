// Functions that call themselves. Their code is a function that takes its arguments by kind, in registers of
// the processor, beside the one that is entered from elsewhere, which only passes on. Links need not be looked
// at for such a call: where the function is entered, its own links are seen to lead back to the closure that
// runs, and this holds for what it calls in turn.
//
// The frame is that of every other call: what the machine would have in it is written when something needs it.
#include <cstddef>
#include <set>

#include "interp/runtime/context.h"
#include "jit/translator.h"

namespace posset::jit {

using interp::Context;

namespace {

// How a value of a kind is passed: a double, a word, or tag and payload.
void add_types(Kind kind, llvm::IRBuilder<>& b, std::vector<llvm::Type*>& types) {
  if (kind == Kind::None || kind == Kind::Nil) return;
  types.push_back(kind == Kind::Float ? b.getDoubleTy() : b.getInt64Ty());
  if (kind == Kind::Any) types.push_back(b.getInt64Ty());
}

constexpr unsigned kFirstArgument = 4;  // behind those of a NativeEntry

}  // namespace

void Translator::make_recursive_function() {
  llvm::Function* entered = function_;
  std::vector<llvm::Type*> types(entered->getFunctionType()->params());
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) {
    if (cached(n)) add_types(kinds_->at_leader(0).kinds[n], b_, types);
  }
  auto* type = llvm::FunctionType::get(entered->getReturnType(), types, false);
  function_ = llvm::Function::Create(type, llvm::Function::InternalLinkage, entered->getName() + " itself", *module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->setCallingConv(llvm::CallingConv::Fast);
  b_.SetInsertPoint(llvm::BasicBlock::Create(*context_, "entry", entered));
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& each : entered->args()) arguments.push_back(&each);
  for (size_t n = arguments.size(); n < types.size(); ++n) arguments.push_back(llvm::PoisonValue::get(types[n]));
  llvm::CallInst* result = b_.CreateCall(function_, arguments);
  result->setCallingConv(llvm::CallingConv::Fast);
  b_.CreateRet(result);
}

// At the beginning of the function, called by itself.
void Translator::take_native_arguments() {
  unsigned next = kFirstArgument;
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) {
    const Kind kind = kinds_->at_leader(0).kinds[n];
    if (!cached(n) || kind == Kind::None || kind == Kind::Nil) continue;
    llvm::Value* first = function_->getArg(next++);
    if (kind == Kind::Float) {
      keep(n, kind, floating(first));
    } else if (kind == Kind::Any) {
      keep(n, kind, unknown(first, function_->getArg(next++)));
    } else {
      keep(n, kind, {kind, nullptr, first});
    }
  }
  b_.CreateBr(way_to(0));
}

// Where the function is entered from elsewhere.
void Translator::check_links(llvm::BasicBlock* refused) {
  std::set<uint16_t> links;
  for (uint32_t pc = 0; pc < chunk_.size; pc += length(pc)) {
    if (kinds_->is_recursive(pc)) links.insert(at(pc).b);
  }
  for (uint16_t link : links) {
    auto* fits = block("fits");
    b_.CreateCondBr(b_.CreateICmpEQ(closure_of_link(link), closure_), fits, refused);
    go_on_in(fits);
  }
}

// False: it cannot be called so.
bool Translator::call_itself(uint32_t pc, const Insn& insn) {
  auto* slow = cold("slow");
  auto* after = block("after");
  std::vector<llvm::Value*> arguments;
  llvm::Value* base = register_pointer(static_cast<uint16_t>(insn.a + 2));
  arguments.insert(arguments.end(), {host_, closure_, base, b_.getInt32(kNativeArguments)});
  if (!native_arguments(insn, arguments, slow)) return false;
  llvm::Value* to_depth = word_pointer(host_, offsetof(Context, depth));
  llvm::Value* outer_depth = load(b_.getInt32Ty(), to_depth);
  llvm::Value* depth = b_.CreateAdd(outer_depth, b_.getInt32(calls_deep() + 1));
  auto* direct = block("direct");
  b_.CreateCondBr(has_room_for_itself(base, depth), direct, slow);
  go_on_in(direct);
  spend(word(1));
  give_fuel_back();
  put(depth, to_depth);
  llvm::CallInst* result = b_.CreateCall(function_, arguments);
  result->setCallingConv(llvm::CallingConv::Fast);
  take_fuel();
  put(outer_depth, to_depth);
  finish_call(pc, insn, result, after);
  b_.SetInsertPoint(slow);
  flush_operands(pc);
  call_by_helper(pc);
  reload_written(pc);
  b_.CreateBr(after);
  go_on_in(after);
  return true;
}

// What the function expects; arguments that are not known to fit are looked at. False: they do not.
bool Translator::native_arguments(const Insn& insn, std::vector<llvm::Value*>& arguments, llvm::BasicBlock* slow) {
  const Translator& called = outermost();
  const State& expected = called.kinds_->at_leader(0);
  for (uint16_t n = 0; n < insn.c; ++n) {
    const Kind given = state_.kinds[insn.a + 2U + n];
    const Kind wanted = called.cached(n) ? expected.kinds[n] : Kind::None;
    if (wanted != Kind::None && wanted != Kind::Any && given != wanted && given != Kind::Any) return false;
  }
  for (uint16_t n = 0; n < insn.c; ++n) {
    const auto reg = static_cast<uint16_t>(insn.a + 2 + n);
    const Kind wanted = called.cached(n) ? expected.kinds[n] : Kind::None;
    const Operand v = read(reg);
    if (wanted == Kind::None) {
      store_value(register_pointer(reg), v, Memory::Frame);
      continue;
    }
    if (wanted != Kind::Any && v.kind != wanted) {
      auto* fits = block("fits");
      b_.CreateCondBr(is_kind(v, wanted), fits, slow);
      go_on_in(fits);
    }
    if (wanted == Kind::Nil) continue;
    if (wanted == Kind::Any) arguments.push_back(tag_of(v));
    arguments.push_back(wanted == Kind::Float ? as_double(v) : payload_of(v));
  }
  return true;
}

// As has_room, and with what is inlined there.
llvm::Value* Translator::has_room_for_itself(llvm::Value* base, llvm::Value* depth) {
  const Kinds& called = *outermost().kinds_;
  llvm::Value* end = word_pointer(base, uint64_t{called.extent()} * sizeof(Borrowed));
  llvm::Value* most = load(b_.getPtrTy(), word_pointer(host_, offsetof(Context, stack_end)));
  llvm::Value* limit = load(b_.getInt32Ty(), word_pointer(host_, offsetof(Context, depth_limit)));
  const uint64_t low = offsetof(Context, native) + sched::StackChain::limit_offset();
  llvm::Value* lowest = load(b_.getPtrTy(), word_pointer(host_, low));
  llvm::Value* deepest = b_.CreateAdd(depth, b_.getInt32(called.depth()));
  llvm::Value* yes = b_.CreateICmpULE(end, most);
  yes = b_.CreateAnd(yes, b_.CreateICmpULE(deepest, limit));
  yes = b_.CreateAnd(yes, b_.CreateICmpUGE(native_frame_, lowest));
  return b_.CreateAnd(yes, b_.CreateICmpSGT(fuel(), word(0)));
}

}  // namespace posset::jit
