// See pool.h.
#include "sched/p2/pool.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <system_error>
#include <utility>

#include "sched/base/start.h"

namespace posset::sched {

WorkerPool::WorkerPool(TaskQueue& queue, TaskRunner& runner, Trace* trace, Config config)
    : queue_(queue), runner_(runner), trace_(trace), config_(std::move(config)) {}

WorkerPool::~WorkerPool() {
  for (TaskQueue::Taken& taken : queue_.stop(StopMode::Discard)) runner_.cancel(std::move(taken.task), Route::Pool);
  join();
}

bool WorkerPool::start() {
  // Acquire pairs with the release below: who sees true may rely on a thread being there.
  if (started_.load(std::memory_order_acquire)) return true;
  MutexLock lock(mutex_);
  if (joined_) return false;
  try {
    while (threads_.size() < config_.threads) {
      const size_t number = threads_.size();
      const TaskQueue::ConsumerId consumer = queue_.add_consumer(config_.lanes, config_.dozes);
      threads_.emplace_back([this, consumer, number] { work(consumer, number); });
      ids_.push_back(threads_.back().get_id());
      begin_elsewhere(threads_.back());
    }
  } catch (const std::system_error&) {
    // Fewer threads than wanted serve as well, as long as there is one.
  }
  if (threads_.empty()) return false;
  started_.store(true, std::memory_order_release);
  return true;
}

void WorkerPool::work(TaskQueue::ConsumerId consumer, size_t number) {
  if (trace_) trace_->name_thread(config_.name + " " + std::to_string(number));
  std::optional<Background::Stay> background;
  be_nice(config_.niceness);
  int64_t now_ns = kNever;
  while (std::optional<TaskQueue::Taken> taken = queue_.take(consumer)) {
    if (!taken->at_once) now_ns = kNever;
    std::optional<Background::Hurry> hurry;
    if (config_.hurries) hurry.emplace(*config_.hurries);
    const Processors::Compiling compiling(config_.processors);
    now_ns = runner_.run(std::move(taken->task), taken->entry.enqueued_ns, Route::Pool, now_ns);
    taken.reset();
    // Not at once: where it has begun it may have to wait for its turn.
    if (!background && config_.background) background.emplace(*config_.background);
    if (config_.after_task && config_.after_task()) now_ns = kNever;
  }
}

void WorkerPool::join() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    joined_ = true;
    threads.swap(threads_);
  }
  assert(queue_.stopped() && !is_worker());
  for (std::thread& thread : threads) thread.join();
  MutexLock lock(mutex_);
  ids_.clear();  // the system may give them to others
}

bool WorkerPool::is_worker() const {
  MutexLock lock(mutex_);
  return std::find(ids_.begin(), ids_.end(), std::this_thread::get_id()) != ids_.end();
}

}  // namespace posset::sched
