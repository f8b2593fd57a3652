// See strand.h.
#include "interp/runtime/strand.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "interp/runtime/forks.h"
#include "interp/syntax/ast.h"

namespace posset::interp {

namespace {

constexpr size_t kLeastBytes = size_t{1} << 20;
constexpr size_t kReserve = 64;  // registers kept free behind the end

// Of what is given back so much stays committed. Frames touch the pages from the bottom up and are smaller than kLookedAt.
constexpr size_t kKeptBytes = size_t{128} << 10;
constexpr size_t kLookedAt = size_t{1} << 20;
constexpr size_t kPageBytes = 4096;  // or more

// No memory: the system has no more. Asks the pool first. Frames lie from the bottom up.
sched::StackArea take_area(StackPool* pool, size_t asked) {
  const size_t bytes = sched::StackArea::rounded(asked);
  if (pool) {
    sched::StackArea kept = pool->take(bytes);
    if (kept.memory()) return kept;
  }
  return {bytes, sched::StackArea::Grows::Up, sched::StackArea::Use::GoesOn};
}

void give_area(StackPool* pool, sched::StackArea& area) {
  if (pool && area.memory()) pool->give(std::move(area));
}

// Gives what lies beyond the bottom back to the system, if some of it was used. False: it cannot be told.
bool trim(void* memory, size_t bytes) {
  if (bytes <= kKeptBytes) return true;
  char* const rest = static_cast<char*>(memory) + kKeptBytes;
  unsigned char resident[kLookedAt / kPageBytes] = {};  // fewer are written where pages are larger
  const size_t looked_at = std::min(kLookedAt, bytes - kKeptBytes);
  if (mincore(rest, looked_at, resident) != 0) return false;
  const auto end = resident + (looked_at + kPageBytes - 1) / kPageBytes;
  const bool used = std::any_of(resident, end, [](unsigned char page) { return (page & 1) != 0; });
  return !used || madvise(rest, bytes - kKeptBytes, MADV_DONTNEED) == 0;
}

}  // namespace

StackPool::StackPool() { areas_.reserve(kMost); }

sched::StackArea StackPool::take(size_t bytes) noexcept {
  const sched::MutexLock lock(mutex_);
  const auto found = std::find_if(areas_.rbegin(), areas_.rend(), [bytes](const auto& each) { return each.bytes() == bytes; });
  if (found == areas_.rend()) return {};
  sched::StackArea area = std::move(*found);
  areas_.erase(std::next(found).base());
  return area;
}

// One too many goes when the caller's does.
void StackPool::give(sched::StackArea area) noexcept {
  if (!trim(area.memory(), area.bytes())) return;
  const sched::MutexLock lock(mutex_);
  if (areas_.size() < kMost) areas_.push_back(std::move(area));
}

RegisterStack::RegisterStack(size_t most, StackPool* pool) : pool_(pool) {
  for (size_t bytes = most; bytes >= kLeastBytes && !area_.memory(); bytes /= 4) area_ = take_area(pool, bytes);
}

RegisterStack::~RegisterStack() {
  if (begin()) std::memset(area_.memory(), 0, Strand::kKeptViews * sizeof(Borrowed));  // what the next one begins with
  give_area(pool_, area_);
}

Borrowed* RegisterStack::end() const {
  const size_t registers = area_.bytes() / sizeof(Borrowed);
  return begin() + (registers > kReserve ? registers - kReserve : 0);
}

namespace {

// A call may be counted before it is refused, and one record lies below all others.
constexpr size_t kSpareCalls = 2;
constexpr size_t kBytesPerCall = syntax::kMostForks * sizeof(ForkRecord);

}  // namespace

ForkStack::ForkStack(uint32_t nested_calls, StackPool* pool) : asked_calls_(nested_calls), pool_(pool) {
  for (size_t calls = nested_calls + kSpareCalls; calls > kSpareCalls && !area_.memory(); calls /= 2) {
    area_ = take_area(pool, calls * kBytesPerCall);
  }
}

ForkStack::~ForkStack() { give_area(pool_, area_); }

ForkRecord* ForkStack::begin() const { return area_.memory() ? reinterpret_cast<ForkRecord*>(area_.memory()) + 1 : nullptr; }

uint32_t ForkStack::calls() const {
  return area_.memory() ? static_cast<uint32_t>(area_.bytes() / kBytesPerCall - kSpareCalls) : 0;
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
