// What has no conversion does not compile, and says what to write; what looks like it and has one does.
// run_compile.py compiles each CASE by itself: a row `CASE N: ...` says what it is, and `rejects: TEXT` with what.
//
// SPDX-License-Identifier: MIT
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <variant>

#include <posset/posset.hpp>

struct Item {
  int weight = 1;
};
struct Bag {  // which looks like a container
  using value_type = Item;
  Item* begin() { return nullptr; }
  int weight = 2;
};
#if CASE == 11 || CASE == 12
template <>
inline constexpr bool posset::is_host_type<Bag> = true;
#endif

void use(posset::Context& context, posset::Runtime& runtime, posset::Sender& sender) {
  (void)context, (void)runtime, (void)sender;
#if CASE == 1  // CASE 1: a set as a parameter; rejects: no conversion for this parameter
  context.define("f", [](const std::set<int>& all) { return all.size(); });
#elif CASE == 2  // CASE 2: a std::function as a parameter; rejects: no conversion for this parameter
  context.define("f", [](const std::function<int(int)>& f) { return f(1); });
#elif CASE == 3  // CASE 3: an array as a result; rejects: no conversion for this type
  context.define("f", [] { return std::array<int, 2>(); });
#elif CASE == 4  // CASE 4: a variant as a parameter; rejects: no conversion for this parameter
  context.define("f", [](const std::variant<int, bool>& either) { return either.index(); });
#elif CASE == 5  // CASE 5: a vector of sets; rejects: no conversion for this type
  (void)context.eval<std::vector<std::set<int>>>("[]");
#elif CASE == 6  // CASE 6: a time; rejects: no conversion for this type
  context.set("x", std::chrono::seconds(1));
#elif CASE == 7  // CASE 7: an object itself; rejects: give an object of the host as a
  context.set("x", Item());
#elif CASE == 8  // CASE 8: an object by value; rejects: take host objects by reference or pointer
  context.define("f", [](Item item) { return item.weight; });
#elif CASE == 9  // CASE 9: an integer of 128 bits; rejects: no conversion for this type
  (void)context.eval<__int128>("1");
#elif CASE == 10  // CASE 10: a type that looks like a container; rejects: when posset::is_host_type says so
  runtime.define(posset::Type<Bag>("Bag"));
#elif CASE == 11  // CASE 11: one that is said to be none
  runtime.define(std::move(posset::Type<Bag>("Bag").property("weight", &Bag::weight)));
  context.define("f", [](Bag& bag) { return bag.weight; });
#elif CASE == 12  // CASE 12: a pointer to one
  context.set("bag", std::make_shared<Bag>());
#elif CASE == 13  // CASE 13: enums and optionals
  enum class Color : uint8_t { Red, Green };
  context.define("f", [](Color color, std::optional<int> n) { return n ? color : Color::Red; });
  (void)context.eval<Color>("f(1)");
#endif
}
