// Looking for something in a sequence: find, index_of, any, all, count, min, max. All stop as soon
// as the answer is known.
#include <cstring>

#include "interp/runtime/builtins.h"
#include "interp/runtime/callback_loop.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/list_search.h"
#include "interp/runtime/text_search.h"
#include "interp/value/compare.h"

namespace posset::interp {

Value builtin_find(NativeCall& call) {
  return want_iterable(call, 0) && want_function(call, 1) ? run_callbacks(call) : Value::failure();
}
Value builtin_any(NativeCall& call) { return builtin_find(call); }
Value builtin_all(NativeCall& call) { return builtin_find(call); }
Value builtin_count(NativeCall& call) { return builtin_find(call); }

// ---- index_of ----

namespace {

Value index_in_string(Context& context, Borrowed text, Borrowed part) {
  const std::string_view whole = string_view_of(text), wanted = string_view_of(part);
  if (!charge_bytes(context, whole.size())) return Value::failure();
  if (wanted.empty()) return Value::integer(0);
  size_t at;
  if (!find_text(context, whole, wanted, 0, at)) return Value::failure();
  if (at == std::string_view::npos) return Value();
  if (is_ascii_string(text)) return Value::integer(static_cast<int64_t>(at));
  uint64_t scalars;
  if (!count_scalars(context.heap, whole.substr(0, at), scalars)) return context.raise_memory_limit();
  return Value::integer(static_cast<int64_t>(scalars));
}

}  // namespace

Value builtin_index_of(NativeCall& call) {
  if (!want_iterable(call, 0)) return Value::failure();
  if (call[0].is_string()) {
    return call[1].is_string() ? index_in_string(call.context, call[0], call[1]) : Value();
  }
  if (call[0].is_list()) {
    uint64_t at;
    const PackedFind found = find_packed(call.context, call[1], call[0].as<List>(), at);
    if (found == PackedFind::Found) return Value::integer(static_cast<int64_t>(at));
    if (found != PackedFind::NotPacked) return found == PackedFind::Absent ? Value() : Value::failure();
  }
  int64_t i = 0, found = -1;
  bool ok = for_each_item(call.context, call[0], [&](Value item) {
    if (i % kElementsPerStep == kElementsPerStep - 1 && !call.context.charge_one()) return false;
    int same = compare(call.context, BinaryOp::Eq, item, call[1]);
    if (same > 0) found = i;
    ++i;
    return same == 0;
  });
  if (!ok) return Value::failure();
  return found < 0 ? Value() : Value::integer(found);
}

// ---- min, max ----

namespace {

// Keeps the first of equals: another one must be strictly beyond it. A NaN is beyond nothing.
class Best {
 public:
  Best(Context& context, BinaryOp beyond) : context_(context), beyond_(beyond) {}
  bool offer(Value candidate) {
    if (any_) {
      int better = compare(context_, beyond_, candidate, best_);
      if (better <= 0) return better == 0;
    }
    any_ = true;
    best_ = std::move(candidate);
    return true;
  }
  bool any() const { return any_; }
  Value take() { return std::move(best_); }

 private:
  Context& context_;
  BinaryOp beyond_;
  bool any_ = false;
  Value best_;
};

Value best_of(NativeCall& call, BinaryOp beyond) {
  Best best(call.context, beyond);
  if (call.count > 1) {
    for (uint32_t i = 0; i < call.count; ++i) {
      if (!best.offer(call.take(i))) return Value::failure();
    }
    return best.take();
  }
  if (call[0].is_number()) return raise_argument(call, 0, "list", "or several values to compare");
  if (!want_iterable(call, 0)) return Value::failure();
  if (call[0].is_list() && call[0].as<List>()->size != 0 && has_packed_numbers(call[0].as<List>())) {
    Value found;
    return best_packed(call.context, call[0].as<List>(), beyond == BinaryOp::Gt, found) ? std::move(found) : Value::failure();
  }
  Meter meter(call.context);
  bool ok = for_each_item(call.context, call[0],
                          [&](Value item) { return meter.add(1) && best.offer(std::move(item)); });
  if (!ok) return Value::failure();
  return best.any() ? best.take() : raise_empty(call, type_name(call[0].tag()));
}

}  // namespace

Value builtin_min(NativeCall& call) { return best_of(call, BinaryOp::Lt); }
Value builtin_max(NativeCall& call) { return best_of(call, BinaryOp::Gt); }

}  // namespace posset::interp
