// The module strings. Case and width by Unicode's tables (utf8proc); text is UTF-8 throughout.
#include <utf8proc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stdlib/letter_case.h"
#include "stdlib/modules.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

posset_status want_text(posset_call* call, uint32_t i, std::string_view& out) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, i, &text));
  out = view_of(text);
  return POSSET_OK;
}

// Calls `visit(scalar, piece)` for each scalar of valid UTF-8 until it gives something else than POSSET_OK.
template <class Visit>
posset_status each_scalar(posset_context* context, std::string_view text, uint64_t work, Visit&& visit) {
  Pace pace(context);
  size_t at = 0;
  while (at < text.size()) {
    utf8proc_int32_t scalar;
    auto left = static_cast<utf8proc_ssize_t>(text.size() - at);
    auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at), left, &scalar);
    if (used <= 0) break;
    POSSET_TRY(visit(static_cast<uint32_t>(scalar), text.substr(at, static_cast<size_t>(used))));
    POSSET_TRY(pace.go(work));
    at += static_cast<size_t>(used);
  }
  return POSSET_OK;
}

// A sigma ends a word where a letter is before it and none behind it; after so many accents there is none.
bool is_final(bool is_behind_letter, std::string_view rest) {
  constexpr size_t kFarthest = 4096;
  rest = rest.substr(0, kFarthest);
  CaseRole next = CaseRole::Ignored;
  while (is_behind_letter && next == CaseRole::Ignored && !rest.empty()) {
    utf8proc_int32_t scalar;
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(rest.data());
    const auto used = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(rest.size()), &scalar);
    if (used <= 0) break;
    next = case_role(static_cast<uint32_t>(scalar));
    rest.remove_prefix(static_cast<size_t>(used));
  }
  return is_behind_letter && next != CaseRole::Letter;
}

template <bool kUpper>
posset_status change_case(posset_call* call) {
  std::string_view text;
  POSSET_TRY(want_text(call, 0, text));
  POSSET_TRY(posset_charge_bytes(call->context, text.size()));
  Buffer out(call->context);
  bool is_behind_letter = false;
  POSSET_TRY(each_scalar(call->context, text, 4, [&](uint32_t scalar, std::string_view piece) {
    if (!kUpper && scalar == kCapitalSigma) {
      const std::string_view rest = text.substr(static_cast<size_t>(piece.data() - text.data()) + piece.size());
      out.append_scalar(is_final(is_behind_letter, rest) ? kFinalSigma : kSmallSigma);
    } else {
      for (uint32_t each : kUpper ? upper_case(scalar) : lower_case(scalar)) out.append_scalar(each);
    }
    const CaseRole role = kUpper ? CaseRole::Ignored : case_role(scalar);
    if (role != CaseRole::Ignored) is_behind_letter = role == CaseRole::Letter;
    return out.failed() ? posset_poll(call->context) : POSSET_OK;
  }));
  return out.finish(call);
}

// Of one size; limits are looked at in between.
posset_status give_equal(posset_call* call, std::string_view a, std::string_view b) {
  Pace pace(call->context);
  for (size_t at = 0; at < a.size(); at += kLongText) {
    const std::string_view piece = a.substr(at, kLongText);
    if (piece != b.substr(at, kLongText)) return posset_return(call, posset_bool(false));
    POSSET_TRY(pace.go(piece.size()));
  }
  return posset_return(call, posset_bool(true));
}

enum class Where { Anywhere, Start, End };
template <Where kWhere>
posset_status has_part(posset_call* call) {
  std::string_view text, part;
  POSSET_TRY(want_text(call, 0, text));
  POSSET_TRY(want_text(call, 1, part));
  POSSET_TRY(posset_charge_bytes(call->context, kWhere == Where::Anywhere ? text.size() : part.size()));
  if (part.size() > text.size()) return posset_return(call, posset_bool(false));
  if (kWhere != Where::Anywhere || part.empty()) {
    return give_equal(call, part, text.substr(kWhere == Where::End ? text.size() - part.size() : 0, part.size()));
  }
  size_t found;
  POSSET_TRY(find_text(call->context, text, part, 0, found));
  return posset_return(call, posset_bool(found != std::string_view::npos));
}

posset_status replace(posset_call* call) {
  std::string_view text, from, to;
  POSSET_TRY(want_text(call, 0, text));
  POSSET_TRY(want_text(call, 1, from));
  POSSET_TRY(want_text(call, 2, to));
  if (from.empty()) return posset_raise_argument(call, POSSET_ERROR_BadArgument, 1, text_of("is empty"));
  POSSET_TRY(posset_charge_bytes(call->context, text.size()));
  Buffer out(call->context);
  Pace pace(call->context);
  size_t at = 0;
  while (!out.failed()) {
    size_t found;
    POSSET_TRY(find_text(call->context, text, from, at, found));
    if (found == std::string_view::npos) break;
    POSSET_TRY(out.append(text.substr(at, found - at), pace));
    POSSET_TRY(out.append(to, pace));
    POSSET_TRY(pace.go(Pace::kValue));
    at = found + from.size();
    POSSET_TRY(posset_charge_bytes(call->context, to.size()));
  }
  POSSET_TRY(out.append(text.substr(at), pace));
  return out.finish(call);
}

