// What copies much is given up when the heap's owner has been told to stop: nothing has changed then, nothing is left
// behind, and it was soon. The wish comes at the look that is tried, whichever that is; no clock is asked.
#include <functional>
#include <vector>

#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

namespace {

// Tells to stop from a look on.
struct Wish {
  explicit Wish(Heap& of) : heap(of) {
    heap.stop_wish = {[](const void* owner) { return static_cast<const Wish*>(owner)->look(); }, this};
  }
  ~Wish() { heap.stop_wish = {}; }
  bool look() const { return ++looks > from; }
  Heap& heap;
  uint64_t from = UINT64_MAX;
  mutable uint64_t looks = 0;
};

// Where a wish is seen, it is given up within so many looks more: those of whoever would try another way.
constexpr uint64_t kMoreLooks = 3;

// `act` gives false where it was given up, and is tried until it is not.
uint64_t give_up_at_each_look(World& world, const std::function<bool()>& act, const std::function<void()>& after) {
  Wish wish(world.heap);
  for (uint64_t from = 0;; ++from) {
    wish.from = from;
    wish.looks = 0;
    const size_t used = world.heap.used_bytes();
    const bool done = act();
    world.heap.bury_all();  // the large die in portions
    if (done && wish.looks <= from) return from;  // all looks that there are
    CHECK(wish.looks <= from + kMoreLooks);
    if (!done) CHECK(world.heap.used_bytes() == used);
    after();
  }
}

// Between 1 and 16 MiB, where blocks are copied to grow; half of it with values that are counted.
constexpr int64_t kMany = 300000;
Value many(World& world, bool counted) {
  Borrowed place = world.list().take();
  for (int64_t i = 0; i < kMany; ++i) {
    world.push(place, counted && i % 2 == 0 ? world.text("a text too long for a word") : World::integer(i));
  }
  return Value::adopt(place);
}

Value numbered(World& world) {
  Map* map = new_map(world.heap);
  for (int64_t i = 0; i < kMany; ++i) REQUIRE(map_set(world.heap, map, World::integer(i), World::integer(-i)));
  return Value::adopt(Borrowed::heap(Tag::Map, map));
}

}  // namespace

TEST_CASE("stop wish: a list that grows, is copied, cut, joined, filled or reversed gives up and is as it was") {
  for (const bool counted : {false, true}) {
    World world;
    Heap& heap = world.heap;
    Value kept = many(world, counted);
    const Borrowed item = list_get(kept->as<List>(), 2);
    const auto is_whole = [&] {
      REQUIRE(kept->as<List>()->size == kMany);
      CHECK(list_get(kept->as<List>(), kMany - 1).as_int() == kMany - 1);
    };
    const auto looks_of = [&](const std::function<bool()>& act) { return give_up_at_each_look(world, act, is_whole); };
    CHECK(looks_of([&] {
            Borrowed place = Value::copy(kept).take();
            const bool done = make_unique_list(heap, place);
            release(place);
            return done;
          }) > 1);
    CHECK(looks_of([&] { return !list_slice(heap, kept->as<List>(), 1, kMany).failed(); }) > 1);
    CHECK(looks_of([&] { return !list_reversed(heap, kept->as<List>()).failed(); }) > 1);
    CHECK(looks_of([&] { return !list_filled(heap, kMany, item).failed(); }) > 1);
    CHECK(looks_of([&] { return !list_concatenate(heap, Value::copy(kept), kept->as<List>()).failed(); }) > 2);
    CHECK(looks_of([&] {
            Borrowed place = kept.take();
            const bool done = list_reserve(heap, place, place.as<List>()->capacity + kMany);
            kept = Value::adopt(place);
            return done;
          }) > 1);
  }
}

TEST_CASE("stop wish: a list to which another is added gives up with what it had") {
  World world;
  Value more = many(world, true);
  Borrowed place = world.list(World::integer(1), Value::nil()).take();
  REQUIRE(list_reserve(world.heap, place, 2 * kMany));
  CHECK(give_up_at_each_look(
            world,
            [&] {
              const bool done = list_append(world.heap, place, more->as<List>());
              CHECK(place.as<List>()->size == (done ? kMany + 2 : 2));
              list_truncate(place, 2);
              return done;
            },
            [] {}) > 1);
  release(place);
}

