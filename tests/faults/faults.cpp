// See faults.h. There are three ways to memory: mimalloc's functions, which the linker sends here under --wrap in
// ordinary builds; the C library's, which stand in for them in sanitizer builds; and operator new, which is
// replaced in all. Left out is what RE2 allocates for itself (below). Whatever is handed out can be given back by the allocator's own functions.
#include "faults.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace {

struct Plan {
  bool active = false, all = false;
  uint64_t first = 0, seen = 0;
};
thread_local Plan plan;

struct Spared {
  const bool was = std::exchange(plan.active, false);
  ~Spared() { plan.active = was; }
};

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

// RE2 cannot do without memory: it makes its automata inside std::call_once, out of which no exception can come where libc
// and the program have their own unwinders (docs/security.md). So nothing fails as long as one of its functions runs that
// stdlib/re.cpp calls; weak, since another version of the library may have other ones.
#define OF_RE2(result, name, parameters, arguments)     \
  [[gnu::weak]] result __real_##name parameters;        \
  result __wrap_##name parameters {                     \
    const Spared spared;                                \
    return __real_##name arguments;                     \
  }
OF_RE2(void, _ZN3re23RE2C1ERKNS_11StringPieceERKNS0_7OptionsE, (void* self, const void* pattern, const void* options), (self, pattern, options))
OF_RE2(bool, _ZNK3re23RE25MatchERKNS_11StringPieceEmmNS0_6AnchorEPS1_i,
       (const void* self, const void* text, size_t from, size_t to, int anchor, void* found, int count),
       (self, text, from, to, anchor, found, count))
OF_RE2(int, _ZN3re23RE213GlobalReplaceEPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKS0_RKNS_11StringPieceE,
       (void* text, const void* self, const void* with), (text, self, with))
OF_RE2(bool, _ZNK3re23RE218CheckRewriteStringERKNS_11StringPieceEPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE,
       (const void* self, const void* with, void* problem), (self, with, problem))

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
