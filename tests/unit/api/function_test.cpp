// Native functions: arguments, results, errors, inout, calling back, modules and their enumeration.
#include <vector>

#include "fixture.h"

using posset::test::str;
using posset::test::text;
using posset::test::World;

namespace {

posset_function_row row(const char* name, const char* signature, uint32_t least, uint32_t most,
                        posset_function f) {
  posset_function_row made = {};
  made.name = name;
  made.signature = signature;
  made.doc = "For a test.";
  made.min_arguments = least;
  made.max_arguments = most;
  made.function = f;
  return made;
}

posset_status define(World& w, const posset_function_row& r) {
  return posset_define(w.context, &r, sizeof r, nullptr);
}

posset_status add(posset_call* call) {
  int64_t a = 0, b = 0;
  if (posset_want_int(call, 0, &a) || posset_want_int(call, 1, &b)) return POSSET_RAISED;
  return posset_return(call, posset_int(a + b));
}

posset_status twice(posset_call* call) {
  if (posset_want_function(call, 0)) return POSSET_RAISED;
  posset_value once = posset_retain(posset_argument(call, 1)), result = posset_nil();
  if (posset_invoke(call->context, call->arguments[0], &once, 1, &result)) return POSSET_RAISED;
  return posset_invoke(call->context, call->arguments[0], &result, 1, &call->result);
}

posset_status call_unseen(posset_call* call) {
  return posset_invoke(call->context, call->arguments[0], nullptr, 0, &call->result);
}

posset_status append_one(posset_call* call) {
  if (posset_want_list(call, 0)) return POSSET_RAISED;
  posset_value list = posset_take(call, 0);
  posset_status status = posset_list_push(call->context, &list, posset_int(1));
  posset_put_back(call, 0, list);
  if (status == POSSET_OK && posset_has(call, 1)) {
    return posset_raise(call->context, POSSET_ERROR_OutOfRange, text("out of range on purpose"));
  }
  return status;
}

posset_status greet(posset_call* call) {
  posset_text name;
  if (posset_want_string(call, 0, &name)) return POSSET_RAISED;
  return posset_return_string(call, text("hello, " + str(name)));
}

template <class T, auto want, auto make>
posset_status sum_of(posset_call* call) {
  const T* data = nullptr;
  uint64_t count = 0;
  if (want(call, 0, &data, &count)) return POSSET_RAISED;
  T sum = 0;
  for (uint64_t i = 0; i < count; ++i) sum += data[i];
  return posset_return(call, make(sum));
}

// An int of 8 bits, the first element of a list or map, or nothing that it takes.
posset_status small(posset_call* call) {
  const posset_value v = posset_argument(call, 0);
  if (posset_is(v, POSSET_LIST)) return posset_raise_element(call, 0, posset_int(0), posset_list_at(v, 0), "int");
  uint64_t at = 0;
  posset_value key, value;
  if (posset_map_next(v, &at, &key, &value))
    return posset_raise_element(call, 0, posset_is(key, POSSET_STR) ? key : posset_nil(), posset_is(key, POSSET_STR) ? value : key, "int");
  return posset_raise_range(call, 0, -128, 127);
}

posset_status strict(posset_call* call) {
  const posset_value v = posset_argument(call, 0);
  return posset_raise_kind(call, 0, posset_kind_name(posset_kind_of(v)));
}

posset_status careless(posset_call*) { return POSSET_NOT_FOUND; }

}  // namespace

TEST_CASE("a host function cannot take the name of a built-in") {
  // Tiers know built-ins by name, and their opcodes must not stand for anything else.
  World w;
  for (const char* name : {"push", "pop", "len", "swap", "code", "lines"}) {
    CHECK(define(w, row(name, "f(a, b)", 2, 2, add)) == POSSET_EXISTS);
  }
  CHECK(w.show("var xs = [1]\nxs.push(2)\n[len(xs), xs]") == "[2, [1, 2]]");
}

