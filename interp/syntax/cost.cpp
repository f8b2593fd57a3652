// Which functions may take long, so that work beside them is worth a fork: those that have a loop
// or call a built-in that goes over all of its argument, those that are recursive, and those that
// call one of these.
//
// Loops and built-ins are spread from callees to callers. Recursion needs no search for circles:
// taking away, again and again, functions all of whose callees are gone leaves exactly those from
// which a circle can be reached.
#include <unordered_map>

#include "interp/syntax/fork_points.h"

namespace posset::syntax {

namespace {

class Costs {
 public:
  Costs(const Module& module, const std::vector<Facts>& facts) : module_(module), facts_(facts) {}

  void run() {
    for (size_t i = 0; i < facts_.size(); ++i) place_[facts_[i].function] = i;
    callers_.resize(facts_.size());
    callees_.resize(facts_.size());
    for (size_t i = 0; i < facts_.size(); ++i) look_at(i);
    spread();
    take_away();
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (callees_[i] != 0) facts_[i].function->costly = true;
    }
  }

 private:
  void look_at(size_t i) {
    FunctionDecl& function = *facts_[i].function;
    function.costly = !facts_[i].costs.empty() || !function.loops.empty();
    for (const KnownCall& call : facts_[i].calls) {
      if (call.callee->module != &module_) {
        function.costly = function.costly || call.callee->costly;
        continue;
      }
      callers_[place_.at(call.callee)].push_back(i);
      ++callees_[i];
    }
  }

  void spread() {
    std::vector<size_t> reached;
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (facts_[i].function->costly) reached.push_back(i);
    }
    for (size_t at = 0; at < reached.size(); ++at) {
      for (const size_t caller : callers_[reached[at]]) {
        bool& costly = facts_[caller].function->costly;
        if (!costly) reached.push_back(caller);
        costly = true;
      }
    }
  }

  // callees_: how many calls of each are still there.
  void take_away() {
    std::vector<size_t> gone;
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (callees_[i] == 0) gone.push_back(i);
    }
    for (size_t at = 0; at < gone.size(); ++at) {
      for (const size_t caller : callers_[gone[at]]) {
        if (--callees_[caller] == 0) gone.push_back(caller);
      }
    }
  }

  const Module& module_;
  const std::vector<Facts>& facts_;
  std::unordered_map<const FunctionDecl*, size_t> place_;
  std::vector<std::vector<size_t>> callers_;
  std::vector<size_t> callees_;
};

}  // namespace

void mark_costly(const Module& module, const std::vector<Facts>& facts) {
  Costs(module, facts).run();
}

}  // namespace posset::syntax
