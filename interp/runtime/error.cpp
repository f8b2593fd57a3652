// Errors on their way, and their reports. See error.h for the life of one.
#include "interp/runtime/error.h"

#include <algorithm>

#include "interp/runtime/context.h"
#include "interp/value/print.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

bool is_limit(ErrorCode code) {
  switch (code) {
#define ERROR_CODE(Name, kind, text) \
  case ErrorCode::Name: return std::string_view(#kind) == "limit";
#include <posset/error_codes.def>
#undef ERROR_CODE
  }
  return false;
}

}  // namespace

// ---- raising ----

namespace {

// An error must be reportable when memory has run out: it is made outside the limit.
class NoLimit {
 public:
  explicit NoLimit(Heap& heap) : heap_(heap), limit_(heap.limit_bytes()) { heap.set_limit_bytes(SIZE_MAX); }
  ~NoLimit() { heap_.set_limit_bytes(limit_); }
  NoLimit(const NoLimit&) = delete;
  NoLimit& operator=(const NoLimit&) = delete;

 private:
  Heap& heap_;
  size_t limit_;
};

}  // namespace

Value make_error_value(Heap& heap, Value message, Value value) {
  auto* error = heap.make<ErrorObject>(Tag::Error);
  if (!error) return Value::failure();
  error->message = message.take();
  error->value = value.take();
  error->data = nullptr;
  error->charged = 0;
  return Value::adopt(Borrowed::heap(Tag::Error, error));
}

namespace {

bool charge_memory(ErrorObject* error, size_t bytes) {
  if (!Heap::heap_of(error).charge(bytes)) return false;
  error->charged += bytes;
  return true;
}

}  // namespace

// Not even the system may have any memory: then std::bad_alloc.
Value Context::make_error(ErrorCode code, std::string message, std::string hint, bool limit) {
  NoLimit no_limit(heap);
  auto data = std::make_unique<ErrorData>();
  Value text = make_string_lossy(heap, message);
  Value made = text.failed() ? Value::failure() : make_error_value(heap, std::move(text), Value::adopt(Borrowed::unset()));
  if (made.failed()) throw std::bad_alloc();
  auto* error = made->as<ErrorObject>();
  error->data = data.release();
  error->data->code = code;
  error->data->limit = limit;
  error->data->hint = std::move(hint);
  charge_memory(error, sizeof(ErrorData));
  return made;
}

// The same error for one who has it alone, with data. Failed: there is no memory for it.
Value Context::own_error(Value thrown) {
  auto* error = thrown->as<ErrorObject>();
  if (error->data && is_unique(error)) return thrown;
  std::unique_ptr<ErrorData> data;
  try {
    data = error->data ? std::make_unique<ErrorData>(*error->data) : std::make_unique<ErrorData>();
  } catch (const std::bad_alloc&) {
    return Value::failure();
  }
  Value made = std::move(thrown);
  if (!is_unique(error)) made = make_error_value(heap, Value::copy(error->message), Value::copy(error->value));
  if (made.failed() || !charge_memory(made->as<ErrorObject>(), sizeof(ErrorData) + data->trace.size() * sizeof(TracePoint))) {
    return Value::failure();
  }
  made->as<ErrorObject>()->data = data.release();
  return made;
}

Value Context::raise(ErrorCode code, std::string message, std::string hint) noexcept {
  constexpr size_t kLong = 64 << 10;  // no copy is made of it while there is a wish to stop, which comes first then
  if (message.size() > kLong && must_stop()) {
    raise_stop();
    return Value::failure();
  }
  Value error;
  try {
    error = make_error(code, std::move(message), std::move(hint), is_limit(code));
  } catch (const std::bad_alloc&) {
    error = Value::adopt(Borrowed::heap(Tag::Error, runtime.no_memory()));
  }
  restore_error(std::move(error));
  return Value::failure();
}

Value Context::raise_no_memory() noexcept {
  if (pending_ && pending_->data->limit) return Value::failure();
  if (pending_) take_error();
  return raise_memory_limit();
}

