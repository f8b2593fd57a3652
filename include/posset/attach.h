/* Putting a runtime together by hand, for who does not want all of posset_default_runtime.
 * Everything here happens between posset_runtime_create and the first context.
 *
 *   posset_runtime_create(&options, &runtime);
 *   posset_attach_tier(runtime, posset_bytecode_tier());
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_ATTACH_H
#define POSSET_ATTACH_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The descriptor of tier 1, register bytecode. Static. */
POSSET_API const void* posset_bytecode_tier(void);

/* The descriptors of tiers 2 and 3, native code. Static; null when this build has none. The compiler is a shared
 * object, libposset_jit.so, which is opened when a unit is first to be compiled; without it every unit stays in
 * bytecode. */
POSSET_API const void* posset_native_tier(int level);

/* Attaches a tier. The tree walker is always there. POSSET_MISUSE: no descriptor of this version,
 * or a context exists already; POSSET_EXISTS: there is one of that level. */
POSSET_API posset_status posset_attach_tier(posset_runtime* runtime, const void* tier);

#ifdef __cplusplus
}
#endif

#endif
