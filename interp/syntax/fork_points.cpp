// The search for fork points: see fork_points.h.
//
// A function's tree is walked from the root to where its costs are: a subtree whose sites hold no
// call of what is costly and no loop is not entered, which leaves nearly nothing of most programs.
#include "interp/syntax/fork_points.h"

#include <algorithm>

#include "interp/syntax/fork_judge.h"

namespace posset::syntax {

namespace {

// Why built-ins do not divide calls of it.
Reason why_whole(const FunctionDecl& function) {
  if (function.purity == Purity::Impure) return Reason::fork_impure;
  if (function.purity != Purity::Pure) return Reason::fork_unproved;
  if (function.inout_mask != 0) return Reason::part_inout;
  return function.costly ? Reason::none : Reason::part_cheap;
}

class ForkFinder {
 public:
  ForkFinder(const Facts& facts, const FactsOf& all, bool insert)
      : judge_(facts, all), facts_(facts), function_(*facts.function), insert_(insert) {}

  void run() {
    function_.forks.clear();
    function_.small_sides.clear();
    function_.unforked.clear();
    function_.divisions.clear();
    function_.divided.clear();
    if (function_.body && judge_.any_costs())
      visit(function_.body, static_cast<uint32_t>(function_.spans.size()));
    tell_of_calls();
  }

 private:
  void visit(Node* node, uint32_t end);
  void divide(ComprehensionNode& list, uint32_t end);
  void tell_of_calls();
  void group(const std::vector<Sibling>& siblings);
  void fork(Candidates& candidates, size_t from, size_t to);
  std::vector<size_t> right_of(const Candidates& candidates, size_t left, size_t to) const;
  void add_points(Candidates& candidates, size_t left, const std::vector<size_t>& right);
  bool calls_itself(const Sibling& sibling) const;
  uint32_t small_side(const Candidates& candidates, size_t left, const std::vector<size_t>& right);
  static std::vector<Given> given_between(const Candidates& candidates, size_t left, size_t right);
  template <class Wrapper>
  Wrapper* wrap(const Sibling& sibling);

  // ---- refusals ----
  void refuse_trivial(const std::vector<Sibling>& siblings);
  void refuse_rest(const Candidates& candidates);
  Obstacle obstacle_between(const Candidates& candidates, size_t left, size_t right) const;
  void refuse(const Sibling& right, const Sibling& left, Obstacle obstacle);

