// What the opaque handles of include/posset are, and how a call of the interface enters a context.
//
// A posset_context is an interp::Context with what only hosts care about, so a native function gets
// from the one to the other for nothing. Every function of the interface that touches a context
// opens an Entry (may this thread use it?); those that can run or charge anything open an
// Evaluation, which starts the counters of the outermost one. Both are free of allocation.
//
// posset_value and Borrowed have the same two words; `in` and `out` translate. Places are copied in
// and out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <posset/attach.h>
#include <posset/posset.h>

#include "interp/runtime/context.h"
#include "interp/runtime/native.h"
#include "interp/runtime/forks.h"
#include "interp/api/reservation.h"
#include "interp/api/trace_file.h"
#include "interp/runtime/program.h"
#include "interp/runtime/tasks.h"
#include "interp/syntax/diagnostic.h"
#include "sched/p2/hybrid.h"

namespace posset::api {

using interp::Borrowed;
using interp::NativeFunction;
using interp::Tag;
using interp::Value;

static_assert(sizeof(posset_value) == sizeof(Borrowed));
static_assert(static_cast<int>(Tag::Nil) == POSSET_NIL &&
              static_cast<int>(Tag::Bool) == POSSET_BOOL &&
              static_cast<int>(Tag::Int) == POSSET_INT &&
              static_cast<int>(Tag::Float) == POSSET_FLOAT);

inline Borrowed in(posset_value v) { return {v.word0, v.word1}; }
inline posset_value out(Borrowed v) { return posset_make(v.word0, v.word1); }
inline Value adopt(posset_value owned) { return Value::adopt(in(owned)); }
inline std::string_view view(posset_text text) { return {text.data ? text.data : "", text.size}; }
inline posset_text text(std::string_view view) { return posset_text_n(view.data(), view.size()); }
inline interp::ErrorCode code_in(posset_code code) { return static_cast<interp::ErrorCode>(code); }
inline posset_code code_out(interp::ErrorCode code) { return static_cast<posset_code>(code); }

// What a NativeFunction's `data` points to when it came through the interface.
struct RowData {
  posset_function function = nullptr;
  void* data = nullptr;
};

// The entry of every such function (function.cpp).
Value run_row(interp::NativeCall& call);
// The descriptor of a row; the texts are not copied.
NativeFunction descriptor_of(const posset_function_row& row, const char* module, RowData* data);
// A row as this version knows it, from one of a caller that knows `size` bytes of it. False: it is
// no good.
bool read_row(const void* row, size_t size, posset_function_row& read);

bool is_identifier(std::string_view text);

// Bytes of the longest source: a position in one has 32 bits.
inline constexpr size_t kMaxSource = UINT32_MAX - 1;

// A host function with the texts and the data it owns. It lives as long as the context, because
// values may refer to it after it was replaced.
struct HostFunction {
  HostFunction() = default;
  HostFunction(const HostFunction&) = delete;
  HostFunction& operator=(const HostFunction&) = delete;
  ~HostFunction() {
    if (drop) drop(row.data);
  }
  std::string name, signature, doc;
  RowData row;
  NativeFunction native;
  void (*drop)(void*) = nullptr;
};

struct HostData {
  void* data = nullptr;
  void (*drop)(void*) = nullptr;
};

// What its thread does instead of sleeping (suspend.cpp); it stays where it is, for others may be about to wake it.
struct HostIdle {
  explicit HostIdle(const posset_idle& given);
  HostIdle(const HostIdle&) = delete;
  HostIdle& operator=(const HostIdle&) = delete;
  const interp::Context::Idle idle;
  const sched::WakeUp::Listener listener;
};

class FiberCarrier;  // fiber_carrier.h
struct Ownership;    // submission.h
struct Submission;   // likewise

// What the host holds of a context and may free at any time: its value waits for the context when another
// thread is inside.
struct Orphan {
  virtual ~Orphan() = default;
  interp::Value value;
  Orphan* next = nullptr;
};

}  // namespace posset::api

