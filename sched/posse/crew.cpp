// See crew.h.
#include "sched/posse/crew.h"

#include <system_error>

#include "sched/base/start.h"
#include "sched/trace_events.h"

namespace posset::sched::posse {

// ---- one executor ----

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

Executor& Crew::enter(Cabal& cabal) {
  MutexLock lock(mutex_);
  Executor& taken = take_free();
  cabal.begin(taken.number());
  return taken;
}

Executor& Crew::take_free() {
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
  while (Work* work = wait(executor, nullptr, kNever, stopped)) work->run(executor);
}

void Crew::trace_idle(int64_t took_ns) { trace_->record(static_cast<uint16_t>(TraceKind::executor_idle), {took_ns}); }

template <class Fits>
Executor* Crew::find_other(const Executor& here, Fits&& fits) {
  const std::unique_ptr<Executor>* const all = executors_.data();
  auto at = [all](size_t number) { return all[number].get(); };
  return find_from_random(random_, executors_.size(), at, [&](Executor& each) { return &each != &here && fits(each); });
}

bool Crew::has_offer(Owner owner, const Executor& here, const Cabal& cabal) {
  MutexLock lock(mutex_);
  if (!started_) start();
  return find_other(here, [&](Executor& each) { return cabal.admits(each.number()) && each.offer().is_made_to(owner); }) != nullptr;
}

Executor* Crew::claim(Owner owner, const Executor& here, Cabal& cabal) {
  MutexLock lock(mutex_);
  Executor* const found = find_other(here, [&](Executor& each) { return cabal.admits(each.number()) && each.offer().claim(owner); });
  if (found) cabal.add(found->number());
  return found;
}

}  // namespace posset::sched::posse
