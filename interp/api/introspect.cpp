// Looking inside: the functions of a program, their trees and code, and why they are where they
// are.
#include <algorithm>

#include "interp/api/handles.h"
#include "interp/api/why.h"
#include "interp/runtime/tier.h"
#include "interp/syntax/explain_forks.h"
#include "interp/syntax/parser.h"
#include "interp/syntax/resolver.h"

using posset::api::Entry;
using posset::api::in;
using posset::api::Part;
using posset::api::text;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::Closure;
using posset::interp::Counted;
using posset::interp::Function;
using posset::interp::ModuleInstance;
using posset::interp::Reclaimer;
using posset::interp::Refusal;
using posset::interp::Tag;
using posset::interp::RuntimeState;
using posset::interp::TierInterface;
using posset::interp::TierStatus;
using posset::syntax::FunctionDecl;
using posset::syntax::Module;
using posset::syntax::Reason;

namespace {

constexpr std::string_view kTopName = "<top>";

std::string_view name_of(const FunctionDecl& decl) {
  return decl.is_top_level ? kTopName : decl.name;
}

// The functions of an instance in the order of their declaration, the top level first.
void append_functions(const ModuleInstance& instance, std::vector<const Function*>& all) {
  size_t first = all.size();
  for (auto& function : instance.functions) all.push_back(function.get());
  std::stable_sort(all.begin() + static_cast<ptrdiff_t>(first), all.end(),
                   [](const Function* a, const Function* b) {
                     if (a->decl->is_top_level != b->decl->is_top_level)
                       return a->decl->is_top_level;
                     return a->decl->span.begin < b->decl->span.begin;
                   });
}

// Those of a program and of the script modules it imports, each module once.
std::vector<const Function*> functions_of(const posset_program& program) {
  std::vector<const Function*> all;
  std::vector<const Module*> modules{program.tree.get()};
  for (size_t i = 0; i < modules.size(); ++i) {
    auto found = program.context->instances.find(modules[i]);
    if (found == program.context->instances.end()) continue;
    append_functions(*found->second, all);
    for (const auto* import : modules[i]->imports) {
      bool known = !import->module ||
                   std::find(modules.begin(), modules.end(), import->module) != modules.end();
      if (!known) modules.push_back(import->module);
    }
  }
  return all;
}

// Visits the functions of that name (empty: all). False: there are none.
template <class Visit>
bool for_each_named(const posset_program& program, std::string_view name, Visit&& visit) {
  bool any = false;
  for (const Function* function : functions_of(program)) {
    if (!name.empty() && name_of(*function->decl) != name) continue;
    any = true;
    visit(*function);
  }
  return any;
}

const Function* function_of(posset_value value) {
  return in(value).is(Tag::Fn) ? in(value).as<Closure>()->function : nullptr;
}

std::string place_of(const FunctionDecl& decl, posset::syntax::Span span) {
  return decl.module->source->place(span.begin);
}

std::string title_of(const FunctionDecl& decl) {
  if (decl.is_top_level) return "top level of " + decl.module->source->name();
  return "fn " + (decl.name.empty() ? std::string("<fn>") : std::string(decl.name)) + " (" +
         place_of(decl, decl.span) + ")";
}

std::string at_place(const FunctionDecl& decl, const Refusal& refusal) {
  return refusal.span.end == 0 ? "" : ", at " + place_of(decl, refusal.span);
}

// ---- dumps ----

// The text of the bytecode, or of what a native tier makes of it. Empty with `refusal` set.
std::string text_of_code(RuntimeState& runtime, const FunctionDecl& decl, void* bytecode, int level, posset_form form,
                         Refusal& refusal) {
  if (form == POSSET_FORM_BYTECODE) return runtime.tier(1)->describe(bytecode);
  const auto native = form == POSSET_FORM_IR ? posset::interp::NativeForm::Ir : posset::interp::NativeForm::Assembly;
  return posset::interp::native_text(runtime, decl, -1, bytecode, level, native, refusal.reason);
}

// The same, with bytecode made for the purpose when the unit has none.
std::string code_text(posset_context* context, const FunctionDecl& decl, const Counted& counted, int level,
                      posset_form form, Refusal& refusal) {
  RuntimeState& runtime = context->runtime;
  if (void* code = counted.code[1].load(std::memory_order_acquire)) {
    return text_of_code(runtime, decl, code, level, form, refusal);
  }
  const TierInterface& tier = *runtime.tier(1);
  void* code = tier.compile(runtime, decl, -1, nullptr, refusal);
  if (!code) return {};
  std::string made = text_of_code(runtime, decl, code, level, form, refusal);
  tier.drop(code);
  return made;
}

std::string with_line_end(std::string made) {
  if (!made.empty() && made.back() != '\n') made += '\n';
  return made;
}

// The native tier whose code is shown: stage 2 knows a unit by what it has seen run.
int native_level(const Counted& counted) { return counted.ready.load(std::memory_order_acquire) == 3 ? 3 : 2; }

std::string dump_code(posset_context* context, const Function& function, posset_form form) {
  Reclaimer::Pin pin(context->runtime.units.reclaimer);
  const FunctionDecl& decl = *function.decl;
  const Counted& counted = function.unit->body;
  const int level = form == POSSET_FORM_BYTECODE ? 1 : native_level(counted);
  Refusal refusal;
  std::string made = code_text(context, decl, counted, level, form, refusal);
  if (refusal.reason != Reason::none) {
    made = title_of(decl) + "\n  stays in tier " + std::to_string(level - 1) + ": " + text_of(refusal.reason) +
           at_place(decl, refusal);
  }
  return with_line_end(made);
}

// Empty: no tier makes this form.
std::string dump(posset_context* context, const Function& function, posset_form form) {
  switch (form) {
    case POSSET_FORM_TREE:
      return with_line_end(print_tree(*function.decl));
    case POSSET_FORM_BYTECODE:
      return context->runtime.tier(1) ? dump_code(context, function, form) : std::string();
    case POSSET_FORM_IR:
    case POSSET_FORM_ASM:
      if (context->runtime.tier(1) && context->runtime.tier(2)) return dump_code(context, function, form);
      break;
  }
  return {};
}

// ---- explanations ----

void append_indented(std::string& out, std::string_view lines, std::string_view indent) {
  while (!lines.empty()) {
    size_t end = lines.find('\n');
    out.append(indent).append(lines.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    lines.remove_prefix(end + 1);
  }
}

// Visits (reason, line) for what forks, and what could but does not.
template <class Visit>
void for_each_fork_line(posset_context* context, const FunctionDecl& decl, Visit&& visit) {
  const bool forks = context->runtime.options.workers > 1;
  for (const auto& line : posset::syntax::explain_forks(decl, forks)) visit(line.reason, line.text + "\n");
}

// A part of a function with where it stands.
struct Told {
  const FunctionDecl& decl;
  Part part;
};

// Where in the function the tier met what it does not take: it is asked again, because the unit's code may have
// been refused to another function of the same structure.
std::string place_of_refusal(posset_context* context, const Told& told, int level) {
  if (level > 1) return {};  // native tiers refuse a unit as a whole
  if (told.part.counted().status[level].load(std::memory_order_acquire) != TierStatus::Failed) return {};
  const TierInterface& tier = *context->runtime.tier(level);
  Refusal refusal;
  try {
    if (void* code = tier.compile(context->runtime, told.decl, told.part.loop, nullptr, refusal)) tier.drop(code);
  } catch (const std::exception&) {
    return {};  // as it was the first time
  }
  return at_place(told.decl, refusal);
}

// Visits (reason, line).
template <class Visit>
void for_each_missing_line(posset_context* context, const Told& told, Visit&& visit) {
  for_each_missing_tier(context->runtime, told.part, [&](int level, Reason reason, const std::string& text) {
    visit(reason, "tier " + std::to_string(level) + ": " + text + place_of_refusal(context, told, level) + " [" +
                      name_of(reason) + "]\n");
  });
}

std::string tier_text(posset_context* context, const Part& part) {
  const int tier = part.tier();
  std::string text = "tier " + std::to_string(tier) + " (" + context->runtime.tier(tier)->name + ")";
  return part.within() ? text + " as part of the code around it" : text;
}

void append_types(std::string& out, posset_context* context, const Part& part, std::string_view indent) {
  void* code = part.counted().code[1].load(std::memory_order_acquire);  // native code is made of it, and it stays
  const TierInterface* tier = context->runtime.tier(1);
  if (!code || !tier || !tier->types_seen) return;
  std::string types = tier->types_seen(code);
  if (types.empty()) return;
  out.append(indent).append("types seen:\n");
  append_indented(out, types, std::string(indent) + "  ");
}

void append_tier(std::string& out, posset_context* context, const Told& told, std::string_view indent) {
  const uint32_t count = told.part.counted().count.load(std::memory_order_relaxed);
  out.append(indent).append(tier_text(context, told.part)).append(", ").append(std::to_string(count));
  out += count == 1 ? " execution counted\n" : " executions counted\n";
  for_each_missing_line(context, told, [&](Reason, const std::string& line) { out.append(indent).append(line); });
  append_types(out, context, told.part, indent);
}

void append_explanation(std::string& out, posset_context* context, const Function& function) {
  Reclaimer::Pin pin(context->runtime.units.reclaimer);
  const FunctionDecl& decl = *function.decl;
  out += title_of(decl) + "\n";
  append_indented(out, posset::syntax::explain_purity(decl), "  ");
  for_each_fork_line(context, decl, [&](Reason, const std::string& line) { out += "  " + line; });
  append_tier(out, context, {decl, {*function.unit, -1}}, "  ");
  for (size_t i = 0; i < decl.loops.size() && i < function.unit->loop_hashes.size(); ++i) {
    out += "  loop " + std::to_string(i) + " (" + place_of(decl, decl.loops[i]->span) + ")\n";
    append_tier(out, context, {decl, {*function.unit, static_cast<int>(i)}}, "    ");
  }
}

// ---- why not higher ----

// Each once, in the order of appearance.
using Reasons = std::vector<Reason>;

void note(Reasons& reasons, Reason reason) {
  if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
}

void append_why(std::string& out, Reasons& reasons, posset_context* context, const Told& told,
                std::string_view indent) {
  out += ": " + tier_text(context, told.part) + "\n";
  for_each_missing_line(context, told, [&](Reason reason, const std::string& line) {
    out.append(indent).append(line);
    note(reasons, reason);
  });
  for (const auto& exit : posset::api::exits_of(context->runtime, told.part)) {
    out.append(indent).append(posset::api::exit_text(exit)).append("\n");
  }
}

void append_why(std::string& out, Reasons& reasons, posset_context* context, const Function& function) {
  Reclaimer::Pin pin(context->runtime.units.reclaimer);  // a compiler may read the code of other tiers
  const FunctionDecl& decl = *function.decl;
  out += title_of(decl);
  append_why(out, reasons, context, {decl, {*function.unit, -1}}, "  ");
  for_each_fork_line(context, decl, [&](Reason reason, const std::string& line) {
    if (reason == Reason::none) return;
    out += "  " + line;
    note(reasons, reason);
  });
  for (size_t i = 0; i < decl.loops.size() && i < function.unit->loop_hashes.size(); ++i) {
    out += "  loop " + std::to_string(i) + " (" + place_of(decl, decl.loops[i]->span) + ")";
    append_why(out, reasons, context, {decl, {*function.unit, static_cast<int>(i)}}, "    ");
  }
}

void append_pages(std::string& out, const Reasons& reasons) {
  for (const Reason each : reasons) out += std::string("\n") + name_of(each) + ": " + page_of(each) + "\n";
}

posset_unit_info info_of(const Function& function) {
  const FunctionDecl& decl = *function.decl;
  auto at = decl.module->source->position(decl.span.begin);
  posset_unit_info info = {};
  info.name = text(name_of(decl));
  if (decl.parent && !decl.parent->is_top_level) info.enclosing = text(decl.parent->name);
  info.line = at.line;
  info.column = at.column;
  info.is_top_level = decl.is_top_level;
  info.is_lambda = decl.is_lambda;
  info.pure = function.pure;
  info.loops = static_cast<uint32_t>(decl.loops.size());
  info.executions = function.unit->body.count.load(std::memory_order_relaxed);
  info.tier = function.unit->body.ready.load(std::memory_order_acquire);
  return info;
}

posset_status write_dump(std::string made, posset_write write, void* data) {
  return made.empty() ? POSSET_NOT_BUILT : posset::api::write_all(write, data, made);
}

}  // namespace

extern "C" {

posset_status posset_each_unit(posset_program* program, posset_visit_unit visit, void* data) {
  if (!program || !visit) return POSSET_MISUSE;
  Entry entry(program->context);
  if (entry.failed()) return entry.status();
  posset_status result = POSSET_OK;
  for (const Function* function : functions_of(*program)) {
    posset_unit_info info = info_of(*function);
    if (!posset::api::goes_on(visit(data, &info), result)) break;
  }
  return result;
}

posset_status posset_dump_program(posset_program* program, posset_form form, posset_text name,
                                  posset_write write, void* data) {
  if (!program) return POSSET_MISUSE;
  Entry entry(program->context);
  if (entry.failed()) return entry.status();
  std::string made;
  bool found = for_each_named(*program, view(name), [&](const Function& function) {
    std::string one = dump(program->context, function, form);
    if (!made.empty() && !one.empty()) made += "\n";
    made += one;
  });
  return found ? write_dump(std::move(made), write, data) : POSSET_NOT_FOUND;
}

posset_status posset_dump_function(posset_context* context, posset_value value, posset_form form,
                                   posset_write write, void* data) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  const Function* function = function_of(value);
  return function ? write_dump(dump(context, *function, form), write, data) : POSSET_NOT_FOUND;
}

posset_status posset_explain_program(posset_program* program, posset_text name, posset_write write,
                                     void* data) {
  if (!program) return POSSET_MISUSE;
  Entry entry(program->context);
  if (entry.failed()) return entry.status();
  std::string made;
  bool found = for_each_named(*program, view(name), [&](const Function& function) {
    append_explanation(made, program->context, function);
  });
  return found ? posset::api::write_all(write, data, made) : POSSET_NOT_FOUND;
}

posset_status posset_explain_function(posset_context* context, posset_value value,
                                      posset_write write, void* data) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  const Function* function = function_of(value);
  if (!function) return POSSET_NOT_FOUND;
  std::string made;
  append_explanation(made, context, *function);
  return posset::api::write_all(write, data, made);
}

