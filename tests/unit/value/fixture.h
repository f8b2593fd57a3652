// What the value tests share: a heap whose leaks fail the test, short ways to write values, and the
// loop that makes every allocation fail once.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "interp/value/compare.h"
#include "interp/value/heap.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/print.h"
#include "interp/value/record.h"
#include "interp/value/string.h"

namespace posset::interp::test {

// Ends at the look with that number.
class Counting final : public Patience {
 public:
  explicit Counting(int most) : most_(most) {}
  int looks() const { return looks_; }

 private:
  bool is_over() override { return ++looks_ >= most_; }
  const int most_;
  int looks_ = 0;
};

struct World {
  ShapeTable shapes;
  Heap heap{shapes};
  ~World() {
    heap.bury_all();
    CHECK(heap.live_objects() == 0);
  }

  Value text(std::string_view s) { return make_string(heap, s); }
  static Value integer(int64_t i) { return Value::integer(i); }
  static Value real(double d) { return Value::floating(d); }

  template <class... Items>
  Value list(Items... items) {
    Borrowed place = Borrowed::heap(Tag::List, new_list(heap, Packing::Any, 0));
    (push(place, std::move(items)), ...);
    return Value::adopt(place);
  }
  void push(Borrowed& place, Value v) { REQUIRE(list_push(heap, place, std::move(v))); }

  template <class... Items>
  Value map(Items... keys_and_values) {
    Map* made = new_map(heap);
    Value items[] = {std::move(keys_and_values)..., Value()};
    for (size_t i = 0; i + 1 < sizeof...(keys_and_values); i += 2) {
      REQUIRE(map_set(heap, made, std::move(items[i]), std::move(items[i + 1])));
    }
    return Value::adopt(Borrowed::heap(Tag::Map, made));
  }

  template <class... Items>
  Value record(std::initializer_list<const char*> names, Items... items) {
    RecordBuilder builder(heap);
    Value values[] = {std::move(items)..., Value()};
    size_t i = 0;
    for (const char* name : names) builder.set(shapes.symbol(name), std::move(values[i++]));
    return builder.finish();
  }

  const VariantType* shape_type() {
    ShapeTable::ConstructorSpec specs[] = {{"Circle", {"r"}}, {"Rect", {"w", "h"}}, {"Dot", {}}};
    return shapes.variant_type("Shape", "test/Shape", specs);
  }
  template <class... Items>
  Value variant(uint32_t constructor, Items... items) {
    const Shape* shape = shapes.shape(shape_type()->constructors[constructor]);
    Record* made = new_record(heap, shape);
    Value values[] = {std::move(items)..., Value()};
    for (size_t i = 0; i < sizeof...(items); ++i) made->store(static_cast<uint32_t>(i), values[i].take());
    return Value::adopt(Borrowed::heap(Tag::Variant, made));
  }

  Value range(int64_t first, int64_t last, bool inclusive = false) {
    auto* made = heap.make<Range>(Tag::Range, sizeof(Range), inclusive);
    made->first = first;
    made->last = last;
    return Value::adopt(Borrowed::heap(Tag::Range, made));
  }
  Value ref(Value v = {}) {
    auto* made = heap.make<Ref>(Tag::Ref);
    made->value = v.take();
    return Value::adopt(Borrowed::heap(Tag::Ref, made));
  }
  static void set_ref(Borrowed ref, Value v) {
    release(std::exchange(ref.as<Ref>()->value, v.take()));
  }

  // [[[...]]] with `depth` lists.
  Value nested(size_t depth) {
    Value v = list();
    for (size_t i = 1; i < depth; ++i) v = list(std::move(v));
    return v;
  }
};

inline std::string bytes_of(Borrowed v) { return std::string(string_view_of(v)); }
inline std::string printed(World& world, Borrowed v) { return bytes_of(to_string(world.heap, v)); }

// Runs `attempt` with every limit from "nothing more" upwards until it succeeds; it must give
// false, and leave no more objects than before, each time it does not.
template <class Attempt>
void fail_each_allocation(World& world, Attempt&& attempt) {
  uint64_t objects = world.heap.live_objects();
  for (size_t extra = 0;; extra += 8) {
    world.heap.set_limit_bytes(world.heap.used_bytes() + extra);
    bool done = attempt();
    world.heap.set_limit_bytes(SIZE_MAX);
    if (done) return;
    REQUIRE(world.heap.live_objects() == objects);
    REQUIRE(extra < (size_t{1} << 24));
  }
}

}  // namespace posset::interp::test
