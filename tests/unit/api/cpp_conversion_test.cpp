// Conversions of the C++ layer: what does not fit is told, not changed.
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <posset/posset.hpp>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum class Color : uint8_t { Red, Green = 7 };
enum Side { kLeft, kRight };

}  // namespace

TEST_CASE("host callback: a number beyond a C++ float became infinite") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  context.define("narrow", [](float x) { return x; });
  CHECK(context.eval<float>("16777217") == 16777216.0F);  // what rounds fits
  CHECK(context.eval<float>("0.1") == 0.1F);
  CHECK(context.eval<float>("1e-300") == 0);
  CHECK(context.eval<float>("3.4028235677973362e38") == std::numeric_limits<float>::max());
  CHECK(context.eval<float>("float(\"-inf\")") == -kInfinity);
  CHECK(context.eval<float>("float(\"inf\")") == kInfinity);
  const float nan = context.eval<float>("float(\"nan\")");
  CHECK(nan != nan);
  for (const char* text : {"1e300", "-1e39", "3.4028235677973367e38"}) {
    const auto result = context.try_eval<float>(text);
    REQUIRE(!result.ok());
    CHECK(result.error().code() == POSSET_ERROR_TypeMismatch);
  }
  CHECK(context.try_eval("narrow(1e39)").error().message() ==
        "argument a of narrow(a): expected number of the size of a C++ float, got float (1e+39)");
  CHECK(context.try_eval<std::vector<float>>("[1.5, 1e300]").error().code() == POSSET_ERROR_TypeMismatch);
  CHECK(context.eval<double>("1e300") == 1e300);
}

TEST_CASE("host callback: a long double beyond a script's float became infinite") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  const long double largest = std::numeric_limits<long double>::max();
  CHECK(context.value(1.5L).to<double>() == 1.5);
  CHECK(context.value(std::numeric_limits<long double>::infinity()).to<float>() == kInfinity);
  if (largest > std::numeric_limits<double>::max()) CHECK_THROWS_AS(context.value(largest), posset::Misuse);
}

TEST_CASE("host callback: a null pointer for a text was an empty one, or read") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  const char* const none = nullptr;
  CHECK_THROWS_AS(context.set("x", none), posset::Error);
  CHECK(context.try_set("x", none).error().message() == "the host gives a null pointer for a text");
  context.define("text", [](bool is_there) { return is_there ? "a text" : nullptr; });
  CHECK(context.eval<std::string>("text(true)") == "a text");
  CHECK(context.try_eval("text(false)").error().message() == "the host gives a null pointer for a text");
  CHECK(context.eval<std::string>("try { text(false) } catch e { \"caught\" }") == "caught");
  context.define("later", posset::suspending([&](posset::Completion done) {
    CHECK_THROWS_AS(done.complete(none), posset::Misuse);
    CHECK(done.complete("now"));
  }));
  CHECK(context.eval<std::string>("later()") == "now");
  char bytes[] = "changeable";
  CHECK(context.value(bytes).to<std::string>() == "changeable");
}

TEST_CASE("host callback: a null pointer sent to a graph was read") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  posset::Graph graph(context);
  std::string seen;
  graph.add("sink", posset::Node({"in"}).on_message([&](posset::Turn& turn) { seen += turn.message<std::string>(); }));
  graph.input("texts", "sink:in");
  {
    const posset::Sender sender = graph.sender("texts");
    const char* const none = nullptr;
    CHECK(sender.put(none) == POSSET_PUT_INVALID);
    CHECK(sender.send(none) == POSSET_PUT_INVALID);
    CHECK(sender.put("text") == POSSET_PUT_OK);
  }
  graph.run();
  CHECK(seen == "text");
}

TEST_CASE("C++ conversions: optional parameters at the end need not be given") {
  posset::Runtime runtime;
  struct Shelf {
    int sum(int a, std::optional<int> b) { return a + b.value_or(100); }
  };
  posset::Type<Shelf> type("Shelf");
  type.method("total", &Shelf::sum);
  type.method("text_size", [](Shelf&, std::optional<std::string_view> text) { return text ? text->size() : 0; });
  runtime.define(std::move(type));
  posset::Context context(runtime);
  context.set("shelf", std::make_shared<Shelf>());
  context.define("area", [](double w, std::optional<double> h, const std::optional<std::string>& unit) {
    return std::to_string(static_cast<int>(w * h.value_or(w))) + unit.value_or("");
  });
  context.define("middle", [](std::optional<int> a, int b) { return a.value_or(0) + b; });
  CHECK(context.eval<std::string>("area(2)") == "4");
  CHECK(context.eval<std::string>("area(2, 3)") == "6");
  CHECK(context.eval<std::string>("area(2, nil, \"m\")") == "4m");
  CHECK(context.eval<int>("middle(nil, 2)") == 2);
  CHECK(context.eval<std::vector<int>>("[shelf.total(1), shelf.total(1, 2), shelf.text_size(), shelf.text_size(\"abc\")]") ==
        std::vector<int>{101, 3, 0, 3});
  CHECK(!context.try_eval("area()").ok());
  CHECK(!context.try_eval("area(1, 2, \"m\", 4)").ok());
  CHECK(!context.try_eval("middle(1)").ok());
  CHECK(context.try_eval("area(2, \"x\")").error().message() ==
        "argument b of area(a, b = nil, c = nil): expected number, got str (\"x\")");
  context.define("later", posset::suspending([](posset::Completion done, int a, std::optional<int> b) {
    done.complete(a + b.value_or(5));
  }));
  CHECK(context.eval<int>("later(1) + later(1, 1)") == 8);
}

