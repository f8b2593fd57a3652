// Contexts: life, options, output, globals, the module loader, data of the host, statistics.
#include <algorithm>

#include "interp/api/fiber_carrier.h"
#include "interp/api/misuse.h"
#include "interp/api/submission.h"
#include "interp/runtime/work.h"
#include "interp/syntax/token.h"

using posset::api::Entry;
using posset::api::Evaluation;
using posset::api::misuse;
using posset::api::view;
using posset::interp::Borrowed;
using posset::interp::Limits;
using posset::interp::Value;

// ---- life ----

posset_context::posset_context(posset_runtime* runtime, const Limits& limits, Role role)
    : Context(runtime->state, limits, role),
      owner(runtime),
      ownership(std::make_shared<posset::api::Ownership>()) {
  heap.unbind_from_thread();  // whoever enters is bound
  if (role == Role::Host) {  // there has been none
    evaluations = 0;
    end_evaluation();
  }
  code_slot.watch(reservation.short_calls());
  on_settled_in = [](Context& context) {
    static_cast<posset_context&>(context).running.emplace(context.runtime.control.scheduler().evaluating());
  };
  posset_runtime_retain(runtime);
}

posset_context::~posset_context() {
  heap.outside.count();
  posset::api::free_orphans(this);
  for (auto& [key, kept] : data) {
    if (kept.drop) kept.drop(kept.data);
  }
  code_slot.watch(nullptr);  // which outlives the reservation
}

namespace {

Limits limits_of(const posset_context_options& options) {
  Limits limits;
  if (options.memory_limit != 0) limits.memory_bytes = options.memory_limit;
  if (options.step_limit != 0) limits.steps = options.step_limit;
  limits.seconds = options.time_limit_seconds;
  limits.nested_calls = options.stack_limit;
  if (options.output_limit != 0) limits.output_bytes = options.output_limit;
  if (options.stack_bytes != 0) limits.stack_bytes = options.stack_bytes;
  return limits;
}

// Null: nothing.
const char* problem_of(const posset_context_options& options) {
  if (!(options.time_limit_seconds >= 0)) return "the option time_limit_seconds is negative";
  if (options.stack_limit == 0) return "the option stack_limit is 0";
  if ((options.grants & ~uint32_t{POSSET_GRANT_ALL}) != 0) return "the option grants has bits that grant nothing";
  // What a host reads from a setting that is not there must not open everything.
  if (options.read_directory && !*options.read_directory) return "the option read_directory is empty";
  if (options.write_directory && !*options.write_directory) return "the option write_directory is empty";
  return nullptr;
}

void set_grants(posset_context* context, const posset_context_options& options) {
  context->grants = options.grants;
  context->read_directory = options.read_directory ? options.read_directory : "";
  context->write_directory = options.write_directory ? options.write_directory : "";
}

}  // namespace

// The runtime goes last, because heap and units live in it.
void posset::api::destroy(posset_context* context) {
  posset_runtime* runtime = context->owner;
  context->thread.store(this_thread(), std::memory_order_relaxed);
  context->heap.bind_to_thread();
  delete context;
  posset_runtime_release(runtime);
}

namespace {

bool is_free(const posset_context& context) {
  return context.thread.load(std::memory_order_acquire) == 0 && !context.reservation.has_inside();
}

void abandon(posset_context* context) {
  std::atomic<posset_context*>& all = context->owner->abandoned;
  context->next_abandoned = all.load(std::memory_order_relaxed);
  while (!all.compare_exchange_weak(context->next_abandoned, context, std::memory_order_release)) {
  }
}

}  // namespace

void posset::api::destroy_abandoned(posset_runtime* runtime) {
  if (!runtime->abandoned.load(std::memory_order_relaxed)) return;
  posset_context* next = runtime->abandoned.exchange(nullptr, std::memory_order_acquire);
  while (posset_context* const context = next) {
    next = context->next_abandoned;
    if (is_free(*context)) {
      destroy(context);
    } else {
      abandon(context);
    }
  }
}

