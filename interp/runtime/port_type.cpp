// See port_type.h.
#include "interp/runtime/port_type.h"

#include <algorithm>

#include "interp/runtime/ops.h"
#include "interp/syntax/type_names.h"
#include "interp/value/list.h"
#include "sched/graph/plan.h"

namespace posset::interp {

namespace {

using sched::graph::GraphError;
using syntax::TypeKind;

constexpr size_t kMostText = 100;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// As declarations have them: a capital, then letters, digits and underscores.
bool is_declared_name(std::string_view text) {
  auto is_word = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text[0] >= 'A' && text[0] <= 'Z' && std::all_of(text.begin(), text.end(), is_word);
}

}  // namespace

PortTypeRef PortType::parse(std::string_view text) {
  text = trimmed(text);
  auto made = std::make_shared<PortType>();
  made->text_ = text;
  if (text.size() > kMostText) throw GraphError("a type of more than " + std::to_string(kMostText) + " bytes");
  if (text.ends_with('?')) {
    made->kind_ = TypeKind::Optional;
    made->element_ = parse(text.substr(0, text.size() - 1));
  } else if (text.starts_with('[') && text.ends_with(']')) {
    made->kind_ = TypeKind::ListOf;
    made->element_ = parse(text.substr(1, text.size() - 2));
  } else {
    made->kind_ = syntax::type_kind(text);
    if (made->kind_ == TypeKind::Declared && !is_declared_name(text)) {
      throw GraphError("there is no type \"" + std::string(text) +
                       "\": types are nil bool int float num str list map record fn range any, [int], a declared type, and T?");
    }
  }
  return made;
}

PortTypeRef take_port_type(std::string& name) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return nullptr;
  const std::string port(trimmed(std::string_view(name).substr(0, colon)));
  try {
    PortTypeRef type = PortType::parse(std::string_view(name).substr(colon + 1));
    name = port;
    return type;
  } catch (const GraphError& error) {
    throw GraphError("port " + port + ": " + error.what());
  }
}

bool PortType::takes_elements(Context& context, Borrowed v) const {
  const auto* list = v.as<List>();
  const uint64_t looked_at = list->packing() == Packing::Any ? list->size : std::min<uint64_t>(list->size, 1);
  if (!context.charge(looked_at)) return false;
  for (uint64_t i = 0; i < looked_at; ++i) {
    if (!element_->takes(context, list_get(list, i))) return false;
  }
  return true;
}

bool PortType::takes(Context& context, Borrowed v) const {
  switch (kind_) {
    case TypeKind::ListOf: return v.is_list() && takes_elements(context, v);
    case TypeKind::Optional: return v.is_nil() || element_->takes(context, v);
    case TypeKind::Declared: return (v.is_variant() || v.is(Tag::Host)) && type_text(context, v) == text_;
    default: return fits_kind(kind_, v);
  }
}

bool PortType::takes(TypeKind kind) const {
  if (kind_ == TypeKind::Optional) return kind == TypeKind::Nil || element_->takes(kind);
  const bool is_number = kind == TypeKind::Int || kind == TypeKind::Float;
  return kind_ == TypeKind::Any || kind_ == kind || (kind_ == TypeKind::Num && is_number);
}

bool PortType::takes_all_of(const PortType& other) const {
  if (kind_ == TypeKind::Any) return true;
  if (kind_ == TypeKind::Optional) {
    if (other.kind_ == TypeKind::Optional) return takes_all_of(*other.element_);
    return other.kind_ == TypeKind::Nil || element_->takes_all_of(other);
  }
  if (kind_ == TypeKind::ListOf) return other.kind_ == TypeKind::ListOf && element_->takes_all_of(*other.element_);
  if (kind_ == TypeKind::List && other.kind_ == TypeKind::ListOf) return true;
  if (kind_ == TypeKind::Declared) return other.kind_ == kind_ && other.text_ == text_;
  return takes(other.kind_);
}

}  // namespace posset::interp
