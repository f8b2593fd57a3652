// Ways through a simulation: at random from a seed, along a recorded list of choices, with few changes of
// priority (which finds orderings that evenly random choice hardly meets), or all of them within bounds. A
// run that fails is cut down to a list of choices in which every one matters.
//
// A choice is an index among the actors that could move, noted only where there were several. Beyond its end
// a list goes on with 0, the actor added first; so the empty list is a run too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sched/sim/simulation.h"

namespace posset::sched {

RunResult run_seeded(const Scenario& scenario, uint64_t seed);
RunResult replay(const Scenario& scenario, const std::vector<uint32_t>& choices);

// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler
// with probabilistic guarantees of finding bugs", ASPLOS 2010): the actor of highest priority moves;
// priorities are drawn at first, and at `changes` choices drawn among the first `length` the one that would
// have moved gets the lowest. A bug that needs d orderings is found with probability 1 / (n length^(d-1)).
RunResult run_with_priorities(const Scenario& scenario, uint64_t seed, int changes, uint64_t length);

struct Bounds {
  uint64_t choices = 12;   // beyond so many choices a run goes on with the first actor
  uint64_t runs = 100'000;
};

struct Exploration {
  uint64_t runs = 0;
  uint64_t states = 0;    // distinct ones at which there was a choice
  bool complete = false;  // every order within the bound of choices was seen
  std::optional<RunResult> failure;
};

// Depth first over all choices. A state met before is not gone into again.
Exploration explore_all(const Scenario& scenario, const Bounds& bounds);

// The shortest list found, by delta debugging (Zeller and Hildebrandt, "Simplifying and isolating
// failure-inducing input", 2002), that breaks the same invariant.
std::vector<uint32_t> minimise(const Scenario& scenario, const RunResult& failed);

struct Finding {
  uint64_t seed = 0;
  RunResult first;                // as the seed found it
  std::vector<uint32_t> choices;  // all that is needed
  RunResult shortest;             // the run of these choices

  // For people: what broke, the choices to replay and the trace.
  std::string report() const;
};

// Runs `count` seeds, each evenly at random and with priorities, and cuts the first failure down.
std::optional<Finding> search(const Scenario& scenario, uint64_t first_seed, uint64_t count);

}  // namespace posset::sched
