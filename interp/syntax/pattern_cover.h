// Whether one pattern takes everything that another takes, as far as their forms tell: for match arms that can never be
// reached. What is not certain is no.
#pragma once

#include <string>

#include "interp/syntax/ast.h"

namespace posset::syntax {

// Equal for literals that are `==`; empty for what is not compared here.
std::string literal_key(const Node* value);

class PatternCover {
 public:
  // Patterns are of this function, which has their links.
  explicit PatternCover(const FunctionDecl& function) : function_(function) {}

  static bool takes_everything(const Node* pattern);
  bool covers(const Node* all, const Node* some) const;

 private:
  bool covers_list(const NodeList& all, const NodeList& some) const;
  bool covers_fields(const NodeList& all, const NodeList& some) const;
  bool is_same_constructor(const Node* all, const Node* some) const;
  bool fits(const TypeExpr& type, const Node* some) const;
  bool fits(const TypeExpr& type, const TypeExpr& some) const;

  const FunctionDecl& function_;
};

}  // namespace posset::syntax
