/* Functions written in C or C++: what a host defines in a context, and what modules register in a
 * runtime (module.h).
 *
 *   static posset_status gcd(posset_call* call) {
 *     int64_t a, b;
 *     if (posset_want_int(call, 0, &a) || posset_want_int(call, 1, &b)) return POSSET_RAISED;
 *     ...
 *     return posset_return(call, posset_int(a));
 *   }
 *
 * The rules of a native function:
 *  - it gives POSSET_OK with its result in the call (nil when nothing was set), or POSSET_RAISED
 * with an error pending; any other status becomes the error "... failed: STATUS";
 *  - whatever loops over its input charges steps by size *before or while* it works, and so lets
 * limits and interruption act in its middle; native work charges one step per 16 elements and per
 * 64 bytes, so that step counts do not depend on the machine;
 *  - whatever it allocates outside of values it charges as memory first;
 *  - what it calls back (posset_invoke) may raise, and may call native functions again.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_FUNCTION_H
#define POSSET_FUNCTION_H

#include "base.h"
#include "error.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One running call. Made by the library; a later version may append members. */
struct posset_call {
  posset_context* context;
  posset_value* arguments; /* `count` of them; views, unless taken out */
  uint32_t count;
  uint32_t reserved;
  void* data;          /* of the function's row */
  posset_value result; /* owned; nil at first */
  void* self;              /* of a method or accessor (host.h): the object */
  posset_value self_value; /* its handle, a view */
};

typedef posset_status (*posset_function)(posset_call* call);

enum { POSSET_ANY_COUNT = 0xffff };

/* A function as a row of a table. `inout`: bit i says that argument i is passed with `&`. `calls`:
 * bit i says that argument i is a function which gets called; the function is then as pure as what
 * it is given. `pure`: no effect and no dependence on anything but the arguments, so the call may
 * be moved, repeated, or made by other threads of the runtime, several at the same time. `may_yield`:
 * when what it calls in a submitted evaluation (submit.h) waits, or has had its time, the thread may do
 * something else: the function holds no lock meanwhile, and keeps nothing in variables of the thread.
 * It goes on on the same thread. */
typedef struct posset_function_row {
  const char* name; /* an identifier */
  const char*
      signature;   /* as the manual shows it: "insert(&xs, i, x)", "get(x, k, default = nil)" */
  const char* doc; /* one or two sentences */
  uint32_t min_arguments;
  uint32_t max_arguments; /* POSSET_ANY_COUNT: no end */
  uint64_t inout;
  uint64_t calls;
  bool pure;
  posset_function function;
  void* data; /* for the call */
  /* Where else a pure function of a module may be called, by native code and without a posset_call:
   * one that takes one number, or two, of which an int counts as the float next to it (as with
   * posset_want_number), gives a float, never fails and is short: limits and interruptions wait for it.
   * `function` gives the same. Null: nowhere. */
  double (*of_float)(double);
  double (*of_floats)(double, double);
  bool may_yield;
} posset_function_row;

/* Defines a host function in a context, for programs loaded afterwards. The row is copied with its
 * texts. `drop` (may be null) is called with row->data when the context ends, and at once when this
 * fails. POSSET_EXISTS: a built-in has that name; defining a host function again replaces it for
 * later programs. */
POSSET_API posset_status posset_define(posset_context* context, const posset_function_row* row,
                                       size_t row_size, void (*drop)(void* data));

/* ---- arguments ---- */

static inline bool posset_has(const posset_call* call, uint32_t i) { return i < call->count; }
/* Argument i, nil when it was not given. View. */
static inline posset_value posset_argument(const posset_call* call, uint32_t i) {
  return i < call->count ? call->arguments[i] : posset_nil();
}
/* Argument i moved out, owned; nil stays behind. For an inout argument: take it, change it (in
 * place when nobody else has it), put it back, also when raising. */
static inline posset_value posset_take(posset_call* call, uint32_t i) {
  posset_value value = call->arguments[i];
  call->arguments[i] = posset_nil();
  return value;
}
/* Puts the new value of an inout argument in its place, which must have been taken out. Takes it.
 */
static inline void posset_put_back(posset_call* call, uint32_t i, posset_value value) {
  call->arguments[i] = value;
}

