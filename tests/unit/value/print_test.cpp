// Values as text: every kind, deep ones, and ones inside others.
#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

TEST_CASE("print: the rules of the contract") {
  World world;
  CHECK(printed(world, Borrowed::nil()) == "nil");
  CHECK(printed(world, Borrowed::boolean(true)) == "true");
  CHECK(printed(world, Borrowed::integer(INT64_MIN)) == "-9223372036854775808");
  CHECK(printed(world, world.list(World::integer(1), world.text("a"))) == "[1, \"a\"]");
  CHECK(printed(world, world.map(world.text("a"), World::integer(1))) == "[\"a\": 1]");
  CHECK(printed(world, world.map()) == "[:]");
  CHECK(printed(world, world.list()) == "[]");
  CHECK(printed(world, world.record({"x", "y"}, World::integer(1), Value::nil())) ==
        "{x: 1, y: nil}");
  CHECK(printed(world, world.record({})) == "{}");
  CHECK(printed(world, world.variant(0, World::real(2))) == "Circle(2.0)");
  CHECK(printed(world, world.variant(1, World::integer(1), world.text("h"))) == "Rect(1, \"h\")");
  CHECK(printed(world, world.variant(2)) == "Dot");
  CHECK(printed(world, world.range(0, 3)) == "0..3");
  CHECK(printed(world, world.range(-1, 3, true)) == "-1..=3");
  CHECK(printed(world, world.ref(World::integer(1))) == "ref(1)");
  CHECK(printed(world, world.list(world.list(), world.map(), world.record({}), world.variant(2))) ==
        "[[], [:], {}, Dot]");
  CHECK(printed(world, world.map(world.list(World::integer(1)),
                                 world.map(World::integer(2), world.list()))) == "[[1]: [2: []]]");
}

TEST_CASE("print: strings are raw at the top and literals inside") {
  World world;
  Value s = world.text("say \"hi\" \\ {x} }\n\t\r\x1b\x7f ä\xc2\x85");
  CHECK(printed(world, s) == bytes_of(s));
  CHECK(printed(world, world.list(Value::copy(s))) ==
        "[\"say \\\"hi\\\" \\\\ \\{x} }\\n\\t\\r\\u{1b}\\u{7f} ä\\u{85}\"]");
  Value zero = world.text(std::string_view("a\0\x01", 3));
  CHECK(printed(world, world.list(Value::copy(zero))) == "[\"a\\0\\u{1}\"]");
  StringBuilder out(world.heap);
  print_literal(out, world.text("x"));
  CHECK(out.view() == "\"x\"");
}

TEST_CASE("print: refs met again inside themselves") {
  World world;
  Value r = world.ref();
  World::set_ref(r, world.list(World::integer(1), Value::copy(r)));
  CHECK(printed(world, r) == "ref([1, ref(...)])");
  World::set_ref(r, Value::nil());
  Value twice = world.list(Value::copy(r), Value::copy(r));
  CHECK(printed(world, twice) == "[ref(nil), ref(nil)]");
}

TEST_CASE("print: functions, handles and errors") {
  World world;
  auto* closure = world.heap.make<Closure>(Tag::Fn);
  closure->function = nullptr;
  closure->owner_count = nullptr;
  closure->size = 0;
  Value fn = Value::adopt(Borrowed::heap(Tag::Fn, closure));
  auto* started = world.heap.make<TaskObject>(Tag::Task);
  started->result = Borrowed::nil();
  Value task = Value::adopt(Borrowed::heap(Tag::Task, started));
  auto* opened = world.heap.make<ChanObject>(Tag::Chan);
  opened->held = Borrowed::nil();
  Value chan = Value::adopt(Borrowed::heap(Tag::Chan, opened));
  Value host = Value::adopt(Borrowed::heap(Tag::Host, world.heap.make<HostObject>(Tag::Host)));
  CHECK(printed(world, fn) == "<fn>");
  CHECK(printed(world, task) == "<task>");
  CHECK(printed(world, chan) == "<chan>");
  CHECK(printed(world, host) == "<host>");
  CHECK(printed(world, Borrowed::builtin(nullptr)) == "<fn>");
  world.heap.hooks.name_of = [](Borrowed v) -> std::string {
    return v.is(Tag::Fn) ? "area" : v.is(Tag::Builtin) ? "len" : v.is(Tag::Host) ? "File" : "";
  };
  CHECK(printed(world, fn) == "<fn area>");
  CHECK(printed(world, world.list(Value::copy(fn))) == "[<fn area>]");
  CHECK(printed(world, Borrowed::builtin(nullptr)) == "<fn len>");
  CHECK(brief(world.heap, Borrowed::builtin(nullptr)) == "<fn len>");
  CHECK(brief(Borrowed::builtin(nullptr)) == "<fn>");
  CHECK(printed(world, host) == "<File>");
  CHECK(printed(world, task) == "<task>");
  auto* made = world.heap.make<Constructor>(Tag::Constructor);
  made->shape = world.shape_type()->constructors[0];
  made->declaration = nullptr;
  CHECK(printed(world, Value::adopt(Borrowed::heap(Tag::Constructor, made))) == "<fn Circle>");
  auto* error = world.heap.make<ErrorObject>(Tag::Error);
  error->message = world.text("what went wrong").take();
  error->value = Borrowed::nil();
  error->data = nullptr;
  CHECK(printed(world, Value::adopt(Borrowed::heap(Tag::Error, error))) == "what went wrong");
}

TEST_CASE("print: a million levels deep") {
  World world;
  Value v = world.nested(1000000);
  std::string text = printed(world, v);
  CHECK(text == std::string(1000000, '[') + std::string(1000000, ']'));
  Value r = Value::nil();
  for (int i = 0; i < 100000; ++i) r = world.ref(std::move(r));
  CHECK(printed(world, r).size() == 100000 * 5 + 3);
}

TEST_CASE("print: brief text is cut between scalars") {
  World world;
  CHECK(brief(Borrowed::integer(5)) == "5");
  CHECK(brief(world.text("abc")) == "\"abc\"");
  Value numbers = list_of_range(world.heap, 0, 1000000);
  std::string text = brief(numbers, 20);
  CHECK(text.size() <= 20);
  CHECK(text.substr(text.size() - 3) == "...");
  CHECK(text.substr(0, 5) == "[0, 1");
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ä";
  for (size_t n = 4; n < 30; ++n) {
    text = brief(world.text(umlauts), n);
    CHECK(text.size() <= n);
    CHECK(is_valid_utf8(text));
  }
  CHECK(brief(world.text(std::string(1000, 'x')), 10) == "\"xxxxxx...");
}

TEST_CASE("print: text is charged, and running out leaks nothing") {
  World world;
  Value v = world.list();
  for (int i = 0; i < 60; ++i)
    v = world.list(Value::copy(v), Value::copy(v));  // 2^60 lists as text
  world.heap.set_limit_bytes(world.heap.used_bytes() + (1 << 20));
  CHECK(to_string(world.heap, v).failed());
  world.heap.set_limit_bytes(SIZE_MAX);
  Value numbers = list_of_range(world.heap, 0, 500);
  fail_each_allocation(world, [&] { return !to_string(world.heap, numbers).failed(); });
}
