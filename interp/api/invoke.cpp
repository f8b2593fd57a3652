// Calling function values, and what is known about them.
#include "interp/api/handles.h"
#include "interp/api/misuse.h"
#include "interp/runtime/call.h"
#include "interp/runtime/host_object.h"
#include "interp/runtime/messages.h"

using posset::api::BriefEvaluation;
using posset::api::Evaluation;
using posset::api::in;
using posset::api::out;
using posset::interp::Borrowed;
using posset::interp::Constructor;
using posset::interp::ConstructorInfo;
using posset::interp::Function;
using posset::interp::NativeFunction;
using posset::interp::Tag;
using posset::interp::Value;

namespace {

// Arguments of a call that may be brief.
constexpr size_t kMostBriefly = 64;

// `callee` is kept: it may drop what holds it (a global that is set anew).
posset_status call(posset_context* context, const Value& callee, posset_value* arguments, uint32_t count, posset_value* to) {
  Borrowed* base = context->stack_top;
  for (uint32_t i = 0; i < count; ++i) base[i] = in(std::exchange(arguments[i], posset_nil()));
  context->stack_top = base + count;
  Value result = call_value(*context, callee, base, count, posset::interp::kAnyMarks);
  uint64_t lent = inout_mask_of(callee);
  for (uint32_t i = 0; i < count && i < 64; ++i) {
    if (lent >> i & 1) arguments[i] = out(base[i]);
  }
  context->stack_top = base;
  return posset::api::give(posset::api::end_tasks(context, std::move(result)), to);
}

// Calls what `find` gives, which is a failure when it has raised. `of` is what is called or asked for it.
template <class Find>
posset_status invoke(posset_context* context, posset_value of, Find&& find, posset_value* arguments, size_t count, posset_value* to) {
  if (to) *to = posset_nil();
  if (count != 0 && !arguments) return POSSET_MISUSE;
  Evaluation evaluation(context, Evaluation::Kind::Run);
  posset_status status = evaluation.status();
  if (status == POSSET_OK && context->finished) status = posset::api::misuse(context, "the context has been finished");
  if (status == POSSET_OK && (posset::api::is_foreign(context, in(of)) || posset::api::has_foreign(context, arguments, count))) {
    return posset::api::misuse(context, posset::api::kForeign);
  }
  if (status == POSSET_OK && (count > UINT32_MAX || !context->has_stack_for(count))) {
    context->raise_stack_overflow();
    status = POSSET_RAISED;
  }
  Value callee = Value::failure();
  if (status == POSSET_OK) {
    status = posset::api::guarded(context, [&] {
      callee = find();
      return posset::api::raised(callee);
    });
  }
  if (status != POSSET_OK) {
    if (status != POSSET_BUSY && context) posset_release_all(arguments, count);
    return status;
  }
  return posset::api::guarded(context, [&] {
    const posset_status ended = call(context, callee, arguments, static_cast<uint32_t>(count), to);
    posset::api::reserve_if_called_often(context);
    return ended;
  });
}

// Failed: raised.
Value method_named(posset_context* context, Borrowed object, std::string_view name) {
  if (object.is(Tag::Host)) return load_member(*context, object, name);
  return context->raise(posset::interp::ErrorCode::NotAFunction,
                        "there is no method '" + std::string(name) + "' of a " + type_text(*context, object));
}

uint32_t count_of(uint16_t count) {
  return count == NativeFunction::kAnyCount ? UINT32_MAX : count;
}

posset_function_info native_info(const NativeFunction& function) {
  posset_function_info info = {};
  info.name = posset_text_of(function.name);
  info.module = posset_text_of(function.module);
  info.doc = posset_text_of(function.doc);
  info.min_arguments = function.min_arguments;
  info.max_arguments = count_of(function.max_arguments);
  info.inout_mask = function.inout_mask;
  info.pure = function.pure;
  info.native = true;
  return info;
}

posset_function_info closure_info(const Function& function) {
  posset_function_info info = {};
  info.name = posset::api::text(function.decl->name);
  info.min_arguments = function.required;
  info.max_arguments = function.has_rest ? UINT32_MAX : function.parameter_count;
  info.inout_mask = function.inout_mask;
  info.pure = function.pure;
  return info;
}

posset_function_info constructor_info(const Constructor& constructor) {
  const auto* declared = static_cast<const ConstructorInfo*>(constructor.declaration);
  posset_function_info info = {};
  info.name = posset::api::text(declared->decl->name);
  info.min_arguments = info.max_arguments = static_cast<uint32_t>(declared->decl->fields.size());
  info.pure = info.native = true;
  return info;
}

}  // namespace

extern "C" {

posset_status posset_invoke(posset_context* context, posset_value function, posset_value* arguments,
                            size_t count, posset_value* to) {
  if (to) *to = posset_nil();
  if (count != 0 && !arguments) return POSSET_MISUSE;
  if (context) {
    BriefEvaluation evaluation(context);
    if (evaluation.begun() && count <= kMostBriefly && !posset::api::is_foreign(context, in(function)) &&
        !posset::api::has_foreign(context, arguments, count) && context->has_stack_for(count)) [[likely]] {
      return posset::api::guarded(context, [&] {
        return call(context, Value::copy(in(function)), arguments, static_cast<uint32_t>(count), to);
      });
    }
  }
  return invoke(context, function, [&] { return Value::copy(in(function)); }, arguments, count, to);
}

posset_status posset_invoke_method(posset_context* context, posset_value object, posset_text name,
                                   posset_value* arguments, size_t count, posset_value* to) {
  return invoke(context, object, [&] { return method_named(context, in(object), posset::api::view(name)); }, arguments, count, to);
}

posset_status posset_describe_function(posset_context* context, posset_value function,
                                       posset_function_info* info) {
  posset::api::Entry entry(context);
  if (entry.failed()) return entry.status();
  Borrowed f = in(function);
  switch (f.tag()) {
    case Tag::Fn:
      return posset::api::fill_struct(info,
                                      closure_info(*f.as<posset::interp::Closure>()->function));
    case Tag::Builtin:
      return posset::api::fill_struct(info, native_info(*f.as_builtin()));
    case Tag::Host:
      if (!is_bound_method(f)) return POSSET_NOT_FOUND;
      return posset::api::fill_struct(info, native_info(*method_of(f)));
    case Tag::Constructor:
      return posset::api::fill_struct(info, constructor_info(*f.as<Constructor>()));
    default:
      return POSSET_NOT_FOUND;
  }
}

posset_status posset_function_signature(posset_context* context, posset_value function,
                                        posset_value* to) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (!posset_is_callable(function)) return POSSET_NOT_FOUND;
  std::string signature = posset::interp::signature_of(in(function));
  return posset::api::give_or_limit(context, make_string_lossy(context->heap, signature), to);
}

}  // extern "C"
