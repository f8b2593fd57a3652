// The structs that begin with their size: where each member stands, which never changes, and hosts that know only the
// first members of one, or more than this library does. A member that is added gets a line at the end of its struct.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "fixture.h"

using posset::test::text;
using posset::test::World;

// ---- where members stand ----

#define AT(Struct, member, offset) static_assert(offsetof(Struct, member) == (offset), "members are only appended")

AT(posset_runtime_options, max_tier, 8);
AT(posset_runtime_options, forced_tier, 12);
AT(posset_runtime_options, tier1_after, 16);
AT(posset_runtime_options, tier2_after, 20);
AT(posset_runtime_options, tier3_after, 24);
AT(posset_runtime_options, code_limit, 32);
AT(posset_runtime_options, native_plugin, 40);
AT(posset_runtime_options, exit_stress, 48);
AT(posset_runtime_options, native_passes, 56);
AT(posset_runtime_options, native_watch, 64);
AT(posset_runtime_options, workers, 72);
AT(posset_runtime_options, quantum_us, 76);
AT(posset_runtime_options, trace_file, 80);
AT(posset_runtime_options, trace_events, 88);
AT(posset_runtime_options, cache_directory, 96);
AT(posset_runtime_options, cache_limit, 104);
AT(posset_runtime_options, evaluation_threads, 112);
AT(posset_runtime_options, queue_limit, 116);
AT(posset_runtime_options, cabal_limit, 120);
static_assert(sizeof(posset_runtime_options) == 128);

AT(posset_context_options, grants, 8);
AT(posset_context_options, read_directory, 16);
AT(posset_context_options, write_directory, 24);
AT(posset_context_options, memory_limit, 32);
AT(posset_context_options, time_limit_seconds, 40);
AT(posset_context_options, step_limit, 48);
AT(posset_context_options, stack_limit, 56);
AT(posset_context_options, output_limit, 64);
AT(posset_context_options, stack_bytes, 72);
static_assert(sizeof(posset_context_options) == 80);

AT(posset_submit_options, priority, 8);
AT(posset_submit_options, deadline_seconds, 16);
AT(posset_submit_options, room_seconds, 24);

AT(posset_source, name, 8);
AT(posset_source, key, 24);
AT(posset_source, text, 40);

AT(posset_object, pointer, 8);
AT(posset_object, bytes, 16);
AT(posset_object, drop, 24);
AT(posset_object, data, 32);

AT(posset_type_row, name, 8);
AT(posset_type_row, doc, 16);
AT(posset_type_row, key, 24);
AT(posset_type_row, properties, 32);
AT(posset_type_row, property_count, 40);
AT(posset_type_row, property_size, 48);
AT(posset_type_row, methods, 56);
AT(posset_type_row, method_count, 64);
AT(posset_type_row, method_size, 72);
AT(posset_type_row, label, 80);
AT(posset_type_row, drop, 88);
AT(posset_type_row, data, 96);

AT(posset_function_row, name, 0);
AT(posset_function_row, signature, 8);
AT(posset_function_row, doc, 16);
AT(posset_function_row, min_arguments, 24);
AT(posset_function_row, max_arguments, 28);
AT(posset_function_row, inout, 32);
AT(posset_function_row, calls, 40);
AT(posset_function_row, pure, 48);
AT(posset_function_row, function, 56);
AT(posset_function_row, data, 64);
AT(posset_function_row, of_float, 72);
AT(posset_function_row, of_floats, 80);
AT(posset_function_row, may_yield, 88);

AT(posset_number, number, 0);
AT(posset_number, kind, 8);
AT(posset_number, status, 12);
static_assert(sizeof(posset_number) == 16);
AT(posset_column, numbers, 0);
AT(posset_column, kind, 8);
static_assert(sizeof(posset_column) == 16);

AT(posset_function_info, name, 8);
AT(posset_function_info, module, 24);
AT(posset_function_info, doc, 40);
AT(posset_function_info, min_arguments, 56);
AT(posset_function_info, max_arguments, 60);
AT(posset_function_info, inout_mask, 64);
AT(posset_function_info, pure, 72);
AT(posset_function_info, native, 73);

AT(posset_error_info, code, 8);
AT(posset_error_info, code_name, 16);
AT(posset_error_info, message, 24);
AT(posset_error_info, hint, 40);
AT(posset_error_info, value, 56);
AT(posset_error_info, file, 72);
AT(posset_error_info, line, 88);
AT(posset_error_info, end_line, 96);
AT(posset_error_info, trace_count, 104);
AT(posset_error_info, is_limit, 112);
AT(posset_error_info, is_interrupt, 113);