  ForkJudge judge_;
  const Facts& facts_;
  FunctionDecl& function_;
  bool insert_;
};

// The last child is followed in a loop, so `else if` chains do not need stack.
void ForkFinder::visit(Node* node, uint32_t end) {
  while (judge_.is_costly(node->site, end)) {
    if (auto* list = as<ComprehensionNode>(node)) divide(*list, end);
    for (const auto& each : siblings_in(node, end)) group(each);
    const std::vector<Child> children = children_of(node, end);
    if (children.empty()) return;
    for (size_t i = 0; i + 1 < children.size(); ++i) visit(children[i].node, children[i].end);
    node = children.back().node;
  }
}

// Every executor can do rounds of it.
void ForkFinder::divide(ComprehensionNode& list, uint32_t end) {
  Candidate rounds = judge_.examine_rounds(list, end);
  DividedSite told{.span = list.span, .given = rounds.given, .sequences = true};
  if (!rounds.costly) {
    told.reason = Reason::part_cheap;
  } else if (rounds.obstacle.reason != Reason::none) {
    told.reason = rounds.obstacle.reason;
    told.effect = std::move(rounds.obstacle.effect);
  } else if (!rounds.outside.writes.empty()) {
    told.reason = Reason::fork_writes;
  } else {
    function_.divisions.push_back({&list, std::move(rounds.outside.inputs), std::move(rounds.given)});
    if (insert_) list.division = static_cast<uint32_t>(function_.divisions.size());
  }
  function_.divided.push_back(std::move(told));
}

// Calls of built-ins that call a function for every element: what they do says so when they are called (runtime/halves.h).
void ForkFinder::tell_of_calls() {
  for (const Facts::ForEach& each : facts_.for_each) {
    const FunctionDecl* const callee = each.passed.function;
    DividedSite told{.span = each.call->span, .sequences = each.divides == BuiltinInfo::Divides::Sequences};
    told.unknown = !callee && each.passed.kind != Passed::Kind::Pure;
    if (each.passed.given) told.given.push_back(each.passed.given);
    told.reason = each.divides == BuiltinInfo::Divides::InOrder ? Reason::part_in_order
                  : callee                                      ? why_whole(*callee)
                  : told.unknown                                ? Reason::none
                                                                : Reason::part_cheap;
    if (callee && callee->purity != Purity::Pure) told.effect = {each.call->span, each.what, callee, each.call->site, {}};
    function_.divided.push_back(std::move(told));
  }
  std::stable_sort(function_.divided.begin(), function_.divided.end(),
                   [](const DividedSite& a, const DividedSite& b) { return a.span.begin < b.span.begin; });
}

void ForkFinder::group(const std::vector<Sibling>& siblings) {
  const auto costly = std::count_if(
      siblings.begin(), siblings.end(),
      [&](const Sibling& each) { return judge_.is_costly(each.first_site(), each.end); });
  if (costly == 1) return refuse_trivial(siblings);
  if (costly == 0) return;
  Candidates candidates;
  candidates.reserve(siblings.size());
  for (const Sibling& each : siblings) candidates.push_back(judge_.examine(each));
  fork(candidates, 0, candidates.size());
  refuse_rest(candidates);
}

// The first sibling that has somebody to run beside it forks; what lies between the merges may fork
// again.
void ForkFinder::fork(Candidates& candidates, size_t from, size_t to) {
  while (from < to) {
    const size_t left = from++;
    if (!candidates[left].may_fork()) continue;
    const std::vector<size_t> right = right_of(candidates, left, to);
    if (right.empty()) continue;
    add_points(candidates, left, right);
    for (const size_t each : right) {
      fork(candidates, from, each);
      from = each + 1;
    }
  }
}

// Those that may run beside `left`.
std::vector<size_t> ForkFinder::right_of(const Candidates& candidates, size_t left,
                                         size_t to) const {
  std::vector<size_t> right;
  Changes between;
  between.add(candidates[left]);
  for (size_t i = left + 1; i < to && function_.forks.size() + right.size() < kMostForks; ++i) {
    const Candidate& each = candidates[i];
    if (each.obstacle.reason != Reason::none) break;
    if (each.costly && judge_.obstacle(each, between).reason == Reason::none)
      right.push_back(i);
    between.add(each);
  }
  return right;
}

// What all of them are given, each once.
std::vector<Given> ForkFinder::given_between(const Candidates& candidates, size_t left,
                                             size_t right) {
  std::vector<Given> all;
  for (size_t i = left; i <= right; ++i) {
    for (const Given& each : candidates[i].given) {
      if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
    }
  }
  return all;
}

template <class Wrapper>
Wrapper* ForkFinder::wrap(const Sibling& sibling) {
  Node* body = sibling.node();
  auto* made = function_.module->arena.node<Wrapper>(body->span);
  made->site = body->site;
  made->body = body;
  *sibling.place = made;
  return made;
}

bool ForkFinder::calls_itself(const Sibling& sibling) const {
  return std::any_of(facts_.calls.begin(), facts_.calls.end(), [&](const KnownCall& call) {
    return call.callee == &function_ && call.site >= sibling.first_site() && call.site < sibling.end;
  });
}

// Where the right side calls the function itself and the left one does not: what is to the left is small beside that, and may
// be done after it where it is known to leave nothing but its value. Nothing may stand between them, as what
// the right side moves out of its slots would be missing there.
uint32_t ForkFinder::small_side(const Candidates& candidates, size_t left, const std::vector<size_t>& right) {
  const Candidate& small = candidates[left];
  const bool linear = right.size() == 1 && right[0] == left + 1 && calls_itself(candidates[left + 1].sibling) &&
                      !calls_itself(small.sibling);
  if (!linear || !small.outside.writes.empty() || small.outside.inputs.size() > kMostInputs) return 0;
  const Span span = small.sibling.node()->span;
  function_.small_sides.push_back({small.sibling.node(), small.outside.inputs, small.given, span, span});
  return kMostForks + static_cast<uint32_t>(function_.small_sides.size()) - 1;
}

void ForkFinder::add_points(Candidates& candidates, size_t left,
                            const std::vector<size_t>& right) {
  const auto first = static_cast<uint32_t>(function_.forks.size());
  const Span span = candidates[left].sibling.node()->span;
  candidates[left].forks = true;
  const uint32_t left_point = small_side(candidates, left, right);
  const bool left_calls = calls_itself(candidates[left].sibling);
  for (const size_t i : right) {
    Candidate& each = candidates[i];
    each.forks = true;
    Node* body = each.sibling.node();
    const auto point = static_cast<uint32_t>(function_.forks.size());
    function_.forks.push_back(
        {body, each.outside.inputs, given_between(candidates, left, i), body->span, span, left_point, left_calls && calls_itself(each.sibling)});
    if (insert_) wrap<MergeNode>(each.sibling)->point = point;
  }
  if (!insert_) return;
  auto* made = wrap<ForkNode>(candidates[left].sibling);
  made->first = first;
  made->count = static_cast<uint32_t>(right.size());
}

// ---- refusals ----

void ForkFinder::refuse(const Sibling& right, const Sibling& left, Obstacle obstacle) {
  if (function_.unforked.size() >= kMostRefusals) return;
  function_.unforked.push_back({obstacle.reason, right.node()->span, left.node()->span,
                                std::move(obstacle.effect)});
}

// Of one costly sibling it is told where that could surprise: in pure code, and not of every `let`.
void ForkFinder::refuse_trivial(const std::vector<Sibling>& siblings) {
  if (function_.purity != Purity::Pure || siblings.front().pattern) return;
  const auto costly = std::find_if(siblings.begin(), siblings.end(), [&](const Sibling& each) {
    return judge_.is_costly(each.first_site(), each.end);
  });
  const auto other = std::find_if(siblings.begin(), siblings.end(), [&](const Sibling& each) {
    return &each != &*costly && each.node()->kind != NodeKind::StringLiteral;
  });
  if (other != siblings.end()) refuse(*costly, *other, {Reason::fork_trivial, {}});
}

// Each costly sibling that neither forks nor is forked, with the costly one before it.
void ForkFinder::refuse_rest(const Candidates& candidates) {
  const Candidate* left = nullptr;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& each = candidates[i];
    if (!each.costly) continue;
    const bool blocked = each.obstacle.reason != Reason::none;
    if (!each.forks && left) {
      const auto from = static_cast<size_t>(left - candidates.data());
      Obstacle found = obstacle_between(candidates, from, i);
      if (found.reason != Reason::none) refuse(each.sibling, left->sibling, std::move(found));
    } else if (blocked) {
      const auto next = std::find_if(candidates.begin() + static_cast<ptrdiff_t>(i) + 1,
                                     candidates.end(), [](const Candidate& c) { return c.costly; });
      if (next != candidates.end()) refuse(each.sibling, next->sibling, each.obstacle);
    }
    left = &each;
  }
}

// none also where the left one has been told of.
Obstacle ForkFinder::obstacle_between(const Candidates& candidates, size_t left,
                                      size_t right) const {
  if (candidates[right].obstacle.reason != Reason::none) return candidates[right].obstacle;
  if (candidates[left].obstacle.reason != Reason::none) return {};
  Changes between;
  for (size_t i = left; i < right; ++i) {
    if (candidates[i].obstacle.reason != Reason::none) return candidates[i].obstacle;
    between.add(candidates[i]);
  }
  return judge_.obstacle(candidates[right], between);
}

}  // namespace

void find_forks(Module& module, std::vector<Facts> facts, bool insert) {
  mark_costly(module, facts);
  FactsOf all;
  for (const Facts& each : facts) all[each.function] = &each;
  for (const Facts& each : facts) {
    const bool session = each.function->is_top_level && module.is_session;
    if (!session) ForkFinder(each, all, insert).run();
  }
}

}  // namespace posset::syntax
