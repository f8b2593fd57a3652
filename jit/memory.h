// Memory for machine code, as JITLink asks for it: one mapping for each linked object, its segments on pages of
// their own. Memory is written while nobody can execute it and becomes executable when it is complete; it is
// never both. A mapping is placed near what the code calls when there is room, so that calls are direct ones
// of 32-bit distance; elsewhere JITLink goes through stubs.
//
// Mapping, protecting and unmapping go through `Mapper`, so that tests can refuse what a hardened system does.
// Any thread may allocate and free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>

#include "jit/fatal.h"

namespace posset::jit {

// The system's part. Each function fails as the system's does, with errno set.
struct Mapper {
  void* (*map)(void* near, size_t bytes);  // readable and writable; null: refused
  bool (*protect)(void* begin, size_t bytes, bool write, bool execute);
  void (*unmap)(void* begin, size_t bytes);
};
const Mapper& system_mapper();

class CodeMemory : public llvm::jitlink::JITLinkMemoryManager {
 public:
  // Code is put near `near` if possible.
  CodeMemory(const Mapper& mapper, const void* near);

  // Whether the system lets memory become executable: tried with a page.
  Problem refusal();

  void allocate(const llvm::jitlink::JITLinkDylib* library, llvm::jitlink::LinkGraph& graph,
                OnAllocatedFunction done) override;
  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction done) override;
  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;

  // Mapped now.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  static size_t bytes_of(const FinalizedAlloc& allocation);

 private:
  struct Mapping;
  class InFlight;
  void* map(size_t bytes);
  void unmap(void* begin, size_t bytes);

  const Mapper& mapper_;
  const size_t page_;
  const uintptr_t near_;
  std::atomic<uintptr_t> next_{0};  // where to try next; only a wish
  std::atomic<size_t> bytes_{0};
};

}  // namespace posset::jit
