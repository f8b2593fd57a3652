// See arena.h.
#include "sched/p2/arena.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "sched/base/plugin.h"
#include "sched/base/spin.h"
#include "sched/base/wait.h"
#include "sched/p2/linger.h"

namespace posset::sched {

Arena::Arena(const Clock& clock, TaskRunner& runner, Trace* trace, Background& background, Config config)
    : clock_(clock), runner_(runner), trace_(trace), background_(background), config_(std::move(config)) {}

Arena::~Arena() {
  for (Task& task : close(StopMode::Discard)) runner_.cancel(std::move(task), Route::Arena);
  wait();
}

void Arena::want() {
  ArenaState unused = ArenaState::Unused;
  // Relaxed: only a wish; whoever fulfils it synchronises through the mutex.
  state_.compare_exchange_strong(unused, ArenaState::Wanted, std::memory_order_relaxed);
}

bool Arena::open_if_wanted() {
  ArenaState wanted = ArenaState::Wanted;
  if (state_.load(std::memory_order_relaxed) != wanted) return false;
  if (!state_.compare_exchange_strong(wanted, ArenaState::Opening, std::memory_order_relaxed)) return false;
  const int64_t start_ns = clock_.now_ns();
  auto entry = reinterpret_cast<posset_arena_entry>(plugin_symbol(config_.file, POSSET_ARENA_SYMBOL));
  const posset_arena_functions* functions = entry ? entry() : nullptr;
  posset_arena* arena = functions ? functions->create(std::max(config_.threads, 1)) : nullptr;
  if (trace_) {
    trace_->record(static_cast<uint16_t>(TraceKind::arena_opened), {arena != nullptr, clock_.now_ns() - start_ns});
  }
  MutexLock lock(mutex_);
  functions_ = functions;
  arena_ = arena;
  // Release: who reads Open finds the arena, though it takes the mutex anyway.
  if (!closed_) state_.store(arena ? ArenaState::Open : ArenaState::Missing, std::memory_order_release);
  return true;
}

void Arena::trace_queued(const Task& task, double estimate_ns) {
  if (!trace_) return;
  // There is no score here: the order is that of coming in.
  trace_->record(static_cast<uint16_t>(TraceKind::task_queued),
                 {static_cast<int64_t>(task.job), static_cast<int64_t>(Route::Arena), 0,
                  static_cast<int64_t>(estimate_ns), static_cast<int64_t>(waiting_.size() + 1),
                  static_cast<int64_t>(task.priority)});
}

// Sees to it that somebody comes for one more task. False: nobody will.
bool Arena::call_in() {
  const bool enough = lingering_ > waiting_.size() || called_ >= static_cast<size_t>(std::max(config_.threads, 1));
  if (enough && called_ > 0) return true;
  // It cannot look for its task before the mutex is free.
  if (!functions_->enqueue(arena_, work, this)) return called_ > 0;
  ++called_;
  return true;
}

Admission Arena::try_submit(Task& task, double estimate_ns) {
  const int64_t now_ns = clock_.now_ns();  // not under the lock: it takes as long as the rest
  MutexLock lock(mutex_);
  if (closed_ || !arena_) return Admission::Stopped;
  if (waiting_.size() >= config_.max_waiting) return Admission::QueueFull;
  // Under the mutex, because a stop may destroy the arena as soon as nothing waits.
  if (!call_in()) return Admission::QueueFull;
  trace_queued(task, estimate_ns);
  waiting_.push_back({std::move(task), now_ns});
  came_.store(came_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (lingering_ > 0 && waiting_.size() % kWorthWaking == 0) more_.notify_one();
  return Admission::Accepted;
}

// The first task, waiting a while for one. Empty: the call is to return and touch nothing any more; from here on the
// next task calls in another.
std::optional<Arena::Waiting> Arena::take() {
  MutexLock lock(mutex_);
  ++lingering_;
  if (waiting_.empty() && !closed_) {
    const uint64_t seen = came_.load(std::memory_order_relaxed);
    lock.unlock();
    spin_until(kSpinBeforeSleep, [this, seen] { return came_.load(std::memory_order_relaxed) != seen; });
    lock.lock();
  }
  for (int dozes = 0; waiting_.empty() && !closed_ && dozes < kDozes; ++dozes) {
    wait_on(clock_, lock, more_, clock_.now_ns() + doze_ns(dozes));
  }
  --lingering_;
  if (waiting_.empty()) {
    --called_;
    workers_.erase(std::find(workers_.begin(), workers_.end(), std::this_thread::get_id()));
    if (closed_) fewer_.notify_all();
    return std::nullopt;
  }
  std::optional<Waiting> first(std::move(waiting_.front()));
  waiting_.pop_front();
  ++running_;
  if (closed_) fewer_.notify_all();
  return first;
}

void Arena::begin_work() {
  if (trace_) trace_->name_thread("arena");
  MutexLock lock(mutex_);
  workers_.push_back(std::this_thread::get_id());
}

// On a thread of the arena.
void Arena::work(void* argument) {
  auto* arena = static_cast<Arena*>(argument);
  const Background::Stay stay(arena->background_);
  arena->begin_work();
  while (std::optional<Waiting> first = arena->take()) {
    arena->runner_.run(std::move(first->task), first->enqueued_ns, Route::Arena);
    first.reset();
    arena->ended();
  }
}

void Arena::ended() {
  MutexLock lock(mutex_);
  --running_;
  if (closed_) fewer_.notify_all();
}

std::optional<Task> Arena::cancel(uint64_t job) {
  MutexLock lock(mutex_);
  auto found = std::find_if(waiting_.begin(), waiting_.end(), [job](const Waiting& w) { return w.task.job == job; });
  if (found == waiting_.end()) return std::nullopt;
  std::optional<Task> task(std::move(found->task));
  waiting_.erase(found);
  return task;
}

std::vector<Task> Arena::close(StopMode mode) {
  std::vector<Task> dropped;
  MutexLock lock(mutex_);
  closed_ = true;
  state_.store(ArenaState::Closed, std::memory_order_relaxed);
  more_.notify_all();
  if (mode == StopMode::Drain) return dropped;
  for (Waiting& waiting : waiting_) dropped.push_back(std::move(waiting.task));
  waiting_.clear();
  fewer_.notify_all();
  return dropped;
}

bool Arena::wait_begun(int64_t deadline_ns) {
  MutexLock lock(mutex_);
  assert(closed_);
  while (!waiting_.empty() && wait_on(clock_, lock, fewer_, deadline_ns)) {
  }
  return waiting_.empty();
}

void Arena::wait() {
  MutexLock lock(mutex_);
  assert(closed_);
  while (!waiting_.empty() || called_ > 0) lock.wait(fewer_);
  posset_arena* arena = std::exchange(arena_, nullptr);
  const posset_arena_functions* functions = functions_;
  lock.unlock();
  if (arena) functions->destroy(arena);
}

size_t Arena::outstanding() const {
  MutexLock lock(mutex_);
  return waiting_.size() + running_;
}

bool Arena::is_worker() const {
  MutexLock lock(mutex_);
  return std::find(workers_.begin(), workers_.end(), std::this_thread::get_id()) != workers_.end();
}

}  // namespace posset::sched
