// Variables, scopes and slots while one module is resolved. One table of variables spans the whole
// stack of functions being resolved, so that a lookup is a single hash probe however deep the
// nesting is and however many statements a block has.
//
// Invariants:
//  - `variables_` is a stack: leaving a scope pops what it declared and uncovers what that
//  shadowed;
//  - a frame's `depth` is the number of live slots, and leaving a scope sets it back, which makes
//  live
//    locals a prefix of the frame and lets sibling scopes share slots;
//  - links and captures are only ever added, in the order of first reference.
//
// What a name means beyond variables (module names, imports, built-ins) is in resolve_name.cpp.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interp/syntax/ast.h"

namespace posset::syntax {

constexpr uint32_t kNone = UINT32_MAX;

// How a variable came to be; decides whether it may be assigned and what the message says if not.
enum class VariableKind : uint8_t {
  Let,
  Var,
  Parameter,
  InoutParameter,
  Loop,
  Pattern,
  With,
  Function
};

// `var`, an inout parameter or the short name of a `with`.
bool is_assignable(VariableKind kind);
// "a `let`", "a parameter": for messages.
const char* describe(VariableKind kind);

struct Variable {
  Text name;
  Span span;
  VariableKind kind = VariableKind::Let;
  bool lent = false;  // the root of a `with` whose block is being resolved
  uint32_t slot = 0;
  uint32_t level = 0;           // the function it belongs to, from the outside
  uint32_t shadowed = kNone;    // the variable of this name that it hides
  uint32_t module_let = kNone;  // declared at module level: its place among the module's lets
  const Node* known = nullptr;  // what a plain `let` was bound to
  const FunctionDecl* function = nullptr;  // declared by `fn`
};

// Two links with equal keys mean the same and share one entry.
struct LinkKey {
  Link::Kind kind = Link::Kind::Builtin;
  const void* object = nullptr;
  uint32_t index = 0;
  Text name;
  Text owner;
  friend bool operator==(const LinkKey&, const LinkKey&) = default;
};
LinkKey key_of(const Link& link);
struct LinkKeyHash {
  size_t operator()(const LinkKey& key) const;
};

class Scopes {
 public:
  // `self`: the variable that names this local fn inside itself, or kNone.
  void push_function(FunctionDecl* decl, uint32_t self);
  void pop_function();
  FunctionDecl& function() { return *frames_.back().decl; }
  FunctionDecl& root_function() { return *frames_.front().decl; }
  bool in_function() const { return !frames_.empty(); }
  uint32_t level() const { return static_cast<uint32_t>(frames_.size() - 1); }

  void open();
  void close();
  // Takes the next free slot of the innermost function.
  uint32_t declare(Text name, Span span, VariableKind kind);
  // The same for a parameter, whose slot is its position.
  uint32_t declare_at(Text name, Span span, VariableKind kind, uint32_t slot);
  // A name that is not kept in a slot (a global).
  uint32_t declare_without_slot(Text name, Span span, VariableKind kind);
  // `count` consecutive slots without a name; gives the first.
  uint32_t reserve(uint32_t count);

  // The innermost variable of this name in any open function, or kNone.
  uint32_t find(Text name) const;
  bool in_current_scope(uint32_t id) const { return id >= marks_.back().variables; }
  Variable& variable(uint32_t id) { return variables_[id]; }
  const std::vector<Variable>& variables() const { return variables_; }

  // How the innermost function reaches the variable; adds the captures in between.
  Binding reach(uint32_t id);
  // The place in the innermost function's links.
  uint32_t link(const Link& link);

  // Loops a `break` could leave; a function boundary hides those outside.
  // Whether the loop around it is a comprehension, for `leave_loop`.
  bool enter_loop(bool is_comprehension = false) {
    ++frames_.back().loops;
    return std::exchange(frames_.back().in_comprehension, is_comprehension);
  }
  void leave_loop(bool in_comprehension) {
    --frames_.back().loops;
    frames_.back().in_comprehension = in_comprehension;
  }
  bool in_loop() const { return frames_.back().loops != 0; }
  bool in_comprehension() const { return frames_.back().in_comprehension; }

 private:
  struct Frame {
    FunctionDecl* decl = nullptr;
    uint32_t self = kNone;
    uint32_t depth = 0;
    uint32_t loops = 0;
    bool in_comprehension = false;  // the innermost of them is one
    std::unordered_map<uint32_t, uint32_t> captures;  // variable to place in the captures
    std::unordered_map<LinkKey, uint32_t, LinkKeyHash> links;
  };
  struct Mark {
    uint32_t variables = 0;
    uint32_t depth = 0;
  };
  void grow(uint32_t depth);
  uint32_t add(Text name, Span span, VariableKind kind, uint32_t slot);

  std::vector<Frame> frames_;
  std::vector<Mark> marks_;
  std::vector<Variable> variables_;
  std::unordered_map<Text, uint32_t> newest_;
};

// Opens a scope for as long as it lives.
class ScopeGuard {
 public:
  explicit ScopeGuard(Scopes& scopes) : scopes_(scopes) { scopes_.open(); }
  ~ScopeGuard() { scopes_.close(); }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Scopes& scopes_;
};

}  // namespace posset::syntax
