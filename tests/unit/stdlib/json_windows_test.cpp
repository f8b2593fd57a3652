// Reading JSON in windows gives what simdjson gives for the whole text, value by value and fault by
// fault: for documents that are made up and such as are broken, with windows of some bytes, so that
// everything lies across borders; and no more than a window is read at once, however long a string,
// a number or white space is.
#include "stdlib/json_windows.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using posset::stdlib::JsonSurroundings;
using posset::stdlib::JsonWindows;

namespace {

// The shared object stands beside this program.
const posset_json_reader& reader() {
  static const posset_json_reader* const found = [] {
    char program[4096] = {};
    REQUIRE(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    const std::string path(program);
    void* library = dlopen((path.substr(0, path.rfind('/') + 1) + "libposset_simdjson.so").c_str(),
                           RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    return static_cast<const posset_json_reader*>(dlsym(library, "posset_json_functions"));
  }();
  REQUIRE(found);
  return *found;
}

// Writes down what it is told, one word for each call.
class Listener : public JsonSurroundings {
 public:
  bool look(size_t bytes) override {
    longest_look = std::max(longest_look, bytes);
    looked_at += bytes;
    return ++looks != last_look;
  }
  bool begin_string(size_t bytes) override {
    CHECK(parts.empty());
    string_bytes = bytes;
    looks_at_string = looks;
    return true;
  }
  bool add_to_string(std::string_view part) override {
    parts += part;
    return true;
  }
  bool end_string(bool is_key) override {
    CHECK((string_bytes == 0 || parts.size() == string_bytes));
    return tell(is_key ? "key " : "string ", std::exchange(parts, ""));
  }
  posset_json_sink sink() {
    posset_json_sink out;
    out.data = this;
    out.null = [](void* it) { return tell(it, "null", ""); };
    out.boolean = [](void* it, bool v) { return tell(it, v ? "true" : "false", ""); };
    out.integer = [](void* it, int64_t v) { return tell(it, "int ", std::to_string(v)); };
    out.number = [](void* it, double v) {
      char exactly[64];
      std::snprintf(exactly, sizeof exactly, "%a", v);
      return tell(it, "number ", exactly);
    };
    out.string = [](void* it, const char* text, size_t size) {
      return tell(it, "string ", {text, size});
    };
    out.key = [](void* it, const char* text, size_t size) {
      return tell(it, "key ", {text, size});
    };
    out.begin = [](void* it, bool is_object) { return tell(it, is_object ? "{" : "[", ""); };
    out.end = [](void* it) { return tell(it, "end", ""); };
    return out;
  }
  std::string told;
  int calls = 0, last_call = 0, looks = 0, last_look = 0, looks_at_string = 0;
  size_t longest_look = 0, looked_at = 0;

 private:
  static bool tell(void* it, const char* kind, std::string_view what) {
    return static_cast<Listener*>(it)->tell(kind, what);
  }
  bool tell(const char* kind, std::string_view what) {
    told.append(kind).append(what).append("\n");
    return ++calls != last_call;
  }
  std::string parts;
  size_t string_bytes = 0;
};

struct Outcome {
  std::string problem;  // empty: none
  std::string told;     // where there is none
  bool operator==(const Outcome&) const = default;
};

Outcome read_by(Listener& listener, std::string_view text, size_t window,
                size_t* longest = nullptr) {
  const posset_json_sink sink = listener.sink();
  JsonWindows windows(text, reader(), sink, listener, window);
  const char* problem = windows.read();
  if (longest) *longest = windows.longest();
  if (!problem) return {"", listener.told};
  return {*problem ? problem : "stopped", ""};
}
Outcome in_windows(std::string_view text, size_t window) {
  Listener listener;
  return read_by(listener, text, window);
}
Outcome at_once(std::string_view text) { return in_windows(text, text.size()); }

// Documents with everything there is, mostly short, so that much of them is structure.
class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}
  std::string document() { return space() + value(2 + pick(4)) + space(); }
  // Some changes of some bytes each.
  std::string broken(std::string text) {
    static const char* const kPieces[] = {
        "\"", "\\", "[",  "]",  "{",  "}", ",", ":", " ",  "1",  "null", "\\u", "\\ud83d", "\x01",
        "-",  ".",  "[]", "{}", "\n", "e", "x", "0", ",,", "[,", ",]",   "\f",  "\x1a"};
    for (int changes = 1 + pick(3); changes > 0 && !text.empty(); --changes) {
      const size_t at = static_cast<size_t>(pick(text.size()));
      switch (pick(5)) {
        case 0:
          text.erase(at, static_cast<size_t>(1 + pick(3)));
          break;
        case 1:
          text.insert(at, kPieces[pick(std::size(kPieces))]);
          break;
        case 2:
          text.replace(at, 1, kPieces[pick(std::size(kPieces))]);
          break;
        case 3:
          text.resize(at);
          break;
        case 4:
          std::swap(text[at], text[static_cast<size_t>(pick(text.size()))]);
          break;
      }
    }
    return text;
  }
  std::string value(int depth) {
    if (depth > 0 && pick(5) < 4) return pick(2) == 0 ? array(depth) : object(depth);
    static const char* const kScalars[] = {"null",
                                           "true",
                                           "false",
                                           "0",
                                           "-0",
                                           "1",
                                           "-17",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "9223372036854775808",
                                           "18446744073709551615",
                                           "1.5",
                                           "-0.0",
                                           "1e3",
                                           "2.5E-3",
                                           "1e308",
                                           "4.9e-324",
                                           "0.1",
                                           "123456789012345678901234567890.5",
                                           "1.7976931348623157e+308",
                                           "0e99999"};
    if (pick(3) == 0) return string();
    return pick(8) == 0 ? digits() : kScalars[pick(std::size(kScalars))];
  }
  std::string digits() {
    std::string out = pick(2) == 0 ? "-0." : std::to_string(1 + pick(9));
    const bool has_point = out[0] == '-';
    for (int n = pick(pick(4) == 0 ? 1200 : 60); n > 0; --n)
      out += static_cast<char>('0' + (pick(3) == 0 ? 0 : pick(10)));
    if (!has_point) out += ".";
    out += "5";
    if (pick(2) == 0) out += (pick(2) == 0 ? "e-" : "e") + std::to_string(pick(400));
    return out;
  }
  int pick(size_t count) { return static_cast<int>(random_() % count); }

 private:
  std::string space() {
    static const char* const kSpaces[] = {"", "", "", "", " ", "\n", "\t \r\n", "          "};
    return kSpaces[pick(std::size(kSpaces))];
  }
  std::string string() {
    static const char* const kPieces[] = {"a",
                                          "bc",
                                          "é",
                                          "😀",
                                          "\\n",
                                          "\\\"",
                                          "\\\\",
                                          "\\u0041",
                                          "\\u00e9",
                                          "\\ud83d\\ude00",
                                          "\\uD83D\\uDE00",
                                          "\\uDBFF\\uDFFF",
                                          "\\udaBc\\uDC00",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          ",",
                                          ":",
                                          "€",
                                          "\\/",
                                          " ",
                                          "\\ud83d\\ud83d",
                                          "\\udead",
                                          "longer text"};
    const size_t pieces =
        pick(12) == 0 ? std::size(kPieces)
                      : std::size(kPieces) - 3;  // those before the last are half surrogates
    std::string out = "\"";
    for (int n = pick(pick(4) == 0 ? 40 : 5); n > 0; --n) out += kPieces[pick(pieces)];
    return out + "\"";
  }
  std::string array(int depth) {
    std::string out = "[" + space();
    for (int n = pick(5), i = 0; i < n; ++i)
      out += (i ? "," + space() : "") + value(depth - 1) + space();
    return out + "]";
  }
  std::string object(int depth) {
    std::string out = "{" + space();
    for (int n = pick(5), i = 0; i < n; ++i)
      out += (i ? "," + space() : "") + string() + space() + ":" + space() + value(depth - 1) +
             space();
    return out + "}";
  }
  std::mt19937 random_;
};

std::string repeated(std::string_view what, size_t times) {
  std::string out;
  for (; times > 0; --times) out += what;
  return out;
}

// Scripts have no text that is not UTF-8: such a one is refused, for that or for what is found
// before.
const char* const kNotUtf8 = "The input is not valid UTF-8";

const std::vector<size_t> kWindows = {1,  2,  3,   5,   8,   13,  16,   21,  32,
                                      50, 64, 100, 129, 200, 333, 1000, 4000};

void check_same(std::string_view text, const std::vector<size_t>& windows = kWindows) {
  const Outcome expected = at_once(text);
  for (const size_t window : windows) {
    if (window >= text.size()) break;
    const Outcome got = in_windows(text, window);
    const bool is_refused = expected.problem == kNotUtf8 && !got.problem.empty();
    REQUIRE_MESSAGE(
        (is_refused || got.problem == expected.problem),
        "window " << window << ": " << got.problem << ", not " << expected.problem << ": " << text);
    REQUIRE_MESSAGE(got.told == expected.told, "window " << window << " text " << text);
  }
}

}  // namespace

