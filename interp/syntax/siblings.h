// Expressions that are evaluated one after the other, among which forks are looked for, and what
// evaluating one does to the frame around it.
//
// A sibling is told by the sites of its nodes: they are numbered in evaluation order, a node before
// its children, so those of a subtree are the range [site of its root, end).
#pragma once

#include <cstdint>
#include <vector>

#include "interp/syntax/ast.h"

namespace posset::syntax {

struct Sibling {
  Node** place = nullptr;         // where its parent holds it
  uint32_t end = 0;               // behind its last site
  bool may_wrap = true;           // a Fork or Merge may stand around it
  const Node* pattern = nullptr;  // of a `let`: binds its names when it is evaluated

  Node* node() const { return *place; }
  uint32_t first_site() const { return (*place)->site; }
};

// A child of a node and where its sites end.
struct Child {
  Node* node = nullptr;
  uint32_t end = 0;
};

// The children in evaluation order, without what is wrapped around them; `end` is the parent's.
std::vector<Child> children_of(Node* node, uint32_t end);

// The groups of siblings directly inside a node; most nodes have none. A block has one for each run
// of `let`s.
std::vector<std::vector<Sibling>> siblings_in(Node* node, uint32_t end);

// A `let` of the module the function is in.
bool is_own_global(const Link& link, const FunctionDecl& function);

// What evaluating an expression reads and changes of what lies outside it.
struct Outside {
  std::vector<uint32_t> inputs;   // slots read, also by making closures; in order, each once
  std::vector<uint32_t> writes;   // slots assigned or lent
  std::vector<uint32_t> binds;    // slots of the names of a `let`
  std::vector<uint32_t> moves;    // slots whose value it takes out
  std::vector<uint32_t> globals;  // lets of the own module read, by number
  std::vector<uint32_t> sets;     // those bound
  const Node* leaves = nullptr;   // a `return`, `break`, `continue` or `?.` that leaves it
};

// `pattern`: bound to the value, may be null.
Outside outside_of(const Node* node, const Node* pattern, const FunctionDecl& function);

}  // namespace posset::syntax
