// Calling functions of numbers. Where the function has native code that takes numbers in processor registers and the
// context is reserved for the thread, nothing is asked that is the same for every such call: what a longer evaluation may
// meet is left to code that finds out. Where the code only computes there is no evaluation to begin and to end at all, only
// a step to count. All else goes the way of posset_invoke.
//
// The quickest way is a function of its own, which has nothing but registers to save and to restore; where it is not open,
// nothing has happened.
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

[[gnu::cold]] double not_done(bool* done) {
  *done = false;
  return 0;
}

}  // namespace

extern "C" {

double posset_compute(posset_context* context, posset_value function, size_t count, bool* done, double a, double b, double c,
                      double d, double e, double f, double g, double h) {
  if (!done) return 0;
  if (!context || !in(function).is(Tag::Fn)) return not_done(done);
  PlainEvaluation evaluation(context);
  auto* closure = in(function).as<Closure>();
  if (!evaluation.begun() || &Heap::heap_of(closure) != &context->heap) return not_done(done);
  const NativeCodeHead* code = code_for_numbers(*closure->function, count);
  if (!code || !code->plain) return not_done(done);
  uint64_t tag = kFloatTag;
  const double result = reinterpret_cast<PlainEntry>(code->plain)(context, closure, context->stack_top, &tag, a, b, c, d, e, f, g, h);
  if (tag != kFloatTag) [[unlikely]] return not_done(done);
  evaluation.count_step();
  *done = true;
  return result;
}

posset_status posset_invoke_numbers(posset_context* context, posset_value function, const double* arguments, size_t count,
                                    posset_value* to) {
  if (arguments && to && count <= kMostNumbers) [[likely]] {
    double n[kMostNumbers] = {};
    std::copy(arguments, arguments + count, n);
    bool done = false;
    const double result = posset_compute(context, function, count, &done, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    if (done) {
      *to = posset_float(result);
      return POSSET_OK;
    }
  }
  return invoke_briefly(context, function, arguments, count, to);
}

}  // extern "C"
