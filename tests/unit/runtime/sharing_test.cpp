// What is shared when an evaluation is interrupted in the middle of it (sharing.h). No clock is asked.
#include "interp/runtime/sharing.h"
#include "world.h"

using namespace posset::interp;

namespace {

constexpr int kTexts = 50000;  // more than between two looks

Value texts(World& w, Value last) {
  ListBuilder out(w.context);
  for (int i = 0; i < kTexts; ++i) out.push(w.s("a text too long for a word"));
  out.push(std::move(last));
  return out.finish();
}

int shared_among(const Value& list) {
  int shared = 0;
  for (int i = 0; i < kTexts; ++i) shared += count_of(list_get(list->as<List>(), static_cast<uint64_t>(i)).object()) < 0;
  return shared;
}

}  // namespace

TEST_CASE("sharing: all that a list holds, or nothing where something in it cannot be") {
  World w;
  const Value good = texts(w, World::i(1)), bad = texts(w, w.call("ref", World::i(1)));
  Sharing sharing(w.context, w.context);
  CHECK(sharing.add(good));
  CHECK(shared_among(good) == kTexts);
  sharing.keep();
  CHECK_FALSE(sharing.add(bad));
  CHECK(shared_among(bad) == 0);
  CHECK(shared_among(good) == kTexts);
  CHECK_FALSE(w.context.holds_half_shared);
}

TEST_CASE("sharing: an interruption in the middle ends it, and what was half done is not given to anybody") {
  World w;
  const Value list = texts(w, World::i(1)), other = texts(w, World::i(2));
  w.context.interrupt();
  {
    Sharing sharing(w.context, w.context);
    CHECK_FALSE(sharing.add(list));
  }
  CHECK(shared_among(list) < 10000);
  CHECK(w.context.holds_half_shared);
  w.context.clear_interrupt();
  Sharing sharing(w.context, w.context);
  CHECK_FALSE(sharing.add(list));
  CHECK_FALSE(sharing.add(other));
  CHECK(shared_among(other) == 0);
}

TEST_CASE("sharing: an interruption ends what takes it back, too") {
  World w;
  Value bad = texts(w, World::i(1));
  Sharing sharing(w.context, w.context);
  REQUIRE(sharing.add(bad));
  w.context.interrupt();
  CHECK_FALSE(sharing.add(w.call("ref", World::i(1))));
  CHECK(shared_among(bad) > kTexts - 10000);
  CHECK(w.context.holds_half_shared);
}
