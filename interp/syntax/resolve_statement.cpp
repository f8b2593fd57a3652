// Blocks, declarations, loops and the other constructs that open scopes. Hidden slots are reserved
// before the names of their construct and after what is evaluated outside it (iterable, subject).
#include <algorithm>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

void ModuleResolver::statement(Node*& node) {
  switch (node->kind) {
    case NodeKind::Block:
      return block(static_cast<BlockNode*>(node));
    case NodeKind::While:
      return while_loop(static_cast<WhileNode*>(node));
    case NodeKind::For:
      return for_loop(node);
    case NodeKind::Comprehension:
      return comprehension(node);
    case NodeKind::Match:
      return match(static_cast<MatchNode*>(node));
    case NodeKind::Try:
      return try_catch(static_cast<TryNode*>(node));
    case NodeKind::With:
      return with(static_cast<WithNode*>(node));
    case NodeKind::Let:
      return let(static_cast<LetNode*>(node));
    case NodeKind::ExportedLet:
      return exported_let(static_cast<ExportedLetNode*>(node));
    case NodeKind::Assign:
      return assign(static_cast<AssignNode*>(node));
    case NodeKind::DestructuringAssign:
      return destructuring_assign(static_cast<DestructuringAssignNode*>(node));
    case NodeKind::FunctionStatement:
      return local_function(static_cast<FunctionStatementNode*>(node));
    case NodeKind::TypeDeclaration:
      return type_declaration(static_cast<TypeDeclarationNode*>(node));
    case NodeKind::Import: {
      const auto& imports = module_.imports;
      const ImportDecl* import = static_cast<ImportNode*>(node)->import;
      if (std::find(imports.begin(), imports.end(), import) == imports.end())
        misplaced(node, "import");
      return;
    }
    case NodeKind::Return:
    case NodeKind::Break:
    case NodeKind::Continue:
      return leave(node);
    default:
      break;
  }
  ++errors_;  // a pattern or arm outside its construct: only in a tree that did not parse
}

void ModuleResolver::misplaced(Node* node, const char* what) {
  error(ErrorCode::MisplacedStatement, node->span,
        "`" + std::string(what) + "` can only stand at the top level of a module",
        "move it out of the block");
}

// ---- blocks and declarations ----

void ModuleResolver::block(BlockNode* node) {
  const ScopeGuard scope(scopes_);
  statements(node);
}

namespace {

// What `node` gives is used by nothing. Those inside that stand before the last of a block have been told before.
void discard(Node* node) {
  while (node) {
    Node* last = nullptr;
    if (auto* spawn = as<SpawnNode>(node)) {
      spawn->is_statement = true;
    } else if (auto* block = as<BlockNode>(node)) {
      if (!block->statements.empty()) last = block->statements[block->statements.size() - 1];
    } else if (auto* branch = as<IfNode>(node)) {
      discard(branch->then_branch);
      last = branch->else_branch;
    } else if (auto* match = as<MatchNode>(node)) {
      for (Node* arm : match->arms) {
        if (auto* each = as<MatchArmNode>(arm)) discard(each->body);
      }
    } else if (auto* attempt = as<TryNode>(node)) {
      discard(attempt->body);
      last = attempt->handler;
    } else if (auto* with = as<WithNode>(node)) {
      last = with->body;
    }
    node = last;
  }
}

}  // namespace

void ModuleResolver::statements(BlockNode* node) {
  blocks_.push_back({node, 0});
  for (size_t i = 0; i + 1 < node->statements.size(); ++i) discard(node->statements[i]);
  for (Node*& each : node->statements) {
    expression(each);
    ++blocks_.back().statement;
  }
  blocks_.pop_back();
}

void ModuleResolver::let(LetNode* node) {
  if (node->value) {
    expression(node->value);
    if (!node->is_var) share_constant(node->value);
  }
  annotation(node->type);
  const VariableKind kind = node->is_var ? VariableKind::Var : VariableKind::Let;
  if (node->pattern) pattern(node->pattern, kind, node->is_var ? nullptr : node->value);
}

void ModuleResolver::exported_let(ExportedLetNode* node) {
  auto* inner = as<LetNode>(node->let);
  if (!inner) {
    ++errors_;
    return;
  }
  const bool outermost = blocks_.size() == 1 && blocks_.back().block == module_.top->body;
  if (!outermost) misplaced(node, "export");
  let(inner);
}

bool ModuleResolver::is_module_function(const FunctionDecl& decl) const {
  return decl.index < module_.functions.size() && module_.functions[decl.index] == &decl;
}