TEST_CASE("a host function is called like any other") {
  World w;
  REQUIRE(define(w, row("add", "add(a, b)", 2, 2, add)) == POSSET_OK);
  REQUIRE(define(w, row("greet", "greet(name)", 1, 1, greet)) == POSSET_OK);
  CHECK(w.show("add(1, 2)") == "3");
  CHECK(w.show("1.add(2) |> add(10)") == "13");
  CHECK(w.show("greet(\"you, whoever you are\")") == "\"hello, you, whoever you are\"");
  CHECK(w.show("fold(0..100, 0, add)") == "4950");
  CHECK(w.show("add(1)") == "raised: add(a, b) takes 2 arguments, got 1");
  CHECK(w.show("add(1, \"x\")") ==
        "raised: argument b of add(a, b): expected int, got str (\"x\")");
  CHECK(w.show("str(add)") == "\"<fn add>\"");
}

TEST_CASE("the error of a host function has the place of its call") {
  World w;
  REQUIRE(define(w, row("add", "add(a, b)", 2, 2, add)) == POSSET_OK);
  REQUIRE(w.eval("fn f(x) {\n  1 + add(x, nil)\n}\nf(2)") == POSSET_RAISED);
  posset::test::Problem problem = w.problem();
  CHECK(problem.code == POSSET_ERROR_TypeMismatch);
  CHECK(problem.line == 2);
  CHECK(problem.column == 7);
  CHECK(problem.trace == 3);
  CHECK(problem.report.find("in f (<eval>:2:7)") != std::string::npos);
  CHECK(w.show("try { add(1, nil) } catch e { e.line }") == "1");
}

TEST_CASE("a host function calls back") {
  World w;
  REQUIRE(define(w, row("twice", "twice(f, x)", 2, 2, twice)) == POSSET_OK);
  CHECK(w.show("twice(x => x * 3, 2)") == "18");
  CHECK(w.show("twice(x => x // 0, 2)") == "raised: division by zero in 2 // 0");
  CHECK(w.show("fn f(n) => if n == 0 { 0 } else { twice(x => f(n - 1), 0) }\nf(10)") == "0");
  CHECK(w.show("try { twice(x => throw \"up\", 1) } catch e { e.message }") == "\"up\"");
  CHECK(w.show("twice(1, 2)") == "raised: argument f of twice(f, x): 1 is not a function");
}

TEST_CASE("what a host function calls and is no function does not have the name of the host function") {
  World w;
  REQUIRE(define(w, row("call_unseen", "call_unseen(f)", 1, 1, call_unseen)) == POSSET_OK);
  CHECK(w.show("let n = 1\ncall_unseen(n)") == "raised: 1 is not a function");
  CHECK(w.show("let n = [1][0]\ncall_unseen(() => n())") == "raised: 'n': 1 is not a function");
}

TEST_CASE("an inout argument is changed in place and written back after an error too") {
  World w;
  posset_function_row r = row("append_one", "append_one(&xs, fail = nil)", 1, 2, append_one);
  r.inout = 1;
  REQUIRE(define(w, r) == POSSET_OK);
  CHECK(w.show("var xs = [0]\nappend_one(&xs)\nxs.append_one()\nxs") == "[0, 1, 1]");
  CHECK(w.show("var xs = [0]\nlet ys = xs\ntry { append_one(&xs, 1) } catch { nil }\n[xs, ys]") ==
        "[[0, 1], [0]]");
  uint64_t copies = w.statistics().copies;
  CHECK(w.show("var xs = []\nfor i in 0..1000 { append_one(&xs) }\nlen(xs)") == "1000");
  CHECK(w.statistics().copies == copies);
  CHECK(w.eval("let xs = [0]\nappend_one(xs)") == POSSET_INVALID);
}

