// Calling functions of numbers. Where the function has native code that takes numbers in processor registers and the
// context is reserved for the thread, nothing is asked that is the same for every such call: what a longer evaluation may
// meet is left to code that finds out. All else goes the way of posset_invoke.
#include <stdexcept>
#include <vector>

#include "interp/api/handles.h"
#include "interp/runtime/call.h"

using posset::api::BriefEvaluation;
using posset::api::in;
using posset::interp::Borrowed;
using posset::interp::Closure;
using posset::interp::Function;
using posset::interp::Heap;
using posset::interp::Tag;
using posset::interp::Value;

namespace {

constexpr size_t kMostNumbers = 8;
// Registers of a frame: 16 bits of an instruction name one.
constexpr size_t kMostRegisters = 1 << 16;

template <class... Numbers>
using NumbersEntry = Borrowed (*)(posset::interp::Context*, Closure*, Borrowed* registers, Numbers...);

Borrowed enter(void* code, posset_context* context, Closure* closure, Borrowed* registers, const double* n, size_t count) {
  using D = double;
  switch (count) {
#define ENTER(types, ...) return reinterpret_cast<NumbersEntry<types>>(code)(context, closure, registers, __VA_ARGS__)
#define COMMA ,
    case 1: ENTER(D, n[0]);
    case 2: ENTER(D COMMA D, n[0], n[1]);
    case 3: ENTER(D COMMA D COMMA D, n[0], n[1], n[2]);
    case 4: ENTER(D COMMA D COMMA D COMMA D, n[0], n[1], n[2], n[3]);
    case 5: ENTER(D COMMA D COMMA D COMMA D COMMA D, n[0], n[1], n[2], n[3], n[4]);
    case 6: ENTER(D COMMA D COMMA D COMMA D COMMA D COMMA D, n[0], n[1], n[2], n[3], n[4], n[5]);
    case 7: ENTER(D COMMA D COMMA D COMMA D COMMA D COMMA D COMMA D, n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
    default:
      ENTER(D COMMA D COMMA D COMMA D COMMA D COMMA D COMMA D COMMA D, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
#undef COMMA
#undef ENTER
  }
}

// Null: there is none for so many numbers.
void* code_for_numbers(const Function& function, size_t count) {
  if (function.parameter_count != count || count > kMostNumbers) return nullptr;
  const void* code = function.unit->body.code[posset::interp::kOptimisingTier].load(std::memory_order_acquire);
  return code ? static_cast<const posset::interp::NativeCodeHead*>(code)->numbers : nullptr;
}

// No exception passes a frame of native code; what has no memory there raises.
[[gnu::cold]] posset_status raised(posset_context* context) {
  context->leave_failed();
  return POSSET_RAISED;
}

// As call_closure does it.
[[gnu::always_inline]] inline posset_status call_with_numbers(posset_context* context, void* code, Closure* closure,
                                                              const double* numbers, size_t count, posset_value* to) {
  Borrowed* const base = context->stack_top;
  context->stack_top = base + closure->function->slot_count;
  context->depth = 1;
  --context->fuel;
  posset::interp::retain(closure);  // the callee may drop what holds it
  const Borrowed result = enter(code, context, closure, base, numbers, count);
  context->depth = 0;
  context->stack_top = base;
  posset::interp::release(closure);
  if (result.failed()) [[unlikely]] return raised(context);
  if (context->tasks) [[unlikely]] {
    return posset::api::guarded(context, [&] {
      return posset::api::give(posset::api::end_tasks(context, Value::adopt(result)), to);
    });
  }
  if (to) *to = posset::api::out(result);
  else posset::interp::release(result);
  return POSSET_OK;
}

posset_status invoke_by_value(posset_context* context, posset_value function, const double* numbers, size_t count,
                              posset_value* to) {
  if (count <= kMostNumbers) {
    posset_value values[kMostNumbers];
    for (size_t i = 0; i < count; ++i) values[i] = posset_float(numbers[i]);
    return posset_invoke(context, function, values, count, to);
  }
  try {
    std::vector<posset_value> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = posset_float(numbers[i]);
    return posset_invoke(context, function, values.data(), count, to);
  } catch (const std::bad_alloc&) {
    return POSSET_NO_MEMORY;
  } catch (const std::length_error&) {
    return POSSET_NO_MEMORY;
  }
}

}  // namespace

extern "C" posset_status posset_invoke_numbers(posset_context* context, posset_value function, const double* arguments,
                                               size_t count, posset_value* to) {
  if (to) *to = posset_nil();
  if (count != 0 && !arguments) return POSSET_MISUSE;
  if (context && in(function).is(Tag::Fn)) {
    BriefEvaluation evaluation(context);
    auto* closure = in(function).as<Closure>();
    if (evaluation.begun() && &Heap::heap_of(closure) == &context->heap && context->has_stack(kMostRegisters)) [[likely]] {
      void* code = code_for_numbers(*closure->function, count);
      if (code && context->fuel > 0) [[likely]] {
        return call_with_numbers(context, code, closure, arguments, count, to);
      }
    }
  }
  return invoke_by_value(context, function, arguments, count, to);
}
