// Kinds and annotations: the name of a value's type, whether a value fits an annotation, and
// conditions that must be bool.
#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/port_type.h"
#include "interp/runtime/type_tags.h"
#include "interp/runtime/work.h"
#include "interp/value/record.h"

namespace posset::interp {

const char* kind_of(Borrowed v) { return type_name(v.tag()); }

std::string type_text(Context& context, Borrowed v) {
  if (v.is_variant()) return shape_of(context.heap, v.as<Record>())->type->name;
  if (v.is(Tag::Host)) return std::string(type_name_of_host_object(v));
  return kind_of(v);
}

std::string describe_operands(BinaryOp op, Borrowed left, Borrowed right) {
  return std::string(kind_of(left)) + " " + spelling(op) + " " + kind_of(right);
}

int expect_bool(Context& context, Borrowed v, const char* what) {
  if (v.is_bool()) [[likely]]
    return v.as_bool();
  const char* hint = "only true and false are conditions";
  if (v.is_number()) hint = "nothing but true and false is a condition: compare, as in x != 0";
  if (v.is_nil()) hint = "nothing but true and false is a condition: compare, as in x != nil";
  if (v.is_string() || v.is_list() || v.is_map())
    hint = "nothing but true and false is a condition: compare, as in len(x) > 0";
  context.raise(ErrorCode::NotBool,
                std::string(what) + " must be bool, got " + kind_and_value(context, v), hint);
  return -1;
}

// ---- annotations ----

namespace {

using syntax::TypeExpr;
using syntax::TypeKind;

bool fits_declared(const Function& function, const TypeExpr& type, Borrowed v) {
  if (!v.is_variant() || type.binding.index >= function.link_types.size()) return false;
  const auto* record = v.as<Record>();
  return Heap::heap_of(record).shapes().shape(record->shape)->type ==
         function.link_types[type.binding.index];
}

// Packed lists answer with their first element; the elements of others are looked at one by one.
bool fits_list(const Function& function, const TypeExpr& element, Borrowed v) {
  if (!v.is_list()) return false;
  const auto* list = v.as<List>();
  const uint64_t looked_at =
      list->packing() == Packing::Any ? list->size : std::min<uint64_t>(list->size, 1);
  for (uint64_t i = 0; i < looked_at; ++i) {
    if (!fits_type(function, element, list_get(list, i))) return false;
  }
  return true;
}

}  // namespace

TypeTags tags_of(TypeKind kind) {
  const auto all = [](auto... tags) { return TypeTags{(TypeTags::bit(tags) | ...), 0}; };
  switch (kind) {
    case TypeKind::Any: return {UINT32_MAX, 0};
    case TypeKind::Nil: return all(Tag::Nil);
    case TypeKind::Bool: return all(Tag::Bool);
    case TypeKind::Int: return all(Tag::Int);
    case TypeKind::Float: return all(Tag::Float);
    case TypeKind::Num: return all(Tag::Int, Tag::Float);
    case TypeKind::Str: return all(Tag::ShortStr, Tag::Str);
    case TypeKind::List: return all(Tag::List);
    case TypeKind::Map: return all(Tag::Map);
    case TypeKind::Record: return all(Tag::Record);
    case TypeKind::Fn: return {all(Tag::Fn, Tag::Builtin, Tag::Constructor).fit, TypeTags::bit(Tag::Host)};  // bound methods
    case TypeKind::Range: return all(Tag::Range);
    case TypeKind::Task: return all(Tag::Task);
    case TypeKind::Chan: return all(Tag::Chan);
    case TypeKind::Ref: return all(Tag::Ref);
    case TypeKind::Error: return all(Tag::Error);
    case TypeKind::Module: return all(Tag::Module);
    case TypeKind::ListOf: return {0, TypeTags::bit(Tag::List)};
    case TypeKind::Declared: return {0, TypeTags::bit(Tag::Variant)};
    case TypeKind::Optional: break;
  }
  return {};
}

TypeTags tags_of(const TypeExpr& type) {
  if (type.kind != TypeKind::Optional) return tags_of(type.kind);
  const TypeTags inner = tags_of(*type.element);
  return {inner.fit | TypeTags::bit(Tag::Nil), inner.open};
}

bool fits_kind(TypeKind kind, Borrowed v) {
  return tags_of(kind).fits(v) || (kind == TypeKind::Fn && is_callable(v));
}

bool fits_type(const Function& function, const TypeExpr& type, Borrowed v) {
  const TypeTags tags = tags_of(type);
  if (tags.fits(v)) return true;
  if (!tags.is_open(v)) return false;
  switch (type.kind) {
    case TypeKind::ListOf:
      return fits_list(function, *type.element, v);
    case TypeKind::Optional:
      return fits_type(function, *type.element, v);
    case TypeKind::Declared:
      return fits_declared(function, type, v);
    default:
      return fits_kind(type.kind, v);
  }
}

std::string type_name_of(const TypeExpr& type) {
  static constexpr const char* kNames[] = {"nil",  "bool", "int",    "float", "str",   "num",
                                           "list", "map",  "record", "fn",    "range", "any"};
  switch (type.kind) {
    case TypeKind::ListOf:
      return "[" + type_name_of(*type.element) + "]";
    case TypeKind::Optional:
      return type_name_of(*type.element) + "?";
    case TypeKind::Declared:
      return (type.module.empty() ? "" : std::string(type.module) + ".") + std::string(type.name);
    case TypeKind::Task:
      return "task";
    case TypeKind::Chan:
      return "chan";
    case TypeKind::Ref:
      return "ref";
    case TypeKind::Error:
      return "error";
    case TypeKind::Module:
      return "module";
    default:
      return kNames[static_cast<size_t>(type.kind)];
  }
}

}  // namespace posset::interp
