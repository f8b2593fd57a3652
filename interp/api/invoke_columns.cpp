// One call for each row of columns of numbers. The columns are the host's: they are read where they stand and the results
// are written where the host wants them, so nothing is copied, and as no value refers to them no script can have them
// longer than the call takes.
//
// Rows are done by the native code that takes numbers, as long as it only computes (numbers_entry.h): several at once
// where there is code for that. Code that does more is called for each row; and a row that native code does not take is called as
// any function is, and then it goes on. So every row is charged its step, and what it raises is raised behind those before it.
#include <algorithm>

#include "interp/api/handles.h"
#include "interp/api/numbers_entry.h"
#include "interp/runtime/call.h"
#include "interp/runtime/messages.h"

using posset::api::ColumnsEntry;
using posset::api::Evaluation;
using posset::api::in;
using posset::api::kFloatTag;
using posset::api::kMostNumbers;
using posset::api::PlainEntry;
using posset::interp::Borrowed;
using posset::interp::Closure;
using posset::interp::NativeCodeHead;
using posset::interp::Tag;
using posset::interp::Value;

namespace {

// Of one kind, `floats`, or each of its own, `typed`: the other is null.
struct Columns {
  const double* const* floats;
  const posset_column* typed;
  size_t count;
  void* to;
  posset_kind kind_of_results;
  size_t rows;

  const void* numbers(size_t n) const { return typed ? typed[n].numbers : floats[n]; }
  bool is_int(size_t n) const { return typed && typed[n].kind == POSSET_INT; }
  template <class Test>
  bool each(Test&& test) const {
    for (size_t n = 0; n < count; ++n) {
      if (!test(n)) return false;
    }
    return true;
  }
  // Only as a whole may one of them be where the results go: else rows would read what earlier ones have given.
  bool are_apart() const {
    static_assert(sizeof(double) == sizeof(int64_t));
    const auto first = reinterpret_cast<uintptr_t>(to);
    return each([&](size_t n) {
      const auto other = reinterpret_cast<uintptr_t>(numbers(n));
      return other == first || other >= first + rows * sizeof(double) || first >= other + rows * sizeof(double);
    });
  }
  static bool is_kind(posset_kind kind) { return kind == POSSET_INT || kind == POSSET_FLOAT; }
  bool are_given() const {
    if (!is_kind(kind_of_results)) return false;
    if (rows == 0) return true;
    if (!to || (count != 0 && !floats && !typed)) return false;
    return each([&](size_t n) { return numbers(n) && (!typed || is_kind(typed[n].kind)); });
  }
  bool has_results_in_column() const {
    return rows != 0 && !each([&](size_t n) { return numbers(n) != to; });
  }
  bool are_floats() const {
    return kind_of_results == POSSET_FLOAT && each([&](size_t n) { return !is_int(n); });
  }
};

// Results that are kept apart, in the first level of the cache.
constexpr size_t kPart = 1024;
// After so many, code for several at once is worth being made.
constexpr uint32_t kManyRows = 4096;

// One evaluation.
class Rows {
 public:
  Rows(posset_context* context, Borrowed function, const Columns& columns)
      : context_(context), function_(function), columns_(columns), has_results_in_column_(columns.has_results_in_column()),
        may_compute_(function.is(Tag::Fn) && columns.rows != 0 && columns.count != 0 && columns.count <= kMostNumbers && columns.are_floats()) {
    for (size_t n = 0; may_compute_ && n < columns.count; ++n) floats_[n] = static_cast<const double*>(columns.numbers(n));
  }

  // False: raised.
  bool run() {
    while (done_ < columns_.rows) {
      if (!compute_some() && !(enters_with_numbers() ? call_with_numbers() : call_one())) return false;
    }
    return true;
  }
  size_t done() const { return done_; }

 private:
  // For native code a row is a step. False: there is no code for that, or a step no more, or it has given up.
  bool compute_some() {
    if (!may_compute_ || context_->fuel <= 0) return false;
    auto* closure = function_.as<Closure>();
    const NativeCodeHead* code = posset::api::code_for_numbers(*closure->function, columns_.count);
    if (!code || !code->plain || !context_->has_stack(posset::api::kMostRegisters)) return false;
    const size_t before = done_;
    const size_t end = std::min(columns_.rows, done_ + static_cast<size_t>(context_->fuel));
    if (code->columns) {
      compute_together(reinterpret_cast<ColumnsEntry>(code->columns), closure, end);
    } else {
      compute_each(code->plain, closure, end);
      if (!code->for_columns) want_columns(*code, done_ - before);
    }
    context_->fuel -= static_cast<int64_t>(done_ - before);
    return done_ != before;
  }

  // Results that replace what the rows are computed from go through a part of their own: the code is told that it
  // writes nowhere where it reads.
  void compute_together(ColumnsEntry code, Closure* closure, size_t end) {
    if (!has_results_in_column_) {
      done_ = code(context_, closure, context_->stack_top, floats_, results<double>(), done_, end);
      return;
    }
    double part[kPart];
    const size_t first = done_;
    end = std::min(end, first + kPart);
    const double* moved[kMostNumbers];
    for (size_t n = 0; n < columns_.count; ++n) moved[n] = floats_[n] + first;
    const size_t computed = code(context_, closure, context_->stack_top, moved, part, 0, end - first);
    std::copy(part, part + computed, results<double>() + first);
    done_ += computed;
  }

  void want_columns(const NativeCodeHead& code, size_t rows) {
    const size_t all = code.rows.load(std::memory_order_relaxed) + rows;
    code.rows.store(static_cast<uint32_t>(std::min<size_t>(all, kManyRows)), std::memory_order_relaxed);
    if (all >= kManyRows) context_->runtime.control.make_for_columns(*function_.as<Closure>()->function);
  }

