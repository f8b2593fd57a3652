// See siblings.h.
#include "interp/syntax/siblings.h"

#include <algorithm>

namespace posset::syntax {

// ---- groups ----

std::vector<Child> children_of(Node* node, uint32_t end) {
  std::vector<Child> children;
  for_each_child(node, [&](Node*& child) {
    Node* inner = unwrapped(child);
    if (!children.empty()) children.back().end = inner->site;
    children.push_back({inner, end});
  });
  return children;
}

namespace {

bool is_place(const Node* node) {
  return node->kind == NodeKind::Name || node->kind == NodeKind::Index ||
         node->kind == NodeKind::Field;
}

// The callee is known by name, so it is known which arguments it changes.
bool is_known(const Node* callee, const FunctionDecl& function) {
  const auto* name = as<NameNode>(callee);
  const auto* field = as<FieldNode>(callee);
  const Binding binding = name ? name->binding : field ? field->binding : Binding();
  if (binding.kind != BindingKind::Link) return false;
  const Link::Kind kind = function.links[binding.index].kind;
  return kind != Link::Kind::Global && kind != Link::Kind::HostGlobal;
}

class Groups {
 public:
  Groups(Node* node, uint32_t end) : children_(children_of(node, end)) {}

  std::vector<std::vector<Sibling>> in(Node* node) {
    switch (node->kind) {
      case NodeKind::Binary: {
        auto* self = static_cast<BinaryNode*>(node);
        add(self->left, children_[0].end);
        add(self->right, children_[1].end);
        break;
      }
      case NodeKind::Call:
        arguments(static_cast<CallNode*>(node));
        break;
      case NodeKind::ListLiteral:
        elements(static_cast<ListLiteralNode*>(node)->items);
        break;
      case NodeKind::MapLiteral:
        elements(static_cast<MapLiteralNode*>(node)->entries);
        break;
      case NodeKind::RecordLiteral:
        elements(static_cast<RecordLiteralNode*>(node)->fields);
        break;
      case NodeKind::Interpolation:
        elements(static_cast<InterpolationNode*>(node)->parts);
        break;
      case NodeKind::Block:
        lets(static_cast<BlockNode*>(node)->statements);
        break;
      default:
        break;
    }
    close();
    return std::move(groups_);
  }

 private:
  void add(Node*& place, uint32_t end, bool may_wrap = true, const Node* pattern = nullptr) {
    group_.push_back({&place, end, may_wrap, pattern});
  }

  void close() {
    if (group_.size() > 1) groups_.push_back(std::move(group_));
    group_.clear();
  }

  // Lent and spread arguments, and the first one of `x?.f(a)`, decide over the others.
  void arguments(CallNode* call) {
    if (call->optional) return;
    for (const Node* each : call->arguments) {
      const auto* argument = static_cast<const ArgumentNode*>(each);
      if (argument->spread || argument->inout) return;
    }
    const size_t first = children_.size() - call->arguments.size();
    for (size_t i = 0; i < call->arguments.size(); ++i) {
      auto* argument = static_cast<ArgumentNode*>(call->arguments[i]);
      // The receiver of a function value that wants it & must be seen to be a place.
      const bool receiver = i == 0 && call->form == CallForm::Method && is_place(argument->value);
      add(argument->value, children_[first + i].end, !receiver);
    }
  }

  void elements(const NodeList& list) {
    for (size_t i = 0; i < list.size(); ++i) element(list[i], children_[i].end);
  }

  void element(Node*& node, uint32_t end) {
    if (auto* entry = as<MapEntryNode>(node)) {
      add(entry->key, entry->value->site, false);
      return add(entry->value, end);
    }
    if (auto* field = as<RecordFieldNode>(node)) return add(field->value, end);
    if (auto* part = as<FormatPartNode>(node)) return add(part->value, end);
    if (auto* spread = as<SpreadNode>(node)) return add(spread->value, end, false);
    add(node, end);
  }

