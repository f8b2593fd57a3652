// The C++ layer: posset.h with RAII, typed calls and exceptions. It is header-only and thin: every
// function here is a few calls of the C interface, whose headers say what units, limits and threads
// mean.
//
//   posset::Runtime runtime;                                      // shared by all contexts
//   posset::Context context(runtime, {.memory_limit = 64 << 20}); // isolated
//   context.set("rate", 0.19);
//   context.define("lookup", [&](std::string_view key) { return table.at(std::string(key)); });
//   auto price = context.compile<double(double, int64_t)>("(net, n) => net * n * (1.0 + rate)");
//   double gross = price(12.5, 3);
//
// Errors: functions throw posset::Error for errors of scripts and sources, posset::Misuse for
// mistakes of the host. Each that runs something has a sibling `try_...` that gives a
// posset::Result instead. An exception in a host function becomes a script error with its message.
//
// Lifetimes: a Value must not outlive its Context. An Error may.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpp_convert.hpp"
#include "cpp_define.hpp"
#include "cpp_error.hpp"
#include "cpp_fixpoint.hpp"
#include "cpp_graph.hpp"
#include "cpp_hooks.hpp"
#include "cpp_host.hpp"
#include "cpp_items.hpp"
#include "cpp_submit.hpp"
#include "cpp_suspend.hpp"
#include "cpp_value.hpp"
#include "posset.h"

namespace posset {

// ---- runtimes, programs, contexts ----

// The options of options.def under their own names; `.size` and the like are the C layer's affair.
struct RuntimeOptions {
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help) \
  posset_option_##type field = fallback;
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help)
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
  posset_runtime_options raw() const {
    posset_runtime_options options = posset_runtime_defaults();
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help) options.field = field;
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help)
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
    return options;
  }
};

struct ContextOptions {
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help)
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help) \
  posset_option_##type field = fallback;
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
  uint32_t grants = 0;  // POSSET_GRANT_...
  const char* read_directory = nullptr;
  const char* write_directory = nullptr;
  posset_context_options raw() const {
    posset_context_options options = posset_context_defaults();
#define RUNTIME_OPTION(field, flag, type, fallback, environment, value, help)
#define CONTEXT_OPTION(field, flag, type, fallback, environment, value, help) options.field = field;
#include "options.def"
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
    options.grants = grants;
    options.read_directory = read_directory;
    options.write_directory = write_directory;
    return options;
  }
};

// The text of a module, for loaders. Imports that give one key (by default the name) share one module.
struct Source {
  std::string name, text, key;
};

class Context;

// What contexts share: code, built-ins, threads. Used by any thread.
class Runtime {
 public:
  explicit Runtime(const RuntimeOptions& options = {}) {
    posset_runtime_options raw = options.raw();
    posset_runtime* made = nullptr;
    posset_status status = posset_default_runtime(&raw, &made);
    if (status != POSSET_OK) throw Misuse(status, "runtime");
    runtime_.reset(made);
  }
  // Takes a runtime put together by hand (attach.h).
  explicit Runtime(posset_runtime* owned) : runtime_(owned) {}
  posset_runtime* handle() const { return runtime_.get(); }
  // A class as a type of scripts (cpp_host.hpp); before the first context is made.
  template <class T>
  void define(Type<T> type) {
    std::move(type).add_to(handle());
  }
  // Evaluates a text on a thread of the runtime; until that has ended the context is busy.
  template <class T = Value>
  Future<T> submit(Context& context, std::string_view text, const SubmitOptions& options = {});

 private:
  detail::Owned<posset_runtime> runtime_;
};

