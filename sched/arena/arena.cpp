// The arena on oneTBB's task_arena; the only file that sees TBB. See arena.h for why it is a shared object.
//
// Destroying a task_arena does not wait for what was enqueued in it, so the calls under way are counted here
// and `destroy` waits for the last. The count goes down while the waiter's mutex is held: when the waiter has
// it, nobody touches the arena any more.
#include "sched/arena/arena.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

struct posset_arena {
  explicit posset_arena(int threads) : arena(threads, /*reserved_for_masters=*/0) { arena.initialize(); }

  tbb::task_arena arena;
  mutable std::mutex mutex;
  std::condition_variable idle;
  size_t outstanding = 0;  // guarded by mutex
};

namespace {

// What comes before `enqueue` happens before the call it enqueues. TBB sees to that, but it is not built for
// the thread sanitizer, which believes it of a mutex; one that was never made, because it is static.
void hand_over() {
#ifdef POSSET_SANITIZED
  static std::mutex mutex;
  std::lock_guard lock(mutex);
#endif
}

void finish(posset_arena* arena) {
  std::lock_guard lock(arena->mutex);
  if (--arena->outstanding == 0) arena->idle.notify_all();
}

// TBB has a worker less than the machine has threads, and says so on the standard error output when more are
// asked for.
int workers_of_tbb() {
  return static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)) - 1;
}

posset_arena* create(int threads) noexcept {
  const int most = workers_of_tbb();
  if (most < 1) return nullptr;
  try {
    return new posset_arena(std::clamp(threads, 1, most));
  } catch (...) {
    return nullptr;
  }
}

bool enqueue(posset_arena* arena, void (*run)(void*), void* argument) noexcept {
  {
    std::lock_guard lock(arena->mutex);
    ++arena->outstanding;
  }
  hand_over();
  try {
    arena->arena.enqueue([arena, run, argument] {
      hand_over();
      run(argument);
      finish(arena);
    });
    return true;
  } catch (...) {
    finish(arena);
    return false;
  }
}

size_t outstanding(const posset_arena* arena) noexcept {
  std::lock_guard lock(arena->mutex);
  return arena->outstanding;
}

void destroy(posset_arena* arena) noexcept {
  {
    std::unique_lock lock(arena->mutex);
    arena->idle.wait(lock, [arena] { return arena->outstanding == 0; });
  }
  delete arena;
}

constexpr posset_arena_functions kFunctions = {create, enqueue, outstanding, destroy};

}  // namespace

extern "C" __attribute__((visibility("default"))) const posset_arena_functions* posset_arena_v1() {
  return &kFunctions;
}
