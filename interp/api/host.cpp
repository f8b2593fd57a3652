// Types and objects of the host. What they mean to scripts is in interp/runtime/host_object.h.
//
// A type is put together aside and joins the runtime when all of it is good, so a registration that fails leaves
// nothing. Its texts are copied into it; descriptors of accessors and methods point there.
#include <algorithm>

#include "interp/api/handles.h"
#include "interp/api/misuse.h"
#include "interp/runtime/builtins.h"

using posset::api::Entry;
using posset::api::Evaluation;
using posset::api::in;
using posset::api::is_identifier;
using posset::interp::Borrowed;
using posset::interp::HostClass;
using posset::interp::HostMember;
using posset::interp::HostObject;
using posset::interp::NativeFunction;
using posset::interp::Tag;
using posset::interp::Value;

namespace {

const HostClass* class_of(const posset_type* type) { return reinterpret_cast<const HostClass*>(type); }
const posset_type* type_of(const HostClass* type) { return reinterpret_cast<const posset_type*>(type); }

bool is_object(Borrowed v) { return v.is(Tag::Host) && !is_bound_method(v); }

// A registration on its way. What it has made so far goes with it unless it is taken over. The type stands where it stays, the
// last of the runtime's: moving one may fail in the middle.
struct Registration {
  explicit Registration(posset_runtime& runtime) : runtime(runtime) {}
  ~Registration() {
    if (!is_kept) runtime.state.host_types.types.pop_back();
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  posset_runtime& runtime;
  HostClass& type = runtime.state.host_types.types.emplace_back();
  std::deque<posset::api::RowData> rows;
  bool is_kept = false;

  const char* keep(const char* text) { return type.texts.emplace_back(text).c_str(); }
  NativeFunction descriptor(posset_function_row row) {
    row.name = keep(row.name);
    row.signature = keep(row.signature);
    row.doc = keep(row.doc);
    auto& data = rows.emplace_back(posset::api::RowData{row.function, row.data});
    NativeFunction made = posset::api::descriptor_of(row, "", &data);
    made.is_host = true;
    return made;
  }
  posset_status add_properties(const posset_type_row& row);
  posset_status add_methods(const posset_type_row& row);
};

bool read_property(const void* at, size_t size, posset_property_row& read) {
  constexpr size_t kLeast = offsetof(posset_property_row, data);
  if (!at || size < kLeast) return false;
  read = posset_property_row();
  std::memcpy(static_cast<void*>(&read), at, std::min(size, sizeof read));
  return read.name && read.doc && read.get && is_identifier(read.name) && !(read.pure && read.set);
}

posset_status Registration::add_properties(const posset_type_row& row) {
  const char* at = reinterpret_cast<const char*>(row.properties);
  for (size_t i = 0; i < row.property_count; ++i, at += row.property_size) {
    posset_property_row read;
    if (!read_property(at, row.property_size, read)) return POSSET_MISUSE;
    auto [member, inserted] = type.members.try_emplace(read.name);
    if (!inserted) return POSSET_EXISTS;
    posset_function_row accessor = {};
    accessor.name = accessor.signature = read.name;
    accessor.doc = read.doc;
    accessor.data = read.data;
    accessor.function = read.get;
    accessor.pure = read.pure;
    member->second.get = descriptor(accessor);
    if (!read.set) continue;
    accessor.function = read.set;
    accessor.min_arguments = accessor.max_arguments = 1;
    const std::string signature = std::string(read.name) + "(value)";
    accessor.signature = signature.c_str();
    member->second.set = descriptor(accessor);
  }
  return POSSET_OK;
}

posset_status Registration::add_methods(const posset_type_row& row) {
  const char* at = reinterpret_cast<const char*>(row.methods);
  for (size_t i = 0; i < row.method_count; ++i, at += row.method_size) {
    posset_function_row read;
    if (!posset::api::read_row(at, row.method_size, read)) return POSSET_MISUSE;
    if (runtime.state.builtins.contains(read.name)) return POSSET_EXISTS;
    auto [member, inserted] = type.members.try_emplace(read.name);
    if (!inserted) return POSSET_EXISTS;
    member->second.method = descriptor(read);
  }
  return POSSET_OK;
}

posset_status fill(Registration& made, const posset_type_row& row) {
  const auto& types = made.runtime.state.host_types;
  if (types.find(std::string_view(row.name)) || (row.key && types.find(row.key))) return POSSET_EXISTS;
  made.type.name = row.name;
  made.type.doc = row.doc;
  made.type.key = row.key;
  made.type.label = row.label;
  const posset_status status = made.add_properties(row);
  return status == POSSET_OK ? made.add_methods(row) : status;
}

const HostClass* take_over(Registration& made, const posset_type_row& row) {
  posset_runtime& runtime = made.runtime;
  HostClass& type = made.type;
  type.pure = std::all_of(type.members.begin(), type.members.end(), [](const auto& each) { return each.second.is_pure(); });
  auto names = runtime.state.host_types.members;  // the whole, or, should that fail, nothing
  for (const auto& [name, member] : type.members) {
    auto& named = names[name];
    named.writable = named.writable || member.set.entry != nullptr;
    named.pure = named.pure && member.is_pure();
  }
  runtime.type_data.reserve(runtime.type_data.size() + 1);
  runtime.type_rows.push_back(std::move(made.rows));  // elements of a deque stay where they are
  // From here on nothing fails.
  if (row.drop) runtime.type_data.emplace_back(row.data, row.drop);
  runtime.state.host_types.members.swap(names);
  made.is_kept = true;
  return &type;
}

posset_status register_type(posset_runtime* runtime, const posset_type_row& row, const posset_type** out) {
  if (!runtime || runtime->closed || !row.name || !row.doc || !is_identifier(row.name)) return POSSET_MISUSE;
  if ((row.property_count && !row.properties) || (row.method_count && !row.methods)) return POSSET_MISUSE;
  Registration made(*runtime);
  const posset_status status = fill(made, row);
  if (status != POSSET_OK) return status;
  const HostClass* kept = take_over(made, row);
  if (out) *out = type_of(kept);
  return POSSET_OK;
}

posset_member_info info_of(const std::string& name, const HostMember& member) {
  const NativeFunction& function = member.is_method() ? member.method : member.get;
  posset_member_info info = {};
  info.name = posset::api::text(name);
  info.signature = posset_text_of(function.signature);
  info.doc = posset_text_of(function.doc);
  info.is_method = member.is_method();
  info.is_writable = member.set.entry != nullptr;
  info.is_pure = member.is_pure();
  return info;
}

bool has_type(const posset_runtime& runtime, const posset_type* type) {
  const auto& types = runtime.state.host_types.types;
  return std::any_of(types.begin(), types.end(), [&](const HostClass& each) { return &each == class_of(type); });
}

}  // namespace

extern "C" {

// ---- types ----

posset_status posset_register_type(posset_runtime* runtime, const posset_type_row* row,
                                   const posset_type** out) {
  posset_type_row read = posset_type_of(nullptr);
  if (!row || !posset::api::read_struct(row, read)) return POSSET_MISUSE;
  posset_status status = POSSET_NO_MEMORY;
  try {
    status = register_type(runtime, read, out);
  } catch (const std::bad_alloc&) {
  }
  if (status != POSSET_OK && read.drop) read.drop(read.data);
  return status;
}

posset_status posset_find_type(posset_runtime* runtime, const void* key, const posset_type** out) {
  if (!runtime || !key || !out) return POSSET_MISUSE;
  const HostClass* found = runtime->state.host_types.find(key);
  if (!found) return POSSET_NOT_FOUND;
  *out = type_of(found);
  return POSSET_OK;
}

posset_text posset_type_text(const posset_type* type) {
  return type ? posset::api::text(class_of(type)->name) : posset_text_n(nullptr, 0);
}

const void* posset_type_key(const posset_type* type) { return type ? class_of(type)->key : nullptr; }

posset_status posset_each_member(const posset_type* type, posset_visit_member visit, void* data) {
  if (!type || !visit) return POSSET_MISUSE;
  std::vector<posset_member_info> all;
  for (const auto& [name, member] : class_of(type)->members) all.push_back(info_of(name, member));
  std::sort(all.begin(), all.end(), [](const posset_member_info& a, const posset_member_info& b) {
    return posset::api::view(a.name) < posset::api::view(b.name);
  });
  posset_status result = POSSET_OK;
  for (const posset_member_info& info : all) {
    if (!posset::api::goes_on(visit(data, &info), result)) break;
  }
  return result;
}

// ---- objects ----

posset_status posset_host(posset_context* context, const posset_type* type, const posset_object* given,
                          posset_value* out) {
  posset_object object = posset_object_of(nullptr);
  if (!given || !posset::api::read_struct(given, object)) return POSSET_MISUSE;
  posset_status status = POSSET_MISUSE;
  HostObject* made = nullptr;
  if (type && object.pointer && out) {
    Evaluation evaluation(context);
    status = evaluation.status();
    if (status == POSSET_OK && !has_type(*context->owner, type)) status = posset::api::misuse(context, "a type of another runtime");
    if (status == POSSET_OK) {
      made = new_host_object(*context, class_of(type), object.pointer, object.bytes);
      status = posset::api::ok_or_limit(context, made != nullptr);
    }
  }
  if (!made) {
    if (object.drop) object.drop(object.data);
    return status;
  }
  made->drop = object.drop;
  made->data = object.data;
  *out = posset::api::out(Borrowed::heap(Tag::Host, made));
  return POSSET_OK;
}

void* posset_host_pointer(posset_value value, const posset_type* type) {
  const Borrowed v = in(value);
  if (!is_object(v) || v.as<HostObject>()->type != class_of(type)) return nullptr;
  return v.as<HostObject>()->pointer;
}

const posset_type* posset_host_type(posset_value value) {
  return is_object(in(value)) ? type_of(in(value).as<HostObject>()->type) : nullptr;
}

posset_status posset_host_close(posset_context* context, posset_value value) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  if (!is_object(in(value))) return POSSET_NOT_FOUND;
  if (posset::api::is_foreign(context, in(value))) return POSSET_MISUSE;
  close_host_object(in(value).as<HostObject>());
  return POSSET_OK;
}

posset_status posset_want_host(posset_call* call, uint32_t i, const posset_type* type, void** out) {
  if (!call || !type || !out) return POSSET_MISUSE;
  *out = posset_host_pointer(posset_argument(call, i), type);
  if (*out) return POSSET_OK;
  const std::string& name = class_of(type)->name;
  if (posset_host_type(posset_argument(call, i)) == type)
    return posset_raise_argument(call, POSSET_ERROR_HostError, i, posset::api::text("this " + name + " is closed"));
  return posset_raise_kind(call, i, name.c_str());
}

}  // extern "C"
