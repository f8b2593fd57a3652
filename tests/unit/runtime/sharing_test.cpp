// What is shared when an evaluation is interrupted in the middle of it (sharing.h). No clock is asked.
#include "interp/runtime/sharing.h"
#include "world.h"

using namespace posset::interp;

namespace {

constexpr int kTexts = 400000;  // more than are taken back in any case

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

TEST_CASE("sharing: an interruption in the middle ends it, and the little that was marked is taken back") {
  World w;
  const Value list = texts(w, World::i(1));
  w.context.interrupt();
  Sharing sharing(w.context, w.context);
  CHECK_FALSE(sharing.add(list));
  CHECK(shared_among(list) == 0);
  CHECK(count_of(list->object()) > 0);
  CHECK_FALSE(w.context.holds_half_shared);
}

TEST_CASE("sharing: an interruption ends what takes much back, and what the context holds is not given to anybody then") {
  World w;
  const Value list = texts(w, World::i(1)), other = texts(w, World::i(2));
  {
    Sharing sharing(w.context, w.context);
    REQUIRE(sharing.add(list));
    w.context.interrupt();
    CHECK_FALSE(sharing.add(w.call("ref", World::i(1))));
  }
  CHECK(shared_among(list) > kTexts / 2);
  CHECK(shared_among(list) < kTexts);
  CHECK(w.context.holds_half_shared);
  w.context.clear_interrupt();
  Sharing sharing(w.context, w.context);
  CHECK_FALSE(sharing.add(list));
  CHECK_FALSE(sharing.add(other));
  CHECK(shared_among(other) == 0);
}
