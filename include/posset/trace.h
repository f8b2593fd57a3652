/* Traces: what the tiers and the scheduler decided and when. A runtime records events when it was made
 * with `trace_events` (the most it keeps, the newest) or with a `trace_file`, which it then writes itself
 * when it ends. docs/trace.md lists the events and shows the views.
 *
 *   posset_runtime_options options = posset_runtime_defaults();
 *   options.trace_events = 10000;
 *   posset_default_runtime(&options, &runtime);
 *   ...
 *   posset_trace_write(runtime, POSSET_TRACE_TEXT, append, &text);
 *
 * The file's name says the form: `.json`, `.html`, or `-` for text on standard error. Making a runtime
 * gives POSSET_MISUSE for another ending, and POSSET_NOT_FOUND with `errno` set when the file cannot be
 * written. What goes wrong while it is written is said on standard error.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_TRACE_H
#define POSSET_TRACE_H

#include "base.h"
#include "runtime.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the event stream, the first thing each form says. It changes when an event is taken
 * away or means something else, not when one is added. */
#define POSSET_TRACE_VERSION 1

typedef enum posset_trace_format {
  POSSET_TRACE_TEXT,   /* a line for each event, and how many were dropped */
  POSSET_TRACE_CHROME, /* the JSON of Chrome's trace viewer and of Perfetto */
  POSSET_TRACE_HTML    /* a page: timeline, units, source with heat; needs nothing from elsewhere */
} posset_trace_format;

/* Writes the events so far, with the counts units have now. Any thread, at any time. POSSET_NOT_FOUND:
 * the runtime records none. */
POSSET_API posset_status posset_trace_write(posset_runtime* runtime, posset_trace_format format,
                                            posset_write write, void* data);

#ifdef __cplusplus
}
#endif

#endif
