// Heap: cells, large blocks, the limit, death, shared counts.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "../memory_maps.h"
#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

TEST_CASE("heap: an object knows its heap, whatever its size") {
  World world;
  for (size_t bytes : {16, 24, 48, 1024, 1025, 5000, 100000, 3000000}) {
    Object* object = world.heap.make_object(bytes, Tag::Str, 0);
    REQUIRE(object != nullptr);
    CHECK(&Heap::heap_of(object) == &world.heap);
    CHECK(Heap::usable_bytes(object) >= bytes);
    CHECK(object->count == 1);
    world.heap.free_object(object);
  }
}

TEST_CASE("heap: one that has come to hold a megabyte is served in huge pages") {
  if (!posset::test::knows_huge_pages()) return;
  World world;
  world.heap.huge_pages = HugePages([] { return int64_t{0}; });
  std::vector<Value> values;
  while (world.heap.used_bytes() < 3 << 20) values.push_back(world.list(World::integer(1)));
  CHECK(posset::test::is_asked_for_huge_pages(values.back()->as<List>()));
  Object* large = world.heap.make_object(8 << 20, Tag::Str, 0);
  REQUIRE(large != nullptr);
  CHECK(posset::test::is_asked_for_huge_pages(large));
  world.heap.free_object(large);
}

namespace {

// Each look at the clock of its huge pages takes `step` nanoseconds.
struct TimedWorld : World {
  explicit TimedWorld(int64_t first_step) {
    now = 0;
    step = first_step;
    heap.huge_pages = HugePages([] { return now += step; });
  }
  static constexpr int64_t kSlow = 10'000'000;
  static inline int64_t now = 0, step = 0;
};

}  // namespace

TEST_CASE("heap: where huge pages are slow to come, blocks have small ones, and few more are tried") {
  if (!posset::test::knows_huge_pages()) return;
  TimedWorld world(TimedWorld::kSlow);
  const auto large_is_huge = [&](size_t bytes) {
    Object* large = world.heap.make_object(bytes, Tag::Str, 0);
    REQUIRE(large != nullptr);
    const bool huge = posset::test::is_asked_for_huge_pages(large);
    world.heap.free_object(large);
    return huge;
  };
  CHECK(!large_is_huge(size_t{64} << 20));  // one is tried
  world.step = 0;
  CHECK(!large_is_huge(size_t{64} << 20));  // and none of the next
  CHECK(large_is_huge(size_t{64} << 20));
  CHECK(large_is_huge(size_t{64} << 20));
  world.step = TimedWorld::kSlow;
  int tried = 0;
  for (int i = 0; i < 1000; ++i) {
    const int64_t before = world.now;
    Object* large = world.heap.make_object(size_t{64} << 20, Tag::Str, 0);
    tried += world.now != before;
    if (i % 100 == 0) CHECK(!posset::test::is_asked_for_huge_pages(large));
    world.heap.free_object(large);
  }
  CHECK(tried > 10);
  CHECK(tried < 30);
}

TEST_CASE("heap: where a block is slow to be written, the rest of it has small pages") {
  if (!posset::test::knows_huge_pages()) return;
  TimedWorld world(0);
  Object* large = world.heap.make_object(size_t{20} << 20, Tag::Str, 0);
  REQUIRE(large != nullptr);
  const auto write = [&](uint64_t, uint64_t) {};
  CHECK(world.heap.in_portions(large, size_t{10} << 20, 1, write));
  CHECK(posset::test::is_asked_for_huge_pages(large));
  world.step = TimedWorld::kSlow;
  CHECK(world.heap.in_portions(large, 1000, 1, write));  // of one portion nothing is known
  CHECK(posset::test::is_asked_for_huge_pages(large));
  CHECK(world.heap.in_portions(large, size_t{10} << 20, 1, write));
  CHECK(!posset::test::is_asked_for_huge_pages(large));
  world.heap.free_object(large);
}

TEST_CASE("heap: a block that grows is served as its newest page was, and moves whole") {
  if (!posset::test::knows_huge_pages()) return;
  TimedWorld world(0);
  Object* grown = world.heap.make_object(size_t{20} << 20, Tag::Str, 0);
  REQUIRE(grown != nullptr);
  CHECK(posset::test::is_asked_for_huge_pages(grown));
  world.step = TimedWorld::kSlow;
  char* mark = reinterpret_cast<char*>(grown) + 100;
  *mark = 'x';
  for (const size_t megabytes : {50, 300, 900}) {
    grown = world.heap.resize_object(grown, megabytes << 20);
    REQUIRE(grown != nullptr);
    mark = reinterpret_cast<char*>(grown) + 100;
    CHECK(!posset::test::is_asked_for_huge_pages(mark));
    CHECK(*mark == 'x');
  }
  world.heap.free_object(grown);
}

