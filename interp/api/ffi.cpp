// The functions of posset/ffi.h: one call of the inline namesake each.
#include <posset/ffi.h>

#include "interp/api/handles.h"

extern "C" {

#define FFI_TWIN(result, name, parameters, arguments) \
  result posset_ffi_##name parameters { return posset_##name arguments; }
#include <posset/ffi.def>
#undef FFI_TWIN

posset_status posset_ffi_runtime_defaults(posset_runtime_options* out) {
  return posset::api::fill_struct(out, posset_runtime_defaults());
}

posset_status posset_ffi_context_defaults(posset_context_options* out) {
  return posset::api::fill_struct(out, posset_context_defaults());
}

posset_status posset_ffi_submit_defaults(posset_submit_options* out) {
  return posset::api::fill_struct(out, posset_submit_defaults());
}

}  // extern "C"
