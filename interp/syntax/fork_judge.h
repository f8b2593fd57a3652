// Judges siblings of one function for fork_points.cpp: what is costly, what may run at any time, and
// what keeps one from running beside others.
#pragma once

#include <unordered_map>
#include <vector>

#include "interp/syntax/purity_facts.h"
#include "interp/syntax/siblings.h"

namespace posset::syntax {

// A record holds a copy of each input.
constexpr size_t kMostInputs = 6;

using FactsOf = std::unordered_map<const FunctionDecl*, const Facts*>;

struct Obstacle {
  Reason reason = Reason::none;
  PurityStep effect;  // where it says more
};

// A sibling and what is known of it.
struct Candidate {
  Sibling sibling;
  bool costly = false;
  bool forks = false;  // a left or right continuation
  Obstacle obstacle;   // to being evaluated beside anything: an effect, a jump out of it
  std::vector<Given> given;  // what would have to be pure
  Outside outside;

  bool may_fork() const { return costly && obstacle.reason == Reason::none; }
};
using Candidates = std::vector<Candidate>;

// What siblings change: slots, and lets of the module. And what they are given, which is looked at when all of them stand
// before their beginning.
struct Changes {
  std::vector<uint32_t> slots;
  std::vector<uint32_t> globals;
  std::vector<Given> given;
  void add(const Candidate& each);
};

class ForkJudge {
 public:
  ForkJudge(const Facts& facts, const FactsOf& all);

  bool any_costs() const { return !costs_.empty(); }
  bool is_costly(uint32_t first, uint32_t end) const;
  Candidate examine(const Sibling& sibling) const;
  // What is evaluated in a round of it.
  Candidate examine_rounds(ComprehensionNode& list, uint32_t end) const;
  // To evaluating `right` before `between`, what is done from the left continuation up to it.
  Obstacle obstacle(const Candidate& right, const Changes& between) const;

 private:
  struct Effect {
    uint32_t site;
    Reason reason;
    Span span;
    const std::string* what;
    const FunctionDecl* next;
    std::vector<Given> given;  // not empty: only where these are not pure
  };

  void add(const std::vector<PurityStep>& steps, Reason reason);
  void find_effect(Candidate& candidate, uint32_t first) const;
  Obstacle given_obstacle(const Candidate& right, const Changes& between) const;
  bool may_read(const Sibling& sibling, const std::vector<uint32_t>& globals) const;

  const Facts& facts_;
  const FactsOf& all_;
  const FunctionDecl& function_;
  // In the order of sites: of what may take long, and what is not provably pure.
  std::vector<uint32_t> costs_;
  std::vector<Effect> effects_;
};

}  // namespace posset::syntax
