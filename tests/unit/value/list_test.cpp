// Lists: packing, growth, changing in place, copying when shared.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

namespace {
Packing packing_of(Borrowed v) { return v.as<List>()->packing(); }
std::string shown(World& world, Borrowed v) { return printed(world, v); }
}  // namespace

TEST_CASE("list: packs by its first element and widens unseen") {
  World world;
  Value ints = world.list(World::integer(1), World::integer(2));
  CHECK(packing_of(ints) == Packing::Int);
  Value mixed = world.list(World::integer(1), World::real(2.5), Value::boolean(true));
  CHECK(packing_of(mixed) == Packing::Any);
  CHECK(shown(world, mixed) == "[1, 2.5, true]");
  Value bools = world.list(Value::boolean(true), Value::boolean(false));
  CHECK(packing_of(bools) == Packing::Bool);
  Value floats = world.list(World::real(1), World::real(std::nan("")));
  CHECK(packing_of(floats) == Packing::Float);
  CHECK(shown(world, floats) == "[1.0, nan]");
}

TEST_CASE("list: an emptied list takes a new packing") {
  World world;
  Borrowed place = world.list(Value::boolean(true)).take();
  list_truncate(place, 0);
  for (int i = 0; i < 100; ++i) world.push(place, world.text("a string of some length"));
  list_truncate(place, 0);
  for (int i = 0; i < 100; ++i) world.push(place, World::integer(i));
  CHECK(packing_of(place) == Packing::Int);
  release(place);
}

TEST_CASE("list: growth of each packing up to many elements") {
  World world;
  for (int kind = 0; kind < 4; ++kind) {
    auto make = [&](int i) -> Value {
      if (kind == 0) return World::integer(i);
      if (kind == 1) return World::real(i * 0.5);
      if (kind == 2) return Value::boolean(i % 3 == 0);
      return world.text("string number " + std::to_string(i));
    };
    Borrowed place = world.list().take();
    for (int i = 0; i < 20000; ++i) world.push(place, make(i));
    auto* list = place.as<List>();
    CHECK(list->size == 20000);
    bool same = true;
    for (int i = 0; i < 20000; ++i)
      same = same && equal(list_get(list, static_cast<uint64_t>(i)), make(i));
    CHECK(same);
    release(place);
  }
}

TEST_CASE("list: widening in the middle of growth keeps every element") {
  World world;
  for (uint64_t before = 0; before < 70; ++before) {
    Borrowed place = world.list().take();
    for (uint64_t i = 0; i < before; ++i) world.push(place, Value::boolean(i % 2 == 0));
    world.push(place, world.text("x"));
    auto* list = place.as<List>();
    for (uint64_t i = 0; i < before; ++i) CHECK(list_get(list, i).as_bool() == (i % 2 == 0));
    CHECK(bytes_of(list_get(list, before)) == "x");
    release(place);
  }
}

TEST_CASE("list: set, insert, remove, swap") {
  World world;
  Borrowed place = world.list(World::integer(1), World::integer(2), World::integer(3)).take();
  REQUIRE(list_set(world.heap, place, 1, World::integer(20)));
  REQUIRE(list_insert(world.heap, place, 0, World::integer(0)));
  REQUIRE(list_insert(world.heap, place, 4, World::integer(4)));
  CHECK(shown(world, place) == "[0, 1, 20, 3, 4]");
  REQUIRE(list_set(world.heap, place, 2, world.text("two strings of length")));
  CHECK(shown(world, place) == "[0, 1, \"two strings of length\", 3, 4]");
  REQUIRE(list_set(world.heap, place, 2, world.text("another of some length")));
  list_swap(place.as<List>(), 0, 2);
  CHECK(bytes_of(list_remove(place, 0)) == "another of some length");
  CHECK(list_remove(place, 3).view().as_int() == 4);
  CHECK(shown(world, place) == "[1, 0, 3]");
  release(place);
}

TEST_CASE("list: a copy is made only when shared, and counted") {
  World world;
  Borrowed place = world.list(world.text("one of the longer strings")).take();
  REQUIRE(make_unique_list(world.heap, place));
  CHECK(world.heap.stats().copies == 0);
  Value other = Value::copy(place);
  REQUIRE(make_unique_list(world.heap, place));
  CHECK(world.heap.stats().copies == 1);
  world.push(place, World::integer(2));
  CHECK(other->as<List>()->size == 1);
  CHECK(place.as<List>()->size == 2);
  release(place);
}

TEST_CASE("list: append, concatenate, also with itself") {
  World world;
  Borrowed place = world.list(World::integer(1), World::integer(2)).take();
  REQUIRE(list_append(world.heap, place, place.as<List>()));
  CHECK(shown(world, place) == "[1, 2, 1, 2]");
  CHECK(packing_of(place) == Packing::Int);
  Value strings = world.list(world.text("some string that is long"), World::real(1.5));
  REQUIRE(list_append(world.heap, place, strings->as<List>()));
  CHECK(shown(world, place) == "[1, 2, 1, 2, \"some string that is long\", 1.5]");
  REQUIRE(list_append(world.heap, place, place.as<List>()));
  CHECK(place.as<List>()->size == 12);
  Value floats = world.list(World::real(0.5));
  REQUIRE(list_append(world.heap, place, floats->as<List>()));
  Value left = Value::adopt(place);
  Value kept = Value::copy(left);
  Value joined = list_concatenate(world.heap, std::move(left), floats->as<List>());
  CHECK(kept->as<List>()->size == 13);
  CHECK(joined->as<List>()->size == 14);
  uint64_t made = world.heap.stats().allocations;
  joined = list_concatenate(world.heap, std::move(joined), floats->as<List>());
  CHECK(world.heap.stats().allocations == made);  // unique: in place
  Value empty = world.list();
  Value kept_empty = Value::copy(empty);
  Value copy = list_concatenate(world.heap, std::move(empty), floats->as<List>());
  CHECK(packing_of(copy) == Packing::Float);
  CHECK(kept_empty->as<List>()->size == 0);
}

