// Taking over another heap, and copying between heaps: what a thread has computed for another.
#include <algorithm>
#include <thread>
#include <vector>

#include "fixture.h"
#include "interp/value/clone.h"

using namespace posset::interp;
using namespace posset::interp::test;

namespace {

// A nested list of small objects and a large block.
Value made_in(Heap& heap, int64_t size) {
  Borrowed all = Borrowed::heap(Tag::List, new_list(heap, Packing::Any, 0));
  for (int64_t i = 0; i < size; ++i) {
    Borrowed pair = Borrowed::heap(Tag::List, new_list(heap, Packing::Any, 0));
    REQUIRE(list_push(heap, pair, Value::integer(i)));
    REQUIRE(list_push(heap, pair, make_string(heap, "number " + std::to_string(i) + " of a long text")));
    REQUIRE(list_push(heap, all, Value::adopt(pair)));
  }
  return Value::adopt(all);
}

int64_t sum_of(const Value& all) {
  int64_t sum = 0;
  const auto* list = all->as<List>();
  for (uint64_t i = 0; i < list->size; ++i) sum += list_get(list_get(list, i).as<List>(), 0).as_int();
  return sum;
}

int64_t* uncounted(const Function*) { return nullptr; }

}  // namespace

TEST_CASE("absorb: what a heap holds belongs to the other, where it was") {
  World world;
  Heap other(world.shapes);
  Value kept = made_in(other, 5000);
  { Value garbage = made_in(other, 3000); }  // leaves free cells
  other.bury_all();
  const size_t bytes = other.used_bytes();
  const Object* const place = kept->object();
  const uint64_t live = other.live_objects();
  REQUIRE(world.heap.absorb(other));
  CHECK(kept->object() == place);
  CHECK(&Heap::heap_of(kept->object()) == &world.heap);
  CHECK(sum_of(kept) == 4999 * 5000 / 2);
  CHECK(world.heap.used_bytes() == bytes);
  CHECK(world.heap.live_objects() == live);
  CHECK(other.used_bytes() == 0);
  CHECK(other.live_objects() == 0);
  CHECK(world.heap.has_sound_cells());
  Value more = made_in(world.heap, 5000);  // uses the free cells
  kept = Value();
  CHECK(world.heap.has_sound_cells());
  more = Value();
  world.heap.bury_all();
  world.heap.trim_pages();
  CHECK(world.heap.used_bytes() == 0);
}

