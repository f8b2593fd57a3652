// The header of every counted object, and counting. The count's sign says who may touch it (as Lean
// does):
//   count > 0   local to one executor, plain arithmetic
//   count < 0   shared between threads, -count references, atomic arithmetic
//   count == 0  immortal: never counted, never freed by counting
// An object whose count is 1 is unique: it may be changed in place. A shared object never is
// unique.
//
// Freeing is iterative (counting.cpp), so dropping a chain of any length uses constant stack.
#pragma once

#include <atomic>
#include <cstdint>

#include "interp/value/borrowed.h"

namespace posset::interp {

struct Object {
  int32_t count;
  Tag tag;
  uint8_t flags;       // meaning by tag (see the struct of each)
  uint8_t size_class;  // of the Heap; 0: a large block with a prefix
  uint8_t unused;
};
static_assert(sizeof(Object) == 8);

void destroy(Object* object);         // counting.cpp: the last local reference is gone
void retain_shared(Object* object);   // counting.cpp: count <= 0
void release_shared(Object* object);  // counting.cpp: count <= 0
// So many references at once, past what the thread keeps (reference_cache.h). counting.cpp: count < 0
void release_shared(Object* object, int32_t references);
// Marks v and all it reaches as shared (counting.cpp). Whoever stores into a shared ref shares the
// value first: what a shared object refers to is shared or immortal.
void share(Borrowed v);
// Nothing to do: a heap knows all its refs (heap.h), so losing a reference needs no note.
inline void release_ref_to_more(Object*) {}

// Another thread may be counting a shared object at the same moment, or look whether one is local (> 0), which never changes
// under its feet: hence relaxed loads and stores, which are ordinary ones to the processor.
inline int32_t count_of(const Object* object) {
  return __atomic_load_n(&object->count, __ATOMIC_RELAXED);
}
inline void set_count(Object* object, int32_t count) { __atomic_store_n(&object->count, count, __ATOMIC_RELAXED); }

inline void retain(Object* object) {
  int32_t count = count_of(object);
  if (count > 0) [[likely]] {
    set_count(object, count + 1);
  } else {
    retain_shared(object);
  }
}
inline void release(Object* object) {
  int32_t count = count_of(object);
  if (count > 1) [[likely]] {
    set_count(object, count - 1);
  } else if (count == 1) {
    destroy(object);
  } else {
    release_shared(object);
  }
}
inline void retain(Borrowed v) {
  if (v.is_heap()) retain(v.object());
}
inline void release(Borrowed v) {
  if (v.is_heap()) release(v.object());
}
inline bool is_unique(const Object* object) { return count_of(object) == 1; }

}  // namespace posset::interp
