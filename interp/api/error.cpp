// Errors: codes, raising and catching in native functions, and errors as objects of the host.
#include <cstdarg>
#include <cstdio>

#include "interp/api/handles.h"
#include "sched/base/asymmetric_fence.h"

using posset::api::Entry;
using posset::api::Evaluation;
using posset::api::text;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::ErrorCode;
using posset::interp::ErrorData;
using posset::interp::ErrorObject;
using posset::interp::TracePoint;
using posset::interp::Value;

// ---- codes ----

namespace {

struct CodeRow {
  const char* name;
  const char* kind;
  const char* text;
};
constexpr CodeRow kCodes[] = {
#define ERROR_CODE(Name, kind, text) {#Name, #kind, text},
#include <posset/error_codes.def>
#undef ERROR_CODE
};
constexpr CodeRow kNoCode = {"", "", ""};

const CodeRow& row_of(posset_code code) {
  auto index = static_cast<size_t>(code);
  return index < std::size(kCodes) ? kCodes[index] : kNoCode;
}

bool is_runtime(posset_code code) { return std::string_view(row_of(code).kind) == "runtime"; }

posset_status raise(posset_context* context, posset_code code, std::string message,
                    std::string hint) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (!is_runtime(code)) code = POSSET_ERROR_HostError;
  context->raise(posset::api::code_in(code), std::move(message), std::move(hint));
  return POSSET_RAISED;
}

}  // namespace

extern "C" {

const char* posset_code_name(posset_code code) { return row_of(code).name; }
const char* posset_code_kind(posset_code code) { return row_of(code).kind; }
const char* posset_code_text(posset_code code) { return row_of(code).text; }

// ---- raising ----

posset_status posset_raise(posset_context* context, posset_code code, posset_text message) {
  return posset::api::or_no_memory([&] { return raise(context, code, std::string(view(message)), {}); });
}

posset_status posset_raise_hint(posset_context* context, posset_code code, posset_text message,
                                posset_text hint) {
  return posset::api::or_no_memory(
      [&] { return raise(context, code, std::string(view(message)), std::string(view(hint))); });
}

posset_status posset_raisef(posset_context* context, posset_code code, const char* format, ...) {
  if (!format) return POSSET_MISUSE;
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const posset_status status = posset::api::or_no_memory([&] {
    const int size = std::vsnprintf(nullptr, 0, format, arguments);
    std::string message(static_cast<size_t>(std::max(size, 0)), '\0');
    std::vsnprintf(message.data(), message.size() + 1, format, again);
    return raise(context, code, std::move(message), {});
  });
  va_end(again);
  va_end(arguments);
  return status;
}

posset_status posset_throw(posset_context* context, posset_value value) {
  Evaluation evaluation(context);
  Value thrown = evaluation.take(value);
  if (evaluation.failed()) return evaluation.status();
  context->throw_value(std::move(thrown));
  return POSSET_RAISED;
}

posset_status posset_catch(posset_context* context, posset_value* out) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  if (!context->error_pending()) return POSSET_NOT_FOUND;
  if (context->limit_pending()) return POSSET_RAISED;
  return posset::api::give(context->take_error(), out);
}

bool posset_error_pending(posset_context* context) {
  Entry entry(context);
  return !entry.failed() && context->error_pending();
}

}  // extern "C"

// ---- errors as objects ----

namespace {

// Longer traces are cut in their middle: 100,000 nested calls would make megabytes of text nobody
// reads.
constexpr size_t kTraceHead = 150, kTraceTail = 50;

void copy_trace(const ErrorData& data, std::vector<std::string>& lines) {
  const std::vector<posset::interp::TracePoint> points = data.trace.points();
  const size_t n = points.size();
  for (size_t i = 0; i < n; ++i) {
    if (n > kTraceHead + kTraceTail && i == kTraceHead) {
      lines.push_back("... " + std::to_string(n - kTraceHead - kTraceTail) + " more");
      i = n - kTraceTail;
    }
    lines.push_back(trace_line(points[i]));
  }
}

void copy_place(const TracePoint& place, posset_error& error) {
  const posset::syntax::Source* source = source_of(place);
  posset::syntax::Span span = span_of(place);
  error.file = source->name();
  error.begin = source->position(span.begin);
  error.end = source->position(span.end);
}

std::unique_ptr<posset_error> make_error(posset_context* context, Value value) {
  auto error = std::make_unique<posset_error>();
  const auto* object = value->as<ErrorObject>();
  const ErrorData& data = *object->data;
  error->code = data.code;
  error->limit = data.limit;
  error->message = string_view_of(object->message);
  error->hint = data.hint;
  if (data.located) copy_place(data.place, *error);
  copy_trace(data, error->trace);
  for (bool color : {false, true}) error->report[color] = render_error(object, {.color = color});
  error->value = std::move(value);
  error->context = context;
  posset_context_retain(context);
  return error;
}

Borrowed thrown_value(const posset_error& error) {
  const auto* object = error.value->as<ErrorObject>();
  return object->value.is_unset() ? object->message : object->value;
}

void leave_to_owner(posset_context* context, posset::api::Orphan* orphan) {
  orphan->next = context->orphans.load(std::memory_order_relaxed);
  while (!context->orphans.compare_exchange_weak(orphan->next, orphan, std::memory_order_release)) {
  }
  posset::sched::heavy_fence();
  context->reservation.close();  // or calls that only compute would leave it there
}

}  // namespace

namespace posset::api {

void free_orphans(posset_context* context) {
  Orphan* orphan = context->orphans.exchange(nullptr, std::memory_order_acquire);
  while (orphan) delete std::exchange(orphan, orphan->next);
}

void free_or_leave(posset_context* context, Orphan* owned) {
  Entry entry(context);
  if (entry.failed()) {
    leave_to_owner(context, owned);
  } else {
    delete owned;
  }
}

}  // namespace posset::api

extern "C" {

posset_error* posset_take_error(posset_context* context) {
  Entry entry(context);
  if (entry.failed() || !context->error_pending()) return nullptr;
  Value taken = context->take_error();
  try {
    return make_error(context, std::move(taken)).release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

posset_status posset_restore_error(posset_context* context, posset_error* error) {
  if (!error || error->context != context) return POSSET_MISUSE;
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  context->restore_error(Value::copy(error->value));
  return POSSET_RAISED;
}

void posset_error_free(posset_error* error) {
  if (!error) return;
  posset_context* context = error->context;
  posset::api::free_or_leave(context, error);
  posset_context_release(context);
}

posset_status posset_error_get(const posset_error* error, posset_error_info* out) {
  if (!error) return POSSET_MISUSE;
  posset_error_info info = {};
  info.code = posset::api::code_out(error->code);
  info.code_name = posset_code_name(info.code);
  info.message = text(error->message);
  info.hint = text(error->hint);
  info.value = posset::api::out(thrown_value(*error));
  info.file = text(error->file);
  info.line = error->begin.line;
  info.column = error->begin.column;
  info.end_line = error->end.line;
  info.end_column = error->end.column;
  info.trace_count = error->trace.size();
  info.is_limit = error->limit;
  info.is_interrupt = error->code == ErrorCode::Interrupted;
  return posset::api::fill_struct(out, info);
}

posset_text posset_error_trace(const posset_error* error, size_t index) {
  if (!error || index >= error->trace.size()) return text({});
  return text(error->trace[index]);
}

posset_status posset_error_render(const posset_error* error, bool color, posset_write write,
                                  void* data) {
  if (!error) return POSSET_MISUSE;
  return posset::api::write_all(write, data, error->report[color]);
}

}  // extern "C"
