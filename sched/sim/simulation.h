// The deterministic simulator: the schedulers' policies without their threads. A world is a set of actors (a
// worker, a submitter, a message under way) on one virtual clock. One loop picks an actor that can move, lets
// it make one atomic step, writes a line of the trace and checks every invariant. Time moves only when no
// actor can: to the next timer. Whoever picks is a Chooser; the same choices give the same run, to the byte.
//
// So policies must be state machines over a Clock and Random given to them, and nothing in them may depend on
// addresses or on the order of a hash table.
//
// Elsewhere: ways to choose and to search among choices (explore.h), worlds (p2_world.h, graph_world.h).
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/timer.h"

namespace posset::sched {

// Stands still until the simulation moves it.
class VirtualClock final : public Clock {
 public:
  int64_t now_ns() const override { return now_ns_; }
  void advance_to(int64_t ns) {
    assert(ns >= now_ns_);
    now_ns_ = ns;
  }

 private:
  int64_t now_ns_ = 0;
};

// A digest of a state, for not exploring the same one twice.
class StateHash {
 public:
  void add(uint64_t word);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0x9e3779b97f4a7c15;
};

class Actor {
 public:
  virtual ~Actor() = default;
  virtual std::string name() const = 0;
  // Whether it can move now. Changed only by steps, its own or others', and by time.
  virtual bool enabled() const = 0;
  // One atomic step; what it did, for the trace.
  virtual std::string step() = 0;
  // Everything its future depends on, times relative to now where possible.
  virtual void hash_into(StateHash& hash) const = 0;
};

class Simulation;

// What is simulated. Made afresh for each run by a Scenario, which adds its actors to the simulation.
class World {
 public:
  virtual ~World() = default;
  virtual void hash_into(StateHash& hash) const = 0;
  // When nothing can happen any more: what should have happened and did not, else empty.
  virtual std::string unfinished() const { return ""; }
};

using Scenario = std::function<std::unique_ptr<World>(Simulation&)>;

// Decides who moves.
class Chooser {
 public:
  static constexpr size_t kEnough = SIZE_MAX;  // ends the run
  virtual ~Chooser() = default;
  // An index into `enabled`, the numbers of at least two actors in the order they were added.
  virtual size_t choose(const Simulation& simulation, std::span<const uint32_t> enabled) = 0;
};

struct RunResult {
  std::string broken;             // the name of the invariant that failed; empty: none
  std::string problem;            // what is wrong
  std::string trace;              // a line for each step
  std::vector<uint32_t> choices;  // one for each time there was more than one possibility
  uint64_t steps = 0;
  int64_t end_ns = 0;
  bool cut = false;               // the chooser had enough, or the limit of steps was reached

  bool ok() const { return broken.empty(); }
};

class Simulation {
 public:
  Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  const VirtualClock& clock() const { return clock_; }
  int64_t now_ns() const { return clock_.now_ns(); }
  // Actions may do anything a step may; they run when no actor can move.
  TimerSet& timers() { return timers_; }
  // Nothing happens then, but time gets there.
  void wake_at(int64_t ns) { timers_.add(ns, [] {}); }

  // The actor outlives the simulation's run. Actors are numbered in the order they are added.
  void add(Actor& actor) { actors_.push_back(&actor); }
  // Checked after every step: what is wrong, else empty.
  void invariant(std::string name, std::function<std::string()> check) {
    invariants_.push_back({std::move(name), std::move(check)});
  }
  // From within a step: this must not have happened.
  void fail(std::string invariant, std::string problem);

  uint64_t state_hash() const;

  // Runs a fresh world until nothing can happen, an invariant fails or `max_steps` were made.
  static RunResult run(const Scenario& scenario, Chooser& chooser, uint64_t max_steps = 1'000'000);

 private:
  struct Invariant {
    std::string name;
    std::function<std::string()> check;
  };

  void loop(Chooser& chooser, uint64_t max_steps);
  Actor* pick(Chooser& chooser);
  bool advance();
  void step(Actor& actor);
  void check();

  VirtualClock clock_;
  TimerSet timers_;
  std::vector<Actor*> actors_;
  std::vector<Invariant> invariants_;
  const World* world_ = nullptr;
  RunResult result_;
};

}  // namespace posset::sched
