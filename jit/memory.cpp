// See memory.h.
#include "jit/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/Support/Memory.h>

namespace posset::jit {

using llvm::Error;
using llvm::Expected;
using llvm::jitlink::BasicLayout;
using llvm::orc::ExecutorAddr;
using llvm::orc::MemProt;

namespace {

bool has(MemProt all, MemProt one) { return (static_cast<int>(all) & static_cast<int>(one)) != 0; }

// A call reaches 2 GiB. Code starts this far from what it calls, beyond the program's data and heap, and is
// spread over at most this much.
constexpr uintptr_t kDistance = uintptr_t{256} << 20;
constexpr uintptr_t kSpread = uintptr_t{1} << 30;

void* map_pages(void* near, size_t bytes) {
  void* begin = mmap(near, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return begin == MAP_FAILED ? nullptr : begin;
}

bool protect_pages(void* begin, size_t bytes, bool write, bool execute) {
  const int protection = PROT_READ | (write ? PROT_WRITE : 0) | (execute ? PROT_EXEC : 0);
  return mprotect(begin, bytes, protection) == 0;
}

void unmap_pages(void* begin, size_t bytes) { munmap(begin, bytes); }

Error refused(const char* what) {
  const int error = errno;
  return llvm::createStringError(std::error_code(error, std::generic_category()), "%s refused: %s", what,
                                 std::strerror(error));
}

}  // namespace

const Mapper& system_mapper() {
  static const Mapper mapper{map_pages, protect_pages, unmap_pages};
  return mapper;
}

// What a FinalizedAlloc's address points to.
struct CodeMemory::Mapping {
  void* begin;
  size_t bytes;
};

CodeMemory::CodeMemory(const Mapper& mapper, const void* near)
    : mapper_(mapper),
      page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
      near_((reinterpret_cast<uintptr_t>(near) + kDistance) & ~(kDistance - 1)) {}

Problem CodeMemory::refusal() {
  void* begin = map(page_);
  if (!begin) return {Failure::OutOfMemory, "no memory"};
  Problem problem;
  if (!mapper_.protect(begin, page_, false, true)) {
    problem = {Failure::Refused, std::string("executable memory refused: ") + std::strerror(errno)};
  }
  unmap(begin, page_);
  return problem;
}

void* CodeMemory::map(size_t bytes) {
  // Relaxed: two threads that wish for the same place get different ones from the system.
  const uintptr_t offset = next_.fetch_add(bytes, std::memory_order_relaxed) % kSpread;
  void* begin = mapper_.map(reinterpret_cast<void*>(near_ + offset), bytes);
  if (begin) bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return begin;
}

void CodeMemory::unmap(void* begin, size_t bytes) {
  mapper_.unmap(begin, bytes);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

size_t CodeMemory::bytes_of(const FinalizedAlloc& allocation) {
  return allocation.getAddress().toPtr<const Mapping*>()->bytes;
}

// A mapping that is being filled: in the end it is executable, or given back.
class CodeMemory::InFlight : public JITLinkMemoryManager::InFlightAlloc {
 public:
  InFlight(CodeMemory& memory, BasicLayout layout, void* begin, size_t bytes)
      : memory_(memory), layout_(std::move(layout)), begin_(begin), bytes_(bytes) {}

  // Every segment but those for the time of linking only gets pages of its own, one after the other.
  Error lay_out() {
    char* next = static_cast<char*>(begin_);
    for (auto& [group, segment] : layout_.segments()) {
      segment.WorkingMem = next;
      segment.Addr = ExecutorAddr::fromPtr(next);
      next += padded(segment);
    }
    return layout_.apply();
  }

  void finalize(OnFinalizedFunction done) override {
    if (Error problem = protect()) {
      memory_.unmap(begin_, bytes_);
      done(std::move(problem));
      return;
    }
    done(FinalizedAlloc(ExecutorAddr::fromPtr(new Mapping{begin_, bytes_})));
  }

  void abandon(OnAbandonedFunction done) override {
    memory_.unmap(begin_, bytes_);
    done(Error::success());
  }

 private:
  size_t padded(const BasicLayout::Segment& segment) const {
    return llvm::alignTo(segment.ContentSize + segment.ZeroFillSize, memory_.page_);
  }

  Error protect() {
    for (auto& [group, segment] : layout_.segments()) {
      const bool write = has(group.getMemProt(), MemProt::Write);
      const bool execute = has(group.getMemProt(), MemProt::Exec);
      const size_t bytes = padded(segment);
      if (!write && !memory_.mapper_.protect(segment.WorkingMem, bytes, write, execute)) {
        return refused(execute ? "executable memory" : "protecting memory");
      }
      if (execute) llvm::sys::Memory::InvalidateInstructionCache(segment.WorkingMem, bytes);
    }
    return Error::success();
  }

  CodeMemory& memory_;
  BasicLayout layout_;
  void* const begin_;
  const size_t bytes_;
};

void CodeMemory::allocate(const llvm::jitlink::JITLinkDylib*, llvm::jitlink::LinkGraph& graph,
                          OnAllocatedFunction done) {
  BasicLayout layout(graph);
  auto sizes = layout.getContiguousPageBasedLayoutSizes(page_);
  if (!sizes) return done(sizes.takeError());
  const size_t bytes = std::max<size_t>(sizes->total(), page_);
  void* begin = map(bytes);
  if (!begin) return done(refused("memory"));
  auto made = std::make_unique<InFlight>(*this, std::move(layout), begin, bytes);
  if (Error problem = made->lay_out()) {
    unmap(begin, bytes);
    return done(std::move(problem));
  }
  done(std::move(made));
}

void CodeMemory::deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction done) {
  for (FinalizedAlloc& allocation : allocations) {
    const auto* mapping = allocation.release().toPtr<const Mapping*>();
    unmap(mapping->begin, mapping->bytes);
    delete mapping;
  }
  done(Error::success());
}

}  // namespace posset::jit