TEST_CASE("stop wish: a map that grows or is copied gives up and is as it was") {
  World world;
  Value kept = numbered(world);
  auto* map = kept->as<Map>();
  const auto is_whole = [&] {
    REQUIRE(map->live == kMany);
    for (int64_t i = 0; i < kMany; i += 997) REQUIRE(map_find(map, Borrowed::integer(i))->as_int() == -i);
  };
  CHECK(give_up_at_each_look(
            world,
            [&] {
              Borrowed place = Value::copy(kept).take();
              const bool done = make_unique_map(world.heap, place);
              release(place);
              return done;
            },
            is_whole) > 10);
  CHECK(give_up_at_each_look(
            world, [&] { return map_reserve(world.heap, map, map->capacity + uint64_t{1}); }, is_whole) > 10);
}

TEST_CASE("stop wish: a map out of which much is removed is not tidied at each removal while one is there") {
  World world;
  Value kept = numbered(world);
  auto* map = kept->as<Map>();
  int64_t next = 0;
  const auto remove_until = [&](int64_t end) {
    for (; next < end; ++next) CHECK(map_remove(world.heap, map, Borrowed::integer(next * 7 % kMany))->as_int() <= 0);
  };
  Wish wish(world.heap);
  wish.from = 0;
  remove_until(kMany * 3 / 4);
  CHECK(map->used == kMany);
  CHECK(wish.looks < kMany);  // one each time, and no table begun
  wish.from = UINT64_MAX;
  remove_until(kMany * 3 / 4 + 1);
  CHECK(map->used == map->live);
  for (int64_t i = next; i < kMany; i += 101) REQUIRE(map_find(map, Borrowed::integer(i * 7 % kMany)) != nullptr);
}

TEST_CASE("stop wish: long texts are joined, cut, searched for a scalar, repaired and put together until one is there") {
  World world;
  Heap& heap = world.heap;
  world.text("there is a cell of this size now");
  const std::string bytes = "ä" + std::string(4 * Heap::kCopyPortion, 'x') + "ö", broken = bytes + "\xff";
  const Value text = world.text(bytes);
  const uint64_t length = string_length(text);
  const auto is_whole = [&] { REQUIRE(bytes_of(text) == bytes); };
  const auto looks_of = [&](const std::function<Value()>& make) {
    return give_up_at_each_look(world, [&] { return !make().failed(); }, is_whole);
  };
  CHECK(looks_of([&] { return world.text(bytes); }) > 8);  // ASCII or not, counted, copied
  CHECK(looks_of([&] { return concatenate(heap, Value::copy(text), text); }) > 8);
  CHECK(looks_of([&] { return concatenate(heap, world.text("a text that is nobody else's now"), text); }) > 4);
  CHECK(looks_of([&] { return substring(heap, text, 1, length - 1); }) > 8);
  const auto last_of_new = [&] {
    const Value made = world.text(bytes);
    return made.failed() ? Value::failure() : string_at(heap, made, length - 1);
  };
  CHECK(looks_of(last_of_new) == looks_of([&] { return world.text(bytes); }) + 4);
  // Where it stands is found once.
  CHECK(looks_of([&] { return string_at(heap, text, length - 1); }) == 0);
  CHECK(looks_of([&] { return make_string_lossy(heap, broken); }) > 8);
  CHECK(looks_of([&] {
          StringBuilder builder(heap);
          builder.append(bytes);
          builder.append(4 * Heap::kCopyPortion, '-');
          return builder.finish();
        }) > 12);
  const auto formatted = [&](const FormatOptions& spec) {
    return looks_of([&] {
      StringBuilder builder(heap);
      std::string problem;
      REQUIRE(format_to(builder, text, spec, problem));
      return builder.finish();
    });
  };
  CHECK(formatted({.width = 10}) > 8);                                            // its width, then copied
  CHECK(formatted({.precision = static_cast<int>(length - 2)}) > 12);             // where it is cut, too
}

