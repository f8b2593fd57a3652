// Match arms that can never be reached: behind an arm that takes everything, or behind one that
// takes the same literal or constructor. Arms with a guard take nothing for certain.
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

namespace {

std::string number_key(double value) {
  // Literals compare with `==`, so 1.0 is the literal 1.
  if (value == std::floor(value) && value >= -0x1p63 && value < 0x1p63) {
    return "i" + std::to_string(static_cast<int64_t>(value));
  }
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return "f" + std::to_string(bits);
}

// Equal for literals that are `==`; empty for what is not compared here.
std::string literal_key(const Node* value) {
  bool negative = false;
  if (const auto* unary = as<UnaryNode>(value)) {
    negative = true;
    value = unary->operand;
  }
  if (as<NilLiteralNode>(value)) return "nil";
  if (const auto* boolean = as<BoolLiteralNode>(value)) return boolean->value ? "true" : "false";
  if (const auto* text = as<StringLiteralNode>(value)) return "s" + std::string(text->value);
  if (const auto* number = as<FloatLiteralNode>(value))
    return number_key(negative ? -number->value : number->value);
  if (const auto* number = as<IntLiteralNode>(value)) {
    if (negative && number->value == INT64_MIN) return {};
    return "i" + std::to_string(negative ? -number->value : number->value);
  }
  return {};
}

bool takes_everything(Node* pattern) {
  if (pattern->kind == NodeKind::WildcardPattern) return true;
  if (const auto* binding = as<BindingPatternNode>(pattern)) {
    return !binding->type || binding->type->kind == TypeKind::Any;
  }
  const auto* alternatives = as<AlternativePatternNode>(pattern);
  if (!alternatives) return false;
  for (Node* each : alternatives->alternatives) {
    if (takes_everything(each)) return true;
  }
  return false;
}

// What the arms so far take for certain.
class Taken {
 public:
  explicit Taken(const FunctionDecl& function) : function_(function) {}

  bool covers(Node* pattern) const {
    if (everything_) return true;
    if (const auto* alternatives = as<AlternativePatternNode>(pattern)) {
      for (Node* each : alternatives->alternatives) {
        if (!covers(each)) return false;
      }
      return true;
    }
    if (const auto* literal = as<LiteralPatternNode>(pattern))
      return literals_.contains(literal_key(literal->value));
    const auto* constructor = as<ConstructorPatternNode>(pattern);
    return constructor && constructor->binding.kind == BindingKind::Link &&
           constructors_.contains(key(*constructor));
  }

  void add(Node* pattern) {
    if (takes_everything(pattern)) everything_ = true;
    if (const auto* alternatives = as<AlternativePatternNode>(pattern)) {
      for (Node* each : alternatives->alternatives) add(each);
    } else if (const auto* literal = as<LiteralPatternNode>(pattern)) {
      if (std::string text = literal_key(literal->value); !text.empty())
        literals_.insert(std::move(text));
    } else if (const auto* constructor = as<ConstructorPatternNode>(pattern)) {
      if (constructor->binding.kind == BindingKind::Link && takes_all_fields(*constructor)) {
        constructors_.insert(key(*constructor));
      }
    }
  }

  bool everything() const { return everything_; }

 private:
  LinkKey key(const ConstructorPatternNode& node) const {
    return key_of(function_.links[node.binding.index]);
  }
  static bool takes_all_fields(const ConstructorPatternNode& node) {
    for (Node* each : node.arguments) {
      if (each->kind != NodeKind::RestPattern && !takes_everything(each)) return false;
    }
    return true;
  }

  const FunctionDecl& function_;
  bool everything_ = false;
  std::unordered_set<std::string> literals_;
  std::unordered_set<LinkKey, LinkKeyHash> constructors_;
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