// Functions of the standard library are given it for the handle of a context, inside of an evaluation.
std::shared_ptr<posset::interp::Context> posset::api::make_helper(interp::Context& root) {
  auto* context = new posset_context(static_cast<posset_context&>(root).owner, root.limits(),
                                     interp::Context::Role::Helper);
  std::shared_ptr<posset_context> made(context, destroy);
  context->thread.store(this_thread(), std::memory_order_relaxed);
  context->heap.bind_to_thread();
  context->heap.join(root.heap);
  return made;
}

extern "C" {

posset_status posset_context_create(posset_runtime* runtime, const posset_context_options* given,
                                    posset_context** out) {
  posset_context_options options = posset_context_defaults();
  if (!runtime || !out || !posset::api::read_struct(given, options) || problem_of(options))
    return POSSET_MISUSE;
  runtime->closed = true;
  posset::api::destroy_abandoned(runtime);
  try {
    auto context = std::make_unique<posset_context>(runtime, limits_of(options));
    set_grants(context.get(), options);
    *out = context.release();
  } catch (const std::bad_alloc&) {
    return POSSET_NO_MEMORY;
  }
  return POSSET_OK;
}

void posset_context_retain(posset_context* context) {
  if (context) posset::api::retain(*context->ownership);
}

void posset_context_release(posset_context* context) {
  if (!context || !posset::api::release(context)) return;
  if (is_free(*context)) {
    posset::api::destroy(context);
  } else {
    abandon(context);
  }
}

posset_runtime* posset_context_runtime(posset_context* context) {
  return context ? context->owner : nullptr;
}

posset_status posset_context_set_options(posset_context* context,
                                         const posset_context_options* given) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  posset_context_options options = posset_context_defaults();
  if (!given || !posset::api::read_struct(given, options)) return POSSET_MISUSE;
  if (const char* problem = problem_of(options)) return misuse(context, problem);
  context->set_limits(limits_of(options));
  set_grants(context, options);
  return POSSET_OK;
}

// ---- output ----

posset_status posset_context_set_output(posset_context* context, posset_write write, void* data) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  context->output = nullptr;
  if (write)
    context->output = [write, data](std::string_view text) {
      return write(data, text.data(), text.size());
    };
  return POSSET_OK;
}

posset_status posset_context_set_progress(posset_context* context, posset_watch watch, void* data) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  context->progress = nullptr;
  if (!watch) return POSSET_OK;
  context->progress = [watch, data](const posset::interp::Context::Progress& now) {
    const posset_solve_progress told = {sizeof told, now.what, now.ended, now.seconds, now.updates, now.residual};
    watch(data, &told);
  };
  return POSSET_OK;
}

posset_status posset_write_output(posset_context* context, posset_text text) {
  Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  // By way of print itself, so that limits and wording are one.
  Value made = posset::interp::or_memory_limit(
      *context, posset::interp::make_string_lossy(context->heap, view(text)));
  if (made.failed()) return POSSET_RAISED;
  Borrowed argument = made.view();
  posset::interp::NativeCall call{*context, &argument, 1, context->runtime.builtins.at("print")};
  return posset::api::raised(call.function->entry(call));
}

// ---- globals ----

posset_status posset_set_global(posset_context* context, posset_text name, posset_value value) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  if (context->heap.is_guarded()) return POSSET_BUSY;
  if (posset::api::is_foreign(context, posset::api::in(value))) return misuse(context, posset::api::kForeign);
  Value owned = posset::api::adopt(value);
  if (context->finished) return misuse(context, "the context has been finished");
  if (!posset::api::is_identifier(view(name))) return misuse(context, posset::api::no_identifier(view(name)));
  return posset::api::or_no_memory([&] {
    std::string key(view(name));
    if (context->runtime.builtins.contains(key) || context->host_functions.contains(key))
      return misuse(context, posset::api::taken_by(context, key), POSSET_EXISTS);
    auto cell = std::make_unique<Borrowed>(Borrowed::nil());  // first: there is no name without one
    auto& kept = context->host_globals[std::move(key)];
    if (!kept) kept = std::move(cell);
    posset::interp::release(std::exchange(*kept, owned.take()));
    return POSSET_OK;
  });
}

posset_status posset_get_global(posset_context* context, posset_text name, posset_value* out) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  return posset::api::or_no_memory([&] {
    auto found = context->host_globals.find(std::string(view(name)));
    if (found == context->host_globals.end())
      return misuse(context, "the host has set no '" + std::string(view(name)) + "'", POSSET_NOT_FOUND);
    return posset::api::give(Value::copy(*found->second), out);
  });
}