TEST_CASE("list: slices, filling, reversing, ranges") {
  World world;
  Value numbers = list_of_range(world.heap, -2, 5);
  CHECK(shown(world, numbers) == "[-2, -1, 0, 1, 2]");
  CHECK(shown(world, list_slice(world.heap, numbers->as<List>(), 1, 3)) == "[-1, 0]");
  CHECK(shown(world, list_slice(world.heap, numbers->as<List>(), 5, 5)) == "[]");
  CHECK(shown(world, list_reversed(world.heap, numbers->as<List>())) == "[2, 1, 0, -1, -2]");
  Value text = world.text("a string of some length");
  Value filled = list_filled(world.heap, 3, text);
  CHECK(text->object()->count == 4);
  CHECK(shown(world, list_reversed(world.heap, filled->as<List>())) == shown(world, filled));
  CHECK(packing_of(list_filled(world.heap, 3, Borrowed::boolean(true))) == Packing::Bool);
  CHECK(shown(world, list_filled(world.heap, 2, Borrowed::floating(0.5))) == "[0.5, 0.5]");
  CHECK(list_filled(world.heap, uint64_t{1} << 62, Borrowed::integer(0)).failed());
  CHECK(list_of_range(world.heap, INT64_MAX - 1, 2).view().as<List>()->ints()[1] == INT64_MAX);
}

TEST_CASE("list: unpacking gives places") {
  World world;
  Borrowed place = list_of_range(world.heap, 0, 100).take();
  REQUIRE(list_unpack(world.heap, place));
  CHECK(packing_of(place) == Packing::Any);
  for (uint64_t i = 0; i < 100; ++i)
    CHECK(place.as<List>()->any()[i].as_int() == static_cast<int64_t>(i));
  release(place);
}

TEST_CASE("list: agrees with a model under random work") {
  World world;
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    Borrowed place = world.list().take();
    std::vector<Value> model;
    auto any_value = [&](uint64_t n) -> Value {
      if (n % 16 < 11) return World::integer(static_cast<int64_t>(n));
      if (n % 16 < 13) return World::real(static_cast<double>(n) / 3);
      return n % 16 == 14 ? Value::boolean(n % 32 < 16)
                          : world.text("string of some length " + std::to_string(n));
    };
    for (int step = 0; step < 2000; ++step) {
      uint64_t size = model.size(), at = size == 0 ? 0 : random() % size;
      // Rounds of ints only keep the packing, the others lose it somewhere.
      Value v = round % 2 == 0 ? World::integer(step) : any_value(random());
      switch (random() % 8) {
        case 0:
        case 1:
        case 2:
          model.push_back(Value::copy(v));
          REQUIRE(list_push(world.heap, place, std::move(v)));
          break;
        case 3:
          if (size == 0) break;
          model[at] = Value::copy(v);
          REQUIRE(list_set(world.heap, place, at, std::move(v)));
          break;
        case 4:
          model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), Value::copy(v));
          REQUIRE(list_insert(world.heap, place, at, std::move(v)));
          break;
        case 5:
          if (size == 0) break;
          model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
          list_remove(place, at);
          break;
        case 6: {
          Value other = Value::copy(place);
          REQUIRE(make_unique_list(world.heap, place));
          break;
        }
        default: {
          Value slice = list_slice(world.heap, place.as<List>(), at, std::min(size, at + 3));
          for (uint64_t i = at; i < std::min(size, at + 3); ++i)
            model.push_back(Value::copy(model[i]));
          REQUIRE(list_append(world.heap, place, slice->as<List>()));
          break;
        }
      }
    }
    REQUIRE(place.as<List>()->size == model.size());
    bool same = true;
    for (uint64_t i = 0; i < model.size(); ++i)
      same = same && equal(model[i], list_get(place.as<List>(), i));
    CHECK(same);
    release(place);
  }
}

TEST_CASE("list: failing allocations leave the list as it was") {
  World world;
  fail_each_allocation(world, [&] {
    List* made = new_list(world.heap, Packing::Int, 0);
    if (made == nullptr) return false;
    Borrowed place = Borrowed::heap(Tag::List, made);
    bool ok = true;
    uint64_t pushed = 0;
    for (int i = 0; i < 300 && ok; ++i) {
      ok = list_push(world.heap, place, World::integer(i));
      pushed += ok;
    }
    if (ok) ok = list_push(world.heap, place, Value::nil()), pushed += ok;
    CHECK(place.as<List>()->size == pushed);
    for (uint64_t i = 0; i < pushed && i < 300; ++i)
      CHECK(list_get(place.as<List>(), i).as_int() == static_cast<int64_t>(i));
    release(place);
    return ok;
  });
  Value source = list_of_range(world.heap, 0, 500);
  Value text = world.text("a string of some length");
  fail_each_allocation(world, [&] {
    Value filled = list_filled(world.heap, 100, text);
    if (filled.failed()) return false;
    Value joined = list_concatenate(world.heap, Value::copy(source), filled->as<List>());
    if (joined.failed()) return false;
    Value reversed = list_reversed(world.heap, joined->as<List>());
    if (reversed.failed()) return false;
    Value shared = Value::copy(joined);
    Borrowed place = joined.take();
    bool ok = make_unique_list(world.heap, place) &&
              list_insert(world.heap, place, 0, Value::copy(text)) &&
              list_append(world.heap, place, source->as<List>());
    release(place);
    CHECK(shared->as<List>()->size == 600);
    return ok;
  });
}
