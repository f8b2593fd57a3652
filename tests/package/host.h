/* What the hosts of this folder do, in C that is C++ as well: a runtime whose code is native from the start, a
 * context with a limit of steps, a host function, three evaluations. It prints
 *
 *     posset VERSION, TWICE, TIER, CODE
 *
 * the version linked, 2 * 21 by the host function, the tier a function runs in (3, or 1 where there is no native
 * compiler), and the name of the error of an endless loop. A status, never an exception, tells of failure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_TESTS_PACKAGE_HOST_H
#define POSSET_TESTS_PACKAGE_HOST_H

#include <stdio.h>

#include <posset/posset.h>

static posset_status twice(posset_call* call) {
  int64_t x;
  if (posset_want_int(call, 0, &x)) return POSSET_RAISED;
  return posset_return(call, posset_int(2 * x));
}

/* An int, -1 when the text is no such thing. */
static long long int_of(posset_context* context, const char* source) {
  posset_value value = posset_nil();
  int64_t result = -1;
  if (posset_eval(context, posset_text_of(source), &value, NULL) != POSSET_OK) return -1;
  if (posset_is_int(value)) result = posset_as_int(value);
  posset_release(value);
  return (long long)result;
}

static const char* error_of(posset_context* context, const char* source) {
  posset_error_info info;
  posset_error* error;
  const char* name = "none";
  if (posset_eval(context, posset_text_of(source), NULL, NULL) != POSSET_RAISED) return name;
  error = posset_take_error(context);
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  if (posset_error_get(error, &info) == POSSET_OK) name = info.code_name;
  posset_error_free(error);
  return name;
}

static int host_main(void) {
  const char* native = "import \"runtime\"\nfn f(n) { var t = 0\n for i in 0..n { t += i }\n t }\nf(10)\nruntime.tier(f)";
  posset_function_row row;
  posset_runtime_options options = posset_runtime_defaults();
  posset_context_options limits = posset_context_defaults();
  posset_runtime* runtime;
  posset_context* context;
  memset(&row, 0, sizeof row);
  row.name = "twice";
  row.signature = "twice(x)";
  row.doc = "Two times x.";
  row.min_arguments = 1;
  row.max_arguments = 1;
  row.pure = true;
  row.function = twice;
  options.forced_tier = 3;
  limits.step_limit = 100000;
  if (posset_default_runtime(&options, &runtime) != POSSET_OK) return 2;
  if (posset_context_create(runtime, &limits, &context) != POSSET_OK) return 2;
  posset_runtime_release(runtime);
  if (posset_define(context, &row, sizeof row, NULL) != POSSET_OK) return 2;
  printf("posset %s, %lld, %lld, %s\n", posset_version(), int_of(context, "twice(21)"), int_of(context, native),
         error_of(context, "while true { }"));
  posset_context_release(context);
  return 0;
}

#endif
