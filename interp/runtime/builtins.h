// The functions that are always in scope. `builtins.def` is their table; the entries are grouped in
// builtins_*.cpp. How they are charged is in work.h. Messages name the argument: "argument xs of
// push(&xs, x): expected list, got int (5)". The order in which arguments are looked at is left to
// right.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "interp/runtime/call.h"
#include "interp/runtime/context.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/native.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/work.h"

namespace posset::interp {

// Fills RuntimeState::builtins. The descriptors are static and outlive every runtime.
void register_builtins(RuntimeState& runtime);
void register_task_module(RuntimeState& runtime);      // builtins_tasks.cpp
void register_fixpoint_module(RuntimeState& runtime);  // builtins_fixpoint.cpp
void register_graph_module(RuntimeState& runtime);     // builtins_graph.cpp

// A row of a module that belongs to the core; none of them is pure.
constexpr NativeFunction module_function(const char* module, const char* name, const char* signature, const char* doc,
                                         NativeEntry entry, uint16_t least, uint16_t most) {
  NativeFunction made;
  made.name = name;
  made.signature = signature;
  made.doc = doc;
  made.entry = entry;
  made.min_arguments = least;
  made.max_arguments = most;
  made.pure = false;
  made.module = module;
  return made;
}
// The rows are static and outlive every runtime.
void register_module(RuntimeState& runtime, std::span<const NativeFunction> rows);

#define BUILTIN(name, signature, doc, min, max, inout, calls, pure, intrinsic) \
  Value builtin_##name(NativeCall& call);
#define INTERNAL(name, signature, min, max) Value builtin_##name(NativeCall& call);
#include "interp/runtime/builtins.def"
#undef INTERNAL
#undef BUILTIN

// For whoever calls a built-in by its name often: the number is found when that is compiled.
constexpr std::string_view kBuiltinNames[] = {
#define BUILTIN(name, signature, doc, min, max, inout, calls, pure, intrinsic) #name,
#define INTERNAL(...)
#include "interp/runtime/builtins.def"
#undef INTERNAL
#undef BUILTIN
};
consteval size_t builtin_number(std::string_view name) {
  size_t n = 0;
  while (kBuiltinNames[n] != name) ++n;  // past the end there is no constant
  return n;
}
const NativeFunction& builtin(size_t number);

// ---- what entries share ----

// Argument i is not what it should be: "argument xs of push(&xs, x): expected list, got int (5)".
Value raise_argument(const NativeCall& call, uint32_t i, const char* expected,
                     std::string hint = {});
// Argument i is of the right kind but cannot be used: code and words as given, after the argument's
// name.
Value raise_argument(const NativeCall& call, ErrorCode code, uint32_t i,
                     const std::string& problem);
// "pop of an empty list"
Value raise_empty(const NativeCall& call, const char* kind);

// Each gives false with the error raised.
bool want_int(const NativeCall& call, uint32_t i, int64_t& out);
bool want_number(const NativeCall& call, uint32_t i);
bool want_string(const NativeCall& call, uint32_t i);
bool want_list(const NativeCall& call, uint32_t i);
bool want_map(const NativeCall& call, uint32_t i);
bool want_function(const NativeCall& call, uint32_t i);
bool want_iterable(const NativeCall& call, uint32_t i);
// `f`, in argument i and called `what`, is known to be pure (is_pure_function): what calls a parameter or a field is not.
bool check_pure(const NativeCall& call, uint32_t i, Borrowed f, const char* what);
// A count of elements: an int that is not negative.
bool want_count(const NativeCall& call, uint32_t i, uint64_t& out);
// An index of an element among `size`.
bool want_index(const NativeCall& call, uint32_t i, uint64_t size, uint64_t& out);
// The inout list of the call as a unique object, a map likewise.
bool own_list_argument(NativeCall& call);
bool own_map_argument(NativeCall& call);

// Random access to what `for` takes: lists and ranges as they are, everything else gathered in a
// list first. Holds its own reference, so the value stays what it was while scripts run.
class Elements {
 public:
  Elements(Context& context, Borrowed iterable);
  bool ok() const { return !held_.failed(); }
  uint64_t size() const { return size_; }
  Value at(uint64_t i) const { return list_ ? list_copy(list_, i) : Value::integer(range_->at(i)); }
  Borrowed view(uint64_t i) const {
    return list_ ? list_get(list_, i) : Borrowed::integer(range_->at(i));
  }
  List* list() const { return list_; }           // null for a range
  const Range* range() const { return range_; }  // null for a list

 private:
  Value held_;
  List* list_ = nullptr;
  Range* range_ = nullptr;
  uint64_t size_ = 0;
};

// list(xs) for anything `for` takes.
Value list_of(Context& context, Borrowed iterable);

}  // namespace posset::interp