TEST_CASE("absorb: memory that is free in a heap serves those of its family, in any thread") {
  if (!Heap::kPooled) return;
  World world;
  world.heap.keep_spares();
  size_t kept = 0;
  for (int round = 0; round < 20; ++round) {
    std::thread([&] {
      Heap other(world.shapes);
      other.join(world.heap);
      Value made = made_in(other, 100'000);
      CHECK(world.heap.spare_chunks() + 3 < std::max<size_t>(kept, 4));
      world.heap.bind_to_thread();
      REQUIRE(world.heap.absorb(other));
      CHECK(sum_of(made) == 99'999 * int64_t{50'000});
      made = Value();
      world.heap.bury_all();
      world.heap.trim_pages();
      CHECK(world.heap.used_bytes() == 0);
      kept = world.heap.spare_chunks();
      CHECK(kept > 3);
      Heap stranger(world.shapes);
      Value of_stranger = made_in(stranger, 100'000);
      CHECK(world.heap.spare_chunks() == kept);
    }).join();
  }
  world.heap.bind_to_thread();
  world.heap.free_spares();
  CHECK(world.heap.spare_chunks() == 0);
}

TEST_CASE("absorb: no more chunks are kept than a bound") {
  SpareChunks spares;
  CHECK(spares.take() == nullptr);
  char memory[SpareChunks::kMost + 1];
  for (size_t i = 0; i < SpareChunks::kMost; ++i) CHECK(spares.keep(&memory[i]));
  CHECK_FALSE(spares.keep(&memory[SpareChunks::kMost]));
  for (size_t i = SpareChunks::kMost; i > 0; --i) CHECK(spares.take() == &memory[i - 1]);
  CHECK(spares.take() == nullptr);
}

TEST_CASE("absorb: both go on being used, many times") {
  World world;
  std::vector<Value> kept;
  for (int64_t round = 0; round < 50; ++round) {
    std::thread([&] {
      Heap other(world.shapes);
      Value made = made_in(other, round * 7);
      std::thread([&] {
        world.heap.bind_to_thread();
        REQUIRE(world.heap.absorb(other));
        kept.push_back(made_in(world.heap, round));
      }).join();
      Value again = made_in(other, 10);
      kept.push_back(std::move(made));
    }).join();
  }
  world.heap.bind_to_thread();
  int64_t sum = 0;
  for (const Value& each : kept) sum += sum_of(each);
  int64_t expected = 0;
  for (int64_t round = 0; round < 50; ++round) expected += round * 7 * (round * 7 - 1) / 2 + round * (round - 1) / 2;
  CHECK(sum == expected);
  CHECK(world.heap.has_sound_cells());
}

TEST_CASE("absorb: without room nothing happens") {
  World world;
  Heap other(world.shapes);
  Value made = made_in(other, 2000);
  world.heap.set_limit_bytes(other.used_bytes() - 1);
  CHECK_FALSE(world.heap.absorb(other));
  CHECK(world.heap.used_bytes() == 0);
  CHECK(&Heap::heap_of(made->object()) == &other);
  world.heap.set_limit_bytes(other.used_bytes());
  CHECK(world.heap.absorb(other));
}

TEST_CASE("absorb: objects that had died and wait for their end, there or here, have it here") {
  World world;
  Heap other(world.shapes);
  Value here = made_in(world.heap, 100000), there = made_in(other, 100000), elsewhere = made_in(other, 100);
  share(elsewhere);
  std::thread([gone = std::move(elsewhere)]() mutable { gone = Value(); }).join();
  here = Value();
  there = Value();  // the first portions have
  REQUIRE(world.heap.has_buried());
  REQUIRE(other.has_buried());
  const uint64_t live = world.heap.live_objects() + other.live_objects();
  REQUIRE(world.heap.absorb(other));
  CHECK(world.heap.live_objects() == live);
  CHECK_FALSE(other.has_buried());
  world.heap.bury_all();
  CHECK(world.heap.live_objects() == 0);
  world.heap.trim_pages();
  CHECK(world.heap.used_bytes() == 0);
}

TEST_CASE("absorb regression: what was taken over and has died is given back, however often that was") {
  World world;
  size_t once = 0, most = 0;
  for (int round = 0; round < 40; ++round) {
    Heap other(world.shapes);
    Value made = made_in(other, 20000);
    REQUIRE(world.heap.absorb(other));
    most = std::max(most, world.heap.used_bytes());
    if (round == 0) once = most;
    made = Value();
    world.heap.bury_all();
  }
  CHECK(most <= 4 * once);
  CHECK(world.heap.has_sound_cells());
}

TEST_CASE("clone: what is written anew in another heap is no copy-on-write") {
  World world;
  Heap other(world.shapes);
  const Value original = made_in(other, 10);
  const Value copy = clone_into(world.heap, original, Original{other}, uncounted);
  CHECK(sum_of(copy) == 45);
  CHECK(world.heap.stats().copies == 0);
  CHECK(world.heap.stats().copied_bytes == 0);
}

TEST_CASE("clone: objects of one heap are copied, others kept") {
  World world;
  Heap original(world.shapes);
  Value outside = world.list(World::integer(1));
  share(outside);
  Borrowed all = Borrowed::heap(Tag::List, new_list(original, Packing::Any, 0));
  REQUIRE(list_push(original, all, Value::copy(outside)));
  REQUIRE(list_push(original, all, Value::adopt(Borrowed::heap(Tag::List, new_list(original, Packing::Any, 0)))));
  {
    Value v = Value::adopt(all);
    Heap to(world.shapes);
    {
      Value copy = clone_into(to, v, {original}, uncounted);
      CHECK(&Heap::heap_of(copy->object()) == &to);
      CHECK(list_get(copy->as<List>(), 0).object() == outside->object());
      CHECK(&Heap::heap_of(list_get(copy->as<List>(), 1).object()) == &to);
      CHECK(to.live_objects() == 2);
    }
    CHECK(to.live_objects() == 0);
  }
  CHECK(original.live_objects() == 0);
}

TEST_CASE("clone: what is in several places is one object in the copy, what is in one place another") {
  World world;
  Heap original(world.shapes);
  const auto list = [&] { return Value::adopt(Borrowed::heap(Tag::List, new_list(original, Packing::Any, 0))); };
  const auto push = [&](Value& to, Value item) {
    Borrowed place = to.take();
    REQUIRE(list_push(original, place, std::move(item)));
    to = Value::adopt(place);
  };
  {
    Value twice = list(), inside = list(), all = list();
    push(inside, Value::copy(twice));
    for (Value* each : {&inside, &twice}) push(all, std::move(*each));
    for (int n = 0; n < 2; ++n) push(all, list());
    Heap to(world.shapes);
    Value copy = clone_into(to, all, {original}, uncounted);
    const auto* items = copy->as<List>();
    CHECK(list_get(list_get(items, 0).as<List>(), 0).object() == list_get(items, 1).object());
    CHECK(list_get(items, 2).object() != list_get(items, 3).object());
    CHECK(to.live_objects() == 5);
    CHECK(count_of(list_get(items, 1).object()) == 2);
  }
  CHECK(original.live_objects() == 0);
}

TEST_CASE("clone: shared objects that outlive the copy may be kept") {
  World world;
  Heap original(world.shapes);
  {
    Value v = made_in(original, 3);
    share(Borrowed(list_get(v->as<List>(), 1)));
    Heap to(world.shapes);
    {
      Value copy = clone_into(to, v, {original, /*keeps_shared=*/true}, uncounted);
      CHECK(list_get(copy->as<List>(), 1).object() == list_get(v->as<List>(), 1).object());
      CHECK(list_get(copy->as<List>(), 0).object() != list_get(v->as<List>(), 0).object());
    }
    Value copy = clone_into(to, v, {original}, uncounted);
    CHECK(list_get(copy->as<List>(), 1).object() != list_get(v->as<List>(), 1).object());
    CHECK(sum_of(copy) == 3);
  }
  original.take_remote_frees();
  CHECK(original.live_objects() == 0);
}

TEST_CASE("absorb: memory outside of a heap stays its own") {
  World world;
  Heap other(world.shapes);
  Value kept = made_in(other, 1000);
  const size_t bytes = other.used_bytes();
  REQUIRE(other.charge_outside(1 << 20));
  REQUIRE(world.heap.absorb(other));
  CHECK(world.heap.used_bytes() == bytes);
  CHECK(other.used_bytes() == 1 << 20);
  other.discharge_outside(1 << 20);
  CHECK(other.used_bytes() == 0);
}
