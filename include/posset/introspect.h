/* Looking inside: the units of a program, their trees and bytecode, in which tier they run and why
 * not in a higher one. For tools; the forms of the texts may change from version to version.
 *
 * Texts are handed to a posset_write in one or more pieces.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_INTROSPECT_H
#define POSSET_INTROSPECT_H

#include "base.h"
#include "program.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum posset_form {
  POSSET_FORM_TREE,     /* the resolved tree */
  POSSET_FORM_BYTECODE, /* tier 1 */
  POSSET_FORM_IR,       /* tiers 2 and 3 */
  POSSET_FORM_ASM
} posset_form;

/* A function, the top level or a loop of a program. Texts live as long as the program. */
typedef struct posset_unit_info {
  posset_text name;      /* "area", "" for a lambda; the top level is called "<top>" */
  posset_text enclosing; /* name of the function it stands in; empty at the top level */
  uint32_t line, column;
  bool is_top_level;
  bool is_lambda;
  bool pure;
  uint32_t loops;      /* number of loops in it */
  uint32_t executions; /* as far as they were counted */
  int tier;            /* the highest that has code */
} posset_unit_info;

typedef posset_status (*posset_visit_unit)(void* data, const posset_unit_info* info);
/* The functions of a program and of the script modules it imports are visited in the order of their
 * declaration, the program's own first. */
POSSET_API posset_status posset_each_unit(posset_program* program, posset_visit_unit visit,
                                          void* data);

/* The units of that name (empty: all) in a form. For the code of a tier they are compiled if they
 * have not been. POSSET_NOT_FOUND: no such unit; POSSET_NOT_BUILT: no tier makes this form. */
POSSET_API posset_status posset_dump_program(posset_program* program, posset_form form,
                                             posset_text name, posset_write write, void* data);
POSSET_API posset_status posset_dump_function(posset_context* context, posset_value function,
                                              posset_form form, posset_write write, void* data);

/* What is known about the units of that name (empty: all): pure, or the chain that refutes it; what
 * forks and what does not; the tier and why not a higher one; counts; types seen. */
POSSET_API posset_status posset_explain_program(posset_program* program, posset_text name,
                                                posset_write write, void* data);
POSSET_API posset_status posset_explain_function(posset_context* context, posset_value function,
                                                 posset_write write, void* data);

/* Only why those units are not in a higher tier and what does not fork, and what the reasons mean. */
POSSET_API posset_status posset_why_program(posset_program* program, posset_text name,
                                            posset_write write, void* data);
POSSET_API posset_status posset_why_function(posset_context* context, posset_value function,
                                             posset_write write, void* data);

/* A reason for which a unit is not in a higher tier, or does not fork. They are a closed set (docs/reasons.md). Texts
 * are never freed. */
typedef struct posset_reason_info {
  posset_text name; /* "not_hot" */
  posset_text text; /* "not hot yet" */
  posset_text page; /* what it means and what one can do */
} posset_reason_info;
typedef posset_status (*posset_visit_reason)(void* data, const posset_reason_info* info);
POSSET_API posset_status posset_each_reason(posset_visit_reason visit, void* data);

/* The tier in which the next call of a function starts; -1 for native functions and other values.
 */
POSSET_API int posset_function_tier(posset_context* context, posset_value function);
/* How often a function was executed, as far as it was counted: counting stops when there is nothing
 * left to decide. */
POSSET_API uint64_t posset_function_executions(posset_context* context, posset_value function);

#ifdef __cplusplus
}
#endif

#endif
