// Maps: order of insertion, keys that are ==, removal, compaction.
#include <cmath>
#include <random>
#include <unordered_map>
#include <vector>

#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

TEST_CASE("map: small and large, ints and strings") {
  World world;
  for (int n : {1, 4, 8, 9, 16, 17, 1000, 30000}) {
    Map* map = new_map(world.heap);
    for (int i = 0; i < n; ++i) {
      REQUIRE(map_set(world.heap, map, World::integer(i * 7), World::integer(i)));
      REQUIRE(map_set(world.heap, map, world.text("key number " + std::to_string(i)),
                      World::integer(-i)));
      REQUIRE(map_set(world.heap, map, world.text("k" + std::to_string(i)), World::integer(-i)));
    }
    CHECK(map->live == static_cast<uint64_t>(n) * 3);
    bool found = true;
    for (int i = 0; i < n; ++i) {
      Borrowed* v = map_find(map, Borrowed::integer(i * 7));
      found = found && v != nullptr && v->as_int() == i;
      Value key = world.text("key number " + std::to_string(i));
      v = map_find(map, key);
      found = found && v != nullptr && v->as_int() == -i;
      v = map_find(map, world.text("k" + std::to_string(i)));
      found = found && v != nullptr && v->as_int() == -i;
    }
    CHECK(found);
    CHECK(map_find(map, Borrowed::integer(-1)) == nullptr);
    CHECK(map_find(map, world.text("nothing of this kind")) == nullptr);
    release(Borrowed::heap(Tag::Map, map));
  }
}

TEST_CASE("map: keys that are == are one key, and the first spelling stays") {
  World world;
  for (int filler : {0, 20}) {
    Map* map = new_map(world.heap);
    for (int i = 0; i < filler; ++i)
      REQUIRE(map_set(world.heap, map, World::integer(100 + i), Value::nil()));
    REQUIRE(map_set(world.heap, map, World::integer(1), World::integer(10)));
    REQUIRE(map_set(world.heap, map, World::real(1.0), World::integer(11)));
    REQUIRE(map_set(world.heap, map, World::real(2.0), World::integer(20)));
    REQUIRE(map_set(world.heap, map, World::integer(2), World::integer(21)));
    REQUIRE(map_set(world.heap, map, World::real(-0.0), World::integer(0)));
    REQUIRE(map_set(world.heap, map, World::real(0.0), World::integer(1)));
    REQUIRE(map_set(world.heap, map, World::integer(0), World::integer(2)));
    REQUIRE(map_set(world.heap, map, Value::boolean(true), World::integer(30)));
    REQUIRE(map_set(world.heap, map, Value::nil(), World::integer(40)));
    REQUIRE(map_set(world.heap, map, world.list(World::integer(1), World::real(2)),
                    World::integer(50)));
    REQUIRE(map_set(world.heap, map, world.list(World::real(1), World::integer(2)),
                    World::integer(51)));
    CHECK(map->live == static_cast<uint64_t>(filler) + 6);
    if (filler == 0) {
      CHECK(printed(world, Borrowed::heap(Tag::Map, map)) ==
            "[1: 11, 2.0: 21, -0.0: 2, true: 30, nil: 40, [1, 2.0]: 51]");
    }
    CHECK(map_find(map, Borrowed::integer(2))->as_int() == 21);
    CHECK(map_find(map, Borrowed::floating(1.0))->as_int() == 11);
    CHECK(map_find(map, Borrowed::floating(1.5)) == nullptr);
    release(Borrowed::heap(Tag::Map, map));
  }
}

TEST_CASE("map: updating keeps the place, removing and inserting goes last") {
  World world;
  Value m = world.map(world.text("a"), World::integer(1), world.text("b"), World::integer(2),
                      world.text("c"), World::integer(3));
  auto* map = m->as<Map>();
  REQUIRE(map_set(world.heap, map, world.text("a"), World::integer(10)));
  CHECK(printed(world, m) == "[\"a\": 10, \"b\": 2, \"c\": 3]");
  CHECK(map_remove(world.heap, map, world.text("a")).view().as_int() == 10);
  CHECK(map_remove(world.heap, map, world.text("a"))->is_unset());
  REQUIRE(map_set(world.heap, map, world.text("a"), World::integer(11)));
  CHECK(printed(world, m) == "[\"b\": 2, \"c\": 3, \"a\": 11]");
}

