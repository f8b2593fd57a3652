// The simulator itself: time, choices, replay to the byte, search, cutting down, exhaustive search.
#include "sched/sim/simulation.h"

#include <set>

#include <doctest/doctest.h>

#include "sched/sim/explore.h"

using namespace posset::sched;

namespace {

// Two processes that each add one to a number by reading and writing it in two steps: the lost update.
class Adder final : public Actor {
 public:
  Adder(std::string name, int& shared) : name_(std::move(name)), shared_(shared) {}
  std::string name() const override { return name_; }
  bool enabled() const override { return at_ < 2; }
  std::string step() override {
    if (at_++ == 0) {
      read_ = shared_;
      return "reads " + std::to_string(read_);
    }
    shared_ = read_ + 1;
    return "writes " + std::to_string(shared_);
  }
  void hash_into(StateHash& hash) const override {
    hash.add(static_cast<uint64_t>(at_));
    hash.add(static_cast<uint64_t>(read_));
  }

 private:
  const std::string name_;
  int& shared_;
  int at_ = 0;
  int read_ = 0;
};

class LostUpdate final : public World {
 public:
  LostUpdate(Simulation& simulation, int adders) : adders_(adders) {
    for (int i = 0; i < adders; ++i) actors_.push_back(std::make_unique<Adder>(std::string(1, static_cast<char>('a' + i)), sum_));
    for (auto& actor : actors_) simulation.add(*actor);
  }
  void hash_into(StateHash& hash) const override { hash.add(static_cast<uint64_t>(sum_)); }
  std::string unfinished() const override { return sum_ == adders_ ? "" : "an update was lost"; }

 private:
  const int adders_;
  int sum_ = 0;
  std::vector<std::unique_ptr<Actor>> actors_;
};

Scenario lost_update(int adders) {
  return [adders](Simulation& simulation) { return std::make_unique<LostUpdate>(simulation, adders); };
}

}  // namespace

TEST_CASE("simulation: a run without choices is what the actors do in turn") {
  const RunResult result = replay(lost_update(1), {});
  CHECK(result.ok());
  CHECK(result.trace == "0 @0 a reads 0\n1 @0 a writes 1\n");
  CHECK(result.choices.empty());
}

TEST_CASE("simulation: a list of choices decides the order") {
  CHECK(replay(lost_update(2), {}).trace == "0 @0 a reads 0\n1 @0 a writes 1\n2 @0 b reads 1\n3 @0 b writes 2\n");
  const RunResult lost = replay(lost_update(2), {0, 1});
  CHECK(lost.broken == "finished");
  CHECK(lost.problem == "an update was lost");
  CHECK(lost.trace == "0 @0 a reads 0\n1 @0 b reads 0\n2 @0 a writes 1\n3 @0 b writes 1\n");
}

TEST_CASE("simulation: the same seed gives the same bytes, and its choices give them again") {
  std::set<std::string> different;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const RunResult once = run_seeded(lost_update(4), seed);
    CHECK(run_seeded(lost_update(4), seed).trace == once.trace);
    CHECK(replay(lost_update(4), once.choices).trace == once.trace);
    const RunResult changed = run_with_priorities(lost_update(4), seed, 2, 8);
    CHECK(run_with_priorities(lost_update(4), seed, 2, 8).trace == changed.trace);
    CHECK(replay(lost_update(4), changed.choices).trace == changed.trace);
    different.insert(once.trace);
  }
  CHECK(different.size() > 25);
}

TEST_CASE("simulation: search finds a failure, and few choices are enough for it") {
  const std::optional<Finding> found = search(lost_update(4), 1, 100);
  REQUIRE(found);
  CHECK(found->choices.size() <= 3);
  CHECK(found->choices.size() < found->first.choices.size());
  CHECK_FALSE(found->shortest.ok());
  CHECK(found->report().find("an update was lost\nfound by seed 1 ") != std::string::npos);
  CHECK(replay(lost_update(4), found->choices).trace == found->shortest.trace);
}

TEST_CASE("simulation: exhaustive search sees every order once") {
  const Exploration failing = explore_all(lost_update(2), {});
  REQUIRE(failing.failure);
  CHECK(failing.failure->broken == "finished");

  // Orders of two actors with two steps each that do not meet: six, but few distinct states.
  struct Apart final : World {
    explicit Apart(Simulation& simulation) : a("a", x), b("b", y) {
      simulation.add(a);
      simulation.add(b);
    }
    void hash_into(StateHash& hash) const override { hash.add(static_cast<uint64_t>(x * 10 + y)); }
    int x = 0, y = 0;
    Adder a, b;
  };
  const Exploration all = explore_all([](Simulation& s) { return std::make_unique<Apart>(s); }, {});
  CHECK(all.complete);
  CHECK_FALSE(all.failure);
  CHECK(all.states == 4);  // both can move only while neither has ended
  CHECK(all.runs <= 6);
  CHECK_FALSE(explore_all(lost_update(1), {.runs = 0}).complete);
}

TEST_CASE("simulation: time stands until nobody can move, and timers tie by insertion") {
  struct Timed final : World {
    explicit Timed(Simulation& simulation) {
      simulation.timers().add(20, [this] { order += "c"; });
      simulation.timers().add(10, [this] { order += "a"; });
      simulation.timers().add(10, [this] { order += "b"; });
      simulation.invariant("never c", [this] { return order == "abc" ? "c came" : ""; });
    }
    void hash_into(StateHash&) const override {}
    std::string order;
  };
  const RunResult result = replay([](Simulation& s) { return std::make_unique<Timed>(s); }, {});
  CHECK(result.broken == "never c");
  CHECK(result.end_ns == 20);
}

TEST_CASE("simulation: an exception in a step is a failure like others") {
  struct Throws final : Actor {
    std::string name() const override { return "thrower"; }
    bool enabled() const override { return true; }
    std::string step() override { throw std::runtime_error("broken"); }
    void hash_into(StateHash&) const override {}
  };
  struct Holder final : World {
    explicit Holder(Simulation& simulation) { simulation.add(actor); }
    void hash_into(StateHash&) const override {}
    Throws actor;
  };
  const RunResult result = replay([](Simulation& s) { return std::make_unique<Holder>(s); }, {});
  CHECK(result.broken == "exception");
  CHECK(result.problem == "broken");
}
