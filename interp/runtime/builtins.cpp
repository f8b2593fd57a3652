// The descriptors of the built-ins, and what their entries share.
#include "interp/runtime/builtins.h"

#include "interp/runtime/iterate.h"
#include "interp/syntax/resolver.h"
#include "interp/value/map.h"

namespace posset::interp {

namespace {

constexpr uint16_t kAny = NativeFunction::kAnyCount;
constexpr NativeFunction kBuiltins[] = {
#define BUILTIN(name, signature, doc, min, max, inout, calls, pure, intrinsic) \
  {#name, signature, doc,  builtin_##name,       min,     max,                 \
   inout, calls,     pure, Intrinsic::intrinsic, nullptr, ""},
#define INTERNAL(...)
#include "interp/runtime/builtins.def"
#undef INTERNAL
#undef BUILTIN
};
constexpr NativeFunction kInternal[] = {
#define BUILTIN(...)
#define INTERNAL(name, signature, min, max) {"(" #name ")", signature, "", builtin_##name, min, max},
#include "interp/runtime/builtins.def"
#undef INTERNAL
#undef BUILTIN
};

}  // namespace

void register_builtins(RuntimeState& runtime) {
  for (const NativeFunction& function : kBuiltins) runtime.builtins[function.name] = &function;
  for (const NativeFunction& function : kInternal) runtime.internal_builtins[function.name] = &function;
  register_task_module(runtime);
  register_fixpoint_module(runtime);
  register_graph_module(runtime);
}

void register_module(RuntimeState& runtime, std::span<const NativeFunction> rows) {
  for (const NativeFunction& function : rows) {
    runtime.modules[function.module].exports[function.name] = {.function = &function, .constant = Borrowed::nil(), .doc = function.doc};
  }
}

const NativeFunction* RuntimeState::find_builtin(std::string_view name) const {
  for (const auto* table : {&builtins, &internal_builtins}) {
    if (const auto found = table->find(name); found != table->end()) return found->second;
  }
  return nullptr;
}

const NativeFunction& builtin(size_t number) { return kBuiltins[number]; }

// ---- messages ----

namespace {

// The name of parameter i, read out of the signature: "xs" of "push(&xs, x)". What stands for the
// rest
// ("..args") names every further argument.
std::string_view parameter_name(std::string_view signature, uint32_t i) {
  size_t at = signature.find('(');
  if (at == std::string_view::npos) return "";
  ++at;
  for (;; --i) {
    size_t end = signature.find_first_of(",)", at);
    std::string_view part = signature.substr(at, end - at);
    if (i == 0 || end == std::string_view::npos || signature[end] == ')') {
      part = part.substr(std::min(part.size(), part.find_first_not_of(" &.")));
      return part.substr(0, part.find_first_of(" =:"));
    }
    at = end + 1;
  }
}

std::string argument_text(const NativeCall& call, uint32_t i) {
  return "argument " + std::string(parameter_name(call.function->signature, i)) + " of " +
         call.function->signature;
}

}  // namespace

Value raise_argument(const NativeCall& call, uint32_t i, const char* expected, std::string hint) {
  return call.context.raise(ErrorCode::TypeMismatch,
                            argument_text(call, i) + ": expected " + expected + ", got " +
                                kind_and_value(call.context, call[i]),
                            std::move(hint));
}

Value raise_argument(const NativeCall& call, ErrorCode code, uint32_t i,
                     const std::string& problem) {
  return call.context.raise(code, argument_text(call, i) + ": " + problem);
}

Value raise_empty(const NativeCall& call, const char* kind) {
  return call.context.raise(ErrorCode::EmptyCollection,
                            std::string(call.function->name) + " of an empty " + kind,
                            "test with len(...) == 0 first");
}

// ---- arguments ----

bool want_int(const NativeCall& call, uint32_t i, int64_t& out) {
  if (call[i].is_int()) [[likely]] {
    out = call[i].as_int();
    return true;
  }
  raise_argument(call, i, "int", call[i].is_float() ? "int(...) makes an int of a float" : "");
  return false;
}

bool want_number(const NativeCall& call, uint32_t i) {
  if (call[i].is_number()) [[likely]]
    return true;
  raise_argument(call, i, "int or float",
                 call[i].is_string() ? "int(...) or float(...) reads a number from text" : "");
  return false;
}

bool want_string(const NativeCall& call, uint32_t i) {
  if (call[i].is_string()) [[likely]]
    return true;
  raise_argument(call, i, "str", "str(...) makes text of any value");
  return false;
}

bool want_list(const NativeCall& call, uint32_t i) {
  if (call[i].is_list()) [[likely]]
    return true;
  raise_argument(call, i, "list", call[i].is_range() ? "list(range) makes a list of a range" : "");
  return false;
}

bool want_map(const NativeCall& call, uint32_t i) {
  if (call[i].is_map()) [[likely]]
    return true;
  raise_argument(call, i, "map", call[i].is_record() ? "a record has fixed fields: r.name" : "");
  return false;
}

bool want_function(const NativeCall& call, uint32_t i) {
  if (is_callable(call[i])) [[likely]]
    return true;
  call.context.raise(ErrorCode::NotAFunction,
                     argument_text(call, i) + ": " + brief(call[i]) + " is not a function",
                     "expected fn, got " + type_text(call.context, call[i]));
  return false;
}

bool check_pure(const NativeCall& call, uint32_t i, Borrowed f, const char* what) {
  std::string why;
  if (is_pure_function(f)) return true;
  if (f.is(Tag::Fn)) why = syntax::explain_purity(*f.as<Closure>()->function->decl);
  raise_argument(call, ErrorCode::BadArgument, i, std::string(what) + " must be pure" + (why.empty() ? "" : "; it is not:\n" + why));
  return false;
}

bool want_iterable(const NativeCall& call, uint32_t i) {
  if (call[i].is_list() || call[i].is_range() || call[i].is_map() || call[i].is_string() || call[i].is(Tag::Chan)) [[likely]]
    return true;
  raise_not_iterable(call.context, call[i]);
  return false;
}

bool want_count(const NativeCall& call, uint32_t i, uint64_t& out) {
  int64_t n = 0;
  if (!want_int(call, i, n)) return false;
  out = static_cast<uint64_t>(n);
  if (n >= 0) return true;
  raise_argument(call, ErrorCode::OutOfRange, i,
                 std::to_string(n) + " is out of range, it must not be negative");
  return false;
}

bool want_index(const NativeCall& call, uint32_t i, uint64_t size, uint64_t& out) {
  int64_t index = 0;
  if (!want_int(call, i, index)) return false;
  out = static_cast<uint64_t>(index);
  if (out < size) [[likely]]
    return true;
  raise_index(call.context, index, call[0].is_string() ? "str" : "list", size);
  return false;
}

bool own_list_argument(NativeCall& call) {
  if (!want_list(call, 0)) return false;
  if (is_unique(call[0].object())) [[likely]]
    return true;
  return or_memory_limit(call.context, make_unique_list(call.context.heap, call.arguments[0])) &&
         look_up(call.context, call[0].as<List>()->size);
}

bool own_map_argument(NativeCall& call) {
  if (!want_map(call, 0)) return false;
  if (is_unique(call[0].object())) [[likely]]
    return true;
  return or_memory_limit(call.context, make_unique_map(call.context.heap, call.arguments[0])) &&
         look_up(call.context, call[0].as<Map>()->used);
}

// ---- elements ----

Elements::Elements(Context& context, Borrowed iterable)
    : held_(iterable.is_range() || iterable.is_list() ? Value::copy(iterable)
                                                      : list_of(context, iterable)) {
  if (held_.failed()) return;
  if (held_->is_range()) {
    range_ = held_->as<Range>();
    size_ = range_->size();
  } else {
    list_ = held_->as<List>();
    size_ = list_->size;
  }
}

namespace {

Value list_of_ints(Context& context, const Range* range) {
  Value made = ListBuilder(context).finish();
  if (made.failed()) return made;
  Borrowed place = made.take();
  bool ok = append_range(context, place, range);
  made = Value::adopt(place);
  return ok ? std::move(made) : Value::failure();
}

}  // namespace

Value list_of(Context& context, Borrowed iterable) {
  if (iterable.is_list()) return Value::copy(iterable);
  if (iterable.is_range()) return list_of_ints(context, iterable.as<Range>());
  ListBuilder out(context, iterable.is_map() ? item_count(iterable) : 0);
  Meter meter(context);
  bool ok = for_each_item(context, iterable,
                          [&](Value item) { return meter.add(1) && out.push(std::move(item)); });
  return ok ? out.finish() : Value::failure();
}

}  // namespace posset::interp
