// Halting and scanning of the fixed-point solver in the simulator: workers that update a ring, park when they have no
// coordinate, come to a halt, scan together and go on or leave; and somebody who may end it at any time. Around
// the state machine the threads use (fixpoint/quiescence.h); a worker sleeps until another's step wakes it, so that a
// wake-up that is missing is found.
//
// The state machine and the schedule are parameters so that a test can put broken ones in. Invariants:
//   blocks     each worker goes round in a block of its own: the formula's, so that all of them are [0, n)
//   scan       nobody writes between the beginning of a scan and its end, and it sees every coordinate once
//   converged  when convergence is declared, every residual is within the tolerance there and then, and every coordinate
//              within what follows of the solution, 1 / (1 - beta)
//   finished   at the end all workers have left, and they converged unless they were ended
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sched/fixpoint/quiescence.h"
#include "sched/fixpoint/static_blocks.h"
#include "sched/sim/simulation.h"

namespace posset::sched {

struct FixpointHaltPlan {
  size_t n = 4;
  size_t workers = 2;
  size_t batch = 2;       // updates before a worker looks up
  size_t halt_after = 4;  // updates of all before one that looks up asks for a halt
  double beta = 0.25;
  double tolerance = 0.01;
  bool ends = false;      // somebody ends it
  size_t most_scans = 20; // then it ends as well: an order of events may be so unfair that it never converges
};

template <class Halting = fixpoint::Quiescence, class Blocks = fixpoint::StaticBlocks>
class FixpointHaltWorld final : public World {
 public:
  FixpointHaltWorld(Simulation& simulation, const FixpointHaltPlan& plan)
      : simulation_(simulation), plan_(plan), halting_(plan.workers), x_(plan.n), scanned_(plan.n) {
    blocks_.init(plan.n, plan.workers);
    for (size_t i = 0; i < plan.workers; ++i) workers_.push_back(std::make_unique<Worker>(*this, i));
    for (auto& worker : workers_) simulation.add(*worker);
    if (plan.ends) simulation.add(ender_);
  }

  void hash_into(StateHash& hash) const override {
    for (double x : x_) hash.add(static_cast<uint64_t>(x * 1e15));
    for (int scanned : scanned_) hash.add(static_cast<uint64_t>(scanned));
    hash.add(next_scanned_ * 64 + updates_ * 8 + ended_ * 4 + scanning_ * 2 + leave_);
    hash.add(scans_);
    hash.add(halting_.parked() * 64 + halting_.arrived() * 2 + halting_.requested());
  }
  std::string unfinished() const override {
    for (const auto& worker : workers_) {
      if (!worker->left()) return worker->name() + " sleeps for ever";
    }
    return converged_ || ended_ ? "" : "left without a result";
  }

  static Scenario scenario(const FixpointHaltPlan& plan) {
    return [&plan](Simulation& simulation) { return std::make_unique<FixpointHaltWorld>(simulation, plan); };
  }

 private:
  class Worker final : public Actor {
   public:
    enum class State : uint8_t { Claims, Writes, LooksUp, Parked, Arrives, Begins, Scans, ArrivesAgain, Judges, Waits, Left };
    Worker(FixpointHaltWorld& world, size_t number) : world_(world), number_(number) {}
    std::string name() const override { return "worker" + std::to_string(number_); }
    bool enabled() const override {
      if (state_ == State::Parked || state_ == State::Waits) return woken_;
      return state_ != State::Left;
    }
    std::string step() override;
    void hash_into(StateHash& hash) const override {
      hash.add(static_cast<uint64_t>(state_) * 1000 + static_cast<uint64_t>(after_) * 20 + made_ * 2 + woken_);
      hash.add(i_ * 1000 + round_ % 1000);
      hash.add(static_cast<uint64_t>(value_ * 1e15));
    }
    void wake() { woken_ = true; }
    bool left() const { return state_ == State::Left; }

   private:
    std::string claim();
    std::string write();
    std::string look_up();
    std::string parked();
    std::string arrive(State alone, State after);
    std::string wait();
    std::string scan();
    std::string go_on();

    FixpointHaltWorld& world_;
    const size_t number_;
    State state_ = State::Claims;
    State after_ = State::Claims;  // of the wait
    bool woken_ = false;
    uint64_t round_ = 0;
    size_t made_ = 0;
    size_t claims_ = 0;
    size_t i_ = 0;
    double value_ = 0;
  };

  class Ender final : public Actor {
   public:
    explicit Ender(FixpointHaltWorld& world) : world_(world) {}
    std::string name() const override { return "ender"; }
    bool enabled() const override { return !world_.ended_ && !world_.leave_; }
    std::string step() override {
      world_.ended_ = true;
      if (world_.halting_.request()) world_.wake_all();
      return "ends it";
    }
    void hash_into(StateHash&) const override {}

   private:
    FixpointHaltWorld& world_;
  };

  double f(size_t i) const { return plan_.beta * x_[(i + 1) % plan_.n] + 1; }
  void wake_all() {
    for (auto& worker : workers_) worker->wake();
  }
  void check_block(size_t worker, size_t claims, std::optional<size_t> i);
  void check_solution();
  std::string begin_scan();
  std::string judge();

