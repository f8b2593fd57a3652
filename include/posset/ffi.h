/* For other languages: what the headers define inline, as functions that the shared library exports. A host that opens it
 * with a foreign-function interface (Python's ctypes, LuaJIT's ffi, libffi, Java's FFM) has no compiler for the headers,
 * and needs neither the bits of a value nor the defaults of an option:
 *
 *   posset_ffi_NAME    does what the inline posset_NAME does: posset_ffi_int(3), posset_ffi_as_number(value)
 *
 * C and C++ do better with the headers. What such a host does declare itself is the layout of the structs, of which members
 * are only ever appended: a struct with a `size` works with every later library, as long as `size` is that of the
 * host's own declaration. posset_value is passed and returned by value: two unsigned 64-bit integers.
 *
 *   library = ctypes.CDLL("libposset.so.0.1")
 *   options = ContextOptions(size=ctypes.sizeof(ContextOptions))
 *   library.posset_ffi_context_defaults(ctypes.byref(options))
 *
 * A callback must let no exception out, and the language must keep it alive as long as the context has it. tests/package/
 * ctypes_host.py is a whole host.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_FFI_H
#define POSSET_FFI_H

#include "posset.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FFI_TWIN(result, name, parameters, arguments) POSSET_API result posset_ffi_##name parameters;
#include "ffi.def"
#undef FFI_TWIN

/* Each fills as many bytes as `out->size` says, and leaves that as it is. POSSET_MISUSE: it says none. */
POSSET_API posset_status posset_ffi_runtime_defaults(posset_runtime_options* out);
POSSET_API posset_status posset_ffi_context_defaults(posset_context_options* out);
POSSET_API posset_status posset_ffi_submit_defaults(posset_submit_options* out);

#ifdef __cplusplus
}
#endif

#endif