TEST_CASE("inout parameters of script functions come back to the host") {
  World w;
  posset_value f = posset_nil(), list = posset_nil();
  REQUIRE(w.eval("fn add_to(inout xs, x) {\n  xs.push(x)\n  if x == 0 { throw \"zero\" }\n  "
                 "len(xs)\n}\nadd_to",
                 &f) == POSSET_OK);
  REQUIRE(posset_list(w.context, 0, &list) == POSSET_OK);
  for (int i = 2; i-- > 0;) {
    posset_value arguments[] = {list, posset_int(i)};
    posset_value result = posset_nil();
    CHECK(posset_invoke(w.context, f, arguments, 2, &result) == (i ? POSSET_OK : POSSET_RAISED));
    list = arguments[0];
  }
  w.problem();
  CHECK(w.take_text(list) == "[1, 0]");
  posset_release(f);
}

TEST_CASE("a list of numbers is taken as one, however it is stored") {
  World w;
  REQUIRE(define(w, row("floats", "floats(xs)", 1, 1, sum_of<double, posset_want_floats, posset_float>)) == POSSET_OK);
  REQUIRE(define(w, row("ints", "ints(xs)", 1, 1, sum_of<int64_t, posset_want_ints, posset_int>)) == POSSET_OK);
  posset_function_row inout = row("changed", "changed(&xs)", 1, 1, sum_of<double, posset_want_floats, posset_float>);
  inout.inout = 1;
  REQUIRE(define(w, inout) == POSSET_OK);
  CHECK(w.show("do { var x = [1, 1.5]\nx[0] = 2.5\nfloats(x) }") == "4.0");
  CHECK(w.show("do { let x = [1, 1.5]\n[floats(x), floats([1, 2]), floats([]), x] }") == "[2.5, 3.0, 0.0, [1, 1.5]]");
  CHECK(w.show("do { var x = [\"a\", 2]\nx[0] = 1\n[ints(x), ints([3]), ints([])] }") == "[3, 3, 0]");
  CHECK(w.show("do { var x = [0.5]\nchanged(&x) }") == "0.5");
  CHECK(w.show("do { var x = [1]\nchanged(&x) }") == "raised: argument xs of changed(&xs): expected list of floats, got list ([1])");
  CHECK(w.show("floats([1, \"x\"])") == "raised: argument xs of floats(xs): element 1: expected int or float, got str (\"x\")");
  CHECK(w.show("ints([1, 2.0])") == "raised: argument xs of ints(xs): element 1: expected int, got float (2.0)");
  CHECK(w.show("ints(1)") == "raised: argument xs of ints(xs): expected list of ints, got int (1)");
}

TEST_CASE("what is wrong in an argument of the right kind is said") {
  World w;
  REQUIRE(define(w, row("small", "small(x)", 1, 1, small)) == POSSET_OK);
  REQUIRE(define(w, row("strict", "strict(x)", 1, 1, strict)) == POSSET_OK);
  const std::string begin = "raised: argument x of small(x): ";
  CHECK(w.show("small(300)") == begin + "expected an int from -128 to 127, got 300");
  CHECK(w.show("small(1.5)") == begin + "expected int, got float (1.5)");
  CHECK(w.show("small([\"a\"])") == begin + "element 0: expected int, got str (\"a\")");
  CHECK(w.show("small([\"k\": nil])") == begin + "value at \"k\": expected int, got nil");
  CHECK(w.show("small([2.5: 1])") == begin + "a key: expected int, got float (2.5)");
  CHECK(w.show("strict(300)") == "raised: argument x of strict(x): 300 is out of range");
  CHECK(w.show("strict([1, \"x\"])") == "raised: argument x of strict(x): the host cannot take all that is in [1, \"x\"]");
}

TEST_CASE("a status that is no result becomes an error") {
  World w;
  REQUIRE(define(w, row("careless", "careless()", 0, 0, careless)) == POSSET_OK);
  CHECK(w.show("careless()") == "raised: careless failed: there is no such thing");
}

