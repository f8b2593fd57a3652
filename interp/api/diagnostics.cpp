// What the front end reports, handed out. Diagnostics keep their sources alive, so they outlive
// programs and contexts.
#include "interp/api/handles.h"

using posset::api::text;
using posset::syntax::Diagnostic;
using posset::syntax::Severity;

namespace posset::api {

void give_diagnostics(const syntax::Diagnostics& collected, posset_diagnostics** to) {
  if (!to) return;
  *to = nullptr;
  if (!collected.all().empty()) *to = new posset_diagnostics{collected.all()};
}

}  // namespace posset::api

namespace {

const Diagnostic* find(const posset_diagnostics* diagnostics, size_t index) {
  return diagnostics && index < diagnostics->all.size() ? &diagnostics->all[index] : nullptr;
}

}  // namespace

extern "C" {

void posset_diagnostics_free(posset_diagnostics* diagnostics) { delete diagnostics; }

size_t posset_diagnostics_count(const posset_diagnostics* diagnostics) {
  return diagnostics ? diagnostics->all.size() : 0;
}

posset_status posset_diagnostics_get(const posset_diagnostics* diagnostics, size_t index,
                                     posset_diagnostic* out) {
  const Diagnostic* found = find(diagnostics, index);
  if (!found) return POSSET_NOT_FOUND;
  posset_diagnostic made = {};
  made.severity =
      found->severity == Severity::Error ? POSSET_SEVERITY_ERROR : POSSET_SEVERITY_WARNING;
  made.code = posset::api::code_out(found->code);
  made.code_name = posset_code_name(made.code);
  made.message = text(found->message);
  made.hint = text(found->hint);
  if (found->source) {
    posset::syntax::Position begin = found->source->position(found->span.begin);
    posset::syntax::Position end = found->source->position(found->span.end);
    made.file = text(found->source->name());
    made.line = begin.line;
    made.column = begin.column;
    made.end_line = end.line;
    made.end_column = end.column;
  }
  return posset::api::fill_struct(out, made);
}

posset_status posset_diagnostics_render(const posset_diagnostics* diagnostics, size_t index,
                                        bool color, posset_write write, void* data) {
  const Diagnostic* found = find(diagnostics, index);
  if (!found) return POSSET_NOT_FOUND;
  return posset::api::or_no_memory(
      [&] { return posset::api::write_all(write, data, posset::syntax::render(*found, {.color = color})); });
}

}  // extern "C"
