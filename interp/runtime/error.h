// Script errors on their way. An operation that raises stores a pending error in the context and gives
// Failed; frames it passes through add one trace point each. The pieces:
//   raise (context.h)    makes the pending error, without a place
//   note_failure         the frame in which it surfaces gives it the place (the first call per frame wins)
//   leave_failed         the frame is left: its point joins the trace
//   catch_error          a `try` takes the error as a value; limits cannot be taken
// Points keep the trees they refer to alive, so an error can outlive its module.
#pragma once

#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "interp/syntax/ast.h"
#include "interp/syntax/diagnostic.h"
#include "interp/value/objects.h"

namespace posset::interp {

using syntax::ErrorCode;

struct TracePoint {
  const syntax::FunctionDecl* function = nullptr;
  uint32_t site = 0;
  const char* host = nullptr;  // name of a function of the host; then it has no place
  const char* part = nullptr;  // what was running, where that is no function; likewise
};

struct ErrorData {
  ErrorCode code = ErrorCode::Thrown;
  bool limit = false;      // cannot be caught by a script
  bool located = false;
  bool rethrown = false;   // thrown again: the last trace point is that of the running function
  TracePoint place;
  std::string hint;        // shown under the caret, may be empty
  std::vector<TracePoint> trace;                             // innermost first
  std::deque<std::string> parts;                             // what trace points call so
  std::vector<std::shared_ptr<const syntax::Module>> trees;  // what `place` and `trace` point into

  // False: there is no memory for it.
  bool add(const TracePoint& point) noexcept {
    try {
      trace.push_back(point);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  // The error leaves something that is no function, as a node of a graph.
  void leave_part(std::string name) noexcept {
    try {
      add({.part = parts.emplace_back(std::move(name)).c_str()});
    } catch (const std::bad_alloc&) {
    }
  }
  void keep(const std::shared_ptr<const syntax::Module>& tree) {
    for (auto& kept : trees) {
      if (kept == tree) return;
    }
    trees.push_back(tree);
  }
};

// "in NAME (FILE:LINE:COL)", "in FILE:LINE:COL" at top level.
std::string trace_line(const TracePoint& point);
const syntax::Source* source_of(const TracePoint& point);
syntax::Span span_of(const TracePoint& point);

// The whole report of an uncaught error in the shape of cli.md; long traces are cut in the middle.
std::string render_error(const ErrorObject* error, const syntax::RenderOptions& options);

}  // namespace posset::interp
