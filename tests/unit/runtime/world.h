// A context with the built-ins and nothing else, for tests of operators and built-ins in C++:
// values are made by short functions, results are compared as the text `print` would show inside a
// list.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "interp/runtime/builtins.h"
#include "interp/runtime/call.h"
#include "interp/runtime/context.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/work.h"
#include "interp/value/map.h"
#include "interp/value/print.h"
#include "interp/value/record.h"

namespace posset::interp {

class World {
 public:
  explicit World(const Limits& limits = {}) : context(runtime, limits) {
    register_builtins(runtime);
    context.begin_evaluation();
    context.output = [this](std::string_view text) {
      written += text;
      return !output_broken;
    };
  }

  // ---- values ----
  static Value i(int64_t x) { return Value::integer(x); }
  static Value d(double x) { return Value::floating(x); }
  static Value b(bool x) { return Value::boolean(x); }
  Value s(std::string_view text) { return make_string(context.heap, text); }
  template <class... Items>
  Value list(Items... items) {
    ListBuilder out(context);
    (out.push(std::move(items)), ...);
    return out.finish();
  }
  Value range(int64_t first, int64_t last, bool inclusive = false) {
    return make_range(context, Borrowed::integer(first), Borrowed::integer(last), inclusive);
  }
  // Pairs of key and value.
  template <class... Items>
  Value map(Items... items) {
    std::vector<Value> flat;
    (flat.push_back(std::move(items)), ...);
    Map* made = new_map(context.heap);
    for (size_t at = 0; at < flat.size(); at += 2) {
      map_set(context.heap, made, std::move(flat[at]), std::move(flat[at + 1]));
    }
    return Value::adopt(Borrowed::heap(Tag::Map, made));
  }
  Value record(std::initializer_list<std::pair<const char*, int64_t>> fields) {
    RecordBuilder out(context.heap);
    for (auto& [name, x] : fields) out.set(symbol(name), Value::integer(x));
    return out.finish();
  }
  const Symbol* symbol(const char* name) { return runtime.shapes.symbol(name); }

  // ---- calls ----
  // A built-in by name. inout arguments are left in `lent`.
  template <class... Arguments>
  Value call(const char* name, Arguments... arguments) {
    const NativeFunction* function = runtime.builtins.at(name);
    Borrowed* base = context.stack_top;
    uint32_t count = 0;
    ((base[count++] = arguments.take()), ...);
    context.stack_top = base + count;
    Value result = call_native(context, function, base, count);
    lent = function->inout_mask ? Value::adopt(base[0]) : Value();
    context.stack_top = base;
    return result;
  }
  Value builtin(const char* name) {
    return Value::adopt(Borrowed::builtin(runtime.builtins.at(name)));
  }

  // ---- what came out ----
  // A value as text; of a failure "error: MESSAGE", which is then no longer pending.
  std::string show(const Value& v) {
    if (v.failed()) return "error: " + message();
    StringBuilder out(context.heap);
    print_literal(out, v);
    return std::string(out.view());
  }
  std::string message() {
    REQUIRE(context.error_pending());
    Value error = context.take_error();
    Borrowed text = error->as<ErrorObject>()->message;
    return std::string(string_view_of(text));
  }

  RuntimeState runtime{RuntimeOptions{}};
  Context context;
  Value lent;
  std::string written;
  bool output_broken = false;
};

inline bool holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace posset::interp
