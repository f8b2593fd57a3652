/* Values: numbers, strings, functions and what all kinds have in common. Lists, maps and records
 * are in collections.h.
 *
 * A posset_value is two words, passed and returned by value. Nil, bools, ints and floats are all
 * there is to them; short strings stand inside the words too; everything else points into the
 * memory of its context.
 *
 * Ownership. A value is either *owned*, one reference that must be released or given away, or a
 * *view* of something that somebody else owns, which is good as long as that is neither changed nor
 * released.
 *  - What a function makes, it gives as owned.
 *  - What is read out of a container or the arguments of a call is a view; posset_retain makes it
 * owned.
 *  - A function that stores a value (push, set, call, return) *takes* it: the reference is the
 * function's afterwards, also when it fails (except for POSSET_BUSY and a null context, when
 * nothing may be touched). A function that only looks at a value takes nothing. Releasing something
 * that is not on the heap does nothing, so all values may be treated alike.
 *  - A value stays in its context: what would store it in another one gives POSSET_MISUSE and takes nothing.
 *
 * Value semantics hold as in the language: changing a list through a place (`posset_value*`) never
 * shows in another value. When the place holds the only reference it is changed where it stands,
 * else copied first.
 *
 * Threads: as their context.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_VALUE_H
#define POSSET_VALUE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of values. The first four numbers are a part of the binary interface: word0 of such a
 * value is the kind alone, word1 the payload (0 or 1; two's complement; IEEE double). What the
 * words of other kinds hold is nobody's business. */
typedef enum posset_kind {
  POSSET_NIL = 0,
  POSSET_BOOL = 1,
  POSSET_INT = 2,
  POSSET_FLOAT = 3,
  POSSET_STR,
  POSSET_LIST,
  POSSET_MAP,
  POSSET_RECORD,
  POSSET_VARIANT,
  POSSET_FN, /* closures, built-ins, host functions, constructors */
  POSSET_RANGE,
  POSSET_REF,
  POSSET_ERROR,
  POSSET_MODULE,
  POSSET_TASK,
  POSSET_CHAN,
  POSSET_HOST
} posset_kind;

typedef struct POSSET_MAY_ALIAS posset_value {
  uint64_t word0;
  uint64_t word1;
} posset_value;

/* ---- kinds ---- */

POSSET_API posset_kind posset_kind_of_other(posset_value value);
static inline posset_kind posset_kind_of(posset_value value) {
  return value.word0 <= POSSET_FLOAT ? (posset_kind)value.word0 : posset_kind_of_other(value);
}
static inline bool posset_is_nil(posset_value value) { return value.word0 == POSSET_NIL; }
static inline bool posset_is_bool(posset_value value) { return value.word0 == POSSET_BOOL; }
static inline bool posset_is_int(posset_value value) { return value.word0 == POSSET_INT; }
static inline bool posset_is_float(posset_value value) { return value.word0 == POSSET_FLOAT; }
static inline bool posset_is_number(posset_value value) {
  return posset_is_int(value) || posset_is_float(value);
}
static inline bool posset_is(posset_value value, posset_kind kind) {
  return posset_kind_of(value) == kind;
}
/* Can it be called / iterated over by `for`? */
POSSET_API bool posset_is_callable(posset_value value);
POSSET_API bool posset_is_iterable(posset_value value);

/* The name of a kind ("int"), static; and what `type(x)` gives, which for a variant is its declared
 * type. The latter lives as long as the runtime. */
POSSET_API const char* posset_kind_name(posset_kind kind);
POSSET_API posset_text posset_type_name(posset_context* context, posset_value value);

/* ---- ownership ---- */

/* Another owned reference to the same value; and giving one up. Both may be called while the value's context is used by another thread, or submitted: that is then counted when it is next
 * entered. Where there is no memory to note that, posset_retain gives nil, and what posset_release gives up goes with the context. */
