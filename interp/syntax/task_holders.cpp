// See task_holders.h. One walk over the tree: whether something is spawned in a node is known before what the node does with
// its value.
#include "interp/syntax/task_holders.h"

#include <unordered_map>

namespace posset::syntax {

namespace {

class TaskHolders {
 public:
  TaskHolders(const FunctionDecl& function, SlotSet& to) : function_(function), to_(to) {}

  // Whether something is spawned in it.
  bool scan(Node* node) {
    function_.module->arena.tick();
    bool spawns = node->kind == NodeKind::Spawn || makes_one_that_spawns(node) || calls_one_that_spawns(node);
    for_each_child(node, [&](Node*& child) { spawns |= scan(child); });
    if (spawns) hold(node);
    return spawns;
  }

 private:
  void hold(Node* node) {
    if (auto* let = as<LetNode>(node)) return hold_names(let->pattern);
    if (auto* loop = as<ForNode>(node)) return hold_names(loop->pattern);
    if (auto* loop = as<ComprehensionNode>(node)) return hold_names(loop->pattern);
    if (auto* arm = as<MatchArmNode>(node)) return hold_names(arm->pattern);
    if (auto* assign = as<AssignNode>(node)) return hold_root(assign->place);
    if (auto* assign = as<DestructuringAssignNode>(node)) return hold_names(assign->target);
    auto* call = as<CallNode>(node);
    if (!call) return;
    for (Node* each : call->arguments) {
      const auto* argument = static_cast<ArgumentNode*>(each);
      if (argument->inout) hold_root(argument->value);
    }
  }

  // Of a pattern, or of a list of places.
  void hold_names(Node* node) {
    if (auto* name = as<BindingPatternNode>(node)) return hold(name->binding);
    if (auto* rest = as<RestPatternNode>(node)) return hold(rest->binding);
    if (node->kind == NodeKind::Name || node->kind == NodeKind::Index || node->kind == NodeKind::Field) return hold_root(node);
    for_each_child(node, [&](Node*& child) { hold_names(child); });
  }

  void hold_root(Node* place) {
    while (place->kind == NodeKind::Index || place->kind == NodeKind::Field) {
      auto* field = as<FieldNode>(place);
      place = field ? field->base : static_cast<IndexNode*>(place)->base;
    }
    if (auto* name = as<NameNode>(place)) hold(name->binding);
  }

  void hold(const Binding& binding) {
    if (binding.kind == BindingKind::Local) to_.add(binding.index);
  }

  bool makes_one_that_spawns(Node* node) {
    if (auto* lambda = as<LambdaNode>(node)) return spawns(*lambda->function);
    auto* statement = as<FunctionStatementNode>(node);
    return statement && spawns(*statement->function);
  }

  bool calls_one_that_spawns(Node* node) {
    auto* call = as<CallNode>(node);
    if (!call) return false;
    auto* name = as<NameNode>(call->callee);
    auto* field = as<FieldNode>(call->callee);
    const Binding binding = name ? name->binding : field ? field->binding : Binding{};
    if (binding.kind != BindingKind::Link) return false;
    const Link& link = function_.links[binding.index];
    return link.kind == Link::Kind::Function && link.function && spawns(*link.function);
  }

  // In the function's own code, or in that of functions it makes.
  bool spawns(const FunctionDecl& function) {
    if (function.purity == Purity::Pure || !function.body) return false;
    const auto [known, fresh] = known_.try_emplace(&function, false);
    if (fresh) known_[&function] = has_spawn(function.body);
    return known_[&function];
  }

  bool has_spawn(Node* node) {
    function_.module->arena.tick();
    if (node->kind == NodeKind::Spawn || makes_one_that_spawns(node)) return true;
    bool found = false;
    for_each_child(node, [&](Node*& child) { found = found || has_spawn(child); });
    return found;
  }

  const FunctionDecl& function_;
  SlotSet& to_;
  std::unordered_map<const FunctionDecl*, bool> known_;
};

}  // namespace

void add_task_holders(const FunctionDecl& function, SlotSet& to) {
  if (function.purity != Purity::Pure && function.body) TaskHolders(function, to).scan(function.body);
}

}  // namespace posset::syntax