TEST_CASE("map: a slot is inserted with nil once") {
  World world;
  Map* map = new_map(world.heap);
  bool inserted;
  *map_slot(world.heap, map, Borrowed::integer(5), inserted) = Borrowed::integer(50);
  CHECK(inserted);
  CHECK(map_slot(world.heap, map, Borrowed::integer(5), inserted)->as_int() == 50);
  CHECK_FALSE(inserted);
  release(Borrowed::heap(Tag::Map, map));
}

TEST_CASE("map: agrees with a model under random work") {
  World world;
  std::mt19937_64 random(42);
  for (int round = 0; round < 6; ++round) {
    Map* map = new_map(world.heap);
    std::unordered_map<int64_t, int64_t> model;
    std::vector<int64_t> order;
    int64_t keys = round % 2 == 0 ? 20 : 3000;
    for (int step = 0; step < 30000; ++step) {
      auto key = static_cast<int64_t>(random() % static_cast<uint64_t>(keys)) - keys / 2;
      if (random() % 5 < 2 + static_cast<unsigned>(round % 3)) {
        REQUIRE(map_set(world.heap, map, World::integer(key), World::integer(step)));
        if (model.emplace(key, step).second) order.push_back(key);
        model[key] = step;
      } else {
        Value gone = map_remove(world.heap, map, Borrowed::integer(key));
        CHECK(gone->is_unset() == (model.erase(key) == 0));
        std::erase(order, key);
      }
    }
    CHECK(map->live == model.size());
    size_t at = 0;
    for (uint32_t i = map_next(map, 0); i < map->used; i = map_next(map, i + 1)) {
      REQUIRE(at < order.size());
      CHECK(map->entries[i].key.as_int() == order[at]);
      CHECK(map->entries[i].value.as_int() == model[order[at]]);
      CHECK(map_find(map, Borrowed::integer(order[at])) == &map->entries[i].value);
      ++at;
    }
    CHECK(at == order.size());
    release(Borrowed::heap(Tag::Map, map));
  }
}

TEST_CASE("map: used as a queue it neither grows nor slows down") {
  World world;
  Map* map = new_map(world.heap);
  for (int64_t i = 0; i < 200000; ++i) {
    REQUIRE(map_set(world.heap, map, World::integer(i), World::integer(i)));
    if (i < 10) continue;
    uint32_t first = map_next(map, 0);
    CHECK_FALSE(map_remove(world.heap, map, map->entries[first].key)->is_unset());
  }
  CHECK(map->live == 10);
  CHECK(map->capacity <= 64);
  release(Borrowed::heap(Tag::Map, map));
}

namespace {

// All that is told of gaps is so, by the first and the last entry of each all of it, and no two stand beside each other.
void check_gaps(const Map* map) {
  const auto is_gap = [&](uint32_t i) { return map->entries[i].key.is_unset(); };
  for (uint32_t begin = 0; begin < map->used;) {
    uint32_t end = begin;
    for (; end < map->used && is_gap(end); ++end) {
      CHECK(gap_of(map->entries[end]).begin >= begin);
      CHECK(gap_of(map->entries[end]).begin <= end);
      CHECK(gap_of(map->entries[end]).end > end);
    }
    for (uint32_t i = begin; i < end; ++i) CHECK(gap_of(map->entries[i]).end <= end);
    if (end > begin) {
      CHECK(gap_of(map->entries[begin]).end == end);
      CHECK(gap_of(map->entries[end - 1]).begin == begin);
    }
    begin = end + 1;
  }
  CHECK(map->first == (map->used != 0 && is_gap(0) ? gap_of(map->entries[0]).end : 0));
}

}  // namespace