POSSET_API posset_value posset_retain(posset_value value);
POSSET_API void posset_release(posset_value value);
POSSET_API void posset_release_all(posset_value* values, size_t count);

/* ---- nil, bool, int, float ---- */

static inline posset_value posset_make(uint64_t word0, uint64_t word1) {
  posset_value value;
  value.word0 = word0;
  value.word1 = word1;
  return value;
}
static inline posset_value posset_nil(void) { return posset_make(POSSET_NIL, 0); }
static inline posset_value posset_bool(bool value) { return posset_make(POSSET_BOOL, value); }
static inline posset_value posset_int(int64_t value) {
  return posset_make(POSSET_INT, (uint64_t)value);
}
static inline posset_value posset_float(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return posset_make(POSSET_FLOAT, bits);
}

/* The payload of a value that is known to be of that kind. */
static inline bool posset_as_bool(posset_value value) { return value.word1 != 0; }
static inline int64_t posset_as_int(posset_value value) { return (int64_t)value.word1; }
static inline double posset_as_float(posset_value value) {
  double d;
  memcpy(&d, &value.word1, sizeof d);
  return d;
}
/* An int or a float as a double. */
static inline double posset_as_number(posset_value value) {
  return posset_is_int(value) ? (double)posset_as_int(value) : posset_as_float(value);
}

/* ---- strings ---- */

/* Owned. POSSET_RAISED: the text is not valid UTF-8 (BadArgument), or the memory limit. */
POSSET_API posset_status posset_string(posset_context* context, posset_text text,
                                       posset_value* out);
/* The same; what is not UTF-8 becomes U+FFFD. */
POSSET_API posset_status posset_string_lossy(posset_context* context, posset_text text,
                                             posset_value* out);
POSSET_API bool posset_is_utf8(posset_text text);

/* The bytes of a string, of any other kind an empty text. The bytes of a short string stand inside
 * `*value`: the text is good as long as that variable is. */
POSSET_API posset_text posset_string_text(const posset_value* value);
POSSET_API uint64_t posset_string_length(posset_value value); /* Unicode scalars */
POSSET_API bool posset_string_is_ascii(posset_value value);
/* Where `part` begins in `text` at or after byte `from`, in bytes; POSSET_NOT_FOUND: nowhere. Takes time in proportion to both.
 * Charges nothing; limits and interruptions act in its middle (POSSET_RAISED). POSSET_MISUSE: `part` is empty, or `from`
 * beyond the end. */
POSSET_API posset_status posset_find_text(posset_context* context, posset_text text, posset_text part, uint64_t from,
                                          uint64_t* at);

/* A text under construction, charged to the context as it grows; what print, str and the encoders
 * of the library use. One owner, who frees it; not longer than its context. */
typedef struct posset_buffer posset_buffer;
POSSET_API posset_buffer* posset_buffer_create(posset_context* context); /* null: no memory */
POSSET_API void posset_buffer_free(posset_buffer* buffer);               /* null is fine */
/* Makes room for so many bytes more, if there is memory; what is appended up to that is copied once. */
POSSET_API void posset_buffer_reserve(posset_buffer* buffer, size_t bytes);
/* Appending after memory ran out does nothing; posset_buffer_finish tells. */
POSSET_API void posset_buffer_append(posset_buffer* buffer, posset_text text);
POSSET_API void posset_buffer_append_scalar(posset_buffer* buffer, uint32_t scalar);
POSSET_API void posset_buffer_append_int(posset_buffer* buffer, int64_t value);
POSSET_API void posset_buffer_append_float(posset_buffer* buffer,
                                           double value); /* as str(x) shows it */
/* A value as print shows it, or (`literal`) as it stands inside another one, charging its weight.
 */
POSSET_API posset_status posset_buffer_append_value(posset_buffer* buffer, posset_value value,
                                                    bool literal);
