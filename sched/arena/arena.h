/* The interface between sched/p2 and the shared object that holds oneTBB. The object is opened by a worker
 * thread when the arena is first wanted, so that a program that never compiles in the background does not
 * load the library: linked to the command, it would cost every start half a millisecond.
 *
 * The object exports one symbol, posset_arena_v1, a posset_arena_entry. A change of anything below gets a new
 * number. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POSSET_ARENA_SYMBOL "posset_arena_v1"

typedef struct posset_arena posset_arena;

/* An arena of `threads` worker threads and no place for its callers. Every function may be called by any
 * thread, and none throws. */
typedef struct posset_arena_functions {
  /* At most so many threads as the machine has besides its first. Null when that is none, or no memory. */
  posset_arena* (*create)(int threads);
  /* Some worker will call run(argument), which must not throw. False: it will not be called. */
  bool (*enqueue)(posset_arena* arena, void (*run)(void*), void* argument);
  /* Calls accepted and not yet returned from. */
  size_t (*outstanding)(const posset_arena* arena);
  /* Waits until none is outstanding. Not from a worker of the arena. */
  void (*destroy)(posset_arena* arena);
} posset_arena_functions;

/* The functions are static: the object is never closed. */
typedef const posset_arena_functions* (*posset_arena_entry)(void);

#ifdef __cplusplus
}
#endif
