// Text: join, split, trim, lines. White space is what Unicode calls so (the property White_Space).
#include <cstring>
#include <utility>

#include "interp/runtime/builtins.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/text_search.h"

namespace posset::interp {

namespace {

bool is_space(uint32_t scalar) {
  if (scalar < 0x80) return scalar == ' ' || (scalar >= '\t' && scalar <= '\r');
  return scalar == 0x85 || scalar == 0xa0 || scalar == 0x1680 ||
         (scalar >= 0x2000 && scalar <= 0x200a) || scalar == 0x2028 || scalar == 0x2029 ||
         scalar == 0x202f || scalar == 0x205f || scalar == 0x3000;
}

// From `at` past all scalars that are white space (`wanted`) or are not; anywhere where the patience has ended.
size_t skip(std::string_view text, size_t at, bool wanted, Patience& patience) {
  while (at < text.size() && patience.lasts()) {
    size_t next = at;
    if (is_space(decode_scalar(text, next)) != wanted) break;
    at = next;
  }
  return at;
}

std::string_view without_space_at_end(std::string_view text, Patience& patience) {
  while (!text.empty() && patience.lasts()) {
    size_t begin = text.size() - 1;
    while ((static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) --begin;
    size_t at = begin;
    if (!is_space(decode_scalar(text, at))) break;
    text = text.substr(0, begin);
  }
  return text;
}

// Collects pieces of a text, charging the bytes they span as it goes along. Short ones take longer than these steps say, so
// limits are looked at in between.
class Pieces {
 public:
  explicit Pieces(Context& context) : context_(context), out_(context) {}
  bool add(std::string_view piece, size_t position) {
    if (!advance(position) || (!patience_.lasts() && !held())) return false;
    Value made = or_memory_limit(context_, make_string(context_.heap, piece));
    return !made.failed() && out_.push(std::move(made));
  }
  Value finish(size_t size) { return advance(size) ? out_.finish() : Value::failure(); }
  Patience& patience() { return patience_; }
  bool held() { return patience_.held(); }

 private:
  bool advance(size_t position) {
    uint64_t steps = position / kBytesPerStep - charged_;
    charged_ += steps;
    return steps == 0 || context_.charge(steps);
  }
  Context& context_;
  ListBuilder out_;
  ContextPatience patience_{context_};
  uint64_t charged_ = 0;
};

Value split_at_space(Context& context, std::string_view text) {
  Pieces pieces(context);
  Patience& patience = pieces.patience();
  for (size_t at = skip(text, 0, true, patience); at < text.size();) {
    size_t end = skip(text, at, false, patience);
    if (!pieces.held() || !pieces.add(text.substr(at, end - at), end)) return Value::failure();
    at = skip(text, end, true, patience);
  }
  return pieces.held() ? pieces.finish(text.size()) : Value::failure();
}

Value split_at(Context& context, std::string_view text, std::string_view separator) {
  Pieces pieces(context);
  size_t at = 0;
  for (;;) {
    size_t end;
    if (!find_text(context, text, separator, at, end)) return Value::failure();
    if (end == std::string_view::npos) break;
    if (!pieces.add(text.substr(at, end - at), end)) return Value::failure();
    at = end + separator.size();
  }
  return pieces.add(text.substr(at), text.size()) ? pieces.finish(text.size()) : Value::failure();
}

}  // namespace

Value builtin_split(NativeCall& call) {
  if (!want_string(call, 0)) return Value::failure();
  const Borrowed text = call[0], separator = call.get_or(1, Borrowed::nil());
  if (separator.is_nil()) return split_at_space(call.context, string_view_of(text));
  if (!separator.is_string()) return raise_argument(call, 1, "str or nil");
  if (string_view_of(separator).empty()) {
    return call.context.raise(ErrorCode::BadArgument,
                              "argument sep of split(s, sep = nil): the separator is empty",
                              "list(s) gives the characters of s");
  }
  return split_at(call.context, string_view_of(text), string_view_of(separator));
}

Value builtin_lines(NativeCall& call) {
  Borrowed hidden[3] = {call[0], Borrowed::nil(), Borrowed::nil()};
  if (!begin_lines(call.context, hidden)) return Value::failure();
  ListBuilder out(call.context);
  ContextPatience patience(call.context);
  uint64_t charged = 0;
  for (;;) {
    Value line;
    Step step = next_item(call.context, hidden, line);
    if (step == Step::End) return out.finish();
    if (step == Step::Failed || !out.push(std::move(line))) return Value::failure();
    if (!patience.lasts() && !patience.held()) return Value::failure();
    uint64_t steps = static_cast<uint64_t>(hidden[1].as_int()) / kBytesPerStep;
    if (steps > charged && !call.context.charge(steps - charged)) return Value::failure();
    charged = steps;
  }
}

Value builtin_trim(NativeCall& call) {
  if (!want_string(call, 0)) return Value::failure();
  const Borrowed text = call[0];
  std::string_view all = string_view_of(text);
  ContextPatience patience(call.context);
  std::string_view trimmed = without_space_at_end(all.substr(skip(all, 0, true, patience)), patience);
  if (!patience.held()) return Value::failure();
  if (trimmed.size() == all.size()) return Value::copy(text);
  if (!charge_bytes(call.context, all.size())) return Value::failure();
  return or_memory_limit(call.context, make_string(call.context.heap, trimmed));
}

namespace {

// Calls visit(item) for everything in it, without taking what is in a list of anything out of it: joining runs no
// code of the script's.
template <class Visit>
bool look_at_items(Context& context, Borrowed items, Visit&& visit) {
  if (!items.is_list() || items.as<List>()->packing() != Packing::Any) return for_each_item(context, items, visit);
  auto* list = items.as<List>();
  for (uint64_t i = 0; i < list->size; ++i) {
    if (!visit(list->any()[i])) return false;
  }
  return true;
}

// Charged by portions, so that limits are looked at in the middle of a long one.
bool append_text(Context& context, StringBuilder& out, std::string_view text) {
  constexpr size_t kPortionBytes = kPortion * 16;
  static_assert(kPortionBytes % kBytesPerStep == 0);
  while (text.size() > kPortionBytes) {
    out.append(text.substr(0, kPortionBytes));
    text.remove_prefix(kPortionBytes);
    if (!charge_bytes(context, kPortionBytes) || !context.poll()) return false;
  }
  out.append(text);
  return charge_bytes(context, text.size());
}

}  // namespace

Value builtin_join(NativeCall& call) {
  if (!want_iterable(call, 0) || (call.has(1) && !want_string(call, 1))) return Value::failure();
  const Borrowed separator = call.get_or(1, make_short(""));
  const std::string_view between = string_view_of(separator);
  StringBuilder out(call.context.heap);
  Meter meter(call.context);
  bool first = true;
  bool ok = look_at_items(call.context, call[0], [&](Borrowed item) {
    const bool separates = !std::exchange(first, false) && !between.empty();
    if (separates && !append_text(call.context, out, between)) return false;
    return meter.add(1) && append_formatted(call.context, out, item, nullptr);
  });
  return ok ? or_memory_limit(call.context, out.finish()) : Value::failure();
}

}  // namespace posset::interp
