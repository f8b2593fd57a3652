// What the sanitizers are told of switches between stacks, nothing in other builds: the address sanitizer where the stack is
// now, the thread sanitizer which fiber runs. Debian's Boost.Context switches by its own assembly and knows of neither.
//
// All of it is inlined: the thread sanitizer notes on the fiber it believes to run which functions were entered, and would
// take a return for one on the other side.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define POSSET_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define POSSET_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POSSET_ASAN 1
#elif __has_feature(thread_sanitizer)
#define POSSET_TSAN 1
#endif
#endif
#ifdef POSSET_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef POSSET_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace posset::sched::fiber {

#ifdef POSSET_TSAN
inline void* tsan_current() { return __tsan_get_current_fiber(); }
inline void* tsan_create() { return __tsan_create_fiber(0); }
inline void tsan_destroy(void* fiber) { __tsan_destroy_fiber(fiber); }
[[gnu::always_inline]] inline void tsan_switch(void* fiber) { __tsan_switch_to_fiber(fiber, 0); }
#else
inline void* tsan_current() { return nullptr; }
inline void* tsan_create() { return nullptr; }
inline void tsan_destroy(void*) {}
inline void tsan_switch(void*) {}
#endif

// `kept`: null gives back what the sanitizer keeps of the stack that is left.
#ifdef POSSET_ASAN
[[gnu::always_inline]] inline void asan_leaves(void** kept, const void* bottom, size_t bytes) {
  __sanitizer_start_switch_fiber(kept, bottom, bytes);
}
// Where a thread's own stack is comes out when it is left.
inline void asan_arrives(void* kept, const void** bottom_left, size_t* bytes_left) {
  __sanitizer_finish_switch_fiber(kept, bottom_left, bytes_left);
}
#else
inline void asan_leaves(void**, const void*, size_t) {}
inline void asan_arrives(void*, const void**, size_t*) {}
#endif

}  // namespace posset::sched::fiber
