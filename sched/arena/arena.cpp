// The arena on oneTBB's task_arena; the only file that sees TBB. See arena.h for why it is a shared object.
//
// Destroying a task_arena does not wait for what was enqueued in it, so the calls under way are counted here
// and `destroy` waits for the last. The count goes down while the waiter's mutex is held: when the waiter has
// it, nobody touches the arena any more.
#include "sched/arena/arena.h"

#include <condition_variable>
#include <mutex>
#include <new>

#include <oneapi/tbb/task_arena.h>

struct posset_arena {
  explicit posset_arena(int threads) : arena(threads, /*reserved_for_masters=*/0) { arena.initialize(); }

  tbb::task_arena arena;
  mutable std::mutex mutex;
  std::condition_variable idle;
  size_t outstanding = 0;  // guarded by mutex
};

namespace {

void finish(posset_arena* arena) {
  std::lock_guard lock(arena->mutex);
  if (--arena->outstanding == 0) arena->idle.notify_all();
}

posset_arena* create(int threads) noexcept {
  try {
    return new posset_arena(threads);
  } catch (...) {
    return nullptr;
  }
}

bool enqueue(posset_arena* arena, void (*run)(void*), void* argument) noexcept {
  {
    std::lock_guard lock(arena->mutex);
    ++arena->outstanding;
  }
  try {
    arena->arena.enqueue([arena, run, argument] {
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