TEST_CASE("windows give what the whole text gives") {
  int valid = 0;
  size_t told = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    Maker make(seed);
    const std::string text = make.document();
    check_same(text);
    const Outcome whole = at_once(text);
    valid += whole.problem.empty();
    told += whole.told.size();
  }
  CHECK(valid > 3000);
  CHECK(told > 400000);
}

TEST_CASE("windows find the fault that the whole text has") {
  int faulty = 0;
  std::vector<std::string> problems;
  for (uint32_t seed = 0; seed < 12000; ++seed) {
    Maker make(seed);
    const std::string text = make.broken(make.document());
    check_same(text);
    const std::string problem = at_once(text).problem;
    faulty += !problem.empty();
    if (std::find(problems.begin(), problems.end(), problem) == problems.end())
      problems.push_back(problem);
  }
  CHECK(faulty > 5000);
  CHECK(problems.size() >= 8);  // none, structure, strings, numbers, words of three kinds, control
                                // characters, open strings
}

TEST_CASE("windows of several blocks give what the whole text gives") {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Maker make(seed);
    std::string text = "[";
    while (text.size() < 20000) text += make.document() + ",";
    text += "0]";
    check_same(text);
    check_same(make.broken(text));
  }
}

TEST_CASE("containers can be as deep as in the whole text") {
  struct {
    std::string begin, end;
  } const kinds[] = {{"[", "]"},
                     {"{\"a\":", "}"},
                     {"[1,", "]"},
                     {"[", ",2]"},
                     {"{\"a\":[],\"b\" : ", ", \"c\":{}}"},
                     {"[ {\"\":", "} , 3]"}};
  for (const auto& kind : kinds) {
    const size_t levels = kind.begin.find('{') == 2 ? 2 : 1;
    for (const char* inside :
         {"1", "[]", "{}", "[ ]", "[1]", "[[]]", "{\"a\":{}}", "\"text, [\"", "1,2", "[}", "1x"}) {
      for (const size_t depth : {1021, 1022, 1023, 1024, 1025, 1026, 1500}) {
        const std::string text =
            repeated(kind.begin, depth / levels) + inside + repeated(kind.end, depth / levels);
        check_same(text, {16, 500});
        check_same("[" + text + ", 17, \"after\"]", {64, 900});
      }
    }
  }
  CHECK(at_once(repeated("[", 1023) + "[]" + repeated("]", 1023)).problem == "");
  CHECK(at_once(repeated("[", 1024) + "1" + repeated("]", 1024)).problem.find("too deep") !=
        std::string::npos);
}