TEST_CASE("C++ conversions: enums are their numbers") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  context.define("other", [](Color color) { return color == Color::Red ? Color::Green : Color::Red; });
  CHECK(context.eval<int>("other(0)") == 7);
  CHECK(context.eval<Color>("other(7)") == Color::Red);
  CHECK(context.value(kRight).to<Side>() == kRight);
  CHECK(context.try_eval("other(256)").error().message() == "argument a of other(a): expected an int from 0 to 255, got 256");
  CHECK(context.compile<Color(Color)>("x => x")(Color::Green) == Color::Green);
}

TEST_CASE("C++ conversions: what was wrong inside of an argument was not told") {
  posset::Runtime runtime;
  struct Shelf {
    std::vector<int8_t> sizes;
  };
  posset::Type<Shelf> type("Shelf");
  type.property("sizes", &Shelf::sizes);
  runtime.define(std::move(type));
  posset::Context context(runtime);
  context.define("ints", [](const std::vector<int>& xs) { return xs.size(); });
  context.define("rows", [](std::optional<std::vector<std::vector<int>>> xs) { return xs.has_value(); });
  context.define("prices", [](const std::map<std::string, double>& prices) { return prices.size(); });
  context.define("pair", [](std::pair<int, std::string> pair) { return pair.first; });
  context.define("shelves", [](const std::vector<posset::Handle<Shelf>>& xs) { return xs.size(); });
  context.set("shelf", std::make_shared<Shelf>());
  auto said = [&](const char* text) { return context.try_eval(text).error().message(); };
  CHECK(said("ints(5)") == "argument a of ints(a): expected list, got int (5)");
  CHECK(said("ints([1, \"x\"])") == "argument a of ints(a): element 1: expected int, got str (\"x\")");
  CHECK(said("ints([1, 2 ** 40])") ==
        "argument a of ints(a): element 1: expected an int from -2147483648 to 2147483647, got int (1099511627776)");
  CHECK(said("rows([[1], [2, nil]])") == "argument a of rows(a = nil): element 1: expected list of int, got list ([2, nil])");
  CHECK(said("rows([1])") == "argument a of rows(a = nil): element 0: expected list, got int (1)");
  CHECK(said("prices([\"a\": \"x\"])") == "argument a of prices(a): value at \"a\": expected number, got str (\"x\")");
  CHECK(said("prices([1: 2])") == "argument a of prices(a): a key: expected str, got int (1)");
  CHECK(said("pair([1, 2])") == "argument a of pair(a): element 1: expected str, got int (2)");
  CHECK(said("pair([1])") == "argument a of pair(a): expected list of 2, got list ([1])");
  CHECK(said("shelves([shelf, 1])") == "argument a of shelves(a): element 1: expected Shelf, got int (1)");
  CHECK(said("shelf.sizes = [1, 128]").find("element 1: expected an int from -128 to 127, got int (128)") != std::string::npos);
}

TEST_CASE("C++ conversions: what was wrong inside of a result was not told") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  CHECK(context.try_eval<std::vector<int>>("[1, \"x\"]").error().message() == "value: element 1: expected int, got str (\"x\")");
  CHECK(context.try_eval<uint8_t>("300").error().message() == "value: expected an int from 0 to 255, got int (300)");
  CHECK(context.try_eval<uint64_t>("-1").error().message() == "value: expected an int from 0 to 9223372036854775807, got int (-1)");
  CHECK(context.try_eval<std::map<std::string, int>>("[\"a\": 1.5]").error().message() ==
        "value: value at \"a\": expected int, got float (1.5)");
  CHECK(context.compile<std::optional<std::vector<int>>()>("() => [nil]").try_call().error().message() ==
        "result: element 0: expected int, got nil (nil)");
  const posset::Value mixed = context.eval("[1.5, 2]");
  CHECK_THROWS_WITH((void)mixed.to<std::span<const double>>(), "error: value: element 1: expected float, got int (2)");
  const posset::Value unpacked = context.eval("do { var x = [1, 1.5]\nx[0] = 2.5\nx }");
  CHECK_THROWS_WITH((void)unpacked.to<std::span<const double>>(),
                    "error: value: expected list of floats that is stored so (a std::vector takes any), got list ([2.5, 1.5])");
  CHECK(unpacked.to<std::vector<double>>() == std::vector<double>{2.5, 1.5});
}

