// References to shared objects that a thread has given up and keeps, for when it wants one of the same object again. What
// several threads read at once they count at once, and a count that goes from core to core with each call costs more
// than the call; with this a thread that goes on using an object leaves its header alone.
//
// A thread counts by a cache between `begin` and `end`. What it keeps may be the last reference: then the object dies late, when
// another comes to the place, or the cache is flushed. Whoever calls `begin` sees to that from time to time, before it
// waits and before it hands over the heap; memory that is short does, too. Objects of other families (heap.h) are not kept: they
// may go before the cache is flushed.
//
// Elsewhere: counting by it (counting.cpp), and who does so (runtime/posse.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "interp/value/object.h"

namespace posset::interp {

class Heap;

class ReferenceCache {
 public:
  // For objects of the heap's family; it outlives the cache, which has ended by then.
  explicit ReferenceCache(const Heap& heap) : heap_(heap) {}
  ReferenceCache(const ReferenceCache&) = delete;
  ReferenceCache& operator=(const ReferenceCache&) = delete;

  // Both by the same thread, which may begin with others in between. Done twice they do nothing; the second is false then.
  void begin();
  bool end();
  // By the thread that has begun.
  void flush();
  // The one that the calling thread has begun with last; null: it counts without.
  static ReferenceCache* current() { return current_; }

  // A reference that was kept is the caller's. False: none was to spare. One stays for as long as the place is the object's,
  // which cannot die meanwhile and leave its address to another.
  bool take(const Object* object) {
    Entry& entry = place_of(object);
    if (entry.object != object || entry.count == 1) return false;
    --entry.count;
    return true;
  }
  // The caller's reference is kept. False: it has to give it up itself.
  bool keep(Object* object) {
    Entry& entry = place_of(object);
    if (entry.object != object) return replace(entry, object);
    ++entry.count;
    return true;
  }

 private:
  struct Entry {
    Object* object = nullptr;
    int32_t count = 0;  // not 0 where there is an object
  };
  static constexpr int kBits = 4;

  Entry& place_of(const Object* object) {
    return entries_[(reinterpret_cast<uintptr_t>(object) * 0x9e3779b97f4a7c15u) >> (64 - kBits)];  // Fibonacci hashing
  }
  bool replace(Entry& entry, Object* object);
  static void replace_by(Entry& entry, const Entry& other);

  static thread_local constinit ReferenceCache* current_;

  const Heap& heap_;
  std::array<Entry, size_t{1} << kBits> entries_;
  ReferenceCache* outer_ = nullptr;  // that the thread has begun with before
  bool begun_ = false;
};

}  // namespace posset::interp