// A module-level fn has been resolved before the top level; a local one is a slot that holds a
// closure, and inside itself it is Self, because the slot is not filled yet when the closure is
// made.
void ModuleResolver::local_function(FunctionStatementNode* node) {
  FunctionDecl& decl = *node->function;
  if (is_module_function(decl)) return;
  if (node->exported) misplaced(node, "export");
  count_parameters(decl);
  const uint32_t other = scopes_.find(decl.name);
  if (other != kNone && scopes_.in_current_scope(other) &&
      scopes_.variable(other).kind == VariableKind::Function) {
    error(ErrorCode::DuplicateName, decl.name_span,
          "the fn " + quoted(decl.name) + " is declared twice here",
          "the first is in line " + line_of(scopes_.variable(other).span) + "; rename one of them");
  }
  const uint32_t id = scopes_.declare(decl.name, decl.name_span, VariableKind::Function);
  scopes_.variable(id).function = &decl;
  node->binding = {.kind = BindingKind::Local, .index = scopes_.variable(id).slot};
  function(decl, id);
}

// ---- destructuring assignment ----

void ModuleResolver::destructuring_assign(DestructuringAssignNode* node) {
  expression(node->value);
  if (auto* list = as<PlaceListNode>(node->target)) {
    place_list(list);
  } else {
    ++errors_;
  }
}

void ModuleResolver::place_list(PlaceListNode* list) {
  size_t rests = 0;
  for (Node* item : list->items) {
    auto* rest = as<SpreadNode>(item);
    if (rest && ++rests == 2) {
      error(ErrorCode::BadPattern, rest->span, "only one `..rest` can stand in a list of places");
    }
    place_item(rest ? rest->value : item);
  }
}

void ModuleResolver::place_item(Node* item) {
  if (!item || item->kind == NodeKind::WildcardPattern) return;
  if (auto* inner = as<PlaceListNode>(item)) return place_list(inner);
  PlacePath path;
  place(item, PlaceUse::Assign, path);
}

// ---- loops ----

// The condition belongs to the loop: `break` in it leaves this very loop.
void ModuleResolver::while_loop(WhileNode* node) {
  discard(node->body);
  const bool outer = scopes_.enter_loop();
  expression(node->condition);
  expression(node->body);
  scopes_.leave_loop(outer);
}

void ModuleResolver::for_loop(Node*& node) {
  auto* loop = static_cast<ForNode*>(node);
  discard(loop->body);
  expression(loop->iterable);
  share_constant(loop->iterable);
  const ScopeGuard scope(scopes_);
  const Unpaired unpaired = unpair(loop->iterable, loop->pattern);
  loop->hidden = scopes_.reserve(3);
  bind_round(loop->pattern, loop->lets, unpaired);
  const bool outer = scopes_.enter_loop();
  expression(loop->body);
  scopes_.leave_loop(outer);
  node = behind_let(unpaired, loop);
}

void ModuleResolver::comprehension(Node*& node) {
  auto* loop = static_cast<ComprehensionNode*>(node);
  expression(loop->iterable);
  share_constant(loop->iterable);
  const ScopeGuard scope(scopes_);
  const Unpaired unpaired = unpair(loop->iterable, loop->pattern);
  loop->hidden = scopes_.reserve(kComprehensionSlots);
  bind_round(loop->pattern, loop->lets, unpaired);
  const bool outer = scopes_.enter_loop(true);
  if (loop->condition) expression(loop->condition);
  expression(loop->body);
  scopes_.leave_loop(outer);
  node = behind_let(unpaired, loop);
}

void ModuleResolver::leave(Node* node) {
  const bool is_return = node->kind == NodeKind::Return;
  if (is_return ? scopes_.function().is_top_level : !scopes_.in_loop()) {
    const char* word = is_return ? "return" : node->kind == NodeKind::Break ? "break" : "continue";
    error(ErrorCode::OutsideLoop, node->span,
          "`" + std::string(word) + "` outside a " + (is_return ? "function" : "loop"),
          is_return ? "the value of a script is that of its last expression"
                    : "a lambda or `fn` inside a loop is a function of its own");
  } else if (auto* ends = as<BreakNode>(node); ends && ends->value && scopes_.in_comprehension()) {
    error(ErrorCode::UnexpectedToken, node->span, "`break` takes no value in a comprehension",
          "the comprehension gives the list so far");
  }
  children(node);
}

// ---- match, try ----

void ModuleResolver::match(MatchNode* node) {
  expression(node->subject);
  const ScopeGuard scope(scopes_);
  node->hidden = scopes_.reserve(1);
  for (Node* each : node->arms) {
    auto* arm = as<MatchArmNode>(each);
    if (!arm) {
      ++errors_;
      continue;
    }
    const ScopeGuard arm_scope(scopes_);
    pattern(arm->pattern, VariableKind::Pattern);
    if (arm->guard) expression(arm->guard);
    expression(arm->body);
  }
  check_reachable(*node);
}

void ModuleResolver::try_catch(TryNode* node) {
  expression(node->body);
  const ScopeGuard scope(scopes_);
  if (node->pattern) pattern(node->pattern, VariableKind::Pattern);
  if (node->handler) expression(node->handler);
}

}  // namespace posset::syntax
