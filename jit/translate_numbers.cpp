// Functions of floats, as a host calls them again and again. Besides the function that is entered with the arguments in the
// frame there is one that takes them as doubles in registers of the processor (interp::NativeCodeHead::numbers); the
// former looks at the frame and passes on. What the latter needs in the frame is written where something asks for it, as
// for a function that calls itself (translate_recursion.cpp).
//
// Only for code without loops and without calls that have been inlined, which would have to ask for room first, and
// where all parameters are read as floats: one that is not would have to be looked at in the frame.
#include "jit/translator.h"

namespace posset::jit {

namespace {

constexpr uint32_t kMostNumbers = 8;  // doubles that are passed in registers
constexpr unsigned kFirstNumber = 3;  // behind context, closure and registers

}  // namespace

bool Translator::takes_numbers() const {
  const uint32_t count = chunk_.outline.parameters;
  if (is_quick() || recursive() || chunk_.is_loop || !chunk_.loop_heads.empty() || kinds_->depth() != 0) return false;
  if (count == 0 || count > kMostNumbers || !kinds_->at_leader(0).reached) return false;
  for (uint32_t n = 0; n < count; ++n) {
    if (!cached(n) || kinds_->at_leader(0).kinds[n] != Kind::Float) return false;
  }
  return true;
}

void Translator::make_function_of_numbers() {
  std::vector<llvm::Type*> types(kFirstNumber, b_.getPtrTy());
  types.insert(types.end(), chunk_.outline.parameters, b_.getDoubleTy());
  auto* type = llvm::FunctionType::get(function_->getReturnType(), types, false);
  of_numbers_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, function_->getName() + " numbers", *module_);
  of_numbers_->addFnAttr(llvm::Attribute::NoUnwind);
  enter_from_frame();
  function_ = of_numbers_;
}

void Translator::enter_from_frame() {
  b_.SetInsertPoint(llvm::BasicBlock::Create(*context_, "entry", function_));
  closure_ = function_->getArg(1);
  registers_ = function_->getArg(2);
  native_frame_ = native_frame_for(0);
  read_frame(0, false);
  std::vector<llvm::Value*> arguments{function_->getArg(0), closure_, registers_};
  arguments_by_kind(arguments);
  b_.CreateRet(b_.CreateCall(of_numbers_, arguments));
  insert_late_blocks();
  unit_.native_frames.clear();
  for (auto* all : {&tags_, &payloads_, &numbers_}) all->assign(chunk_.registers, nullptr);
}

}  // namespace posset::jit
