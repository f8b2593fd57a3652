/* Systems x = F(x) of the host, solved by the solver of the module `fixpoint`: several threads that each
 * update single coordinates with what they find in x at that moment, without locks and without waiting for
 * each other. It converges where F contracts in the maximum norm (docs/schedulers.md); the end is only
 * declared with all threads at rest, after a look at every coordinate.
 *
 *   static posset_status half(void* data, size_t i, const posset_vector* x, double* out) {
 *     *out = 0.5 * posset_vector_at(x, (i + 1) % x->size) + 1;
 *     return POSSET_OK;
 *   }
 *   double x[3] = {0, 0, 0};
 *   posset_solve_options options = posset_solve_defaults();
 *   options.tolerance = 1e-9;
 *   options.workers = 2;
 *   posset_solve_result result = posset_solve_result_empty();
 *   if (posset_solve(NULL, half, NULL, x, 3, &options, &result) != POSSET_OK) puts(result.problem);
 *   if (result.status == POSSET_SOLVE_CONVERGED) ...
 *
 * The threads are the solve's own: the calling one and workers - 1 that end with it. The executors of a runtime
 * take no part. They are there for scripts, which give way to each other at the end of a quantum; what a
 * function of the host does for how long nobody knows, and an evaluation that waits would wait for it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_FIXPOINT_H
#define POSSET_FIXPOINT_H

#include "base.h"
#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the system ---- */

/* x while it changes, to be read through posset_vector_at. Valid during the call. */
typedef struct posset_vector {
  const double* values;
  size_t size;
} posset_vector;

/* The value of coordinate i < x->size at this moment, or a little before. No two reads belong together: another
 * thread may write in between, this coordinate too. */
static inline double posset_vector_at(const posset_vector* x, size_t i) {
#if defined(__GNUC__)
  double value;
  __atomic_load(&x->values[i], &value, __ATOMIC_RELAXED);
  return value;
#else
  return *(const volatile double*)&x->values[i];
#endif
}

/* F_i(x) into `out`. Called by all workers at the same time, for different coordinates or the same; by one worker on
 * the calling thread only, and unless the schedule is AUTO in the same order every time. Another status than POSSET_OK ends the solve. It may
 * solve a system itself. A context is used by one thread at a time, so that only the operator of a single worker can
 * evaluate scripts in one that all calls share. */
typedef posset_status (*posset_operator)(void* data, size_t i, const posset_vector* x, double* out);

/* ---- stopping ---- */

/* Something to stop solves with: any number of them, for good. Any thread, at any time. */
typedef struct posset_stop posset_stop;

POSSET_API posset_stop* posset_stop_create(void); /* null: no memory */
POSSET_API void posset_stop_request(posset_stop* stop);
POSSET_API bool posset_stop_requested(const posset_stop* stop);
POSSET_API void posset_stop_free(posset_stop* stop); /* when no solve has it any more */

/* ---- options ---- */

typedef enum posset_schedule {
  POSSET_SCHEDULE_STATIC = 0,   /* each worker goes round in a block of its own */
  POSSET_SCHEDULE_RESIDUAL = 1, /* the coordinates with the largest residuals first */
  POSSET_SCHEDULE_AUTO = 2      /* begins with blocks, and finds out by the clock which is the better one */
} posset_schedule;

/* One look at all coordinates, with the workers at rest. */
typedef struct posset_residual_point {
  double seconds;   /* since the solve began */
  uint64_t updates; /* until then */
  double residual;  /* the largest |F_i(x) - x_i| */
} posset_residual_point;

/* POSSET_OK to go on, POSSET_DONE when that was enough. */
typedef posset_status (*posset_visit_residual)(void* data, const posset_residual_point* point);

