/* What every other header of the interface stands on: how functions are exported, the status they
 * give, pieces of text, and the names of the handles.
 *
 * The rules of the whole interface, said once:
 *
 *  - It is plain C99. No exception crosses it, in either direction: a callback that is written in
 * C++ must catch its own (posset.hpp does).
 *  - Handles are opaque and counted where two parties may hold one (runtime, context); the rest has
 * one owner, who frees it.
 *  - A struct the caller fills in begins with its size, or is passed with it, so that a host built
 * against an older header keeps working. Start from the `..._defaults()` function, then set what
 * you want.
 *  - Text is UTF-8 with a length, never needs a zero at its end, and is copied unless something
 * else is said. Text that is handed out lives as long as what it was read from.
 *  - A string is valid UTF-8, always: text that would make another one is refused, with the error BadArgument, or from
 * another thread (suspend.h, graph.h) with POSSET_MISUSE. Only texts that somebody reads are repaired, what is not UTF-8
 * becoming U+FFFD: posset_string_lossy, messages of errors, output, labels (host.h).
 *  - A runtime may be used by any thread. A context, and every value in it, is used by one thread
 * at a time; which one may change between calls. A call that finds its context running on another
 * thread, or submitted to one (submit.h), gives POSSET_BUSY and does nothing. `posset_interrupt` is
 * the exception: any thread, at any time.
 *  - A thread that calls has 160 KiB of stack left, which is not looked at. What needs more, deep recursion and reading of
 * sources that nest deeply, goes on on stacks of the library's; so a loader of modules or a function of the host may be called there.
 *  - A null handle or an impossible argument gives POSSET_MISUSE and does nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_BASE_H
#define POSSET_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define POSSET_API __attribute__((visibility("default")))
#define POSSET_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#define POSSET_MAY_ALIAS \
  __attribute__((__may_alias__)) /* the library sees the same words as its own type */
#else
#define POSSET_API
#define POSSET_PRINTF(text, first)
#define POSSET_MAY_ALIAS
#endif

#define POSSET_VERSION_MAJOR 0
#define POSSET_VERSION_MINOR 1
#define POSSET_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ---- */

typedef enum posset_status {
  POSSET_OK = 0,
  POSSET_RAISED,    /* a script error or a limit: pending in the context, see posset_take_error */
  POSSET_INVALID,   /* the source does not parse or resolve: see the diagnostics */
  POSSET_MISUSE,    /* an argument the function cannot take; nothing was done */
  POSSET_BUSY,      /* the context is running elsewhere, submitted, or in an accessor (host.h); nothing was done */
  POSSET_EXISTS,    /* the name is taken */
  POSSET_NOT_FOUND, /* there is no such thing */
  POSSET_NOT_BUILT, /* a feature that this version or build does not have */
  POSSET_NO_MEMORY, /* no memory for a runtime or context */
  POSSET_DONE,      /* given by a visitor: stop, and be content */
  POSSET_FULL       /* as many evaluations wait as may; nothing was done */
} posset_status;

/* The status in words: "the context is running on another thread". Static text. */
POSSET_API const char* posset_status_text(posset_status status);

/* "0.1.0": the version of the library that is linked, which may be newer than the headers. */
POSSET_API const char* posset_version(void);

/* ---- text ---- */

/* A piece of UTF-8 text that somebody else owns. `data` may be null when `size` is 0. */
typedef struct posset_text {
  const char* data;
  size_t size; /* bytes */
} posset_text;

static inline posset_text posset_text_n(const char* data, size_t size) {
  posset_text text;
  text.data = data;
  text.size = size;
  return text;
}
/* Of a zero-terminated string; null is the empty text. */
static inline posset_text posset_text_of(const char* string) {
  return posset_text_n(string, string ? strlen(string) : 0);
}

/* Where a function writes a text it makes (a report, a dump). Called one or more times with
 * consecutive pieces; gives false when the text cannot be taken, which ends the writing. */
typedef bool (*posset_write)(void* data, const char* text, size_t size);

/* ---- handles ---- */

typedef struct posset_runtime posset_runtime;         /* runtime.h */
typedef struct posset_context posset_context;         /* context.h */
typedef struct posset_program posset_program;         /* program.h */
typedef struct posset_diagnostics posset_diagnostics; /* error.h */
typedef struct posset_error posset_error;             /* error.h */
typedef struct posset_call posset_call;               /* function.h */
typedef struct posset_future posset_future;           /* submit.h */

#ifdef __cplusplus
}
#endif

#endif
