// Functions written in C: the adapter the interpreter calls, host functions, arguments and
// charging.
#include "interp/api/handles.h"
#include "interp/api/misuse.h"
#include "interp/api/running_call.h"
#include "interp/runtime/builtins.h"
#include "interp/runtime/call.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/work.h"

using posset::api::Entry;
using posset::api::Evaluation;
using posset::api::HostFunction;
using posset::api::in;
using posset::api::native_of;
using posset::api::out;
using posset::api::RunningCall;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::ErrorCode;
using posset::interp::NativeCall;
using posset::interp::NativeFunction;
using posset::interp::Value;

namespace {

Value fail(NativeCall& call, posset_status status, posset_value result) {
  posset_release(result);
  if (!call.context.error_pending() && status == POSSET_NO_MEMORY) {
    call.context.raise_memory_limit();
  } else if (!call.context.error_pending()) {
    call.context.raise(ErrorCode::HostError,
                       std::string(call.function->name) + " failed: " + posset_status_text(status));
  }
  if (call.function->is_host) call.context.leave_host_function(*call.function);
  return Value::failure();
}

}  // namespace

// ---- calling ----

namespace posset::api {

namespace {

Value run_here(NativeCall& call);

}  // namespace

Value run_row(NativeCall& call) {
  if (!call.function->is_host) return run_here(call);
  posset::interp::Context& context = call.context;
  if (context.is_brief()) context.settle_in();  // what the host does takes time and no steps
  if (context.native.has(posset::sched::StackChain::kHostFunctionBytes)) [[likely]] return run_here(call);
  return context.on_fresh_stack([&] { return run_here(call); });
}

namespace {

// For a function that lets what it calls wait.
class MayYield {
 public:
  explicit MayYield(posset::interp::Strand& strand)
      : strand_(strand), before_(std::exchange(strand.may_yield_within, strand.evaluations)) {}
  ~MayYield() { strand_.may_yield_within = before_; }
  MayYield(const MayYield&) = delete;
  MayYield& operator=(const MayYield&) = delete;

 private:
  posset::interp::Strand& strand_;
  const uint32_t before_;
};

posset_status call_function(const posset::api::RowData& row, RunningCall& running) {
  if (!running.native->function->may_yield) [[likely]] return row.function(&running);
  const MayYield mark(running.native->context);
  return row.function(&running);
}

Value run_here(NativeCall& call) {
  const auto* row = static_cast<const RowData*>(call.function->data);
  RunningCall running;
  running.context = static_cast<posset_context*>(&call.context);
  running.arguments = reinterpret_cast<posset_value*>(call.arguments);
  running.count = call.count;
  running.reserved = 0;
  running.data = row->data;
  running.result = posset_nil();
  running.native = &call;
  running.self_value = out(call.self);
  running.self = call.self.is_nil() ? nullptr : call.self.as<posset::interp::HostObject>()->pointer;
  posset_status status = call_function(*row, running);
  if (running.suspended) [[unlikely]] status = await_completion(running, status);
  if (status != POSSET_OK || call.context.error_pending()) [[unlikely]]
    return fail(call, status, running.result);
  if (is_foreign(running.context, in(running.result))) [[unlikely]] {
    call.context.raise(ErrorCode::HostError, std::string(call.function->name) + " gave a value of another context");
    return fail(call, POSSET_RAISED, running.result);
  }
  if (call.function->is_host && !call.context.after_host_call()) [[unlikely]] return fail(call, POSSET_RAISED, running.result);
  return Value::adopt(in(running.result));
}

// What is called without a posset_call has no use for anything else there could be in the row.
bool is_of_numbers(const posset_function_row& row) {
  const uint32_t count = row.of_float ? 1 : 2;
  if (row.of_float && row.of_floats) return false;
  return row.pure && row.inout == 0 && row.calls == 0 && row.min_arguments == count && row.max_arguments == count;
}

}  // namespace

bool read_row(const void* row, size_t size, posset_function_row& read) {
  constexpr size_t kLeast = offsetof(posset_function_row, data);
  if (!row || size < kLeast) return false;
  read = posset_function_row();
  std::memcpy(static_cast<void*>(&read), row, std::min(size, sizeof read));
  if ((read.of_float || read.of_floats) && !is_of_numbers(read)) return false;
  return read.name && read.signature && read.doc && read.function && is_identifier(read.name) &&
         read.min_arguments <= read.max_arguments && read.max_arguments <= POSSET_ANY_COUNT;
}

NativeFunction descriptor_of(const posset_function_row& row, const char* module, RowData* data) {
  static_assert(NativeFunction::kAnyCount == POSSET_ANY_COUNT);
  NativeFunction made;
  made.name = row.name;
  made.signature = row.signature;
  made.doc = row.doc;
  made.entry = run_row;
  made.min_arguments = static_cast<uint16_t>(row.min_arguments);
  made.max_arguments = static_cast<uint16_t>(row.max_arguments);
  made.inout_mask = row.inout;
  made.calls_mask = row.calls;
  made.pure = row.pure;
  made.may_yield = row.may_yield;
  made.data = data;
  made.of_float = row.of_float;
  made.of_floats = row.of_floats;
  if (row.of_float) made.intrinsic = interp::Intrinsic::OfFloat;
  if (row.of_floats) made.intrinsic = interp::Intrinsic::OfFloats;
  made.module = module;
  return made;
}

}  // namespace posset::api