  void compute_each(void* code, Closure* closure, size_t end) {
    double n[kMostNumbers] = {};
    for (; done_ < end; ++done_) {
      for (size_t each = 0; each < columns_.count; ++each) n[each] = floats_[each][done_];
      uint64_t tag = kFloatTag;
      const double given = reinterpret_cast<PlainEntry>(code)(context_, &tag, closure, context_->stack_top, n[0], n[1], n[2],
                                                              n[3], n[4], n[5], n[6], n[7]);
      if (tag != kFloatTag) return;
      results<double>()[done_] = given;
    }
  }

  // Code that does more than compute takes its numbers in registers, too.
  bool enters_with_numbers() const {
    if (!may_compute_ || context_->fuel <= 0 || context_->depth >= context_->depth_limit || context_->native.low()) return false;
    const NativeCodeHead* code = posset::api::code_for_numbers(*function_.as<Closure>()->function, columns_.count);
    return code && code->numbers && context_->has_stack(posset::api::kMostRegisters);
  }

  // Some rows, as call_closure does each; one where what only computes goes on behind it.
  bool call_with_numbers() {
    auto* closure = function_.as<Closure>();
    Borrowed* const base = context_->stack_top;
    Value result;
    bool only_calls = false;
    do {
      double n[kMostNumbers];
      for (size_t each = 0; each < columns_.count; ++each) n[each] = floats_[each][done_];
      const NativeCodeHead* code = posset::api::code_for_numbers(*closure->function, columns_.count);
      only_calls = !code->plain;
      context_->stack_top = base + closure->function->slot_count;
      --context_->fuel;
      ++context_->depth;
      result = Value::adopt(posset::api::enter_with_numbers(code->numbers, context_, closure, base, n, columns_.count));
      --context_->depth;
      context_->stack_top = base;
      if (result.failed()) context_->leave_failed();
    } while (!result.failed() && take(result) && only_calls && done_ < columns_.rows && enters_with_numbers());
    return !result.failed() && !context_->error_pending();
  }

  bool call_one() {
    // A call of what is no function of a script charges nothing itself.
    if (!function_.is(Tag::Fn) && !context_->charge_one()) return false;
    const auto count = static_cast<uint32_t>(columns_.count);
    Borrowed* const base = context_->stack_top;
    for (uint32_t n = 0; n < count; ++n) base[n] = argument(n);
    context_->stack_top = base + count;
    const Value result = call_value(*context_, function_, base, count, posset::interp::kAnyMarks);
    const uint64_t lent = inout_mask_of(function_);
    for (uint32_t n = 0; n < count && n < 64; ++n) {
      if (lent >> n & 1) posset::interp::release(base[n]);
    }
    context_->stack_top = base;
    return !result.failed() && take(result);
  }

  Borrowed argument(uint32_t n) const {
    const void* const column = columns_.numbers(n);
    return columns_.is_int(n) ? Borrowed::integer(static_cast<const int64_t*>(column)[done_])
                              : Borrowed::floating(static_cast<const double*>(column)[done_]);
  }
  template <class Number>
  Number* results() const {
    return static_cast<Number*>(columns_.to);
  }

  bool take(Borrowed result) {
    const bool ints = columns_.kind_of_results == POSSET_INT;
    if (ints ? !result.is_int() : !result.is_number()) {
      context_->raise(posset::interp::ErrorCode::TypeMismatch,
                      "row " + std::to_string(done_) + ": expected " + (ints ? "an int" : "a number") + ", got " +
                          type_text(*context_, result) + " (" + brief(result) + ")");
      return false;
    }
    if (ints) results<int64_t>()[done_] = result.as_int();
    else results<double>()[done_] = result.number();
    ++done_;
    return true;
  }

  posset_context* const context_;
  const Borrowed function_;
  const Columns columns_;
  const bool has_results_in_column_;
  const bool may_compute_;  // floats alone, and no more than there are registers for
  const double* floats_[kMostNumbers] = {};
  size_t done_ = 0;
};

posset_status invoke_rows(posset_context* context, const Value& function, const Columns& columns, size_t* done) {
  Rows rows(context, function, columns);
  const posset_status status = posset::api::guarded(context, [&] {
    if (!rows.run()) return POSSET_RAISED;
    return posset::api::raised(posset::api::end_tasks(context, Value()));
  });
  if (done) *done = rows.done();
  return status;
}

posset_status invoke_columns(posset_context* context, posset_value function, const Columns& given, size_t* done) {
  if (done) *done = 0;
  if (!given.are_given() || (given.rows != 0 && !given.are_apart())) return POSSET_MISUSE;
  Evaluation evaluation(context, Evaluation::Kind::Run);
  if (evaluation.failed()) return evaluation.status();
  if (context->finished || posset::api::is_foreign(context, in(function))) return POSSET_MISUSE;
  if (given.count > UINT32_MAX || !context->has_stack_for(given.count)) {
    context->raise_stack_overflow();
    return POSSET_RAISED;
  }
  return invoke_rows(context, Value::copy(in(function)), given, done);
}

}  // namespace

extern "C" {

posset_status posset_invoke_columns(posset_context* context, posset_value function, const double* const* columns, size_t count,
                                    double* to, size_t rows, size_t* done) {
  return invoke_columns(context, function, {columns, nullptr, count, to, POSSET_FLOAT, rows}, done);
}

posset_status posset_invoke_mixed_columns(posset_context* context, posset_value function, const posset_column* columns,
                                          size_t count, posset_kind kind_of_results, void* to, size_t rows, size_t* done) {
  return invoke_columns(context, function, {nullptr, columns, count, to, kind_of_results, rows}, done);
}

}  // extern "C"
