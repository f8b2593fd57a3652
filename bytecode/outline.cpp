// See outline.h.
#include "bytecode/outline.h"

#include <algorithm>

#include "interp/runtime/context.h"
#include "interp/value/string.h"

namespace posset::bytecode {

namespace {

// Null: it is none, or the host's.
const interp::NativeFunction* native_of(const interp::RuntimeState& runtime, const syntax::Link& link) {
  using Kind = syntax::Link::Kind;
  if (link.kind == Kind::Builtin) {
    const auto found = runtime.builtins.find(link.name);
    return found == runtime.builtins.end() ? nullptr : found->second;
  }
  if (link.kind != Kind::BuiltinExport) return nullptr;
  const auto* found = runtime.export_of(link.owner, link.name);
  return found ? found->function : nullptr;
}

Outline::Link link_of(const interp::RuntimeState& runtime, const syntax::Link& link) {
  using Kind = syntax::Link::Kind;
  Outline::Link made{link.kind, false, 0, std::string(link.name), native_of(runtime, link)};
  // Dumps show no more of a text.
  if (link.kind == Kind::Literal) made.name.resize(std::min(made.name.size(), interp::kMaxShort + 1));
  if (link.kind == Kind::Container) made.name = link.literal->kind == syntax::NodeKind::MapLiteral ? "[:]" : "[]";
  if (link.kind == Kind::Function && link.function) {
    made.count = static_cast<uint32_t>(link.function->parameters.size());
    made.exact = !link.function->has_rest;
  }
  if (link.kind == Kind::Constructor && link.type) {
    const auto& fields = link.type->constructors[link.index].fields;
    made.count = static_cast<uint32_t>(fields.size());
    made.exact = std::none_of(fields.begin(), fields.end(), [](auto& each) { return each.type != nullptr; });
  }
  return made;
}

Outline::Captured captured_by(const syntax::FunctionDecl& child) {
  Outline::Captured slots;
  for (const syntax::Capture& each : child.captures) {
    if (each.from == syntax::Capture::From::Local) slots.push_back(each.index);
  }
  return slots;
}

}  // namespace

Outline outline_of(const interp::RuntimeState& runtime, const syntax::FunctionDecl& function) {
  Outline made;
  made.hash = function.hash;
  made.parameters = static_cast<uint32_t>(function.parameters.size());
  made.rest = function.has_rest;
  for (const syntax::Link& link : function.links) made.links.push_back(link_of(runtime, link));
  for (const syntax::ForkPoint& point : function.forks) made.forks.push_back(point.inputs);
  for (const syntax::FunctionDecl* child : function.children) made.children.push_back(captured_by(*child));
  return made;
}

}  // namespace posset::bytecode