TEST_CASE("roots, ends and strings are as in the whole text") {
  const std::string spaces = repeated(" \t\r\n", 40), letters = repeated("abc é", 40),
                    escapes = repeated("\\\\", 41), units = repeated("\\ud83d\\ude00", 20);
  for (const std::string& text : std::vector<std::string>{
           spaces,
           spaces + "1" + spaces,
           spaces + "1" + spaces + "2",
           "\"" + letters + "\"",
           "\"" + letters,
           "\"" + letters + "\" \"",
           letters,
           "true" + spaces,
           spaces + "tru",
           spaces + "nul" + letters,
           "[" + spaces + "]",
           "{" + spaces + "}",
           "[" + spaces,
           spaces + "]",
           "[" + spaces + ",1]",
           "[1," + spaces + "]",
           "{\"a\":1," + spaces + "}",
           "{" + spaces + ",\"a\":1}",
           "[1" + spaces + "2]",
           "[1]" + spaces + "]",
           "[1]" + spaces + ",2]",
           "{\"a\"" + spaces + ":" + spaces + "1}",
           "{\"a\"" + spaces + ",1}",
           "{\"a\":" + spaces + "}",
           "[\"" + escapes + "\"]",
           "[\"" + escapes + "\\\"]",
           "[\"" + escapes + "\",\"" + escapes + "\\\\\"]",
           "\"" + units + "\"",
           "\"x" + units + "\"",
           "\"" + units + "\\ud83d\"",
           "\"" + units + "\\ud8\"",
           "\"\\u" + units + "\"",
           "\"" + units + "\\ude00\"",
           "{\"" + units + letters + "\":{\"" + letters + "\":\"" + letters + "\"}}",
           "[1x" + spaces + "}, 2]",
           "[1x" + letters + "\"]",
           "[true\"" + letters + "\", 1]",
           "[\"" + letters + "\x01" + letters + "\"]",
           "[1x, \"" + letters + "\x01\"]",
           "[1x, \"" + letters + "]",
           "{\"" + letters + "\":1,\"" + letters + "\":2}",
           "[1\\\"," + letters + "\"]",
           "[\"a\"\"" + letters + "\"]",
           "[\"" + letters + "\"1]",
           "\xef\xbb\xbf[1," + spaces + "2]",
           std::string(100, '\0'),
           "[1," + std::string(100, '\0') + "]"}) {
    check_same(text);
  }
}

