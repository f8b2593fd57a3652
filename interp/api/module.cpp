// Registering modules, and enumerating what is built in.
#include <algorithm>

#include "interp/api/handles.h"

using posset::api::in;
using posset::api::out;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::NativeFunction;
using posset::interp::BuiltinModule;

namespace {

bool is_open(posset_runtime* runtime) { return runtime && !runtime->closed; }

posset_status register_row(posset_runtime* runtime, const char* module,
                           const posset_function_row& row) {
  auto& state = runtime->state;
  bool global = *module == 0;
  if (global ? state.builtins.contains(row.name) : state.modules[module].find(row.name) != nullptr)
    return POSSET_EXISTS;
  auto& data = runtime->rows.emplace_back(posset::api::RowData{row.function, row.data});
  const NativeFunction& made =
      runtime->functions.emplace_back(posset::api::descriptor_of(row, module, &data));
  if (global) {
    state.builtins[made.name] = &made;
  } else {
    state.modules[module].exports[made.name] = {
        .function = &made, .constant = Borrowed::nil(), .doc = made.doc};
  }
  return POSSET_OK;
}

posset_status register_value(posset_runtime* runtime, const char* module, const char* name,
                             Borrowed value, const char* doc) {
  if (!is_open(runtime) || !module || !*module || !name || !doc ||
      !posset::api::is_identifier(name)) {
    return POSSET_MISUSE;
  }
  auto [entry, inserted] = runtime->state.modules[module].exports.try_emplace(name);
  if (!inserted) return POSSET_EXISTS;
  entry->second = {.function = nullptr, .constant = value, .doc = doc};
  return POSSET_OK;
}

// `name` is the key of the table, which lives as long as the runtime.
posset_builtin_info constant_info(std::string_view module, std::string_view name,
                                  const BuiltinModule::Export& entry) {
  posset_builtin_info info = {};
  info.name = info.signature = posset::api::text(name);
  info.module = posset::api::text(module);
  info.doc = posset_text_of(entry.doc);
  info.pure = true;
  info.value = out(entry.constant);
  return info;
}

posset_builtin_info entry_info(std::string_view module, std::string_view name,
                               const BuiltinModule::Export& entry) {
  return entry.function ? posset::api::describe(*entry.function)
                        : constant_info(module, name, entry);
}

std::vector<std::string_view> module_names(const posset_runtime& runtime) {
  std::vector<std::string_view> names;
  for (auto& [name, entries] : runtime.state.modules) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<posset_builtin_info> all_builtins(const posset_runtime& runtime) {
  std::vector<posset_builtin_info> all;
  for (auto& [name, function] : runtime.state.builtins)
    all.push_back(posset::api::describe(*function));
  for (auto& [module, builtin] : runtime.state.modules) {
    for (auto& [name, entry] : builtin.exports) all.push_back(entry_info(module, name, entry));
  }
  std::sort(all.begin(), all.end(), [](const posset_builtin_info& a, const posset_builtin_info& b) {
    return std::pair(view(a.module), view(a.name)) < std::pair(view(b.module), view(b.name));
  });
  return all;
}

}  // namespace

namespace posset::api {

posset_builtin_info describe(const NativeFunction& function) {
  posset_builtin_info info = {};
  info.name = posset_text_of(function.name);
  info.module = posset_text_of(function.module);
  info.signature = posset_text_of(function.signature);
  info.doc = posset_text_of(function.doc);
  info.is_function = true;
  info.pure = function.pure;
  info.value = out(Borrowed::builtin(&function));
  return info;
}

}  // namespace posset::api

extern "C" {

posset_status posset_register_functions(posset_runtime* runtime, const char* module,
                                        const posset_function_row* rows, size_t count,
                                        size_t row_size) {
  if (!is_open(runtime) || (count != 0 && !rows)) return POSSET_MISUSE;
  const char* at = reinterpret_cast<const char*>(rows);
  for (size_t i = 0; i < count; ++i, at += row_size) {
    posset_function_row row;
    if (!posset::api::read_row(at, row_size, row)) return POSSET_MISUSE;
    const posset_status status =
        posset::api::or_no_memory([&] { return register_row(runtime, module ? module : "", row); });
    if (status != POSSET_OK) return status;
  }
  return POSSET_OK;
}

posset_status posset_register_constant(posset_runtime* runtime, const char* module,
                                       const char* name, posset_value value, const char* doc) {
  if (posset_kind_of(value) > POSSET_FLOAT) return POSSET_MISUSE;
  return posset::api::or_no_memory([&] { return register_value(runtime, module, name, in(value), doc); });
}

posset_status posset_register_text(posset_runtime* runtime, const char* module, const char* name,
                                   posset_text text, const char* doc) {
  if (!is_open(runtime) || !posset_is_utf8(text)) return POSSET_MISUSE;
  return posset::api::or_no_memory(
      [&] { return register_value(runtime, module, name, runtime->state.immortal_string(view(text)), doc); });
}

posset_status posset_each_builtin(posset_runtime* runtime, posset_visit_builtin visit, void* data) {
  if (!runtime || !visit) return POSSET_MISUSE;
  return posset::api::or_no_memory([&] {
    posset_status result = POSSET_OK;
    for (const posset_builtin_info& info : all_builtins(*runtime)) {
      if (!posset::api::goes_on(visit(data, &info), result)) break;
    }
    return result;
  });
}

posset_status posset_each_module(posset_runtime* runtime, posset_visit_name visit, void* data) {
  if (!runtime || !visit) return POSSET_MISUSE;
  return posset::api::or_no_memory([&] {
    posset_status result = POSSET_OK;
    for (std::string_view name : module_names(*runtime)) {
      if (!posset::api::goes_on(visit(data, posset::api::text(name)), result)) break;
    }
    return result;
  });
}

posset_status posset_find_builtin(posset_runtime* runtime, posset_text name,
                                  posset_builtin_info* info) {
  if (!runtime || !info) return POSSET_MISUSE;
  std::string_view whole = view(name);
  size_t dot = whole.find('.');
  if (dot == std::string_view::npos) {
    auto found = runtime->state.builtins.find(whole);
    if (found == runtime->state.builtins.end()) return POSSET_NOT_FOUND;
    *info = posset::api::describe(*found->second);
    return POSSET_OK;
  }
  auto module = runtime->state.modules.find(std::string(whole.substr(0, dot)));
  if (module == runtime->state.modules.end()) return POSSET_NOT_FOUND;
  auto entry = module->second.exports.find(std::string(whole.substr(dot + 1)));
  if (entry == module->second.exports.end()) return POSSET_NOT_FOUND;
  *info = entry_info(module->first, entry->first, entry->second);
  return POSSET_OK;
}

posset_status posset_each_host_function(posset_context* context, posset_visit_builtin visit,
                                        void* data) {
  posset::api::Entry entry(context);
  if (entry.failed()) return entry.status();
  if (!visit) return POSSET_MISUSE;
  std::vector<std::string_view> names;
  for (auto& [name, function] : context->host_functions) names.push_back(name);
  std::sort(names.begin(), names.end());
  posset_status result = POSSET_OK;
  for (std::string_view name : names) {
    posset_builtin_info info =
        posset::api::describe(*context->host_functions.at(std::string(name)));
    info.is_host = true;
    if (!posset::api::goes_on(visit(data, &info), result)) break;
  }
  return result;
}

}  // extern "C"
