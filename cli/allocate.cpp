// `new` of the command's own code. mimalloc's ends the process where there is no memory, because it does not see the handler of a
// libstdc++ that is linked in; who asks for memory here expects an exception, and tells of a limit then. A sanitizer
// brings its own.
#ifndef POSSET_SANITIZED
#include <mimalloc.h>
#include <new>

namespace {

void* there(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return there(mi_malloc(bytes)); }
void* operator new[](size_t bytes) { return there(mi_malloc(bytes)); }
void* operator new(size_t bytes, std::align_val_t alignment) { return there(mi_malloc_aligned(bytes, static_cast<size_t>(alignment))); }
void* operator new[](size_t bytes, std::align_val_t alignment) { return there(mi_malloc_aligned(bytes, static_cast<size_t>(alignment))); }
void operator delete(void* memory) noexcept { mi_free(memory); }
void operator delete[](void* memory) noexcept { mi_free(memory); }
void operator delete(void* memory, size_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, size_t) noexcept { mi_free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { mi_free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { mi_free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { mi_free(memory); }
#endif