TEST_CASE("stop wish: while one is there a very large block is given back in portions, and stays charged until then") {
  if (!Heap::kPooled) return;  // a sanitizer watches blocks of mimalloc, which end in one go
  constexpr size_t kBytes = size_t{100} << 20, kMostAtOnce = size_t{20} << 20;
  World world;
  Heap& heap = world.heap;
  const auto make = [&] { return list_filled(heap, kBytes / 8, Borrowed::integer(7)); };
  const size_t before = heap.used_bytes();
  Value block = make();
  block = Value();
  CHECK_FALSE(heap.has_buried());  // nobody waits
  CHECK(heap.used_bytes() == before);

  block = make();
  Wish wish(heap);
  size_t used = heap.used_bytes();
  wish.from = 0;
  block = Value();
  CHECK(wish.looks == 1);
  int portions = 1;
  for (;; ++portions) {
    CHECK(used - heap.used_bytes() <= kMostAtOnce);
    CHECK(used > heap.used_bytes());
    used = heap.used_bytes();
    if (!heap.has_buried()) break;
    heap.bury_some();
  }
  CHECK(used == before);
  CHECK(portions >= 6);
}

TEST_CASE("stop wish: near the limit what waits goes first, unless one is there") {
  if (!Heap::kPooled) return;
  constexpr int64_t kLarge = 12 << 20;
  World world;
  Heap& heap = world.heap;
  Value block = list_filled(heap, kLarge, Borrowed::integer(7));
  heap.set_limit_bytes(heap.used_bytes() + (1 << 20));
  Wish wish(heap);
  wish.from = 0;
  block = Value();
  REQUIRE(heap.has_buried());
  CHECK(list_filled(heap, kLarge, Borrowed::integer(7)).failed());
  CHECK(heap.has_buried());  // and was not gone through for what is not wanted
  wish.from = UINT64_MAX;
  CHECK_FALSE(list_filled(heap, kLarge, Borrowed::integer(7)).failed());
}

TEST_CASE("stop wish: a collection of cycles is given up at each look, harms nothing, and the next one finds what is left") {
  World world;
  const auto cycle = [&] {
    Value r = world.ref();
    World::set_ref(r, world.list(Value::copy(r), world.text("a string of some length")));
    return r;
  };
  std::vector<Value> living;
  for (int i = 0; i < 3000; ++i) living.push_back(cycle());
  world.heap.collect_cycles();
  const uint64_t alive = world.heap.live_objects();
  Wish wish(world.heap);
  uint64_t some_left = 0;
  for (uint64_t from = 0; wish.looks >= from; ++from) {
    wish.from = UINT64_MAX;
    for (int i = 0; i < 3000; ++i) release(cycle().take());
    wish.from = from;
    wish.looks = 0;
    world.heap.collect_cycles();
    CHECK(wish.looks <= from + kMoreLooks);
    some_left += world.heap.live_objects() != alive && world.heap.live_objects() < alive + 9000;
    const uint64_t looks = wish.looks;
    wish.from = UINT64_MAX;
    world.heap.collect_cycles();
    REQUIRE(world.heap.live_objects() == alive);
    wish.looks = looks;
  }
  CHECK(some_left > 5);  // garbage dies in portions
  for (const Value& each : living) REQUIRE(each->object()->count == 2);
  living.clear();
  world.heap.collect_cycles();
}

TEST_CASE("stop wish: many small copies are looked at together") {
  World world;
  Borrowed place = world.list().take();
  for (int i = 0; i < 1000; ++i) world.push(place, World::integer(i));
  Value list = Value::adopt(place);
  Wish wish(world.heap);
  wish.from = 0;
  int copies = 0;
  for (bool made = true; made && copies < 1000; ++copies) {
    Value held = Value::copy(list);
    Borrowed mine = list.take();
    made = make_unique_list(world.heap, mine);
    CHECK(mine.as<List>()->size == 1000);
    list = Value::adopt(mine);
  }
  CHECK(copies > 20);
  CHECK(copies < 200);
}

