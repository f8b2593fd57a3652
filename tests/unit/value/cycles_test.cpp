// Unreachable cycles through refs are found and freed.
#include <vector>

#include "fixture.h"

using namespace posset::interp;
using namespace posset::interp::test;

namespace {
// A ref whose value is a list that holds it again.
Value cycle(World& world) {
  Value r = world.ref();
  World::set_ref(r, world.list(Value::copy(r), world.text("a string of some length")));
  return r;
}
}  // namespace

TEST_CASE("cycles: a ref that holds itself goes at the next collection") {
  World world;
  release(cycle(world).take());
  CHECK(world.heap.live_objects() == 3);
  world.heap.collect_cycles();
  CHECK(world.heap.live_objects() == 0);
}

TEST_CASE("cycles: the ref was only ever moved") {
  World world;
  // let xs = [ref(nil)]; xs[0].value = xs: the reference that is lost last is the list's.
  Value xs = world.list(world.ref());
  World::set_ref(list_get(xs->as<List>(), 0), Value::copy(xs));
  xs = Value::nil();
  CHECK(world.heap.live_objects() == 2);
  world.heap.collect_cycles();
  CHECK(world.heap.live_objects() == 0);
}

TEST_CASE("cycles: what is still held stays, with all it reaches") {
  World world;
  Value held = cycle(world);
  Value outer = world.ref(world.record({"inner"}, Value::copy(held)));
  release(cycle(world).take());
  world.heap.collect_cycles();
  CHECK(world.heap.live_objects() == 5);
  CHECK(held->object()->count == 3);
  CHECK(held->as<Ref>()->value.as<List>()->size == 2);
  held = Value::nil();
  world.heap.collect_cycles();
  CHECK(world.heap.live_objects() == 5);
  outer = Value::nil();
  CHECK(world.heap.live_objects() == 3);  // the ref around it dies by counting
  world.heap.collect_cycles();
}

TEST_CASE("cycles: through maps, records, variants, closures and errors") {
  World world;
  auto close = [&](auto&& wrap) {
    Value r = world.ref();
    World::set_ref(r, wrap(Value::copy(r)));
  };
  close([&](Value v) { return world.map(World::integer(1), std::move(v)); });
  close([&](Value v) { return world.record({"x"}, std::move(v)); });
  close([&](Value v) { return world.variant(0, std::move(v)); });
  close([&](Value v) { return world.ref(std::move(v)); });
  close([&](Value v) {
    auto* closure = world.heap.make<Closure>(Tag::Fn, sizeof(Closure) + sizeof(Borrowed));
    closure->function = nullptr;
    closure->owner_count = nullptr;
    closure->size = 1;
    closure->captured()[0] = v.take();
    return Value::adopt(Borrowed::heap(Tag::Fn, closure));
  });
  close([&](Value v) {
    auto* error = world.heap.make<ErrorObject>(Tag::Error);
    error->message = world.text("m").take();
    error->value = v.take();
    error->data = nullptr;
    return Value::adopt(Borrowed::heap(Tag::Error, error));
  });
  CHECK(world.heap.live_objects() == 12);
  world.heap.collect_cycles();
  CHECK(world.heap.live_objects() == 0);
}

TEST_CASE("cycles: a ring of many refs, and a chain of rings") {
  World world;
  Value first = world.ref();
  Value last = Value::copy(first);
  for (int i = 0; i < 100000; ++i) last = world.ref(std::move(last));
  World::set_ref(first, std::move(last));
  first = Value::nil();
  world.heap.collect_cycles();
  CHECK(world.heap.live_objects() == 0);
  Value v = Value::nil();
  for (int i = 0; i < 10000; ++i) {
    Value r = world.ref();
    World::set_ref(r, world.list(Value::copy(r), std::move(v)));
    v = std::move(r);
  }
  world.heap.collect_cycles();
  CHECK(world.heap.live_objects() == 20000);
  v = Value::nil();
  world.heap.collect_cycles();
  CHECK(world.heap.live_objects() == 0);
}

TEST_CASE("cycles: collected by themselves as they pile up, however large the living part") {
  World world;
  std::vector<Value> living;
  for (int i = 0; i < 5000; ++i) living.push_back(cycle(world));
  uint64_t base = world.heap.live_objects();
  for (int i = 0; i < 100000; ++i) release(cycle(world).take());
  CHECK(world.heap.live_objects() < base + 3 * 20000);
  const HeapStats& stats = world.heap.stats();
  CHECK(stats.cycle_collections < 60);
  CHECK(stats.cycle_visits < 20 * 105000);
  living.clear();
  world.heap.collect_cycles();
}