posset_status posset_why_program(posset_program* program, posset_text name, posset_write write,
                                 void* data) {
  if (!program) return POSSET_MISUSE;
  Entry entry(program->context);
  if (entry.failed()) return entry.status();
  std::string made;
  Reasons reasons;
  bool found = for_each_named(*program, view(name), [&](const Function& function) {
    append_why(made, reasons, program->context, function);
  });
  append_pages(made, reasons);
  return found ? posset::api::write_all(write, data, made) : POSSET_NOT_FOUND;
}

posset_status posset_why_function(posset_context* context, posset_value value, posset_write write,
                                  void* data) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  const Function* function = function_of(value);
  if (!function) return POSSET_NOT_FOUND;
  std::string made;
  Reasons reasons;
  append_why(made, reasons, context, *function);
  append_pages(made, reasons);
  return posset::api::write_all(write, data, made);
}

posset_status posset_each_reason(posset_visit_reason visit, void* data) {
  if (!visit) return POSSET_MISUSE;
  posset_status result = POSSET_OK;
  for (uint8_t number = 1; number < posset::syntax::kReasons; ++number) {
    const auto reason = static_cast<Reason>(number);
    const posset_reason_info info = {text(name_of(reason)), text(text_of(reason)), text(page_of(reason))};
    if (!posset::api::goes_on(visit(data, &info), result)) break;
  }
  return result;
}

int posset_function_tier(posset_context* context, posset_value value) {
  Entry entry(context);
  const Function* function = entry.failed() ? nullptr : function_of(value);
  return function ? function->unit->body.ready.load(std::memory_order_acquire) : -1;
}

uint64_t posset_function_executions(posset_context* context, posset_value value) {
  Entry entry(context);
  const Function* function = entry.failed() ? nullptr : function_of(value);
  return function ? function->unit->body.count.load(std::memory_order_relaxed) : 0;
}

}  // extern "C"