// A loaded program. Must not outlive its context.
class Program {
 public:
  Program(posset_context* context, posset_program* owned, std::vector<Diagnostic> warnings)
      : context_(context), program_(owned), warnings_(std::move(warnings)) {}
  // Runs the top level; the value of its last expression. Throws Error.
  Value run() {
    posset_value out = posset_nil();
    detail::check(context_, posset_run(program_.get(), &out), "run");
    return {context_, out};
  }
  Result<Value> try_run() {
    return detail::attempt([&] { return run(); });
  }
  // The same on a thread of the runtime.
  template <class T = Value>
  Future<T> submit(const SubmitOptions& options = {}) {
    return detail::submit<T>(context_, options, "submit", [&](const auto* raw, auto** out) {
      return posset_submit_run(program_.get(), raw, out);
    });
  }
  // A value or function of its top level. Throws Error (NotDefined) where the script has none of that name.
  template <class T = Value>
  T get(std::string_view name) const {
    posset_value found = posset_nil();
    detail::check_found(context_, posset_program_get(program_.get(), to_text(name), &found), "get");
    return Value(context_, found).to<T>();
  }
  template <class T = Value>
  Result<T> try_get(std::string_view name) const {
    return detail::attempt([&] { return get<T>(name); });
  }
  template <class Signature>
  Function<Signature> function(std::string_view name) const {
    return Function<Signature>(get(name));
  }
  template <class Signature>
  Result<Function<Signature>> try_function(std::string_view name) const {
    return detail::attempt([&] { return function<Signature>(name); });
  }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }
  posset_program* handle() const { return program_.get(); }

 private:
  posset_context* context_;
  detail::Owned<posset_program> program_;
  std::vector<Diagnostic> warnings_;
};

// An isolated world of globals, modules and limits. One thread at a time, except for `interrupt`.
class Context {
 public:
  explicit Context(const Runtime& runtime, const ContextOptions& options = {}) {
    posset_context_options raw = options.raw();
    posset_context* made = nullptr;
    posset_status status = posset_context_create(runtime.handle(), &raw, &made);
    if (status != POSSET_OK) throw Misuse(status, "context");
    context_.reset(made);
  }
  posset_context* handle() const { return context_.get(); }

  // A value of this context, for calls and containers of values.
  template <class T>
  Value value(T&& from) {
    posset_value made = posset_nil();
    check(detail::ConvertOf<T>::to(handle(), std::forward<T>(from), &made), "value");
    return {handle(), made};
  }

  // A record of those fields: `context.record({{"name", "pear"}, {"price", 2.5}})`. Throws Misuse when two have one name.
  Value record(std::initializer_list<Field> fields) { return detail::make_record(handle(), fields); }

  // ---- globals ----
  template <class T>
  void set(std::string_view name, T&& value) {
    posset_value made = posset_nil();
    check(detail::ConvertOf<T>::to(handle(), std::forward<T>(value), &made), "set");
    check(posset_set_global(handle(), to_text(name), made), "set");
  }
  // The value that is set now, or why it cannot be made (no UTF-8, the memory limit).
  template <class T>
  Result<Value> try_set(std::string_view name, T&& value) {
    return detail::attempt([&] {
      Value made = this->value(std::forward<T>(value));
      set(name, made);
      return made;
    });
  }
  // What the host has set. Throws Error (NotDefined) where there is nothing of that name.
  template <class T = Value>
  T get(std::string_view name) const {
    posset_value found = posset_nil();
    detail::check_found(handle(), posset_get_global(handle(), to_text(name), &found), "get");
    return Value(handle(), found).to<T>();
  }
  template <class T = Value>
  Result<T> try_get(std::string_view name) const {
    return detail::attempt([&] { return get<T>(name); });
  }

  // ---- host objects ----
  // For scripts as long as the loan lasts; `object` stays the caller's.
  template <class T>
  [[nodiscard]] Loan lend(T& object) {
    posset_value made = posset_nil();
    check(detail::make_object(handle(), &object, nullptr, &made), "lend");
    return Loan(Value(handle(), made));
  }

  // ---- host functions ----
  // A lambda or function of numbers, bools, strings, containers of them (cpp_convert.hpp), host objects, script
  // functions, and Values. Impure, unless it is wrapped in posset::pure; see also posset::may_yield. Parameters at the end that
  // are std::optional need not be given.
  template <class Given>
  void define(const char* name, Given function, const char* doc = "") {
    using Unwrapped = detail::Unwrapped<Given>;
    define_row<detail::Trampoline<typename Unwrapped::Function>, Given>(name, std::move(Unwrapped::of(function)), doc);
  }
  // One whose calls end when its first parameter, a Completion, is completed (cpp_suspend.hpp).
  template <class F>
  void define(const char* name, Suspending<F> function, const char* doc = "") {
    define_row<detail::SuspendingTrampoline<F>, F>(name, std::move(function.function), doc);
  }

