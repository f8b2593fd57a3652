// Runtimes: making them from options, tiers, and the small things that need no handle at all.
#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>
#include <thread>

#include "interp/api/handles.h"
#include "interp/runtime/builtins.h"
#include "interp/walk/walk.h"

namespace {

using posset::interp::RuntimeOptions;
using posset::interp::TierInterface;

// Who is told of native code; nothing when the list has a word that means nothing.
std::optional<uint32_t> watchers_of(std::string_view list) {
  uint32_t found = 0;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    if (word != "perf" && word != "gdb") return std::nullopt;
    found |= word == "perf" ? posset::interp::kWatchPerf : posset::interp::kWatchGdb;
    list.remove_prefix(std::min(list.size(), word.size() + 1));
  }
  return found;
}

std::optional<uint8_t> passes_of(std::string_view word) {
  constexpr std::string_view kWords[] = {"quick", "light", "full"};  // in the order of jit::Pipeline
  const auto found = std::find(std::begin(kWords), std::end(kWords), word);
  return found == std::end(kWords) ? std::nullopt : std::optional(static_cast<uint8_t>(found - std::begin(kWords)));
}

bool in_range(const posset_runtime_options& options) {
  constexpr int kHighest = posset::interp::kTiers - 1;
  constexpr uint32_t kMostThreads = 4096, kMostQuantumUs = 10'000'000;
  return options.max_tier >= 0 && options.max_tier <= kHighest && options.forced_tier >= -1 &&
         options.forced_tier <= kHighest && options.evaluation_threads <= kMostThreads &&
         options.workers <= kMostThreads && options.quantum_us <= kMostQuantumUs && options.cabal_limit <= kMostThreads &&
         options.trace_file && options.cache_directory && options.native_plugin && *options.native_plugin &&
         options.native_watch && watchers_of(options.native_watch) && options.native_passes &&
         passes_of(options.native_passes);
}

// Options of tiers that are not there are refused rather than ignored.
bool is_built(const posset_runtime_options& options) {
  return options.forced_tier <= 1 || posset_native_tier(options.forced_tier);
}

// What a trace file keeps when nothing else was asked for: some 5 MiB.
constexpr uint32_t kTraceEvents = 1 << 16;

RuntimeOptions used_options(const posset_runtime_options& options) {
  RuntimeOptions used;
  used.thresholds[1] = options.tier1_after;
  used.thresholds[2] = options.tier2_after;
  used.thresholds[3] = options.tier3_after;
  used.max_tier = options.max_tier;
  used.forced_tier = options.forced_tier;
  used.code_limit_bytes = options.code_limit;
  used.trace_events = options.trace_events;
  used.evaluation_threads = options.evaluation_threads;
  used.queue_limit = options.queue_limit;
  used.workers = options.workers != 0 ? options.workers : std::max(1U, std::thread::hardware_concurrency());
  used.quantum_us = options.quantum_us;
  used.cabal_limit = options.cabal_limit;
  used.native_plugin = options.native_plugin;
  used.native_passes = *passes_of(options.native_passes);
  used.exit_stress = options.exit_stress;
  used.native_watch = *watchers_of(options.native_watch);
  used.cache_directory = options.cache_directory;
  used.cache_limit_bytes = options.cache_limit;
  return used;
}

// Ending a runtime waits for its threads, so none of them can do it. It comes to that when a host function
// drops the last handle of all from inside a submitted evaluation; a thread of its own then does it.
void end_elsewhere(posset_runtime* runtime) {
  try {
    std::thread([runtime] { delete runtime; }).detach();
  } catch (const std::exception&) {
    // No thread to be had: what is left of the runtime stays, idle.
  }
}

}  // namespace

posset_runtime::~posset_runtime() {
  for (const auto& [kept, drop] : type_data) drop(kept);
  if (!trace_file) return;
  state.control.stop();  // what its threads still record belongs into the file
  trace_file->write(*this);
}