TEST_CASE("stop wish: unused pages are looked for until one is there, which harms nothing, and given back one by one") {
  if (!Heap::kPooled) return;
  World world;
  Heap other(world.shapes);
  // Many values of three sizes, of which some pages keep one.
  const auto fill = [](Heap& heap, std::vector<Value>& kept) {
    std::vector<Value> all;
    for (int i = 0; i < 30000; ++i) {
      all.push_back(make_string(heap, std::string(20 + 50 * (i % 3), 'x')));
      if (i / 3000 % 4 == 0 && i % 500 == 0) kept.push_back(Value::copy(all.back()));
    }
  };
  std::vector<Value> kept;
  Wish wish(world.heap);
  uint64_t searches_given_up = 0, some_given_back = 0;
  for (uint64_t from = 0;; ++from) {
    wish.from = UINT64_MAX;
    kept.clear();
    fill(other, kept);
    fill(world.heap, kept);
    world.heap.absorb_overdrawn(other);  // looks for none
    const size_t full = world.heap.used_bytes();
    wish.from = from;
    wish.looks = 0;
    world.heap.trim_pages();
    CHECK(wish.looks <= from + kMoreLooks);
    const bool all = wish.looks <= from;
    const size_t left = world.heap.used_bytes();
    REQUIRE(world.heap.has_sound_cells());
    searches_given_up += left == full;
    wish.from = UINT64_MAX;
    world.heap.trim_pages();
    CHECK(world.heap.used_bytes() < full / 2);
    some_given_back += left != full && left != world.heap.used_bytes();
    for (const Value& each : kept) REQUIRE(string_view_of(each).find_first_not_of('x') == std::string_view::npos);
    REQUIRE(world.heap.has_sound_cells());
    if (all) break;
  }
  CHECK(searches_given_up > 10);
  CHECK(some_given_back > 10);
  kept.clear();
  world.heap.trim_pages();
  CHECK(world.heap.used_bytes() == 0);
}

TEST_CASE("stop wish: pages that wait to be given back go over to another heap, and serve it") {
  if (!Heap::kPooled) return;
  World world;
  for (uint64_t from = 0;; ++from) {  // the last but one has found them all, and given none back
    Heap other(world.shapes);
    std::vector<Value> all;
    for (int i = 0; i < 30000; ++i) all.push_back(make_string(other, std::string(40, 'x')));
    all.clear();
    const size_t full = other.used_bytes();
    Wish wish(other);
    wish.from = from;
    other.trim_pages();
    const bool some = other.used_bytes() < full;
    REQUIRE(from < 1000);
    const size_t left = other.used_bytes();
    wish.from = UINT64_MAX;
    Heap heap(world.shapes);
    REQUIRE(heap.absorb(other));
    REQUIRE(heap.used_bytes() == left);
    Value kept = make_string(heap, std::string(40, 'y'));
    CHECK(heap.has_sound_cells());
    heap.trim_pages();
    CHECK(heap.used_bytes() < 2 * Heap::kPageBytes);
    CHECK(heap.has_sound_cells());
    kept = Value();
    heap.trim_pages();
    CHECK(heap.used_bytes() == 0);
    if (some) break;
  }
}

TEST_CASE("stop wish: while one is there nothing that has died is gone through as cells and blocks are made") {
  World world;
  Borrowed place = world.list().take();
  for (int i = 0; i < 200000; ++i) world.push(place, world.list(World::integer(i)));
  release(place);
  REQUIRE(world.heap.has_buried());
  std::vector<Value> made;
  const auto make = [&] {
    for (int i = 0; i < 100; ++i) made.push_back(make_string(world.heap, std::string(2000 + i, 'x')));
    for (int i = 0; i < 2000; ++i) made.push_back(make_string(world.heap, std::string(300, 'x')));
  };
  Wish wish(world.heap);
  wish.from = 0;
  const uint64_t live = world.heap.live_objects();
  make();
  CHECK(world.heap.live_objects() == live + made.size());
  wish.from = UINT64_MAX;
  make();
  CHECK(world.heap.live_objects() < live);
}
