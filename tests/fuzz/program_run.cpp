// See program_run.h.
#include "program_run.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string_view>
#include <vector>

#include <posset/posset.h>

#include "interp/api/handles.h"

namespace posset::fuzz {

namespace {

constexpr uint64_t kMemoryLimit = 64u << 20;
// The stack's is low because sanitized frames of the walker are large.
constexpr Limits kGenerous = {.steps = 60000, .output = 1u << 16, .stack = 400};

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "program_fuzz: %s\n", what);
  std::abort();
}

bool append(void* data, const char* text, size_t size) {
  static_cast<std::string*>(data)->append(text, size);
  return true;
}

std::string text_of(posset_text text) { return std::string(text.data ? text.data : "", text.size); }

std::string describe_error(posset_error* error, bool& cut_short) {
  posset_error_info info{};
  info.size = sizeof info;
  posset_error_get(error, &info);
  cut_short = info.code == POSSET_ERROR_MemoryLimit || info.code == POSSET_ERROR_TimeLimit;
  std::string text = std::string(info.code_name) + " at " + std::to_string(info.line) + ":" +
                     std::to_string(info.column) + ": " + text_of(info.message) + "\n";
  if (info.hint.size) text += "  hint: " + text_of(info.hint) + "\n";
  for (size_t line = 0; line < info.trace_count; ++line)
    text += "  " + text_of(posset_error_trace(error, line)) + "\n";
  return text;
}

posset_context* make_context(posset_runtime* runtime, const Limits& limits, std::string& output) {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = kMemoryLimit;
  options.step_limit = limits.steps;
  options.stack_limit = limits.stack;
  options.output_limit = limits.output;
  options.time_limit_seconds = limits.seconds;
  posset_context* context = nullptr;
  require(posset_context_create(runtime, &options, &context) == POSSET_OK, "no context");
  posset_context_set_output(context, append, &output);
  return context;
}

void run_loaded(posset_context* context, posset_program* program, Outcome& outcome) {
  posset_value value = posset_nil();
  const posset_status status = posset_run(program, &value);
  require(status == POSSET_OK || status == POSSET_RAISED, "posset_run gave a strange status");
  if (status == POSSET_RAISED) {
    posset_error* error = posset_take_error(context);
    require(error != nullptr, "raised without an error");
    outcome.error = describe_error(error, outcome.cut_short);
    posset_error_free(error);
  }
  posset_statistics statistics{};
  statistics.size = sizeof statistics;
  posset_context_statistics(context, &statistics);
  outcome.steps = statistics.steps;
  if (status == POSSET_OK) posset_print(context, value, true, append, &outcome.value);
  posset_release(value);
}

}  // namespace

TierRuntime::~TierRuntime() { renew(); }

void TierRuntime::renew() {
  posset_runtime_release(runtime_);
  runtime_ = nullptr;
}

namespace {

constexpr uint32_t kNever = UINT32_MAX;

// Passes of LLVM's that make code fast take most of the time, and are not what is tested: only now and then, and by
// numbers that have nothing to do with how loops are entered or with the other tiers' of the same seed.
const char* passes_of(Tier tier, uint32_t seed) {
  std::seed_seq sequence{seed, static_cast<uint32_t>(tier)};
  const uint32_t chosen = std::mt19937(sequence)() % 32;
  return chosen == 0 ? "full" : chosen <= 2 ? "light" : "quick";
}

// With short slices nearly every fork record is seen, and old enough at once.
void set_workers(posset_runtime_options& options, Tier tier, uint32_t seed) {
  options.workers = 1;
  if (tier != Tier::StolenTree && tier != Tier::StolenNative) return;
  options.workers = 3;
  options.quantum_us = 1;
  options.exit_stress = seed;
}

void set_tiers(posset_runtime_options& options, Tier tier, uint32_t seed) {
  if (tier == Tier::Walker || tier == Tier::StolenTree) {
    options.max_tier = 0;
    return;
  }
  // With loops that are code of their own, or that become code while they run, or without.
  options.forced_tier = tier == Tier::Bytecode || seed % 2 == 0 ? 1 : -1;
  options.tier1_after = 1;
  options.native_passes = passes_of(tier, seed);
  const bool follows = tier == Tier::Stage2 && std::string_view(options.native_passes) == "full";
  options.tier2_after = tier == Tier::Stage1 || follows ? 2 : kNever;
  options.tier3_after = tier == Tier::Bytecode || tier == Tier::Stage1 ? kNever : 3;
  if (tier == Tier::Exits) options.exit_stress = seed;
}

}  // namespace

