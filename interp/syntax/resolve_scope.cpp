// Scopes, slots, captures and links: see resolve_scope.h for the idea and the invariants.
#include "interp/syntax/resolve_scope.h"

#include <algorithm>
#include <cassert>
#include <functional>

namespace posset::syntax {

bool is_assignable(VariableKind kind) {
  return kind == VariableKind::Var || kind == VariableKind::InoutParameter ||
         kind == VariableKind::With;
}

const char* describe(VariableKind kind) {
  switch (kind) {
    case VariableKind::Let:
      return "a `let`";
    case VariableKind::Var:
      return "a `var`";
    case VariableKind::Parameter:
      return "a parameter";
    case VariableKind::InoutParameter:
      return "an inout parameter";
    case VariableKind::Loop:
      return "a loop variable";
    case VariableKind::Pattern:
      return "a name bound by a pattern";
    case VariableKind::With:
      return "the name of a `with`";
    case VariableKind::Function:
      return "a function";
  }
  return "";
}

LinkKey key_of(const Link& link) {
  LinkKey key;
  key.kind = link.kind;
  switch (link.kind) {
    case Link::Kind::Function:
      key.object = link.function;
      break;
    case Link::Kind::Global:
      key.object = link.module;
      key.index = link.index;
      break;
    case Link::Kind::Builtin:
    case Link::Kind::HostGlobal:
    case Link::Kind::Literal:
      key.name = link.name;
      break;
    case Link::Kind::Container:
      key.object = link.literal;
      break;
    case Link::Kind::BuiltinExport:
      key.name = link.name;
      key.owner = link.owner;
      break;
    case Link::Kind::Constructor:
      key.object = link.type;
      key.index = link.index;
      break;
    case Link::Kind::Type:
      key.object = link.type;
      break;
    case Link::Kind::Module:
      key.object = link.module;
      key.owner = link.owner;
      break;
  }
  return key;
}

size_t LinkKeyHash::operator()(const LinkKey& key) const {
  const auto mix = [](size_t seed, size_t value) { return (seed ^ value) * 0x9E3779B97F4A7C15u; };
  size_t hash = mix(static_cast<size_t>(key.kind), key.index);
  hash = mix(hash, reinterpret_cast<size_t>(key.object));
  hash = mix(hash, std::hash<Text>()(key.name));
  return mix(hash, std::hash<Text>()(key.owner));
}

void Scopes::push_function(FunctionDecl* decl, uint32_t self) {
  Frame& frame = frames_.emplace_back();
  frame.decl = decl;
  frame.self = self;
  open();
  // The mark's depth is the enclosing function's; a function starts with its own empty frame.
  marks_.back().depth = 0;
}

void Scopes::pop_function() {
  close();
  frames_.pop_back();
}

void Scopes::open() {
  marks_.push_back({static_cast<uint32_t>(variables_.size()), frames_.back().depth});
}

void Scopes::close() {
  const Mark mark = marks_.back();
  marks_.pop_back();
  while (variables_.size() > mark.variables) {
    const Variable& gone = variables_.back();
    if (gone.shadowed == kNone) {
      newest_.erase(gone.name);
    } else {
      newest_[gone.name] = gone.shadowed;
    }
    variables_.pop_back();
  }
  frames_.back().depth = mark.depth;
}

void Scopes::grow(uint32_t depth) {
  Frame& frame = frames_.back();
  frame.depth = std::max(frame.depth, depth);
  FunctionDecl& decl = *frame.decl;
  if (decl.slot_count >= depth) return;
  decl.slot_count = depth;
  decl.slot_names.resize(depth);
}

uint32_t Scopes::reserve(uint32_t count) {
  const uint32_t first = frames_.back().depth;
  grow(first + count);
  return first;
}

uint32_t Scopes::declare(Text name, Span span, VariableKind kind) {
  return declare_at(name, span, kind, reserve(1));
}

uint32_t Scopes::declare_at(Text name, Span span, VariableKind kind, uint32_t slot) {
  grow(slot + 1);
  frames_.back().decl->slot_names[slot] = name;
  return add(name, span, kind, slot);
}

uint32_t Scopes::declare_without_slot(Text name, Span span, VariableKind kind) {
  return add(name, span, kind, kNone);
}

uint32_t Scopes::add(Text name, Span span, VariableKind kind, uint32_t slot) {
  Variable variable;
  variable.name = name;
  variable.span = span;
  variable.kind = kind;
  variable.slot = slot;
  variable.level = level();
  const uint32_t id = static_cast<uint32_t>(variables_.size());
  auto [place, inserted] = newest_.try_emplace(name, id);
  if (!inserted) {
    variable.shadowed = place->second;
    place->second = id;
  }
  variables_.push_back(variable);
  return id;
}

uint32_t Scopes::find(Text name) const {
  const auto found = newest_.find(name);
  return found == newest_.end() ? kNone : found->second;
}

Binding Scopes::reach(uint32_t id) {
  const Variable& variable = variables_[id];
  Binding binding;
  binding.kind = BindingKind::Local;
  binding.index = variable.slot;
  if (variable.level == level()) {
    binding.is_var = is_assignable(variable.kind);
    return binding;
  }
  Capture source{.from = Capture::From::Local, .index = variable.slot, .name = variable.name};
  for (uint32_t at = variable.level + 1; at <= level(); ++at) {
    Frame& frame = frames_[at];
    if (frame.self ==
        id) {  // only the function declared by this very variable: it is what is running
      binding = {.kind = BindingKind::Self};
      source.from = Capture::From::Self;
      source.index = 0;
      continue;
    }
    auto& captures = frame.decl->captures;
    const auto [entry, inserted] =
        frame.captures.try_emplace(id, static_cast<uint32_t>(captures.size()));
    if (inserted) captures.push_back(source);
    binding = {.kind = BindingKind::Captured, .index = entry->second};
    source.from = Capture::From::Captured;
    source.index = entry->second;
  }
  return binding;
}

uint32_t Scopes::link(const Link& link) {
  Frame& frame = frames_.back();
  auto& links = frame.decl->links;
  const auto [entry, inserted] =
      frame.links.try_emplace(key_of(link), static_cast<uint32_t>(links.size()));
  if (inserted) links.push_back(link);
  return entry->second;
}

}  // namespace posset::syntax
