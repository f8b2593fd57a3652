// Functions that make a sequence out of another: range, map, filter, fold and their kin. Elements
// are visited in order, one at a time, so a callback that raises stops everything at the leftmost
// error.
#include "interp/runtime/builtins.h"
#include "interp/runtime/callback_loop.h"
#include "interp/runtime/halves.h"
#include "interp/runtime/iterate.h"

namespace posset::interp {

// ---- range ----

namespace {

// How many of a, a + step, a + 2 * step ... lie before b.
uint64_t stepped_count(int64_t a, int64_t b, int64_t step) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  if (step > 0 ? a >= b : a <= b) return 0;
  const uint64_t distance = step > 0 ? ub - ua : ua - ub;
  return (distance - 1) / stride + 1;
}

Value stepped_list(Context& context, int64_t a, uint64_t n, int64_t step) {
  if (n > kMaxElements) return context.raise_memory_limit();
  List* list = new_list(context.heap, Packing::Int, n);
  if (!list) return context.raise_memory_limit();
  Value made = list_value(list);
  Meter meter(context);
  for (uint64_t i = 0; i < n;) {
    const uint64_t begin = i, end = std::min(n, i + kPortion);
    // Multiplied in 64 bits without sign: every element fits, the steps to it need not.
    for (; i < end; ++i) {
      list->ints()[i] =
          static_cast<int64_t>(static_cast<uint64_t>(a) + i * static_cast<uint64_t>(step));
    }
    list->size = end;
    if (!meter.add(end - begin)) return Value::failure();
  }
  return made;
}

}  // namespace

Value builtin_range(NativeCall& call) {
  int64_t a = 0, b = 0, step = 1;
  if (!want_int(call, 0, call.count == 1 ? b : a)) return Value::failure();
  if (call.has(1) && !want_int(call, 1, b)) return Value::failure();
  if (call.has(2) && !want_int(call, 2, step)) return Value::failure();
  if (step == 0)
    return raise_argument(call, ErrorCode::OutOfRange, 2,
                          "0 is out of range, it would never arrive");
  if (step == 1) return make_range(call.context, Borrowed::integer(a), Borrowed::integer(b), false);
  return stepped_list(call.context, a, stepped_count(a, b, step), step);
}

// ---- one result for each element ----

Value builtin_map(NativeCall& call) {
  if (!want_iterable(call, 0) || !want_function(call, 1)) return Value::failure();
  return run_callbacks(call);
}

Value builtin_tabulate(NativeCall& call) {
  uint64_t n = 0;
  if (!want_count(call, 0, n) || !want_function(call, 1)) return Value::failure();
  return run_callbacks(call);
}

Value builtin_each(NativeCall& call) {
  return want_iterable(call, 0) && want_function(call, 1) ? run_callbacks(call) : Value::failure();
}

Value builtin_enumerate(NativeCall& call) {
  if (!want_iterable(call, 0)) return Value::failure();
  ListBuilder out(call.context, item_count(call[0]));
  Meter meter(call.context);
  int64_t i = 0;
  bool ok = for_each_item(call.context, call[0], [&](Value item) {
    Value pair = make_pair(call.context, Value::integer(i++), std::move(item));
    return !pair.failed() && meter.add(1) && out.push(std::move(pair));
  });
  return ok ? out.finish() : Value::failure();
}

// ---- none, one or many for each element ----

Value builtin_filter(NativeCall& call) {
  if (!want_iterable(call, 0) || !want_function(call, 1)) return Value::failure();
  return run_callbacks(call);
}

namespace {

bool append_all(Context& context, ListBuilder& out, Meter& meter, Borrowed items) {
  if (items.is_list()) return meter.add(items.as<List>()->size) && out.append(items.as<List>());
  return for_each_item(context, items,
                       [&](Value item) { return meter.add(1) && out.push(std::move(item)); });
}

// flat_map in halves. What is charged for the results depends on how many there are before: elsewhere as much as that can
// be at most, and what was too much is given back.
struct FlatMapWork {
  class Out;
  Borrowed items, callee;
  TracePoint place;

  bool share(Sharing& sharing) const { return sharing.add(callee) && sharing.add(items); }
};

class FlatMapWork::Out {
 public:
  static constexpr uint64_t kMostBefore = kElementsPerStep - 1;
  Out(Context& context, const FlatMapWork& work, uint64_t, uint64_t before = kMostBefore)
      : context_(context), work_(work), list_(context), results_(context, before) {}

  bool ok() const { return true; }
  Step piece(uint64_t from, uint64_t to) {
    Callback f(context_, work_.callee);
    for (uint64_t i = from; i < to; ++i) {
      Value several = f(element_at(work_.items, i));
      if (several.failed() || !append_all(context_, list_, results_, several)) return Step::Failed;
    }
    return Step::Item;
  }
  Step add(Value part, uint64_t, uint64_t) {
    const auto* more = part->as<List>();
    const uint64_t charged = (kMostBefore + more->size) / kElementsPerStep;
    context_.fuel += static_cast<int64_t>(charged - results_.note(more->size));
    return more->size == 0 || list_.append(more) ? Step::Item : Step::Failed;
  }
  Value part(Step) { return list_.finish(); }

 private:
  Context& context_;
  const FlatMapWork& work_;
  ListBuilder list_;
  Meter results_;
};

}  // namespace

