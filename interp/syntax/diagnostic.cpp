// Collecting diagnostics. How one is shown is in render.cpp, how a name is suggested in
// did_you_mean.cpp.
#include "interp/syntax/diagnostic.h"

#include <utility>

namespace posset::syntax {

const char* name_of(ErrorCode code) {
  switch (code) {
#define ERROR_CODE(Name, kind, text) \
  case ErrorCode::Name:              \
    return #Name;
#include <posset/error_codes.def>
#undef ERROR_CODE
  }
  return "";
}

void Diagnostics::report(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::Error) ++errors_;
  if (all_.size() < kMaxDiagnostics) all_.push_back(std::move(diagnostic));
}

void Diagnostics::error(const SourcePtr& source, ErrorCode code, Span span, std::string message,
                        std::string hint) {
  report({Severity::Error, code, source, span, std::move(message), std::move(hint)});
}

void Diagnostics::warn(const SourcePtr& source, ErrorCode code, Span span, std::string message,
                       std::string hint) {
  report({Severity::Warning, code, source, span, std::move(message), std::move(hint)});
}

}  // namespace posset::syntax