TEST_CASE("built-ins cannot be shadowed by the host, host functions be replaced") {
  World w;
  CHECK(define(w, row("len", "len(x)", 1, 1, add)) == POSSET_EXISTS);
  CHECK(define(w, row("no name", "f()", 0, 0, add)) == POSSET_MISUSE);
  CHECK(define(w, row("f", "f(a, b)", 3, 2, add)) == POSSET_MISUSE);
  REQUIRE(define(w, row("f", "f(a, b)", 2, 2, add)) == POSSET_OK);
  posset_value old = posset_nil();
  REQUIRE(w.eval("(a, b) => f(a, b)", &old) == POSSET_OK);
  REQUIRE(define(w, row("f", "f(name)", 1, 1, greet)) == POSSET_OK);
  CHECK(w.show("f(\"x\")") == "\"hello, x\"");
  posset_value arguments[] = {posset_int(1), posset_int(2)}, result = posset_nil();
  CHECK(posset_invoke(w.context, old, arguments, 2, &result) == POSSET_OK);
  CHECK(posset_as_int(result) == 3);
  posset_release(old);
}

TEST_CASE("an impure host function makes its callers impure, a pure one does not") {
  World w;
  REQUIRE(define(w, row("impure_add", "impure_add(a, b)", 2, 2, add)) == POSSET_OK);
  posset_function_row r = row("pure_add", "pure_add(a, b)", 2, 2, add);
  r.pure = true;
  REQUIRE(define(w, r) == POSSET_OK);
  CHECK(w.eval("pure fn f(x) => impure_add(x, 1)\nf(1)") == POSSET_INVALID);
  CHECK(w.show("pure fn f(x) => pure_add(x, 1)\nf(1)") == "2");
}

TEST_CASE("a callback may catch, but not a limit") {
  posset_context_options options = posset_context_defaults();
  options.step_limit = 10000;
  World w(options);
  auto guard = [](posset_call* call) {
    if (posset_invoke(call->context, call->arguments[0], nullptr, 0, nullptr) == POSSET_OK)
      return POSSET_OK;
    posset_value error = posset_nil();
    posset_status status = posset_catch(call->context, &error);
    if (status != POSSET_OK) return status;
    posset_release(error);
    return posset_return(call, posset_int(-1));
  };
  REQUIRE(define(w, row("guard", "guard(f)", 1, 1, guard)) == POSSET_OK);
  CHECK(w.show("guard(() => throw \"x\")") == "-1");
  CHECK(w.show("guard(() => while true { })").find("step limit") != std::string::npos);
}

TEST_CASE("what is said to be called with floats alone takes as many numbers and does nothing else") {
  posset_runtime* runtime = posset::test::make_runtime();
  auto status_of = [&](auto change) {
    posset_function_row made = row("plus", "plus(a, b)", 2, 2, add);
    made.pure = true;
    made.of_floats = [](double a, double b) { return a + b; };
    change(made);
    return posset_register_functions(runtime, "calc", &made, 1, sizeof made);
  };
  CHECK(status_of([](auto& each) { each.pure = false; }) == POSSET_MISUSE);
  CHECK(status_of([](auto& each) { each.min_arguments = 1; }) == POSSET_MISUSE);
  CHECK(status_of([](auto& each) { each.max_arguments = POSSET_ANY_COUNT; }) == POSSET_MISUSE);
  CHECK(status_of([](auto& each) { each.inout = 1; }) == POSSET_MISUSE);
  CHECK(status_of([](auto& each) { each.calls = 1; }) == POSSET_MISUSE);
  CHECK(status_of([](auto& each) { each.of_float = [](double a) { return a; }; }) == POSSET_MISUSE);
  CHECK(status_of([](auto& each) { each.of_floats = nullptr, each.of_float = [](double a) { return a; }; }) == POSSET_MISUSE);
  CHECK(status_of([](auto&) {}) == POSSET_OK);
  posset_runtime_release(runtime);
}

