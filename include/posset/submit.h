/* Evaluating on another thread. A submission hands one evaluation of a context to the threads of its
 * runtime; its future tells when it has ended and what came out. An evaluation stays on the thread on
 * which it began, but does not keep it: while it waits, for its tasks, a time or a call that the host
 * completes later (suspend.h), the thread goes on with others. So any number may wait at a time.
 *
 *   posset_submit_options options = posset_submit_defaults();
 *   options.priority = POSSET_PRIORITY_INTERACTIVE;
 *   options.deadline_seconds = 2;
 *   posset_future* future;
 *   if (posset_submit_eval(context, text, &options, &future) != POSSET_OK) ...
 *   ... something else ...
 *   posset_future_wait(future, -1);
 *   posset_status status = posset_future_take(future, &value, &diagnostics);
 *   posset_future_release(future);
 *
 * Whose is the context? From the moment a submission is accepted until its evaluation has ended it
 * belongs to the submission: every other function that touches the context gives POSSET_BUSY, a
 * second submission too (contexts run side by side, the evaluations of one do not). As soon as
 * posset_future_wait says that it ended, the context is the host's again; the result waits in the
 * future, and may be taken later. Host functions, the output and `drop` functions are called on the
 * thread that evaluates.
 *
 * Order: waiting evaluations are started by priority, then short and old ones first; how long one
 * will take is estimated from how long the same text, program or function took before
 * (docs/schedulers.md).
 *
 * The end: an evaluation lasts no longer than its context. A future holds the context; releasing a
 * future whose evaluation has not ended leaves it alone, and its result will be dropped. Releasing
 * the last handle of a context cancels what is pending and waits until that has ended, so that
 * nothing runs afterwards. (From inside a submitted evaluation the last release does not wait:
 * context and runtime go when the evaluations that hold them are over.)
 *
 * A host function must not wait for a future of its own runtime: all threads might come to wait. Nor
 * must a callback of posset_future_on_done. A host function that calls back into the script keeps its
 * thread while that waits, so it may hold a lock meanwhile; unless its row says that it `may_yield`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_SUBMIT_H
#define POSSET_SUBMIT_H

#include "base.h"
#include "error.h"
#include "program.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- submitting ---- */

/* Lower first. A waiting second counts a tenth of a level, so nothing waits for ever. */
typedef enum posset_priority {
  POSSET_PRIORITY_INTERACTIVE = 0, /* somebody is waiting for it */
  POSSET_PRIORITY_NORMAL = 5,
  POSSET_PRIORITY_LOW = 20,
  POSSET_PRIORITY_BATCH = 50 /* whenever there is nothing else */
} posset_priority;

typedef struct posset_submit_options {
  size_t size; /* sizeof(posset_submit_options) */
  posset_priority priority;
  /* From now on; 0: none. An evaluation that has not begun by then never does, one that runs is
   * ended as by its context's time limit; either way it raises TimeLimit. */
  double deadline_seconds;
  /* How long to wait for room when too many evaluations are waiting already; 0: not at all. */
  double room_seconds;
} posset_submit_options;

static inline posset_submit_options posset_submit_defaults(void) {
  posset_submit_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.priority = POSSET_PRIORITY_NORMAL;
  return options;
}

/* Each submits what its namesake without `submit` would do at once. `options` may be null; so may
 * `out`, when nobody will ask for the result. Beyond POSSET_OK, with nothing done and nothing taken:
 *
 *   POSSET_BUSY    the context is running, or a submission of it is pending
 *   POSSET_FULL    as many evaluations are waiting as the runtime's queue_limit says
 *   POSSET_MISUSE  an impossible option, or the context is finished */
POSSET_API posset_status posset_submit_eval(posset_context* context, posset_text text,
                                            const posset_submit_options* options,
                                            posset_future** out);
POSSET_API posset_status posset_submit_run(posset_program* program,
                                           const posset_submit_options* options,
                                           posset_future** out);