  // ---- running ----
  template <class T = Value>
  T eval(std::string_view text) {
    posset_value out = posset_nil();
    posset_diagnostics* diagnostics = nullptr;
    posset_status status = posset_eval(handle(), to_text(text), &out, &diagnostics);
    detail::check(handle(), status, diagnostics, "eval");
    return Value(handle(), out).to<T>();
  }
  template <class T = Value>
  Result<T> try_eval(std::string_view text) {
    return detail::attempt([&] { return eval<T>(text); });
  }
  // An expression whose value is a function, as a typed callable.
  template <class Signature>
  Function<Signature> compile(std::string_view text) {
    return Function<Signature>(eval(text));
  }
  template <class Signature>
  Result<Function<Signature>> try_compile(std::string_view text) {
    return detail::attempt([&] { return compile<Signature>(text); });
  }
  Program load(std::string_view name, std::string_view text) {
    posset_source source = posset_source_of("", to_text(text));
    source.name = source.key = to_text(name);
    posset_program* program = nullptr;
    posset_diagnostics* diagnostics = nullptr;
    const posset_status status = posset_load(handle(), &source, &program, &diagnostics);
    detail::Owned<posset_program> made(program);
    std::vector<Diagnostic> warnings = detail::check_warned(handle(), status, diagnostics, "load");
    return {handle(), made.release(), std::move(warnings)};
  }
  Result<Program> try_load(std::string_view name, std::string_view text) {
    return detail::attempt([&] { return load(name, text); });
  }
  Value run(std::string_view name, std::string_view text) { return load(name, text).run(); }
  Result<Value> try_run(std::string_view name, std::string_view text) {
    return detail::attempt([&] { return run(name, text); });
  }

  // ---- running on a thread of the runtime (cpp_submit.hpp) ----
  // As eval; the context is busy until the future says that it has ended.
  template <class T = Value>
  Future<T> submit(std::string_view text, const SubmitOptions& options = {}) {
    return detail::submit<T>(handle(), options, "submit", [&](const auto* raw, auto** out) {
      return posset_submit_eval(handle(), to_text(text), raw, out);
    });
  }
  // Calls a function value.
  template <class T = Value, class... Args>
  Future<T> submit_call(const SubmitOptions& options, const Value& function, Args&&... args) {
    detail::Arguments<sizeof...(Args)> made;
    size_t i = 0;
    (check(detail::ConvertOf<Args>::to(handle(), std::forward<Args>(args), &made.values[i++]),
           "argument"),
     ...);
    return detail::submit<T>(handle(), options, "submit", [&](const auto* raw, auto** out) {
      return posset_submit_invoke(handle(), function.raw(), made.values, sizeof...(Args), raw, out);
    });
  }

  // Output, loader and the like are the context's: each is kept until another takes its place, or the context ends. Where the
  // context is busy they throw Misuse, and it has the one that it had.

  // ---- modules ----
  // Finds the module that `import "path"` means in the module `from`: `load(std::string_view from,
  // std::string_view path)` gives a std::optional<Source> (or throws, which says why there is none). It must not
  // use the context.
  template <class Load>
  void set_loader(Load load) {
    set_hook(&detail::Hooks::loader, std::move(load), "loader",
             [&](void* hook) { return posset_context_set_loader(handle(), detail::load_module<Load>, hook); });
  }

