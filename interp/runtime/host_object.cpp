// Objects of the host: their lives, properties and methods. See host_object.h.
#include "interp/runtime/host_object.h"

#include "interp/runtime/call.h"
#include "interp/runtime/messages.h"
#include "interp/syntax/diagnostic.h"
#include "interp/syntax/utf8.h"

namespace posset::interp {

const HostClass* HostTypes::find(const void* key) const {
  for (const HostClass& type : types) {
    if (type.key == key) return &type;
  }
  return nullptr;
}

const HostClass* HostTypes::find(std::string_view name) const {
  for (const HostClass& type : types) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

// ---- life ----

namespace {

template <class Object>
Object* new_object(Context& context, const HostClass* type, void* pointer, size_t bytes, uint8_t flags) {
  if (!context.heap.charge(bytes)) return nullptr;
  auto* object = context.heap.make<Object>(Tag::Host, sizeof(Object), flags);
  if (!object) {
    context.heap.discharge(bytes);
    return nullptr;
  }
  object->type = type;
  object->pointer = pointer;
  object->drop = nullptr;
  object->data = nullptr;
  object->bytes = bytes;
  object->next = context.host_objects;
  object->link = &context.host_objects;
  if (object->next) object->next->link = &object->next;
  context.host_objects = object;
  return object;
}

}  // namespace

HostObject* new_host_object(Context& context, const HostClass* type, void* pointer, size_t bytes) {
  return new_object<HostObject>(context, type, pointer, bytes, 0);
}

HoldingObject* new_holding_object(Context& context, const HostClass* type, void* pointer, size_t bytes) {
  auto* object = new_object<HoldingObject>(context, type, pointer, bytes, HostObject::kHolds);
  if (object) object->held = Borrowed::nil();
  return object;
}

// Out of the list and closed before the host hears of it: whatever its function does finds it so.
void close_host_object(HostObject* object) {
  if (!object->link) return;
  *object->link = object->next;
  if (object->next) object->next->link = object->link;
  object->link = nullptr;
  object->pointer = nullptr;
  Heap& heap = Heap::heap_of(object);
  heap.discharge(std::exchange(object->bytes, 0));
  const bool outer = std::exchange(heap.in_accessor, true);
  if (object->drop) object->drop(object->data);
  heap.in_accessor = outer;
}

void destroy_host_object(HostObject* object) { close_host_object(object); }

void close_all_host_objects(Context& context) {
  while (context.host_objects) close_host_object(context.host_objects);
}

// ---- names ----

std::string_view type_name_of_host_object(Borrowed v) {
  return is_bound_method(v) ? std::string_view("fn") : std::string_view(v.as<HostObject>()->type->name);
}

namespace {

// Is that the beginning of a scalar, and no more?
bool is_cut_scalar(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes[0]);
  const size_t whole = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  return bytes.size() < whole && std::all_of(bytes.begin() + 1, bytes.end(), syntax::is_continuation_byte);
}

// The host may write anything, and str(x) makes a string of it. What its last scalar lacks where the label is full goes, other
// bytes that are no UTF-8 become U+FFFD.
std::string text_of_label(std::string_view bytes, bool is_full) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    const syntax::Scalar scalar = syntax::decode_utf8(bytes, at);
    if (!scalar.valid && is_full && is_cut_scalar(bytes.substr(at))) break;
    syntax::append_utf8(text, scalar.value);
    at += scalar.length;
  }
  return text;
}

}  // namespace

std::string name_of_host_object(Borrowed v) {
  if (is_bound_method(v)) return std::string("fn ") + method_of(v)->name;
  const auto* object = v.as<HostObject>();
  std::string name = object->type->name;
  if (!object->pointer) return name + " (closed)";
  if (!object->type->label) return name;
  char label[128];
  const size_t size = object->type->label(object->pointer, label, sizeof label);
  if (size == 0) return name;
  return name + " " + text_of_label({label, std::min(size, sizeof label)}, size >= sizeof label);
}

// ---- members ----