Value Context::raise_memory_limit() noexcept {
  std::string message;
  try {
    if (must_stop()) {  // as the heap may have known
      raise_stop();
      return Value::failure();
    }
    message = limits_.memory_bytes > heap.limit_bytes()
                  ? std::string("memory limit: more than the system or one context can have")
                  : "memory limit of " + std::to_string(heap.limit_bytes()) + " bytes exceeded";
  } catch (const std::bad_alloc&) {
    restore_error(Value::adopt(Borrowed::heap(Tag::Error, runtime.no_memory())));
    return Value::failure();
  }
  return raise(ErrorCode::MemoryLimit, std::move(message));
}

Value Context::raise_stack_overflow() {
  const bool too_deep = depth >= depth_limit || limits_.stack_bytes == SIZE_MAX;
  const std::string limit = too_deep ? std::to_string(depth_limit) + " nested calls"
                                     : std::to_string(limits_.stack_bytes) + " bytes of stack";
  return raise(ErrorCode::StackOverflow, "stack overflow: more than " + limit,
               "is there a recursion that never ends?");
}

Value Context::raise_of_callee(ErrorCode code, std::string message, std::string hint) {
  raise(code, std::move(message), std::move(hint));
  if (pending_->data->code == code) pending_->data->of_callee = true;  // else memory has run out, for all alike
  return Value::failure();
}

Value Context::throw_value(Value thrown) {
  if (thrown->is(Tag::Error)) {
    Value error = own_error(std::move(thrown));
    if (error.failed()) return raise_memory_limit();
    ErrorData& data = *error->as<ErrorObject>()->data;
    data.rethrown = data.located;
    restore_error(std::move(error));
    return Value::failure();
  }
  Value text = to_string(heap, thrown);
  if (text.failed()) return raise_memory_limit();
  Value error = make_error(ErrorCode::Thrown, "", "", false);
  error->as<ErrorObject>()->message = text.take();
  error->as<ErrorObject>()->value = thrown.take();
  restore_error(std::move(error));
  return Value::failure();
}

Value Context::throw_from_elsewhere(Value error) {
  throw_value(std::move(error));
  pending_->data->rethrown = false;
  return Value::failure();
}

void Context::restore_error(Value error) {
  pending_ = static_cast<ErrorObject*>(error.take().object());
  noted_ = false;
  blame_caller_ = false;
}

// ---- places ----

void Context::note_failure(const Function& function, uint32_t site) {
  if (noted_) return;
  noted_ = true;
  point_ = {function.decl, site};
  if (has_trace()) place_error(point_);
}

// The point may stand in the trace, and is where the error is if it has no place yet.
void Context::place_error(const TracePoint& point) {
  ErrorData& data = *pending_->data;
  try {
    data.keep(point.function->module->shared_from_this());
  } catch (const std::bad_alloc&) {  // a point may not outlive it
    lose_trace();
    return;
  }
  if (data.located) return;
  data.located = true;
  data.place = point;
  // Else a function of the host called it, and this is the place of the call of that.
  if (data.of_callee && !data.trace.last()) name_callee(point);
}

// Without memory for the name the message stays.
void Context::name_callee(const TracePoint& point) {
  const auto& called = point.function->called_values;
  const auto found = std::lower_bound(called.begin(), called.end(), point.site, [](auto& each, uint32_t site) { return each.first < site; });
  if (found == called.end() || found->first != point.site) return;
  const auto* field = syntax::as<syntax::FieldNode>(found->second);
  const syntax::Text name = field ? field->name : static_cast<const syntax::NameNode*>(found->second)->name;
  try {
    NoLimit no_limit(heap);
    Value text = make_string_lossy(heap, "'" + std::string(name) + "': " + std::string(string_view_of(pending_->message)));
    if (!text.failed()) release(std::exchange(pending_->message, text.take()));
  } catch (const std::bad_alloc&) {
  }
}

