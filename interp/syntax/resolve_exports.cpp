// What a module shows to others: the exports of script modules and built-in ones, and the names
// earlier inputs of a session have declared. Tables are made on first use and kept for one
// `resolve`.
#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

Link module_link(const ImportDecl& import) {
  Link link;
  link.kind = Link::Kind::Module;
  link.name = import.alias;
  if (import.builtin) {
    link.owner = import.path;
  } else {
    link.module = import.module;
  }
  return link;
}

bool is_broken(const ImportDecl& import) { return !import.builtin && import.module == nullptr; }

namespace {

Meaning linked(const Link& link) {
  Meaning meaning;
  meaning.kind = Meaning::Kind::Linked;
  meaning.link = link;
  return meaning;
}

Meaning meaning_of(const Export& entry, const Module& module) {
  Link link;
  link.name = entry.name;
  link.module =
      const_cast<Module*>(&module);  // Link points at what it names; nothing here changes it
  link.index = entry.index;
  switch (entry.kind) {
    case Export::Kind::Function:
      link.kind = Link::Kind::Function;
      link.function = entry.function;
      return linked(link);
    case Export::Kind::Constructor:
      link.kind = Link::Kind::Constructor;
      link.type = entry.type;
      return linked(link);
    case Export::Kind::Type:
      return {};
    case Export::Kind::Global:
      break;
  }
  link.kind = Link::Kind::Global;
  Meaning meaning = linked(link);
  meaning.unset = true;  // the import's statement may not have run yet
  if (entry.constant) {
    meaning.kind = Meaning::Kind::Constant;
    meaning.constant = entry.constant;
  }
  return meaning;
}

}  // namespace

Meaning builtin_export(NameEnvironment& environment, const Link& module, Text name) {
  const auto* found = environment.builtin_export(module.owner, name);
  if (!found) return {};
  Link link;
  link.kind = Link::Kind::BuiltinExport;
  link.name = name;
  link.owner = module.owner;
  Meaning meaning = linked(link);
  if (found->is_function) meaning.info = &found->info;
  return meaning;
}

const World::Table& World::exports_of(const Module& module) {
  const auto [entry, inserted] = exports_.try_emplace(&module);
  Table& table = entry->second;
  if (!inserted) return table;
  for (const Export& each : module.exports) {
    if (each.kind == Export::Kind::Type) {
      table.types[each.name] = each.type;
    } else {
      table.values[each.name] = meaning_of(each, module);
    }
  }
  return table;
}

Meaning World::exported_value(const Link& module, Text name) {
  if (!module.module) return builtin_export(environment, module, name);
  const Table& table = exports_of(*module.module);
  const auto found = table.values.find(name);
  if (found != table.values.end()) return found->second;
  Meaning nothing;
  // A module with errors may have lost exports; it has been reported already.
  if (module.module->resolution == Module::Resolution::Failed) nothing.kind = Meaning::Kind::Broken;
  return nothing;
}

TypeDecl* World::exported_type(const Link& module, Text name) {
  if (!module.module) return nullptr;
  const Table& table = exports_of(*module.module);
  const auto found = table.types.find(name);
  return found == table.types.end() ? nullptr : found->second;
}

std::vector<Text> World::export_names(const Link& module) {
  if (!module.module) return environment.builtin_exports(module.owner);
  std::vector<Text> names;
  for (const Export& each : module.module->exports) names.push_back(each.name);
  return names;
}

// ---- sessions ----

// Later inputs overwrite what earlier ones said, and within one input variables overwrite fns.
void World::add_input(const Module& input) {
  Table& table = session_table_;
  for (const ImportDecl* import : input.imports) {
    if (is_broken(*import)) continue;
    const Link module = module_link(*import);
    if (import->names.empty()) table.values[import->alias] = linked(module);
    for (const ImportName& imported : import->names) {
      const Text alias = imported.alias.empty() ? imported.name : imported.alias;
      const Meaning meaning = exported_value(module, imported.name);
      if (meaning.kind != Meaning::Kind::Nothing) table.values[alias] = meaning;
      if (TypeDecl* type = exported_type(module, imported.name)) table.types[alias] = type;
    }
  }
  for (TypeDecl* type : input.types) {
    table.types[type->name] = type;
    for (uint32_t i = 0; i < type->constructors.size(); ++i) {
      Export entry{.kind = Export::Kind::Constructor,
                   .name = type->constructors[i].name,
                   .type = type,
                   .index = i};
      table.values[entry.name] = meaning_of(entry, input);
    }
  }
  for (FunctionDecl* function : input.functions) {
    Export entry{.kind = Export::Kind::Function, .name = function->name, .function = function};
    table.values[entry.name] = meaning_of(entry, input);
  }
  for (uint32_t i = 0; i < input.global_names.size(); ++i) {
    Export entry{.kind = Export::Kind::Global, .name = input.global_names[i], .index = i};
    table.values[entry.name] = meaning_of(entry, input);
  }
  for (const SessionVariable& variable : input.session_variables) {
    if (variable.module != &input) continue;
    // Its own global was entered just now as if it were a let's; a later let of the name stays.
    Meaning& meaning = table.values[variable.name];
    if (meaning.link.module == &input && meaning.link.index == variable.global) {
      meaning.kind = Meaning::Kind::ModuleVar;
    }
  }
}

const World::Table& World::session_table() {
  if (!session_read_ && session) {
    for (const auto& input : session->inputs) {
      if (input->resolution != Module::Resolution::Failed) add_input(*input);
    }
  }
  session_read_ = true;
  return session_table_;
}

Meaning World::session_value(Text name) {
  const Table& table = session_table();
  const auto found = table.values.find(name);
  return found == table.values.end() ? Meaning() : found->second;
}

TypeDecl* World::session_type(Text name) {
  const Table& table = session_table();
  const auto found = table.types.find(name);
  return found == table.types.end() ? nullptr : found->second;
}

std::vector<SessionVariable> World::session_vars() {
  std::vector<SessionVariable> vars;
  for (const auto& [name, meaning] : session_table().values) {
    if (meaning.kind != Meaning::Kind::ModuleVar) continue;
    vars.push_back({.name = name, .module = meaning.link.module, .global = meaning.link.index});
  }
  return vars;
}

std::vector<Text> World::session_names() {
  std::vector<Text> names;
  for (const auto& entry : session_table().values) names.push_back(entry.first);
  return names;
}

}  // namespace posset::syntax