/* What there is so far; good until the next append. */
POSSET_API posset_text posset_buffer_text(const posset_buffer* buffer);
POSSET_API bool posset_buffer_failed(const posset_buffer* buffer);
POSSET_API void posset_buffer_clear(posset_buffer* buffer);
/* The text as an owned string; the buffer is empty afterwards and can be used again. POSSET_RAISED: the
 * memory limit, or it is not valid UTF-8 (BadArgument). */
POSSET_API posset_status posset_buffer_finish(posset_buffer* buffer, posset_value* out);

/* ---- text of any value ---- */

/* str(x): owned string. Charges the value's weight. */
POSSET_API posset_status posset_to_string(posset_context* context, posset_value value,
                                          posset_value* out);
/* Writes the value as print shows it, or (`literal`) as a literal: strings quoted and escaped. */
POSSET_API posset_status posset_print(posset_context* context, posset_value value, bool literal,
                                      posset_write write, void* data);
/* For messages: the literal, cut to about `most` bytes. Writes at most `capacity` bytes with a zero
 * at the end; gives the number of bytes without it. Charges nothing. */
POSSET_API size_t posset_brief(posset_context* context, posset_value value, size_t most, char* out,
                               size_t capacity);
/* int(s) and float(s): false when the text is no such number or does not fit. */
POSSET_API bool posset_parse_int(posset_text text, int64_t* out);
POSSET_API bool posset_parse_float(posset_text text, double* out);

/* ---- comparing ---- */

/* `==` and `!=`. Never fails. Compares whatever there is without charging: see posset_charge_value.
 */
POSSET_API bool posset_equal(posset_value a, posset_value b);
/* -1, 0, 1; 2: a NaN is met; 3: values that have no order. */
POSSET_API int posset_order(posset_value a, posset_value b);
/* Equal values have equal hashes. Any kind. */
POSSET_API uint64_t posset_hash(posset_value value);

/* ---- ranges, refs, error values ---- */

/* `first..last` or `first..=last`. Owned. */
POSSET_API posset_status posset_range(posset_context* context, int64_t first, int64_t last,
                                      bool inclusive, posset_value* out);
/* The ints of a range: `count` of them, from `first` on, `step` (1 or -1) apart. False: not a
 * range. */
POSSET_API bool posset_range_ints(posset_value value, int64_t* first, int64_t* step,
                                  uint64_t* count);

POSSET_API posset_status posset_ref(posset_context* context, posset_value value,
                                    posset_value* out);   /* takes */
POSSET_API posset_value posset_ref_get(posset_value ref); /* view; nil when no ref */
POSSET_API posset_status posset_ref_set(posset_value ref, posset_value value); /* takes */

/* error(message, value) of the language: an error value that has not been raised. Takes `value`. */
POSSET_API posset_status posset_error_value(posset_context* context, posset_text message,
                                            posset_value value, posset_value* out);
/* What an error value holds: its message (a string) and its value, as views. Nil when it is no
 * error. */
POSSET_API posset_value posset_error_message_of(posset_value error);
POSSET_API posset_value posset_error_value_of(posset_value error);

/* ---- functions ---- */

/* Calls a function value with `count` arguments. The arguments are taken: afterwards `arguments[i]`
 * is nil, except for inout parameters, whose new value stands there, owned. `out` (may be null)
 * gets the result, owned. Inside a native function this is how to call back; charged and traced
 * like any call. */
POSSET_API posset_status posset_invoke(posset_context* context, posset_value function,
                                       posset_value* arguments, size_t count, posset_value* out);
/* The same with `count` floats, which are not changed: the quickest way to a function of numbers
 * that is called again and again. Once it is hot, it takes them in processor registers. */
POSSET_API posset_status posset_invoke_numbers(posset_context* context, posset_value function,
                                               const double* arguments, size_t count,
                                               posset_value* out);
/* What such a call gives. `kind` is that of the result: of a float `number` is the value, any other has gone to where the
 * call was told. POSSET_NIL, too, where there is none because the status is not POSSET_OK. */
typedef struct posset_number {
  double number;
  posset_kind kind;
  posset_status status;
} posset_number;