TEST_CASE("heap: cells are reused and pages come back") {
  World world;
  std::vector<Value> values;
  for (int i = 0; i < 100000; ++i) values.push_back(world.list(World::integer(i)));
  size_t full = world.heap.used_bytes();
  CHECK(full >= 100000 * 32);
  values.clear();
  world.heap.trim_pages();
  CHECK(world.heap.used_bytes() == 0);
  CHECK(world.heap.stats().peak_bytes >= full);
}

TEST_CASE("heap: a page with one living cell stays, the others go") {
  World world;
  std::vector<Value> values;
  for (int i = 0; i < 50000; ++i) values.push_back(world.list(World::integer(i)));
  size_t full = world.heap.used_bytes();
  Value kept = std::move(values[25000]);
  values.clear();
  world.heap.trim_pages();
  if (Heap::kPooled) CHECK(world.heap.used_bytes() <= 2 * Heap::kPageBytes);
  CHECK(world.heap.used_bytes() < full / 2);
  CHECK(list_get(kept->as<List>(), 0).as_int() == 25000);
  for (int i = 0; i < 1000; ++i) values.push_back(world.list(World::integer(i)));
  CHECK(list_get(kept->as<List>(), 0).as_int() == 25000);
}

TEST_CASE("heap: the limit refuses, charges nothing, and holds again after room was made") {
  World world;
  world.heap.set_limit_bytes(1 << 20);
  CHECK(world.heap.make_object(2 << 20, Tag::Str, 0) == nullptr);
  CHECK(world.heap.used_bytes() == 0);
  std::vector<Value> values;
  while (true) {
    Value v = make_string(world.heap, std::string(2000, 'x'));
    if (v.failed()) break;
    values.push_back(std::move(v));
  }
  CHECK(world.heap.used_bytes() <= 1 << 20);
  CHECK(values.size() > 400);
  values.pop_back();
  CHECK(!make_string(world.heap, std::string(2000, 'y')).failed());
}

TEST_CASE("heap: who cannot be refused overdraws the limit, which is told as long as more is in use") {
  World world;
  Heap& heap = world.heap;
  heap.set_limit_bytes(heap.used_bytes() + 100000);
  std::vector<Value> kept;
  auto make = [&] {
    auto* made = static_cast<Record*>(heap.make_object_overdrawn(sizeof(Record), Tag::Record));
    made->shape = 0;
    made->size = made->kinds = 0;
    kept.push_back(Value::adopt(Borrowed::heap(Tag::Record, made)));
  };
  while (!heap.is_overdrawn() && kept.size() < 1000000) make();
  CHECK(heap.is_overdrawn());
  CHECK(heap.used_bytes() > heap.limit_bytes());
  CHECK(heap.used_bytes() <= heap.limit_bytes() + Heap::kPageBytes);
  CHECK(heap.make_object(5000, Tag::Str, 0) == nullptr);
  make();
  CHECK(heap.is_overdrawn());
  kept.clear();
  heap.trim_pages();
  CHECK_FALSE(heap.is_overdrawn());
  heap.end_overdraft();
  Object* fits = heap.make_object(5000, Tag::Str, 0);
  REQUIRE(fits != nullptr);
  heap.free_object(fits);
}

TEST_CASE("heap: memory of one size class serves another when the limit is near") {
  World world;
  world.heap.set_limit_bytes(4 << 20);
  for (size_t length : {20, 100, 300, 900}) {
    std::vector<Value> values;
    while (true) {
      Value v = make_string(world.heap, std::string(length, 'x'));
      if (v.failed()) break;
      values.push_back(std::move(v));
    }
    CHECK(values.size() * length > (2 << 20) * length / (length + 60));
  }
}

TEST_CASE("heap: charge and discharge") {
  World world;
  world.heap.set_limit_bytes(1000);
  CHECK(world.heap.charge(600));
  CHECK_FALSE(world.heap.charge(600));
  world.heap.discharge(600);
  CHECK(world.heap.charge(1000));
  world.heap.discharge(1000);
  CHECK_FALSE(world.heap.charge(SIZE_MAX));
}

TEST_CASE("heap: resizing keeps the bytes") {
  World world;
  Object* object = world.heap.make_object(40, Tag::Str, 0);
  auto* bytes = reinterpret_cast<char*>(object) + sizeof(Object);
  std::memcpy(bytes, "0123456789012345678901234567890", 32);
  for (size_t size : {100, 900, 1500, 40000, 2000, 200, 40}) {
    object = world.heap.resize_object(object, size);
    REQUIRE(object != nullptr);
    CHECK(Heap::usable_bytes(object) >= size);
    CHECK(std::string(reinterpret_cast<char*>(object) + sizeof(Object)) ==
          "0123456789012345678901234567890");
  }
  CHECK(world.heap.resize_object(object, SIZE_MAX / 2) == nullptr);
  world.heap.free_object(object);
}

