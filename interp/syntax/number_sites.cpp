// Numbers the nodes of one function in evaluation order, a node before its children: the place of a
// site is found in `spans`, its loops in `loops` and the functions nested in it in `children`.
// Defaults and patterns of the parameters come first, each parameter's together, then the body.
#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

namespace {

class Numbering {
 public:
  explicit Numbering(FunctionDecl& function) : function_(function) {}

  // The last child is followed in a loop, so `else if` chains do not need stack.
  void visit(Node* node) {
    while (node) {
      number(node);
      Node* previous = nullptr;
      for_each_child(node, [&](Node*& child) {
        if (previous) visit(previous);
        previous = child;
      });
      node = previous;
    }
  }

 private:
  void number(Node* node) {
    function_.module->arena.tick();
    node->site = static_cast<uint32_t>(function_.spans.size());
    function_.spans.push_back(node->span);
    if (auto* loop = as<WhileNode>(node)) add_loop(loop, loop->loop);
    if (auto* loop = as<ForNode>(node)) add_loop(loop, loop->loop);
    if (auto* loop = as<ComprehensionNode>(node)) add_loop(loop, loop->loop);
    if (auto* call = as<CallNode>(node)) add_call(call);
    if (auto* lambda = as<LambdaNode>(node)) add_child(lambda->function, lambda->child);
    if (auto* statement = as<FunctionStatementNode>(node)) {
      if (statement->binding.kind != BindingKind::None)
        add_child(statement->function, statement->child);
    }
  }

  void add_call(CallNode* call) {
    if (call->is_loop) add_loop(call, call->loop);
    const auto* name = as<NameNode>(call->callee);
    const auto* field = as<FieldNode>(call->callee);
    const Binding binding = name ? name->binding : field ? field->binding : Binding{};
    const bool is_link = binding.kind == BindingKind::Link;
    const bool is_value = !is_link || function_.links[binding.index].kind == Link::Kind::Global;
    if ((name || field) && is_value) function_.called_values.emplace_back(call->site, call->callee);
  }

  void add_loop(Node* node, uint32_t& place) {
    place = static_cast<uint32_t>(function_.loops.size());
    function_.loops.push_back(node);
  }

  void add_child(FunctionDecl* child, uint32_t& place) {
    place = static_cast<uint32_t>(function_.children.size());
    function_.children.push_back(child);
    number_sites(*child);
  }

  FunctionDecl& function_;
};

}  // namespace

void number_sites(FunctionDecl& function) {
  function.spans.clear();
  function.loops.clear();
  function.children.clear();
  function.called_values.clear();
  Numbering numbering(function);
  for (const Parameter& parameter : function.parameters) {
    numbering.visit(parameter.fallback);
    numbering.visit(parameter.pattern);
  }
  numbering.visit(function.body);
}

}  // namespace posset::syntax
