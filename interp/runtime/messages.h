// The errors that operators, places and built-ins raise alike, each worded in one function. All
// give Failed; values are shown through `brief`. What a message must hold is in language.md
// section 10.
#pragma once

#include <string>
#include <string_view>

#include "interp/runtime/context.h"
#include "interp/runtime/ops.h"
#include "interp/value/print.h"

namespace posset::interp {

// "int (1)": the kind and the value itself, as "got ..." and the like want it.
std::string kind_and_value(Context& context, Borrowed v);

// "cannot add int and str (1 + "a")"
Value raise_operands(Context& context, BinaryOp op, Borrowed left, Borrowed right);
// "int overflow in A op B"; `raise_overflow_in` for what is written otherwise
// ("abs(-9223372036854775808)")
Value raise_overflow(Context& context, BinaryOp op, int64_t a, int64_t b);
Value raise_overflow_in(Context& context, const std::string& expression);
// "cannot compare int and str (1 < "a")"; `inner_*` are what could not be compared inside of them
Value raise_not_comparable(Context& context, std::string_view between, Borrowed left,
                           Borrowed right, Borrowed inner_left, Borrowed inner_right);

// "argument 'n' of f: expected int, got str"; where it starts the function is to blame its caller (Context::blame_caller)
Value raise_argument_type(Context& context, const syntax::FunctionDecl& function, uint32_t parameter, const syntax::TypeExpr& type,
                          Borrowed v);
// "the result of f: expected int, got str"
Value raise_result_type(Context& context, const syntax::FunctionDecl& function, const syntax::TypeExpr& type, Borrowed v);
// "variable 'n': expected int, got str"; `site`: of the pattern in `function`, which is named only if it is a name
Value raise_variable_type(Context& context, const syntax::FunctionDecl& function, uint32_t site, const syntax::TypeExpr& type,
                          Borrowed v);
// "Circle's field 'r': expected float, got str"
Value raise_field_type(Context& context, std::string_view constructor, std::string_view field, const syntax::TypeExpr& type,
                       Borrowed v);

// "index 5 is out of range for a list of 3"
Value raise_index(Context& context, int64_t index, const char* kind, uint64_t size);
// "index of a list: expected int, got str ("a")"
Value raise_index_kind(Context& context, const char* kind, Borrowed index, const char* expected);
// "key "x" not found"
Value raise_key_not_found(Context& context, const Map* map, Borrowed key);
// "cannot use fn as a map key", or about NaN; `key` is known not to be valid.
Value raise_key_kind(Context& context, Borrowed key);
// "no field 'z' in {x, y}"
Value raise_no_field(Context& context, Borrowed base, std::string_view name);
// "cannot iterate over int (5)"
Value raise_not_iterable(Context& context, Borrowed v);
// "5 is not a function"
Value raise_not_a_function(Context& context, Borrowed v);

inline bool is_callable(Borrowed v) {
  return v.is(Tag::Fn) || v.is(Tag::Builtin) || v.is(Tag::Constructor) || is_bound_method(v);
}

}  // namespace posset::interp
