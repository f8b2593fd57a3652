// What a port of a graph takes or gives: a type as annotations write it, behind the port's name ("celsius: float", "names: [str]",
// "next: int?"). Of declared types and those of the host it is the name that counts, since a graph has no module to look
// them up in.
//
// The scheduler knows nothing of it: to that every port of a script takes a value. Two ports are compared when they are
// joined; where that leaves it open, each value is looked at when it is sent (graph_items.cpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "interp/runtime/context.h"
#include "interp/syntax/ast.h"

namespace posset::interp {

class PortType {
 public:
  // Throws GraphError: it is no type.
  static std::shared_ptr<const PortType> parse(std::string_view text);

  // The elements of a list are looked at one by one unless it is a packed one, and charged for. False also when that has raised.
  bool takes(Context& context, Borrowed v) const;
  // A value of which only the kind is known.
  bool takes(syntax::TypeKind kind) const;
  // Whatever is of the other type.
  bool takes_all_of(const PortType& other) const;
  const std::string& text() const { return text_; }

 private:
  bool takes_elements(Context& context, Borrowed list) const;

  std::string text_;
  syntax::TypeKind kind_ = syntax::TypeKind::Any;  // for declared ones the text is the name
  std::shared_ptr<const PortType> element_;        // of a list or an optional
};

// Null: anything.
using PortTypeRef = std::shared_ptr<const PortType>;

// Takes the type off "name: type". Throws GraphError.
PortTypeRef take_port_type(std::string& name);

// Whether a value is of one of the language's types that stand alone: no list of something, optional or declared one.
bool fits_kind(syntax::TypeKind kind, Borrowed v);

}  // namespace posset::interp
