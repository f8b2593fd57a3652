// Match arms that can never be reached: behind an arm that takes everything, or all that they take. Arms with a guard take
// nothing for certain.
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "interp/syntax/module_resolver.h"
#include "interp/syntax/pattern_cover.h"

namespace posset::syntax {

namespace {

// What the arms so far take for certain. Literals, of which there may be thousands, are looked up; each other pattern is
// compared with those before it, of which only so many are kept.
class Taken {
 public:
  explicit Taken(const FunctionDecl& function) : cover_(function) {}

  bool covers(Node* pattern) const {
    if (everything_) return true;
    if (const auto* alternatives = as<AlternativePatternNode>(pattern)) {
      return std::all_of(alternatives->alternatives.begin(), alternatives->alternatives.end(), [&](Node* each) { return covers(each); });
    }
    const auto* literal = as<LiteralPatternNode>(pattern);
    if (literal && literals_.contains(literal_key(literal->value))) return true;
    return std::any_of(others_.begin(), others_.end(), [&](const Node* each) { return cover_.covers(each, pattern); });
  }

  void add(Node* pattern) {
    if (PatternCover::takes_everything(pattern)) everything_ = true;
    if (const auto* alternatives = as<AlternativePatternNode>(pattern)) {
      for (Node* each : alternatives->alternatives) add(each);
    } else if (const auto* literal = as<LiteralPatternNode>(pattern)) {
      if (std::string text = literal_key(literal->value); !text.empty()) literals_.insert(std::move(text));
    } else if (others_.size() < kMostOthers) {
      others_.push_back(pattern);
    }
  }

  bool everything() const { return everything_; }

 private:
  static constexpr size_t kMostOthers = 64;

  const PatternCover cover_;
  bool everything_ = false;
  std::unordered_set<std::string> literals_;
  std::vector<const Node*> others_;
};

}  // namespace

void ModuleResolver::check_reachable(const MatchNode& match) {
  Taken taken(scopes_.function());
  for (Node* each : match.arms) {
    const auto* arm = as<MatchArmNode>(each);
    if (!arm) continue;
    if (taken.covers(arm->pattern)) {
      warn(ErrorCode::UnreachableArm, arm->pattern->span, "this match arm can never be reached",
           taken.everything() ? "an arm above it takes every value; put the special cases first"
                              : "an arm above it takes the same value");
    }
    if (!arm->guard) taken.add(arm->pattern);
  }
}

}  // namespace posset::syntax
