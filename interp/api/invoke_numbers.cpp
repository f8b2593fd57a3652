// Calling functions of numbers. Where the function has native code that takes numbers in processor registers and the
// context is reserved for the thread, nothing is asked that is the same for every such call: what a longer evaluation may
// meet is left to code that finds out. Where the code only computes there is no evaluation to begin and to end at all, only
// a step to count. All else goes the way of posset_invoke.
//
// The quickest way, for code that always gives a float, leaves the numbers in the registers they came in; where it is not open, nothing
// has happened, and they still are there.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "interp/api/handles.h"
#include "interp/api/numbers_entry.h"
#include "interp/runtime/call.h"

using posset::api::BriefEvaluation;
using posset::api::code_for_numbers;
using posset::api::in;
using posset::api::kFloatTag;
using posset::api::kMostNumbers;
using posset::api::kMostRegisters;
using posset::api::PlainEntry;
using posset::api::PlainEvaluation;
using posset::interp::Borrowed;
using posset::interp::Closure;
using posset::interp::Heap;
using posset::interp::Tag;
using posset::interp::NativeCodeHead;
using posset::interp::Value;

namespace {

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
  const Borrowed result = posset::api::enter_with_numbers(code, context, closure, base, numbers, count);
  context->depth = 0;
  context->stack_top = base;
  posset::interp::release(closure);
  if (result.failed()) [[unlikely]] return raised(context);
  if (context->tasks_at_work) [[unlikely]] {
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

posset_status invoke_briefly(posset_context* context, posset_value function, const double* arguments, size_t count,
                             posset_value* to) {
  if (to) *to = posset_nil();
  if (count != 0 && !arguments) return POSSET_MISUSE;
  if (context && in(function).is(Tag::Fn)) {
    BriefEvaluation evaluation(context);
    auto* closure = in(function).as<Closure>();
    if (evaluation.begun() && &Heap::heap_of(closure) == &context->heap && context->has_stack(kMostRegisters)) [[likely]] {
      const NativeCodeHead* code = code_for_numbers(*closure->function, count);
      if (code && code->numbers && context->fuel > 0) [[likely]] {
        return call_with_numbers(context, code->numbers, closure, arguments, count, to);
      }
    }
  }
  return invoke_by_value(context, function, arguments, count, to);
}

// In registers, but as part of a call that may still have to be made by value. False: nothing has happened.
bool compute(posset_context* context, posset_value function, const double* n, size_t count, double& result) {
  if (!context || !in(function).is(Tag::Fn)) return false;
  PlainEvaluation evaluation(context);
  auto* closure = in(function).as<Closure>();
  if (!evaluation.begun() || closure->function->context != context) return false;
  const NativeCodeHead* code = code_for_numbers(*closure->function, count);
  if (!code || !code->plain) return false;
  uint64_t tag = kFloatTag;
  result = reinterpret_cast<PlainEntry>(code->plain)(context, &tag, closure, context->stack_top, n[0], n[1], n[2], n[3], n[4], n[5],
                                                     n[6], n[7]);
  if (tag != kFloatTag) return false;
  evaluation.count_step();
  return true;
}

// `n` are kMostNumbers.
posset_number compute_or_invoke(posset_context* context, posset_value function, const double* n, size_t count, posset_value* other) {
  double number;
  if (compute(context, function, n, count, number)) return {number, POSSET_FLOAT, POSSET_OK};
  posset_number made = {0, POSSET_NIL, POSSET_OK};
  posset_value result = posset_nil();
  made.status = invoke_briefly(context, function, n, count, &result);
  if (made.status != POSSET_OK) return made;
  made.kind = posset_kind_of(result);
  if (made.kind == POSSET_FLOAT) made.number = posset_as_number(result);
  else if (other) *other = result;
  else posset::interp::release(in(result));
  return made;
}

// A function of its own: what it needs saved the quickest way does not.
[[gnu::noinline]] posset_number compute_otherwise(posset_context* context, posset_value function, size_t count, posset_value* other,
                                                  double a, double b, double c, double d, double e, double f, double g, double h) {
  if (count > kMostNumbers) return {0, POSSET_NIL, POSSET_MISUSE};
  const double numbers[kMostNumbers] = {a, b, c, d, e, f, g, h};
  return compute_or_invoke(context, function, numbers, count, other);
}

}  // namespace

extern "C" {

posset_number posset_compute(posset_context* context, posset_value function, size_t count, posset_value* other, double a, double b,
                             double c, double d, double e, double f, double g, double h) {
  if (context && in(function).is(Tag::Fn)) [[likely]] {
    PlainEvaluation evaluation(context);
    auto* closure = in(function).as<Closure>();
    if (evaluation.begun() && closure->function->context == context) [[likely]] {
      const auto formula = posset::api::formula_of(*closure->function, count);
      if (formula) [[likely]] {
        const double number = formula(context, function.word0, closure, count, a, b, c, d, e, f, g, h);
        evaluation.count_step();
        return {number, POSSET_FLOAT, POSSET_OK};
      }
    }
  }
  return compute_otherwise(context, function, count, other, a, b, c, d, e, f, g, h);
}

posset_status posset_invoke_numbers(posset_context* context, posset_value function, const double* arguments, size_t count,
                                    posset_value* to) {
  double result;
  if (arguments && to && count <= kMostNumbers) [[likely]] {
    double n[kMostNumbers] = {};
    std::copy(arguments, arguments + count, n);
    if (compute(context, function, n, count, result)) {
      *to = posset_float(result);
      return POSSET_OK;
    }
  }
  return invoke_briefly(context, function, arguments, count, to);
}

}  // extern "C"
