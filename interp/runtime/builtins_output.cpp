// print and println: the text is made whole, charged, and handed to the context's output in one
// piece, so that what two contexts write never interleaves inside a line.
#include "interp/runtime/builtins.h"

namespace posset::interp {

namespace {

// False: raised, nothing written.
bool write(Context& context, std::string_view text) {
  const uint64_t limit = context.limits().output_bytes;
  if (text.size() > limit - std::min(limit, context.output_written)) {
    context.raise(ErrorCode::OutputLimit,
                  "output limit of " + std::to_string(limit) + " bytes exceeded");
    return false;
  }
  context.output_written += text.size();
  // A host that sets no output does not want it.
  const bool written = !context.output || context.output(text);
  if (context.error_pending()) return false;  // the host says itself why
  if (!written) context.raise(ErrorCode::HostError, "cannot write to the output");
  return written;
}

Value print_arguments(NativeCall& call, std::string_view end) {
  StringBuilder out(call.context.heap);
  for (uint32_t i = 0; i < call.count; ++i) {
    if (i) out.append(' ');
    if (!append_formatted(call.context, out, call[i], nullptr)) return Value::failure();
  }
  out.append(end);
  if (out.failed()) return call.context.raise_memory_limit();
  return write(call.context, out.view()) ? Value() : Value::failure();
}

}  // namespace

Value builtin_print(NativeCall& call) { return print_arguments(call, ""); }
Value builtin_println(NativeCall& call) { return print_arguments(call, "\n"); }

}  // namespace posset::interp
