/* A host in plain C: a context with limits, a host function, an expression that works and one that
 * does not. Prints 12, and the report of the error.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <posset/posset.h>

static bool to_stdout(void* data, const char* text, size_t size) {
  (void)data;
  return fwrite(text, 1, size, stdout) == size;
}

/* twice(x) for scripts. */
static posset_status twice(posset_call* call) {
  int64_t x;
  if (posset_want_int(call, 0, &x)) return POSSET_RAISED;
  return posset_return(call, posset_int(2 * x));
}

static int evaluate(posset_context* context, const char* source) {
  posset_value value = posset_nil();
  posset_status status = posset_eval(context, posset_text_of(source), &value, NULL);
  if (status == POSSET_OK) {
    posset_print(context, value, true, to_stdout, NULL);
    printf("\n");
    posset_release(value);
  } else if (status == POSSET_RAISED) {
    posset_error* error = posset_take_error(context);
    posset_error_render(error, false, to_stdout, NULL);
    posset_error_free(error);
  } else {
    printf("%s\n", posset_status_text(status));
  }
  return status;
}

int main(void) {
  const posset_function_row row = {"twice", "twice(x)", "Two times x.", 1,     1,
                                   0,       0,          true,           twice, NULL};
  posset_context_options options = posset_context_defaults();
  posset_runtime* runtime;
  posset_context* context;
  if (posset_default_runtime(NULL, &runtime) != POSSET_OK) return 2;
  options.memory_limit = 16 << 20;
  options.step_limit = 1000000;
  if (posset_context_create(runtime, &options, &context) != POSSET_OK) return 2;
  posset_runtime_release(runtime); /* the context holds it */
  posset_define(context, &row, sizeof row, NULL);
  evaluate(context, "sum([1, 2, 3]).twice()");
  evaluate(context, "twice(\"two\")");
  posset_context_release(context);
  return 0;
}
