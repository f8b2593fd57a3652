// See strand.h.
#include "interp/runtime/strand.h"

#include <sys/mman.h>

#include <algorithm>

#include "interp/runtime/forks.h"
#include "interp/syntax/ast.h"

namespace posset::interp {

namespace {

constexpr size_t kLeastBytes = size_t{1} << 20;
constexpr size_t kReserve = 64;  // registers kept free behind the end

}  // namespace

RegisterStack::RegisterStack(size_t most) {
  for (size_t bytes = most; bytes >= kLeastBytes && !memory_; bytes /= 4) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    memory_ = memory;
    bytes_ = bytes;
  }
}

RegisterStack::~RegisterStack() {
  if (memory_) munmap(memory_, bytes_);
}

Borrowed* RegisterStack::end() const {
  const size_t registers = bytes_ / sizeof(Borrowed);
  return begin() + (registers > kReserve ? registers - kReserve : 0);
}

namespace {

// A call may be counted before it is refused, and one record lies below all others.
constexpr size_t kSpareCalls = 2;
constexpr size_t kBytesPerCall = syntax::kMostForks * sizeof(ForkRecord);

}  // namespace

ForkStack::ForkStack(uint32_t nested_calls) : asked_calls_(nested_calls) {
  for (size_t calls = nested_calls + kSpareCalls; calls > kSpareCalls && !memory_; calls /= 2) {
    void* memory = mmap(nullptr, calls * kBytesPerCall, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    memory_ = memory;
    bytes_ = calls * kBytesPerCall;
  }
}

ForkStack::~ForkStack() {
  if (memory_) munmap(memory_, bytes_);
}

ForkRecord* ForkStack::begin() const { return memory_ ? static_cast<ForkRecord*>(memory_) + 1 : nullptr; }

uint32_t ForkStack::calls() const {
  return memory_ ? static_cast<uint32_t>(bytes_ / kBytesPerCall - kSpareCalls) : 0;
}

void Strand::stand_on(const RegisterStack& stack, size_t most_bytes) {
  kept_views_ = stack.begin();  // nil: fresh pages are zero, and whoever leaves drops them
  stack_top = kept_views_ ? kept_views_ + kKeptViews : nullptr;
  bound_registers(stack, most_bytes);
}

void Strand::bound_registers(const RegisterStack& stack, size_t most_bytes) {
  const auto there = static_cast<size_t>(stack.end() - stack.begin());
  stack_end = stack.begin() + std::min(there, most_bytes / sizeof(Borrowed));
}

}  // namespace posset::interp
