// See reference_cache.h.
#include "interp/value/reference_cache.h"

#include <utility>

#include "interp/value/heap.h"

namespace posset::interp {

thread_local constinit ReferenceCache* ReferenceCache::current_ = nullptr;

void ReferenceCache::begin() {
  if (std::exchange(begun_, true)) return;
  outer_ = std::exchange(current_, this);
}

// Evaluations of several contexts may take turns on a thread, so it need not be the last that has begun.
bool ReferenceCache::end() {
  if (!std::exchange(begun_, false)) return false;
  ReferenceCache** link = &current_;
  while (*link != this) link = &(*link)->outer_;
  *link = std::exchange(outer_, nullptr);
  flush();
  return true;
}

void ReferenceCache::flush() {
  for (Entry& entry : entries_) replace_by(entry, {});
}

bool ReferenceCache::replace(Entry& entry, Object* object) {
  if (Heap::heap_of(object).family() != heap_.family()) return false;
  replace_by(entry, {object, 1});
  return true;
}

// What dies may give up more, which comes to the place again.
void ReferenceCache::replace_by(Entry& entry, const Entry& other) {
  const Entry old = std::exchange(entry, other);
  if (old.object) release_shared(old.object, old.count);
}

}  // namespace posset::interp
