// The trace sink: a ring of fixed-size events that any thread records into and a writer reads at the end.
// Tracing is off when there is no sink: whoever may record holds a pointer and tests it, at decisions only
// (a threshold, a queue, a theft), never per instruction. When the ring is full the oldest events are
// overwritten and counted as dropped. Events that say what others are about (a unit's name and place) are kept
// beside the ring, as many as it has room for.
//
// What an event means is a row of a table: sched/trace_events.def for schedulers, and one of the language's
// for units and tiers. A row gives each field a type; the views (text, Chrome trace, page) are made from the
// rows and need no code of their own for a new event. `kTraceVersion` changes when a row changes meaning.
//
// Names and other texts are kept once, in a table of the sink; a field of type Text is an index into it.
// Text 0 is empty, and what a text becomes when the table is full.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"

namespace posset::sched {

constexpr int kTraceVersion = 1;

// What a field of an event is, which decides how the views write it.
enum class TraceType : uint8_t {
  None,         // the row has fewer fields
  Unit,         // number of a unit
  Loop,         // -1: the function's body
  Job,          // number of something the schedulers run; joins its events
  Task,         // number of a task of a script; likewise
  Tier,
  Count,
  Nanoseconds,
  Bytes,
  Number,       // a double, as bits
  Text,         // index into the texts
  Source,       // index of a whole source text; only the page shows it
  Reason,       // code of a closed set the sink does not know
  Code,         // index into the names the row's reader knows: route, lane, outcome
};

constexpr size_t kTraceFields = 7;

struct TraceEvent {
  uint64_t sequence = 0;  // the order in which events were recorded; what is dropped leaves a gap
  int64_t time_ns = 0;    // since the sink was made
  uint16_t kind = 0;
  uint16_t thread = 0;    // index into the thread names
  std::array<int64_t, kTraceFields> fields{};
};

// A row of a table as the views see it.
struct TraceEventInfo {
  uint16_t kind;
  const char* name;
  std::array<TraceType, kTraceFields> types;
  std::array<const char*, kTraceFields> names;  // "" where the type is None
  const char* meaning;
};

struct TraceSnapshot {
  std::vector<TraceEvent> events;  // by sequence
  uint64_t dropped = 0;
  std::vector<std::string> threads;
  std::vector<std::string> texts;
};

class Trace {
 public:
  // Keeps the last `capacity` events (at least 1), and at most `text_bytes` of texts. `clock` outlives it.
  explicit Trace(const Clock& clock, size_t capacity = 1 << 16, size_t text_bytes = 16 << 20);

  // Any thread. Surplus fields are not allowed; missing ones are 0.
  void record(uint16_t kind, std::initializer_list<int64_t> fields) POSSET_EXCLUDES(mutex_);
  // One that later events refer to: not overwritten while there is room.
  void record_kept(uint16_t kind, std::initializer_list<int64_t> fields) POSSET_EXCLUDES(mutex_);
  // The index of a text, any thread.
  int64_t text(std::string_view text) POSSET_EXCLUDES(mutex_);
  // What the calling thread is called; otherwise "thread N".
  void name_thread(std::string_view name) POSSET_EXCLUDES(mutex_);

  TraceSnapshot snapshot() const POSSET_EXCLUDES(mutex_);

 private:
  uint16_t thread_index() POSSET_REQUIRES(mutex_);
  TraceEvent next_event(uint16_t kind, std::initializer_list<int64_t> fields) POSSET_REQUIRES(mutex_);
  void add_to_ring(const TraceEvent& event) POSSET_REQUIRES(mutex_);

  const Clock& clock_;
  const int64_t start_ns_;
  const size_t capacity_;
  const size_t text_limit_;
  mutable Mutex mutex_;
  std::vector<TraceEvent> ring_ POSSET_GUARDED_BY(mutex_);
  std::vector<TraceEvent> kept_ POSSET_GUARDED_BY(mutex_);
  uint64_t next_sequence_ POSSET_GUARDED_BY(mutex_) = 0;
  uint64_t in_ring_ POSSET_GUARDED_BY(mutex_) = 0;  // that were ever put there
  size_t text_bytes_ POSSET_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> texts_ POSSET_GUARDED_BY(mutex_);
  std::unordered_map<std::string, int64_t> text_indices_ POSSET_GUARDED_BY(mutex_);
  std::vector<std::string> threads_ POSSET_GUARDED_BY(mutex_);
  std::unordered_map<std::thread::id, uint16_t> thread_indices_ POSSET_GUARDED_BY(mutex_);
};

}  // namespace posset::sched
