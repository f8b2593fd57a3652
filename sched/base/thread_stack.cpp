// See thread_stack.h. The bounds are asked for once for each thread: of the main thread the system reads them out of a file.
#include "sched/base/thread_stack.h"

#include <pthread.h>

#include "sched/base/native_stack.h"

namespace posset::sched {

namespace {

struct Bounds {
  const char* low = nullptr;
  const char* high = nullptr;
};

Bounds bounds_of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &low, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return {};
  return {static_cast<const char*>(low), static_cast<const char*>(low) + bytes};
}

}  // namespace

size_t thread_stack_left() {
  // A fact of the thread, the same for all runtimes.
  thread_local const Bounds bounds = bounds_of_thread();
  const char* const here = stack_position();
  return here >= bounds.low && here < bounds.high ? static_cast<size_t>(here - bounds.low) : 0;
}

}  // namespace posset::sched
