// Units: what is counted and compiled. One table per runtime maps a structural hash to its Unit, shared by
// all contexts; equal hashes are confirmed by comparing the canonical bytes. A Unit holds the execution
// count and, per tier, the published code. Loops are units too; they belong to the function unit they
// stand in, by loop number (their own hash is kept for display).
//
// Threads: `find_or_add` takes the table's mutex; counts are relaxed atomics (a lost increment costs
// nothing but time); code is published with release and read with acquire, and never changes again.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/syntax/ast.h"

namespace posset::interp {

constexpr int kTiers = 4;

enum class TierStatus : uint8_t { NotStarted, Compiling, Ready, Failed };

// Count and code of one function body, top level or loop.
struct Counted {
  std::atomic<uint32_t> count{0};
  std::atomic<TierStatus> status[kTiers] = {};
  std::atomic<uint8_t> ready{0};         // highest tier whose code is published
  std::atomic<bool> settled{false};      // nothing higher will be asked for: counting has stopped
  std::atomic<void*> code[kTiers] = {};  // what the tier's `compile` gave; owned by the tier
  const char* refusal[kTiers] = {};      // why a tier could not take it (reason text), null otherwise

  uint32_t tick() {
    uint32_t now = count.load(std::memory_order_relaxed) + 1;
    if (now != 0) count.store(now, std::memory_order_relaxed);
    return now;
  }
};

struct Unit {
  syntax::StructuralHash hash;
  std::string canonical;
  std::string name;            // of the first declaration seen, for people
  Counted body;
  std::unique_ptr<Counted[]> loops;
  std::vector<syntax::StructuralHash> loop_hashes;
};

class UnitTable {
 public:
  Unit* find_or_add(const syntax::FunctionDecl& function);
  size_t size() const;
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::lock_guard lock(mutex_);
    for (auto& entry : units_) visit(*entry.second);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_multimap<uint64_t, std::unique_ptr<Unit>> units_;
};

}  // namespace posset::interp
