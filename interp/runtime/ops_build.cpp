// Making values out of others: spreads, the pieces of an interpolation, variants.
#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/work.h"
#include "interp/value/record.h"

namespace posset::interp {

bool append_spread(Context& context, Borrowed& list, Borrowed spread) {
  if (spread.is_list()) {
    const auto* more = spread.as<List>();
    return charge_elements(context, more->size) &&
           or_memory_limit(context, list_append(context.heap, list, more));
  }
  if (spread.is_range()) return append_range(context, list, spread.as<Range>());
  const char* hint = "..xs takes a list or a range";
  if (spread.is_map() || spread.is_string())
    hint = "..xs takes a list or a range: ..list(xs) for anything else";
  context.raise(ErrorCode::WrongOperands, "cannot spread " + kind_and_value(context, spread), hint);
  return false;
}

bool begin_with_spread(Context& context, Borrowed& list, Value spread) {
  if (!spread->is_list()) return append_spread(context, list, spread);
  if (is_unique(spread->object())) {
    release(std::exchange(list, spread.take()));
    return true;
  }
  const auto* items = spread->as<List>();
  return look_up(context, items->size) && or_memory_limit(context, list_append(context.heap, list, items));
}

namespace {

FormatOptions format_options(const syntax::FormatSpec& spec) {
  FormatOptions options;
  options.fill = spec.fill;
  options.align = spec.align;
  options.plus = spec.plus;
  options.zero = spec.zero;
  options.type = spec.type;
  options.width = spec.width;
  options.precision = spec.precision;
  return options;
}

// Not inlined, so that a short text, the usual piece of what is joined, needs none of this one's frame.
[[gnu::noinline]] bool append_charged(Context& context, StringBuilder& out, Borrowed v, const syntax::FormatSpec* spec) {
  if (!charge_weight(context, v)) return false;
  const size_t before = out.view().size();
  std::string problem;
  if (!spec || !spec->present) {
    ContextPatience patience(context);
    print_to(out, v, &patience);
    if (!patience.held()) return false;
  } else if (!format_to(out, v, format_options(*spec), problem)) {
    if (out.failed()) return or_memory_limit(context, false);
    context.raise(ErrorCode::TypeMismatch, std::move(problem));
    return false;
  }
  if (out.failed()) return or_memory_limit(context, false);
  return charge_bytes(context, out.view().size() - before);
}

}  // namespace

bool append_formatted(Context& context, StringBuilder& out, Borrowed v,
                      const syntax::FormatSpec* spec) {
  if (!v.is_short_string() || (spec && spec->present)) return append_charged(context, out, v, spec);
  out.append_short(v);  // too short to be charged for
  return or_memory_limit(context, !out.failed());
}

namespace {

// Shorter ones are put together faster where there is no object yet (string_builder.cpp).
constexpr size_t kGrownInPlace = 256;

}  // namespace

bool Interpolated::append(Value v, const syntax::FormatSpec* spec) {
  const bool is_first = !std::exchange(begun_, true);
  if (is_first && v->is(Tag::Str) && !(spec && spec->present)) return begin(std::move(v));
  return append_formatted(context_, out_, v, spec);
}

bool Interpolated::begin(Value text) {
  const size_t bytes = text->as<Str>()->size;
  if (bytes >= kGrownInPlace && is_unique(text->object())) {
    first_ = std::move(text);
    return true;
  }
  out_.append(string_view_of(text));
  return or_memory_limit(context_, !out_.failed()) && look_up(context_, bytes);
}

Value Interpolated::finish() {
  Value made = or_memory_limit(context_, out_.finish());
  if (made.failed() || first_->is_nil()) return made;
  return or_memory_limit(context_, concatenate(context_.heap, std::move(first_), made));
}

Value make_variant(Context& context, const Shape* shape, Borrowed* fields, uint32_t count) {
  Record* record = new_record(context.heap, shape);
  for (uint32_t i = 0; i < count; ++i) {
    Borrowed field = std::exchange(fields[i], Borrowed::nil());
    if (record) {
      record->store(i, field);
    } else {
      release(field);
    }
  }
  if (!record) return context.raise_memory_limit();
  return Value::adopt(Borrowed::heap(Tag::Variant, record));
}

}  // namespace posset::interp
