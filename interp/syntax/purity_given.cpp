// Which functions would be pure if what they are given were: they call parameters, or what they have captured, and nothing
// else is in the way. A call of one is pure when what is passed is, and so `map` written in the language is as
// good as the built-in one.
//
// The largest solution is looked for: all functions are taken to be so, with nothing given, until something
// says otherwise, and then their callers are looked at again. What a function is given only grows, up to kMostGiven.
#include <algorithm>
#include <unordered_map>

#include "interp/syntax/purity_facts.h"

namespace posset::syntax {

namespace {

constexpr size_t kMostGiven = 8;

using AllGiven = std::optional<std::vector<Given>>;

void add(std::vector<Given>& to, const Given& one) {
  if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
}

// Whether callers can tell what it is: a plain parameter is never assigned.
bool is_told(const Given& given, const FunctionDecl& function) {
  if (given.from == Given::From::Captured) return true;
  if (given.from != Given::From::Local || given.index >= function.parameters.size()) return false;
  const bool rest = function.has_rest && given.index + 1 == function.parameters.size();
  const bool lent = given.index >= 64 || (function.inout_mask >> given.index & 1) != 0;
  return !rest && !lent && !function.parameters[given.index].pattern;
}

class Search {
 public:
  explicit Search(std::vector<Facts>& facts) : facts_(facts) {}

  void run() {
    for (size_t i = 0; i < facts_.size(); ++i) place_[facts_[i].function] = i;
    states_.resize(facts_.size());
    for (size_t i = 0; i < facts_.size(); ++i) begin(i);
    while (!open_.empty()) {
      const size_t i = open_.back();
      open_.pop_back();
      is_open_[i] = false;
      if (states_[i]) look_at(i);
    }
    for (size_t i = 0; i < facts_.size(); ++i) finish(i);
  }

 private:
  void begin(size_t i) {
    Facts& facts = facts_[i];
    facts.function->given.clear();
    is_open_.push_back(true);
    open_.push_back(i);
    for (const KnownCall& call : facts.calls) {
      add_user(call.callee, i);
      for (const Passed& each : call.passed) add_user(each.function, i);
    }
    if (facts.function->purity != Purity::Unknown) return;  // impure
    std::vector<Given> own;
    for (const PurityStep& each : facts.unproved) {
      if (!is_told(each.given, *facts.function)) return;
      add(own, each.given);
    }
    if (own.size() <= kMostGiven) states_[i] = std::move(own);
  }

  void add_user(const FunctionDecl* used, size_t i) {
    const auto found = used ? place_.find(used) : place_.end();
    if (found != place_.end()) users_[found->second].push_back(i);
  }

  void look_at(size_t i) {
    std::vector<Given> all = *states_[i];
    const size_t before = all.size();
    bool fails = false;
    for (const KnownCall& call : facts_[i].calls) {
      const AllGiven more = given_of(call, *facts_[i].function);
      if (!more) fails = true;
      if (fails) break;
      for (const Given& each : *more) {
        fails = fails || !is_told(each, *facts_[i].function);
        add(all, each);
      }
    }
    fails = fails || all.size() > kMostGiven;
    if (!fails && all.size() == before) return;
    states_[i] = fails ? AllGiven() : std::move(all);
    for (const size_t user : users_[i]) {
      if (!is_open_[user]) open_.push_back(user);
      is_open_[user] = true;
    }
  }

  void finish(size_t i) {
    for (KnownCall& call : facts_[i].calls) call.given = given_of(call, *facts_[i].function);
    if (states_[i]) facts_[i].function->given = *states_[i];
  }

  // Empty: it is pure. None: it may not be, whatever it is given.
  AllGiven given_of(const FunctionDecl& function) const {
    const auto found = place_.find(&function);
    if (found != place_.end()) return states_[found->second];
    if (function.purity == Purity::Pure) return std::vector<Given>();
    return function.given.empty() ? AllGiven() : function.given;
  }

  // In terms of the caller.
  AllGiven given_of(const KnownCall& call, const FunctionDecl& caller) const {
    const AllGiven wanted = given_of(*call.callee);
    if (!wanted) return {};
    std::vector<Given> all;
    for (const Given& each : *wanted) {
      if (each.from == Given::From::Captured) {
        const Given here = captured(*call.callee, each.index, caller);
        if (!here) return {};
        add(all, here);
      } else if (each.index >= call.passed.size() || !add_passed(call.passed[each.index], caller, all)) {
        return {};
      }
    }
    return all;
  }

  // It is called with arguments nobody knows.
  bool add_passed(const Passed& passed, const FunctionDecl& caller, std::vector<Given>& all) const {
    if (passed.kind == Passed::Kind::Unknown) return false;
    if (passed.kind == Passed::Kind::Given) add(all, passed.given);
    if (passed.kind != Passed::Kind::Function) return true;
    const AllGiven wanted = given_of(*passed.function);
    return wanted && std::all_of(wanted->begin(), wanted->end(), [&](const Given& each) {
             if (each.from != Given::From::Captured) return false;
             const Given here = captured(*passed.function, each.index, caller);
             if (here) add(all, here);
             return static_cast<bool>(here);
           });
  }

  // What a closure has captured, in the function that makes it or in itself.
  static Given captured(const FunctionDecl& closure, uint32_t index, const FunctionDecl& caller) {
    if (&closure == &caller) return {Given::From::Captured, index};
    const auto& children = caller.children;
    if (std::find(children.begin(), children.end(), &closure) == children.end()) return {};
    const Capture& from = closure.captures[index];
    if (from.from == Capture::From::Self) return {};
    return {from.from == Capture::From::Local ? Given::From::Local : Given::From::Captured, from.index};
  }

  std::vector<Facts>& facts_;
  std::unordered_map<const FunctionDecl*, size_t> place_;
  std::vector<AllGiven> states_;
  std::unordered_map<size_t, std::vector<size_t>> users_;
  std::vector<size_t> open_;
  std::vector<bool> is_open_;
};

}  // namespace

void find_given(std::vector<Facts>& facts) { Search(facts).run(); }

}  // namespace posset::syntax
