// Structural hashes: 128 bits that name what a function means, so that equal code is compiled once
// and found again by another process. The bytes come from canonical_form.cpp; this file gives the
// calls among module-level functions their part in it.
//
// A call enters as the callee's hash, so functions are hashed callees first. Functions that call
// each other in a circle (a strongly connected component of the call graph) are hashed as one
// group, in which they go by number. The numbers must not depend on names or places, so they come
// from the forms themselves: functions start with the hash of their form with calls inside the
// group blanked, and are told apart further by the hashes of whom they call, round by round, until
// a round tells no more of them apart. What still looks equal then behaves equally and shares a
// number.
#include <algorithm>
#include <cstring>
#include <xxhash.h>

#include "interp/syntax/canonical_form.h"
#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

namespace {

StructuralHash hash_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.low = hash.low64, .high = hash.high64};
}

bool less(const StructuralHash& a, const StructuralHash& b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

void append(std::string& bytes, const StructuralHash& hash) {
  char buffer[16];
  std::memcpy(buffer, &hash.low, 8);
  std::memcpy(buffer + 8, &hash.high, 8);
  bytes.append(buffer, sizeof buffer);
}

// ---- groups ----

// Strongly connected components of the module's functions, callees first (Tarjan's algorithm with
// its own stack: a chain of calls may be longer than the native one is deep).
class Groups {
 public:
  Groups(const std::vector<FunctionDecl*>& functions, CanonicalForms& forms)
      : functions_(functions), forms_(forms) {}

  std::vector<std::vector<FunctionDecl*>> run() {
    states_.resize(functions_.size());
    for (uint32_t i = 0; i < functions_.size(); ++i) {
      if (states_[i].order == 0) search(i);
    }
    return std::move(groups_);
  }

 private:
  struct State {
    uint32_t order = 0;  // 0: not seen
    uint32_t low = 0;
    bool open = false;  // its group is not complete yet
  };
  struct Visit {
    uint32_t function;
    size_t next = 0;
  };

  void enter(uint32_t index) {
    states_[index] = {++count_, count_, true};
    states_[index].low = count_;
    open_.push_back(index);
    visits_.push_back({index});
  }

  void search(uint32_t root) {
    enter(root);
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      const uint32_t self = visit.function;
      const auto& references = forms_.of(*functions_[self]).references;
      if (visit.next == references.size()) {
        leave(self);
        continue;
      }
      const FunctionDecl* callee = references[visit.next++].callee;
      if (callee->module != functions_[self]->module) continue;
      const State& other = states_[callee->index];
      if (other.order == 0) {
        enter(callee->index);
      } else if (other.open) {
        states_[self].low = std::min(states_[self].low, other.order);
      }
    }
  }

  void leave(uint32_t self) {
    visits_.pop_back();
    if (!visits_.empty()) {
      State& caller = states_[visits_.back().function];
      caller.low = std::min(caller.low, states_[self].low);
    }
    if (states_[self].low != states_[self].order) return;
    auto& group = groups_.emplace_back();
    uint32_t member = 0;
    do {
      member = open_.back();
      open_.pop_back();
      states_[member].open = false;
      group.push_back(functions_[member]);
    } while (member != self);
  }

  const std::vector<FunctionDecl*>& functions_;
  CanonicalForms& forms_;
  uint32_t count_ = 0;
  std::vector<State> states_;
  std::vector<uint32_t> open_;
  std::vector<Visit> visits_;
  std::vector<std::vector<FunctionDecl*>> groups_;
};

// ---- hashing one group ----

class GroupHash {
 public:
  GroupHash(const std::vector<FunctionDecl*>& members, CanonicalForms& forms) : members_(members) {
    std::unordered_map<const FunctionDecl*, uint32_t> place;
    for (uint32_t i = 0; i < members.size(); ++i) place[members[i]] = i;
    inner_.resize(members.size());
    for (uint32_t i = 0; i < members.size(); ++i) {
      CanonicalForm& form = forms_.emplace_back(forms.of(*members[i]));
      for (const auto& each : form.references) {
        const auto member = place.find(each.callee);
        if (member == place.end()) {
          write_hash(form.bytes, each.offset, each.callee->hash);
        } else {
          inner_[i].push_back({each.offset, member->second});
        }
      }
    }
  }

  void run() {
    if (members_.size() > 1 || !inner_[0].empty()) number_members();
    for (size_t i = 0; i < members_.size(); ++i) {
      members_[i]->canonical = std::move(forms_[i].bytes);
      members_[i]->hash = hash_of(members_[i]->canonical);
    }
  }

