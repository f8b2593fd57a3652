/* Calls of the host that end later. A host function begins something (a request, a timer, a question to a user) and
 * returns; the script that has called it waits until the host *completes* the call, from any thread, with a value
 * or an error. Meanwhile the other tasks of the context go on (docs/schedulers.md).
 *
 *   static posset_status fetch(posset_call* call) {
 *     posset_text url;
 *     posset_completion* completion;
 *     if (posset_want_string(call, 0, &url)) return POSSET_RAISED;
 *     if (posset_suspend(call, &completion)) return POSSET_RAISED;
 *     begin_request(url, completion);     // keeps the completion, copies the url
 *     return POSSET_OK;                   // and now the script waits
 *   }
 *   ... later, on any thread ...
 *   posset_complete(completion, &answer);
 *   posset_completion_free(completion);
 *
 * Who waits, and on which thread. Tasks run on the thread that evaluates, so a task that waits blocks nobody but those
 * that wait for it. When nothing else is left to do, that thread sleeps: until a call is completed, the time limit or
 * a time that a task waits for comes, or posset_interrupt is called. A thread that has an event loop of its
 * own runs that instead of sleeping, see posset_context_set_idle. That calls of the host are pending is no deadlock.
 * Waiting for them costs no steps: only the time limit bounds it.
 *
 * The completion belongs to the host, from posset_suspend on until posset_completion_free. It holds neither context nor
 * runtime and outlives both. What can go wrong has an answer each:
 *
 *   completed twice, by two threads too   the first counts, the others get POSSET_NOT_FOUND
 *   freed without having been completed   the call raises HostError: "... the host has dropped the call ..."
 *   the task was cancelled, a limit or an
 *   interruption ended the evaluation,
 *   the context is gone                   the call is withdrawn: completing gives POSSET_NOT_FOUND and does nothing
 *   completed before the function returns the script goes on at once
 *   the function fails after it suspended its error counts, and the call is withdrawn
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_SUSPEND_H
#define POSSET_SUSPEND_H

#include "base.h"
#include "error.h"
#include "function.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- in the function ---- */

typedef struct posset_completion posset_completion;

/* Makes the call one that ends when it is completed. The function, or method, then returns POSSET_OK without a result
 * (one that it has set is dropped); the call and its arguments must not be used afterwards. POSSET_RAISED where nothing
 * may wait: in an accessor (host.h) and in a function that is `pure`. POSSET_MISUSE: it was suspended before. */
POSSET_API posset_status posset_suspend(posset_call* call, posset_completion** out);

/* ---- completing: any thread, several at once too ---- */

/* All of these give POSSET_OK when the script gets what is said, POSSET_NOT_FOUND when nobody waits (any more), and
 * POSSET_MISUSE and POSSET_NO_MEMORY with nothing done: the call is still to be completed. None waits for the
 * script. */

/* With a value that belongs to no context; null: nil. Its text is charged when the script gets it. */
POSSET_API posset_status posset_complete(posset_completion* completion, const posset_datum* datum);
/* With an error, as posset_raise makes it, at the call in the script; so a code that is not of kind runtime becomes HostError.
 * `message` is copied. */
POSSET_API posset_status posset_complete_error(posset_completion* completion, posset_code code,
                                               posset_text message);
/* With whatever `finish` makes: it is called in the place of the function, on the thread of the script, with the same
 * call but for call->data, which is `data`. It may make values, raise, call back, and suspend again. `drop` (may be
 * null) is called with `data` exactly once: after `finish` on the script's thread, or when that is not called any
 * more, there or here (also when this fails). */
POSSET_API posset_status posset_complete_with(posset_completion* completion, posset_function finish, void* data,
                                              void (*drop)(void* data));
/* Whether somebody still waits: false once it was completed or withdrawn. For dropping work that nobody wants. */
POSSET_API bool posset_completion_wanted(const posset_completion* completion);
/* The last call with it. Null is fine. */
POSSET_API void posset_completion_free(posset_completion* completion);

/* ---- an event loop on the thread that evaluates ---- */

typedef struct posset_idle {
  size_t size; /* sizeof(posset_idle) */
  /* Called on the thread that evaluates, whenever nothing in the context can go on, in place of a sleep: handles the
   * host's events, and waits for more `seconds` long at most (INFINITY: as long as it takes). It may return at any
   * time; it should as soon as it has completed a call. False: the event loop has failed, and the evaluation ends with a
   * HostError. It must not use the context (what runs something gives POSSET_BUSY); other contexts it may use. It
   * runs on a stack of 1 MiB of the library's. */
  bool (*wait)(void* data, double seconds);
  /* Makes `wait` return soon, or if it is not called just now, the next one: something has happened that the
   * library must look at. Called from any thread, the waiting one included, and where the host calls posset_interrupt
   * in a signal handler from there: then writing to a pipe or eventfd is about all that it may do. It must take no lock
   * that is held where a call is completed. Null: `wait` is asked for a
   * hundredth of a second at most, and then again. */
  void (*wake)(void* data);
  void* data;
} posset_idle;

static inline posset_idle posset_idle_defaults(void) {
  posset_idle idle;
  memset(&idle, 0, sizeof idle);
  idle.size = sizeof idle;
  return idle;
}

/* Not in an evaluation (POSSET_BUSY). Null: the thread sleeps, as at first. What was set before may be woken, from
 * other threads, until the context ends. */
POSSET_API posset_status posset_context_set_idle(posset_context* context, const posset_idle* idle);

#ifdef __cplusplus
}
#endif

#endif
