// The limit on bytes of stack, in every tier: it ends recursion long before the limit on nested calls, as a stack overflow,
// and however deep it was, the context is as good as new.
#include <algorithm>
#include <string>
#include <vector>

#include "fixture.h"

using posset::test::World;

namespace {

constexpr const char* kRecursion = "fn depth(n) { if n == 0 { return 0 }\n 1 + depth(n - 1) }\n";

bool nests(World& w, int deep) {
  return w.show(kRecursion + ("depth(" + std::to_string(deep) + ")")) == std::to_string(deep);
}

// The deepest recursion that such a context allows, of some thousands, by bisection.
int deepest(World& w) {
  int good = 0, bad = 20000;
  while (bad - good > 1) {
    const int middle = (good + bad) / 2;
    (nests(w, middle) ? good : bad) = middle;
  }
  return good;
}

std::vector<int> tiers() {
  std::vector<int> all = {0, 1};
  if (posset_native_tier(3)) all.push_back(3);
  return all;
}

}  // namespace

TEST_CASE("bytes of stack are limited in every tier, and more of them let calls nest deeper") {
  for (const int tier : tiers()) {
    CAPTURE(tier);
    posset_runtime_options runtime_options = posset_runtime_defaults();
    runtime_options.forced_tier = runtime_options.max_tier = tier;  // frames of another tier are not to be compared
    runtime_options.workers = 1;
    posset_runtime* runtime = nullptr;
    REQUIRE(posset_default_runtime(&runtime_options, &runtime) == POSSET_OK);
    std::vector<int> found;
    for (const uint64_t bytes : {uint64_t{64} << 10, uint64_t{256} << 10}) {
      posset_context_options options = posset_context_defaults();
      options.stack_bytes = bytes;
      World w(runtime, options);
      found.push_back(deepest(w));
      CHECK(w.show("6 * 7") == "42");
    }
    CHECK(found[0] > 0);  // not many more where sanitizers make frames large
    CHECK(found[0] < found[1]);
    CHECK(found[1] < 19999);
    {
      World w(runtime, posset_context_defaults());
      CHECK(nests(w, 20000));  // without one there is the limit on nested calls alone
    }
    posset_runtime_release(runtime);
  }
}

TEST_CASE("running out of bytes of stack is a stack overflow that says so") {
  for (const int tier : tiers()) {
    CAPTURE(tier);
    posset_runtime_options runtime_options = posset_runtime_defaults();
    runtime_options.forced_tier = tier;
    posset_runtime* runtime = nullptr;
    REQUIRE(posset_default_runtime(&runtime_options, &runtime) == POSSET_OK);
    posset_context_options options = posset_context_defaults();
    options.stack_bytes = 256 << 10;
    {
      World w(runtime, options);
      for (const char* source : {"fn f(n) => 1 + f(n)\nf(1)", "fn f(n) => map([n], f)\nf(1)", "fn f(n) => sort_by([2, 1], x => f(n))\nf(1)",
                                 "await spawn (() => { fn f(n) => 1 + f(n)\n f(1) })()"}) {
        CAPTURE(std::string(source));
        for (int round = 0; round < 2; ++round) {
          REQUIRE(w.eval(source) == POSSET_RAISED);
          const posset::test::Problem problem = w.problem();
          CHECK(problem.code == POSSET_ERROR_StackOverflow);
          CHECK(problem.is_limit);
          CHECK_MESSAGE(problem.message == "stack overflow: more than 262144 bytes of stack", problem.message);
        }
      }
      CHECK(w.show("6 * 7") == "42");
    }
    posset_runtime_release(runtime);
  }
}
