// What a part has computed, on its way to another context (outcome.h).
#include "interp/runtime/outcome.h"
#include "interp/runtime/sharing.h"
#include "world.h"

using namespace posset::interp;

namespace {

constexpr int kTexts = 150000;

Value texts(World& w) {
  ListBuilder out(w.context);
  for (int i = 0; i < kTexts; ++i) out.push(w.s("a text too long for a word"));
  return out.finish();
}

// In heap `of`, counted by one thread.
int local_in(const Heap& of, const Value& list) {
  int local = 0;
  for (uint64_t i = 0; i < kTexts; ++i) {
    Object* const text = list_get(list->as<List>(), i).object();
    local += &Heap::heap_of(text) == &of && count_of(text) > 0;
  }
  return local;
}

}  // namespace

TEST_CASE("outcome: it goes over with its heap, or as a copy, and is in the receiver's then") {
  for (const bool alone : {true, false}) {
    World part, whole;
    Outcome outcome;
    REQUIRE(outcome.pack(part.context, texts(part), alone));
    part.context.heap.bury_all();
    CHECK(part.context.heap.live_objects() == 0);
    CHECK(outcome.bytes() > kTexts * 32);
    Value result;
    REQUIRE(outcome.take(whole.context, result));
    CHECK(local_in(whole.context.heap, result) == kTexts);
    CHECK(outcome.bytes() == 0);
  }
}

TEST_CASE("outcome: what was half shared when an interruption came goes over as a copy that is not") {
  World part, whole;
  Value list = texts(part);
  {
    Sharing sharing(part.context, part.context);
    REQUIRE(sharing.add(list));
    part.context.interrupt();
    CHECK_FALSE(sharing.add(part.call("ref", World::i(1))));
    part.context.clear_interrupt();
  }
  REQUIRE(part.context.holds_half_shared);
  REQUIRE(count_of(list->object()) < 0);
  Outcome outcome;
  REQUIRE(outcome.pack(part.context, std::move(list), true));
  Value result;
  REQUIRE(outcome.take(whole.context, result));
  CHECK(count_of(result->object()) > 0);
  CHECK(local_in(whole.context.heap, result) == kTexts);
}

TEST_CASE("outcome: a large one that is not wanted dies in portions, also where there is no room for it") {
  for (const bool room : {true, false}) {
    World part, whole;
    Heap& heap = whole.context.heap;
    Outcome outcome;
    REQUIRE(outcome.pack(part.context, texts(part), true));
    const size_t bytes = outcome.bytes(), before = heap.used_bytes();
    const uint64_t peak = heap.stats().peak_bytes;
    if (!room) heap.set_limit_bytes(before + bytes / 2);
    outcome.discard(whole.context);
    CHECK(heap.has_buried());
    if (Heap::kPooled) CHECK(heap.used_bytes() == before + bytes);  // else the first portion has gone
    CHECK(heap.stats().peak_bytes == peak);
    CHECK_FALSE(whole.s(std::string(bytes / 4, 'x')).failed());  // makes room where there is none
    heap.bury_all();
    CHECK(heap.live_objects() == 0);
  }
}

TEST_CASE("outcome: a copy for which there is no memory, or that is not wanted any more, leaves nothing behind") {
  for (const bool wanted : {true, false}) {
    World part;
    const Value list = texts(part);
    const uint64_t live = part.context.heap.live_objects();
    if (wanted) {
      Limits limits;
      limits.memory_bytes = part.context.heap.used_bytes() / 2;
      part.context.set_limits(limits);
    } else {
      part.context.interrupt();
    }
    Outcome outcome;
    CHECK_FALSE(outcome.pack(part.context, Value::copy(list), false));
    CHECK(outcome.bytes() == 0);
    CHECK(part.context.heap.has_buried() == wanted);  // half of it dies in portions, the other copy was soon given up
    part.context.clear_interrupt();
    part.context.heap.bury_all();
    CHECK(part.context.heap.live_objects() == live);
    CHECK(local_in(part.context.heap, list) == kTexts);
  }
}
