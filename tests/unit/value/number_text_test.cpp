// Numbers to text and back, at the edges of both.
#include <cmath>
#include <cstring>
#include <random>

#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

TEST_CASE("float text: as Python's repr") {
  const std::pair<double, const char*> cases[] = {
      {1.0, "1.0"},
      {0.1, "0.1"},
      {-0.0, "-0.0"},
      {0.0, "0.0"},
      {1e-05, "1e-05"},
      {1e16, "1e+16"},
      {0.0001, "0.0001"},
      {0.00012345, "0.00012345"},
      {1.2345e-05, "1.2345e-05"},
      {123456789012345680.0, "1.2345678901234568e+17"},
      {1234567890123456.0, "1234567890123456.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e15, "1000000000000000.0"},
      {1e22, "1e+22"},
      {1.5, "1.5"},
      {-2.5e-300, "-2.5e-300"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {100.0, "100.0"},
      {123.456, "123.456"},
      {0.30000000000000004, "0.30000000000000004"},
      {2.0 / 3.0, "0.6666666666666666"},
      {INFINITY, "inf"},
      {-INFINITY, "-inf"},
      {NAN, "nan"},
      {-NAN, "nan"},
      {1e100, "1e+100"},
      {12345678.9, "12345678.9"}};
  for (auto& [d, text] : cases) CHECK(float_text(d) == text);
}

TEST_CASE("float text: what is written reads back to the same bits") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    double d = std::bit_cast<double>(random());
    if (!std::isfinite(d)) continue;
    std::string text = float_text(d);
    double back = 1;
    REQUIRE(parse_float(text, back) == ParseResult::Ok);
    CHECK(std::bit_cast<uint64_t>(back) == std::bit_cast<uint64_t>(d));
    CHECK(text.find_first_of(".e") != std::string::npos);
  }
}

TEST_CASE("parse int: white space, sign, digits") {
  int64_t i = 0;
  CHECK(parse_int(" 42\n", i) == ParseResult::Ok);
  CHECK(i == 42);
  CHECK(parse_int("-9223372036854775808", i) == ParseResult::Ok);
  CHECK(i == INT64_MIN);
  CHECK(parse_int("+9223372036854775807", i) == ParseResult::Ok);
  CHECK(i == INT64_MAX);
  CHECK(parse_int("007", i) == ParseResult::Ok);
  CHECK(i == 7);
  CHECK(parse_int("9223372036854775808", i) == ParseResult::OutOfRange);
  CHECK(parse_int("-9223372036854775809", i) == ParseResult::OutOfRange);
  CHECK(parse_int("99999999999999999999999999", i) == ParseResult::OutOfRange);
  for (const char* bad :
       {"", " ", "-", "+", "1.0", "1e3", "0x10", "1 2", "--1", "- 1", "a", "1_000"}) {
    CHECK(parse_int(bad, i) == ParseResult::Malformed);
  }
}

TEST_CASE("parse float: fraction, exponent, words") {
  double d = 0;
  const std::pair<const char*, double> good[] = {
      {"1", 1},
      {" 1.5 ", 1.5},
      {"-2e3", -2000},
      {"+.5", 0.5},
      {"5.", 5},
      {"1E-2", 0.01},
      {"0.1", 0.1},
      {"1e-400", 0},
      {"0e999999999999", 0},
      {"inf", INFINITY},
      {"-Infinity", -INFINITY},
      {"4.9e-324", 5e-324},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
      {"1e308", 1e308},
      {"000000000000000000000000000000001.5", 1.5}};
  for (auto& [text, value] : good) {
    CHECK(parse_float(text, d) == ParseResult::Ok);
    CHECK(d == value);
  }
  CHECK(parse_float("-0", d) == ParseResult::Ok);
  CHECK(std::signbit(d));
  CHECK(parse_float("nan", d) == ParseResult::Ok);
  CHECK(std::isnan(d));
  CHECK(parse_float("1e400", d) == ParseResult::OutOfRange);
  CHECK(parse_float("-1e99999999999999999999", d) == ParseResult::OutOfRange);
  CHECK(parse_float("1" + std::string(400, '0'), d) == ParseResult::OutOfRange);
  CHECK(parse_float("0." + std::string(400, '0') + "1", d) == ParseResult::Ok);
  CHECK(d == 0);
  CHECK(parse_float("0." + std::string(400, '0') + "1e401", d) == ParseResult::Ok);
  CHECK(d == 1);
  for (const char* bad : {"", ".", "e5", "1e", "1e+", "1.2.3", "1f", "0x1p3", "1 2", "nan(1)", "in",
                          "1_0", "+", "--1"}) {
    CHECK(parse_float(bad, d) == ParseResult::Malformed);
  }
}
