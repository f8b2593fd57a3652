// The frame maps of a module, as they are written (bytecode/frame_map.h says what they are for and how they are read).
// Code refers to them from the beginning; what they hold is known when all of it has been made. What is said before is
// not said again: many places have the same registers to write.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include "bytecode/frame_map.h"

namespace posset::jit {

class FrameMaps {
 public:
  // Where each begins. `values` and `slots` as one after the other; 0: there are none.
  uint32_t place(const bytecode::FramePlace& place);
  uint32_t inlined(const bytecode::FrameInlined& frame);
  uint32_t values(uint32_t count, const std::vector<uint32_t>& words);
  uint32_t slots(const std::vector<uint32_t>& slots) { return values(static_cast<uint32_t>(slots.size()), slots); }

  // Numbers of symbols that stand for an address and an id.
  uint32_t chunk(llvm::Constant* address) { return number_of(chunks_, address); }
  uint32_t shape(llvm::Constant* id) { return number_of(shapes_, id); }

  // Of the module.
  llvm::Constant* address(llvm::Module& module);
  void finish(llvm::Module& module);

 private:
  uint32_t add(const std::vector<uint32_t>& words);
  static uint32_t number_of(std::vector<llvm::Constant*>& all, llvm::Constant* wanted);

  std::vector<uint32_t> words_ = std::vector<uint32_t>(bytecode::kFrameMapHeader);
  std::map<std::vector<uint32_t>, uint32_t> known_;
  std::vector<llvm::Constant*> chunks_, shapes_;
  llvm::GlobalVariable* promised_ = nullptr;  // what code refers to until they are there
};

}  // namespace posset::jit
