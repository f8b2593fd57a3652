// Native code that takes numbers in processor registers (jit/translate_numbers.cpp), and how it is entered.
#pragma once

#include <cstddef>

#include "interp/runtime/context.h"

namespace posset::api {

// In as many registers they are passed.
constexpr size_t kMostNumbers = 8;
// Registers of a frame: 16 bits of an instruction name one.
constexpr size_t kMostRegisters = 1 << 16;

template <class... Numbers>
using NumbersEntry = interp::Borrowed (*)(interp::Context*, interp::Closure*, interp::Borrowed* registers, Numbers...);

// Of NativeCodeHead::plain: as many arguments as there are registers, however many are read. Where the result is no float,
// or there is none, `tag` becomes something else than that of a float.
using PlainEntry = double (*)(interp::Context*, uint64_t* tag, interp::Closure*, interp::Borrowed* registers, double, double,
                              double, double, double, double, double, double) noexcept;
// Of NativeEntrance::formula: the same, but what stands in the place of the tag and of the registers is not looked at. So all that a
// host has called it with may stay where it is (posset_compute).
using FormulaEntry = double (*)(interp::Context*, uint64_t, interp::Closure*, size_t, double, double, double, double, double,
                                double, double, double) noexcept;
constexpr auto kFloatTag = static_cast<uint64_t>(interp::Tag::Float);

// Of NativeCodeHead::columns. `results` overlap no column.
using ColumnsEntry = size_t (*)(interp::Context*, interp::Closure*, interp::Borrowed* registers, const double* const* columns,
                                double* results, size_t from, size_t to);

[[gnu::always_inline]] inline interp::Borrowed enter_with_numbers(void* code, interp::Context* context, interp::Closure* closure,
                                                                  interp::Borrowed* registers, const double* n, size_t count) {
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

// The code of the last tier of a function that takes so many numbers; null: there is none, or the count is another. Within an
// evaluation of any kind (handles.h).
inline const interp::NativeCodeHead* code_for_numbers(const interp::Function& function, size_t count) {
  if (function.parameter_count != count) return nullptr;
  const void* code = function.unit->body.code[interp::kOptimisingTier].load(std::memory_order_acquire);
  return static_cast<const interp::NativeCodeHead*>(code);
}

// The quickest of it; likewise.
inline FormulaEntry formula_of(const interp::Function& function, size_t count) {
  if (function.parameter_count != count) return nullptr;
  return reinterpret_cast<FormulaEntry>(function.unit->body.formula.load(std::memory_order_acquire));
}

}  // namespace posset::api