posset_runtime* TierRuntime::get() {
  if (runtime_) return runtime_;
  posset_runtime_options options = posset_runtime_defaults();
  set_workers(options, tier_, seed_);
  set_tiers(options, tier_, seed_);
  require(posset_default_runtime(&options, &runtime_) == POSSET_OK, "no runtime");
  return runtime_;
}

std::string Outcome::describe() const {
  if (!loaded) return "not loaded:\n" + diagnostics;
  return "value: " + value + "\nerror: " + error + "\nsteps: " + std::to_string(steps) +
         "\nlive objects: " + std::to_string(live_objects) + "\nheap: " + (sound ? "sound" : "spoilt") + "\noutput:\n" + output + "\n";
}

Limits limits_for(const std::string& text) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a, finished off so that all bits depend on all
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211u;
  hash ^= hash >> 32;
  Limits limits = kGenerous;
  const auto amount = (hash >> 8) & 0xff;
  switch (hash & 7) {
    case 0:
      limits.steps = 1 + amount;
      break;
    case 1:
      limits.steps = 1 + amount % 16;
      break;
    case 2:
      limits.stack = static_cast<uint32_t>(2 + amount % 12);
      break;
    case 3:
      limits.output = 1 + amount;
      break;
    case 4:
      limits.steps = 256 + amount * 16 + (hash >> 16 & 0xf);
      break;
    case 5:
      limits.stack = static_cast<uint32_t>(14 + amount);
      break;
    default:
      break;
  }
  return limits;
}

namespace {

std::string sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string sorted;
  for (const std::string& line : lines) sorted += line + "\n";
  return sorted;
}

// Tasks have their turns by time: which of them prints first or takes the last step that a limit allows, and whether one whose
// handle was dropped had begun, is up to the clock.
void forget_what_clocks_say(const std::string& text, Outcome& outcome) {
  if (text.find("spawn") == std::string::npos) return;
  outcome.steps = 0;
  outcome.output = sorted_lines(outcome.output);
  for (const char* limit : {"StepLimit", "OutputLimit"}) {
    if (!outcome.error.starts_with(limit)) continue;
    outcome.error = limit;
    outcome.output.clear();
  }
}

}  // namespace

Outcome run_program(TierRuntime& runtime, const std::string& text, const Limits& limits) {
  Outcome outcome;
  posset_context* context = make_context(runtime.get(), limits, outcome.output);
  posset_program* program = nullptr;
  posset_diagnostics* diagnostics = nullptr;
  const posset_source source =
      posset_source_of("fuzz.posset", posset_text_n(text.data(), text.size()));
  const posset_status status = posset_load(context, &source, &program, &diagnostics);
  outcome.loaded = status == POSSET_OK;
  for (size_t each = 0; !outcome.loaded && each < posset_diagnostics_count(diagnostics); ++each)
    posset_diagnostics_render(diagnostics, each, false, append, &outcome.diagnostics);
  posset_diagnostics_free(diagnostics);
  if (outcome.loaded) run_loaded(context, program, outcome);
  posset_program_free(program);
  posset_context_finish(context);
  posset_statistics statistics{};
  statistics.size = sizeof statistics;
  posset_context_statistics(context, &statistics);
  outcome.live_objects = statistics.live_objects;
  outcome.sound = context->heap.has_sound_cells();
  posset_context_release(context);
  forget_what_clocks_say(text, outcome);
  return outcome;
}

}  // namespace posset::fuzz