namespace {

posset_status define(posset_context* context, posset_function_row read, std::unique_ptr<HostFunction> made) {
  made->row.function = read.function;
  made->name = read.name;
  made->signature = read.signature;
  made->doc = read.doc;
  if (context->runtime.builtins.contains(made->name) || context->host_globals.contains(made->name))
    return posset::api::misuse(context, posset::api::taken_by(context, made->name), POSSET_EXISTS);
  read.name = made->name.c_str();
  read.signature = made->signature.c_str();
  read.doc = made->doc.c_str();
  made->native = posset::api::descriptor_of(read, "", &made->row);
  made->native.is_host = true;
  made->native.intrinsic = posset::interp::Intrinsic::None;  // what is inlined is not seen by the host's pace and traces
  // Kept before it is known by its name.
  context->host_rows.push_back(std::move(made));
  HostFunction& kept = *context->host_rows.back();
  context->host_functions[kept.name] = &kept.native;
  return POSSET_OK;
}

// What read_row has refused.
std::string problem_of(const posset_function_row* row, size_t size) {
  if (!row || size < offsetof(posset_function_row, data)) return "there is no row, or less than one";
  if (!row->name || !row->signature || !row->doc) return "a row needs a name, a signature and a doc";
  if (!row->function) return std::string(row->name) + " has no function";
  if (!posset::api::is_identifier(row->name)) return posset::api::no_identifier(row->name);
  if (row->min_arguments > row->max_arguments || row->max_arguments > POSSET_ANY_COUNT)
    return std::string(row->name) + " takes a number of arguments that cannot be";
  return std::string(row->name) + " is not what of_float or of_floats may stand for";
}

}  // namespace

extern "C" posset_status posset_define(posset_context* context, const posset_function_row* row,
                                       size_t row_size, void (*drop)(void*)) {
  posset_function_row read;
  const bool good = posset::api::read_row(row, row_size, read);
  std::unique_ptr<HostFunction> made(new (std::nothrow) HostFunction());
  if (!made) {
    if (drop) drop(row ? row->data : nullptr);
    return POSSET_NO_MEMORY;
  }
  made->drop = drop;
  made->row.data = row ? row->data : nullptr;
  Entry entry(context);
  if (entry.failed()) return good ? entry.status() : POSSET_MISUSE;
  if (!good) return posset::api::misuse(context, problem_of(row, row_size));
  return posset::api::or_no_memory([&] { return define(context, read, std::move(made)); });
}

// ---- arguments ----

namespace {

posset_status as_status(bool ok) { return ok ? POSSET_OK : POSSET_RAISED; }

// An argument that was given, and somewhere to put it.
bool can_read(const posset_call* call, uint32_t i, const void* to) { return call && to && i < call->count; }

}  // namespace