struct posset_runtime {
  explicit posset_runtime(const posset_runtime_options& given,
                          const posset::interp::RuntimeOptions& used)
      : options(given), state(used) {}
  ~posset_runtime();  // runtime.cpp: writes the trace file

  std::atomic<uint32_t> handles{1};
  std::atomic<bool> closed{false};  // a context was made: no more registrations
  std::atomic<posset_context*> abandoned{nullptr};  // contexts that nobody has, but which were evaluating when they were let go
  posset_runtime_options options;
  std::unique_ptr<posset::api::TraceFile> trace_file;  // null: none was asked for
  // Descriptors of registered functions; deques, so that addresses hold.
  std::deque<posset::api::RowData> rows;
  std::deque<posset::interp::NativeFunction> functions;
  // Of host types (host.cpp).
  std::vector<std::deque<posset::api::RowData>> type_rows;
  std::vector<std::pair<void*, void (*)(void*)>> type_data;
  posset::interp::RuntimeState state;  // last: its threads end before what they read goes
};

struct posset_context final : posset::interp::Context {
  posset_context(posset_runtime* runtime, const posset::interp::Limits& limits, Role role = Role::Host);
  ~posset_context();

  posset_runtime* owner;  // counted
  posset_context* next_abandoned = nullptr;
  const std::shared_ptr<posset::api::Ownership> ownership;  // handles and the pending submission
  std::atomic<uintptr_t> thread{0};  // that is inside; 0: none; kSubmitted: none may enter
  posset::api::Reservation reservation;
  std::thread::id reserved_for;      // the same thread, as the heap knows it
  std::optional<posset::sched::EvaluationGuard> running;  // of the outermost one, unless it is brief
  uint32_t own_evaluations = 1;      // of the nested ones those that no function of the host has begun: 2 in a submission
  uint32_t pinning_evaluations = 0;  // begun by functions of the host that may not yield, those in which tasks wait included
  std::unique_ptr<posset::api::FiberCarrier> fiber_carrier;  // of its submissions; null: there was none yet
  std::atomic<posset::api::FiberCarrier*> carried_by{nullptr};  // the same while a submission is evaluated, for other threads
  bool finished = false;
  std::deque<posset::api::HostIdle> idles;  // the last is the one that is used, unless none is
  uint64_t last_steps = 0;

  uint32_t grants = 0;
  std::string read_directory, write_directory;  // empty: anywhere
  std::vector<std::unique_ptr<posset::api::HostFunction>> host_rows;
  std::unordered_map<const void*, posset::api::HostData> data;
  std::atomic<posset::api::Orphan*> orphans{nullptr};  // freed while another thread was inside
  // Instances of freed programs and evaluated expressions that something may still refer to
  // (retire.cpp).
  std::vector<posset::interp::ModuleInstance*> retired;
  size_t retire_at = 64;
};

struct posset_program {
  posset_context* context = nullptr;
  std::shared_ptr<posset::syntax::Module> tree;
  posset::interp::ModuleInstance* instance = nullptr;  // null: not instantiated yet
};

struct posset_diagnostics {
  std::vector<posset::syntax::Diagnostic> all;
};

// An error taken by the host. All but the value is copied out, so that reading needs no context.
struct posset_error : posset::api::Orphan {  // `value` is the error value
  posset_context* context = nullptr;        // counted, except among orphans
  posset::interp::ErrorCode code = posset::interp::ErrorCode::Thrown;
  bool limit = false;
  std::string message, hint, file;
  posset::syntax::Position begin{0, 0}, end{0, 0};
  std::vector<std::string> trace;
  std::string report[2];  // plain, coloured
};

