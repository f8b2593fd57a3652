// The built-ins of no group: assert, error and ref. An error made here has no place until it is thrown.
#include "interp/runtime/builtins.h"

namespace posset::interp {

Value builtin_assert(NativeCall& call) {
  int holds = expect_bool(call.context, call[0], "the condition of assert");
  if (holds != 0) return holds < 0 ? Value::failure() : Value();
  std::string message = "assertion failed";
  if (call.has(1) && !call[1].is_nil()) {
    StringBuilder text(call.context.heap);
    if (!append_formatted(call.context, text, call[1], nullptr)) return Value::failure();
    message += ": " + std::string(text.view());
  }
  return call.context.raise(ErrorCode::AssertionFailed, std::move(message));
}

// Not raised yet: it has no place, and no data until it is thrown.
Value builtin_error(NativeCall& call) {
  Context& context = call.context;
  StringBuilder text(context.heap);
  if (!append_formatted(context, text, call[0], nullptr)) return Value::failure();
  Value message = or_memory_limit(context, text.finish());
  if (message.failed()) return message;
  return or_memory_limit(context, make_error_value(context.heap, std::move(message), call.take(call.has(1) ? 1 : 0)));
}

Value builtin_ref(NativeCall& call) {
  auto* ref = call.context.heap.make<Ref>(Tag::Ref);
  if (!ref) return call.context.raise_memory_limit();
  ref->value = call.take(0).take();
  return Value::adopt(Borrowed::heap(Tag::Ref, ref));
}

}  // namespace posset::interp
