// Functions written in C++: the intrinsics of this layer, and what hosts and stdlib register through the
// public API. A descriptor outlives every value that refers to it (it belongs to the runtime or context).
//
// Protocol: `arguments[0..count)` are owned by the caller's frame; the callee may take one by moving it out
// (leaving nil). What an inout parameter holds when the callee returns is written back by the caller,
// also when it raised. The result is owned; Failed means an error is pending.
#pragma once

#include <cstdint>

#include "interp/value/value.h"

namespace posset::interp {

class Context;

struct NativeCall {
  Context& context;
  Borrowed* arguments;
  uint32_t count;
  const NativeFunction* function;
  Borrowed self = Borrowed::nil();  // of a method or property: the object it is of

  Borrowed operator[](uint32_t i) const { return arguments[i]; }
  bool has(uint32_t i) const { return i < count; }
  Borrowed get_or(uint32_t i, Borrowed fallback) const { return i < count ? arguments[i] : fallback; }
  // Takes argument i out of the frame.
  Value take(uint32_t i) {
    Borrowed v = arguments[i];
    arguments[i] = Borrowed::nil();
    return Value::adopt(v);
  }
};

using NativeEntry = Value (*)(NativeCall& call);

// Functions that a tier may treat specially; rows of builtins.def with an intrinsic column.
enum class Intrinsic : uint8_t {
  None,
#define INTRINSIC(Name) Name,
#include "interp/runtime/intrinsics.def"
#undef INTRINSIC
};

struct NativeFunction {
  static constexpr uint16_t kAnyCount = 0xffff;
  const char* name = "";
  const char* signature = "";   // "push(&xs, x)"
  const char* doc = "";
  NativeEntry entry = nullptr;
  uint16_t min_arguments = 0;
  uint16_t max_arguments = 0;   // kAnyCount: any number
  uint64_t inout_mask = 0;
  uint64_t calls_mask = 0;      // bit i: calls its argument i
  bool pure = true;
  Intrinsic intrinsic = Intrinsic::None;
  void* data = nullptr;         // for adapters (public API)
  const char* module = "";      // "math", empty when always in scope
  bool is_host = false;         // of the host, not of the library: it has a line in traces
  bool may_yield = false;       // while what it calls waits, its thread may do something else
  // What it computes, of numbers, where it computes nothing else and never fails; an int counts as a float.
  double (*of_float)(double) = nullptr;
  double (*of_floats)(double, double) = nullptr;
};

}  // namespace posset::interp
