/* Contexts: isolated worlds. A context has its own globals, modules, memory and limits; contexts of
 * one runtime run in parallel and never see each other. What a script may touch outside (files,
 * clocks, the output, other modules) is what its context was given.
 *
 *   posset_context_options options = posset_context_defaults();
 *   options.memory_limit = 64 << 20;
 *   posset_context* context;
 *   posset_context_create(runtime, &options, &context);
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_CONTEXT_H
#define POSSET_CONTEXT_H

#include "base.h"
#include "options.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `options` may be null. The first context closes its runtime for further registrations. */
POSSET_API posset_status posset_context_create(posset_runtime* runtime,
                                               const posset_context_options* options,
                                               posset_context** out);

/* Handles are counted. The last release frees everything in the context; values of it must be gone
 * by then. An error taken from a context (error.h) and a future (submit.h) hold it. The last release
 * ends what was submitted and is not done, see submit.h. Made by a function that the context calls, it
 * lets that go on; the context goes when its runtime is next given a context or a handle back. */
POSSET_API void posset_context_retain(posset_context* context);
POSSET_API void posset_context_release(posset_context* context);

POSSET_API posset_runtime* posset_context_runtime(posset_context* context); /* not retained */

/* Drops modules, session, globals and unreachable cycles, which ends the context: it still answers
 * questions, but runs nothing any more (POSSET_MISUSE). Objects that live afterwards are values the
 * host holds, or leaks. */
POSSET_API posset_status posset_context_finish(posset_context* context);

/* Sets limits and grants anew, for the evaluations that follow. */
POSSET_API posset_status posset_context_set_options(posset_context* context,
                                                    const posset_context_options* options);

/* ---- output ---- */

/* Where print and println write. Without one the text is dropped. Called on the thread that runs
 * the script with at least one whole piece of a print; giving false raises "cannot write to the
 * output", or what the function has raised itself (posset_raise). */
POSSET_API posset_status posset_context_set_output(posset_context* context, posset_write write,
                                                   void* data);
/* Writes as print does: counted against the output limit. */
POSSET_API posset_status posset_write_output(posset_context* context, posset_text text);

/* ---- progress ---- */

typedef struct posset_solve_progress {
  size_t size;      /* sizeof(posset_solve_progress), set by the library */
  const char* what; /* the built-in: "fixpoint.solve" */
  bool ended;       /* it is over, whichever way; what follows is as it was last told */
  double seconds;   /* since it began */
  uint64_t updates; /* of coordinates */
  double residual;  /* the largest when all were last looked at; infinity: not yet */
} posset_solve_progress;

typedef void (*posset_watch)(void* data, const posset_solve_progress* progress);

/* Is told how far a built-in has come that takes long: ten times a second at most, the first time after a
 * tenth, and once more when it has ended if it was told before. Called on the thread that runs the script;
 * it must not use the context. Null: nobody is told. */
POSSET_API posset_status posset_context_set_progress(posset_context* context, posset_watch watch,
                                                     void* data);

/* ---- globals ---- */

/* Sets a global value that programs loaded afterwards see under this name; setting it again changes
 * what all of them see. Takes `value`. POSSET_EXISTS: the name of a built-in or host function;
 * POSSET_MISUSE: not an identifier. */
POSSET_API posset_status posset_set_global(posset_context* context, posset_text name,
                                           posset_value value);
/* The value of a global the host has set, owned. POSSET_NOT_FOUND. */
POSSET_API posset_status posset_get_global(posset_context* context, posset_text name,
                                           posset_value* out);

/* ---- modules ---- */

/* An answer to a module loader, valid during the call. */
typedef struct posset_module_source posset_module_source;

/* Finds the script module that `import "path"` means in the module called `from_key`. Answers with
 * posset_module_found and true, or with posset_module_missing and false. It must not use the
 * context. */
typedef bool (*posset_module_loader)(void* data, posset_text from_key, posset_text path,
                                     posset_module_source* answer);
/* `key` identifies the module: two imports that give one key share one module, and it is what
 * `from_key` will be for its own imports. `name` is what diagnostics call it. All are copied. */
POSSET_API void posset_module_found(posset_module_source* answer, posset_text key, posset_text name,
                                    posset_text source);
/* Why there is none: "no file geometry.posset in /srv/rules". */
POSSET_API void posset_module_missing(posset_module_source* answer, posset_text why);

/* Without a loader, only built-in modules can be imported. */
POSSET_API posset_status posset_context_set_loader(posset_context* context,
                                                   posset_module_loader loader, void* data);

/* ---- limits and interruption ---- */

/* Ends the evaluation that is running, or the next one when none is, with an error that neither scripts
 * nor functions of the host can keep it from. It takes effect within a fraction of a millisecond. Any
 * thread, and signal handlers. The wish is forgotten when that evaluation ends, whichever way: one that
 * was about to end may do so as if there had been none. */
POSSET_API void posset_interrupt(posset_context* context);

/* ---- grants ---- */

/* Is `what` (one of POSSET_GRANT_...) granted? For READ and WRITE, `path` is the file in question;
 * symbolic links and `..` are followed before it is compared with the directory. */
POSSET_API bool posset_granted(posset_context* context, uint32_t what, posset_text path);
/* The same as a status: POSSET_OK, or POSSET_RAISED with an error that says what is not granted. */
POSSET_API posset_status posset_require_grant(posset_context* context, uint32_t what,
                                              posset_text path);

/* ---- data of the host ---- */

/* One pointer for each `key` (the address of anything static), for what a native module keeps in a
 * context: a cache, a connection. `drop` (may be null) is called with the data when it is replaced
 * and when the context ends. With any status but POSSET_OK the data stays the caller's. */
POSSET_API posset_status posset_set_data(posset_context* context, const void* key, void* data,
                                         void (*drop)(void* data));
POSSET_API void* posset_get_data(posset_context* context, const void* key); /* null when not set */

/* ---- statistics ---- */

enum { POSSET_TIERS = 4 };

typedef struct posset_statistics {
  size_t size;           /* sizeof(posset_statistics), set by the caller */
  uint64_t allocations;  /* objects ever made in this context */
  uint64_t live_objects; /* objects that are there now */
  uint64_t copies;       /* copies-on-write: a container changed while shared was copied first */
  uint64_t copied_bytes;
  uint64_t used_bytes; /* memory charged to the context now */
  uint64_t peak_bytes; /* most there ever was */
  uint64_t cycle_collections;
  uint64_t steps;                    /* of the running or last evaluation */
  uint64_t output_bytes;             /* written so far */
  uint64_t modules;                  /* instances of modules and programs that are there now */
  uint64_t units;                    /* in the runtime: distinct units seen */
  uint64_t compiled[POSSET_TIERS];   /* in the runtime: units and loops with code for each tier */
  uint64_t code_bytes[POSSET_TIERS]; /* in the runtime: their size */
  uint64_t unit_bytes;               /* in the runtime: units with their code; code_limit bounds it */
  uint64_t cache_hits;               /* in the runtime: native code that was found in the cache directory */
  uint64_t cache_misses;             /* in the runtime: native code that was looked for there in vain */
} posset_statistics;

POSSET_API posset_status posset_context_statistics(posset_context* context, posset_statistics* out);

#ifdef __cplusplus
}
#endif

#endif
