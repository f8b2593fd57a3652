// Calls of every function that is built in, with arguments that make much work, from the table of what is built in: a new
// function is among them by itself. Which arguments a function wants is not known; every one is tried with large and small
// values of all kinds in each place, and what it does not want it refuses at once. Operators, which are in no table, are added
// by hand. For the tests and the measurement of how soon an interruption acts.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <posset/posset.h>

namespace every_call {

struct Call {
  std::string name;  // "strings.pad"
  std::string text;  // "strings.pad(text, 3)"
};

// What the calls are given: globals of the context, made in their order. `scale` says how large they are.
struct Given {
  const char *name, *source;
};
inline const Given kGiven[] = {
    {"ints", "[for i in 0..400000 * scale => (i * 7919) % 400009]"},
    {"floats", "[for i in 0..400000 * scale => i * 0.5]"},
    {"strs", "[for i in 0..200000 * scale => \"item {i}\"]"},
    {"nested", "[for i in 0..200000 * scale => [i, \"x\"]]"},
    {"twin", "[for i in 0..200000 * scale => [i, \"x\"]]"},
    {"dict", "map_of([for i in 0..200000 * scale => [i, [i]]])"},
    {"text", "join([for i in 0..1000000 * scale => \"ab, c\\n\"])"},
    {"foreign", "join([for i in 0..1000000 * scale => \"äö ü\\n\"])"},
    {"digits", "join([for i in 0..1000000 * scale => \"000000\"])"},
    {"alike", "[text + \"a\", text + \"a\", text + \"b\"]"},
    {"endless", "0..1000000000000"},
    {"huge", "4000000000"},
    {"small", "3"},
    {"short", "\"a\""},
    {"one", "x => x"},
    {"two", "(a, b) => a"},
    {"less", "(a, b) => a < b"},
};

inline const char* const kLarge[] = {"ints", "floats", "strs", "nested", "dict", "text", "foreign", "digits", "endless", "huge"};
inline const char* const kOthers[] = {"small", "short", "one", "two", "less", "twin", "text"};

inline const char* const kOperators[] = {
    "nested == twin", "nested != twin", "nested < twin", "[nested] == [twin]", "text == text + short", "ints == ints + [1]",
    "twin in [nested]", "nested in twin", "small in endless", "short in text", "ints + ints", "nested + twin", "text + text",
    "\"{nested}\"", "\"{text:>20000000}\"", "[..nested, ..twin]", "nested[1..199999]", "text[1..5999999]", "foreign[3999999]",
    "[nested: 1]", "dict[nested]", "[nested: 1] == [twin: 1]", "{a: nested} == {a: twin}", "one(nested) == one(twin)",
    "{ var xs = nested\n xs[5] = 0\n xs == twin }", "{ var m = dict\n m[0 - 1] = 1\n m == dict }",
    "sort(alike)", "sort([[alike, 0.0 / 0.0], [alike, 1.0]])", "index_of(foreign + \"q\", \"q\")", "\"{foreign:20}\"", "\"{foreign:.3999999}\"",
    "float(digits + \".5e-\" + digits)", "{ var m = dict\n remove_if(&m, e => true)\n m }", "{ var m = [:]\n m[nested].push(1)\n m }",
    "{ for x in nested { x == x }\n nil }", "[for x in endless if x < 0 => x]",
    // What dies at the end of each.
    "len([for i in 0..400000 * scale => [i, [i]]])", "len(map_of([for i in 0..200000 * scale => [\"key {i}\", [i]]]))",
    "{ var list = nil\n for i in 0..400000 { list = {next: list} }\n list = 1\n list }",
};

// The parameters of a signature: "xs", "&xs", "..args", "sep = nil".
inline std::vector<std::string> parameters_of(const std::string& signature) {
  std::vector<std::string> all;
  const size_t begin = signature.find('('), end = signature.rfind(')');
  if (begin == std::string::npos || end == std::string::npos) return all;
  for (size_t at = begin + 1; at < end;) {
    const size_t comma = std::min(signature.find(", ", at), end);
    all.push_back(signature.substr(at, comma - at));
    at = comma + 2;
  }
  return all;
}

class Maker {
 public:
  Maker(std::vector<Call>& out, std::string name, std::vector<std::string> parameters)
      : out_(out), name_(std::move(name)), parameters_(std::move(parameters)) {
    size_t least = 0;
    while (least < parameters_.size() && parameters_[least].find('=') == std::string::npos) ++least;
    for (count_ = least; count_ <= parameters_.size() && count_ <= kMost; ++count_) add(0, "", "");
  }

 private:
  static constexpr size_t kMost = 3;  // further ones are as good as never those that make the work

  void add(size_t at, const std::string& before, const std::string& variables) {
    if (at == count_) {
      const std::string call = name_ + "(" + before + ")";
      out_.push_back({name_, variables.empty() ? call : "{ " + variables + call + " }"});
      return;
    }
    const auto with = [&](const char* value) {
      const bool lent = parameters_[at][0] == '&';
      const std::string variable = "v" + std::to_string(at);
      add(at + 1, before + (at ? ", " : "") + (lent ? "&" + variable : value),
          variables + (lent ? "var " + variable + " = " + value + "\n " : ""));
    };
    if (at == 0) {
      for (const char* value : kLarge) with(value);
      for (const char* value : {"small", "one"}) with(value);
    } else if (at == 1) {
      for (const char* value : kOthers) with(value);
    } else {
      for (const char* value : {"small", "short", "two"}) with(value);
    }
  }

  std::vector<Call>& out_;
  const std::string name_;
  const std::vector<std::string> parameters_;
  size_t count_ = 0;
};

inline posset_text text_of(const std::string& text) { return posset_text_n(text.data(), text.size()); }

// False: something of it is no good.
inline bool give(posset_context* context, int64_t scale = 1) {
  if (posset_set_global(context, posset_text_of("scale"), posset_int(scale)) != POSSET_OK) return false;
  for (const Given& each : kGiven) {
    posset_value value = posset_nil();
    if (posset_eval(context, posset_text_of(each.source), &value, nullptr) != POSSET_OK) return false;
    if (posset_set_global(context, posset_text_of(each.name), value) != POSSET_OK) return false;
  }
  return true;
}

// The call as a function without parameters; false: it does not resolve.
inline bool prepare(posset_context* context, const Call& call, posset_value& out) {
  const size_t dot = call.name.find('.');
  const std::string import = dot == std::string::npos ? "" : "import \"" + call.name.substr(0, dot) + "\"\n";
  return posset_eval(context, text_of(import + "() => " + call.text), &out, nullptr) == POSSET_OK;
}

// All of them; `names` gets those of the functions.
inline std::vector<Call> make(posset_runtime* runtime, std::vector<std::string>& names) {
  struct Found {
    std::vector<Call> calls;
    std::vector<std::string>& names;
  } found{{}, names};
  posset_each_builtin(runtime, [](void* data, const posset_builtin_info* info) {
    auto& to = *static_cast<Found*>(data);
    if (!info->is_function) return POSSET_OK;
    std::string name(info->name.data, info->name.size);
    if (info->module.size != 0) name = std::string(info->module.data, info->module.size) + "." + name;
    to.names.push_back(name);
    Maker(to.calls, name, parameters_of(std::string(info->signature.data, info->signature.size)));
    return POSSET_OK;
  }, &found);
  for (const char* text : kOperators) found.calls.push_back({"operators", text});
  return found.calls;
}

}  // namespace every_call
