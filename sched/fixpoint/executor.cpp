// See executor.h.
#include "sched/fixpoint/executor.h"

#include <future>
#include <thread>
#include <vector>

#include "sched/base/start.h"
#include "sched/base/wait.h"

namespace posset::sched::fixpoint {

namespace {

class ThreadEvent final : public Event {
 public:
  ThreadEvent(std::function<void()> look, int64_t every_ns) : look_(std::move(look)), every_ns_(every_ns) {}
  uint64_t ticket() const override { return count_.load(std::memory_order_acquire); }
  void wait(uint64_t ticket) override {
    MutexLock lock(mutex_);
    while (count_.load(std::memory_order_relaxed) == ticket) {
      if (look_) look_();
      wait_on(clock_, lock, woken_, look_ ? clock_.now_ns() + every_ns_ : kNever);
    }
  }
  void wake_all() override {
    {
      MutexLock lock(mutex_);
      // Release: what was done before the wake-up is seen by whoever takes a ticket after it.
      count_.fetch_add(1, std::memory_order_release);
    }
    woken_.notify_all();
  }

 private:
  const std::function<void()> look_;
  const int64_t every_ns_;
  const SystemClock clock_;
  Mutex mutex_;
  std::condition_variable woken_;
  std::atomic<uint64_t> count_{0};  // written under the mutex, so that no wake-up falls between look and sleep
};

}  // namespace

void ThreadExecutor::run(size_t count, const std::function<void(size_t)>& body) {
  if (count == 0) return;
  // Nobody begins before all are there: with fewer than were asked for there is no point in beginning.
  std::promise<bool> all_there;
  const std::shared_future<bool> go = all_there.get_future().share();
  std::vector<std::thread> threads;
  auto join_all = [&threads] {
    for (std::thread& thread : threads) thread.join();
  };
  try {
    threads.reserve(count - 1);
    for (size_t number = 1; number < count; ++number) {
      threads.emplace_back([&body, go, number] {
        if (go.get()) body(number);
      });
      begin_elsewhere(threads.back());
    }
  } catch (...) {
    all_there.set_value(false);
    join_all();
    throw;
  }
  all_there.set_value(true);
  body(0);
  join_all();
}

std::unique_ptr<Event> make_thread_event(std::function<void()> look, int64_t every_ns) {
  return std::make_unique<ThreadEvent>(std::move(look), every_ns);
}

std::unique_ptr<Event> ThreadExecutor::make_event() { return make_thread_event(); }

}  // namespace posset::sched::fixpoint
