// One call for each row of columns of numbers. The columns are the host's: they are read where they stand and the results
// are written where the host wants them, so nothing is copied, and as no value refers to them no script can have them
// longer than the call takes.
//
// Rows are done by the native code that takes numbers, as long as it only computes (numbers_entry.h): several at once
// where there is code for that. A row that this cannot do is called as any function is, and then it goes on. So every row
// is charged its step, and what it raises is raised behind those before it.
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

struct Columns {
  const double* const* columns;
  size_t count;
  double* to;
  size_t rows;

  // Only as a whole may one of them be where the results go: else rows would read what earlier ones have given.
  bool are_apart() const {
    const auto first = reinterpret_cast<uintptr_t>(to);
    return std::none_of(columns, columns + count, [&](const double* each) {
      const auto other = reinterpret_cast<uintptr_t>(each);
      return other != first && other < first + rows * sizeof(double) && first < other + rows * sizeof(double);
    });
  }
  bool are_given() const {
    if (rows == 0) return true;
    const bool all = columns && std::all_of(columns, columns + count, [](const double* each) { return each; });
    return to && (count == 0 || all);
  }
  bool has_results_in_column() const { return rows != 0 && std::find(columns, columns + count, to) != columns + count; }
};

// Results that are kept apart, in the first level of the cache.
constexpr size_t kPart = 1024;
// After so many, code for several at once is worth being made.
constexpr uint32_t kManyRows = 4096;

// One evaluation.
class Rows {
 public:
  Rows(posset_context* context, Borrowed function, const Columns& columns)
      : context_(context), function_(function), columns_(columns), has_results_in_column_(columns.has_results_in_column()) {}

  // False: raised.
  bool run() {
    while (done_ < columns_.rows) {
      if (!compute_some() && !call_one()) return false;
    }
    return true;
  }
  size_t done() const { return done_; }

 private:
  // For native code a row is a step. False: there is no code for that, or a step no more, or it has given up.
  bool compute_some() {
    if (!function_.is(Tag::Fn) || context_->fuel <= 0) return false;
    auto* closure = function_.as<Closure>();
    const NativeCodeHead* code = posset::api::code_for_numbers(*closure->function, columns_.count);
    if (!code || !code->plain || columns_.count == 0 || !context_->has_stack(posset::api::kMostRegisters)) return false;
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
      done_ = code(context_, closure, context_->stack_top, columns_.columns, columns_.to, done_, end);
      return;
    }
    double part[kPart];
    const size_t first = done_;
    end = std::min(end, first + kPart);
    const double* moved[kMostNumbers];
    for (size_t n = 0; n < columns_.count; ++n) moved[n] = columns_.columns[n] + first;
    const size_t computed = code(context_, closure, context_->stack_top, moved, part, 0, end - first);
    std::copy(part, part + computed, columns_.to + first);
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
      for (size_t each = 0; each < columns_.count; ++each) n[each] = columns_.columns[each][done_];
      uint64_t tag = kFloatTag;
      const double given = reinterpret_cast<PlainEntry>(code)(context_, closure, context_->stack_top, &tag, n[0], n[1], n[2],
                                                              n[3], n[4], n[5], n[6], n[7]);
      if (tag != kFloatTag) return;
      columns_.to[done_] = given;
    }
  }

  bool call_one() {
    // A call of what is no function of a script charges nothing itself.
    if (!function_.is(Tag::Fn) && !context_->charge_one()) return false;
    const auto count = static_cast<uint32_t>(columns_.count);
    Borrowed* const base = context_->stack_top;
    for (uint32_t n = 0; n < count; ++n) base[n] = Borrowed::floating(columns_.columns[n][done_]);
    context_->stack_top = base + count;
    const Value result = call_value(*context_, function_, base, count, posset::interp::kAnyMarks);
    const uint64_t lent = inout_mask_of(function_);
    for (uint32_t n = 0; n < count && n < 64; ++n) {
      if (lent >> n & 1) posset::interp::release(base[n]);
    }
    context_->stack_top = base;
    return !result.failed() && take(result);
  }

  bool take(Borrowed result) {
    if (!result.is_number()) {
      context_->raise(posset::interp::ErrorCode::TypeMismatch,
                      "row " + std::to_string(done_) + ": expected a number, got " + type_text(*context_, result) + " (" +
                          brief(result) + ")");
      return false;
    }
    columns_.to[done_++] = result.number();
    return true;
  }

  posset_context* const context_;
  const Borrowed function_;
  const Columns columns_;
  const bool has_results_in_column_;
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

}  // namespace

extern "C" posset_status posset_invoke_columns(posset_context* context, posset_value function,
                                               const double* const* columns, size_t count, double* to, size_t rows,
                                               size_t* done) {
  constexpr size_t kSpareRegisters = 64;  // that built-ins count on above the arguments
  if (done) *done = 0;
  const Columns given{columns, count, to, rows};
  if (!given.are_given() || (rows != 0 && !given.are_apart())) return POSSET_MISUSE;
  Evaluation evaluation(context, Evaluation::Kind::Run);
  if (evaluation.failed()) return evaluation.status();
  if (context->finished || posset::api::is_foreign(context, in(function))) return POSSET_MISUSE;
  if (count > UINT32_MAX || !context->has_stack(count + kSpareRegisters)) {
    context->raise_stack_overflow();
    return POSSET_RAISED;
  }
  return invoke_rows(context, Value::copy(in(function)), given, done);
}