extern "C" {

posset_status posset_runtime_create(const posset_runtime_options* given, posset_runtime** out) {
  posset_runtime_options options = posset_runtime_defaults();
  if (!out || !posset::api::read_struct(given, options) || !in_range(options)) return POSSET_MISUSE;
  if (!is_built(options)) return POSSET_NOT_BUILT;
  if (*options.trace_file && options.trace_events == 0) options.trace_events = kTraceEvents;
  std::unique_ptr<posset::api::TraceFile> trace_file;
  if (*options.trace_file) {
    posset_status status = posset::api::open_trace_file(options.trace_file, trace_file);
    if (status != POSSET_OK) return status;
  }
  try {
    const RuntimeOptions used = used_options(options);
    options.trace_file = options.cache_directory = options.native_plugin = options.native_watch = options.native_passes = "";  // the caller's texts are not kept
    auto runtime = std::make_unique<posset_runtime>(options, used);
    runtime->trace_file = std::move(trace_file);
    if (runtime->state.trace) runtime->state.trace->name_thread("main");
    runtime->state.make_helper = posset::api::make_helper;
    runtime->state.attach(&posset::interp::walker_tier());
    posset::interp::register_builtins(runtime->state);
    posset::sched::has_asymmetric_fence();  // here rather than in a call: where threads run it may take milliseconds, once
    *out = runtime.release();
  } catch (const std::bad_alloc&) {
    return POSSET_NO_MEMORY;
  }
  return POSSET_OK;
}

void posset_runtime_retain(posset_runtime* runtime) {
  if (runtime) runtime->handles.fetch_add(1, std::memory_order_relaxed);
}

void posset_runtime_release(posset_runtime* runtime) {
  if (runtime) posset::api::destroy_abandoned(runtime);
  // Acquire and release: what every holder did happens before the end.
  if (!runtime || runtime->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (runtime->state.control.is_own_thread()) {
    end_elsewhere(runtime);
  } else {
    delete runtime;
  }
}

void posset_runtime_settle(posset_runtime* runtime) {
  if (runtime) runtime->state.control.wait();
}

posset_status posset_runtime_get_options(const posset_runtime* runtime, posset_runtime_options* to) {
  return runtime ? posset::api::fill_struct(to, runtime->options) : POSSET_MISUSE;
}

posset_status posset_attach_tier(posset_runtime* runtime, const void* descriptor) {
  if (!runtime || !descriptor || runtime->closed) return POSSET_MISUSE;
  const auto* tier = static_cast<const TierInterface*>(descriptor);
  if (tier->version != TierInterface().version || tier->level < 1 ||
      tier->level >= posset::interp::kTiers) {
    return POSSET_MISUSE;
  }
  if (runtime->state.tier(tier->level)) return POSSET_EXISTS;
  return posset::api::or_no_memory([&] {
    runtime->state.attach(tier);
    return POSSET_OK;
  });
}

const void* posset_native_tier([[maybe_unused]] int level) {
#ifdef POSSET_NATIVE
  return posset::interp::native_tier(level);
#else
  return nullptr;
#endif
}

const char* posset_version(void) {
#define POSSET_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define POSSET_VERSION_TEXT(major, minor, patch) POSSET_TEXT_OF(major, minor, patch)
  return POSSET_VERSION_TEXT(POSSET_VERSION_MAJOR, POSSET_VERSION_MINOR, POSSET_VERSION_PATCH);
#undef POSSET_VERSION_TEXT
#undef POSSET_TEXT_OF
}

const char* posset_status_text(posset_status status) {
  switch (status) {
    case POSSET_OK:
      return "done";
    case POSSET_RAISED:
      return "an error is pending";
    case POSSET_INVALID:
      return "the source does not parse or resolve";
    case POSSET_MISUSE:
      return "an argument that cannot be used";
    case POSSET_BUSY:
      return "the context is running on another thread";
    case POSSET_EXISTS:
      return "the name is taken";
    case POSSET_NOT_FOUND:
      return "there is no such thing";
    case POSSET_NOT_BUILT:
      return "not built yet";
    case POSSET_NO_MEMORY:
      return "no memory";
    case POSSET_DONE:
      return "stopped";
    case POSSET_FULL:
      return "too many evaluations are waiting";
  }
  return "an unknown status";
}

}  // extern "C"
