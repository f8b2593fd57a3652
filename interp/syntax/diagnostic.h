// What the front end reports: errors and warnings with a place, a message and a hint. Rendering in the
// shape of the contract (line, caret, hint) is shared with run-time errors (`render_excerpt`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interp/syntax/source.h"

namespace posset::syntax {

enum class Severity : uint8_t { Error, Warning };

// Codes are rows of <posset/error_codes.def>; the number is what `check --json` prints.
enum class ErrorCode : uint16_t {
#define ERROR_CODE(Name, kind, text) Name,
#include <posset/error_codes.def>
#undef ERROR_CODE
};
const char* name_of(ErrorCode code);

struct Diagnostic {
  Severity severity = Severity::Error;
  ErrorCode code = ErrorCode::UnexpectedToken;
  SourcePtr source;
  Span span;
  std::string message;
  std::string hint;  // may be empty
};

// Collects in order of report; at most `kMaxDiagnostics` are kept (a count of the rest stays).
class Diagnostics {
 public:
  static constexpr size_t kMaxDiagnostics = 100;
  void report(Diagnostic diagnostic);
  void error(const SourcePtr& source, ErrorCode code, Span span, std::string message, std::string hint = {});
  void warn(const SourcePtr& source, ErrorCode code, Span span, std::string message, std::string hint = {});
  bool has_errors() const { return errors_ != 0; }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  size_t errors_ = 0;
};

struct RenderOptions {
  bool color = false;
};

// "FILE:LINE:COL: error: MESSAGE" and, on the next lines, the source line with a caret and the hint.
// Long source lines are cut around the caret (a 50 MB line must not be printed).
// Every line ends with a line break, the last one too.
std::string render(const Diagnostic& diagnostic, const RenderOptions& options);
// The part below the first line, also used for uncaught run-time errors.
std::string render_excerpt(const Source& source, Span span, std::string_view hint, const RenderOptions& options);

// The nearest of `candidates` to `name` by edit distance, or empty when none is near enough.
std::string_view did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace posset::syntax
