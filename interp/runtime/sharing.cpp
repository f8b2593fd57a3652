// See sharing.h.
#include "interp/runtime/sharing.h"

#include <algorithm>

#include "interp/runtime/host_object.h"
#include "interp/value/cycles.h"

namespace posset::interp {

namespace {

bool is_of_host(const Context& context, const NativeFunction* function) {
  return std::any_of(context.host_functions.begin(), context.host_functions.end(),
                     [function](const auto& row) { return row.second == function; });
}

bool is_session_variable(const syntax::Module& module, uint32_t global) {
  return std::any_of(module.session_variables.begin(), module.session_variables.end(),
                     [global](const auto& each) { return !each.module && each.global == global; });
}

}  // namespace

bool Sharing::add(Borrowed v) {
  if (!context_.holds_half_shared && mark(v) && mark_all()) return true;
  undo();
  return false;
}

bool Sharing::add_part(Closure* closure, syntax::Node* part) {
  if (!context_.holds_half_shared && mark_part(*closure, part) && mark_all()) return true;
  undo();
  return false;
}

bool Sharing::mark_part(Closure& closure, syntax::Node* node) {
  bool ok = true;
  if (auto* name = syntax::as<syntax::NameNode>(node)) ok = mark_named(closure, name->binding);
  if (auto* field = syntax::as<syntax::FieldNode>(node)) ok = mark_named(closure, field->binding);
  if (auto* text = syntax::as<syntax::StringLiteralNode>(node)) ok = mark_named(closure, text->binding);
  if (auto* list = syntax::as<syntax::ListLiteralNode>(node)) ok = mark_named(closure, list->binding);
  if (auto* map = syntax::as<syntax::MapLiteralNode>(node)) ok = mark_named(closure, map->binding);
  if (auto* pattern = syntax::as<syntax::ConstructorPatternNode>(node)) ok = mark_named(closure, pattern->binding);
  if (auto* lambda = syntax::as<syntax::LambdaNode>(node)) ok = mark_child(closure, lambda->child);
  if (auto* function = syntax::as<syntax::FunctionStatementNode>(node)) ok = mark_child(closure, function->child);
  syntax::for_each_child(node, [&](syntax::Node*& child) { ok = ok && mark_part(closure, child); });
  return ok;
}

bool Sharing::mark_named(Closure& closure, const syntax::Binding& binding) {
  switch (binding.kind) {
    case syntax::BindingKind::Captured: return mark(closure.captured()[binding.index]);
    case syntax::BindingKind::Self: return mark(Borrowed::heap(Tag::Fn, &closure));
    case syntax::BindingKind::Link: return mark_link(*closure.function, binding.index);
    default: return true;
  }
}

// A closure made there captures slots, which are inputs, and what this one has captured.
bool Sharing::mark_child(Closure& closure, uint32_t child) {
  const Function& function = *closure.function->children[child];
  bool ok = mark_function(function);
  for (const syntax::Capture& each : function.decl->captures) {
    if (each.from == syntax::Capture::From::Captured) ok = ok && mark(closure.captured()[each.index]);
    if (each.from == syntax::Capture::From::Self) ok = ok && mark(Borrowed::heap(Tag::Fn, &closure));
  }
  return ok;
}

bool Sharing::mark_all() {
  bool ok = true;
  while (ok && !open_.empty()) {
    Object* const object = open_.take();
    if (object->tag == Tag::Fn) ok = mark_function(*static_cast<Closure*>(object)->function);
    if (object->tag == Tag::Module) {
      const ModuleInstance* instance = static_cast<ModuleObject*>(object)->instance;
      ok = !instance || mark_module(*instance);
    }
    ok = ok && each_value(object, [&](Borrowed part) { return mark(part); });
  }
  return ok;
}

void Sharing::undo() {
  constexpr size_t kAtOnce = 100'000;  // that take a few milliseconds
  open_.clear();
  while (!marked_.empty()) {
    for (size_t left = kAtOnce; left != 0 && !marked_.empty(); --left, marked_.pop()) {
      marked_.top()->count = -marked_.top()->count;
    }
    if (root_.wants_to_stop()) break;
  }
  if (!marked_.empty()) context_.holds_half_shared = true;
  marked_.clear();
  seen_.clear();
}

namespace {

// An object of the host that never changes, or a pure method of one.
bool is_pure_host(Borrowed v) {
  return is_bound_method(v) ? method_of(v)->pure : v.as<HostObject>()->type && v.as<HostObject>()->type->pure;
}

}  // namespace

// What is shared or lives for ever is done: it was seen to before.
bool Sharing::mark(Borrowed v) {
  if (!patience_.lasts()) return false;
  switch (v.tag()) {
    case Tag::Unset:
    case Tag::Ref:
    case Tag::Task:
    case Tag::Chan:
    case Tag::Error: return false;
    case Tag::Host:
      if (!is_pure_host(v)) return false;
      break;
    case Tag::Builtin: return v.as_builtin()->pure || !is_of_host(root_, v.as_builtin());
    default: break;
  }
  if (!v.is_heap() || count_of(v.object()) <= 0) return true;
  Object* const object = v.object();
  open_.push(object);
  marked_.push(object);
  object->count = -object->count;
  return true;
}

bool Sharing::mark_function(const Function& function) {
  if (!seen_.insert(&function).second) return true;
  for (size_t n = 0; n < function.link_cells.size(); ++n) {
    if (!mark_link(function, n)) return false;
  }
  return std::all_of(function.children.begin(), function.children.end(),
                     [this](const Function* child) { return mark_function(*child); });
}

bool Sharing::mark_link(const Function& function, size_t number) {
  const syntax::Link& link = function.decl->links[number];
  if (link.kind == syntax::Link::Kind::Global) {
    const syntax::Module* home = link.module ? link.module : function.tree();
    if (is_session_variable(*home, link.index)) return false;
  }
  return mark(*function.link_cells[number]);
}

bool Sharing::mark_module(const ModuleInstance& instance) {
  if (!seen_.insert(&instance).second) return true;
  const Borrowed* globals = instance.globals.get();
  return std::all_of(globals, globals + instance.global_count, [this](Borrowed each) { return mark(each); }) &&
         std::all_of(instance.closures.begin(), instance.closures.end(), [this](const Value& each) { return mark(each); });
}

}  // namespace posset::interp