// `last` and removing the last entry went through all that had been removed behind it, and so each time.
TEST_CASE("map: what has been removed is passed in one step from either side") {
  World world;
  std::mt19937_64 random(7);
  for (int round = 0; round < 4; ++round) {
    Map* map = new_map(world.heap);
    std::vector<int64_t> keys;
    for (int64_t i = 0; i < 600; ++i) {
      REQUIRE(map_set(world.heap, map, World::integer(i), World::integer(i)));
      keys.push_back(i);
    }
    while (!keys.empty()) {
      const size_t from_here[] = {random() % keys.size(), 0, keys.size() - 1, random() % 2 * (keys.size() - 1)};
      const size_t at = from_here[round];
      CHECK_FALSE(map_remove(world.heap, map, Borrowed::integer(keys[at]))->is_unset());
      keys.erase(keys.begin() + static_cast<ptrdiff_t>(at));
      check_gaps(map);
      if (keys.empty()) break;
      CHECK(map->entries[map_next(map, 0)].key.as_int() == keys.front());
      CHECK(map->entries[map_last(map)].key.as_int() == keys.back());
    }
    release(Borrowed::heap(Tag::Map, map));
  }
}

// It went on through the run slot by slot: 200,000 ints and as many strings took 5 s.
TEST_CASE("map: a key that meets the run of slots that near ints take is soon out of it") {
  constexpr uint32_t kSlots = 1 << 20, kRun = 400'000;
  uint32_t most = 0;
  for (int64_t i = 0; i < 100'000; ++i) {
    Probe probe = probe_hash(hash_words(static_cast<uint64_t>(i), 1));
    uint32_t tried = 0;
    for (uint32_t slot = probe.first; (slot & (kSlots - 1)) < kRun; slot = next_slot(probe)) ++tried;
    most = std::max(most, tried);
  }
  CHECK(most > kInLine);
  CHECK(most < 100);
}

TEST_CASE("map: every slot is tried in the end") {
  for (uint64_t i = 0; i < 100; ++i) {
    Probe probe = probe_hash(hash_words(i, 1));
    std::vector<bool> seen(64);
    for (uint32_t tried = 0, slot = probe.first; tried < kInLine + 64; slot = next_slot(probe), ++tried) seen[slot & 63] = true;
    CHECK(std::count(seen.begin(), seen.end(), true) == 64);
  }
}

TEST_CASE("map: gives memory back when most is removed") {
  World world;
  Map* map = new_map(world.heap);
  for (int64_t i = 0; i < 100000; ++i)
    REQUIRE(map_set(world.heap, map, World::integer(i), world.text("value of some length")));
  uint32_t full = map->capacity;
  for (int64_t i = 99999; i >= 10; --i)
    CHECK_FALSE(map_remove(world.heap, map, Borrowed::integer(i))->is_unset());
  CHECK(map->capacity < full / 100);
  for (int64_t i = 0; i < 10; ++i) CHECK(map_find(map, Borrowed::integer(i)) != nullptr);
  map_clear(world.heap, map);
  CHECK(map->live == 0);
  REQUIRE(map_set(world.heap, map, World::integer(1), World::integer(2)));
  CHECK(map_find(map, Borrowed::integer(1))->as_int() == 2);
  release(Borrowed::heap(Tag::Map, map));
}

TEST_CASE("map: a shared map is copied without its holes") {
  World world;
  Map* map = new_map(world.heap);
  for (int64_t i = 0; i < 100; ++i)
    REQUIRE(map_set(world.heap, map, World::integer(i), world.text("value of some length")));
  for (int64_t i = 0; i < 100; i += 3)
    CHECK_FALSE(map_remove(world.heap, map, Borrowed::integer(i))->is_unset());
  Value kept = Value::adopt(Borrowed::heap(Tag::Map, map));
  Borrowed place = Value::copy(kept).take();
  REQUIRE(make_unique_map(world.heap, place));
  CHECK(place.object() != kept->object());
  CHECK(equal(place, kept));
  CHECK(place.as<Map>()->used == 66);
  REQUIRE(map_set(world.heap, place.as<Map>(), World::integer(0), Value::nil()));
  CHECK_FALSE(equal(place, kept));
  release(place);
}

namespace {

// Ends at a look.
struct Looks final : Patience {
  explicit Looks(uint64_t most = UINT64_MAX) : left(most) {}
  bool is_over() override { return left-- == 0; }
  uint64_t left;
};

Value numbers(World& world, int64_t n) { return list_filled(world.heap, n, Borrowed::integer(7)); }

}  // namespace