  void lets(const NodeList& statements) {
    for (size_t i = 0; i < statements.size(); ++i) {
      Node* statement = statements[i];
      if (auto* exported = as<ExportedLetNode>(statement)) statement = exported->let;
      auto* let = as<LetNode>(statement);
      if (!let || let->is_var) {
        close();
      } else {
        add(let->value, let->pattern->site, true, let->pattern);
      }
    }
  }

  std::vector<Child> children_;
  std::vector<Sibling> group_;
  std::vector<std::vector<Sibling>> groups_;
};

}  // namespace

std::vector<std::vector<Sibling>> siblings_in(Node* node, uint32_t end) {
  switch (node->kind) {
    case NodeKind::Binary:
    case NodeKind::Call:
    case NodeKind::ListLiteral:
    case NodeKind::MapLiteral:
    case NodeKind::RecordLiteral:
    case NodeKind::Interpolation:
    case NodeKind::Block:
      return Groups(node, end).in(node);
    default:
      return {};
  }
}

// ---- what one does ----

bool is_own_global(const Link& link, const FunctionDecl& function) {
  return link.kind == Link::Kind::Global && (!link.module || link.module == function.module);
}

namespace {

// Slots that are bound inside lie above all that are visible outside, so the order of the walk does
// not matter: what is bound inside is subtracted at the end.
class Walk {
 public:
  Walk(const FunctionDecl& function, Outside& out) : function_(function), out_(out) {}

  void visit(const Node* node, bool in_loop, bool in_chain);
  void finish(const Node* pattern);

 private:
  void loop(const Node* node, bool in_loop, bool in_chain);
  void name(const NameNode& node);
  void captures(const FunctionDecl& closure);
  void call(const CallNode& node);
  void changes(const Node* place);
  void targets(const PlaceListNode& list);
  void leaves(const Node* node) {
    if (!out_.leaves) out_.leaves = node;
  }
  void bound(const Binding& binding) {
    if (binding.kind == BindingKind::Local) bound_.push_back(binding.index);
    if (binding.kind == BindingKind::Link) out_.sets.push_back(function_.links[binding.index].index);
  }
  void names_of(const Node* pattern);