// More than any text may have: nothing of it need be made to know.
bool is_too_long(uint64_t count, size_t bytes) { return bytes != 0 && count > UINT32_MAX / bytes; }

constexpr size_t kRepeatBlock = 16 << 10;  // bytes

posset_status repeat(posset_call* call) {
  std::string_view text;
  uint64_t count;
  POSSET_TRY(want_text(call, 0, text));
  POSSET_TRY(posset_want_count(call, 1, &count));
  if (text.empty()) count = 0;
  if (is_too_long(count, text.size())) return POSSET_NO_MEMORY;
  // A block of several copies at a time: short texts cost no more than long ones.
  const uint64_t copies = std::min(count, std::max<uint64_t>(1, kRepeatBlock / std::max<size_t>(1, text.size())));
  std::string block;
  for (uint64_t i = 0; i < copies && copies > 1; ++i) block += text;
  Buffer out(call->context);
  Pace pace(call->context);
  while (count > 0 && !out.failed()) {
    uint64_t now = std::min(count, copies);
    POSSET_TRY(posset_charge_bytes(call->context, now * text.size()));
    POSSET_TRY(out.append(copies > 1 ? std::string_view(block).substr(0, now * text.size()) : text, pace));
    count -= now;
  }
  return out.finish(call);
}

template <bool kLeft>
posset_status pad(posset_call* call) {
  std::string_view text, fill = " ";
  uint64_t width;
  POSSET_TRY(want_text(call, 0, text));
  POSSET_TRY(posset_want_count(call, 1, &width));
  if (posset_has(call, 2)) POSSET_TRY(want_text(call, 2, fill));
  if (fill.empty()) return posset_raise_argument(call, POSSET_ERROR_BadArgument, 2, text_of("is empty"));
  std::vector<std::string_view> pieces;
  POSSET_TRY(each_scalar(call->context, fill, 4, [&](uint32_t, std::string_view piece) {
    pieces.push_back(piece);
    return POSSET_OK;
  }));
  uint64_t length = posset_string_length(call->arguments[0]);
  if (is_too_long(width, 1)) return POSSET_NO_MEMORY;
  Buffer out(call->context);
  Pace pace(call->context);
  if (!kLeft) POSSET_TRY(out.append(text, pace));
  for (uint64_t i = length; i < width && !out.failed(); ++i) {
    if (i % 64 == 0) POSSET_TRY(posset_charge_steps(call->context, 1));
    out.append(pieces[(i - length) % pieces.size()]);
  }
  if (kLeft) POSSET_TRY(out.append(text, pace));
  return out.finish(call);
}

posset_status chars(posset_call* call) {
  std::string_view text;
  POSSET_TRY(want_text(call, 0, text));
  POSSET_TRY(posset_charge_elements(call->context, text.size()));
  Owned list;
  POSSET_TRY(posset_list(call->context, text.size(), list.place()));
  const posset_status status = each_scalar(call->context, text, Pace::kValue, [&](uint32_t, std::string_view piece) {
    posset_value one;
    POSSET_TRY(posset_string(call->context, text_of(piece), &one));
    return posset_list_push(call->context, list.place(), one);
  });
  POSSET_TRY(status);
  return give(call, list);
}

posset_status bytes(posset_call* call) {
  std::string_view text;
  POSSET_TRY(want_text(call, 0, text));
  POSSET_TRY(posset_charge_elements(call->context, text.size()));
  Owned list;
  POSSET_TRY(posset_list(call->context, text.size(), list.place()));
  Pace pace(call->context);
  for (char c : text) {
    POSSET_TRY(pace.go(Pace::kValue));
    POSSET_TRY(posset_list_push(call->context, list.place(), posset_int(static_cast<unsigned char>(c))));
  }
  return give(call, list);
}

constexpr posset_function_row kRows[] = {
    pure_row("upper", "upper(s)", "s in upper case.", 1, 1, change_case<true>),
    pure_row("lower", "lower(s)", "s in lower case.", 1, 1, change_case<false>),
    pure_row("contains", "contains(s, part)", "Does part occur in s?", 2, 2, has_part<Where::Anywhere>),
    pure_row("starts_with", "starts_with(s, part)", "Does s start with part?", 2, 2, has_part<Where::Start>),
    pure_row("ends_with", "ends_with(s, part)", "Does s end with part?", 2, 2, has_part<Where::End>),
    pure_row("replace", "replace(s, from, to)", "s with every occurrence of from replaced by to, from left to right.",
             3, 3, replace),
    pure_row("repeat", "repeat(s, n)", "s n times in a row.", 2, 2, repeat),
    pure_row("pad", "pad(s, width, fill = \" \")", "s filled up at its end to width characters.", 2, 3, pad<false>),
    pure_row("pad_left", "pad_left(s, width, fill = \" \")", "s filled up at its start to width characters.", 2, 3,
             pad<true>),
    pure_row("chars", "chars(s)", "The characters (Unicode scalars) of s as a list of strings.", 1, 1, chars),
    pure_row("bytes", "bytes(s)", "The bytes of s in UTF-8 as a list of ints.", 1, 1, bytes),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_strings(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "strings", posset::stdlib::kRows);
}
