// How many objects a value is guessed to reach. Where all ways down are alike the guess is exact.
#include "interp/runtime/reach.h"

#include <string_view>

#include "../api/fixture.h"
#include "interp/api/handles.h"

using posset::interp::guess_reached;
using posset::test::World;

namespace {

double reached(World& world, std::string_view source) {
  posset_value value = posset_nil();
  REQUIRE(world.eval(source, &value) == POSSET_OK);
  posset::sched::Random random(3);
  const double found = guess_reached(posset::api::in(value), random);
  posset_release(value);
  return found;
}

}  // namespace

TEST_CASE("reach: where all ways are alike the guess is exact") {
  World world;
  CHECK(reached(world, "1.5") == 0);
  CHECK(reached(world, "\"a text that is too long for its value\"") == 1);
  CHECK(reached(world, "[1, 2, 3]") == 1);
  CHECK(reached(world, "map(0..1000, i => {n: i, w: 0.5})") == 1001);
  CHECK(reached(world, "[for i in 0..20 => [for j in 0..30 => [nil, j]]]") == 1 + 20 + 20 * 30);
  constexpr std::string_view tree = "type Tree = Leaf(value) | Node(left, value, right)\n"
                                    "fn grow(n) => if n == 0 { Leaf(n) } else { Node(grow(n - 1), n, grow(n - 1)) }\n"
                                    "grow(10)";
  CHECK(reached(world, tree) == 2047);
}

TEST_CASE("reach: a map is guessed by its entries, and a chain is no endless way") {
  World world;
  const double found = reached(world, "var m = [:]\nfor i in 0..1000 { m[i] = [nil, i] }\nm");
  CHECK(found > 100);
  CHECK(found < 4000);
  constexpr std::string_view chain = "type Chain = End | Link(value, rest)\nvar c = End\nfor i in 0..100000 { c = Link(i, c) }\nc";
  CHECK(reached(world, chain) == 1000);
}

TEST_CASE("reach: what is shared already is not reached") {
  World world;
  posset_value value = posset_nil();
  REQUIRE(world.eval("map(0..1000, i => {n: i, w: 0.5})", &value) == POSSET_OK);
  posset::interp::Object* const list = posset::api::in(value).object();
  list->count = -list->count;
  posset::sched::Random random(3);
  CHECK(guess_reached(posset::api::in(value), random) == 0);
  list->count = -list->count;
  posset_release(value);
}
