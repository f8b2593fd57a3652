// Calls from C++ and the general path of every tier. See call.h.
#include "interp/runtime/call.h"

#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/value/list.h"
#include "interp/value/print.h"

namespace posset::interp {

namespace {

// Releases arguments a call did not get to consume. Lent ones (bit in `lent`) stay: whoever lent them
// writes them back however the call ends.
void drop_arguments(Borrowed* base, uint32_t count, uint64_t lent = 0) {
  for (uint32_t i = 0; i < count; ++i) {
    if (i < 64 && (lent >> i & 1)) continue;
    release(base[i]);
  }
}

std::string parameter_list(const std::vector<syntax::Parameter>& parameters) {
  std::string out = "(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    const syntax::Parameter& p = parameters[i];
    if (i) out += ", ";
    if (p.inout) out += "inout ";
    if (p.rest) out += "..";
    out += p.name.empty() ? std::string("_") : std::string(p.name);
    if (p.fallback) out += " = ...";
  }
  return out + ")";
}

std::string count_text(uint32_t n, const char* more = "") {
  return std::to_string(n) + more + (n == 1 && !*more ? " argument" : " arguments");
}

// Gathers the surplus into the rest list, marks absent parameters. The count is known to fit.
[[gnu::noinline]] bool arrange_arguments(Context& context, const Function& f, Borrowed* base, uint32_t count) {
  uint32_t fixed = f.parameter_count - (f.has_rest ? 1 : 0);
  for (uint32_t i = count; i < f.parameter_count; ++i) base[i] = Borrowed::unset();
  if (!f.has_rest) return true;
  uint32_t surplus = count > fixed ? count - fixed : 0;
  List* rest = new_list(context.heap, Packing::Any, surplus);
  Value list = rest ? Value::adopt(Borrowed::heap(Tag::List, rest)) : Value::failure();
  bool ok = rest != nullptr;
  for (uint32_t i = 0; i < surplus; ++i) {
    Value item = Value::adopt(base[fixed + i]);
    base[fixed + i] = Borrowed::nil();
    if (!ok) continue;
    Borrowed place = list.take();
    ok = list_push(context.heap, place, std::move(item));
    list = Value::adopt(place);
  }
  if (!ok) {
    drop_arguments(base, fixed, f.inout_mask);
    context.raise_memory_limit();
    return false;
  }
  base[fixed] = list.take();
  return true;
}

bool count_fits(const Function& f, uint32_t count) {
  return count >= f.required && (f.has_rest || count <= f.parameter_count);
}

Value run(Context& context, Closure* closure, Borrowed* base) {
  const Function& f = *closure->function;
  const bool here = context.small_sides_later == f.decl;
  const ReadyCode ready = here ? ReadyCode{0, nullptr} : ready_code(context, f, f.unit->body, -1);
  if (ready.level == 0 && !f.unit->body.settled.load(std::memory_order_relaxed)) {
    f.unit->signatures.note(Signature::of(base, f.parameter_count));
  }
  Value result = context.runtime.tier(ready.level)->enter(context, ready.code, closure, base);
  if (result.failed()) context.leave_failed();
  return result;
}

// What follows is apart from the frame of every call, of which deep recursions have one for each level.
[[gnu::noinline]] Value run_elsewhere(Context& context, Closure* closure, Borrowed* base) {
  return context.on_fresh_stack([&] { return run(context, closure, base); });
}

[[gnu::noinline]] Value call_constructor(Context& context, Borrowed callee, Borrowed* base, uint32_t count) {
  auto* constructor = callee.as<Constructor>();
  const auto* info = static_cast<const ConstructorInfo*>(constructor->declaration);
  const auto& fields = info->decl->fields;
  if (count != fields.size()) {
    Value failed = raise_argument_count(context, callee, count);
    drop_arguments(base, count);
    return failed;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!fields[i].type || fits_type(*info->module->top, *fields[i].type, base[i])) continue;
    Value failed = raise_field_type(context, info->decl->name, fields[i].name, *fields[i].type, base[i]);
    drop_arguments(base, count);
    return failed;
  }
  return make_variant(context, context.runtime.shapes.shape(constructor->shape), base, count);
}

// With an argument for each parameter, so many levels deeper.
template <uint32_t kLevels = 1>
Value call_arranged(Context& context, Closure* closure, Borrowed* base) {
  const Function& f = *closure->function;
  Borrowed* saved_top = base;
  context.stack_top = base + f.slot_count;
  bool ok = context.charge_one();
  if (ok && (context.depth + kLevels > context.depth_limit || !context.has_stack(64))) {
    context.raise_stack_overflow();
    ok = false;
  }
  if (!ok) {
    drop_arguments(base, f.parameter_count, f.inout_mask);
    context.stack_top = saved_top;
    return Value::failure();
  }
  context.depth += kLevels;
  Value result = context.native.low() ? run_elsewhere(context, closure, base) : run(context, closure, base);
  context.depth -= kLevels;
  context.stack_top = saved_top;
  return result;
}