TEST_CASE("heap: a deep structure dies without native recursion") {
  World world;
  Value v = world.nested(1000000);
  CHECK(world.heap.live_objects() == 1000000);
  v = Value::nil();
  world.heap.bury_all();
  CHECK(world.heap.live_objects() == 0);
}

namespace {

constexpr uint64_t kMostDyingAtOnce = uint64_t{1} << 17;  // well above a portion, well below what dies

// A list of `n` lists of one list.
Value wide(World& world, int n) {
  Borrowed place = Borrowed::heap(Tag::List, new_list(world.heap, Packing::Any, 0));
  for (int i = 0; i < n; ++i) world.push(place, world.list(world.list()));
  return Value::adopt(place);
}

Value wide_map(World& world, int n) {
  Map* made = new_map(world.heap);
  for (int i = 0; i < n; ++i) REQUIRE(map_set(world.heap, made, Value::integer(i), world.list(world.list())));
  return Value::adopt(Borrowed::heap(Tag::Map, made));
}

}  // namespace

TEST_CASE("heap: what is large dies in portions, whatever its shape") {
  constexpr int kMany = 300000;
  for (Value (*make)(World&, int) : {wide, wide_map}) {
    World world;
    Value v = make(world, kMany);
    uint64_t live = world.heap.live_objects();
    REQUIRE(live > 2 * kMany);
    v = Value();
    CHECK(world.heap.has_buried());
    CHECK(live - world.heap.live_objects() < kMostDyingAtOnce);
    while (world.heap.has_buried()) {
      live = world.heap.live_objects();
      world.heap.bury_some();
      CHECK(live - world.heap.live_objects() < kMostDyingAtOnce);
    }
    CHECK(world.heap.live_objects() == 0);
  }
}

TEST_CASE("heap: what dies while something waits joins it, and allocating takes some of it") {
  World world;
  Value first = wide(world, 300000), second = wide(world, 300000), small = world.list(world.list());
  const uint64_t live = world.heap.live_objects();
  first = Value();
  second = Value();
  small = Value();
  CHECK(world.heap.has_buried());
  CHECK(live - world.heap.live_objects() < 2 * kMostDyingAtOnce);
  // In the end there is nothing left of what waited, though nothing else looked after it.
  std::vector<Value> made;
  while (world.heap.has_buried() && made.size() < 2000000) made.push_back(world.list());
  CHECK_FALSE(world.heap.has_buried());
  CHECK(world.heap.live_objects() == made.size());
  CHECK(world.heap.has_sound_cells());
}

TEST_CASE("heap: near the limit all that is dead goes first") {
  World world;
  Value v = wide(world, 300000);
  const size_t used = world.heap.used_bytes();
  world.heap.set_limit_bytes(used + 1000);
  v = Value();
  CHECK(world.heap.has_buried());
  Value again = wide(world, 290000);  // fits only in the place of the other
  CHECK_FALSE(world.heap.has_buried());
  CHECK(world.heap.used_bytes() <= used + 1000);
}

TEST_CASE("heap: immortal objects are never counted and go with the heap") {
  ShapeTable shapes;
  Heap heap(shapes);
  for (size_t length : {20, 5000}) {
    Borrowed v = make_string(heap, std::string(length, 'x')).take();
    v.object()->count = 0;
    for (int i = 0; i < 3; ++i) retain(v);
    for (int i = 0; i < 9; ++i) release(v);
    CHECK(v.object()->count == 0);
    CHECK(string_view_of(v).size() == length);
  }
}

namespace {
int hosts_destroyed = 0;
}

TEST_CASE("heap: hooks may drop more hosts, in any depth") {
  World world;
  hosts_destroyed = 0;
  world.heap.hooks.destroy_host = [](HostObject* host) {
    ++hosts_destroyed;
    release(Borrowed::heap(Tag::Host, static_cast<Object*>(host->pointer)));
  };
  // A chain of hosts that own one another: native recursion would overflow.
  auto* last = world.heap.make<List>(Tag::List, sizeof(List));
  last->size = last->capacity = 0;
  Object* previous = last;
  for (int i = 0; i < 300000; ++i) {
    auto* host = world.heap.make<HostObject>(Tag::Host);
    host->pointer = previous;
    previous = host;
  }
  release(Borrowed::heap(Tag::Host, previous));
  CHECK(hosts_destroyed == 300000);
}