std::string power_of_five(int exponent) {
  std::string digits = "1";  // from the last
  for (; exponent > 0; --exponent) {
    int carry = 0;
    for (char& digit : digits) {
      carry += 5 * (digit - '0');
      digit = static_cast<char>('0' + std::exchange(carry, carry / 10) % 10);
    }
    if (carry) digits += static_cast<char>('0' + carry);
  }
  return {digits.rbegin(), digits.rend()};
}

TEST_CASE("numbers that are longer than a window are what they are in the whole text") {
  const std::string zeros(1200, '0'), nines(1200, '9'), digits = repeated("1234567890", 120);
  const std::string half = "9007199254740993";  // between two doubles
  const std::string least_half =
      power_of_five(1075) + "e-1075";  // between zero and the least double; 752 digits
  const std::string more = power_of_five(1075) + "0000000001e-1085";
  for (const std::string& number :
       std::vector<std::string>{"0." + zeros,
                                "-0." + zeros + "e" + zeros,
                                "0." + zeros + "1",
                                "0." + zeros + "1e1201",
                                "0." + zeros + "1e+1000",
                                "-0." + zeros + digits + "e1190",
                                "1." + zeros,
                                half + "." + zeros,
                                half + "." + zeros + "1",
                                half + zeros + "e-1200",
                                half + zeros + "1e-1201",
                                half + zeros + ".0e-1200",
                                digits + "e-1190",
                                digits + ".5E-1000",
                                digits + "e-1600",
                                digits + "e-900",
                                digits + ".5",
                                nines + "e-1200",
                                nines + "." + nines + "e-892",
                                "17976931348623157" + zeros + "e-908",
                                "17976931348623159" + zeros + "e-908",
                                "1e" + zeros + "5",
                                "1e-" + zeros + "300",
                                "1.5e+" + zeros + "7",
                                "0e" + nines,
                                "1e-" + nines,
                                "1e" + nines,
                                "-" + nines + ".0e-" + nines,
                                digits,
                                "-" + digits,
                                zeros,
                                "0" + digits + ".5",
                                "-",
                                "-." + digits,
                                "1." + digits + ".",
                                "1." + digits + "e",
                                "1." + digits + "e+",
                                "1." + digits + "x",
                                digits + ".",
                                digits + ".e5",
                                "1e5" + digits + ".5",
                                "+" + digits,
                                "1" + digits + "-1",
                                "." + digits,
                                "0." + least_half,
                                least_half,
                                more,
                                "-1." + more,
                                least_half.substr(0, 752) + ".1e-1075"}) {
    check_same(number);
    check_same("[ " + number + ", 1]");
    check_same("{\"a\": " + number + "}");
  }
}

