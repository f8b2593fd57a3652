// Script errors on their way. An operation that raises stores a pending error in the context and gives
// Failed; frames it passes through add one trace point each. The pieces:
//   raise (context.h)    makes the pending error, without a place
//   note_failure         the frame in which it surfaces gives it the place (the first call per frame wins)
//   leave_failed         the frame is left: its point joins the trace
//   catch_error          a `try` takes the error as a value; limits cannot be taken
// Points keep the trees they refer to alive, so an error can outlive its module. Of an error that somebody else has, too,
// a copy is thrown: where it goes is nothing that others see. What an error has beside its object is charged to the heap that
// the object is in, a point for each trace that has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interp/runtime/error_trace.h"
#include "interp/syntax/ast.h"
#include "interp/syntax/diagnostic.h"
#include "interp/value/objects.h"
#include "interp/value/value.h"

namespace posset::interp {

class Heap;

using syntax::ErrorCode;

struct ErrorData {
  ErrorCode code = ErrorCode::Thrown;
  bool limit = false;      // cannot be caught by a script
  bool located = false;
  bool of_callee = false;  // about what is called; the place tells its name
  bool rethrown = false;   // thrown again: the last trace point is that of the running function
  TracePoint place;
  std::string hint;        // shown under the caret, may be empty
  ErrorTrace trace;
  std::vector<std::shared_ptr<const syntax::Module>> trees;  // what `place` and `trace` point into

  void keep(const std::shared_ptr<const syntax::Module>& tree) {
    for (auto& kept : trees) {
      if (kept == tree) return;
    }
    trees.push_back(tree);
  }
};

// An error that has not been raised. Failed: there is no memory for it.
Value make_error_value(Heap& heap, Value message, Value value);

// "in NAME (FILE:LINE:COL)", "in FILE:LINE:COL" at top level.
std::string trace_line(const TracePoint& point);
const syntax::Source* source_of(const TracePoint& point);
syntax::Span span_of(const TracePoint& point);

// The whole report of an uncaught error in the shape of cli.md; long traces are cut in the middle.
std::string render_error(const ErrorObject* error, const syntax::RenderOptions& options);

}  // namespace posset::interp
