/* The options of runtimes and contexts as plain structs, made from the table options.def, which
 * says what each means, its unit and its default. Get one from its `..._defaults()` function,
 * change what you want, pass it on; it is only read during that call.
 *
 *   posset_context_options options = posset_context_defaults();
 *   options.memory_limit = 64 << 20;
 *
 * Members are only ever appended, those of the table too, so a host that was compiled against an older header goes
 * on working: its `size` says which members it knows, and the others have their defaults.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_OPTIONS_H
#define POSSET_OPTIONS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t posset_option_i32;
typedef uint32_t posset_option_u32;
typedef uint64_t posset_option_u64;
typedef double posset_option_f64;
typedef const char* posset_option_text; /* zero-terminated */

typedef struct posset_runtime_options {
  size_t size; /* sizeof(posset_runtime_options) */
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help) \
  posset_option_##type field;
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help)
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
} posset_runtime_options;

static inline posset_runtime_options posset_runtime_defaults(void) {
  posset_runtime_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help) \
  options.field = fallback;
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help)
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
  return options;
}

/* What a context may do beyond computing. Nothing is granted unless the host says so; the library's
 * modules io, os and time ask (posset_granted). */
enum {
  POSSET_GRANT_READ = 1,  /* read files, below `read_directory` when that is set */
  POSSET_GRANT_WRITE = 2, /* make and change files, below `write_directory` when that is set */
  POSSET_GRANT_ENV = 4,   /* read environment variables */
  POSSET_GRANT_CLOCK = 8, /* read clocks and the system's randomness */
  POSSET_GRANT_RUN = 16,  /* start processes */
  POSSET_GRANT_INPUT = 32, /* read standard input; POSSET_GRANT_READ without a directory includes it */
  POSSET_GRANT_ALL = 63
};

typedef struct posset_context_options {
  size_t size; /* sizeof(posset_context_options) */
  uint32_t grants;             /* POSSET_GRANT_... */
  const char* read_directory;  /* null: anywhere; an empty one is refused */
  const char* write_directory; /* null: anywhere; an empty one is refused */
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help)
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help) \
  posset_option_##type field;
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
} posset_context_options;

static inline posset_context_options posset_context_defaults(void) {
  posset_context_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help)
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help) \
  options.field = fallback;
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
  return options;
}

#ifdef __cplusplus
}
#endif

#endif
