// Loading and running programs, and evaluating expressions.
#include <algorithm>
#include <string>

#include "interp/api/handles.h"
#include "interp/api/misuse.h"

using posset::api::Entry;
using posset::api::Evaluation;
using posset::api::kMaxSource;
using posset::api::text;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::ModuleInstance;
using posset::interp::Value;
using posset::syntax::Diagnostics;
using posset::syntax::Export;
using posset::syntax::Module;

namespace {

std::shared_ptr<Module> load(posset_context* context, posset_text name, posset_text key,
                             posset_text source, posset_diagnostics** diagnostics) {
  Diagnostics found;
  auto made = make_source(*context, view(name), view(source));
  if (!made) return nullptr;
  auto tree = load_program(*context, std::move(made), std::string(view(key)), found, false);
  if (!context->error_pending()) posset::api::give_diagnostics(found, diagnostics);
  return tree;
}

// After a check: nothing of it stays.
void forget_unused_trees(posset_context* context) {
  std::erase_if(context->trees, [&](const auto& entry) {
    return !context->instances.contains(entry.second.get());
  });
}

posset_status run(posset_context* context, ModuleInstance* instance, posset_value* out) {
  return posset::api::guarded(
      context, [&] { return posset::api::give(posset::api::end_tasks(context, run_module(*context, instance)), out); });
}

Borrowed exported_value(const ModuleInstance& instance, const Export& entry) {
  switch (entry.kind) {
    case Export::Kind::Function:
      return instance.closures[entry.function->index];
    case Export::Kind::Global:
      return instance.globals[entry.index];
    case Export::Kind::Constructor:
      return instance.constructors[entry.type->index][entry.index];
    case Export::Kind::Type:
      break;
  }
  return Borrowed::unset();
}

// Unset: there is no such name, or it has no value yet.
Borrowed find_value(const ModuleInstance& instance, std::string_view name) {
  const Module& tree = *instance.tree;
  for (const Export& entry : tree.exports) {
    if (entry.name == name && entry.kind != Export::Kind::Type)
      return exported_value(instance, entry);
  }
  for (size_t i = 0; i < tree.functions.size(); ++i) {
    if (tree.functions[i]->name == name) return instance.closures[i];
  }
  for (size_t i = 0; i < tree.global_names.size(); ++i) {
    if (tree.global_names[i] == name) return instance.globals[i];
  }
  return Borrowed::unset();
}

bool has_name(const Module& tree, std::string_view name) {
  const auto is_it = [name](const auto& named) { return named == name; };
  return std::ranges::any_of(tree.exports, is_it, &Export::name) || std::ranges::any_of(tree.global_names, is_it);
}

posset_status no_value(posset_program* program, std::string_view name) {
  const std::string shown = "'" + std::string(name) + "'";
  const std::string file = "'" + program->tree->source->name() + "'";
  const std::string why = has_name(*program->tree, name) ? shown + " of " + file + " has no value: its statement has not run"
                                                         : file + " has no export or function " + shown;
  return posset::api::misuse(program->context, why, POSSET_NOT_FOUND);
}

}  // namespace

extern "C" {

posset_status posset_load(posset_context* context, const posset_source* given, posset_program** out,
                          posset_diagnostics** diagnostics) {
  posset_source source = {};
  if (diagnostics) *diagnostics = nullptr;
  if (!given || !posset::api::read_struct(given, source) || source.text.size > kMaxSource)
    return POSSET_MISUSE;
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (context->finished) return POSSET_MISUSE;
  return posset::api::guarded(context, [&] {
    auto tree = load(context, source.name, source.key, source.text, diagnostics);
    if (tree && out) {
      auto program = std::make_unique<posset_program>();
      program->context = context;
      program->tree = tree;
      program->instance = instantiate(*context, tree);
      *out = program.release();
    } else {
      forget_unused_trees(context);
    }
    return tree ? POSSET_OK : posset::api::not_loaded(context);
  });
}

posset_status posset_run(posset_program* program, posset_value* out) {
  if (out) *out = posset_nil();
  if (!program) return POSSET_MISUSE;
  Evaluation evaluation(program->context, Evaluation::Kind::Run);
  if (evaluation.failed()) return evaluation.status();
  if (program->context->finished) return POSSET_MISUSE;
  return run(program->context, program->instance, out);
}

posset_status posset_program_get(posset_program* program, posset_text name, posset_value* out) {
  if (!program) return POSSET_MISUSE;
  Entry entry(program->context);
  if (entry.failed()) return entry.status();
  if (program->context->finished) return POSSET_MISUSE;
  Borrowed found = find_value(*program->instance, view(name));
  if (found.is_unset()) return posset::api::or_no_memory([&] { return no_value(program, view(name)); });
  return posset::api::give(Value::copy(found), out);
}

void posset_program_free(posset_program* program) {
  std::unique_ptr<posset_program> owner(program);
  if (!program) return;
  Entry entry(program->context);
  // A program with a key may be imported by others, and stays with the context.
  if (entry.failed() || program->context->finished || !program->tree->key.empty()) return;
  posset::api::retire(program->context, program->instance);
}

posset_status posset_eval(posset_context* context, posset_text expression, posset_value* out,
                          posset_diagnostics** diagnostics) {
  if (out) *out = posset_nil();
  if (diagnostics) *diagnostics = nullptr;
  if (expression.size > kMaxSource) return POSSET_MISUSE;
  Evaluation evaluation(context, Evaluation::Kind::Run);
  if (evaluation.failed()) return evaluation.status();
  if (context->finished) return POSSET_MISUSE;
  return posset::api::guarded(context, [&] {
    auto tree = load(context, text("<eval>"), text(""), expression, diagnostics);
    if (!tree) return posset::api::not_loaded(context);
    ModuleInstance* instance = instantiate(*context, tree);
    posset_status status = run(context, instance, out);
    posset::api::retire(context, instance);
    return status;
  });
}

bool posset_is_incomplete(posset_text source) {
  try {
    return posset::interp::is_incomplete(view(source));
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // extern "C"
