// See messages.h. Hints say what the writer probably meant; they are tables where there are
// several.
#include "interp/runtime/messages.h"

#include <algorithm>
#include <vector>

#include "interp/runtime/type_tags.h"
#include "interp/runtime/work.h"
#include "interp/syntax/diagnostic.h"
#include "interp/value/compare.h"
#include "interp/value/map.h"
#include "interp/value/record.h"

namespace posset::interp {

std::string kind_and_value(Context& context, Borrowed v) {
  std::string kind = type_text(context, v);
  if (v.is_nil()) return kind;
  return kind + " (" + brief(v) + ")";
}

// ---- operators ----

namespace {

// How an operator is said: before, between and after the kinds of its operands; `swapped`: the
// right one is named first.
struct Wording {
  BinaryOp op;
  const char* before;
  const char* between;
  bool swapped;
};
constexpr Wording kWordings[] = {
    {BinaryOp::Add, "cannot add ", " and ", false},
    {BinaryOp::Sub, "cannot subtract ", " from ", true},
    {BinaryOp::Mul, "cannot multiply ", " by ", false},
    {BinaryOp::Div, "cannot divide ", " by ", false},
    {BinaryOp::IntDiv, "cannot divide ", " by ", false},
    {BinaryOp::Mod, "cannot divide ", " by ", false},
    {BinaryOp::Pow, "cannot raise ", " to the power of ", false},
    {BinaryOp::In, "cannot look for ", " in ", false},
};

// What the operands of an operator that failed suggest. Tested in order.
struct OperandHint {
  bool (*fits)(BinaryOp op, Borrowed left, Borrowed right);
  const char* hint;
};
bool either(Borrowed a, Borrowed b, bool (*test)(Borrowed)) { return test(a) || test(b); }
bool ints_only(BinaryOp op) {
  return op == BinaryOp::WrapMul || (op >= BinaryOp::WrapAdd && op <= BinaryOp::BitOr);
}
constexpr OperandHint kOperandHints[] = {
    {[](BinaryOp, Borrowed a, Borrowed b) {
       return either(a, b, [](Borrowed v) { return v.is_nil(); });
     },
     "one of them is nil: give a default with ??"},
    {[](BinaryOp op, Borrowed a, Borrowed b) {
       return op == BinaryOp::Add && (a.is_string() || b.is_string());
     },
     "convert with str(...) or int(...), or interpolate: \"{...}\""},
    {[](BinaryOp op, Borrowed a, Borrowed) { return op == BinaryOp::Add && a.is_list(); },
     "a list is added to a list: [x] for one element, list(xs) for anything else"},
    {[](BinaryOp op, Borrowed, Borrowed b) { return op == BinaryOp::In && !b.is_heap(); },
     "in looks into a list, range, map or string"},
    {[](BinaryOp, Borrowed a, Borrowed b) {
       return either(a, b, [](Borrowed v) { return v.is_bool(); });
     },
     "a bool is no number; int(...) makes one of it"},
    {[](BinaryOp op, Borrowed a, Borrowed b) {
       return ints_only(op) && (a.is_float() || b.is_float());
     },
     "this operator takes ints only"},
    {[](BinaryOp op, Borrowed a, Borrowed b) {
       return op == BinaryOp::Mul && (a.is_string() || b.is_string());
     },
     "strings.repeat(s, n) repeats a string"},
    {[](BinaryOp, Borrowed a, Borrowed b) { return a.is_string() || b.is_string(); },
     "int(...) or float(...) reads a number from text"},
};

const char* operand_hint(BinaryOp op, Borrowed left, Borrowed right) {
  for (const OperandHint& row : kOperandHints) {
    if (row.fits(op, left, right)) return row.hint;
  }
  return "";
}

}  // namespace

Value raise_operands(Context& context, BinaryOp op, Borrowed left, Borrowed right) {
  std::string l = type_text(context, left), r = type_text(context, right);
  std::string message;
  for (const Wording& w : kWordings) {
    if (w.op != op) continue;
    message = w.before + (w.swapped ? r : l) + w.between + (w.swapped ? l : r);
  }
  if (message.empty())
    message = std::string("cannot apply ") + spelling(op) + " to " + l + " and " + r;
  message += " (" + brief(left) + " " + spelling(op) + " " + brief(right) + ")";
  return context.raise(ErrorCode::WrongOperands, std::move(message), operand_hint(op, left, right));
}

Value raise_overflow(Context& context, BinaryOp op, int64_t a, int64_t b) {
  struct Wrapping {
    BinaryOp op;
    const char* hint;
  };
  constexpr Wrapping kWrapping[] = {
      {BinaryOp::Add, "int is 64-bit; use +% to wrap, or float(...)"},
      {BinaryOp::Sub, "int is 64-bit; use -% to wrap, or float(...)"},
      {BinaryOp::Mul, "int is 64-bit; use *% to wrap, or float(...)"},
  };
  const char* hint = "int is 64-bit; use float(...)";
  for (const Wrapping& row : kWrapping) {
    if (row.op == op) hint = row.hint;
  }
  return context.raise(
      ErrorCode::IntOverflow,
      "int overflow in " + std::to_string(a) + " " + spelling(op) + " " + std::to_string(b), hint);
}

Value raise_overflow_in(Context& context, const std::string& expression) {
  return context.raise(ErrorCode::IntOverflow, "int overflow in " + expression,
                       "int is 64-bit; use float(...)");
}

Value raise_not_comparable(Context& context, std::string_view between, Borrowed left,
                           Borrowed right, Borrowed inner_left, Borrowed inner_right) {
  std::string message = "cannot compare " + type_text(context, inner_left) + " and " +
                        type_text(context, inner_right);
  std::string whole = brief(left) + std::string(between) + brief(right);
  bool inside = inner_left.word0 != left.word0 || inner_left.word1 != left.word1;
  message += inside ? " (" + brief(inner_left) + " and " + brief(inner_right) + " in " + whole + ")"
                    : " (" + whole + ")";
  return context.raise(
      ErrorCode::WrongOperands, std::move(message),
      "numbers, strings, lists and variants of one type have an order among themselves");
}

// ---- annotations ----

namespace {

// Which element keeps a list from fitting; empty where no kind tells.
std::string misfit_inside(Context& context, const syntax::TypeExpr& type, Borrowed v) {
  if (type.kind == syntax::TypeKind::Optional) return misfit_inside(context, *type.element, v);
  if (type.kind != syntax::TypeKind::ListOf || !v.is_list()) return "";
  const TypeTags wanted = tags_of(*type.element);
  const auto* list = v.as<List>();
  for (uint64_t i = 0; i < list->size; ++i) {
    const Borrowed each = list_get(list, i);
    if (wanted.fits(each)) continue;
    const std::string element = "element " + std::to_string(i);
    if (!wanted.is_open(each)) return element + " is " + kind_and_value(context, each);
    if (const std::string inside = misfit_inside(context, *type.element, each); !inside.empty()) return "in " + element + ", " + inside;
  }
  return "";
}

Value raise_misfit(Context& context, const std::string& which, const syntax::TypeExpr& type, Borrowed v) {
  return context.raise(ErrorCode::TypeMismatch, which + "expected " + type_name_of(type) + ", got " + type_text(context, v),
                       misfit_inside(context, type, v));
}

std::string name_of(const syntax::FunctionDecl& function) {
  return function.name.empty() ? "the function" : std::string(function.name);
}

// What stands there; nothing when it is a pattern of several names.
std::string name_at(const syntax::FunctionDecl& function, uint32_t site) {
  const syntax::Span span = function.spans[site];
  const std::string_view text = function.module->source->text().substr(span.begin, span.end - span.begin);
  const bool is_name = std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return is_name ? std::string(text) : "";
}

}  // namespace

Value raise_argument_type(Context& context, const syntax::FunctionDecl& function, uint32_t parameter, const syntax::TypeExpr& type,
                          Borrowed v) {
  const std::string which = "argument '" + std::string(function.parameters[parameter].name) + "' of ";
  return raise_misfit(context, which + name_of(function) + ": ", type, v);
}

Value raise_result_type(Context& context, const syntax::FunctionDecl& function, const syntax::TypeExpr& type, Borrowed v) {
  return raise_misfit(context, "the result of " + name_of(function) + ": ", type, v);
}

Value raise_variable_type(Context& context, const syntax::FunctionDecl& function, uint32_t site, const syntax::TypeExpr& type,
                          Borrowed v) {
  const std::string name = name_at(function, site);
  return raise_misfit(context, name.empty() ? "" : "variable '" + name + "': ", type, v);
}

Value raise_field_type(Context& context, std::string_view constructor, std::string_view field, const syntax::TypeExpr& type,
                       Borrowed v) {
  const std::string which = std::string(constructor) + "'s field '" + std::string(field) + "': ";
  return raise_misfit(context, which, type, v);
}

// ---- indexes, keys, fields ----

Value raise_index(Context& context, int64_t index, const char* kind, uint64_t size) {
  std::string message = "index " + std::to_string(index) + " is out of range for ";
  message += size == 0 ? std::string("an empty ") + kind
                       : std::string("a ") + kind + " of " + std::to_string(size);
  std::string hint = "there is nothing in it";
  if (size == 1) hint = "its only index is 0";
  if (size > 1) hint = "indexes go from 0 to " + std::to_string(size - 1);
  if (index < 0 && size != 0) hint += "; the last element is last(xs)";
  return context.raise(ErrorCode::OutOfRange, std::move(message), std::move(hint));
}

Value raise_index_kind(Context& context, const char* kind, Borrowed index, const char* expected) {
  std::string hint = index.is_float() ? "int(...) makes an int of a float" : "";
  return context.raise(ErrorCode::TypeMismatch,
                       std::string("index of a ") + kind + ": expected " + expected + ", got " +
                           kind_and_value(context, index),
                       std::move(hint));
}

namespace {

std::string suggestion(std::string_view name, const std::vector<std::string_view>& candidates) {
  std::string_view near = syntax::did_you_mean(name, candidates);
  return near.empty() ? std::string() : "did you mean '" + std::string(near) + "'?";
}

std::string key_suggestion(const Map* map, Borrowed key) {
  constexpr size_t kMostCandidates = 200, kLongestKey = 40;
  if (!key.is_string() || string_view_of(key).size() > kLongestKey) return "";
  std::vector<std::string_view> candidates;
  for (uint32_t i = map_next(map, 0); i < map->used && candidates.size() < kMostCandidates;
       i = map_next(map, i + 1)) {
    const Borrowed& candidate = map->entries[i].key;
    if (candidate.is_string() && string_view_of(candidate).size() <= kLongestKey) {
      candidates.push_back(string_view_of(candidate));
    }
  }
  return suggestion(string_view_of(key), candidates);
}

}  // namespace

Value raise_key_not_found(Context& context, const Map* map, Borrowed key) {
  std::string hint = key_suggestion(map, key);
  if (hint.empty()) hint = "m[key, default] and get(m, key, default) do without";
  return context.raise(ErrorCode::KeyNotFound, "key " + brief(key) + " not found", std::move(hint));
}

Value raise_key_kind(Context& context, Borrowed key) {
  constexpr const char* kHint =
      "keys are nil, bool, int, float, str, and lists, records and variants of these";
  std::string inside =
      key.is_list() || key.is_record() || key.is_variant() ? ": " + brief(key) : "";
  if (key_problem(context, key) == KeyProblem::NaN) {
    return context.raise(ErrorCode::NotANumber, "NaN cannot be a map key" + inside,
                         "NaN is equal to nothing, not even itself");
  }
  if (inside.empty()) inside = ": got " + brief(key);
  return context.raise(ErrorCode::TypeMismatch,
                       type_text(context, key) + " cannot be a map key" + inside, kHint);
}

namespace {

// "{x, y}", "Circle(r)": what fields there are.
std::string fields_text(const Shape& shape) {
  constexpr size_t kMostShown = 12;
  if (shape.is_variant() && shape.fields.empty()) return shape.constructor;
  std::string out = shape.is_variant() ? shape.constructor + "(" : "{";
  for (size_t i = 0; i < shape.fields.size(); ++i) {
    if (i) out += ", ";
    if (i == kMostShown) {
      out += "...";
      break;
    }
    out += shape.fields[i]->text;
  }
  return out + (shape.is_variant() ? ")" : "}");
}

// Methods of other languages, and what they are here.
struct ForeignMethod {
  std::string_view name;
  const char* hint;
};
constexpr ForeignMethod kForeignMethods[] = {
    {"append", "xs.push(x) adds to a list"},         {"add", "xs.push(x) adds to a list"},
    {"contains", "`x in xs` says whether it is there"}, {"includes", "`x in xs` says whether it is there"},
    {"length", "len(x) is how many there are"},      {"size", "len(x) is how many there are"},
};

const char* foreign_method_hint(std::string_view name) {
  for (const ForeignMethod& each : kForeignMethods) {
    if (each.name == name) return each.hint;
  }
  return "";
}

// The module for values of the kind.
std::string_view module_for(Borrowed v) {
  if (v.is_string()) return "strings";
  return v.is_number() ? "math" : "lists";
}

// The function that who writes x.name() may have meant: one of a module, or one that is called nearly so.
std::string function_hint(const RuntimeState& runtime, Borrowed base, std::string_view name) {
  const std::string of(module_for(base));
  if (runtime.export_of(of, name)) return std::string(name) + " is a function of the module " + of + ": " + of + "." + std::string(name) + "(x)";
  std::vector<std::string_view> functions;
  for (const auto& [function, row] : runtime.builtins) functions.push_back(function);
  return suggestion(name, functions);
}

std::string field_hint(Context& context, Borrowed base, std::string_view name) {
  if (base.is_nil()) return "?. gives nil instead";
  if (base.is(Tag::Ref)) return "what a ref holds is its field 'value'";
  const bool is_text = base.is_string();  // of which `contains` is a function of a module
  const bool has_foreign = base.is_list() || base.is_range() || base.is_map() || (is_text && name != "contains");
  if (const char* hint = foreign_method_hint(name); has_foreign && *hint) return hint;
  if (base.is_map()) return "a map is read with m[key]; a record has fields";
  if (context.runtime.builtins.contains(name)) {
    return std::string(name) + " is a function: x." + std::string(name) + "() calls it";
  }
  // What has no fields was meant for a function.
  const bool is_plain = is_text || base.is_number() || base.is_list() || base.is_range();
  return is_plain ? function_hint(context.runtime, base, name) : "";
}

}  // namespace

Value raise_no_field(Context& context, Borrowed base, std::string_view name) {
  std::string message = "no field '" + std::string(name) + "' in ";
  std::string hint;
  if (base.is_record() || base.is_variant()) {
    const Shape& shape = *shape_of(context.heap, base.as<Record>());
    message += fields_text(shape);
    std::vector<std::string_view> candidates;
    for (const Symbol* field : shape.fields) candidates.push_back(field->text);
    hint = suggestion(name, candidates);
  } else {
    message += base.is_nil() ? "nil" : kind_and_value(context, base);
  }
  if (hint.empty()) hint = field_hint(context, base, name);
  return context.raise(ErrorCode::NoField, std::move(message), std::move(hint));
}

Value raise_not_iterable(Context& context, Borrowed v) {
  const char* hint = "a list, range, map, string, channel or generator can be iterated over";
  if (v.is_int()) hint = "0..n counts up to an int";
  if (v.is_nil()) hint = "give a default with ??, for instance []";
  return context.raise(ErrorCode::WrongOperands,
                       "cannot iterate over " + kind_and_value(context, v), hint);
}

Value raise_not_a_function(Context& context, Borrowed v) {
  return context.raise_of_callee(ErrorCode::NotAFunction, brief(v) + " is not a function",
                                 "only functions can be called; this is " + type_text(context, v));
}

}  // namespace posset::interp