// ---- modules ----

struct posset_module_source {
  std::string* key;
  std::string* name;
  std::string* text;
  std::string* why;
};

void posset_module_found(posset_module_source* answer, posset_text key, posset_text name,
                         posset_text source) {
  if (!answer) return;
  answer->key->assign(view(key));
  answer->name->assign(view(name));
  answer->text->assign(view(source));
}

void posset_module_missing(posset_module_source* answer, posset_text why) {
  if (answer) answer->why->assign(view(why));
}

posset_status posset_context_set_loader(posset_context* context, posset_module_loader loader,
                                        void* data) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  context->loader = nullptr;
  if (!loader) return POSSET_OK;
  context->loader = [loader, data](const std::string& from, const std::string& path,
                                   std::string& key, std::string& name, std::string& text,
                                   std::string& why) {
    posset_module_source answer{&key, &name, &text, &why};
    bool found = loader(data, posset::api::text(from), posset::api::text(path), &answer);
    if (!found && why.empty()) why = "the host does not have it";
    return found;
  };
  return POSSET_OK;
}

// ---- interruption, data ----

void posset_interrupt(posset_context* context) {
  if (!context) return;
  posset::api::interrupt(*context);
  context->reservation.close_from_outside();
}

posset_status posset_set_data(posset_context* context, const void* key, void* data,
                              void (*drop)(void*)) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  return posset::api::or_no_memory([&] {
    const posset::api::HostData old = std::exchange(context->data[key], posset::api::HostData{data, drop});
    if (old.drop) old.drop(old.data);
    return POSSET_OK;
  });
}

void* posset_get_data(posset_context* context, const void* key) {
  Entry entry(context);
  if (entry.failed()) return nullptr;
  auto found = context->data.find(key);
  return found == context->data.end() ? nullptr : found->second.data;
}

}  // extern "C"

// ---- statistics ----

namespace {

void count_code(const posset_runtime& runtime, const posset::interp::Counted& counted,
                posset_statistics& out) {
  for (int level = 1; level < posset::interp::kTiers; ++level) {
    void* code = counted.code[level].load(std::memory_order_acquire);
    if (!code) continue;
    ++out.compiled[level];
    if (auto* memory = runtime.state.tier(level)->memory) out.code_bytes[level] += memory(code);
  }
}

}  // namespace

extern "C" posset_status posset_context_statistics(posset_context* context,
                                                   posset_statistics* out) {
  Entry entry(context);
  if (entry.failed()) return entry.status();
  context->tree_account->settle(*context);
  context->heap.bury_all();
  const posset::interp::HeapStats& heap = context->heap.stats();
  posset_statistics made = {};
  made.allocations = heap.allocations;
  made.live_objects = context->heap.live_objects();
  made.copies = heap.copies;
  made.copied_bytes = heap.copied_bytes;
  made.used_bytes = context->heap.used_bytes();
  made.peak_bytes = heap.peak_bytes;
  made.cycle_collections = heap.cycle_collections;
  made.steps = context->evaluations ? context->steps_used() : context->last_steps;
  made.output_bytes = context->output_written;
  made.modules = context->instances.size();
  context->runtime.units.for_each([&](const posset::interp::Unit& unit) {
    ++made.units;
    count_code(*context->owner, unit.body, made);
    for (size_t i = 0; i < unit.loop_hashes.size(); ++i)
      count_code(*context->owner, unit.loops[i], made);
  });
  made.unit_bytes = context->runtime.units.bytes();
  made.cache_hits = context->runtime.cache.hits();
  made.cache_misses = context->runtime.cache.misses();
  return posset::api::fill_struct(out, made);
}

namespace posset::api {

bool is_identifier(std::string_view text) {
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (text.empty() || !is_letter(text[0])) return false;
  if (!std::all_of(text.begin(), text.end(),
                   [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); })) {
    return false;
  }
  using syntax::TokenKind;
  for (int kind = static_cast<int>(TokenKind::Let); kind <= static_cast<int>(TokenKind::Nil);
       ++kind) {
    if (syntax::spelling(static_cast<TokenKind>(kind)) == text) return false;
  }
  return true;
}

}  // namespace posset::api
