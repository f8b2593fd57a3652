/* Modules written in C or C++, and looking up what is built in.
 *
 * A module is a name and rows of functions and constants, registered in a runtime before its first
 * context is made; scripts `import` it like any other. The tables must live as long as the runtime:
 * they are usually static.
 *
 *   static const posset_function_row kRows[] = {
 *     {"gcd", "gcd(a, b)", "The greatest common divisor.", 2, 2, 0, 0, true, gcd, NULL},
 *   };
 *   posset_register_functions(runtime, "math", kRows, 1, sizeof kRows[0]);
 *   posset_register_constant(runtime, "math", "pi", posset_float(3.14...), "...");
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_MODULE_H
#define POSSET_MODULE_H

#include "base.h"
#include "function.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `module` null or empty: always in scope. `row_size` is sizeof(posset_function_row) as the caller
 * knows it. POSSET_EXISTS: a name is taken in that module (rows before it are registered);
 * POSSET_MISUSE: a context exists already. */
POSSET_API posset_status posset_register_functions(posset_runtime* runtime, const char* module,
                                                   const posset_function_row* rows, size_t count,
                                                   size_t row_size);
/* Nil, a bool, an int or a float (else POSSET_MISUSE); and a string. */
POSSET_API posset_status posset_register_constant(posset_runtime* runtime, const char* module,
                                                  const char* name, posset_value value,
                                                  const char* doc);
POSSET_API posset_status posset_register_text(posset_runtime* runtime, const char* module,
                                              const char* name, posset_text text, const char* doc);

/* What there is, for help, completion and documentation. Texts live as long as the runtime. */
typedef struct posset_builtin_info {
  posset_text name;
  posset_text module;    /* empty: always in scope */
  posset_text signature; /* of a constant its name */
  posset_text doc;
  bool is_function; /* else a constant, whose value is in `value` */
  bool pure;
  bool is_host;       /* defined in the context by its host */
  posset_value value; /* the function or constant itself, a view that never dies */
} posset_builtin_info;

/* Gives POSSET_OK to go on; anything else ends the enumeration and is its result (POSSET_DONE:
 * POSSET_OK). */
typedef posset_status (*posset_visit_builtin)(void* data, const posset_builtin_info* info);

/* Visits every function and constant, those always in scope first, then by module, each in
 * alphabetical order. */
POSSET_API posset_status posset_each_builtin(posset_runtime* runtime, posset_visit_builtin visit,
                                             void* data);
/* Visits the names of the built-in modules in alphabetical order. */
typedef posset_status (*posset_visit_name)(void* data, posset_text name);
POSSET_API posset_status posset_each_module(posset_runtime* runtime, posset_visit_name visit,
                                            void* data);
/* Finds "len" or "math.sin". POSSET_NOT_FOUND. */
POSSET_API posset_status posset_find_builtin(posset_runtime* runtime, posset_text name,
                                             posset_builtin_info* out);
/* Visits the functions the host has defined in a context. */
POSSET_API posset_status posset_each_host_function(posset_context* context,
                                                   posset_visit_builtin visit, void* data);

#ifdef __cplusplus
}
#endif

#endif
