// See crew.h.
#include "sched/posse/crew.h"

#include <system_error>

#include "sched/base/start.h"

namespace posset::sched::posse {

// ---- one executor ----

const void* Executor::everybody() {
  static const char address = 0;
  return &address;
}

bool Executor::offers(Owner owner) const {
  const void* offered = offered_.load(std::memory_order_relaxed);
  return offered && (offered == owner || offered == everybody());
}

bool Executor::claim(Owner owner) {
  const void* offered = offered_.load(std::memory_order_relaxed);
  if (!offered || (offered != owner && offered != everybody())) return false;
  return offered_.compare_exchange_strong(offered, nullptr, std::memory_order_acquire, std::memory_order_relaxed);
}

bool Executor::withdraw() {
  const void* offered = offered_.load(std::memory_order_relaxed);
  return offered && offered_.compare_exchange_strong(offered, nullptr, std::memory_order_relaxed);
}

void Executor::send(Work& work) {
  MutexLock lock(mutex_);
  mail_ = &work;
  condition_.notify_one();
}

// ---- all of them ----

Crew::~Crew() {
  stopping_.store(true, std::memory_order_relaxed);
  {
    MutexLock lock(mutex_);
    for (auto& each : executors_) {
      each->under_lock([] { return true; });
    }
  }
  for (std::thread& each : threads_) each.join();
}

Executor& Crew::enter() {
  MutexLock lock(mutex_);
  if (free_.empty()) {
    executors_.push_back(std::make_unique<Executor>(static_cast<uint32_t>(executors_.size())));
    return *executors_.back();
  }
  Executor& executor = *free_.back();
  free_.pop_back();
  return executor;
}

void Crew::leave(Executor& executor) {
  MutexLock lock(mutex_);
  free_.push_back(&executor);
}

// Where the system has no thread to give there are fewer.
void Crew::start() {
  started_ = true;
  for (uint32_t n = 0; n < helpers_; ++n) {
    executors_.push_back(std::make_unique<Executor>(static_cast<uint32_t>(executors_.size())));
    try {
      threads_.emplace_back([this, &executor = *executors_.back()] { serve(executor); });
    } catch (const std::system_error&) {
      return;
    }
    begin_elsewhere(threads_.back());
  }
}

void Crew::serve(Executor& executor) {
  if (trace_) trace_->name_thread("executor " + std::to_string(executor.number()));
  auto stopped = [this] { return stopping_.load(std::memory_order_relaxed); };
  while (Work* work = executor.wait(nullptr, clock_, kNever, stopped)) work->run(executor);
}

// From a random one on, so that the first is not always asked first.
template <class Visit>
Executor* Crew::find(const Executor& here, Visit&& fits) {
  const size_t count = executors_.size();
  const size_t first = random_.below(count);
  for (size_t n = 0; n < count; ++n) {
    Executor& executor = *executors_[(first + n) % count];
    if (&executor != &here && fits(executor)) return &executor;
  }
  return nullptr;
}

bool Crew::has_offer(Owner owner, const Executor& here) {
  MutexLock lock(mutex_);
  if (!started_) start();
  return find(here, [&](Executor& each) { return each.offers(owner); }) != nullptr;
}

Executor* Crew::claim(Owner owner, const Executor& here) {
  MutexLock lock(mutex_);
  return find(here, [&](Executor& each) { return each.claim(owner); });
}

}  // namespace posset::sched::posse