TEST_CASE("C++ conversions: an int that a parameter has no room for was of a wrong kind") {
  posset::Runtime runtime;
  struct Dial {
    int8_t level = 0;
    uint16_t mark() const { return 7; }
    void set_mark(uint16_t) {}
  };
  posset::Type<Dial> type("Dial");
  type.property("level", &Dial::level).property("mark", &Dial::mark, &Dial::set_mark);
  runtime.define(std::move(type));
  posset::Context context(runtime);
  context.set("dial", std::make_shared<Dial>());
  context.define("small", [](int8_t a, std::optional<uint8_t> b) { return a + b.value_or(0); });
  context.define("half", [](int32_t n) { return n / 2; });
  context.define("large", [](uint64_t n) { return n > 5; });
  context.define("whole", [](int64_t n) { return n; });
  auto check = [&](const char* text, posset_code code, const char* message) {
    const auto result = context.try_eval(text);
    REQUIRE(!result.ok());
    CHECK(result.error().code() == code);
    CHECK(result.error().message().find(message) != std::string::npos);
  };
  check("small(128)", POSSET_ERROR_OutOfRange, "argument a of small(a, b = nil): expected an int from -128 to 127, got 128");
  check("small(-129)", POSSET_ERROR_OutOfRange, "expected an int from -128 to 127, got -129");
  check("small(1, 256)", POSSET_ERROR_OutOfRange, "argument b of small(a, b = nil): expected an int from 0 to 255, got 256");
  check("half(2 ** 31)", POSSET_ERROR_OutOfRange, "expected an int from -2147483648 to 2147483647, got 2147483648");
  check("large(-1)", POSSET_ERROR_OutOfRange, "expected an int from 0 to 9223372036854775807, got -1");
  check("dial.level = 300", POSSET_ERROR_OutOfRange, "expected an int from -128 to 127, got 300");
  check("dial.mark = -1", POSSET_ERROR_OutOfRange, "expected an int from 0 to 65535, got -1");
  check("whole(1.5)", POSSET_ERROR_TypeMismatch, "argument a of whole(a): expected int, got float (1.5)");
  check("small(\"x\")", POSSET_ERROR_TypeMismatch, "argument a of small(a, b = nil): expected int, got str (\"x\")");
  CHECK(context.eval<int>("small(127, 255) + small(-128) + half(-(2 ** 31))") == 127 + 255 - 128 - (1 << 30));
}

TEST_CASE("C++ conversions: an empty function, and an integer beyond those of scripts, were just arguments that cannot be used") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  const char* const said = "call: an argument that cannot be used: the posset::Function or Value is empty";
  const posset::Function<int(std::string)> of_text;
  const posset::Function<double(double)> of_number;
  const posset::Function<int64_t(int64_t)> of_int;
  CHECK_THROWS_WITH_AS(of_text("x"), said, posset::Misuse);
  CHECK_THROWS_WITH_AS(of_number(1), said, posset::Misuse);
  CHECK_THROWS_WITH_AS(posset::Value()(1), said, posset::Misuse);
  std::vector<double> numbers(2);
  std::vector<int64_t> ints(2);
  CHECK_THROWS_WITH_AS(of_number.map_into(numbers, numbers), said, posset::Misuse);
  CHECK_THROWS_WITH_AS(of_int.map_into(ints, ints), said, posset::Misuse);

  CHECK(context.try_set("f", of_number).error().message() == "the host gives an empty posset::Function");
  context.define("none", [] { return posset::Function<void()>(); });
  CHECK(context.try_eval("none()").error().message() == "the host gives an empty posset::Function");

  const char* const large = "the host gives 18446744073709551615, and an int is at most 9223372036854775807";
  CHECK(context.try_set("n", UINT64_MAX).error().message() == large);
  context.define("hash", [] { return UINT64_MAX; });
  CHECK(context.try_eval("hash()").error().message() == large);
  CHECK(context.compile<int(uint64_t)>("n => n").try_call(UINT64_MAX).error().message() == large);
  context.set("n", uint64_t{INT64_MAX});
  CHECK(context.eval<uint64_t>("n") == uint64_t{INT64_MAX});
}
