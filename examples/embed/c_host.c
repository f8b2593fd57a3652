/* A host in plain C: a context with limits, a host function, a host type whose objects scripts read, change and
 * call, expressions that work and some that do not. Prints values and the reports of errors.
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

/* The type Counter: a property `count`, read and stored, and a method `add(n)`. */
struct counter {
  int64_t count;
};

static posset_status get_count(posset_call* call) {
  return posset_return(call, posset_int(((struct counter*)call->self)->count));
}
static posset_status set_count(posset_call* call) {
  return posset_want_int(call, 0, &((struct counter*)call->self)->count);
}
static posset_status add(posset_call* call) {
  int64_t n;
  if (posset_want_int(call, 0, &n)) return POSSET_RAISED;
  ((struct counter*)call->self)->count += n;
  return posset_return(call, posset_int(((struct counter*)call->self)->count));
}
static void drop_counter(void* data) { printf("counter dropped at %d\n", (int)((struct counter*)data)->count); }

static const posset_type* register_counter(posset_runtime* runtime) {
  static const posset_property_row properties[] = {
      {"count", "How many there were.", get_count, set_count, NULL, false}};
  static const posset_function_row methods[] = {
      {.name = "add", .signature = "add(n)", .doc = "Counts n more.", .min_arguments = 1, .max_arguments = 1, .function = add}};
  const posset_type* type = NULL;
  posset_type_row row = posset_type_of("Counter");
  row.properties = properties;
  row.property_count = 1;
  row.methods = methods;
  row.method_count = 1;
  return posset_register_type(runtime, &row, &type) == POSSET_OK ? type : NULL;
}

/* The global `counter`, which is given back when the context ends. */
static posset_status set_counter(posset_context* context, const posset_type* type, struct counter* counter) {
  posset_value value;
  posset_object object = posset_object_of(counter);
  object.drop = drop_counter;
  object.data = counter;
  if (posset_host(context, type, &object, &value) != POSSET_OK) return POSSET_RAISED;
  return posset_set_global(context, posset_text_of("counter"), value);
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
  const posset_function_row row = {.name = "twice", .signature = "twice(x)", .doc = "Two times x.",
                                   .min_arguments = 1, .max_arguments = 1, .pure = true, .function = twice};
  posset_context_options options = posset_context_defaults();
  posset_runtime* runtime;
  posset_context* context;
  const posset_type* type;
  struct counter counter = {0};
  if (posset_default_runtime(NULL, &runtime) != POSSET_OK) return 2;
  if ((type = register_counter(runtime)) == NULL) return 2;
  options.memory_limit = 16 << 20;
  options.step_limit = 1000000;
  if (posset_context_create(runtime, &options, &context) != POSSET_OK) return 2;
  posset_runtime_release(runtime); /* the context holds it */
  posset_define(context, &row, sizeof row, NULL);
  evaluate(context, "sum([1, 2, 3]).twice()");
  evaluate(context, "twice(\"two\")");
  if (set_counter(context, type, &counter) != POSSET_OK) return 2;
  evaluate(context, "for i in 0..10 { counter.count += i }\ncounter.add(5)");
  evaluate(context, "[counter, counter.count, counter == counter]");
  evaluate(context, "counter.count = 0.5");
  evaluate(context, "counter.total");
  posset_context_release(context);
  return 0;
}