  // ---- output, limits ----
  // `write(std::string_view)`, which may give a bool: false when it cannot write.
  template <class Write>
  void set_output(Write write) {
    set_hook(&detail::Hooks::output, std::move(write), "output",
             [&](void* hook) { return posset_context_set_output(handle(), detail::write_output<Write>, hook); });
  }
  // `watch(const posset_solve_progress&)`, see posset_context_set_progress.
  template <class Watch>
  void set_progress(Watch watch) {
    set_hook(&detail::Hooks::progress, std::move(watch), "progress",
             [&](void* hook) { return posset_context_set_progress(handle(), detail::watch_progress<Watch>, hook); });
  }
  // `wait(double seconds)`: the host's event loop instead of a sleep, and `wake()`, which ends it from another thread;
  // see posset_idle. `wait` may give a bool; false, or an exception, ends the evaluation. Both stay until the context
  // ends, also when others are set.
  template <class Wait, class Wake>
  void set_idle(Wait wait, Wake wake) {
    using Both = detail::Idle<Wait, Wake>;
    keep_idle(Both{std::move(wait), std::move(wake)}, detail::wake_idle<Both>);
  }
  // The same where nothing wakes `wait`: it is asked for short times.
  template <class Wait>
  void set_idle(Wait wait) {
    keep_idle(detail::Idle<Wait, std::nullptr_t>{std::move(wait), nullptr}, nullptr);
  }
  void set_options(const ContextOptions& options) {
    posset_context_options raw = options.raw();
    check(posset_context_set_options(handle(), &raw), "options");
  }
  void interrupt() noexcept { posset_interrupt(handle()); }
  posset_statistics statistics() const {
    posset_statistics out = {};
    out.size = sizeof out;
    check(posset_context_statistics(handle(), &out), "statistics");
    return out;
  }

 private:
  void check(posset_status status, const char* what) const {
    detail::check(handle(), status, what);
  }
  template <class T>
  static void drop(void* data) {
    delete static_cast<T*>(data);
  }

  // The context's, made with the first of them. Throws Misuse.
  detail::Hooks& hooks(const char* what) {
    if (!hooks_) {
      detail::Owner<detail::Hooks, detail::Delete> made(new detail::Hooks);
      check(posset_set_data(handle(), made.get(), made.get(), drop<detail::Hooks>), what);
      hooks_.reset(made.release());
    }
    return *hooks_.get();
  }
  template <class F, class Set>
  void set_hook(detail::OwnedHook detail::Hooks::*place, F function, const char* what, Set set) {
    detail::Owner<detail::HookOf<F>, detail::DropHook> made(new detail::HookOf<F>(std::move(function)));
    made->context = handle();
    detail::Hooks& all = hooks(what);
    check(set(made.get()), what);
    (all.*place).reset(made.release());
  }
  template <class Both>
  void keep_idle(Both both, void (*wake)(void*)) {
    detail::Owner<detail::HookOf<Both>, detail::DropHook> made(new detail::HookOf<Both>(std::move(both)));
    detail::Hooks& all = hooks("idle");
    all.idles.reserve(all.idles.size() + 1);  // so that nothing fails when it is in force
    posset_idle idle = posset_idle_defaults();
    idle.wait = detail::wait_idle<Both>;
    idle.wake = wake;
    idle.data = made.get();
    check(posset_context_set_idle(handle(), &idle), "idle");
    all.idles.emplace_back(made.release());
  }

  template <class Trampoline, class Given, class F>
  void define_row(const char* name, F function, const char* doc) {
    std::string signature;
    posset_function_row row = {};
    detail::describe_arguments<typename Trampoline::Arguments>(row, name, signature);
    row.doc = doc;
    detail::mark_row<Given>(row);
    row.function = Trampoline::entry;
    row.data = new F(std::move(function));
    check(posset_define(handle(), &row, sizeof row, drop<F>), name);
  }

  struct Leave {
    void operator()(detail::Hooks*) const {}
  };
  detail::Owned<posset_context> context_;
  detail::Owner<detail::Hooks, Leave> hooks_;  // owned by the context
};

template <class T>
Future<T> Runtime::submit(Context& context, std::string_view text, const SubmitOptions& options) {
  if (posset_context_runtime(context.handle()) != handle()) throw Misuse(POSSET_MISUSE, "submit");
  return context.submit<T>(text, options);
}

}  // namespace posset
