// See relay.h.
#include "sched/base/relay.h"

#include <cerrno>
#include <system_error>

namespace posset::sched {

Relay::Relay() { sem_init(&semaphore_, 0, 0); }

Relay::~Relay() {
  ends_.store(true, std::memory_order_relaxed);
  sem_post(&semaphore_);
  std::thread thread;
  {
    MutexLock lock(mutex_);
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
  sem_destroy(&semaphore_);
}

bool Relay::start() {
  MutexLock lock(mutex_);
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Relay::work() {
  for (;;) {
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
    MutexLock lock(mutex_);
    call_all();
    called_.notify_all();
    if (ends_.load(std::memory_order_relaxed)) return;
  }
}

void Relay::call_all() {
  Item* item = first_.exchange(nullptr, std::memory_order_acquire);
  while (item) {
    Item* const next = item->next;
    item->left.store(false, std::memory_order_release);  // what comes from here on is called again
    item->call(item->data);
    item = next;
  }
}

void Relay::forget(Item& item) {
  MutexLock lock(mutex_);
  if (!thread_.joinable()) call_all();
  while (item.left.load(std::memory_order_acquire)) lock.wait(called_);
}

}  // namespace posset::sched