bool takes_exactly(const Function& f, uint32_t count) { return count == f.parameter_count && !f.has_rest; }

}  // namespace

Value call_closure(Context& context, Closure* closure, Borrowed* base, uint32_t count) {
  const Function& f = *closure->function;
  if (!takes_exactly(f, count)) [[unlikely]] {
    if (!count_fits(f, count)) {
      Value failed = raise_argument_count(context, Borrowed::heap(Tag::Fn, closure), count);
      drop_arguments(base, count, f.inout_mask);
      return failed;
    }
    if (!arrange_arguments(context, f, base, count)) return Value::failure();
  }
  return call_arranged(context, closure, base);
}

Value call_unnested(Context& context, Closure* closure, Borrowed* base) {
  return call_arranged<0>(context, closure, base);
}

Value call_with_list(Context& context, Borrowed callee, Value arguments) {
  const auto* items = arguments->as<List>();
  const auto count = static_cast<uint32_t>(items->size);
  Borrowed* const base = context.stack_top;
  if (!context.has_stack(items->size + 64)) return context.raise_stack_overflow();
  for (uint32_t i = 0; i < count; ++i) base[i] = list_copy(items, i).take();
  arguments = Value();
  context.stack_top = base + count;
  Value result = call_value(context, callee, base, count, 0);
  context.stack_top = base;
  return result;
}

Value call_native(Context& context, const NativeFunction* function, Borrowed* base, uint32_t count, Borrowed self) {
  bool fits = count >= function->min_arguments &&
              (function->max_arguments == NativeFunction::kAnyCount || count <= function->max_arguments);
  if (!fits) {
    Value failed = raise_argument_count(context, Borrowed::builtin(function), count);
    drop_arguments(base, count, function->inout_mask);
    return failed;
  }
  Borrowed* saved_top = base;
  context.stack_top = base + count;
  NativeCall call{context, base, count, function, self};
  Value result;
  try {
    result = context.native.low() ? context.on_fresh_stack([&] { return function->entry(call); }) : function->entry(call);
  } catch (const std::bad_alloc&) {
    result = context.raise_no_memory();
  }
  context.stack_top = saved_top;
  context.call_place.function = nullptr;
  drop_arguments(base, count, function->inout_mask);
  return result;
}

namespace {

[[gnu::noinline, gnu::cold]] Value raise_marks(Context& context, Borrowed callee) {
  return context.raise(ErrorCode::InoutMismatch,
                       "the & marks of this call do not fit the inout parameters of " + signature_of(callee));
}

}  // namespace

Value call_value(Context& context, Borrowed callee, Borrowed* base, uint32_t count, uint64_t inout_marks) {
  uint64_t mask = inout_mask_of(callee);
  if (inout_marks != kAnyMarks && inout_marks != mask && is_callable(callee)) {
    drop_arguments(base, count, inout_marks);
    return raise_marks(context, callee);
  }
  switch (callee.tag()) {
    case Tag::Fn: return call_closure(context, callee.as<Closure>(), base, count);
    case Tag::Builtin: return call_native(context, callee.as_builtin(), base, count);
    case Tag::Constructor: return call_constructor(context, callee, base, count);
    case Tag::Host:
      if (is_bound_method(callee)) return call_method(context, callee, base, count);
      break;
    default: break;
  }
  drop_arguments(base, count, inout_marks == kAnyMarks ? 0 : inout_marks);
  return raise_not_a_function(context, callee);
}

uint64_t inout_mask_of(Borrowed callee) {
  if (callee.is(Tag::Fn)) return callee.as<Closure>()->function->inout_mask;
  if (callee.is(Tag::Builtin)) return callee.as_builtin()->inout_mask;
  if (is_bound_method(callee)) return method_of(callee)->inout_mask;
  return 0;
}