TEST_CASE("cycles: refs that hold much do not make collections frequent") {
  World world;
  Value big = world.list();
  Borrowed place = big.take();
  for (int i = 0; i < 100000; ++i) world.push(place, world.list(World::integer(i)));
  REQUIRE(list_unpack(world.heap, place));
  Value holder = world.ref(Value::adopt(place));
  std::vector<Value> refs;
  for (int i = 0; i < 50000; ++i) refs.push_back(world.ref(World::integer(i)));
  CHECK(world.heap.stats().cycle_visits < 1000000);
}

TEST_CASE("cycles: make room when memory runs short") {
  World world;
  world.heap.set_limit_bytes(8 << 20);
  for (int i = 0; i < 500; ++i) {
    Value r = world.ref();
    World::set_ref(r, world.list(Value::copy(r), world.text(std::string(100000, 'x'))));
  }
  CHECK(world.heap.stats().cycle_collections > 3);
  CHECK(world.heap.used_bytes() <= 8 << 20);
  world.heap.collect_cycles();
}

TEST_CASE("cycles: at teardown, shared ones too") {
  ShapeTable shapes;
  static int destroyed;
  destroyed = 0;
  {
    Heap heap(shapes);
    heap.hooks.destroy_host = [](HostObject*) { ++destroyed; };
    for (bool shared : {false, true}) {
      auto* host = heap.make<HostObject>(Tag::Host);
      auto* ref = heap.make<Ref>(Tag::Ref);
      Borrowed list = Borrowed::heap(Tag::List, new_list(heap, Packing::Any, 2));
      REQUIRE(list_push(heap, list, Value::adopt(Borrowed::heap(Tag::Ref, ref))));
      REQUIRE(list_push(heap, list, Value::adopt(Borrowed::heap(Tag::Host, host))));
      ref->value = list;
      if (shared) share(list);
    }
    heap.collect_cycles();
    CHECK(destroyed == 1);
  }
  CHECK(destroyed == 2);
}

TEST_CASE("cycles: making refs fails cleanly") {
  World world;
  fail_each_allocation(world, [&] {
    std::vector<Value> refs;
    for (int i = 0; i < 200; ++i) {
      auto* made = world.heap.make<Ref>(Tag::Ref);
      if (made == nullptr) return false;
      refs.push_back(Value::adopt(Borrowed::heap(Tag::Ref, made)));
    }
    return true;
  });
  CHECK(world.heap.live_refs() == 0);
}

TEST_CASE("cycles: all refs are garbage, and they die in portions, in any order") {
  for (const uint64_t stride : {1, 7919, 99999}) {
    World world;
    constexpr uint64_t kNodes = 100000;
    std::vector<Value> nodes;
    for (uint64_t i = 0; i < kNodes; ++i) nodes.push_back(world.ref(world.list(World::integer(1))));
    Borrowed place = world.list().take();
    for (uint64_t i = 0; i < kNodes; ++i) world.push(place, Value::copy(nodes[i * stride % kNodes]));
    Value root = world.ref(Value::adopt(place));
    World::set_ref(nodes[kNodes / 3], Value::copy(root));
    nodes.clear();
    root = Value::nil();
    world.heap.collect_cycles();
    world.heap.bury_all();
    CHECK(world.heap.live_objects() == 0);
    CHECK(world.heap.live_refs() == 0);
    CHECK(!world.heap.has_buried());
    CHECK(world.heap.has_sound_cells());
  }
}

TEST_CASE("cycles: refs that are gone leave no list of them behind") {
  World world;
  std::vector<Value> refs;
  for (int i = 0; i < 10; ++i) refs.push_back(world.ref());
  world.heap.trim_pages();
  const size_t few = world.heap.used_bytes();
  for (int i = 0; i < 100000; ++i) refs.push_back(world.ref());
  refs.resize(10);
  world.heap.trim_pages();
  CHECK(world.heap.used_bytes() < few + (300 << 10));  // three chunks and pages with living ones
  for (int i = 0; i < 100000; ++i) refs.push_back(world.ref());
  CHECK(world.heap.live_refs() == 100010);
}