namespace {

Value raise_no_member(Context& context, Borrowed v, std::string_view name) {
  const HostClass& type = *v.as<HostObject>()->type;
  std::vector<std::string_view> names;
  for (const auto& [each, member] : type.members) names.push_back(each);
  for (const NativeFunction& each : type.methods) names.push_back(each.name);
  const std::string_view near = syntax::did_you_mean(name, names);
  return context.raise(ErrorCode::NoField, "no field '" + std::string(name) + "' in " + type.name,
                       near.empty() ? std::string() : "did you mean '" + std::string(near) + "'?");
}

const NativeFunction* find_row(Borrowed v, std::string_view name) {
  const auto* object = v.as<HostObject>();
  if (is_bound_method(v) || !object->pointer) return nullptr;
  for (const NativeFunction& each : object->type->methods) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

// Null: raised.
const HostMember* find_member(Context& context, Borrowed v, std::string_view name) {
  const auto* object = v.as<HostObject>();
  if (is_bound_method(v)) {
    raise_no_field(context, v, name);
    return nullptr;
  }
  if (!object->pointer) {
    context.raise(ErrorCode::HostError, "this " + object->type->name + " is closed: it has no '" +
                                            std::string(name) + "' any more");
    return nullptr;
  }
  const auto found = object->type->members.find(std::string(name));
  if (found != object->type->members.end()) return &found->second;
  raise_no_member(context, v, name);
  return nullptr;
}

// A function of the host that may neither run scripts nor change what they see. The object stays: it may be
// the last to hold itself.
Value run_accessor(Context& context, const NativeFunction& function, Borrowed object, Borrowed* arguments,
                   uint32_t count) {
  const Value held = Value::copy(object);
  NativeCall call{context, arguments, count, &function, object};
  const bool outer = std::exchange(context.heap.in_accessor, true);
  Value result = context.native.low() ? context.on_fresh_stack([&] { return function.entry(call); })
                                      : function.entry(call);
  context.heap.in_accessor = outer;
  return result;
}

}  // namespace

Value load_member(Context& context, Borrowed object, std::string_view name) {
  if (const NativeFunction* row = find_row(object, name)) return bind_method(context, *row, Value::copy(object));
  const HostMember* member = find_member(context, object, name);
  if (!member) return Value::failure();
  if (member->is_method()) return bind_method(context, member->method, Value::copy(object));
  return run_accessor(context, member->get, object, nullptr, 0);
}

bool store_member(Context& context, Borrowed object, std::string_view name, Value v) {
  if (find_row(object, name)) {
    context.raise(ErrorCode::CannotAssign, "cannot assign to '" + std::string(name) + "' of " +
                                               object.as<HostObject>()->type->name + ": it is a method");
    return false;
  }
  const HostMember* member = find_member(context, object, name);
  if (!member) return false;
  if (!member->set.entry) {
    const std::string& type = object.as<HostObject>()->type->name;
    context.raise(ErrorCode::CannotAssign, "cannot assign to '" + std::string(name) + "' of " + type + ": it is " +
                                               (member->is_method() ? "a method" : "read-only"));
    return false;
  }
  Borrowed argument = v.take();
  const Value result = run_accessor(context, member->set, object, &argument, 1);
  release(argument);
  return !result.failed();
}

void raise_inside_property(Context& context, Borrowed object, std::string_view name) {
  const HostMember* member = find_member(context, object, name);
  if (!member) return;
  const std::string field(name);
  context.raise(ErrorCode::CannotAssign,
                "cannot change a part of '" + field + "' of " + object.as<HostObject>()->type->name +
                    ", which is a value that the host gives",
                "change a copy and store it: `var v = x." + field + "`, then `x." + field + " = v`");
}

// ---- methods ----

Value bind_method(Context& context, const NativeFunction& function, Value receiver) {
  auto* bound = context.heap.make<BoundMethod>(Tag::Host, sizeof(BoundMethod), HostObject::kMethod);
  if (!bound) return context.raise_memory_limit();
  bound->type = receiver->is(Tag::Host) ? receiver->as<HostObject>()->type : nullptr;
  bound->function = &function;
  bound->receiver = receiver.take();
  return Value::adopt(Borrowed::heap(Tag::Host, bound));
}

Value call_method(Context& context, Borrowed method, Borrowed* base, uint32_t count) {
  const Value held = Value::copy(method.as<BoundMethod>()->receiver);
  if (held->is(Tag::Chan)) return call_native(context, method_of(method), base, count, held);
  const auto* object = held->as<HostObject>();
  if (object->pointer) return call_native(context, method_of(method), base, count, held);
  const uint64_t lent = method_of(method)->inout_mask;
  for (uint32_t i = 0; i < count; ++i) {
    if (i >= 64 || !(lent >> i & 1)) release(base[i]);
  }
  return context.raise(ErrorCode::HostError, "this " + object->type->name + " is closed: it has no '" +
                                                 std::string(method_of(method)->name) + "' any more");
}

}  // namespace posset::interp
