// Backward liveness over the tree of one function. Written in liveness.cpp (the idea, branches,
// loops) and liveness_places.cpp (calls, assignments, `with`).
#pragma once

#include "interp/syntax/ast.h"
#include "interp/syntax/slot_set.h"

namespace posset::syntax {

class Liveness {
 public:
  explicit Liveness(FunctionDecl& function)
      : function_(function),
        slots_(function.slot_count),
        live_(slots_),
        pinned_(slots_),
        break_(slots_),
        continue_(slots_),
        chain_end_(slots_) {}

  void run();

 private:
  void visit(Node* node);
  void visit_children(Node* node);
  void visit_all(const NodeList& nodes);

  void name(NameNode* node);
  void read_captures(const FunctionDecl& closure);
  void bind(const Binding& binding);
  void read(const Binding& binding);
  void call(CallNode* node);
  void branch(IfNode* node);
  void match(MatchNode* node);
  void try_catch(TryNode* node);
  void with(WithNode* node);
  void index(IndexNode* node);
  void field(FieldNode* node);
  void chain(OptionalChainNode* node);
  void logical(LogicalNode* node);
  void parameter(const Parameter& parameter);

  void while_loop(WhileNode* node);
  void lets(const NodeList& list);
  void for_loop(ForNode* node);
  void comprehension(ComprehensionNode* node);
  template <class Round>
  void loop(Round&& round);

  void assign(AssignNode* node);
  void store_list(PlaceListNode* list);
  void store_item(Node* item);
  void store(Node* place, bool keeps_old);
  void read_place(Node* place);
  void read_default(IndexNode* step);
  void visit_place(Node* place);

  FunctionDecl& function_;
  uint32_t slots_;
  bool marking_ = true;
  SlotSet live_;
  SlotSet pinned_;
  SlotSet break_;      // live after the innermost loop
  SlotSet continue_;   // live at its head
  SlotSet chain_end_;  // live after the innermost optional chain
};

}  // namespace posset::syntax
