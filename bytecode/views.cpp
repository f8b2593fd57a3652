// See views.h.
#include "bytecode/views.h"

#include <map>

#include "bytecode/facts.h"

namespace posset::bytecode {

using namespace syntax;

namespace {

// Hidden slots of loops and matches, see ast.h.
constexpr uint32_t kHiddenOfFor = 3;

class Search {
 public:
  explicit Search(const FunctionDecl& function) : function_(function) {}

  std::set<uint32_t> run(Node* part) {
    find_lets(part);
    if (lets_.empty()) return {};
    for (const Parameter& each : function_.parameters) {
      define(each.slot, 1);
      if (each.pattern) visit(each.pattern);
      if (each.fallback) visit(each.fallback);
    }
    for (const FunctionDecl* child : function_.children) {
      for (const Capture& each : child->captures) {
        if (each.from == Capture::From::Local) lets_.erase(each.index);
      }
    }
    for (const syntax::Division& each : function_.divisions) {
      for (const uint32_t slot : each.inputs) lets_.erase(slot);
    }
    visit(function_.body);
    if (has_forks_) return {};
    std::set<uint32_t> found;
    for (const auto& [slot, count] : lets_) {
      if (count == 1) found.insert(slot);
    }
    return found;
  }

 private:
  void find_lets(Node* node) {
    if (auto* let = as<LetNode>(node)) {
      auto* name = as<BindingPatternNode>(let->pattern);
      const bool plain = name && name->binding.kind == BindingKind::Local && !let->is_var && !let->type && !name->type;
      if (plain && lasts(let->value)) lets_.try_emplace(name->binding.index);
    }
    for_each_child(node, [this](Node*& child) { find_lets(child); });
  }

  // What is there as long as the function runs, and an item of it.
  bool lasts(const Node* node) const {
    if (auto* index = as<IndexNode>(node)) {
      return !index->fallback && as<NameNode>(index->index) && names_lasting(as<NameNode>(index->base));
    }
    if (container_binding(node).kind == BindingKind::Link) return true;
    return names_lasting(as<NameNode>(node));
  }
  bool names_lasting(const NameNode* name) const {
    if (!name) return false;
    if (name->binding.kind == BindingKind::Captured) return true;
    if (name->binding.kind != BindingKind::Link) return false;
    const Link& link = function_.links[name->binding.index];
    const Module* home = link.module ? link.module : function_.module;
    return link.kind == Link::Kind::Global && !home->is_session;
  }

  // ---- everything else that is done with slots ----

  void define(uint32_t first, uint32_t count) {
    for (uint32_t slot = first; slot < first + count; ++slot) {
      const auto found = lets_.find(slot);
      if (found != lets_.end()) ++found->second;
    }
  }
  void define(const Binding& binding) {
    if (binding.kind == BindingKind::Local) define(binding.index, 1);
  }
  void use(const Node* node) {
    if (local_slot(node) >= 0) lets_.erase(static_cast<uint32_t>(local_slot(node)));
  }

  void visit(Node* node) {
    switch (node->kind) {
      case NodeKind::Name: return use(node);
      case NodeKind::Index: return look(*static_cast<IndexNode*>(node));
      case NodeKind::Binary:
        if (looks_for_item(*static_cast<BinaryNode*>(node))) return visit(static_cast<BinaryNode*>(node)->left);
        break;
      case NodeKind::Call:
        if (looks_at_length(*static_cast<CallNode*>(node))) return;
        if (static_cast<CallNode*>(node)->is_loop) define(static_cast<CallNode*>(node)->hidden, kCallbackSlots);
        break;
      case NodeKind::BindingPattern: define(static_cast<BindingPatternNode*>(node)->binding); break;
      case NodeKind::RestPattern: define(static_cast<RestPatternNode*>(node)->binding); break;
      case NodeKind::FunctionStatement: define(static_cast<FunctionStatementNode*>(node)->binding); break;
      case NodeKind::For: define(static_cast<ForNode*>(node)->hidden, kHiddenOfFor); break;
      case NodeKind::Comprehension: define(static_cast<ComprehensionNode*>(node)->hidden, kComprehensionSlots); break;
      case NodeKind::Match: define(static_cast<MatchNode*>(node)->hidden, 1); break;
      case NodeKind::Fork:
      case NodeKind::Merge: has_forks_ = true; break;
      default: break;
    }
    for_each_child(node, [this](Node*& child) { visit(child); });
  }
  // A let is no place to be changed, so this only looks.
  void look(IndexNode& node) {
    if (node.fallback) visit(node.fallback);
    if (local_slot(node.base) < 0 || node.fallback) visit(node.base);
    visit(node.index);
  }
  bool looks_for_item(const BinaryNode& node) const { return node.op == BinaryOp::In && local_slot(node.right) >= 0; }
  bool looks_at_length(const CallNode& node) const {
    auto* callee = as<NameNode>(node.callee);
    if (!callee || callee->binding.kind != BindingKind::Link || node.arguments.size() != 1 || node.optional) return false;
    const Link& link = function_.links[callee->binding.index];
    const ListItem argument(node.arguments[0]);
    return link.kind == Link::Kind::Builtin && link.name == "len" && !argument.spread && !argument.lent &&
           local_slot(argument.value) >= 0;
  }

  const FunctionDecl& function_;
  std::map<uint32_t, uint32_t> lets_;  // of slots that are views so far: how often they are defined
  bool has_forks_ = false;
};

}  // namespace

std::set<uint32_t> find_views(const FunctionDecl& function, Node* part) {
  return part && function.body ? Search(function).run(part) : std::set<uint32_t>();
}

}  // namespace posset::bytecode