extern "C" {

posset_status posset_want_bool(posset_call* call, uint32_t i, bool* to) {
  if (!can_read(call, i, to)) return POSSET_MISUSE;
  Borrowed v = in(posset_argument(call, i));
  if (!v.is_bool()) return posset_raise_kind(call, i, "bool");
  *to = v.as_bool();
  return POSSET_OK;
}

posset_status posset_want_int(posset_call* call, uint32_t i, int64_t* to) {
  if (!can_read(call, i, to)) return POSSET_MISUSE;
  return as_status(want_int(native_of(call), i, *to));
}

posset_status posset_want_number(posset_call* call, uint32_t i, double* to) {
  if (!can_read(call, i, to)) return POSSET_MISUSE;
  if (!want_number(native_of(call), i)) return POSSET_RAISED;
  *to = in(call->arguments[i]).number();
  return POSSET_OK;
}

posset_status posset_want_count(posset_call* call, uint32_t i, uint64_t* to) {
  if (!can_read(call, i, to)) return POSSET_MISUSE;
  return as_status(want_count(native_of(call), i, *to));
}

posset_status posset_want_string(posset_call* call, uint32_t i, posset_text* to) {
  if (!can_read(call, i, to)) return POSSET_MISUSE;
  if (!want_string(native_of(call), i)) return POSSET_RAISED;
  *to = posset_string_text(&call->arguments[i]);
  return POSSET_OK;
}

posset_status posset_want_list(posset_call* call, uint32_t i) {
  if (!can_read(call, i, call)) return POSSET_MISUSE;
  return as_status(want_list(native_of(call), i));
}
posset_status posset_want_map(posset_call* call, uint32_t i) {
  if (!can_read(call, i, call)) return POSSET_MISUSE;
  return as_status(want_map(native_of(call), i));
}
posset_status posset_want_function(posset_call* call, uint32_t i) {
  if (!can_read(call, i, call)) return POSSET_MISUSE;
  return as_status(want_function(native_of(call), i));
}
posset_status posset_want_iterable(posset_call* call, uint32_t i) {
  if (!can_read(call, i, call)) return POSSET_MISUSE;
  return as_status(want_iterable(native_of(call), i));
}

posset_status posset_want_record(posset_call* call, uint32_t i) {
  if (!can_read(call, i, call)) return POSSET_MISUSE;
  return in(posset_argument(call, i)).is_record() ? POSSET_OK
                                                  : posset_raise_kind(call, i, "record");
}

posset_status posset_raise_argument(posset_call* call, posset_code code, uint32_t i,
                                    posset_text problem) {
  if (!call || i >= call->count) return POSSET_MISUSE;
  if (call->context->error_pending()) return POSSET_RAISED;
  return posset::api::or_no_memory([&] {
    raise_argument(native_of(call), posset::api::code_in(code), i, std::string(view(problem)));
    return POSSET_RAISED;
  });
}

posset_status posset_return_string(posset_call* call, posset_text text) {
  if (!call) return POSSET_MISUSE;
  return posset_string(call->context, text, &call->result);
}

// ---- charging ----

posset_status posset_charge_steps(posset_context* context, uint64_t steps) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  constexpr uint64_t kMost = uint64_t{1} << 62;  // fuel is signed
  return as_status(context->charge(std::min(steps, kMost)));
}

posset_status posset_charge_elements(posset_context* context, uint64_t count) {
  return posset_charge_steps(context, count / posset::interp::kElementsPerStep);
}

posset_status posset_charge_bytes(posset_context* context, uint64_t count) {
  return posset_charge_steps(context, count / posset::interp::kBytesPerStep);
}

posset_status posset_charge_value(posset_context* context, posset_value value) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  return as_status(charge_weight(*context, in(value)));
}

posset_status posset_poll(posset_context* context) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  return as_status(context->poll());
}

posset_status posset_charge_memory(posset_context* context, size_t bytes) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  return posset::api::ok_or_limit(context, context->heap.charge_outside(bytes));
}

void posset_discharge_memory(posset_context* context, size_t bytes) {
  Entry entry(context);
  if (!entry.failed()) context->heap.discharge_outside(bytes);
}

}  // extern "C"