namespace posset::api {

// RuntimeState::make_helper. For the calling thread, which is inside from now on.
std::shared_ptr<interp::Context> make_helper(interp::Context& root);

// A value on the heap of another context, which must not get into this one.
inline bool is_foreign(const posset_context* context, Borrowed v) {
  return v.is_heap() && interp::count_of(v.object()) != 0 && interp::Heap::heap_of(v.object()).family() != context->heap.family();
}

inline bool has_foreign(const posset_context* context, const posset_value* values, size_t count) {
  return std::any_of(values, values + count, [&](posset_value each) { return is_foreign(context, in(each)); });
}

// The calling thread as a number: the address of its thread block, one instruction to find.
inline uintptr_t this_thread() { return reinterpret_cast<uintptr_t>(__builtin_thread_pointer()); }
// In place of a thread: the context belongs to a submission that waits for one.
constexpr uintptr_t kSubmitted = 1;

// Inside, where the context is reserved for this thread.
inline void open_to_computing(posset_context* context) {
  context->reservation.open(this_thread());
  const bool in_the_way = context->error_pending() || context->finished || !context->has_plain_step() ||
                          context->orphans.load(std::memory_order_relaxed) != nullptr || context->is_interrupted() ||
                          context->runtime.units.reclaimer.waiting() != 0;
  if (in_the_way) context->reservation.close();
}

// The right of this thread to use a context, as long as the Entry lives. `status()` is POSSET_OK,
// or why not; then nothing may be touched.
class Entry {
 public:
  explicit Entry(posset_context* context) : context_(context) {
    if (!context) {
      status_ = POSSET_MISUSE;
      return;
    }
    // Relaxed: whether it is this thread never changes under its feet.
    if (context->thread.load(std::memory_order_relaxed) == this_thread()) return;
    enter();
  }
  ~Entry() {
    if (outermost_) leave();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  posset_status status() const { return status_; }
  bool failed() const { return status_ != POSSET_OK; }

 protected:
  void enter();
  void leave() {
    // Bound to nobody first: what this thread still holds of the heap it may no longer free in place.
    context_->heap.unbind_from_thread();
    if (context_->reservation.come_back(this_thread())) open_to_computing(context_);
    context_->thread.store(0, std::memory_order_release);
  }
  posset_context* context_;
  posset_status status_ = POSSET_OK;
  bool outermost_ = false;
};

// The outermost evaluation, which may have run something, has ended.
void end_run(posset_context* context);

// An Entry for what charges, raises or runs. The outermost one starts steps and clock anew and
// drops an error nobody took; inside, an error that is pending gives POSSET_RAISED.
class Evaluation : public Entry {
 public:
  // Running is what `statistics.steps` tells of afterwards; reading a value is not.
  enum class Kind : uint8_t { Work, Run };
  explicit Evaluation(posset_context* context, Kind kind = Kind::Work)
      : Entry(context), kind_(kind) {
    if (failed()) return;
    if (kind == Kind::Run && context->heap.is_guarded()) {  // in an accessor of a host object
      status_ = POSSET_BUSY;
      return;
    }
    is_of_host_ = context->evaluations >= context->own_evaluations;
    if (context->evaluations == 0) {
      begin();
    } else if (context->error_pending() || (kind == Kind::Run && is_of_host_ && !nest())) {
      status_ = POSSET_RAISED;
      return;
    }
    begun_ = true;
    forks_ = context->fork_top;
    pins_ = is_of_host_ && context->may_yield_within != context->evaluations;
    context->pinning_evaluations += pins_;
    ++context->evaluations;
    // One that came while nothing ran is for the first that does.
    if (kind == Kind::Run && context->evaluations == 1 && context->is_interrupted()) [[unlikely]] {
      context->raise_stop();
      status_ = POSSET_RAISED;
    }
  }
  // An argument that is taken, also when an error is pending; not when nothing may be touched, nor when it is of
  // another context, which is misuse.
  Value take(posset_value owned) {
    if (status_ != POSSET_OK && status_ != POSSET_RAISED) return Value();
    if (!is_foreign(context_, in(owned))) return adopt(owned);
    status_ = POSSET_MISUSE;
    return Value();
  }
  ~Evaluation() {
    if (!begun_) return;
    if (context_->fork_top != forks_) interp::drop_forks(*context_, forks_);
    context_->pinning_evaluations -= pins_;
    context_->depth -= is_of_host_ && kind_ == Kind::Run;
    if (--context_->evaluations != 0) return;
    if (kind_ == Kind::Run) end_run(context_);
    else if (from_idle_) context_->end_evaluation();
  }