/* Argument i (POSSET_MISUSE unless it was given) as what is wanted: POSSET_OK, or POSSET_RAISED with the
 * error worded like that of a built-in: "argument xs of window(xs, n): expected list, got int (5)".
 */
POSSET_API posset_status posset_want_bool(posset_call* call, uint32_t i, bool* out);
POSSET_API posset_status posset_want_int(posset_call* call, uint32_t i, int64_t* out);
POSSET_API posset_status posset_want_number(posset_call* call, uint32_t i, double* out);
POSSET_API posset_status posset_want_count(posset_call* call, uint32_t i,
                                           uint64_t* out); /* not negative */
/* The bytes of a string argument; good until it is taken or changed. */
POSSET_API posset_status posset_want_string(posset_call* call, uint32_t i, posset_text* out);
POSSET_API posset_status posset_want_list(posset_call* call, uint32_t i);
POSSET_API posset_status posset_want_map(posset_call* call, uint32_t i);
POSSET_API posset_status posset_want_record(posset_call* call, uint32_t i);
POSSET_API posset_status posset_want_function(posset_call* call, uint32_t i);
POSSET_API posset_status posset_want_iterable(posset_call* call, uint32_t i);
/* The elements of a list argument that consists of numbers (ints) only, good until it is taken or changed; as
 * doubles, ints are the floats next to them. However the list is stored: one that is stored otherwise is replaced by an equal one, which
 * counts as its memory and steps. An inout argument must be of floats already, as nothing may change what a script sees. */
POSSET_API posset_status posset_want_floats(posset_call* call, uint32_t i, const double** data, uint64_t* count);
POSSET_API posset_status posset_want_ints(posset_call* call, uint32_t i, const int64_t** data, uint64_t* count);
/* Argument i is of a wrong kind: "...: expected WHAT, got int (5)"; where it is of that kind, what else may be wrong: that it is
 * closed, or something in it. Always POSSET_RAISED. */
POSSET_API posset_status posset_raise_kind(posset_call* call, uint32_t i, const char* expected);
/* An int that the host has no room for: "...: expected an int from -128 to 127, got 300" (OutOfRange). Of other kinds
 * as posset_raise_kind says it. */
POSSET_API posset_status posset_raise_range(posset_call* call, uint32_t i, int64_t least, int64_t most);
/* Something inside of argument i is of a wrong kind: "...: element 1: expected int, got str ("x")", "...: value at "a": ...".
 * `place` is the index in a list or the key in a map; for a key itself, which is then `found`, nil. */
POSSET_API posset_status posset_raise_element(posset_call* call, uint32_t i, posset_value place, posset_value found,
                                              const char* expected);
/* Argument i is of the right kind but no good: "argument n of window(xs, n): PROBLEM". */
POSSET_API posset_status posset_raise_argument(posset_call* call, posset_code code, uint32_t i,
                                               posset_text problem);

/* ---- results ---- */

/* Sets the result. Takes it. */
static inline posset_status posset_return(posset_call* call, posset_value value) {
  call->result = value;
  return POSSET_OK;
}
POSSET_API posset_status posset_return_string(posset_call* call, posset_text text);

/* ---- charging ---- */

/* Each gives POSSET_RAISED when a limit is reached or the evaluation was interrupted. */
POSSET_API posset_status posset_charge_steps(posset_context* context, uint64_t steps);
POSSET_API posset_status posset_charge_elements(posset_context* context,
                                                uint64_t count); /* 1 per 16 */
POSSET_API posset_status posset_charge_bytes(posset_context* context,
                                             uint64_t count); /* 1 per 64 */
/* Before `value` is compared, hashed or printed as a whole: 1 per 16 values inside. */
POSSET_API posset_status posset_charge_value(posset_context* context, posset_value value);
/* Looks at the limits without charging anything. Cheap enough for every 10,000th turn of a tight
 * loop. */
POSSET_API posset_status posset_poll(posset_context* context);
/* Memory that lives outside of values, counted against the memory limit until it is given back. */
POSSET_API posset_status posset_charge_memory(posset_context* context, size_t bytes);
POSSET_API void posset_discharge_memory(posset_context* context, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
