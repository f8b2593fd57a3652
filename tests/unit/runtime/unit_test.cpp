// The bound of the unit table: which units are forgotten, how many at once, and how past heat fades.
#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "interp/runtime/function.h"
#include "interp/runtime/tier.h"
#include "interp/runtime/unit.h"
#include "interp/runtime/unused_units.h"

namespace posset::interp {

namespace {

constexpr size_t kLimit = 1600;
constexpr size_t kQuarter = kLimit / 4;
constexpr size_t kSixteenth = kLimit / 16;

// Unused units without a table, known by the order in which they came.
class Lists {
 public:
  Unit& add(uint32_t count) {
    Unit& unit = units_.emplace_back();
    unit.number = static_cast<uint32_t>(units_.size());
    unit.body.count = count;
    unused.add(unit);
    return unit;
  }
  void pass(size_t bytes) {
    for (; bytes >= kSixteenth; bytes -= kSixteenth) unused.note_added(kSixteenth, kLimit);
  }
  // Takes out all.
  std::vector<uint32_t> order() {
    std::vector<uint32_t> out;
    while (Unit* unit = unused.coldest()) {
      unused.remove(*unit);
      out.push_back(unit->number);
    }
    return out;
  }

  UnusedUnits unused;

 private:
  std::deque<Unit> units_;
};

using Order = std::vector<uint32_t>;

// A declaration of a function that differs from all with other numbers and is as large as they are.
syntax::FunctionDecl declaration(uint64_t number) {
  syntax::FunctionDecl decl;
  decl.hash = {number, number};
  decl.canonical = std::string(100, 'x');
  return decl;
}

struct Holder {
  Holder(UnitTable& table, uint64_t number) : decl(declaration(number)) {
    function.decl = &decl;
    function.unit = table.find_or_add(function);
  }
  Unit& unit() { return *function.unit; }
  syntax::FunctionDecl decl;
  Function function;
};

size_t bytes_of_one() {
  UnitTable table;
  Holder one(table, 1);
  return table.bytes();
}

class Table : public UnitTable {
 public:
  explicit Table(size_t units) { set_limit(units * bytes_of_one()); }
  // A user comes and goes.
  void use(uint64_t number, uint32_t executions = 1) {
    Holder holder(*this, number);
    holder.unit().body.count += executions;
  }
  bool knows(uint64_t number) const {
    bool found = false;
    for_each([&](const Unit& unit) { found |= unit.hash.low == number; });
    return found;
  }
};

// Code that is nothing but large.
size_t code_size = 0;
const TierInterface* code_of_a_size() {
  static const TierInterface tier = [] {
    TierInterface made;
    made.level = 1;
    made.memory = [](const void*) { return code_size; };
    made.drop = [](void*) {};
    return made;
  }();
  return &tier;
}

}  // namespace

TEST_CASE("unit: the coldest class goes first, in a class the one that came first") {
  Lists lists;
  for (uint32_t count : {5u, 1u, 4u, 0u, UINT32_MAX, 1u, 100u, 7u}) lists.add(count);
  CHECK(lists.order() == Order{4, 2, 6, 1, 3, 8, 7, 5});
}

TEST_CASE("unit: one that is used again leaves the others as they stand") {
  Lists lists;
  Unit* units[5];
  for (Unit*& each : units) each = &lists.add(1);
  for (int i : {2, 0, 4}) {  // in the middle, first, last
    lists.unused.remove(*units[i]);
    CHECK(units[i]->body.count == 1);
  }
  lists.unused.add(*units[0]);
  CHECK(lists.order() == Order{2, 4, 1});
  CHECK(lists.unused.coldest() == nullptr);
}

TEST_CASE("unit: heat halves with each quarter of the limit added") {
  Lists lists;
  Unit& longest = lists.add(100);
  lists.pass(kQuarter);
  Unit& shorter = lists.add(100);
  lists.pass(kQuarter - kSixteenth);
  lists.unused.remove(shorter);  // before the quarter is full
  CHECK(shorter.body.count == 100);
  lists.unused.add(shorter);
  lists.pass(kSixteenth);
  lists.unused.remove(shorter);
  CHECK(shorter.body.count == 50);
  lists.pass(kQuarter);
  lists.unused.remove(longest);
  CHECK(longest.body.count == 12);
  CHECK(lists.unused.coldest() == nullptr);
}

TEST_CASE("unit: heat of long ago is worth less than that of today") {
  Lists lists;
  lists.add(64);
  lists.pass(kQuarter);
  lists.add(40);  // what is left of the 64 is in the same class, and longer there
  lists.add(31);
  lists.pass(kQuarter);
  CHECK(lists.order() == Order{3, 1, 2});

  lists.add(UINT32_MAX);
  lists.pass(40 * kQuarter);
  lists.add(1);
  lists.pass(kSixteenth * 2);
  CHECK(lists.order() == Order{4, 5});
}

TEST_CASE("unit: what has come lately is passed over while there is anything else") {
  Lists lists;
  lists.add(1000);
  lists.pass(kSixteenth);
  lists.add(50);
  lists.pass(kSixteenth);
  lists.add(1);
  CHECK(lists.unused.coldest()->body.count == 1000);
  lists.pass(kSixteenth);
  CHECK(lists.unused.coldest()->body.count == 50);
  lists.pass(kSixteenth);
  CHECK(lists.unused.coldest()->body.count == 1);

  Lists only_new;
  only_new.pass(kQuarter);
  for (uint32_t count : {8u, 1u, 2u}) only_new.add(count);
  CHECK(only_new.order() == Order{2, 3, 1});
}

TEST_CASE("unit: whoever adds one gives up one") {
  constexpr size_t kUnits = 200;
  Table table(kUnits);
  for (uint64_t i = 0; i < 10 * kUnits; ++i) {
    const size_t before = table.size();
    table.use(i);
    REQUIRE(table.size() >= before);
    REQUIRE(table.size() == std::min<size_t>(i + 1, kUnits));
    REQUIRE(table.knows(i));
    if (i >= kUnits) REQUIRE_FALSE(table.knows(i - kUnits));
  }
}

TEST_CASE("unit: one in use stays, with its count") {
  Table table(100);
  Holder held(table, 0);
  held.unit().body.count = 9;
  for (uint64_t i = 1; i < 1000; ++i) table.use(i);
  CHECK(table.knows(0));
  CHECK(held.unit().body.count == 9);
}

TEST_CASE("unit: a hot one outlives cold ones, but not for ever") {
  constexpr uint64_t kUnits = 160;
  Table table(kUnits);
  table.use(0, 10000);
  for (uint64_t i = 1; i <= 2 * kUnits; ++i) table.use(i);  // eight quarters of the limit
  REQUIRE(table.knows(0));
  CHECK(Holder(table, 0).unit().body.count == 10000 >> 8);
  for (uint64_t i = 0; i < 10 * kUnits; ++i) table.use(1000 + i);
  CHECK_FALSE(table.knows(0));
}

TEST_CASE("unit: a new one among hot ones lasts until it is used again") {
  Table table(160);
  for (uint64_t i = 0; i < 320; ++i) table.use(i, 10000);
  for (uint64_t i = 1000; i < 2000; ++i) {
    table.use(i);
    if (i % 8 == 0) table.use(1);
    if (i >= 1008) CHECK(table.knows(i - 8));
  }
}

TEST_CASE("unit: units of one hash are told apart when one is given up") {
  Table table(2);
  const auto use = [&table](char content) {
    Holder holder(table, 2);
    syntax::FunctionDecl decl = declaration(1);
    decl.canonical.back() = content;
    Function function;
    function.decl = &decl;
    function.unit = table.find_or_add(function);
    function.unit->body.count += 1;
    return function.unit->body.count.load();
  };
  use('a');
  CHECK(use('b') == 1);
  CHECK(use('b') == 2);
  CHECK(use('a') == 1);
  CHECK(table.size() == 2);
}

TEST_CASE("unit: code of units in use is looked through again after an eighth of the limit") {
  constexpr uint64_t kUnits = 80;
  Table table(kUnits);
  code_size = bytes_of_one();
  table.attach(1, code_of_a_size());
  std::vector<std::unique_ptr<Holder>> holders;
  for (uint64_t i = 0; i < kUnits; ++i) holders.push_back(std::make_unique<Holder>(table, i));
  int evictions = 0;
  for (int i = 0; i < 34; ++i) {
    const size_t before = table.bytes();
    int code = 0;
    table.publish(holders[static_cast<size_t>(i)]->unit(), -1, 1, &code);
    evictions += table.bytes() < before + code_size;
  }
  CHECK(evictions == 4);  // the first, and each after ten that were let be
}

TEST_CASE("unit: a compilation makes room for what evaluations are about to add") {
  constexpr uint64_t kUnits = 1280;
  Table table(kUnits);
  code_size = 1;
  table.attach(1, code_of_a_size());
  Holder held(table, 0);
  for (uint64_t i = 1; i < 2 * kUnits; ++i) table.use(i);
  REQUIRE(table.size() == kUnits);
  int code = 0;
  CHECK(table.publish_patiently(held.unit(), -1, 1, &code, nullptr));
  CHECK(table.size() == kUnits - kUnits / 128);
  CHECK_FALSE(table.knows(kUnits + 1));
  CHECK(table.knows(2 * kUnits - 1));
  for (uint64_t i = 0; i < kUnits / 128 - 1; ++i) table.use(3 * kUnits + i);
  CHECK(table.size() == kUnits - 1);  // nobody had to give up one
}

}  // namespace posset::interp