TEST_CASE("heap: closures tell their module when they come and go") {
  World world;
  int64_t owned = 1;
  auto* closure = world.heap.make<Closure>(Tag::Fn, sizeof(Closure) + sizeof(Borrowed));
  closure->function = nullptr;
  closure->owner_count = &owned;
  closure->size = 1;
  closure->captured()[0] = world.text("a string that is not short").take();
  release(Borrowed::heap(Tag::Fn, closure));
  CHECK(owned == 0);
}

TEST_CASE("share: everything reachable becomes shared and is freed right") {
  World world;
  Value v = world.list(world.text("a string that is not short"),
                       world.map(World::integer(1), world.list(world.real(2))),
                       world.ref(world.record({"x"}, world.text("another one that is long"))));
  Value again = Value::copy(v);
  share(v);
  CHECK(v->object()->count == -2);
  CHECK(list_get(v->as<List>(), 0).object()->count == -1);
  CHECK_FALSE(is_unique(v->object()));
  CHECK(equal(v, again) == equal(again, v));
  again = Value::nil();
  CHECK(v->object()->count == -1);
  // A shared container is copied before it is changed.
  Borrowed place = Value::copy(list_get(v->as<List>(), 1)).take();
  REQUIRE(make_unique_map(world.heap, place));
  CHECK(world.heap.stats().copies == 1);
  release(place);
}

TEST_CASE("share: objects that die on another thread are freed by the heap's own") {
  World world;
  Value v = world.list();
  Borrowed place = v.take();
  for (int i = 0; i < 1000; ++i)
    world.push(place, world.list(world.text("some string that is long"), World::integer(i)));
  v = Value::adopt(place);
  share(v);
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, mine = Value::copy(v)]() mutable {
      for (uint64_t i = 0; i < 1000; ++i) {
        Value inner = list_copy(mine->as<List>(), i);
        sum += static_cast<int>(string_view_of(list_get(inner->as<List>(), 0)).size());
        CHECK(string_hash(list_get(inner->as<List>(), 0)) != 0);
      }
      mine = Value::nil();
    });
  }
  v = Value::nil();
  for (std::thread& thread : threads) thread.join();
  CHECK(sum == 4 * 1000 * 24);
  world.heap.take_remote_frees();
}

TEST_CASE("share: slow allocations take remote frees over, unbound heaps keep them waiting") {
  World world;
  Value v = world.text("some string that is long");
  share(v);
  world.heap.unbind_from_thread();
  v = Value::nil();
  CHECK(world.heap.live_objects() == 1);
  world.heap.bind_to_thread();
  release(world.text(std::string(5000, 'x')).take());  // large: may or may not look
  world.heap.take_remote_frees();
  CHECK(world.heap.live_objects() == 0);
}

TEST_CASE("heap: a block that grows very large keeps its bytes and is charged what it takes") {
  World world;
  size_t before = world.heap.used_bytes();
  Object* object = world.heap.make_object(5000, Tag::Str, 0);
  Object* neighbour = world.heap.make_object(5000, Tag::Str, 0);
  auto bytes = [&] { return reinterpret_cast<unsigned char*>(object); };
  size_t filled = sizeof(Object);
  for (size_t size = 8000; size < (size_t{100} << 20); size += size / 2) {
    object = world.heap.resize_object(object, size);
    REQUIRE(object != nullptr);
    REQUIRE(&Heap::heap_of(object) == &world.heap);
    for (; filled < size; filled += 4096) bytes()[filled] = static_cast<unsigned char>(filled / 4096 * 7);
    size_t used = world.heap.used_bytes() - before;
    CHECK(used >= Heap::usable_bytes(object));
    CHECK(used <= Heap::usable_bytes(object) + (64 << 10));
  }
  bool same = true;
  for (size_t at = sizeof(Object); at < filled; at += 4096)
    same = same && bytes()[at] == static_cast<unsigned char>(at / 4096 * 7);
  CHECK(same);
  size_t used = world.heap.used_bytes();
  CHECK(world.heap.resize_object(object, SIZE_MAX / 2) == nullptr);
  CHECK(world.heap.used_bytes() == used);
  object = world.heap.resize_object(object, 5000);
  REQUIRE(object != nullptr);
  CHECK(world.heap.used_bytes() - before <= 64 << 10);
  world.heap.free_object(neighbour);
  world.heap.free_object(object);
  CHECK(world.heap.used_bytes() == before);
}

TEST_CASE("heap: large containers that die in portions do not pile up behind new ones") {
  World world;
  const Value text = world.text("a text too long for a word");
  for (const uint64_t size : {20000, 100000, 300000}) {
    size_t first = 0;
    for (int round = 0; round < 60; ++round) {
      release(list_filled(world.heap, size, text).take());
      if (round == 0) first = world.heap.used_bytes();
      REQUIRE(world.heap.used_bytes() <= 2 * first);
    }
    world.heap.bury_all();
    CHECK(world.heap.live_objects() == 1);
  }
}
