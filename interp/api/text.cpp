// Strings, buffers, and the text of any value.
#include <algorithm>
#include <cstring>

#include "interp/api/handles.h"
#include "interp/api/host_text.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/text_search.h"
#include "interp/runtime/work.h"
#include "interp/value/print.h"

using posset::api::Evaluation;
using posset::api::give;
using posset::api::give_or_limit;
using posset::api::in;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::StringBuilder;
using posset::interp::Value;

// ---- strings ----

extern "C" {

posset_status posset_string(posset_context* context, posset_text text, posset_value* out) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (!posset::api::want_utf8(context, view(text))) return POSSET_RAISED;
  return give_or_limit(context, make_string(context->heap, view(text)), out);
}

posset_status posset_string_lossy(posset_context* context, posset_text text, posset_value* out) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  return give_or_limit(context, make_string_lossy(context->heap, view(text)), out);
}

bool posset_is_utf8(posset_text text) { return posset::interp::is_valid_utf8(view(text)); }

posset_text posset_string_text(const posset_value* value) {
  if (!value || !in(*value).is_string()) return posset::api::text({});
  if (in(*value).is_short_string()) {
    // The bytes of a short string stand in the caller's own variable, from its third byte on.
    return posset_text_n(reinterpret_cast<const char*>(value) + 2,
                         posset::interp::short_size(in(*value)));
  }
  const auto* string = in(*value).as<posset::interp::Str>();
  return posset_text_n(string->data(), string->size);
}

uint64_t posset_string_length(posset_value value) {
  return in(value).is_string() ? posset::interp::string_length(in(value)) : 0;
}

bool posset_string_is_ascii(posset_value value) {
  return in(value).is_string() && posset::interp::is_ascii_string(in(value));
}

posset_status posset_find_text(posset_context* context, posset_text text, posset_text part, uint64_t from, uint64_t* at) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (!at || part.size == 0 || from > text.size) return POSSET_MISUSE;
  size_t found = 0;
  if (!find_text(*context, view(text), view(part), from, found)) return POSSET_RAISED;
  if (found == std::string_view::npos) return POSSET_NOT_FOUND;
  *at = found;
  return POSSET_OK;
}

}  // extern "C"

// ---- buffers ----

struct posset_buffer {
  explicit posset_buffer(posset_context* owner) : context(owner), builder(owner->heap) {}
  posset_context* context;
  StringBuilder builder;
};

namespace {

// Appends v as print shows it or as a literal; its weight has been charged by the time it is
// printed.
bool append(posset_context* context, StringBuilder& builder, Borrowed v, bool literal) {
  if (!literal) return append_formatted(*context, builder, v, nullptr);
  if (!charge_weight(*context, v)) return false;
  print_literal(builder, v);
  return or_memory_limit(*context, !builder.failed());
}

}  // namespace

extern "C" {

posset_buffer* posset_buffer_create(posset_context* context) {
  if (!context) return nullptr;
  return new (std::nothrow) posset_buffer(context);
}

void posset_buffer_free(posset_buffer* buffer) { delete buffer; }

void posset_buffer_append(posset_buffer* buffer, posset_text text) {
  if (buffer) buffer->builder.append(view(text));
}

void posset_buffer_reserve(posset_buffer* buffer, size_t bytes) {
  if (buffer) buffer->builder.reserve(bytes);
}

void posset_buffer_append_scalar(posset_buffer* buffer, uint32_t scalar) {
  if (!buffer) return;
  bool valid = scalar <= 0x10ffff && (scalar < 0xd800 || scalar > 0xdfff);
  char bytes[4];
  size_t n = posset::interp::encode_scalar(valid ? scalar : 0xfffd, bytes);
  buffer->builder.append({bytes, n});
}

void posset_buffer_append_int(posset_buffer* buffer, int64_t value) {
  if (buffer) posset::interp::append_int(buffer->builder, value);
}

void posset_buffer_append_float(posset_buffer* buffer, double value) {
  if (buffer) posset::interp::append_float(buffer->builder, value);
}

posset_status posset_buffer_append_value(posset_buffer* buffer, posset_value value, bool literal) {
  if (!buffer) return POSSET_MISUSE;
  Evaluation evaluation(buffer->context);
  if (evaluation.failed()) return evaluation.status();
  return append(buffer->context, buffer->builder, in(value), literal) ? POSSET_OK : POSSET_RAISED;
}

posset_text posset_buffer_text(const posset_buffer* buffer) {
  return posset::api::text(buffer ? buffer->builder.view() : std::string_view());
}

bool posset_buffer_failed(const posset_buffer* buffer) {
  return !buffer || buffer->builder.failed();
}

void posset_buffer_clear(posset_buffer* buffer) {
  if (buffer) buffer->builder.clear();
}

posset_status posset_buffer_finish(posset_buffer* buffer, posset_value* out) {
  if (!buffer) return POSSET_MISUSE;
  Evaluation evaluation(buffer->context);
  if (evaluation.failed()) return evaluation.status();
  const bool is_text = buffer->builder.failed() || posset::api::want_utf8(buffer->context, buffer->builder.view());
  Value made = is_text ? buffer->builder.finish() : Value();
  buffer->builder.clear();
  if (!is_text) return POSSET_RAISED;
  return give_or_limit(buffer->context, std::move(made), out);
}

// ---- text of any value ----

posset_status posset_to_string(posset_context* context, posset_value value, posset_value* out) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (in(value).is_string()) return give(Value::copy(in(value)), out);
  StringBuilder builder(context->heap);
  if (!append(context, builder, in(value), false)) return POSSET_RAISED;
  return give_or_limit(context, builder.finish(), out);
}

posset_status posset_print(posset_context* context, posset_value value, bool literal,
                           posset_write write, void* data) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  StringBuilder builder(context->heap);
  if (!append(context, builder, in(value), literal)) return POSSET_RAISED;
  return posset::api::write_all(write, data, builder.view());
}

size_t posset_brief(posset_context* context, posset_value value, size_t most, char* out,
                    size_t capacity) {
  posset::api::Entry entry(context);
  if (entry.failed() || !out || capacity == 0) return 0;
  std::string made = posset::interp::brief(context->heap, in(value), most);
  size_t n = std::min(made.size(), capacity - 1);
  while (n < made.size() && n > 0 && (static_cast<unsigned char>(made[n]) & 0xc0) == 0x80)
    --n;  // no half scalar
  std::memcpy(out, made.data(), n);
  out[n] = 0;
  return n;
}

bool posset_parse_int(posset_text text, int64_t* out) {
  return out && posset::interp::parse_int(view(text), *out) == posset::interp::ParseResult::Ok;
}

bool posset_parse_float(posset_text text, double* out) {
  return out && posset::interp::parse_float(view(text), *out) == posset::interp::ParseResult::Ok;
}

}  // extern "C"
