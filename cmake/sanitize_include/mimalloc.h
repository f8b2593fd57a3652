// Stands in for <mimalloc.h> in sanitizer builds. The sanitizers watch malloc and free; memory that
// mimalloc hands out would be one opaque block to them, and a use after release would go unseen. So
// mimalloc's names are the C library's functions here. Heaps (mi_heap_t) are left out: a function
// missing from this list is a compile error in the sanitizer build, to be added when it is needed.
#pragma once

#include <malloc.h>
#include <stdlib.h>

#define MI_SMALL_SIZE_MAX (128 * sizeof(void*))

static inline void* mi_malloc(size_t size) { return malloc(size); }
static inline void* mi_malloc_small(size_t size) { return malloc(size); }
static inline void* mi_zalloc(size_t size) { return calloc(1, size); }
static inline void* mi_zalloc_small(size_t size) { return calloc(1, size); }
static inline void* mi_calloc(size_t count, size_t size) { return calloc(count, size); }
static inline void* mi_realloc(void* p, size_t size) { return realloc(p, size); }
static inline void* mi_reallocf(void* p, size_t size) {
  void* grown = realloc(p, size);
  if (grown == nullptr) free(p);
  return grown;
}
// Only mimalloc can grow in place; "no" is always a correct answer.
static inline void* mi_expand(void*, size_t) { return nullptr; }

static inline void* mi_malloc_aligned(size_t size, size_t alignment) {
  void* p = nullptr;
  return posix_memalign(&p, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) == 0
             ? p
             : nullptr;
}

static inline void mi_free(void* p) { free(p); }
static inline void mi_free_size(void* p, size_t) { free(p); }
static inline void mi_free_size_aligned(void* p, size_t, size_t) { free(p); }
static inline void mi_free_aligned(void* p, size_t) { free(p); }

static inline size_t mi_usable_size(const void* p) {
  return malloc_usable_size(const_cast<void*>(p));
}
static inline size_t mi_malloc_size(const void* p) { return mi_usable_size(p); }
// The sanitizers' allocators give exactly what was asked for.
static inline size_t mi_malloc_good_size(size_t size) { return size; }
static inline size_t mi_good_size(size_t size) { return size; }

static inline void mi_collect(bool) {}
static inline void mi_thread_init() {}
static inline void mi_thread_done() {}

// Options say how mimalloc gets its memory.
enum mi_option_t { mi_option_eager_commit_delay };
static inline void mi_option_set(mi_option_t, long) {}
