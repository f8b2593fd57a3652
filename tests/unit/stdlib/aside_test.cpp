// Work beside the evaluation: it ends when it is done, or is abandoned where the evaluation is interrupted, goes on by itself,
// and is waited for by who comes next.
#include "stdlib/aside.h"

#include <atomic>
#include <future>
#include <memory>
#include <new>

#include <doctest/doctest.h>

#include "../api/fixture.h"

using posset::stdlib::Aside;
using posset::test::World;

namespace {

// What a function of the test runs aside.
struct Bench {
  std::unique_ptr<Aside> aside = std::make_unique<Aside>();
  std::function<void()> work;
  int caught = 0;
};

posset_status run(posset_call* call) {
  auto& bench = *static_cast<Bench*>(call->data);
  try {
    return bench.aside->run(call->context, bench.work);
  } catch (const std::bad_alloc&) {
    ++bench.caught;
    return POSSET_OK;
  }
}

// Work that is abandoned, and goes on until it may end.
struct Held {
  void abandon(World& w, Bench& bench) {
    bench.work = [&] {
      posset_interrupt(w.context);
      may_end.get_future().wait();
      ended = true;
    };
    CHECK(w.show("run()") == "raised: interrupted");
  }
  std::promise<void> may_end;
  std::atomic<bool> ended{false};
};

void define(World& w, Bench& bench) {
  const posset_function_row row = {"run", "run()", "", 0, 0, 0, 0, false, run, &bench};
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
}

}  // namespace

TEST_CASE("work aside is done when the call returns") {
  World w;
  Bench bench;
  define(w, bench);
  std::atomic<int> done{0};
  bench.work = [&] { ++done; };
  CHECK(w.show("run()\nrun()\n7") == "7");
  CHECK(done == 2);
}

TEST_CASE("what work aside throws is thrown where it was waited for") {
  World w;
  Bench bench;
  define(w, bench);
  bench.work = [] { throw std::bad_alloc(); };
  CHECK(w.show("run()\n7") == "7");
  CHECK(bench.caught == 1);
}

TEST_CASE("an interruption abandons what is done aside, and who comes next waits for it") {
  World w;
  Bench bench;
  define(w, bench);
  Held held;
  held.abandon(w, bench);
  CHECK(!held.ended);
  bool had_ended = false;
  bench.work = [&] { had_ended = held.ended; };
  posset_interrupt(w.context);
  CHECK(w.show("run()") == "raised: interrupted");  // it only waited
  CHECK(!held.ended);
  held.may_end.set_value();
  CHECK(w.show("run()\n7") == "7");
  CHECK(had_ended);
}

TEST_CASE("the end waits for what was abandoned") {
  World w;
  Bench bench;
  define(w, bench);
  Held held;
  held.abandon(w, bench);
  held.may_end.set_value();
  bench.aside = nullptr;
  CHECK(held.ended);
}