  const FunctionDecl& function_;
  Outside& out_;
  std::vector<uint32_t> bound_;
};

void Walk::visit(const Node* node, bool in_loop, bool in_chain) {
  // A chain of `else if` may be of any length.
  while (const auto* choice = as<IfNode>(node)) {
    visit(choice->condition, in_loop, in_chain);
    visit(choice->then_branch, in_loop, in_chain);
    if (!choice->else_branch) return;
    node = choice->else_branch;
  }
  switch (node->kind) {
    case NodeKind::Name:
      return name(*static_cast<const NameNode*>(node));
    case NodeKind::Lambda:
      return captures(*static_cast<const LambdaNode*>(node)->function);
    case NodeKind::FunctionStatement:
      bound(static_cast<const FunctionStatementNode*>(node)->binding);
      return captures(*static_cast<const FunctionStatementNode*>(node)->function);
    case NodeKind::BindingPattern:
      return bound(static_cast<const BindingPatternNode*>(node)->binding);
    case NodeKind::RestPattern:
      return bound(static_cast<const RestPatternNode*>(node)->binding);
    case NodeKind::While:
    case NodeKind::For:
    case NodeKind::Comprehension:
      return loop(node, in_loop, in_chain);
    case NodeKind::OptionalChain:
      in_chain = true;
      break;
    case NodeKind::Field:
      if (static_cast<const FieldNode*>(node)->optional && !in_chain) leaves(node);
      break;
    case NodeKind::Call:
      if (static_cast<const CallNode*>(node)->optional && !in_chain) leaves(node);
      call(*static_cast<const CallNode*>(node));
      break;
    case NodeKind::Return:
      leaves(node);
      break;
    case NodeKind::Break:
    case NodeKind::Continue:
      if (!in_loop) leaves(node);
      break;
    case NodeKind::Assign:
      changes(static_cast<const AssignNode*>(node)->place);
      break;
    case NodeKind::With:
      changes(static_cast<const WithNode*>(node)->place);
      break;
    case NodeKind::PlaceList:
      targets(*static_cast<const PlaceListNode*>(node));
      break;
    default:
      break;
  }
  for_each_child(const_cast<Node*>(node),
                 [&](Node*& child) { visit(child, in_loop, in_chain); });
}

// `break` in what a loop goes over means the loop around it.
void Walk::loop(const Node* node, bool in_loop, bool in_chain) {
  const auto* list = as<ComprehensionNode>(node);
  const auto* each = as<ForNode>(node);
  const Node* iterable = list ? list->iterable : each ? each->iterable : nullptr;
  for_each_child(const_cast<Node*>(node), [&](Node*& child) {
    visit(child, child == iterable ? in_loop : true, in_chain);
  });
}

void Walk::name(const NameNode& node) {
  const Binding& binding = node.binding;
  if (binding.kind == BindingKind::Link) {
    const Link& link = function_.links[binding.index];
    if (is_own_global(link, function_)) out_.globals.push_back(link.index);
    return;
  }
  if (binding.kind != BindingKind::Local) return;
  out_.inputs.push_back(binding.index);
  if (binding.last_use) out_.moves.push_back(binding.index);
}

void Walk::captures(const FunctionDecl& closure) {
  for (const Capture& each : closure.captures) {
    if (each.from != Capture::From::Local) continue;
    out_.inputs.push_back(each.index);
    if (each.last_use) out_.moves.push_back(each.index);
  }
}

void Walk::call(const CallNode& node) {
  for (size_t i = 0; i < node.arguments.size(); ++i) {
    const auto& argument = *static_cast<const ArgumentNode*>(node.arguments[i]);
    // `x.f(a)` lends x if the function value f turns out to want that.
    const bool may_lend =
        i == 0 && node.form == CallForm::Method && !is_known(node.callee, function_);
    if (argument.inout || may_lend) changes(argument.value);
  }
}

void Walk::changes(const Node* place) {
  for (;;) {
    if (const auto* index = as<IndexNode>(place)) {
      place = index->base;
    } else if (const auto* field = as<FieldNode>(place)) {
      place = field->base;
    } else {
      break;
    }
  }
  const auto* root = as<NameNode>(place);
  if (root && root->binding.kind == BindingKind::Local)
    out_.writes.push_back(root->binding.index);
}

void Walk::targets(const PlaceListNode& list) {
  for (const Node* item : list.items) {
    const auto* rest = as<SpreadNode>(item);
    changes(rest ? rest->value : item);
  }
}

void Walk::names_of(const Node* pattern) {
  if (const auto* name = as<BindingPatternNode>(pattern)) bound(name->binding);
  if (const auto* rest = as<RestPatternNode>(pattern)) bound(rest->binding);
  for_each_child(const_cast<Node*>(pattern), [&](Node*& child) { names_of(child); });
}

void Walk::finish(const Node* pattern) {
  const auto is_inside = [&](uint32_t slot) {
    return std::find(bound_.begin(), bound_.end(), slot) != bound_.end();
  };
  std::sort(out_.inputs.begin(), out_.inputs.end());
  out_.inputs.erase(std::unique(out_.inputs.begin(), out_.inputs.end()), out_.inputs.end());
  for (auto* slots : {&out_.inputs, &out_.writes, &out_.moves}) std::erase_if(*slots, is_inside);
  bound_.clear();
  if (pattern) names_of(pattern);
  out_.binds = std::move(bound_);
}

}  // namespace

Outside outside_of(const Node* node, const Node* pattern, const FunctionDecl& function) {
  Outside out;
  Walk walk(function, out);
  walk.visit(node, false, false);
  walk.finish(pattern);
  return out;
}

}  // namespace posset::syntax
