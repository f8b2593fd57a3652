// See explore.h.
#include "sched/sim/explore.h"

#include <algorithm>
#include <map>
#include <set>

#include "sched/base/random.h"

namespace posset::sched {

namespace {

class RandomChooser : public Chooser {
 public:
  explicit RandomChooser(uint64_t seed) : random_(seed) {}
  size_t choose(const Simulation&, std::span<const uint32_t> enabled) override { return random_.below(enabled.size()); }

 private:
  Random random_;
};

class ListChooser : public Chooser {
 public:
  explicit ListChooser(const std::vector<uint32_t>& choices) : choices_(choices) {}
  size_t choose(const Simulation&, std::span<const uint32_t> enabled) override {
    // Lists that were cut down meet other choices than those they were made for.
    return next_ < choices_.size() ? choices_[next_++] % enabled.size() : 0;
  }

 private:
  const std::vector<uint32_t>& choices_;
  size_t next_ = 0;
};

class PriorityChooser : public Chooser {
 public:
  PriorityChooser(uint64_t seed, int changes, uint64_t length) : random_(seed) {
    for (int i = 0; i < changes; ++i) changes_.insert(random_.below(std::max<uint64_t>(length, 1)));
  }
  size_t choose(const Simulation&, std::span<const uint32_t> enabled) override {
    if (changes_.count(choice_++)) priority_of(enabled[highest(enabled)]) = --lowest_;
    return highest(enabled);
  }

 private:
  int64_t& priority_of(uint32_t actor) {
    return priorities_.try_emplace(actor, static_cast<int64_t>(random_.next() >> 2)).first->second;
  }
  size_t highest(std::span<const uint32_t> enabled) {
    size_t best = 0;
    for (size_t i = 1; i < enabled.size(); ++i) {
      if (priority_of(enabled[i]) > priority_of(enabled[best])) best = i;
    }
    return best;
  }

  Random random_;
  std::set<uint64_t> changes_;
  std::map<uint32_t, int64_t> priorities_;
  uint64_t choice_ = 0;
  int64_t lowest_ = 0;  // drawn priorities are not negative
};

// One run of the exhaustive search: along `path`, then the first of each choice, which is noted with how many
// there were, until a state was met before.
class DepthFirstChooser : public Chooser {
 public:
  struct Branch {
    uint32_t choice;
    uint32_t possible;
  };
  // What was met, and after how few choices: with more of them left there is more to see.
  using Seen = std::map<uint64_t, size_t>;
  DepthFirstChooser(std::vector<Branch>& path, Seen& seen, uint64_t bound) : path_(path), seen_(seen), bound_(bound) {}

  size_t choose(const Simulation& simulation, std::span<const uint32_t> enabled) override {
    if (next_ < path_.size()) return path_[next_++].choice;
    if (path_.size() >= bound_) return 0;
    auto [met, is_new] = seen_.try_emplace(simulation.state_hash(), path_.size());
    if (!is_new && met->second <= path_.size()) return kEnough;
    met->second = path_.size();
    path_.push_back({0, static_cast<uint32_t>(enabled.size())});
    ++next_;
    return 0;
  }

 private:
  std::vector<Branch>& path_;
  Seen& seen_;
  const uint64_t bound_;
  size_t next_ = 0;
};

bool breaks_the_same(const Scenario& scenario, const std::vector<uint32_t>& choices, const std::string& broken) {
  return replay(scenario, choices).broken == broken;
}

// Leaves out ever smaller parts while what remains still fails.
std::vector<uint32_t> without_parts(const Scenario& scenario, std::vector<uint32_t> choices, const std::string& broken) {
  size_t part = std::max<size_t>(choices.size() / 2, 1);
  while (!choices.empty()) {
    bool shorter = false;
    for (size_t begin = 0; begin < choices.size();) {
      std::vector<uint32_t> rest = choices;
      const size_t end = std::min(begin + part, choices.size());
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(begin), rest.begin() + static_cast<ptrdiff_t>(end));
      if (breaks_the_same(scenario, rest, broken)) {
        choices = std::move(rest);
        shorter = true;
      } else {
        begin = end;
      }
    }
    if (part == 1 && !shorter) break;
    if (!shorter) part /= 2;
    part = std::max<size_t>(std::min(part, choices.size()), 1);
  }
  return choices;
}

// Puts the lowest number that will do in every place, and leaves out the zeros a list goes on with anyway.
std::vector<uint32_t> lowered(const Scenario& scenario, std::vector<uint32_t> choices, const std::string& broken) {
  for (uint32_t& choice : choices) {
    const uint32_t kept = choice;
    for (choice = 0; choice < kept; ++choice) {
      if (breaks_the_same(scenario, choices, broken)) break;
    }
  }
  while (!choices.empty() && choices.back() == 0) choices.pop_back();
  return choices;
}

}  // namespace

RunResult run_seeded(const Scenario& scenario, uint64_t seed) {
  RandomChooser chooser(seed);
  return Simulation::run(scenario, chooser);
}

RunResult replay(const Scenario& scenario, const std::vector<uint32_t>& choices) {
  ListChooser chooser(choices);
  return Simulation::run(scenario, chooser);
}

RunResult run_with_priorities(const Scenario& scenario, uint64_t seed, int changes, uint64_t length) {
  PriorityChooser chooser(seed, changes, length);
  return Simulation::run(scenario, chooser);
}

Exploration explore_all(const Scenario& scenario, const Bounds& bounds) {
  Exploration made;
  std::vector<DepthFirstChooser::Branch> path;
  DepthFirstChooser::Seen seen;
  while (made.runs < bounds.runs) {
    DepthFirstChooser chooser(path, seen, bounds.choices);
    RunResult result = Simulation::run(scenario, chooser);
    ++made.runs;
    made.states = seen.size();
    if (!result.ok()) {
      made.failure = std::move(result);
      return made;
    }
    // The deepest place with something left to try.
    while (!path.empty() && path.back().choice + 1 == path.back().possible) path.pop_back();
    if (path.empty()) {
      made.complete = true;
      return made;
    }
    ++path.back().choice;
  }
  return made;
}

std::vector<uint32_t> minimise(const Scenario& scenario, const RunResult& failed) {
  std::vector<uint32_t> choices = failed.choices;
  for (;;) {
    // Lower choices make others superfluous, and the other way round.
    std::vector<uint32_t> smaller = lowered(scenario, without_parts(scenario, choices, failed.broken), failed.broken);
    if (smaller == choices) return choices;
    choices = std::move(smaller);
  }
}

std::optional<Finding> search(const Scenario& scenario, uint64_t first_seed, uint64_t count) {
  constexpr int kChanges = 3;
  for (uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    RunResult result = run_seeded(scenario, seed);
    if (result.ok()) result = run_with_priorities(scenario, seed, kChanges, result.choices.size());
    if (result.ok()) continue;
    Finding found{.seed = seed, .first = std::move(result)};
    found.choices = minimise(scenario, found.first);
    found.shortest = replay(scenario, found.choices);
    return found;
  }
  return std::nullopt;
}

std::string Finding::report() const {
  std::string text = shortest.broken + ": " + shortest.problem + "\nfound by seed " + std::to_string(seed) + " with " +
                     std::to_string(first.choices.size()) + " choices; these are enough: {";
  for (size_t i = 0; i < choices.size(); ++i) text += (i ? ", " : "") + std::to_string(choices[i]);
  return text + "}\n" + shortest.trace;
}

}  // namespace posset::sched
