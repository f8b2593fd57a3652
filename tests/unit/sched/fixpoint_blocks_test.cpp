// The static schedule of the fixed-point solver: its partition and the order of each worker.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "sched/fixpoint/static_blocks.h"

using namespace posset::sched::fixpoint;

namespace {

// What the worker is given until it comes round.
std::vector<size_t> one_round(StaticBlocks& blocks, size_t worker) {
  std::vector<size_t> round;
  for (std::optional<size_t> i = blocks.next(worker); i && (round.empty() || *i != round[0]); i = blocks.next(worker)) {
    round.push_back(*i);
  }
  return round;
}

}  // namespace

TEST_CASE("fixpoint blocks: 10 coordinates for 3 workers are [0,4) [4,7) [7,10)") {
  StaticBlocks blocks;
  blocks.init(10, 3);
  CHECK(one_round(blocks, 0) == std::vector<size_t>{0, 1, 2, 3});
  CHECK(one_round(blocks, 1) == std::vector<size_t>{4, 5, 6});
  CHECK(one_round(blocks, 2) == std::vector<size_t>{7, 8, 9});
}

TEST_CASE("fixpoint blocks: every partition covers [0, n) once, contiguously, sizes at most one apart") {
  for (size_t n : {1, 2, 3, 7, 10, 64, 100, 1000, 1001}) {
    for (size_t workers = 1; workers <= 17; ++workers) {
      CAPTURE(n);
      CAPTURE(workers);
      StaticBlocks blocks;
      blocks.init(n, workers);
      std::vector<size_t> all;
      size_t least = n, most = 0;
      for (size_t worker = 0; worker < workers; ++worker) {
        const std::vector<size_t> round = one_round(blocks, worker);
        all.insert(all.end(), round.begin(), round.end());
        least = std::min(least, round.size());
        most = std::max(most, round.size());
      }
      CHECK(most - least <= 1);
      REQUIRE(all.size() == n);
      for (size_t i = 0; i < n; ++i) REQUIRE(all[i] == i);
    }
  }
}

TEST_CASE("fixpoint blocks: a worker goes round its block in order, whatever the others do") {
  StaticBlocks blocks;
  blocks.init(9, 2);
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < 5; ++i) {
      CHECK(blocks.next(0) == i);
      if (i % 2 == 0) blocks.next(1);
    }
  }
}

TEST_CASE("fixpoint blocks: runs are what would have come one by one, in any mixture") {
  for (size_t workers : {1, 2, 5}) {
    StaticBlocks blocks, one_by_one;
    blocks.init(23, workers);
    one_by_one.init(23, workers);
    for (size_t worker = 0; worker < workers; ++worker) {
      for (size_t most : {1, 3, 100, 2, 7, 1, 64, 5}) {
        const Run run = blocks.next_run(worker, most);
        REQUIRE(run.begin < run.end);
        CHECK(run.end - run.begin <= most);
        for (size_t i = run.begin; i < run.end; ++i) CHECK(one_by_one.next(worker) == i);
        if (most == 7) CHECK(blocks.next(worker) == one_by_one.next(worker));
      }
    }
  }
  StaticBlocks blocks;
  blocks.init(2, 4);
  CHECK(blocks.next_run(3, 5).begin == blocks.next_run(3, 5).end);
  CHECK(blocks.next_run(4, 5).begin == blocks.next_run(4, 5).end);
}

TEST_CASE("fixpoint blocks regression: none is one thing, for an empty block, no coordinates and a worker that is not there") {
  StaticBlocks blocks;
  blocks.init(2, 4);
  CHECK(blocks.next(1) == 1u);
  CHECK_FALSE(blocks.next(2));
  CHECK_FALSE(blocks.next(3));
  CHECK_FALSE(blocks.next(4));
  CHECK_FALSE(blocks.next(SIZE_MAX));
  blocks.init(0, 2);
  CHECK_FALSE(blocks.next(0));
  CHECK_FALSE(StaticBlocks().next(0));
}

TEST_CASE("fixpoint blocks regression: no workers means one") {
  StaticBlocks blocks;
  blocks.init(3, 0);
  CHECK(one_round(blocks, 0) == std::vector<size_t>{0, 1, 2});
  CHECK_FALSE(blocks.next(1));
}

TEST_CASE("fixpoint blocks: rebuilding is not for them") {
  StaticBlocks blocks;
  blocks.init(3, 1);
  CHECK_FALSE(blocks.supports_rebuild());
  blocks.rebuild(std::vector<double>{1, 2, 3});
  blocks.notify(0, 1, 0.5);
  CHECK(one_round(blocks, 0) == std::vector<size_t>{0, 1, 2});
}