Value builtin_flat_map(NativeCall& call) {
  if (!want_iterable(call, 0) || !want_function(call, 1)) return Value::failure();
  if (has_halves(call.context, call[0], call[1])) {
    const FlatMapWork work{call[0], call[1], call.context.take_call_place()};
    const uint64_t elements = item_count(call[0]);
    FlatMapWork::Out made(call.context, work, elements, 0);
    return in_halves(call.context, work, made, elements) == Step::Failed ? Value::failure() : made.part(Step::Item);
  }
  ListBuilder out(call.context);
  Callback f(call.context, call[1]);
  Meter meter(call.context, call[1]);
  Meter results(call.context);
  bool ok = for_each_item(call.context, call[0], [&](Value item) {
    if (!meter.add(1)) return false;
    Value several = f(std::move(item));
    return !several.failed() && append_all(call.context, out, results, several);
  });
  return ok ? out.finish() : Value::failure();
}

Value builtin_fold(NativeCall& call) {
  return want_iterable(call, 0) && want_function(call, 2) ? run_callbacks(call) : Value::failure();
}

// ---- two sequences ----

namespace {

// An iteration that owns its hidden slots.
class Iteration {
 public:
  Iteration(Context& context, Borrowed iterable) : context_(context) {
    retain(iterable);
    hidden_[0] = iterable;
    ok_ = begin_iteration(context, hidden_);
  }
  ~Iteration() { release(hidden_[0]); }
  Iteration(const Iteration&) = delete;
  Iteration& operator=(const Iteration&) = delete;
  bool ok() const { return ok_; }
  Step next(Value& item) { return next_item(context_, hidden_, item); }

 private:
  Context& context_;
  Borrowed hidden_[3];
  bool ok_;
};

}  // namespace

Value builtin_zip(NativeCall& call) {
  if (!want_iterable(call, 0) || !want_iterable(call, 1)) return Value::failure();
  Iteration xs(call.context, call[0]), ys(call.context, call[1]);
  ListBuilder out(call.context, std::min(item_count(call[0]), item_count(call[1])));
  Meter meter(call.context);
  for (;;) {
    Value x, y;
    Step step = xs.next(x);
    if (step == Step::Item) step = ys.next(y);
    if (step == Step::End) return out.finish();
    if (step == Step::Failed) return Value::failure();
    Value pair = make_pair(call.context, std::move(x), std::move(y));
    if (pair.failed() || !meter.add(1) || !out.push(std::move(pair))) return Value::failure();
  }
}

// ---- what a loop goes over that does without the pairs ----

namespace {

bool is_indexed(Borrowed v) { return v.is_list() || v.is_range(); }

// The first and the second of each pair.
Value take_apart(Context& context, Borrowed pairs) {
  const auto* list = pairs.as<List>();
  ListBuilder firsts(context, list->size), seconds(context, list->size);
  Meter meter(context);
  for (uint64_t i = 0; i < list->size; ++i) {
    const Value pair = list_copy(list, i);
    const auto* both = pair->as<List>();
    if (!meter.add(1) || !firsts.push(list_copy(both, 0)) || !seconds.push(list_copy(both, 1))) return Value::failure();
  }
  Value first = firsts.finish();
  if (first.failed()) return first;
  Value second = seconds.finish();
  return second.failed() ? std::move(second) : make_pair(context, std::move(first), std::move(second));
}

}  // namespace

Value builtin_unpaired_enumerate(NativeCall& call) {
  if (is_indexed(call[0])) return call.take(0);
  return want_iterable(call, 0) ? builtin_list(call) : Value::failure();
}

Value builtin_unpaired_zip(NativeCall& call) {
  if (is_indexed(call[0]) && is_indexed(call[1])) {
    Value xs = call.take(0);
    return make_pair(call.context, std::move(xs), call.take(1));
  }
  const Value pairs = builtin_zip(call);  // of channels as many are received as pairs are made
  return pairs.failed() ? Value::failure() : take_apart(call.context, pairs);
}

Value builtin_rounds(NativeCall& call) {
  const uint64_t count = std::min(item_count(call[0]), item_count(call[call.count - 1]));
  return Value::integer(static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX)));
}

// ---- reverse ----

namespace {

Value reversed_range(Context& context, const Range* range) {
  auto* made =
      context.heap.make<Range>(Tag::Range, sizeof(Range), range->flags ^ Range::kDescending);
  if (!made) return context.raise_memory_limit();
  made->first = range->first;
  made->last = range->last;
  return Value::adopt(Borrowed::heap(Tag::Range, made));
}

Value reversed_string(Context& context, Borrowed text) {
  const std::string_view bytes = string_view_of(text);
  StringBuilder out(context.heap);
  for (size_t end = bytes.size(); end > 0;) {
    const size_t portion_end = end;
    while (end > 0 && portion_end - end < kPortion && !out.failed()) {
      size_t begin = end - 1;
      while ((static_cast<unsigned char>(bytes[begin]) & 0xc0) == 0x80) --begin;
      out.append(bytes.substr(begin, end - begin));
      end = begin;
    }
    if (out.failed()) return context.raise_memory_limit();
    if (!charge_bytes(context, portion_end - end)) return Value::failure();
  }
  return or_memory_limit(context, out.finish());
}

}  // namespace

Value builtin_reverse(NativeCall& call) {
  Context& context = call.context;
  switch (call[0].tag()) {
    case Tag::List:
      if (!charge_elements(context, call[0].as<List>()->size)) return Value::failure();
      return or_memory_limit(context, list_reversed(context.heap, call[0].as<List>()));
    case Tag::Range:
      return reversed_range(context, call[0].as<Range>());
    case Tag::Str:
    case Tag::ShortStr:
      return reversed_string(context, call[0]);
    default:
      return raise_argument(call, 0, "list, str or range");
  }
}

}  // namespace posset::interp