/* Takes the arguments when it gives POSSET_OK; what the function makes of `inout` ones is asked for with
 * posset_future_take_arguments. */
POSSET_API posset_status posset_submit_invoke(posset_context* context, posset_value function,
                                              posset_value* arguments, size_t count,
                                              const posset_submit_options* options,
                                              posset_future** out);

/* ---- futures ---- */

/* Futures may be used by any thread, several at once too, except that posset_future_take uses the
 * context. Handles are counted. */
POSSET_API void posset_future_retain(posset_future* future);
POSSET_API void posset_future_release(posset_future* future);

typedef enum posset_progress {
  POSSET_FUTURE_QUEUED = 0,
  POSSET_FUTURE_RUNNING,
  POSSET_FUTURE_DONE,     /* it has a value */
  POSSET_FUTURE_FAILED,   /* it raised, was interrupted, missed its deadline, or does not parse */
  POSSET_FUTURE_CANCELLED /* it never began */
} posset_progress;

POSSET_API posset_progress posset_future_progress(posset_future* future);
/* Waits until the evaluation has ended, at most so many seconds; a negative number waits for as long
 * as it takes, 0 only looks. True: it has ended. */
POSSET_API bool posset_future_wait(posset_future* future, double seconds);
/* Cancels an evaluation that has not begun, which then never does; interrupts one that runs, as
 * posset_interrupt does. Does not wait. False: it had ended. */
POSSET_API bool posset_future_cancel(posset_future* future);

/* What the function that was submitted would have given: the value, owned, in `out` (may be null);
 * POSSET_RAISED with the error pending in the context, for posset_take_error; or POSSET_INVALID.
 * `diagnostics` (may be null) gets those of a text, warnings too. A cancelled evaluation raises
 * Interrupted.
 *
 * POSSET_BUSY: it has not ended, or the context is in use again. POSSET_NOT_FOUND: taken before. */
POSSET_API posset_status posset_future_take(posset_future* future, posset_value* out,
                                            posset_diagnostics** diagnostics);
/* What posset_invoke would have left in the arguments of a call: the new values of `inout` parameters,
 * owned, also when the function raised; nil elsewhere and when it never began. Writes `count` values,
 * which need not be as many as there were. POSSET_BUSY as above; POSSET_NOT_FOUND: taken before. What
 * nobody takes goes with the future. */
POSSET_API posset_status posset_future_take_arguments(posset_future* future, posset_value* arguments,
                                                      size_t count);
/* The context it was submitted in; not retained. */
POSSET_API posset_context* posset_future_context(posset_future* future);

/* ---- being told ---- */

/* How it ended: POSSET_FUTURE_DONE, _FAILED or _CANCELLED. Must not throw. */
typedef void (*posset_future_callback)(void* data, posset_progress progress);
/* Has `callback` called exactly once when the evaluation has ended, however it did: on the thread that
 * evaluated it; on the one that ended it before it began (in posset_future_cancel, in the last release
 * of its context, in posset_future_wait or _progress when they find that its deadline has passed); or at
 * once, in this call, when it has ended. No lock is held. Several may be asked for; they are called in
 * that order. POSSET_MISUSE, POSSET_NO_MEMORY: it will not be called. A submission that was refused has no
 * future: its status is what tells.
 *
 * By then the context is the host's again: the callback may take the result, and submit anew. Threads
 * that wait for the future may go on before or after it is called. `data` is the host's, which may free it
 * in the callback. Asking holds no handle: the callback is called even when all of the future have been
 * released, but it may use the future and the context only if somebody holds one; the last release of the
 * context waits for its callbacks, as it does for its evaluation. A callback that takes long keeps a thread
 * from evaluating. */
POSSET_API posset_status posset_future_on_done(posset_future* future, posset_future_callback callback,
                                               void* data);

#ifdef __cplusplus
}
#endif

#endif
