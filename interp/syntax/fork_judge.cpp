// See fork_judge.h.
#include "interp/syntax/fork_judge.h"

#include <algorithm>
#include <unordered_set>

namespace posset::syntax {

namespace {

bool contains(const std::vector<uint32_t>& all, uint32_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool meet(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](uint32_t each) { return contains(b, each); });
}

void append(std::vector<uint32_t>& to, const std::vector<uint32_t>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// What the slot is called where `node` reads it; slots are reused, so the function cannot tell.
Text name_of_slot(const Node* node, uint32_t slot) {
  const auto* name = as<NameNode>(node);
  if (name && name->binding.kind == BindingKind::Local && name->binding.index == slot)
    return name->name;
  const FunctionDecl* closure = nullptr;
  if (const auto* lambda = as<LambdaNode>(node)) closure = lambda->function;
  if (const auto* statement = as<FunctionStatementNode>(node)) closure = statement->function;
  if (closure) {
    for (const Capture& each : closure->captures) {
      if (each.from == Capture::From::Local && each.index == slot) return each.name;
    }
  }
  Text found;
  for_each_child(const_cast<Node*>(node), [&](Node*& child) {
    if (found.empty()) found = name_of_slot(child, slot);
  });
  return found;
}

}  // namespace

void Changes::add(const Candidate& each) {
  append(slots, each.outside.writes);
  append(slots, each.outside.binds);
  append(slots, each.outside.moves);
  append(globals, each.outside.sets);
  given.insert(given.end(), each.given.begin(), each.given.end());
}

ForkJudge::ForkJudge(const Facts& facts, const FactsOf& all)
    : facts_(facts), all_(all), function_(*facts.function) {
  costs_ = facts.costs;
  for (const KnownCall& call : facts.calls) {
    if (call.callee->costly) costs_.push_back(call.site);
  }
  for (const Node* loop : function_.loops) costs_.push_back(loop->site);
  std::sort(costs_.begin(), costs_.end());
  costs_.erase(std::unique(costs_.begin(), costs_.end()), costs_.end());  // a call may be a loop
  if (costs_.size() < 2) return;
  add(facts.impure, Reason::fork_impure);
  add(facts.unproved, Reason::fork_unproved);
  for (const KnownCall& call : facts.calls) {
    const Purity purity = call.callee->purity;
    if (purity == Purity::Pure || (call.given && call.given->empty())) continue;
    const auto reason =
        purity == Purity::Impure ? Reason::fork_impure : Reason::fork_unproved;
    effects_.push_back({call.site, reason, call.span, &call.what, call.callee,
                        call.given.value_or(std::vector<Given>())});
  }
  std::stable_sort(effects_.begin(), effects_.end(),
                   [](const Effect& a, const Effect& b) { return a.site < b.site; });
}

void ForkJudge::add(const std::vector<PurityStep>& steps, Reason reason) {
  for (const PurityStep& each : steps) {
    std::vector<Given> given;
    if (each.given) given.push_back(each.given);
    effects_.push_back({each.site, reason, each.span, &each.what, each.next, std::move(given)});
  }
}

bool ForkJudge::is_costly(uint32_t first, uint32_t end) const {
  const auto found = std::lower_bound(costs_.begin(), costs_.end(), first);
  return found != costs_.end() && *found < end;
}

Candidate ForkJudge::examine(const Sibling& sibling) const {
  Candidate made;
  made.sibling = sibling;
  made.costly = sibling.may_wrap && is_costly(sibling.first_site(), sibling.end);
  made.outside = outside_of(sibling.node(), sibling.pattern, function_);
  find_effect(made, sibling.first_site());
  if (made.outside.leaves) made.obstacle = {Reason::fork_leaves, {}};
  return made;
}

Candidate ForkJudge::examine_rounds(ComprehensionNode& list, uint32_t end) const {
  Node*& begin = !list.lets.empty() ? list.lets[0] : list.condition ? list.condition : list.body;
  Candidate made;
  made.sibling = {&begin, end};
  made.costly = is_costly(begin->site, end);
  Outside& outside = made.outside;
  outside = outside_of(list.body, list.pattern, function_);
  const auto include = [&](const Node* part) {
    const Outside more = outside_of(part, nullptr, function_);
    append(outside.inputs, more.inputs);
    append(outside.writes, more.writes);
    append(outside.binds, more.binds);
    append(outside.sets, more.sets);
    if (!outside.leaves) outside.leaves = more.leaves;
  };
  for (const Node* let : list.lets) include(let);
  if (list.condition) include(list.condition);
  std::sort(outside.inputs.begin(), outside.inputs.end());
  outside.inputs.erase(std::unique(outside.inputs.begin(), outside.inputs.end()), outside.inputs.end());
  std::erase_if(outside.inputs, [&](uint32_t slot) { return contains(outside.binds, slot); });
  append(outside.writes, outside.sets);
  find_effect(made, begin->site);
  if (outside.leaves) made.obstacle = {Reason::fork_leaves, {}};
  return made;
}

namespace {

// That slot holds it before the expression begins.
bool is_read_by(const Outside& outside, const Given& given) {
  return given.from == Given::From::Captured || contains(outside.inputs, given.index);
}

}  // namespace

// The first that cannot be looked up when the fork is there.
void ForkJudge::find_effect(Candidate& candidate, uint32_t first) const {
  const Sibling& sibling = candidate.sibling;
  auto found = std::lower_bound(effects_.begin(), effects_.end(), first,
                                [](const Effect& effect, uint32_t site) { return effect.site < site; });
  for (; found != effects_.end() && found->site < sibling.end; ++found) {
    const auto is_known = [&](const Given& each) { return is_read_by(candidate.outside, each); };
    if (found->given.empty() || !std::all_of(found->given.begin(), found->given.end(), is_known)) {
      candidate.obstacle = {found->reason, {found->span, *found->what, found->next, found->site}};
      return;
    }
    candidate.given.insert(candidate.given.end(), found->given.begin(), found->given.end());
  }
}

// What must be pure is no longer there, or may read what is set meanwhile.
Obstacle ForkJudge::given_obstacle(const Candidate& right, const Changes& between) const {
  Changes all = between;
  all.given.insert(all.given.end(), right.given.begin(), right.given.end());
  for (const Given& each : all.given) {
    const bool moves = each.from == Given::From::Local && contains(between.slots, each.index);
    if (moves || !between.globals.empty()) return {Reason::fork_unproved, {}};
  }
  return {};
}

Obstacle ForkJudge::obstacle(const Candidate& right, const Changes& between) const {
  const Outside& outside = right.outside;
  if (right.obstacle.reason != Reason::none) return right.obstacle;
  if (!outside.writes.empty()) return {Reason::fork_writes, {}};
  if (outside.inputs.size() > kMostInputs) return {Reason::fork_many_inputs, {}};
  for (const uint32_t slot : outside.inputs) {
    if (!contains(between.slots, slot)) continue;
    const std::string name(name_of_slot(right.sibling.node(), slot));
    return {Reason::fork_dependent, {.span = {}, .what = "'" + name + "'"}};
  }
  if (const Obstacle given = given_obstacle(right, between); given.reason != Reason::none) return given;
  const bool reads = !between.globals.empty() && (meet(outside.globals, between.globals) ||
                                                  may_read(right.sibling, between.globals));
  if (reads) return {Reason::fork_dependent, {}};
  return {};
}

namespace {

// What it may call.
void open_calls(const KnownCall& call, std::vector<const FunctionDecl*>& open) {
  open.push_back(call.callee);
  for (const Passed& each : call.passed) {
    if (each.function) open.push_back(each.function);
  }
}

}  // namespace

// Whether evaluating it may read one of the lets `globals`, also in functions that it calls.
bool ForkJudge::may_read(const Sibling& sibling, const std::vector<uint32_t>& globals) const {
  std::vector<const FunctionDecl*> open;
  for (const KnownCall& call : facts_.calls) {
    if (call.site >= sibling.first_site() && call.site < sibling.end) open_calls(call, open);
  }
  std::unordered_set<const FunctionDecl*> seen;
  while (!open.empty()) {
    const FunctionDecl* function = open.back();
    open.pop_back();
    const auto found = all_.find(function);
    if (found == all_.end() || !seen.insert(function).second) continue;
    for (const Link& link : function->links) {
      if (is_own_global(link, *function) && contains(globals, link.index)) return true;
    }
    for (const KnownCall& call : found->second->calls) open_calls(call, open);
    open.insert(open.end(), function->children.begin(), function->children.end());
  }
  return false;
}

}  // namespace posset::syntax
