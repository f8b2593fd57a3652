// Liveness where places are involved: the roots of places that are assigned or lent are read but
// never moved, and the defaults in them are evaluated later than they stand. See liveness.cpp for
// the idea.
#include "interp/syntax/liveness.h"

namespace posset::syntax {

namespace {

const NameNode* root_of(const Node* place) {
  while (place->kind != NodeKind::Name) {
    place = place->kind == NodeKind::Field ? static_cast<const FieldNode*>(place)->base
                                           : static_cast<const IndexNode*>(place)->base;
  }
  return static_cast<const NameNode*>(place);
}

}  // namespace

void Liveness::call(CallNode* node) {
  const NodeList& arguments = node->arguments;
  for (Node* each : arguments) {  // when all arguments are evaluated, the places are read
    const auto* argument = static_cast<ArgumentNode*>(each);
    if (argument->inout) read_place(argument->value);
  }
  for (size_t i = arguments.size(); i-- > 0;) {
    if (i == 0 && node->optional) live_.add(chain_end_);
    const auto* argument = static_cast<ArgumentNode*>(arguments[i]);
    if (argument->inout) {
      visit_place(argument->value);
    } else {
      visit(argument->value);
    }
  }
  visit(node->callee);
}

void Liveness::assign(AssignNode* node) {
  store(node->place, node->op != AssignOp::Set);
  if (node->op ==
      AssignOp::Coalesce) {  // the right side is evaluated only when the place holds nil
    const SlotSet after = live_;
    visit(node->value);
    live_.add(after);
  } else {
    visit(node->value);
  }
  if (node->op != AssignOp::Set) read_place(node->place);  // the old value
  visit_place(node->place);
}

void Liveness::store_list(PlaceListNode* list) {
  for (size_t i = list->items.size(); i-- > 0;) store_item(list->items[i]);
}

// One after the other: each place is indexed and stored before the next.
void Liveness::store_item(Node* item) {
  if (auto* rest = as<SpreadNode>(item)) item = rest->value;
  if (!item || item->kind == NodeKind::WildcardPattern) return;
  if (auto* inner = as<PlaceListNode>(item)) return store_list(inner);
  store(item, false);
  visit_place(item);
}

// The store itself. Only a plain variable is overwritten; a part of one leaves the rest in use, and
// a compound assignment may look at the old value until it stores.
void Liveness::store(Node* place, bool keeps_old) {
  const auto* root = as<NameNode>(place);
  if (root && !keeps_old) return bind(root->binding);
  read_place(place);
}

// Once everything in the construct is evaluated: the root's value, and whatever the defaults read.
void Liveness::read_place(Node* place) {
  for (Node* at = place; at->kind != NodeKind::Name;) {
    if (auto* step = as<IndexNode>(at)) {
      read_default(step);
      at = step->base;
    } else {
      at = static_cast<FieldNode*>(at)->base;
    }
  }
  read(root_of(place)->binding);
}

// May be evaluated or not, and later than it stands: nothing in it is moved.
void Liveness::read_default(IndexNode* step) {
  if (!step->fallback) return;
  const bool marking = marking_;
  const SlotSet after = live_;
  marking_ = false;
  visit(step->fallback);
  marking_ = marking;
  live_.add(after);
}

// The indexes of a place, evaluated where they stand.
void Liveness::visit_place(Node* place) {
  while (place->kind != NodeKind::Name) {
    if (auto* step = as<IndexNode>(place)) {
      read_default(step);
      if (step->index) visit(step->index);
      place = step->base;
    } else {
      place = static_cast<FieldNode*>(place)->base;
    }
  }
}

void Liveness::with(WithNode* node) {
  const Binding& root = root_of(node->place)->binding;
  const Binding& name = static_cast<BindingPatternNode*>(node->pattern)->binding;
  const SlotSet pinned = pinned_;
  read(root);  // written back
  if (root.kind == BindingKind::Local) pinned_.add(root.index);
  pinned_.add(name.index);
  visit(node->body);
  pinned_ = pinned;
  bind(name);
  read_place(node->place);
  visit_place(node->place);
}

}  // namespace posset::syntax
