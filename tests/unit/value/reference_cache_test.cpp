// References that a thread keeps (interp/value/reference_cache.h): what they save, what they must not keep alive, and how
// caches begin and end.
#include <deque>

#include "fixture.h"
#include "interp/value/reference_cache.h"

using namespace posset::interp;
using posset::interp::test::World;

namespace {

Value shared_text(World& world) {
  Value v = world.text("some string that is long");
  share(v);
  return v;
}

struct Caching {
  explicit Caching(const Heap& heap) : cache(heap) { cache.begin(); }
  ~Caching() { cache.end(); }
  ReferenceCache cache;
};

}  // namespace

TEST_CASE("reference cache: who takes and gives up one object again and again soon leaves its count alone") {
  World world;
  Value v = shared_text(world);
  Caching caching(world.heap);
  { const Value first = Value::copy(v); }
  CHECK(v->object()->count == -2);  // kept
  { const Value second = Value::copy(v); }
  for (int i = 0; i < 1000; ++i) {
    const Value again = Value::copy(v);
    CHECK(v->object()->count == -3);
  }
  caching.cache.flush();
  CHECK(v->object()->count == -1);
}

TEST_CASE("reference cache: what is kept dies when it is flushed, ended, or memory is short") {
  World world;
  Value v = shared_text(world);
  {
    Caching caching(world.heap);
    v = Value::nil();
    CHECK(world.heap.live_objects() == 1);
    SUBCASE("flushed") {
      caching.cache.flush();
      CHECK(world.heap.live_objects() == 0);
    }
    SUBCASE("ended") {}
    SUBCASE("short") {
      world.heap.set_limit_bytes(world.heap.used_bytes());
      CHECK(world.heap.make_object(100000, Tag::Str, 0) == nullptr);
      world.heap.set_limit_bytes(SIZE_MAX);
      CHECK(world.heap.live_objects() == 0);
    }
  }
  CHECK(world.heap.live_objects() == 0);
}

TEST_CASE("reference cache: more objects than it has places all die") {
  World world;
  Caching caching(world.heap);
  std::deque<Value> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back(shared_text(world));
    many.push_back(Value::copy(many[static_cast<size_t>(i)]));
  }
  while (!many.empty()) many.pop_front();
  CHECK(world.heap.live_objects() <= 16);
  CHECK(world.heap.live_objects() > 0);
  caching.cache.flush();
  CHECK(world.heap.live_objects() == 0);
}

TEST_CASE("reference cache: an object of another family is not kept") {
  World world, other;
  Caching caching(world.heap);
  const Value v = shared_text(other);
  { const Value again = Value::copy(v); }
  CHECK(v->object()->count == -1);
  other.heap.join(world.heap);
  { const Value again = Value::copy(v); }
  CHECK(v->object()->count == -2);
}

TEST_CASE("reference cache: one reference stays with it, so that the object does not die") {
  World world;
  Value v = shared_text(world);
  Caching caching(world.heap);
  { const Value again = Value::copy(v); }
  Value last = Value::copy(v);
  CHECK(last->object()->count == -3);
  v = Value::nil();
  last = Value::nil();
  CHECK(world.heap.live_objects() == 1);
}

TEST_CASE("reference cache: what dies at the hands of a replaced reference may be kept in its place") {
  World world;
  static Value* given_up;
  Value inner = shared_text(world);
  given_up = &inner;
  world.heap.hooks.destroy_host = [](HostObject*) { *given_up = Value::nil(); };
  Caching caching(world.heap);
  {
    auto* host = world.heap.make<HostObject>(Tag::Host);
    host->pointer = nullptr;
    Value v = Value::adopt(Borrowed::heap(Tag::Host, host));
    share(v);
  }
  // Whatever the place of the host is, one of these comes to it.
  for (int i = 0; i < 200 && world.heap.live_objects() > 1; ++i) { const Value v = shared_text(world); }
  caching.cache.flush();
  caching.cache.flush();
  CHECK(world.heap.live_objects() == 0);
}

TEST_CASE("reference cache: two on a thread end in any order") {
  World one, two;
  ReferenceCache first(one.heap), second(two.heap);
  first.begin();
  first.begin();
  second.begin();
  CHECK(ReferenceCache::current() == &second);
  first.end();
  CHECK(ReferenceCache::current() == &second);
  { const Value v = shared_text(two); }
  CHECK(two.heap.live_objects() == 1);
  second.end();
  second.end();
  CHECK(ReferenceCache::current() == nullptr);
  CHECK(two.heap.live_objects() == 0);
}