namespace {

constexpr int kMostWithin = 16;  // functions that have captured functions

bool is_pure_closure(const Closure& closure, int within);

bool is_pure_within(Borrowed callee, int within) {
  if (callee.is(Tag::Fn)) return is_pure_closure(*callee.as<Closure>(), within);
  if (callee.is(Tag::Constructor)) return true;
  if (is_bound_method(callee)) return method_of(callee)->pure && method_of(callee)->calls_mask == 0;
  if (!callee.is(Tag::Builtin)) return false;
  // One that calls what it is given is pure with some arguments; `ref` makes what others may change.
  const NativeFunction& row = *callee.as_builtin();
  return row.pure && row.calls_mask == 0 && std::string_view(row.name) != "ref";
}

bool is_pure_closure(const Closure& closure, int within) {
  const std::vector<syntax::Given>& given = closure.function->decl->given;
  if (closure.function->pure) return true;
  return !given.empty() && within < kMostWithin && std::all_of(given.begin(), given.end(), [&](const syntax::Given& each) {
    return each.from == syntax::Given::From::Captured && is_pure_within(closure.captured()[each.index], within + 1);
  });
}

}  // namespace

bool is_pure_function(Borrowed callee) { return is_pure_within(callee, 0); }

std::string signature_of(Borrowed callee) {
  switch (callee.tag()) {
    case Tag::Fn: {
      const syntax::FunctionDecl& decl = *callee.as<Closure>()->function->decl;
      std::string name = decl.name.empty() ? "<fn>" : std::string(decl.name);
      return name + parameter_list(decl.parameters);
    }
    case Tag::Builtin: return callee.as_builtin()->signature;
    case Tag::Constructor: {
      const auto* info = static_cast<const ConstructorInfo*>(callee.as<Constructor>()->declaration);
      return std::string(info->decl->name) + parameter_list(info->decl->fields);
    }
    case Tag::Host: return is_bound_method(callee) ? method_of(callee)->signature : brief(callee);
    default: return brief(callee);
  }
}

Value raise_argument_count(Context& context, Borrowed callee, uint32_t got) {
  uint32_t least = 0, most = 0;
  bool any = false;
  if (callee.is(Tag::Fn)) {
    const Function& f = *callee.as<Closure>()->function;
    least = f.required;
    most = f.parameter_count;
    any = f.has_rest;
  } else if (callee.is(Tag::Builtin)) {
    least = callee.as_builtin()->min_arguments;
    most = callee.as_builtin()->max_arguments;
    any = most == NativeFunction::kAnyCount;
  } else if (callee.is(Tag::Constructor)) {
    const auto* info = static_cast<const ConstructorInfo*>(callee.as<Constructor>()->declaration);
    least = most = static_cast<uint32_t>(info->decl->fields.size());
  }
  std::string takes = any             ? "at least " + count_text(least)
                      : least == most ? count_text(least)
                                      : std::to_string(least) + " to " + count_text(most);
  return context.raise(ErrorCode::ArgumentCount,
                       signature_of(callee) + " takes " + takes + ", got " + std::to_string(got));
}

Value Callback::operator()(Value a) {
  Borrowed* base = context_.stack_top;
  base[0] = a.take();
  return call(base, 1);
}

Value Callback::operator()(Value a, Value b) {
  Borrowed* base = context_.stack_top;
  base[0] = a.take();
  base[1] = b.take();
  return call(base, 2);
}

// Short for what is called again and again: a function of the script that takes just that.
Value Callback::call(Borrowed* base, uint32_t count) {
  if (callee_.is(Tag::Fn)) {
    auto* closure = callee_.as<Closure>();
    if (takes_exactly(*closure->function, count) && closure->function->inout_mask == 0) [[likely]] {
      return call_arranged(context_, closure, base);
    }
  }
  context_.stack_top = base + count;
  Value result = call_value(context_, callee_, base, count, 0);
  context_.stack_top = base;
  return result;
}

int Callback::test(Value a, const char* who) {
  Value answer = (*this)(std::move(a));
  if (answer.failed()) return -1;
  return expect_bool(context_, answer, who);
}

Closure* new_closure(Context& context, const Function* function, uint32_t count) {
  auto* closure = context.heap.make<Closure>(Tag::Fn, sizeof(Closure) + count * sizeof(Borrowed));
  if (!closure) {
    context.raise_memory_limit();
    return nullptr;
  }
  closure->function = function;
  closure->owner_count = context.live_closures ? context.live_closures : &function->module->live_closures;
  ++*closure->owner_count;
  closure->size = count;
  return closure;
}

Value make_closure(Context& context, const Function* function, Borrowed* captured, uint32_t count) {
  Closure* closure = new_closure(context, function, count);
  if (!closure) {
    drop_arguments(captured, count);
    return Value::failure();
  }
  for (uint32_t i = 0; i < count; ++i) closure->captured()[i] = captured[i];
  return Value::adopt(Borrowed::heap(Tag::Fn, closure));
}

}  // namespace posset::interp
