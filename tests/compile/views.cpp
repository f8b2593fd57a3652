// Views into values (posset::View) that would outlive what they look into do not compile; those that do not, do.
// run_compile.py compiles each CASE by itself: a row `CASE N: ...` says what it is, and `rejects: TEXT` with what.
//
// SPDX-License-Identifier: MIT
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <posset/posset.hpp>

using Floats = std::span<const double>;

// A conversion of a host's own, which gives a view.
struct Name {
  std::string_view text;
};
template <>
struct posset::Convert<Name> {
  static constexpr const char* name = "str";
  static constexpr View view = View::Place;
  static bool from(posset_context* context, const posset_value& v, Name& out) {
    return Convert<std::string_view>::from(context, v, out.text);
  }
};
struct Player {
  std::string_view view;
  std::string text;
};

void use(posset::Context& context, posset::Program& program, posset::Runtime& runtime) {
  (void)context, (void)program, (void)runtime;
#if CASE == 1  // CASE 1: a function that gives a string view; rejects: a view into a result that is gone at once
  context.compile<std::string_view()>("() => \"ab\"")();
#elif CASE == 2  // CASE 2: a function that gives a span; rejects: a view into a result that is gone at once
  context.compile<Floats()>("() => [1.0]")();
#elif CASE == 3  // CASE 3: an evaluation to a span; rejects: a view into a value that is gone at once
  (void)context.eval<Floats>("[1.0]");
#elif CASE == 4  // CASE 4: an evaluation to a string view; rejects: a view into a value that is gone at once
  (void)context.eval<std::string_view>("\"ab\"");
#elif CASE == 5  // CASE 5: a program's value as a span; rejects: a view into a value that is gone at once
  (void)program.get<Floats>("xs");
#elif CASE == 6  // CASE 6: a global as a span; rejects: a view into a value that is gone at once
  (void)context.get<Floats>("xs");
#elif CASE == 7  // CASE 7: a parameter that is a vector of string views; rejects: the bytes may stand inside the element
  context.define("f", [](const std::vector<std::string_view>& all) { return all.size(); });
#elif CASE == 8  // CASE 8: a map of string views; rejects: the bytes may stand inside the element
  context.define("f", [](const std::map<std::string_view, int>& all) { return all.size(); });
#elif CASE == 9  // CASE 9: a map to string views; rejects: the bytes may stand inside the element
  context.define("f", [](const std::map<std::string, std::string_view>& all) { return all.size(); });
#elif CASE == 10  // CASE 10: a pair with a string view; rejects: the bytes may stand inside the element
  context.define("f", [](std::pair<int, std::string_view> both) { return both.first; });
#elif CASE == 11  // CASE 11: a future span; rejects: a view into a value that is gone at once
  (void)runtime.submit<Floats>(context, "[1.0]").get();
#elif CASE == 12  // CASE 12: a string view of a kept Value; rejects: the bytes may stand inside the value
  posset::Value kept = context.eval("\"ab\"");
  (void)kept.to<std::string_view>();
#elif CASE == 13  // CASE 13: a stored member that is a string view; rejects: a member that scripts store into would be a view
  runtime.define(std::move(posset::Type<Player>("Player").property("view", &Player::view)));
#elif CASE == 14  // CASE 14: a vector of spans from an evaluation; rejects: a view into a value that is gone at once
  (void)context.eval<std::vector<Floats>>("[[1.0]]");
#elif CASE == 15  // CASE 15: an optional string view; rejects: a view into a result that is gone at once
  context.compile<std::optional<std::string_view>()>("() => nil")();
#elif CASE == 16  // CASE 16: the host's own view; rejects: a view into a value that is gone at once
  (void)context.eval<Name>("\"ab\"");
#elif CASE == 17  // CASE 17: an inout argument of a submitted call as a span; rejects: a view into a value that is gone at once
  Floats floats;
  context.submit("1").take_arguments(floats);
#elif CASE == 18  // CASE 18: views that last are accepted
  context.define("a", [](std::string_view text, Floats xs) { return text.size() + xs.size(); });
  context.define("b", [](std::optional<std::string_view> text, Name) { return text ? text->size() : 0; });
  context.define("c", [](const std::vector<Floats>& rows) { return rows.size(); });
  context.define("d", [](std::string_view text) { return text; });
  context.set("names", std::vector<std::string_view>{"a", "b"});
  const posset::Value list = context.eval("[1.0]");
  (void)list.to<Floats>();
  (void)context.eval<std::vector<std::string>>("[]");
  context.compile<std::string(std::string_view, Floats)>("(a, b) => a")("a", Floats());
  runtime.define(std::move(posset::Type<Player>("Player").property("text", &Player::text)));
#endif
}