TEST_CASE("map: of a key that takes long the heap knows what has been found, as long as it is so") {
  constexpr int64_t kMany = 100000;
  World world;
  Heap& heap = world.heap;
  const KnownKey& known = *heap.known_key();
  Value owner = world.map(numbers(world, kMany), Value::integer(1), numbers(world, kMany + 1), Value::integer(2));
  auto* map = owner->as<Map>();
  Value key = numbers(world, kMany), missing = numbers(world, kMany + 2);
  Looks patience;
  know_key(heap, map, key, patience);
  CHECK(known.is(key));
  CHECK(known.hash == hash_of(key));
  CHECK(known.twin == map->entries[0].key.object());
  CHECK(map_find(map, key, &known)->as_int() == 1);
  CHECK(map_find(map, missing, &known) == nullptr);

  // What is known of one map says nothing of another, nor of what has been changed.
  Value other = world.map(Value::copy(key), Value::integer(5));
  CHECK(map_find(other->as<Map>(), key, &known)->as_int() == 5);
  know_key(heap, map, missing, patience);
  CHECK(known.twin == nullptr);
  CHECK(map_find(map, missing, &known) == nullptr);
  REQUIRE(map_set(heap, map, numbers(world, kMany + 2), Value::integer(3)));
  CHECK(map_find(map, missing, &known)->as_int() == 3);
  CHECK(map_set(heap, map, Value::copy(missing), Value::integer(4), &known));
  CHECK(map->live == 3);
  know_key(heap, map, key, patience);
  CHECK(map_remove(heap, map, key, &known)->as_int() == 1);
  CHECK(map_find(map, key, &known) == nullptr);

  Value copy = copy_map(heap, map);
  know_key(heap, map, missing, patience);
  CHECK(map_find(copy->as<Map>(), missing, &known)->as_int() == 4);

  // Whoever changes the key changes a copy.
  Borrowed place = key.take();
  REQUIRE(make_unique_list(heap, place));
  REQUIRE(list_set(heap, place, 3, Value::integer(8)));
  key = Value::adopt(place);
  CHECK_FALSE(known.is(key));
  REQUIRE(map_set(heap, map, Value::copy(key), Value::integer(6), &known));
  CHECK(map_find(map, key, &known)->as_int() == 6);
  heap.forget_key();
  CHECK(map_find(map, key, &known)->as_int() == 6);
}

TEST_CASE("map: what is given up about a key is not known") {
  World world;
  Heap& heap = world.heap;
  Value owner = world.map(numbers(world, 100000), Value::integer(1)), key = numbers(world, 100000);
  auto* map = owner->as<Map>();
  uint64_t looks = 0;
  for (;; ++looks) {
    Looks patience(looks);
    know_key(heap, map, key, patience);
    if (!patience.ended()) break;
    CHECK_FALSE(heap.known_key()->is(key));
  }
  CHECK(looks > 20);  // hashed, and compared
  CHECK(heap.known_key()->is(key));
  Value nan = world.list(World::integer(1), World::real(0.0 / 0.0));
  Looks patience;
  know_key(heap, map, nan, patience);
  CHECK(heap.known_key()->problem == KeyProblem::NaN);
  heap.forget_key();
}

TEST_CASE("patience: what has ended has ended, however little is still to be done") {
  Looks patience(1);
  CHECK(patience.lasts(100000));
  CHECK_FALSE(patience.lasts(100000));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(patience.lasts());
}

TEST_CASE("map: failing allocations leave the map as it was") {
  World world;
  fail_each_allocation(world, [&] {
    Map* map = new_map(world.heap, 3);
    if (map == nullptr) return false;
    bool ok = true;
    int64_t done = 0;
    while (ok && done < 200) {
      ok = map_set(world.heap, map, World::integer(done), World::integer(-done));
      done += ok;
    }
    CHECK(map->live == static_cast<uint64_t>(done));
    for (int64_t i = 0; i < done; ++i) CHECK(map_find(map, Borrowed::integer(i))->as_int() == -i);
    Value kept = Value::adopt(Borrowed::heap(Tag::Map, map));
    if (!ok) return false;
    Borrowed place = Value::copy(kept).take();
    ok = make_unique_map(world.heap, place) && map_reserve(world.heap, place.as<Map>(), 1000);
    CHECK(equal(place, kept));
    release(place);
    return ok;
  });
}
