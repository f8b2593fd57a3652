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

// The C library's reading is exact for any number of digits.
TEST_CASE("parse float: a long text is the number that all its digits make") {
  std::mt19937_64 random(5);
  const auto digits = [&](size_t n) {
    std::string made;
    for (size_t i = 0; i < n; ++i) made += static_cast<char>('0' + random() % 10);
    return made;
  };
  double d = 0;
  const auto check = [&](const std::string& text) {
    const double exact = std::strtod(text.c_str(), nullptr);
    CAPTURE(text);
    if (std::isinf(exact)) {
      CHECK(parse_float(text, d) == ParseResult::OutOfRange);
    } else {
      REQUIRE(parse_float(text, d) == ParseResult::Ok);
      CHECK(std::memcmp(&d, &exact, sizeof d) == 0);
    }
  };
  for (int i = 0; i < 2000; ++i) {
    const size_t whole = random() % 1500, fraction = random() % 1500;
    const int64_t about = static_cast<int64_t>(random() % 700) - 350;
    check(digits(whole) + "." + digits(fraction + 1) + "e" + std::to_string(about - static_cast<int64_t>(whole)));
  }
  // Halfway between two doubles, exactly, and a little beyond, which only the last digit tells.
  char exact[1200];
  std::snprintf(exact, sizeof exact, "%.1075f", 5e-324);
  for (const char* tail : {"", "0", "1"}) check(std::string(exact) + std::string(3000, '0') + tail);
  const std::string half = "9007199254740993";  // 2^53 + 1
  for (const char* tail : {"0", "1"}) {
    check(half + "." + std::string(5000, '0') + tail);
    check(half + std::string(5000, '0') + tail + "e-5001");
  }
  check("0." + std::string(5000, '0') + "1e5001");
  check(std::string(5000, '0') + "1.5");
  check("-" + std::string(2000, '9'));
  check("1e" + std::string(3000, '0') + "5");
  check("1e-" + std::string(3000, '9'));
}

TEST_CASE("parse int: a long text has zeros or blanks before the number, or is out of range, or malformed") {
  int64_t i = 0;
  const std::string zeros(100000, '0'), blanks(100000, ' ');
  CHECK(parse_int(blanks + "-" + zeros + "9223372036854775808" + blanks, i) == ParseResult::Ok);
  CHECK(i == INT64_MIN);
  CHECK(parse_int(zeros, i) == ParseResult::Ok);
  CHECK(i == 0);
  CHECK(parse_int("1" + zeros, i) == ParseResult::OutOfRange);
  CHECK(parse_int("1" + zeros + "x", i) == ParseResult::Malformed);
  CHECK(parse_int(blanks, i) == ParseResult::Malformed);
  CHECK(parse_int(zeros + " " + zeros, i) == ParseResult::Malformed);
}

TEST_CASE("parse int, parse float: whoever waits for a long text is asked whether he still does") {
  constexpr size_t kMany = 4 << 20;
  const std::string zeros(kMany, '0'), blanks(kMany, ' '), nines(kMany, '9');
  int64_t i;
  double d;
  for (const std::string& text : {zeros, blanks + "1", "1" + blanks, nines, "1e" + zeros + "1", "." + zeros, zeros + "x"}) {
    for (const bool is_float : {false, true}) {
      if (!is_float && text[1] == 'e') continue;  // malformed at once
      if (!is_float && text[0] == '.') continue;
      CAPTURE(text.substr(0, 2));
      const auto parse = [&](Patience& patience) { is_float ? parse_float(text, d, &patience) : parse_int(text, i, &patience); };
      Counting patient(INT32_MAX), impatient(3);
      parse(patient);
      CHECK(patient.looks() > 10);
      parse(impatient);
      CHECK(impatient.looks() == 3);
      CHECK(impatient.ended());
    }
  }
}
