/* The whole C interface of Posset. The headers read in this order:
 *
 *   base.h        status, text, the rules that hold everywhere
 *   options.h     options of runtimes and contexts
 *   runtime.h     what contexts share
 *   context.h     an isolated world: limits, output, globals, modules, grants
 *   value.h       values, strings, calling functions
 *   collections.h lists, maps, records, iteration
 *   error.h       errors as objects, diagnostics, raising
 *   function.h    functions written in C
 *   module.h      modules written in C; what is built in
 *   host.h        objects of the host: types, properties, methods
 *   suspend.h     functions whose calls end later, by an event loop or another thread
 *   program.h     loading, running, evaluating; sessions
 *   graph.h       nodes of the host in graphs of scripts
 *   submit.h      evaluating on another thread; futures
 *   fixpoint.h    systems x = F(x) of the host, solved on several threads
 *   tokens.h      the tokens of a text and the keywords, for editors
 *   layout.h      the one layout of a source, for editors
 *   introspect.h  units, tiers, dumps
 *   trace.h       what happened, as text, for Perfetto, as a page
 *
 * attach.h, for putting a runtime together by hand, is not included here. In C++, posset.hpp is a
 * thin layer on top.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_POSSET_H
#define POSSET_POSSET_H

#include "base.h"
#include "collections.h"
#include "context.h"
#include "error.h"
#include "fixpoint.h"
#include "function.h"
#include "graph.h"
#include "host.h"
#include "introspect.h"
#include "layout.h"
#include "module.h"
#include "options.h"
#include "program.h"
#include "runtime.h"
#include "submit.h"
#include "suspend.h"
#include "tokens.h"
#include "trace.h"
#include "value.h"

#endif