  Simulation& simulation_;
  const FixpointHaltPlan& plan_;
  Halting halting_;
  Blocks blocks_;
  std::vector<double> x_;
  std::vector<int> scanned_;  // how often, in this scan
  size_t next_scanned_ = 0;
  double largest_ = 0;
  size_t updates_ = 0;  // since the last scan
  size_t scans_ = 0;
  bool scanning_ = false;
  bool ended_ = false;
  bool leave_ = false;
  bool converged_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  Ender ender_{*this};
};

// What a worker gets that had so many before.
template <class Halting, class Blocks>
void FixpointHaltWorld<Halting, Blocks>::check_block(size_t worker, size_t claims, std::optional<size_t> i) {
  const size_t share = plan_.n / plan_.workers, larger = plan_.n % plan_.workers;
  const size_t size = share + (worker < larger ? 1 : 0);
  const size_t begin = worker * share + std::min(worker, larger);
  const bool right = size == 0 ? !i : i && *i == begin + claims % size;
  if (!right) simulation_.fail("blocks", "worker " + std::to_string(worker) + " got what is not the next of its block");
}

template <class Halting, class Blocks>
void FixpointHaltWorld<Halting, Blocks>::check_solution() {
  const double solution = 1 / (1 - plan_.beta);
  for (size_t i = 0; i < plan_.n; ++i) {
    const bool there = std::abs(f(i) - x_[i]) <= plan_.tolerance &&
                       std::abs(x_[i] - solution) <= plan_.tolerance / (1 - plan_.beta) + 1e-12;
    if (!there) simulation_.fail("converged", "coordinate " + std::to_string(i) + " has not");
  }
}

// The last to arrive, alone.
template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::begin_scan() {
  scanning_ = !ended_;
  std::fill(scanned_.begin(), scanned_.end(), 0);
  next_scanned_ = 0;
  largest_ = 0;
  halting_.release(false);
  wake_all();
  return scanning_ ? "begins the scan" : "sees the end";
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::judge() {
  if (!ended_) {
    for (int times : scanned_) {
      if (times != 1) simulation_.fail("scan", "a coordinate was looked at " + std::to_string(times) + " times");
    }
    converged_ = largest_ <= plan_.tolerance;
    ended_ = !converged_ && ++scans_ == plan_.most_scans;
  }
  if (converged_) check_solution();
  scanning_ = false;
  leave_ = ended_ || converged_;
  updates_ = 0;
  halting_.release(true);
  wake_all();
  return leave_ ? "ends" : "goes on";
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::step() {
  switch (state_) {
    case State::Claims: return claim();
    case State::Writes: return write();
    case State::LooksUp: return look_up();
    case State::Parked: return parked();
    case State::Arrives: return arrive(State::Begins, State::Scans);
    case State::Begins:
      state_ = State::Scans;
      return world_.begin_scan();
    case State::Scans: return scan();
    case State::ArrivesAgain: return arrive(State::Judges, State::Claims);
    case State::Judges: {
      const std::string said = world_.judge();
      go_on();
      return said;
    }
    case State::Waits: return wait();
    case State::Left: break;
  }
  return "";
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::claim() {
  if (made_ == 0 && world_.halting_.requested()) {
    state_ = State::Arrives;
    return "halts";
  }
  const std::optional<size_t> i = world_.blocks_.next(number_);
  world_.check_block(number_, claims_, i);
  claims_ += i.has_value();
  if (!i) {
    // Look and sleep are one step, as under the lock.
    woken_ = false;
    const bool sleeps = world_.halting_.park();
    state_ = sleeps ? State::Parked : State::Arrives;
    if (!sleeps) world_.wake_all();
    return sleeps ? "parks" : "asks for a halt instead of parking";
  }
  i_ = *i;
  value_ = world_.f(i_);
  state_ = State::Writes;
  return "evaluates " + std::to_string(i_);
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::write() {
  if (world_.scanning_) world_.simulation_.fail("scan", "coordinate " + std::to_string(i_) + " was written meanwhile");
  world_.x_[i_] = value_;
  ++world_.updates_;
  state_ = ++made_ < world_.plan_.batch ? State::Claims : State::LooksUp;
  return "writes " + std::to_string(i_);
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::look_up() {
  made_ = 0;
  state_ = State::Claims;
  if (world_.updates_ < world_.plan_.halt_after || !world_.halting_.request()) return "looks up";
  world_.wake_all();
  return "asks for a halt";
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::parked() {
  woken_ = false;
  if (!world_.halting_.requested()) return "sleeps on";
  world_.halting_.unpark();
  state_ = State::Arrives;
  return "wakes";
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::arrive(State alone, State after) {
  if (world_.halting_.arrive()) {
    state_ = alone;
    return "arrives last";
  }
  woken_ = false;
  round_ = world_.halting_.round();
  after_ = after;
  state_ = State::Waits;
  return "arrives";
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::wait() {
  woken_ = false;
  if (world_.halting_.round() == round_) return "sleeps on";
  if (after_ == State::Claims) return go_on();
  state_ = after_;
  return "goes to the scan";
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::scan() {
  if (!world_.scanning_ || world_.ended_ || world_.next_scanned_ == world_.plan_.n) {
    state_ = State::ArrivesAgain;
    return "has nothing to scan";
  }
  const size_t i = world_.next_scanned_++;
  ++world_.scanned_[i];
  world_.largest_ = std::max(world_.largest_, std::abs(world_.f(i) - world_.x_[i]));
  return "scans " + std::to_string(i);
}

template <class Halting, class Blocks>
std::string FixpointHaltWorld<Halting, Blocks>::Worker::go_on() {
  made_ = 0;
  state_ = world_.leave_ ? State::Left : State::Claims;
  return world_.leave_ ? "leaves" : "goes on";
}

}  // namespace posset::sched
