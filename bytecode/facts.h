// What the compiler knows without running: which expressions and slots are surely plain (nil, bool, int or
// float, so never counted), which code a view of a local survives. Flow-insensitive and cheap; it only
// decides which bookkeeping can be left out, never what a program means.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/syntax/ast.h"

namespace posset::bytecode {

class Facts {
 public:
  explicit Facts(const syntax::FunctionDecl& function);

  bool plain_slot(uint32_t slot) const { return slot < plain_.size() && plain_[slot]; }
  // The value is surely nil, bool, int or float (or there is none).
  bool plain(const syntax::Node* node) const;

 private:
  void visit(syntax::Node* node);
  void define(uint32_t slot, bool plain);
  void define_pattern(syntax::Node* pattern, bool plain);
  void define_place(syntax::Node* place);
  void define_target(syntax::Node* target);  // of a destructuring assignment
  void visit_assign(const syntax::AssignNode& assign);
  void visit_destructuring(const syntax::DestructuringAssignNode& assign);
  bool plain_call(const syntax::CallNode& call) const;
  bool gives_ints(const syntax::Node* iterable) const;

  const syntax::FunctionDecl& function_;
  std::vector<bool> plain_;
  bool changed_ = false;
};

// Slot of a Name bound to a local, or -1.
int64_t local_slot(const syntax::Node* node);
// The variable a place starts at (a Name), or null when it starts at something else.
const syntax::NameNode* place_root(const syntax::Node* place);
// Evaluating `node` may change or give away the local `slot`.
bool disturbs(const syntax::Node* node, uint32_t slot);
// Evaluating `node` runs no script code and changes nothing, so views stay good across it.
bool transparent(const syntax::Node* node);
// Where a list or map literal that is only looked at is kept (BindingKind::Link); None: it is made.
const syntax::Binding& container_binding(const syntax::Node* node);
// A loop inside `node` (functions excluded) holds a call marked `tail`.
bool has_tail_call(const syntax::Node* node);

}  // namespace posset::bytecode
