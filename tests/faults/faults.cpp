// See faults.h. There are three ways to memory: mimalloc's functions, which the linker sends here under --wrap in
// ordinary builds; the C library's, which stand in for them in sanitizer builds; and operator new, which is
// replaced in all. Whatever is handed out can be given back by the allocator's own functions.
#include "faults.h"

#include <cstdlib>
#include <new>

namespace {

struct Plan {
  bool active = false, all = false;
  uint64_t first = 0, seen = 0;
};
thread_local Plan plan;

bool fails() {
  if (!plan.active) return false;
  const uint64_t number = plan.seen++;
  return plan.all ? number >= plan.first : number == plan.first;
}

}  // namespace

extern "C" {

void faults_begin(uint64_t first, bool all) { plan = {true, all, first, 0}; }

uint64_t faults_end(void) {
  plan.active = false;
  return plan.seen;
}

#define WRAPPED(name, parameters, arguments) \
  void* __real_##name parameters;            \
  void* __wrap_##name parameters { return fails() ? nullptr : __real_##name arguments; }

#ifdef POSSET_SANITIZED
WRAPPED(malloc, (size_t size), (size))
WRAPPED(calloc, (size_t count, size_t size), (count, size))
WRAPPED(realloc, (void* block, size_t size), (block, size))
int __real_posix_memalign(void** block, size_t alignment, size_t size);
int __wrap_posix_memalign(void** block, size_t alignment, size_t size) {
  return fails() ? 12 : __real_posix_memalign(block, alignment, size);  // ENOMEM
}
#define PLAIN_MALLOC __real_malloc
#else
WRAPPED(mi_malloc, (size_t size), (size))
WRAPPED(mi_malloc_aligned, (size_t size, size_t alignment), (size, alignment))
WRAPPED(mi_realloc, (void* block, size_t size), (block, size))
#define PLAIN_MALLOC std::malloc
#endif

}  // extern "C"

void* operator new(size_t size) {
  void* block = fails() ? nullptr : PLAIN_MALLOC(size ? size : 1);
  if (!block) throw std::bad_alloc();
  return block;
}
void* operator new(size_t size, std::align_val_t alignment) {
  void* block = fails() ? nullptr : std::aligned_alloc(static_cast<size_t>(alignment), (size + static_cast<size_t>(alignment) - 1) & -static_cast<size_t>(alignment));
  if (!block) throw std::bad_alloc();
  return block;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return fails() ? nullptr : PLAIN_MALLOC(size ? size : 1); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { std::free(block); }