/* The quickest way, with 1 to 8 floats, and so for formulas that are evaluated again and again: they are passed in processor
 * registers, those beyond `count` are ignored, and the result comes in registers, too. Once the function is hot,
 * and does nothing but compute, next to nothing is done beside. A result that is no float goes to `other` (may be null),
 * owned; what was a float leaves it alone.
 *
 *     posset_number y = posset_compute(context, f, 1, NULL, x, 0, 0, 0, 0, 0, 0, 0);
 *     if (y.kind == POSSET_FLOAT) use(y.number); */
POSSET_API posset_number posset_compute(posset_context* context, posset_value function,
                                        size_t count, posset_value* other, double a, double b,
                                        double c, double d, double e, double f, double g, double h);
/* Calls it for each of `rows` rows, in their order, within one evaluation: out[i] gets the number
 * that it gives for columns[0][i], columns[1][i], ..., `count` floats. Columns and results are the
 * host's memory: nothing is copied, and no script can have them longer than this call. They must
 * stay during it. `out` may be one of the columns, so that they are replaced; otherwise it must not
 * overlap them (POSSET_MISUSE). Each row is charged as a call. POSSET_RAISED, also where a result is
 * no number: out[0 .. *done) is what the rows before have given, the rest is as it was; `done` may
 * be null. Once the function is hot, and does nothing but compute, several rows are done at once. */
POSSET_API posset_status posset_invoke_columns(posset_context* context, posset_value function,
                                               const double* const* columns, size_t count,
                                               double* out, size_t rows, size_t* done);

/* The same for columns of ints (`kind` POSSET_INT, int64_t) and floats (POSSET_FLOAT, double), results of either kind: an int
 * is a float where results are floats, but a float is no int, however round. */
typedef struct posset_column {
  const void* numbers;
  posset_kind kind;
} posset_column;
POSSET_API posset_status posset_invoke_mixed_columns(posset_context* context, posset_value function,
                                                     const posset_column* columns, size_t count,
                                                     posset_kind kind_of_results, void* out,
                                                     size_t rows, size_t* done);

/* Calls a method of a host object, of `graph`s and other handles of the library, as `object.name(...)` does.
 * Arguments and result as in posset_invoke. Without such a method it is raised. */
POSSET_API posset_status posset_invoke_method(posset_context* context, posset_value object, posset_text name,
                                              posset_value* arguments, size_t count, posset_value* out);

/* What is known about a function value. Texts live as long as the value, or as the context if it is
 * a function of a program. */
typedef struct posset_function_info {
  size_t size;        /* sizeof(posset_function_info), set by the caller */
  posset_text name;   /* empty for a lambda */
  posset_text module; /* "math"; empty: always in scope, or a script's function */
  posset_text doc;    /* of built-ins and host functions */
  uint32_t min_arguments;
  uint32_t max_arguments; /* UINT32_MAX: any number */
  uint64_t inout_mask;    /* bit i: parameter i is passed with & */
  bool pure;
  bool native; /* a built-in, host function or constructor: no unit */
} posset_function_info;
/* POSSET_NOT_FOUND: not a function. */
POSSET_API posset_status posset_describe_function(posset_context* context, posset_value function,
                                                  posset_function_info* out);
/* "area(w, h)" as an owned string. */
POSSET_API posset_status posset_function_signature(posset_context* context, posset_value function,
                                                   posset_value* out);

/* ---- values outside of contexts ---- */

/* A value that belongs to no context: what other threads send to graphs (graph.h), or complete calls with
 * (suspend.h). */
typedef struct posset_datum {
  posset_kind kind; /* POSSET_NIL, _BOOL, _INT, _FLOAT, _STR */
  uint32_t reserved;
  union {
    bool truth;
    int64_t integer;
    double number;
    posset_text text; /* copied; UTF-8, or it is no datum */
  } of;
} posset_datum;

#ifdef __cplusplus
}
#endif

#endif