 private:
  void begin();
  // It counts as a call, so that the host's functions cannot do what scripts may not. False: raised.
  bool nest();
  Kind kind_;
  bool begun_ = false;
  bool is_of_host_ = false;
  bool pins_ = false;
  bool from_idle_ = false;  // not while a run comes to its end, which a hook of the host may see
  interp::ForkRecord* forks_ = nullptr;  // what an error inside leaves above goes
};

// Instead of an Entry and an outermost Evaluation, where the context is reserved for this thread and nothing waits for a
// longer one to begin or to end: what a call costs that does next to nothing. `begun` false: nothing has happened.
class BriefEvaluation {
 public:
  // In place: they are most of what such a call costs.
  [[gnu::always_inline]] explicit BriefEvaluation(posset_context* context) : context_(context) {
    if (!context->reservation.enter(this_thread())) return;
    context->reservation.close();
    if (!context->may_be_brief() || context->finished || context->orphans.load(std::memory_order_relaxed)) [[unlikely]] {
      context->reservation.leave();
      return;
    }
    context->heap.bind_to_thread(context->reserved_for);
    context->begin_brief_evaluation();
    context->code_slot.enter_lightly();
    context->evaluations = 1;
    forks_ = context->fork_top;
    fuel_ = context->fuel;
    begun_ = true;
  }
  [[gnu::always_inline]] ~BriefEvaluation() {
    if (!begun_) return;
    if (context_->fork_top != forks_) interp::drop_forks(*context_, forks_);
    context_->evaluations = 0;
    if (context_->has_ended_briefly() && context_->retired.size() < context_->retire_at) [[likely]] {
      context_->code_slot.leave_quietly();
      context_->last_steps = static_cast<uint64_t>(fuel_ - context_->fuel);
      context_->end_evaluation();
      if (context_->is_interrupted()) context_->clear_interrupt();
    } else {
      end_run(context_);
    }
    context_->heap.unbind_from_thread();
    interp::Reclaimer& reclaimer = context_->runtime.units.reclaimer;
    open_to_computing(context_);
    context_->reservation.leave();
    reclaimer.collect_few();
  }
  BriefEvaluation(const BriefEvaluation&) = delete;
  BriefEvaluation& operator=(const BriefEvaluation&) = delete;
  bool begun() const { return begun_; }

 private:
  posset_context* context_;
  bool begun_ = false;
  int64_t fuel_ = 0;
  interp::ForkRecord* forks_ = nullptr;
};

// Instead of a BriefEvaluation, for code that only computes (NativeCodeHead::plain): nothing that an evaluation keeps can be
// asked for or change, so it only keeps others out of the context, and by the same word the code where it is
// (Reclaimer::Slot::watch). `begun` false: nothing has happened.
class PlainEvaluation {
 public:
  [[gnu::always_inline]] explicit PlainEvaluation(posset_context* context) : context_(context) {
    begun_ = context->reservation.enter_to_compute(this_thread());
  }
  [[gnu::always_inline]] ~PlainEvaluation() {
    if (begun_) context_->reservation.leave();
  }
  PlainEvaluation(const PlainEvaluation&) = delete;
  PlainEvaluation& operator=(const PlainEvaluation&) = delete;
  bool begun() const { return begun_; }
  // The code has computed something: the evaluation has been that step.
  void count_step() {
    context_->last_steps = 1;
    if (context_->is_interrupted()) [[unlikely]] context_->clear_interrupt();
  }

