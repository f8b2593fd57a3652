// Address space for stacks: what many of them take of the mappings that a process may have, and what they are given.
#include "sched/base/stack_area.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../scarce_stacks.h"

using posset::sched::StackArea;
using posset::sched::StackMappings;
using Grows = StackArea::Grows;
using Use = StackArea::Use;

namespace {

constexpr size_t kBytes = size_t{256} << 10;

size_t mappings_of_process() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

// The system reads one byte there, and says whether it may.
bool can_be_read(const char* byte) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const bool can = write(ends[1], byte, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return can;
}

bool is_a_stack(const StackArea& area) {
  const char* const low = area.memory();
  const char* const above = low + sysconf(_SC_PAGESIZE);
  return low && !can_be_read(low) && !can_be_read(above - 1) && can_be_read(above) && can_be_read(low + area.bytes() - 1);
}

// From now on mappings are scarce: forty areas have as many as are taken for speed. Others may take some four times as many.
class Frugal {
 public:
  explicit Frugal(bool guards_by_mapping = false) {
    for (int i = 0; i < 40; ++i) first_.emplace_back(kBytes, Grows::Down, Use::GoesOn);
    most_ = StackMappings::set_most(StackMappings::taken() * 8);
    StackMappings::set_guards_by_mapping(guards_by_mapping);
    REQUIRE(StackMappings::are_scarce());
  }
  ~Frugal() {
    StackMappings::set_guards_by_mapping(false);
    StackMappings::set_most(most_);
  }
  Frugal(const Frugal&) = delete;
  Frugal& operator=(const Frugal&) = delete;

 private:
  std::vector<StackArea> first_;
  size_t most_ = 0;
};

}  // namespace

TEST_CASE("stack areas: where mappings are scarce many share one, but for what a guard page takes") {
  const size_t taken = StackMappings::taken();
  for (bool by_mapping : {false, true}) {
    CAPTURE(by_mapping);
    const Frugal frugal(by_mapping);
    const size_t before = mappings_of_process();
    std::vector<StackArea> many;
    for (int i = 0; i < 64; ++i) many.emplace_back(kBytes, Grows::Up, Use::GoesOn);
    CHECK(mappings_of_process() < before + 10);
    for (int i = 0; i < 50; ++i) many.emplace_back(kBytes, Grows::Down, Use::GoesOn);
    for (size_t i = 64; i < many.size(); ++i) CHECK(is_a_stack(many[i]));
    CHECK(mappings_of_process() < before + 20 + 2 * 50);
  }
  CHECK(StackMappings::taken() == taken);
}

TEST_CASE("stack areas: one that is given back is the next one, and has nothing in it") {
  const Frugal frugal;
  const StackArea neighbour(kBytes, Grows::Down, Use::GoesOn);
  StackArea area(kBytes, Grows::Down, Use::GoesOn);
  char* const memory = area.memory();
  REQUIRE(memory);
  std::fill(memory + kBytes / 2, memory + kBytes, 1);
  area = StackArea();
  area = StackArea(kBytes, Grows::Down, Use::GoesOn);
  CHECK(area.memory() == memory);
  CHECK(is_a_stack(area));
  CHECK(std::count(memory + kBytes / 2, memory + kBytes, 0) == kBytes / 2);
}

TEST_CASE("stack areas: a share is left to the host, and what begins leaves some to what has begun") {
  posset::test::ScarceStacks scarce(100);
  std::vector<StackArea> areas;
  for (Use use : {Use::Begins, Use::First, Use::GoesOn}) {
    const size_t before = areas.size();
    do {
      areas.emplace_back(kBytes, Grows::Down, use);
    } while (areas.back().memory());
    CHECK(areas.back().comes_later());
    areas.pop_back();
    CHECK(areas.size() > before);
    CHECK(areas.size() < 100);
  }
  CHECK(StackArea(kBytes, Grows::Down, Use::Begins).comes_later());
  areas.clear();
  CHECK(StackArea(kBytes, Grows::Down, Use::Begins).memory());
  // What the system refuses does not come later.
  CHECK_FALSE(StackArea(size_t{1} << 50, Grows::Down, Use::Begins).comes_later());
}
