/* The one layout of a source, as `posset fmt` gives it; for editors. Tokens, comments and line breaks stay, so the program is
 * the same; the white space around them is given. Neither a runtime nor a context is needed; any thread.
 *
 *   std::string made;
 *   posset_source source = posset_source_of("rules.posset", text);
 *   posset_status status = posset_format_source(&source, append, &made, &diagnostics);
 *   ... show diagnostics, free them; if (status == POSSET_OK) replace the text by `made` ...
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_LAYOUT_H
#define POSSET_LAYOUT_H

#include "base.h"
#include "error.h"
#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the text of a source in its layout, in one or more pieces. Names are not resolved and imports not followed: it is
 * enough that the source parses. A text that has its layout is written as it is. `diagnostics` may be null.
 * POSSET_INVALID: it does not parse, as the diagnostics tell, and nothing is written. POSSET_DONE: `write` has refused. */
POSSET_API posset_status posset_format_source(const posset_source* source, posset_write write, void* data,
                                              posset_diagnostics** diagnostics);

#ifdef __cplusplus
}
#endif

#endif
