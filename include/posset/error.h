/* Errors of scripts and diagnostics of sources.
 *
 * While something runs, an error that a function reports by POSSET_RAISED is *pending* in its
 * context. A native function passes it on by returning that status. The host, outside of
 * everything, takes it:
 *
 *   if (posset_run(program, NULL) == POSSET_RAISED) {
 *     posset_error* error = posset_take_error(context);
 *     posset_error_info info = {sizeof info};
 *     posset_error_get(error, &info);
 *     fprintf(stderr, "%s:%u: %.*s\n", ...);
 *     posset_error_free(error);
 *   }
 *
 * While one is pending, functions that could raise do nothing and give POSSET_RAISED. An outermost
 * call of the host drops an error nobody has taken.
 *
 * Diagnostics are what the front end has to say about a source before anything runs: errors and
 * warnings, all of them, collected in one handle.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_ERROR_H
#define POSSET_ERROR_H

#include "base.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- codes ---- */

/* The rows of error_codes.def: POSSET_ERROR_BadArgument and so on. */
typedef enum posset_code {
#define ERROR_CODE(Name, kind, text) POSSET_ERROR_##Name,
#include "error_codes.def"
#undef ERROR_CODE
  POSSET_ERROR_COUNT
} posset_code;

POSSET_API const char* posset_code_name(posset_code code); /* "BadArgument" */
POSSET_API const char* posset_code_kind(
    posset_code code); /* syntax, resolve, warning, runtime or limit */
POSSET_API const char* posset_code_text(posset_code code); /* its line in the table */

/* ---- misuse ---- */

/* Why a function has just given POSSET_MISUSE, POSSET_EXISTS or POSSET_NOT_FOUND with this context, where more is known than
 * the status says: "a node with inputs needs on_message". Told once: empty when it was asked for since, and where nothing
 * is known. Good until the next time it is asked for. */
POSSET_API posset_text posset_misuse_text(posset_context* context);

/* ---- raising, in native functions ---- */

/* Makes an error pending; always gives POSSET_RAISED, so that `return posset_raise(...)` is enough.
 * Codes of kind runtime may be raised, any other becomes HostError: a host cannot pretend that a limit was reached, which
 * no script may catch. BadArgument and OutOfRange are what most functions need. The place is that of the call in the script. */
POSSET_API posset_status posset_raise(posset_context* context, posset_code code,
                                      posset_text message);
/* With a hint, which is shown under the caret. */
POSSET_API posset_status posset_raise_hint(posset_context* context, posset_code code,
                                           posset_text message, posset_text hint);
POSSET_API posset_status posset_raisef(posset_context* context, posset_code code,
                                       const char* format, ...) POSSET_PRINTF(3, 4);
/* Throws any value as `throw` does. Takes it. */
POSSET_API posset_status posset_throw(posset_context* context, posset_value value);
/* The pending error as an error value, which ends its way, as `catch` does. Limits cannot be
 * caught: then POSSET_RAISED, and it stays pending. POSSET_NOT_FOUND: none is pending. */
POSSET_API posset_status posset_catch(posset_context* context, posset_value* out);
POSSET_API bool posset_error_pending(posset_context* context);

/* ---- errors as objects of the host ---- */

/* The pending error taken out of the context, limits too; null when none is pending. The error
 * holds its context, so it stays good after the host has released that. */
POSSET_API posset_error* posset_take_error(posset_context* context);
/* Puts an error back on its way in a native function of the same context, with the place and trace it
 * had, and gives POSSET_RAISED. The handle stays the caller's. POSSET_MISUSE: of another context. */
POSSET_API posset_status posset_restore_error(posset_context* context, posset_error* error);
POSSET_API void posset_error_free(posset_error* error); /* null is fine */

typedef struct posset_error_info {
  size_t size; /* sizeof(posset_error_info), set by the caller */
  posset_code code;
  const char* code_name;
  posset_text message;
  posset_text hint;      /* may be empty */
  posset_value value;    /* what was thrown (view); the message for errors of the language */
  posset_text file;      /* empty: the error has no place in a source */
  uint32_t line, column; /* from 1; columns in Unicode scalars */
  uint32_t end_line, end_column; /* behind the last character */
  size_t trace_count;
  bool is_limit;     /* a limit or an interruption, which scripts cannot catch */
  bool is_interrupt; /* posset_interrupt */
} posset_error_info;

/* Texts live as long as the error. */
POSSET_API posset_status posset_error_get(const posset_error* error, posset_error_info* out);
/* Line `index` of the trace, innermost first: "in total_of (prices.posset:3:15)". Very long traces
 * have one line "... N more" in their middle. */
POSSET_API posset_text posset_error_trace(const posset_error* error, size_t index);
/* The whole report: message, the line with a caret, hint and trace. */
POSSET_API posset_status posset_error_render(const posset_error* error, bool color,
                                             posset_write write, void* data);

/* ---- diagnostics ---- */

typedef enum posset_severity {
  POSSET_SEVERITY_ERROR = 0,
  POSSET_SEVERITY_WARNING = 1
} posset_severity;

typedef struct posset_diagnostic {
  size_t size; /* sizeof(posset_diagnostic), set by the caller */
  posset_severity severity;
  posset_code code;
  const char* code_name;
  posset_text message;
  posset_text hint; /* may be empty */
  posset_text file;
  uint32_t line, column;
  uint32_t end_line, end_column;
} posset_diagnostic;

/* Functions that take a source give its diagnostics through a `posset_diagnostics**`, which may be
 * null when nobody wants them; otherwise it is set, to null when there are none, and the caller
 * frees them. They stay good without the context. */
POSSET_API void posset_diagnostics_free(posset_diagnostics* diagnostics); /* null is fine */
POSSET_API size_t posset_diagnostics_count(const posset_diagnostics* diagnostics);
/* Texts live as long as the diagnostics. POSSET_NOT_FOUND. */
POSSET_API posset_status posset_diagnostics_get(const posset_diagnostics* diagnostics, size_t index,
                                                posset_diagnostic* out);
/* "FILE:LINE:COL: error: MESSAGE", and below it the line with a caret and the hint. */
POSSET_API posset_status posset_diagnostics_render(const posset_diagnostics* diagnostics,
                                                   size_t index, bool color, posset_write write,
                                                   void* data);

#ifdef __cplusplus
}
#endif

#endif
