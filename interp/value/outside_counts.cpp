// See outside_counts.h.
#include "interp/value/outside_counts.h"

#include <utility>

#include "interp/value/object.h"

namespace posset::interp {

void OutsideCounts::add(Object* object, int64_t references) {
  const std::lock_guard lock(mutex_);
  const auto at = counts_.try_emplace(object, 0).first;
  at->second += references;
  if (at->second == 0) counts_.erase(at);
  any_.store(!counts_.empty(), std::memory_order_release);
}

void OutsideCounts::apply() {
  std::unordered_map<Object*, int64_t> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(counts_);
    any_.store(false, std::memory_order_relaxed);
  }
  // What is in one may be held by nothing but another one.
  for (const auto& [object, references] : all) {
    for (int64_t i = 0; i < references; ++i) retain(object);
  }
  for (const auto& [object, references] : all) {
    for (int64_t i = references; i < 0; ++i) release(object);
  }
}

}  // namespace posset::interp
