// What is wrong with an argument of a function of the host, and arguments that are lists of numbers. The plain kinds are in
// function.cpp.
#include "interp/api/handles.h"
#include "interp/api/running_call.h"
#include "interp/runtime/builtins.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"

using posset::api::in;
using posset::api::native_of;
using posset::api::RunningCall;
using posset::interp::Borrowed;
using posset::interp::ErrorCode;
using posset::interp::List;
using posset::interp::NativeCall;
using posset::interp::Packing;
using posset::interp::Tag;
using posset::interp::Value;

namespace {

// Raises with that problem, unless something is pending.
template <class Problem>
posset_status raise_problem(posset_call* call, ErrorCode code, uint32_t i, Problem&& problem) {
  if (!call || i >= call->count) return POSSET_MISUSE;
  if (call->context->error_pending()) return POSSET_RAISED;
  return posset::api::or_no_memory([&] {
    raise_argument(native_of(call), code, i, problem(*call->context, in(call->arguments[i])));
    return POSSET_RAISED;
  });
}

bool is_closed(Borrowed v) {
  return v.is(Tag::Host) && !is_bound_method(v) && !v.as<posset::interp::HostObject>()->pointer;
}

// The value is of the kind that was expected, and yet the host could not take it.
posset_status raise_inside(posset_call* call, uint32_t i, const char* expected) {
  const Borrowed v = in(call->arguments[i]);
  if (is_closed(v)) {
    return raise_problem(call, ErrorCode::HostError, i, [&](auto&, Borrowed) { return std::string("this ") + expected + " is closed"; });
  }
  const ErrorCode code = v.is_int() ? ErrorCode::OutOfRange : ErrorCode::TypeMismatch;
  return raise_problem(call, code, i, [&](auto&, Borrowed of) {
    if (of.is_int()) return posset::interp::brief(of) + " is out of range";
    return "the host cannot take all that is in " + posset::interp::brief(of);
  });
}

// ---- lists of numbers ----

template <class T>
struct Numbers;
template <>
struct Numbers<double> {
  static constexpr Packing kPacking = Packing::Float;
  static constexpr const char* kKind = "list of floats";
  static constexpr const char* kElement = "int or float";
  static bool takes(Borrowed v) { return v.is_number(); }
  static double of(Borrowed v) { return v.number(); }
};
template <>
struct Numbers<int64_t> {
  static constexpr Packing kPacking = Packing::Int;
  static constexpr const char* kKind = "list of ints";
  static constexpr const char* kElement = "int";
  static bool takes(Borrowed v) { return v.is_int(); }
  static int64_t of(Borrowed v) { return v.as_int(); }
};

constexpr uint64_t kPortion = 1 << 16;  // elements between two looks at the limits

// The numbers of a list that is stored otherwise, as one that is stored so. Failed: raised.
template <class T>
Value packed_copy(posset_call* call, uint32_t i, const List* list) {
  posset_context& context = *call->context;
  if (!context.charge(list->size / posset::interp::kElementsPerStep)) return Value::failure();
  List* made = new_list(context.heap, Numbers<T>::kPacking, list->size);
  if (!made) return context.raise_memory_limit();
  Value held = Value::adopt(Borrowed::heap(Tag::List, made));
  for (uint64_t at = 0; at < list->size; ++at) {
    const Borrowed element = list_get(list, at);
    if (at % kPortion == 0 && !context.poll()) return Value::failure();
    if (!Numbers<T>::takes(element)) {
      posset_raise_element(call, i, posset_int(static_cast<int64_t>(at)), posset::api::out(element), Numbers<T>::kElement);
      return Value::failure();
    }
    made->data<T>()[at] = Numbers<T>::of(element);
    made->size = at + 1;
  }
  return held;
}

template <class T>
posset_status want_numbers(posset_call* call, uint32_t i, const T** data, uint64_t* count) {
  if (!call || !data || !count || i >= call->count) return POSSET_MISUSE;
  Borrowed argument = in(call->arguments[i]);
  if (!argument.is_list()) return posset_raise_kind(call, i, Numbers<T>::kKind);
  const auto* list = argument.as<List>();
  if (list->size != 0 && list->packing() != Numbers<T>::kPacking) {
    const bool is_inout = i < 64 && (native_of(call).function->inout_mask >> i & 1) != 0;
    if (is_inout) return posset_raise_kind(call, i, Numbers<T>::kKind);
    Value made = packed_copy<T>(call, i, list);
    if (made.failed()) return POSSET_RAISED;
    list = made->as<List>();
    posset_release(std::exchange(call->arguments[i], posset::api::out(made.take())));
  }
  *data = list->size ? list->data<T>() : nullptr;
  *count = list->size;
  return POSSET_OK;
}

}  // namespace

extern "C" {

posset_status posset_raise_kind(posset_call* call, uint32_t i, const char* expected) {
  if (!call || i >= call->count) return POSSET_MISUSE;
  if (call->context->error_pending()) return POSSET_RAISED;
  return posset::api::or_no_memory([&] {
    if (type_text(*call->context, in(call->arguments[i])) == expected) return raise_inside(call, i, expected);
    raise_argument(native_of(call), i, expected);
    return POSSET_RAISED;
  });
}

posset_status posset_raise_range(posset_call* call, uint32_t i, int64_t least, int64_t most) {
  if (!call || !in(posset_argument(call, i)).is_int()) return posset_raise_kind(call, i, "int");
  return raise_problem(call, ErrorCode::OutOfRange, i, [&](auto&, Borrowed v) {
    return "expected an int from " + std::to_string(least) + " to " + std::to_string(most) + ", got " + posset::interp::brief(v);
  });
}

posset_status posset_raise_element(posset_call* call, uint32_t i, posset_value place, posset_value found, const char* expected) {
  if (!expected) return POSSET_MISUSE;
  return raise_problem(call, ErrorCode::TypeMismatch, i, [&](posset_context& context, Borrowed v) {
    std::string where = "a key";
    if (!posset_is_nil(place)) where = (v.is_map() ? "value at " : "element ") + posset::interp::brief(in(place));
    return where + ": expected " + expected + ", got " + kind_and_value(context, in(found));
  });
}

posset_status posset_want_floats(posset_call* call, uint32_t i, const double** data, uint64_t* count) {
  return want_numbers(call, i, data, count);
}

posset_status posset_want_ints(posset_call* call, uint32_t i, const int64_t** data, uint64_t* count) {
  return want_numbers(call, i, data, count);
}

}  // extern "C"