AT(posset_diagnostic, severity, 8);
AT(posset_diagnostic, code, 12);
AT(posset_diagnostic, code_name, 16);
AT(posset_diagnostic, message, 24);
AT(posset_diagnostic, hint, 40);
AT(posset_diagnostic, file, 56);
AT(posset_diagnostic, line, 72);
AT(posset_diagnostic, end_line, 80);

AT(posset_idle, wait, 8);
AT(posset_idle, wake, 16);
AT(posset_idle, data, 24);
static_assert(sizeof(posset_idle) == 32);

AT(posset_statistics, allocations, 8);
AT(posset_statistics, live_objects, 16);
AT(posset_statistics, copies, 24);
AT(posset_statistics, copied_bytes, 32);
AT(posset_statistics, used_bytes, 40);
AT(posset_statistics, peak_bytes, 48);
AT(posset_statistics, cycle_collections, 56);
AT(posset_statistics, steps, 64);
AT(posset_statistics, output_bytes, 72);
AT(posset_statistics, modules, 80);
AT(posset_statistics, units, 88);
AT(posset_statistics, compiled, 96);
AT(posset_statistics, code_bytes, 128);
AT(posset_statistics, unit_bytes, 160);
AT(posset_statistics, cache_hits, 168);
AT(posset_statistics, cache_misses, 176);

AT(posset_solve_progress, what, 8);
AT(posset_solve_progress, ended, 16);
AT(posset_solve_progress, seconds, 24);
AT(posset_solve_progress, updates, 32);
AT(posset_solve_progress, residual, 40);

#undef AT

// ---- hosts that know fewer members, or more ----

namespace {

struct Free {
  void operator()(void* block) const { std::free(block); }
};
// As a host has it whose header ends after `size` bytes: behind them is nothing, which the sanitizer watches.
template <class Struct>
struct Sized {
  Sized(const Struct& full, size_t size) : block(static_cast<char*>(std::malloc(size))) {
    REQUIRE(block != nullptr);
    std::memset(block.get(), 0x5a, size);
    std::memcpy(block.get(), &full, std::min(size, sizeof full));
    std::memcpy(block.get(), &size, sizeof size);
  }
  Struct* get() { return reinterpret_cast<Struct*>(block.get()); }
  std::unique_ptr<char, Free> block;
};

// Every size a struct had or will have, in words.
template <class Struct>
std::vector<size_t> sizes() {
  std::vector<size_t> all;
  for (size_t size = sizeof(size_t); size <= sizeof(Struct) + 32; size += sizeof(size_t)) all.push_back(size);
  return all;
}

// What the library fills is all that the host knows, and no more: what is the same as when it knows everything, up to
// there. Behind `end`, the end of the last member, is padding.
template <class Struct, class Fill>
void check_filled(size_t end, Fill fill) {
  Struct full = {};
  full.size = sizeof full;
  REQUIRE(fill(&full) == POSSET_OK);
  for (const size_t size : sizes<Struct>()) {
    CAPTURE(size);
    Sized<Struct> given(Struct{}, size);
    CHECK(fill(given.get()) == POSSET_OK);
    CHECK(given.get()->size == size);
    const size_t known = std::min(size, end);
    CHECK(std::memcmp(given.block.get() + sizeof size, reinterpret_cast<char*>(&full) + sizeof size, known - sizeof size) == 0);
    for (size_t i = sizeof full; i < size; ++i) REQUIRE(given.block.get()[i] == 0x5a);
  }
  Struct none = {};
  CHECK(fill(&none) == POSSET_MISUSE);
}

template <class Struct, class Read>
void check_read(const Struct& full, Read read) {
  for (const size_t size : sizes<Struct>()) {
    CAPTURE(size);
    Sized<Struct> given(full, size);
    read(given.get(), size);
  }
  Struct none = full;
  none.size = sizeof(size_t) - 1;
  CHECK(read(&none, 0) == POSSET_MISUSE);
}

}  // namespace

TEST_CASE("sizes of structs: options of runtimes that older and newer hosts know") {
  posset_runtime_options options = posset_runtime_defaults();
  options.workers = 1;
  check_read(options, [](const posset_runtime_options* given, size_t) {
    posset_runtime* runtime = nullptr;
    const posset_status status = posset_runtime_create(given, &runtime);
    if (status == POSSET_OK) posset_runtime_release(runtime);
    CHECK((status == POSSET_OK) == (given->size >= sizeof(size_t)));
    return status;
  });
}

