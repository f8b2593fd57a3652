// The layout of a source for hosts: interp/syntax/layout.h, with what it reports handed out.
#include <memory>
#include <string>

#include "interp/api/handles.h"
#include "interp/syntax/layout.h"

using posset::api::view;

namespace {

posset_status write_layout(const posset_source& given, posset_write write, void* data, posset_diagnostics** diagnostics) {
  const auto source =
      std::make_shared<const posset::syntax::Source>(std::string(view(given.name)), std::string(view(given.text)));
  posset::syntax::Diagnostics collected;
  std::string out;
  const bool done = lay_out(source, collected, out);
  posset::api::give_diagnostics(collected, diagnostics);
  return done ? posset::api::write_all(write, data, out) : POSSET_INVALID;
}

}  // namespace

extern "C" {

posset_status posset_format_source(const posset_source* given, posset_write write, void* data,
                                   posset_diagnostics** diagnostics) {
  if (diagnostics) *diagnostics = nullptr;
  posset_source source = {};
  if (!given || !write || !posset::api::read_struct(given, source) || source.text.size > posset::api::kMaxSource)
    return POSSET_MISUSE;
  return posset::api::or_no_memory([&] { return write_layout(source, write, data, diagnostics); });
}

}  // extern "C"
