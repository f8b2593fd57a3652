// Format specifications, mostly against what Python prints.
#include <cmath>

#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

namespace {
std::string formatted(World& world, Borrowed v, const FormatOptions& spec) {
  StringBuilder out(world.heap);
  std::string problem;
  if (!format_to(out, v, spec, problem)) return "! " + problem;
  CHECK(problem.empty());
  return std::string(out.view());
}
}  // namespace

TEST_CASE("format: ints") {
  World world;
  Borrowed v = Borrowed::integer(-42);
  CHECK(formatted(world, v, {.zero = true, .width = 5}) == "-0042");
  CHECK(formatted(world, v, {.width = 5}) == "  -42");
  CHECK(formatted(world, v, {.align = '<', .width = 5}) == "-42  ");
  CHECK(formatted(world, v, {.fill = "*", .align = '^', .width = 6}) == "*-42**");
  CHECK(formatted(world, v, {.fill = "ä", .align = '>', .width = 5}) == "ää-42");
  CHECK(formatted(world, v, {.plus = true}) == "-42");
  CHECK(formatted(world, Borrowed::integer(42),
                  {.plus = true, .zero = true, .type = 'd', .width = 5}) == "+0042");
  CHECK(formatted(world, Borrowed::integer(42), {.align = '<', .zero = true, .width = 5}) ==
        "42000");
  CHECK(formatted(world, Borrowed::integer(255), {.type = 'x'}) == "ff");
  CHECK(formatted(world, Borrowed::integer(-255), {.type = 'X'}) == "-FF");
  CHECK(formatted(world, Borrowed::integer(5), {.zero = true, .type = 'b', .width = 8}) ==
        "00000101");
  CHECK(formatted(world, Borrowed::integer(8), {.type = 'o'}) == "10");
  CHECK(formatted(world, Borrowed::integer(INT64_MIN), {.type = 'b'}) ==
        "-1" + std::string(63, '0'));
  CHECK(formatted(world, Borrowed::integer(INT64_MIN), {.type = 'd'}) == "-9223372036854775808");
}

TEST_CASE("format: ints convert for f e g %") {
  World world;
  Borrowed v = Borrowed::integer(3);
  CHECK(formatted(world, v, {.type = 'f'}) == "3.000000");
  CHECK(formatted(world, v, {.precision = 2}) == "3.00");
  CHECK(formatted(world, v, {.type = 'e', .precision = 1}) == "3.0e+00");
  CHECK(formatted(world, v, {.type = 'g'}) == "3");
  CHECK(formatted(world, v, {.type = '%', .precision = 0}) == "300%");
}

TEST_CASE("format: floats") {
  World world;
  auto f = [](double d) { return Borrowed::floating(d); };
  CHECK(formatted(world, f(3.14159), {.precision = 2}) == "3.14");
  CHECK(formatted(world, f(3.14159), {.zero = true, .type = 'f', .width = 8, .precision = 3}) ==
        "0003.142");
  CHECK(formatted(world, f(-3.14159), {.zero = true, .type = 'f', .width = 8, .precision = 3}) ==
        "-003.142");
  CHECK(formatted(world, f(2.5), {.type = 'f', .precision = 0}) == "2");
  CHECK(formatted(world, f(1e16), {}) == "1e+16");
  CHECK(formatted(world, f(1.5), {.width = 6}) == "   1.5");
  CHECK(formatted(world, f(0.25), {.type = '%'}) == "25.000000%");
  CHECK(formatted(world, f(12345.678), {.type = 'e', .precision = 3}) == "1.235e+04");
  CHECK(formatted(world, f(1e-5), {.type = 'g'}) == "1e-05");
  CHECK(formatted(world, f(123456789), {.type = 'g'}) == "1.23457e+08");
  CHECK(formatted(world, f(100000), {.type = 'g'}) == "100000");
  CHECK(formatted(world, f(0.0001), {.type = 'g', .precision = 0}) == "0.0001");
  CHECK(formatted(world, f(-0.0), {.type = 'f', .precision = 1}) == "-0.0");
  CHECK(formatted(world, f(INFINITY), {.zero = true, .type = 'f', .width = 8}) == "00000inf");
  CHECK(formatted(world, f(-INFINITY), {.width = 6}) == "  -inf");
  CHECK(formatted(world, f(NAN), {.plus = true, .type = 'f'}) == "+nan");
  CHECK(formatted(world, f(1e308), {.type = '%', .precision = 0}) == "inf%");
}

TEST_CASE("format: precisions beyond what a double has only add zeros") {
  World world;
  std::string text = formatted(world, Borrowed::floating(0.1), {.type = 'f', .precision = 5000});
  CHECK(text.size() == 5002);
  CHECK(text.substr(0, 20) == "0.100000000000000005");
  CHECK(text.find_last_not_of('0') < 1100);
  text = formatted(world, Borrowed::floating(5e-324), {.type = 'e', .precision = 3000});
  CHECK(text.size() == 3002 + 5);
  CHECK(text.substr(text.size() - 5) == "e-324");
  CHECK(formatted(world, Borrowed::floating(0.5), {.type = 'g', .precision = 1000000}) == "0.5");
  world.heap.set_limit_bytes(1 << 20);
  StringBuilder out(world.heap);
  std::string problem;
  CHECK(format_to(out, Borrowed::floating(0.5), {.type = 'f', .precision = INT32_MAX}, problem));
  CHECK(out.failed());
  StringBuilder wide(world.heap);
  CHECK(format_to(wide, Borrowed::nil(), {.fill = "ä", .align = '<', .width = INT32_MAX}, problem));
  CHECK(wide.failed());
}

TEST_CASE("format: text and everything else") {
  World world;
  CHECK(formatted(world, world.text("ab"), {.width = 5}) == "ab   ");
  CHECK(formatted(world, world.text("äöü"), {.align = '>', .width = 5}) == "  äöü");
  CHECK(formatted(world, world.text("äöü"), {.fill = "😀", .align = '^', .width = 6}) == "😀äöü😀😀");
  CHECK(formatted(world, world.text("äöü"), {.type = 's', .precision = 2}) == "äö");
  CHECK(formatted(world, world.text("abc"), {.precision = 0}) == "");
  CHECK(formatted(world, world.text("abc"), {.precision = 10}) == "abc");
  CHECK(formatted(world, world.list(World::integer(1), world.text("a")), {.width = 10}) ==
        "[1, \"a\"]  ");
  CHECK(formatted(world, Borrowed::boolean(true), {.align = '>', .width = 6}) == "  true");
  CHECK(formatted(world, Borrowed::nil(), {.width = 4}) == "nil ");
  CHECK(formatted(world, Borrowed::integer(42), {.type = 's', .width = 5}) == "42   ");
}

TEST_CASE("format: wrong types name the format, what it takes and what it got") {
  World world;
  CHECK(formatted(world, world.text("x"), {.type = 'd'}) == "! format 'd' takes an int, got str");
  CHECK(formatted(world, Borrowed::floating(1), {.type = 'x'}) ==
        "! format 'x' takes an int, got float");
  CHECK(formatted(world, Borrowed::boolean(true), {.type = 'd'}) ==
        "! format 'd' takes an int, got bool");
  CHECK(formatted(world, Borrowed::nil(), {.type = 'f'}) == "! format 'f' takes a number, got nil");
  CHECK(formatted(world, world.text("x"), {.type = '%'}) == "! format '%' takes a number, got str");
  CHECK(formatted(world, world.text("x"), {.plus = true}) ==
        "! format '+' takes a number, got str");
}