// An error with a trace that lacks something would be another one to the script that catches it.
void Context::lose_trace() noexcept {
  if (!pending_->data->limit) take_error();
  if (!pending_) restore_error(Value::adopt(Borrowed::heap(Tag::Error, runtime.no_memory())));
}

void Context::leave_failed() {
  noted_ = false;
  if (blame_caller_) {
    blame_caller_ = false;
    return;
  }
  if (!has_trace()) return;
  ErrorData& data = *pending_->data;
  const TracePoint* last = data.trace.last();
  const bool same_frame = data.rethrown && last && last->function == point_.function;
  data.rethrown = false;
  if (!same_frame) extend_trace(point_);
}

void Context::leave_host_function(const NativeFunction& function) {
  if (has_trace()) extend_trace({.host = function.name});
}

// A limit cannot be kept by the script, and says where it was reached whatever memory is left. Where there is none for the
// trace of another error, that is the error, of this frame.
void Context::extend_trace(const TracePoint& point) {
  if (!pending_->data->limit && !charge_memory(pending_, sizeof(TracePoint))) {
    take_error();
    raise_memory_limit();
    if (!has_trace()) return;
    if (point.function) place_error(point);
  }
  if (has_trace() && !pending_->data->trace.add(point)) lose_trace();
}

Value Context::catch_error() {
  if (pending_->data->limit) return Value::failure();
  leave_failed();
  if (pending_->data->limit) return Value::failure();
  ErrorObject* error = pending_;
  pending_ = nullptr;
  return Value::adopt(Borrowed::heap(Tag::Error, error));
}

Value Context::take_error() {
  ErrorObject* error = pending_;
  pending_ = nullptr;
  noted_ = blame_caller_ = false;
  return Value::adopt(Borrowed::heap(Tag::Error, error));
}

Context::Unwinding Context::set_error_aside() {
  Unwinding unwinding{Value(), point_, noted_, blame_caller_};
  if (error_pending()) unwinding.error = take_error();
  return unwinding;
}

void Context::go_on_with(Unwinding unwinding) {
  if (unwinding.error->is_nil()) return;
  restore_error(std::move(unwinding.error));
  point_ = unwinding.point;
  noted_ = unwinding.noted;
  blame_caller_ = unwinding.blames_caller;
}

// ---- reports ----

const syntax::Source* source_of(const TracePoint& point) { return point.function->module->source.get(); }

syntax::Span span_of(const TracePoint& point) {
  const auto& spans = point.function->spans;
  return point.site < spans.size() ? spans[point.site] : syntax::Span{};
}

namespace {

std::string place_text(const TracePoint& point) { return source_of(point)->place(span_of(point).begin); }

}  // namespace

std::string trace_line(const TracePoint& point) {
  if (point.host) return std::string("in ") + point.host + " (host)";
  if (point.part) return std::string("in ") + point.part;
  const syntax::FunctionDecl& function = *point.function;
  if (function.is_top_level) return "in " + place_text(point);
  std::string name = function.name.empty() ? "<fn>" : std::string(function.name);
  return "in " + name + " (" + place_text(point) + ")";
}

std::string render_error(const ErrorObject* error, const syntax::RenderOptions& options) {
  constexpr size_t kHead = 20, kTail = 10;
  const ErrorData& data = *error->data;
  std::string out;
  std::string message(string_view_of(error->message));
  if (!data.located) return "error: " + message + "\n";
  syntax::Diagnostic diagnostic;
  diagnostic.code = data.code;
  diagnostic.source = data.place.function->module->source;
  diagnostic.span = span_of(data.place);
  diagnostic.message = message;
  diagnostic.hint = data.hint;
  out = syntax::render(diagnostic, options);
  const std::vector<TracePoint> points = data.trace.points();
  const size_t n = points.size();
  for (size_t i = 0; i < n; ++i) {
    if (n > kHead + kTail && i == kHead) {
      out += "  ... " + std::to_string(n - kHead - kTail) + " more\n";
      i = n - kTail;
    }
    out += "  " + trace_line(points[i]) + "\n";
  }
  return out;
}

}  // namespace posset::interp