TEST_CASE("sizes of structs: a context of an older host has its limits and grants, and defaults behind") {
  posset_runtime* runtime = posset::test::make_runtime();
  posset_context_options options = posset_context_defaults();
  options.grants = POSSET_GRANT_CLOCK;
  options.step_limit = 1000;
  check_read(options, [&](const posset_context_options* given, size_t size) {
    posset_context* context = nullptr;
    const posset_status status = posset_context_create(runtime, given, &context);
    if (status != POSSET_OK) return status;
    CHECK(posset_granted(context, POSSET_GRANT_CLOCK, text("")) == (size >= 16));
    const posset_status ran = posset_eval(context, text("var i = 0\nwhile i < 5000 { i += 1 }\ni"), nullptr, nullptr);
    CHECK(ran == (size >= offsetof(posset_context_options, step_limit) + 8 ? POSSET_RAISED : POSSET_OK));
    posset_error_free(posset_take_error(context));
    CHECK(posset_context_set_options(context, given) == POSSET_OK);
    posset_context_release(context);
    return status;
  });
  posset_runtime_release(runtime);
}

TEST_CASE("sizes of structs: submissions, sources and objects of older and newer hosts") {
  World w;
  check_read(posset_submit_defaults(), [&](const posset_submit_options* given, size_t) {
    posset_future* future = nullptr;
    const posset_status status = posset_submit_eval(w.context, text("1"), given, &future);
    if (status != POSSET_OK) return status;
    posset_future_wait(future, -1);
    posset_future_release(future);
    return status;
  });
  check_read(posset_source_of("a.posset", text("1 + 1")), [&](const posset_source* given, size_t) {
    posset_program* program = nullptr;
    const posset_status status = posset_load(w.context, given, &program, nullptr);
    if (status == POSSET_OK) posset_program_free(program);
    return status;
  });
}

TEST_CASE("sizes of structs: host types and objects of older and newer hosts") {
  static const char key = 0;
  posset_runtime* runtime = posset::test::make_runtime();
  posset_type_row row = posset_type_of("Thing");
  row.key = &key;
  int next = 0;
  check_read(row, [&](posset_type_row* given, size_t size) {
    // Without a name, which the smallest do not know, it is none.
    const std::string name = "Thing" + std::to_string(next++);
    if (size > offsetof(posset_type_row, name)) given->name = name.c_str();
    if (size > offsetof(posset_type_row, key)) given->key = nullptr;
    const posset_status status = posset_register_type(runtime, given, nullptr);
    CHECK(status == (size > offsetof(posset_type_row, name) ? POSSET_OK : POSSET_MISUSE));
    return status;
  });
  REQUIRE(posset_register_type(runtime, &row, nullptr) == POSSET_OK);
  World w(runtime, posset_context_defaults());
  const posset_type* type = nullptr;
  REQUIRE(posset_find_type(runtime, &key, &type) == POSSET_OK);
  check_read(posset_object_of(&w), [&](const posset_object* given, size_t size) {
    posset_value made = posset_nil();
    const posset_status status = posset_host(w.context, type, given, &made);
    CHECK(status == (size > sizeof size ? POSSET_OK : POSSET_MISUSE));
    posset_release(made);
    return status;
  });
  posset_runtime_release(runtime);
}

TEST_CASE("sizes of structs: what is told to older and newer hosts") {
  World w;
  check_filled<posset_runtime_options>(sizeof(posset_runtime_options), [&](posset_runtime_options* out) { return posset_runtime_get_options(w.runtime, out); });
  check_filled<posset_statistics>(sizeof(posset_statistics), [&](posset_statistics* out) { return posset_context_statistics(w.context, out); });

  posset_value function = posset_nil();
  REQUIRE(w.eval("(a, b) => a + b", &function) == POSSET_OK);
  check_filled<posset_function_info>(
      offsetof(posset_function_info, native) + sizeof(bool), [&](posset_function_info* out) { return posset_describe_function(w.context, function, out); });
  posset_release(function);

  REQUIRE(w.eval("1 // 0") == POSSET_RAISED);
  posset_error* error = posset_take_error(w.context);
  check_filled<posset_error_info>(offsetof(posset_error_info, is_interrupt) + sizeof(bool), [&](posset_error_info* out) { return posset_error_get(error, out); });
  posset_error_free(error);

  posset_diagnostics* diagnostics = nullptr;
  REQUIRE(posset_eval(w.context, text("1 +"), nullptr, &diagnostics) == POSSET_INVALID);
  check_filled<posset_diagnostic>(sizeof(posset_diagnostic), [&](posset_diagnostic* out) { return posset_diagnostics_get(diagnostics, 0, out); });
  posset_diagnostics_free(diagnostics);
}