TEST_CASE("modules are registered before the first context, and listed in order") {
  posset_runtime* runtime = posset::test::make_runtime();
  static const posset_function_row rows[] = {row("plus", "plus(a, b)", 2, 2, add),
                                             row("hi", "hi(name)", 1, 1, greet)};
  CHECK(posset_register_functions(runtime, "calc", rows, 2, sizeof rows[0]) == POSSET_OK);
  CHECK(posset_register_functions(runtime, "calc", rows, 1, sizeof rows[0]) == POSSET_EXISTS);
  CHECK(posset_register_constant(runtime, "calc", "answer", posset_int(42), "What it is.") ==
        POSSET_OK);
  CHECK(posset_register_text(runtime, "calc", "title", text("The book of numbers, volume one"),
                             "A title.") == POSSET_OK);
  CHECK(posset_register_constant(runtime, "", "x", posset_int(1), "") == POSSET_MISUSE);
  {
    World w(runtime, posset_context_defaults());
    CHECK(w.show("import \"calc\"\n[calc.plus(1, calc.answer), calc.title]") ==
          "[43, \"The book of numbers, volume one\"]");
    CHECK(w.show("import {plus as p} from \"calc\"\np(1, 1)") == "2");
    CHECK(w.eval("import \"calc\"\ncalc.nothing") == POSSET_INVALID);
    CHECK(posset_register_functions(runtime, "late", rows, 1, sizeof rows[0]) == POSSET_MISUSE);
    std::vector<std::string> names;
    auto visit = [](void* data, const posset_builtin_info* info) {
      if (info->module.size)
        static_cast<std::vector<std::string>*>(data)->push_back(str(info->module) + "." +
                                                                str(info->name));
      return POSSET_OK;
    };
    CHECK(posset_each_builtin(runtime, visit, &names) == POSSET_OK);
    // The modules that are always there.
    std::erase_if(names, [](const std::string& name) { return name.starts_with("task.") || name.starts_with("fixpoint.") || name.starts_with("graph."); });
    CHECK(names == std::vector<std::string>{"calc.answer", "calc.hi", "calc.plus", "calc.title"});
    posset_builtin_info info = {};
    CHECK(posset_find_builtin(runtime, text("calc.plus"), &info) == POSSET_OK);
    CHECK(str(info.signature) == "plus(a, b)");
    CHECK(posset_find_builtin(runtime, text("len"), &info) == POSSET_OK);
    CHECK(info.is_function);
    CHECK(posset_find_builtin(runtime, text("calc.none"), &info) == POSSET_NOT_FOUND);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("functions tell their name, arity and signature") {
  World w;
  posset_value f = posset_nil(), signature = posset_nil();
  REQUIRE(w.eval("fn area(w, h = 1, ..more) => w * h\narea", &f) == POSSET_OK);
  posset_function_info info = {};
  info.size = sizeof info;
  REQUIRE(posset_describe_function(w.context, f, &info) == POSSET_OK);
  CHECK(str(info.name) == "area");
  CHECK(info.min_arguments == 1);
  CHECK(info.max_arguments == UINT32_MAX);
  CHECK(info.pure);
  CHECK(!info.native);
  REQUIRE(posset_function_signature(w.context, f, &signature) == POSSET_OK);
  CHECK(w.take_text(signature) == "\"area(w, h = ..., ..more)\"");
  posset_release(f);
  CHECK(posset_describe_function(w.context, posset_int(1), &info) == POSSET_NOT_FOUND);
}

TEST_CASE("calling what is no function, and with too many arguments for the stack") {
  World w;
  posset_value argument = posset_int(1), result = posset_nil();
  CHECK(posset_invoke(w.context, posset_int(1), &argument, 1, &result) == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_NotAFunction);
  posset_value f = posset_nil();
  REQUIRE(w.eval("(..xs) => len(xs)", &f) == POSSET_OK);
  std::vector<posset_value> many(100000, posset_int(1));
  CHECK(posset_invoke(w.context, f, many.data(), many.size(), &result) == POSSET_OK);
  CHECK(posset_as_int(result) == 100000);
  posset_release(f);
}
