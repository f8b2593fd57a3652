// See simulation.h.
#include "sched/sim/simulation.h"

#include <exception>

#include "sched/base/random.h"

namespace posset::sched {

void StateHash::add(uint64_t word) { value_ = Random(value_ ^ word).next(); }

void Simulation::fail(std::string invariant, std::string problem) {
  if (!result_.broken.empty()) return;  // the first is the cause
  result_.broken = std::move(invariant);
  result_.problem = std::move(problem);
}

uint64_t Simulation::state_hash() const {
  StateHash hash;
  for (const Actor* actor : actors_) actor->hash_into(hash);
  world_->hash_into(hash);
  hash.add(static_cast<uint64_t>(timers_.next_ns() == kNever ? -1 : timers_.next_ns() - now_ns()));
  return hash.value();
}

RunResult Simulation::run(const Scenario& scenario, Chooser& chooser, uint64_t max_steps) {
  Simulation simulation;
  std::unique_ptr<World> world = scenario(simulation);
  simulation.world_ = world.get();
  try {
    simulation.loop(chooser, max_steps);
  } catch (const std::exception& exception) {
    simulation.fail("exception", exception.what());
  }
  simulation.result_.end_ns = simulation.now_ns();
  return std::move(simulation.result_);
}

void Simulation::loop(Chooser& chooser, uint64_t max_steps) {
  while (result_.ok() && !result_.cut) {
    if (result_.steps >= max_steps) {
      result_.cut = true;
    } else if (Actor* actor = pick(chooser)) {
      step(*actor);
    } else if (!result_.cut && !advance()) {
      const std::string missing = world_->unfinished();
      if (!missing.empty()) fail("finished", missing);
      return;
    }
  }
}

// Null: no actor can move, or the chooser had enough.
Actor* Simulation::pick(Chooser& chooser) {
  std::vector<uint32_t> enabled;
  for (uint32_t number = 0; number < actors_.size(); ++number) {
    if (actors_[number]->enabled()) enabled.push_back(number);
  }
  if (enabled.empty()) return nullptr;
  if (enabled.size() == 1) return actors_[enabled[0]];
  const size_t choice = chooser.choose(*this, enabled);
  if (choice == Chooser::kEnough) {
    result_.cut = true;
    return nullptr;
  }
  assert(choice < enabled.size());
  result_.choices.push_back(static_cast<uint32_t>(choice));
  return actors_[enabled[choice]];
}

// False: there is no timer to wait for.
bool Simulation::advance() {
  const int64_t next_ns = timers_.next_ns();
  if (next_ns == kNever) return false;
  if (next_ns > now_ns()) clock_.advance_to(next_ns);
  timers_.expire(now_ns());
  check();
  return true;
}

void Simulation::step(Actor& actor) {
  const std::string done = actor.step();
  result_.trace += std::to_string(result_.steps++) + " @" + std::to_string(now_ns()) + " " + actor.name() + " " + done + "\n";
  check();
}

void Simulation::check() {
  for (const Invariant& invariant : invariants_) {
    if (!result_.ok()) return;
    std::string problem = invariant.check();
    if (!problem.empty()) fail(invariant.name, std::move(problem));
  }
}

}  // namespace posset::sched
