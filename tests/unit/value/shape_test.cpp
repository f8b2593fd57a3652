// Shapes and names: interned once, by any number of threads.
#include <thread>
#include <vector>

#include "fixture.h"

using namespace posset::interp;

TEST_CASE("shape: names are interned") {
  ShapeTable shapes;
  CHECK(shapes.find_symbol("x") == nullptr);
  const Symbol* x = shapes.symbol("x");
  CHECK(shapes.symbol(std::string("x")) == x);
  CHECK(shapes.find_symbol("x") == x);
  CHECK(shapes.symbol("y") != x);
  CHECK(shapes.symbol("y")->id != x->id);
}

TEST_CASE("shape: the same fields in the same order are one shape") {
  ShapeTable shapes;
  const Symbol* names[] = {shapes.symbol("x"), shapes.symbol("y")};
  const Symbol* reversed[] = {names[1], names[0]};
  const Shape* xy = shapes.record(names);
  CHECK(shapes.with_field(shapes.with_field(shapes.empty_record(), names[0]), names[1]) == xy);
  CHECK(shapes.record(reversed) != xy);
  CHECK(shapes.shape(xy->id) == xy);
  CHECK(xy->index_of(names[1]) == 1);
  CHECK(xy->index_of(shapes.symbol("z")) == Shape::kNotFound);
  CHECK_FALSE(xy->is_variant());
  CHECK(shapes.record({}) == shapes.empty_record());
}

TEST_CASE("shape: a chain of ever one more field ends before it has taken much memory") {
  ShapeTable shapes;
  const Shape* last = shapes.empty_record();
  size_t length = 0;
  while (const Shape* next = shapes.with_field(last, shapes.symbol("f" + std::to_string(length)))) {
    last = next;
    ++length;
  }
  CHECK(length > 1000);
  CHECK(length < 5000);
  CHECK(shapes.bytes() <= size_t{64} << 20);
  CHECK(shapes.record(last->fields) == last);
  CHECK(shapes.variant_type("Point", "m/Point", std::vector<ShapeTable::ConstructorSpec>{
      {"Point", std::vector<std::string>(2000, "x")}}) == nullptr);
}

TEST_CASE("shape: of all fields at once there may be as many as a record can have") {
  ShapeTable shapes;
  std::vector<const Symbol*> names;
  for (size_t i = 0; i < Shape::kMaxFields; ++i) names.push_back(shapes.symbol("f" + std::to_string(i)));
  const Shape* most = shapes.record(names);
  REQUIRE(most);
  CHECK(most->index_of(names.back()) == static_cast<int>(Shape::kMaxFields) - 1);
  CHECK(shapes.bytes() < size_t{8} << 20);
  CHECK(shapes.with_field(most, shapes.symbol("one more")) == nullptr);
}

TEST_CASE("shape: types are interned by key") {
  ShapeTable shapes;
  ShapeTable::ConstructorSpec specs[] = {{"Some", {"value"}}, {"None", {}}};
  const VariantType* option = shapes.variant_type("Option", "m/Option", specs);
  CHECK(shapes.variant_type("Option", "m/Option", specs) == option);
  CHECK(shapes.variant_type("Option", "n/Option", specs) != option);
  const Shape* none = shapes.shape(option->constructors[1]);
  CHECK(none->type == option);
  CHECK(none->constructor == "None");
  CHECK(none->ordinal == 1);
}

TEST_CASE("shape: many shapes, made by several threads") {
  ShapeTable shapes;
  std::vector<std::thread> threads;
  std::vector<std::vector<uint32_t>> ids(4);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; ++i) {
        const Shape* shape =
            shapes.with_field(shapes.empty_record(), shapes.symbol("name" + std::to_string(i)));
        ids[t].push_back(shape->id);
        if (shapes.shape(shape->id)->fields.size() != 1) ids[t].clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < 4; ++t) CHECK(ids[t] == ids[0]);
  CHECK(ids[0].size() == 3000);
}
