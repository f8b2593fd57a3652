// Sessions: the inputs of a REPL, each a module that sees the names of the earlier ones.
#include <algorithm>
#include <unordered_set>

#include "interp/api/handles.h"

using posset::api::Entry;
using posset::api::Evaluation;
using posset::api::in;
using posset::api::text;
using posset::api::view;
using posset::interp::ModuleInstance;
using posset::interp::Value;
using posset::syntax::Diagnostics;
using posset::syntax::ImportDecl;
using posset::syntax::Module;

namespace {

bool declares_anything(const Module& input) {
  auto is_own = [&](const auto& variable) { return variable.module == &input; };
  return !input.global_names.empty() || !input.functions.empty() || !input.types.empty() ||
         !input.imports.empty() ||
         std::any_of(input.session_variables.begin(), input.session_variables.end(), is_own);
}

// An input that raised: the names it did not get to must not hide those of earlier inputs.
void hide_unset_names(Module& input, const ModuleInstance& instance) {
  for (size_t i = 0; i < input.global_names.size(); ++i) {
    if (instance.globals[i].is_unset()) input.global_names[i] = {};
  }
}

posset_status run_input(posset_context* context, const std::shared_ptr<Module>& input,
                        posset_value* out) {
  ModuleInstance* instance = instantiate(*context, input);
  posset_status status = posset::api::guarded(
      context, [&] { return posset::api::give(posset::api::end_tasks(context, run_module(*context, instance)), out); });
  if (status != POSSET_OK) hide_unset_names(*input, *instance);
  if (declares_anything(*input)) {
    context->session.inputs.push_back(input);
  } else {
    posset::api::retire(context, instance);
  }
  return status;
}

posset_status evaluate(posset_context* context, std::string_view name, std::string_view source,
                       posset_value* out, posset_diagnostics** diagnostics) {
  return posset::api::guarded(context, [&] {
    Diagnostics found;
    auto made = make_source(*context, name, source);
    if (!made) return POSSET_RAISED;
    auto input = load_program(*context, std::move(made), {}, found, true);
    if (!context->error_pending()) posset::api::give_diagnostics(found, diagnostics);
    return input ? run_input(context, input, out) : posset::api::not_loaded(context);
  });
}

bool is_dotted_name(std::string_view name) {
  for (;;) {
    size_t dot = name.find('.');
    std::string_view part = name.substr(0, dot);
    if (!posset::api::is_identifier(part)) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

// ---- names ----

// Visits texts once each; `stopped()` when the visitor has had enough.
class NameVisitor {
 public:
  NameVisitor(posset_visit_name visit, void* data) : visit_(visit), data_(data) {}
  void operator()(std::string_view name) {
    if (stopped_ || name.empty() || !seen_.insert(std::string(name)).second) return;
    stopped_ = !posset::api::goes_on(visit_(data_, text(name)), result_);
  }
  posset_status result() const { return result_; }

 private:
  posset_visit_name visit_;
  void* data_;
  std::unordered_set<std::string> seen_;
  bool stopped_ = false;
  posset_status result_ = POSSET_OK;
};

void visit_declared(const Module& input, NameVisitor& visit) {
  for (const auto& name : input.global_names) visit(name);
  for (const auto& variable : input.session_variables) {
    if (variable.module == &input) visit(variable.name);
  }
  for (const auto* function : input.functions) visit(function->name);
  for (const auto* type : input.types) {
    for (const auto& constructor : type->constructors) visit(constructor.name);
  }
  for (const ImportDecl* import : input.imports) {
    if (import->names.empty()) visit(import->alias);
    for (const auto& name : import->names) visit(name.alias.empty() ? name.name : name.alias);
  }
}

// The newest import that is called `name`, or null.
const ImportDecl* find_import(const posset_context& context, std::string_view name) {
  const auto& inputs = context.session.inputs;
  for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
    for (const ImportDecl* import : (*input)->imports) {
      if (import->names.empty() && import->alias == name) return import;
    }
  }
  return nullptr;
}

void visit_exports(const posset_context& context, const ImportDecl& import, NameVisitor& visit) {
  if (import.module) {
    for (const auto& entry : import.module->exports) visit(entry.name);
    return;
  }
  auto found = context.runtime.modules.find(std::string(import.path));
  if (found == context.runtime.modules.end()) return;
  std::vector<std::string_view> names;
  for (auto& [name, entry] : found->second.exports) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (std::string_view name : names) visit(name);
}

}  // namespace

extern "C" {

posset_status posset_session_eval(posset_context* context, posset_text name, posset_text source,
                                  posset_value* out, posset_diagnostics** diagnostics) {
  if (out) *out = posset_nil();
  if (diagnostics) *diagnostics = nullptr;
  if (source.size >= UINT32_MAX) return POSSET_MISUSE;
  Evaluation evaluation(context, Evaluation::Kind::Run);
  if (evaluation.failed()) return evaluation.status();
  if (context->finished) return POSSET_MISUSE;
  return evaluate(context, view(name), view(source), out, diagnostics);
}

posset_status posset_session_reset(posset_context* context) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  if (context->evaluations != 0 || context->finished) return POSSET_MISUSE;
  // Later inputs refer to earlier ones, so none goes before all are out of the session, and the
  // newest first.
  return posset::api::or_no_memory([&] {
    context->retired.reserve(context->retired.size() + context->session.inputs.size());
    auto inputs = std::exchange(context->session.inputs, {});
    for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
      auto found = context->instances.find(input->get());
      if (found != context->instances.end()) context->retired.push_back(found->second.get());
    }
    posset::api::sweep_retired(context);
    return POSSET_OK;
  });
}

posset_status posset_session_get(posset_context* context, posset_text name, posset_value* out) {
  if (out) *out = posset_nil();
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (context->finished) return POSSET_MISUSE;
  if (!is_dotted_name(view(name))) return POSSET_NOT_FOUND;
  posset_status status = evaluate(context, "<name>", view(name), out, nullptr);
  if (status == POSSET_OK) return status;
  // "used before its definition" and a missing field are answers; a limit inside a running script
  // is not.
  if (context->limit_pending() && context->evaluations > 1) return POSSET_RAISED;
  if (context->error_pending()) context->take_error();
  return POSSET_NOT_FOUND;
}

posset_status posset_session_each_name(posset_context* context, posset_visit_name visitor,
                                       void* data) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  if (!visitor) return POSSET_MISUSE;
  NameVisitor visit(visitor, data);
  const auto& inputs = context->session.inputs;
  for (auto input = inputs.rbegin(); input != inputs.rend(); ++input)
    visit_declared(**input, visit);
  std::vector<std::string_view> globals;
  for (auto& [name, cell] : context->host_globals) globals.push_back(name);
  std::sort(globals.begin(), globals.end());
  for (std::string_view name : globals) visit(name);
  return visit.result();
}

posset_status posset_session_each_member(posset_context* context, posset_text name,
                                         posset_visit_name visitor, void* data) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  if (!visitor) return POSSET_MISUSE;
  NameVisitor visit(visitor, data);
  if (const ImportDecl* import = find_import(*context, view(name))) {
    visit_exports(*context, *import, visit);
    return visit.result();
  }
  posset_value value = posset_nil();
  posset_status status = posset_session_get(context, name, &value);
  if (status != POSSET_OK) return status;
  Value owner = posset::api::adopt(value);
  for (uint32_t i = 0; i < posset_field_count(value); ++i)
    visit(view(posset_field_name(context, value, i)));
  return visit.result();
}

}  // extern "C"
