/* Running sources: programs, single expressions, and sessions (the inputs of a REPL).
 *
 *   posset_program* program;
 *   posset_diagnostics* diagnostics;
 *   posset_source source = posset_source_of("rules.posset", text);
 *   posset_status status = posset_load(context, &source, &program, &diagnostics);
 *   ... show diagnostics (there may be warnings), free them ...
 *   if (status == POSSET_OK) status = posset_run(program, NULL);
 *
 * An *outermost* call, made while nothing runs in the context, starts the counters of steps and
 * time anew. A call from a native function is part of the evaluation that is running.
 *
 * After an error or a limit the context is as usable as before: what had been assigned stays
 * assigned.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_PROGRAM_H
#define POSSET_PROGRAM_H

#include "base.h"
#include "error.h"
#include "module.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- programs ---- */

typedef struct posset_source {
  size_t size;      /* sizeof(posset_source) */
  posset_text name; /* what diagnostics call it: a file name */
  posset_text
      key; /* what the loader would call it, so that a module that imports the program itself is
              found to be a cycle; it is `from_key` of its imports. May be empty. */
  posset_text text; /* copied; may be anything, the diagnostics tell */
} posset_source;

static inline posset_source posset_source_of(const char* name, posset_text text) {
  posset_source source;
  memset(&source, 0, sizeof source);
  source.size = sizeof source;
  source.name = posset_text_of(name);
  source.text = text;
  return source;
}

/* Parses and resolves a program and all it imports; runs nothing. `out` may be null to check only.
 * POSSET_INVALID: the diagnostics hold at least one error. POSSET_RAISED: the memory or time limit, or an
 * interruption, which act while the source is read; there are no diagnostics then. */
POSSET_API posset_status posset_load(posset_context* context, const posset_source* source,
                                     posset_program** out, posset_diagnostics** diagnostics);
/* Runs the top level, once: imported modules first, each once per context. `out` (may be null) gets
 * the value of the last expression, owned. Running a program again does nothing and gives nil; one
 * that raised, or imports a module that did, raises ModuleFailed. */
POSSET_API posset_status posset_run(posset_program* program, posset_value* out);
/* What the program exports under a name, or a function or `let` of its top level that has one;
 * owned. POSSET_NOT_FOUND: no such name, or it has not been evaluated. */
POSSET_API posset_status posset_program_get(posset_program* program, posset_text name,
                                            posset_value* out);
/* Gives the handle back. Values made by the program, its functions too, live on; what nobody can
 * reach any more is freed. Programs are freed before their context is released. Null is fine. */
POSSET_API void posset_program_free(posset_program* program);

/* ---- expressions ---- */

/* Evaluates a text, which is a whole source (its value is that of its last expression): "1 + 2",
 * "(net, n) => net * n". `out` may be null. POSSET_INVALID or POSSET_RAISED as above. */
POSSET_API posset_status posset_eval(posset_context* context, posset_text text, posset_value* out,
                                     posset_diagnostics** diagnostics);

/* ---- sessions ---- */

/* Evaluates the next input of the context's session: it sees the names of all earlier ones, and
 * what it declares is there for later ones. `name` is what diagnostics call it ("<input 3>"). An
 * input that raises keeps what it had declared by then. */
POSSET_API posset_status posset_session_eval(posset_context* context, posset_text name,
                                             posset_text text, posset_value* out,
                                             posset_diagnostics** diagnostics);
/* Forgets all inputs. */
POSSET_API posset_status posset_session_reset(posset_context* context);
/* The value a name has in the session: of an input, a global of the host, or a built-in. Owned.
 * POSSET_NOT_FOUND. A dotted name is looked up through modules and fields: "geometry.area", "p.x".
 */
POSSET_API posset_status posset_session_get(posset_context* context, posset_text name,
                                            posset_value* out);
/* Visits the names that inputs have declared (newest first, each once) and the globals of the host.
 */
POSSET_API posset_status posset_session_each_name(posset_context* context, posset_visit_name visit,
                                                  void* data);
/* Visits what may follow `name.`: the exports of a module, the fields of a record or variant. */
POSSET_API posset_status posset_session_each_member(posset_context* context, posset_text name,
                                                    posset_visit_name visit, void* data);
/* Does the text end inside something (a bracket, a string over several lines, after an operator),
 * so that a REPL should ask for more lines? Any thread. */
POSSET_API bool posset_is_incomplete(posset_text text);

#ifdef __cplusplus
}
#endif

#endif
