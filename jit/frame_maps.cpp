// See frame_maps.h.
#include "jit/frame_maps.h"

#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/Support/Alignment.h>

namespace posset::jit {

uint32_t FrameMaps::add(const std::vector<uint32_t>& words) {
  const auto [found, is_new] = known_.try_emplace(words, static_cast<uint32_t>(words_.size()));
  if (is_new) words_.insert(words_.end(), words.begin(), words.end());
  return found->second;
}

uint32_t FrameMaps::place(const bytecode::FramePlace& place) {
  return add({place.pc, place.expected, place.values, place.retained, place.steps, place.inlined});
}

uint32_t FrameMaps::inlined(const bytecode::FrameInlined& frame) {
  return add({frame.chunk, frame.window, frame.call, frame.values, frame.retained, frame.retained_around, frame.outer});
}

uint32_t FrameMaps::values(uint32_t count, const std::vector<uint32_t>& words) {
  if (count == 0) return 0;
  std::vector<uint32_t> counted{count};
  counted.insert(counted.end(), words.begin(), words.end());
  return add(counted);
}

uint32_t FrameMaps::number_of(std::vector<llvm::Constant*>& all, llvm::Constant* wanted) {
  const auto found = std::find(all.begin(), all.end(), wanted);
  const auto number = static_cast<uint32_t>(found - all.begin());
  if (found == all.end()) all.push_back(wanted);
  return number;
}

llvm::Constant* FrameMaps::address(llvm::Module& module) {
  if (promised_) return promised_;
  auto* words = llvm::ArrayType::get(llvm::Type::getInt32Ty(module.getContext()), 0);
  promised_ = new llvm::GlobalVariable(module, words, true, llvm::GlobalValue::PrivateLinkage, llvm::ConstantAggregateZero::get(words));
  return promised_;
}

void FrameMaps::finish(llvm::Module& module) {
  if (!promised_) return;
  llvm::LLVMContext& context = module.getContext();
  const uint64_t shapes = words_.size() * sizeof(uint32_t);
  words_[0] = static_cast<uint32_t>(shapes);
  words_[1] = static_cast<uint32_t>(llvm::alignTo(shapes + shapes_.size() * sizeof(uint32_t), sizeof(void*)));
  llvm::Constant* parts[] = {
      llvm::ConstantDataArray::get(context, words_),
      llvm::ConstantArray::get(llvm::ArrayType::get(llvm::Type::getInt32Ty(context), shapes_.size()), shapes_),
      llvm::ConstantArray::get(llvm::ArrayType::get(llvm::PointerType::getUnqual(context), chunks_.size()), chunks_)};
  llvm::Constant* all = llvm::ConstantStruct::getAnon(context, parts);
  auto* made = new llvm::GlobalVariable(module, all->getType(), true, llvm::GlobalValue::PrivateLinkage, all, "frames");
  promised_->replaceAllUsesWith(made);
  promised_->eraseFromParent();
}

}  // namespace posset::jit