// What holds whatever the text: it is read in windows, limits are looked at often, and not much is
// looked at twice.
void check_pace(std::string_view text, size_t window) {
  Listener listener;
  size_t longest = 0;
  const Outcome got = read_by(listener, text, window, &longest);
  const Outcome expected = at_once(text);
  const std::string_view shown = text.substr(0, 80);
  CHECK_MESSAGE(got.problem == expected.problem, shown);
  CHECK_MESSAGE((got.told == expected.told), shown);
  CHECK_MESSAGE(longest <= window, shown);
  CHECK_MESSAGE(listener.longest_look <= window + 64, shown);
  CHECK_MESSAGE(listener.looked_at <= 4 * text.size(), shown);
  CHECK_MESSAGE(listener.looked_at + window + 100 >= text.size(), shown);
}

TEST_CASE("a window at a time is read of what has no comma, and little is read twice") {
  constexpr size_t kWindow = 4 << 10, kTimes = 200 << 10;
  const std::string letters(5000, 'x');
  const std::string chain = repeated("[", 1000) + "\"" + letters + "\"" + repeated("]", 1000) + ",";
  const std::string keys = repeated("{\"" + letters + "\":", 500) + "1" + repeated("}", 500);
  for (const std::string& text :
       std::vector<std::string>{"[\"" + repeated("abcde", kTimes) + "\"]",
                                "[\"" + repeated("é\\n", kTimes) + "\"]",
                                "\"" + repeated("\\u00e9", kTimes) + "\"",
                                "[\"" + repeated("\\\\", kTimes) + "\"]",
                                "[\"" + repeated("\\", kTimes),
                                "{\"" + repeated("key", kTimes) + "\":1}",
                                "[\"" + repeated("abc", kTimes),
                                "[" + repeated("\"\\\"", kTimes),
                                "[" + repeated(" ", kTimes) + "]",
                                repeated(" ", kTimes),
                                repeated("[", kTimes),
                                repeated("[", kTimes) + "]",
                                "[" + repeated("]", kTimes),
                                "[0." + repeated("12", kTimes) + "]",
                                repeated("7", kTimes),
                                "[" + repeated("word", kTimes) + "]",
                                "[" + repeated(chain, 50) + "0]",
                                keys,
                                "[" + repeated("[],", kTimes) + "0]",
                                "[" + repeated("1,", kTimes) + "2",
                                "[" + repeated("1,\"" + letters + "\",", 100) + "{}]",
                                "[" + repeated(",", kTimes) + "]",
                                "1" + repeated(" ", kTimes),
                                "{" + repeated("\"a\":1,", kTimes) + "}"}) {
    check_pace(text, kWindow);
  }
}

TEST_CASE(
    "limits are looked at while the end of a string is searched, and while a number is shortened") {
  Listener listener;
  CHECK(read_by(listener, "[\"" + repeated("abcd", 250000) + "\"]", 1000).problem.empty());
  CHECK(listener.looks_at_string > 900);
  CHECK(listener.looks_at_string < 1100);
  Listener numbers;
  CHECK(read_by(numbers, "[0." + repeated("1234", 250000) + "]", 1000).problem.empty());
  CHECK(numbers.looks > 1900);
  CHECK(numbers.looks < 2100);
}

TEST_CASE("reading ends where the sink or looking says so") {
  const std::string text =
      "[1,{\"key that is long\":[true,null,-2.5],\"b\":\"a string that is long\"}, [[]],   " +
      repeated(" ", 100) + "0." + repeated("1", 200) + "]";
  for (const size_t window : {1, 20, 64, 1000}) {
    Listener counting;
    REQUIRE(read_by(counting, text, window).problem.empty());
    for (int last = 1; last <= counting.calls; ++last) {
      Listener listener;
      listener.last_call = last;
      CHECK(read_by(listener, text, window).problem == "stopped");
      CHECK(listener.calls == last);
    }
    for (int last = 1; last <= counting.looks; ++last) {
      Listener listener;
      listener.last_look = last;
      CHECK(read_by(listener, text, window).problem == "stopped");
      CHECK(listener.looks == last);
    }
  }
}

TEST_CASE("looking for an earlier fault can be stopped") {
  const std::string text = "[1x," + repeated("1,", 1000) + "\"\x01\"]";
  Listener counting;
  CHECK(read_by(counting, text, 64).problem.find("unescaped") != std::string::npos);
  for (int last = 1; last <= counting.looks; ++last) {
    Listener listener;
    listener.last_look = last;
    CHECK(read_by(listener, text, 64).problem == "stopped");
  }
}
