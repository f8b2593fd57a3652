/* Runtimes: what contexts share. A runtime holds the built-in functions and modules, the compiled
 * code of every unit, and later the worker threads. It is made once, filled once, and then serves
 * any number of contexts on any number of threads. Two runtimes in one process know nothing of each
 * other.
 *
 *   posset_runtime* runtime;
 *   if (posset_default_runtime(NULL, &runtime) != POSSET_OK) ...
 *   ...
 *   posset_runtime_release(runtime);
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_RUNTIME_H
#define POSSET_RUNTIME_H

#include "base.h"
#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A runtime with everything there is: all tiers, and the modules of the standard library. `options`
 * may be null. POSSET_MISUSE: an option out of range; POSSET_NOT_BUILT: one that belongs to a later
 * version. */
POSSET_API posset_status posset_default_runtime(const posset_runtime_options* options,
                                                posset_runtime** out);

/* A runtime with the tree walker and the functions that are always in scope, nothing else. Attach
 * tiers (attach.h) and register modules (module.h) before the first context is made. */
POSSET_API posset_status posset_runtime_create(const posset_runtime_options* options,
                                               posset_runtime** out);

/* Handles are counted; each context holds its runtime, so the order of releasing does not matter.
 */
POSSET_API void posset_runtime_retain(posset_runtime* runtime);
POSSET_API void posset_runtime_release(posset_runtime* runtime);

/* Waits until the compilations asked for so far have ended. Programs never need it: they go on while
 * code is made. For measurements, explanations and tests. Any thread; not from a host function. */
POSSET_API void posset_runtime_settle(posset_runtime* runtime);

/* The options the runtime was made with, into a struct whose `size` says how much of it the caller knows. POSSET_MISUSE:
 * no runtime, no such struct. */
POSSET_API posset_status posset_runtime_get_options(const posset_runtime* runtime, posset_runtime_options* out);

#ifdef __cplusplus
}
#endif

#endif