typedef struct posset_solve_options {
  size_t size;              /* sizeof(posset_solve_options) */
  double tolerance;         /* of |F_i(x) - x_i|, 0 or more; with 0 only an exact fixed point will do */
  double damping;           /* d in (0, 2): x_i becomes (1 - d) x_i + d F_i(x) */
  posset_schedule schedule;
  uint32_t workers;         /* at most 1024; 0: one for each processor; there are never more than coordinates */
  double timeout_seconds;   /* from the beginning; 0: none. An answer takes some milliseconds or one call of the operator */
  posset_stop* stop;        /* may be null; stays the caller's */
  posset_watch progress;    /* is told how far it has come, see posset_context_set_progress; may be null. Called on the */
  void* progress_data;      /* calling thread, in which it may request a stop */
  double progress_seconds;  /* at least so long after the beginning and the last time */
  posset_visit_residual history; /* is told of the looks at all, in the order of time, when the solve has ended; of more */
  void* history_data;            /* than 256 only of some, evenly. On the calling thread; may be null */
} posset_solve_options;

static inline posset_solve_options posset_solve_defaults(void) {
  posset_solve_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.tolerance = 1e-6;
  options.damping = 1;
  options.schedule = POSSET_SCHEDULE_AUTO;
  options.workers = 1;
  options.progress_seconds = 0.1;
  return options;
}

/* ---- solving ---- */

typedef enum posset_solve_status {
  POSSET_SOLVE_CONVERGED = 0,
  POSSET_SOLVE_DIVERGED,  /* the operator gave NaN or infinity, or x grew beyond all numbers; x has the values before that */
  POSSET_SOLVE_TIMED_OUT,
  POSSET_SOLVE_STOPPED,
  POSSET_SOLVE_FAILED,    /* the operator did, see operator_status */
  POSSET_SOLVE_REFUSED    /* nothing was done, see problem */
} posset_solve_status;

typedef struct posset_solve_result {
  size_t size;                   /* sizeof(posset_solve_result), from the caller */
  posset_solve_status status;
  posset_schedule schedule;      /* the last one: STATIC or RESIDUAL */
  uint32_t workers;              /* that worked; fewer than asked for where there are not so many threads to be had */
  posset_status operator_status; /* of FAILED: what it gave first */
  size_t coordinate;             /* of FAILED and DIVERGED: for which i; SIZE_MAX: for none, the values were finite */
  double residual;               /* the largest at the last look; infinity: there was none */
  double seconds;
  uint64_t updates;              /* coordinates written */
  uint64_t evaluations;          /* calls of the operator: updates, and n for each look at all */
  uint64_t scans;                /* looks at all coordinates */
  uint64_t rebuilds;             /* of the order of coordinates, by their residuals */
  uint64_t switches;             /* from one schedule to another */
  char problem[160];             /* what went wrong, for people, zero-terminated; empty: nothing */
} posset_solve_result;

static inline posset_solve_result posset_solve_result_empty(void) {
  posset_solve_result result;
  memset(&result, 0, sizeof result);
  result.size = sizeof result;
  return result;
}

/* "converged", "timed out" and so on. Static text. */
POSSET_API const char* posset_solve_status_text(posset_solve_status status);

/* Solves x_i = F_i(x) for all i < n, starting from what is in x, which are finite numbers, and leaves the last values
 * there, whatever the end. Until it returns x is the workers'. `data` is the operator's. `runtime` may be null; else its
 * trace tells of the solve. `options` may be null. Any thread, and any number of solves at a time. A solve holds up to
 * 32 bytes for each coordinate while it lasts, which count towards no context's limit.
 *
 * POSSET_OK: it has ended, and `result` says how. POSSET_MISUSE: n is 0 or more than 2^32 - 1, an argument is null or not
 * possible, x holds NaN or infinity; nothing was done and result->problem says what. POSSET_NO_MEMORY: it could not
 * begin, or not go on; x has the last values. */
POSSET_API posset_status posset_solve(posset_runtime* runtime, posset_operator f, void* data, double* x, size_t n,
                                      const posset_solve_options* options, posset_solve_result* result);

#ifdef __cplusplus
}
#endif

#endif