 private:
  posset_context* context_;
  bool begun_ = false;
};

// A call from outside has ended, inside the context: calls that come again and again are to be brief.
void reserve_if_called_often(posset_context* context);

// ---- results ----

inline posset_status raised(const Value& v) { return v.failed() ? POSSET_RAISED : POSSET_OK; }
// Gives an owned value to the caller, if there is one to give and somebody wants it.
inline posset_status give(Value v, posset_value* to) {
  if (v.failed()) return POSSET_RAISED;
  if (to) *to = out(v.take());
  return POSSET_OK;
}
// Memory ran out.
inline posset_status raise_memory_limit(posset_context* context) noexcept {
  context->raise_no_memory();
  return POSSET_RAISED;
}
// The same as `give` for what the value layer gives when memory ran out.
inline posset_status give_or_limit(posset_context* context, Value v, posset_value* to) {
  return v.failed() ? raise_memory_limit(context) : give(std::move(v), to);
}
inline posset_status ok_or_limit(posset_context* context, bool done) {
  return done ? POSSET_OK : raise_memory_limit(context);
}

// The result of what an evaluation has run, when the tasks that it has started have ended, too.
inline Value end_tasks(posset_context* context, Value result) {
  const bool outermost = context->evaluations == context->own_evaluations;
  return outermost && context->tasks_at_work ? context->tasks->finish(std::move(result)) : std::move(result);
}

// Runs what may meet std::bad_alloc; the machine is brought back to where it was.
template <class Body>
posset_status guarded(posset_context* context, Body&& body) {
  Borrowed* top = context->stack_top;
  uint32_t depth = context->depth;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    context->stack_top = top;
    context->depth = depth;
    return raise_memory_limit(context);
  }
}

// Why a source has no tree: a limit or an interruption, or what the diagnostics tell.
inline posset_status not_loaded(const posset_context* context) {
  return context->error_pending() ? POSSET_RAISED : POSSET_INVALID;
}

// What may meet std::bad_alloc and evaluates nothing.
template <class Body>
posset_status or_no_memory(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return POSSET_NO_MEMORY;
  }
}

// Writes a text to the host.
inline posset_status write_all(posset_write write, void* data, std::string_view what) {
  if (!write) return POSSET_MISUSE;
  return what.empty() || write(data, what.data(), what.size()) ? POSSET_OK : POSSET_DONE;
}
// What a visitor's answer means for the enumeration: true to go on.
inline bool goes_on(posset_status answer, posset_status& result) {
  if (answer == POSSET_OK) return true;
  result = answer == POSSET_DONE ? POSSET_OK : answer;
  return false;
}

// Copies `own` into a caller's struct of `size` bytes, which begins with that size.
template <class Struct>
posset_status fill_struct(Struct* target, Struct own) {
  if (!target || target->size < sizeof(size_t)) return POSSET_MISUSE;
  size_t size = std::min(target->size, sizeof(Struct));
  own.size = target->size;
  std::memcpy(static_cast<void*>(target), &own, size);
  return POSSET_OK;
}
// Reads a caller's struct over the defaults.
template <class Struct>
bool read_struct(const Struct* given, Struct& options) {
  if (!given) return true;
  if (given->size < sizeof(size_t)) return false;
  std::memcpy(static_cast<void*>(&options), given, std::min(given->size, sizeof(Struct)));
  options.size = sizeof(Struct);
  return true;
}

// What stands in an enumeration that a caller has filled, in C with any number.
template <class Enumeration>
unsigned number_in(const Enumeration& given) {
  static_assert(sizeof(Enumeration) == sizeof(unsigned));
  unsigned number = 0;
  std::memcpy(&number, &given, sizeof number);
  return number;
}

// ---- what files of this folder share ----

// Frees instances of `context->retired` that nothing refers to any more (retire.cpp).
void sweep_retired(posset_context* context);
void retire(posset_context* context, interp::ModuleInstance* instance);

// Frees what the host has freed while the context was in use elsewhere (error.cpp).
void free_orphans(posset_context* context);
// Frees `owned`, now or when nobody is inside the context (error.cpp).
void free_or_leave(posset_context* context, Orphan* owned);

// The last handle is gone and nothing is pending (context.cpp).
void destroy(posset_context* context);
// Those whose last handle was given back while they evaluated, by a function that they called, and that do so no longer.
void destroy_abandoned(posset_runtime* runtime);

// Hands the collected diagnostics to the caller, if there are any and somebody wants them.
void give_diagnostics(const syntax::Diagnostics& collected, posset_diagnostics** to);

// Describes a function value.
posset_builtin_info describe(const NativeFunction& function);

}  // namespace posset::api
