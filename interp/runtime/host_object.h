// Objects of the host that scripts hold: what a type of them has, reading and storing properties, methods.
//
// A host object is a handle with identity, like a ref: copying one copies no more than the handle, and two
// handles are equal when they stand for one object of the host. Its properties are read and written through
// functions of the host. These *accessors* may make values and raise, but run no script and change nothing a
// script sees (the heap says that one is running, and the interface refuses): so reading a field stays an
// instruction that runs no code, in every tier, and views live across it. A *method* is a function like any
// other; `x.f` where f is one gives a function value that holds x.
//
// Every object is in the list of its context, so that the host gets each back once: when the last reference
// goes, when the host closes it, or when the context ends.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "interp/runtime/native.h"
#include "interp/value/objects.h"

namespace posset::interp {

class Context;
struct Symbol;

// A property (`get`, perhaps `set`) or a method. An entry that is null: there is none.
struct HostMember {
  NativeFunction get, set, method;
  bool is_method() const { return method.entry != nullptr; }
  bool is_pure() const { return is_method() ? method.pure : get.pure; }
};

// Lives as long as the runtime. Handles of the core's own (graphs) are of classes that have methods only, as rows, which the
// resolver need not know of: a call of a method is never pure.
struct HostClass {
  std::string name, doc;
  const void* key = nullptr;  // by which the host finds it again
  // What `<Player ...>` prints behind the name, at most `capacity` bytes; null: nothing.
  size_t (*label)(const void* pointer, char* out, size_t capacity) = nullptr;
  std::unordered_map<std::string, HostMember> members;
  std::span<const NativeFunction> methods = {};
  std::deque<std::string> texts = {};  // what the members' descriptors point to
  bool pure = false;                   // all members are: what a script sees of an object never changes
};

// All types of a runtime, and the names of their members: the resolver asks for these.
struct HostTypes {
  std::deque<HostClass> types;
  // What some type's member of that name may be: stored to; and what all are: pure.
  struct Named {
    bool writable = false, pure = true;
  };
  std::unordered_map<std::string_view, Named> members;

  bool has_member(std::string_view name) const { return !members.empty() && members.contains(name); }
  bool has_impure_member(std::string_view name) const {
    if (members.empty()) return false;
    const auto found = members.find(name);
    return found != members.end() && !found->second.pure;
  }
  bool has_property_to_set(std::string_view name) const {
    if (members.empty()) return false;
    const auto found = members.find(name);
    return found != members.end() && found->second.writable;
  }
  const HostClass* find(const void* key) const;
  const HostClass* find(std::string_view name) const;
};

// A new object, in the context's list. Null: no memory, nothing was charged and nothing is dropped.
HostObject* new_host_object(Context& context, const HostClass* type, void* pointer, size_t bytes);
HoldingObject* new_holding_object(Context& context, const HostClass* type, void* pointer, size_t bytes);
// Gives the host its own back, now; afterwards the object is closed, and using it raises.
void close_host_object(HostObject* object);
void destroy_host_object(HostObject* object);  // the heap's hook
// The objects that are still there when a context ends.
void close_all_host_objects(Context& context);

// x.name of a host object: the property's value, or the method as a function.
Value load_member(Context& context, Borrowed object, std::string_view name);
// x.name = v. False: raised.
bool store_member(Context& context, Borrowed object, std::string_view name, Value v);
// A place inside what a property gives has no address. Raises.
void raise_inside_property(Context& context, Borrowed object, std::string_view name);

// A function value made of a method, and of a host object or a channel.
Value bind_method(Context& context, const NativeFunction& function, Value receiver);
inline bool is_bound_method(Borrowed v) { return v.is(Tag::Host) && (v.object()->flags & HostObject::kMethod); }
inline const NativeFunction* method_of(Borrowed v) { return v.as<BoundMethod>()->function; }
Value call_method(Context& context, Borrowed method, Borrowed* base, uint32_t count);

std::string name_of_host_object(Borrowed v);  // for printing
std::string_view type_name_of_host_object(Borrowed v);

}  // namespace posset::interp