 private:
  using Colors = std::vector<StructuralHash>;
  struct Inner {
    size_t offset;
    uint32_t member;
  };

  // Hand-written code is told apart in a few rounds. A circle built to need one round for each
  // member would take quadratic time; past this many, places decide what the forms have not.
  static constexpr int kMaxRounds = 32;

  static Colors distinct(Colors colors) {
    std::sort(colors.begin(), colors.end(), less);
    colors.erase(std::unique(colors.begin(), colors.end()), colors.end());
    return colors;
  }

  Colors next_colors(const Colors& base, const Colors& colors) const {
    Colors next;
    next.reserve(base.size());
    std::string bytes;
    for (size_t i = 0; i < base.size(); ++i) {
      bytes.clear();
      append(bytes, base[i]);
      for (const Inner& each : inner_[i]) append(bytes, colors[each.member]);
      next.push_back(hash_of(bytes));
    }
    return next;
  }

  // The members' numbers; equal only for what behaves equally.
  std::vector<uint32_t> numbers() const {
    Colors base;
    for (const CanonicalForm& form : forms_) base.push_back(hash_of(form.bytes));
    Colors colors = base;
    Colors kinds = distinct(colors);
    bool settled = kinds.size() == colors.size();
    for (int round = 0; round < kMaxRounds && !settled; ++round) {
      colors = next_colors(base, colors);
      Colors finer = distinct(colors);
      settled = finer.size() == kinds.size() || finer.size() == colors.size();
      kinds = std::move(finer);
    }
    std::vector<uint32_t> found(members_.size());
    if (!settled) return by_color_and_place(colors);
    for (size_t i = 0; i < found.size(); ++i) {
      found[i] = static_cast<uint32_t>(
          std::lower_bound(kinds.begin(), kinds.end(), colors[i], less) - kinds.begin());
    }
    return found;
  }

  std::vector<uint32_t> by_color_and_place(const Colors& colors) const {
    std::vector<uint32_t> order(members_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return colors[a] == colors[b] ? members_[a]->index < members_[b]->index
                                    : less(colors[a], colors[b]);
    });
    std::vector<uint32_t> found(members_.size());
    for (uint32_t i = 0; i < order.size(); ++i) found[order[i]] = i;
    return found;
  }

  // Writes the numbers into the forms and heads each with the hash of them all.
  void number_members() {
    const std::vector<uint32_t> found = numbers();
    std::vector<StructuralHash> parts(members_.size());
    for (size_t i = 0; i < forms_.size(); ++i) {
      for (const Inner& each : inner_[i])
        write_group_number(forms_[i].bytes, each.offset, found[each.member]);
      parts[found[i]] = hash_of(forms_[i].bytes);  // members of one number have the same bytes
    }
    std::string whole;
    for (const StructuralHash& each : parts) append(whole, each);
    const StructuralHash group = hash_of(whole);
    for (size_t i = 0; i < forms_.size(); ++i) {
      std::string head(1, 'G');
      append(head, group);
      head.append(reinterpret_cast<const char*>(&found[i]), sizeof found[i]);
      forms_[i].bytes.insert(0, head);
    }
  }

  const std::vector<FunctionDecl*>& members_;
  std::vector<CanonicalForm> forms_;
  std::vector<std::vector<Inner>> inner_;  // the references of each to members
};

// ---- everything else ----

std::string finished(CanonicalForm form) {
  for (const auto& each : form.references) write_hash(form.bytes, each.offset, each.callee->hash);
  return std::move(form.bytes);
}

void hash_loops(FunctionDecl& function, CanonicalForms& forms) {
  function.loop_hashes.clear();
  for (const Node* loop : function.loops) {
    function.loop_hashes.push_back(hash_of(finished(forms.of_loop(function, *loop))));
  }
}

}  // namespace

void hash_functions(Module& module) {
  CanonicalForms forms;
  for (const auto& group : Groups(module.functions, forms).run()) GroupHash(group, forms).run();
  for (FunctionDecl* function : functions_of(module)) {
    const bool module_level = !function->is_top_level &&
                              function->index < module.functions.size() &&
                              module.functions[function->index] == function;
    if (!module_level) {
      function->canonical = finished(forms.of(*function));
      function->hash = hash_of(function->canonical);
    }
    hash_loops(*function, forms);
  }
}

StructuralHash own_hash(const FunctionDecl& function) {
  CanonicalForms forms;
  return hash_of(forms.of(function).bytes);
}

}  // namespace posset::syntax
