// See queue.h.
#include "sched/p2/queue.h"

#include <bit>
#include <utility>

#include "sched/base/wait.h"
#include "sched/trace_events.h"

namespace posset::sched {

TaskQueue::TaskQueue(const Clock& clock, Trace* trace, const PriorityPolicy::Config& config)
    : clock_(clock), trace_(trace), policy_(config) {}

uint32_t TaskQueue::keep(Task& task) {
  if (free_items_.empty()) {
    items_.push_back(std::move(task));
    return static_cast<uint32_t>(items_.size() - 1);
  }
  const uint32_t item = free_items_.back();
  free_items_.pop_back();
  items_[item] = std::move(task);
  return item;
}

TaskQueue::Taken TaskQueue::take_out(const PriorityPolicy::Entry& entry) {
  Task& item = items_[entry.item];
  Taken taken{std::move(item), entry};
  // A moved-from function may hold on to something, by the letter of the standard.
  item.run = nullptr;
  item.done = nullptr;
  free_items_.push_back(entry.item);
  if (waiting_for_taking_ > 0) taking_.notify_one();
  return taken;
}

// Whom to notify once the lock is given back.
TaskQueue::Consumer* TaskQueue::push(Task& task, double estimate_ns, int64_t now_ns) {
  const PriorityPolicy::Entry entry{.estimate_s = estimate_ns / static_cast<double>(kSecond),
                                    .enqueued_ns = now_ns,
                                    .job = task.job,
                                    .item = keep(task),
                                    .lane = task.lane,
                                    .priority = task.priority};
  const PriorityPolicy::Pushed pushed = policy_.push(entry);
  if (trace_) {
    // Under the lock, so that no worker can have started it before. The sink's lock is a leaf.
    trace_->record(static_cast<uint16_t>(TraceKind::task_queued),
                   {static_cast<int64_t>(entry.job), static_cast<int64_t>(Route::Pool),
                    std::bit_cast<int64_t>(pushed.key), static_cast<int64_t>(estimate_ns),
                    static_cast<int64_t>(policy_.size()), static_cast<int64_t>(entry.priority)});
  }
  if (!pushed.wake) return nullptr;
  Consumer& consumer = consumers_[*pushed.wake];
  consumer.woken = true;
  return &consumer;
}

Admission TaskQueue::try_push(Task& task, double estimate_ns) {
  Consumer* wake = nullptr;
  const int64_t now_ns = clock_.now_ns();  // not under the lock: it takes as long as the rest
  {
    MutexLock lock(mutex_);
    const Admission admission = policy_.admission(task.lane);
    if (admission != Admission::Accepted) return admission;
    wake = push(task, estimate_ns, now_ns);
  }
  if (wake) wake->wake.notify_one();
  return Admission::Accepted;
}

// Waits once; may return early. False: the deadline has come.
bool TaskQueue::wait_for_taking(MutexLock& lock, int64_t deadline_ns) {
  ++waiting_for_taking_;
  const bool in_time = wait_on(clock_, lock, taking_, deadline_ns);
  --waiting_for_taking_;
  return in_time;
}

Admission TaskQueue::push_by(Task& task, double estimate_ns, int64_t deadline_ns) {
  Consumer* wake = nullptr;
  {
    MutexLock lock(mutex_);
    // The room is looked for once more after the deadline: it may have come with it.
    while (policy_.admission(task.lane) == Admission::QueueFull && wait_for_taking(lock, deadline_ns)) {
    }
    const Admission admission = policy_.admission(task.lane);
    if (admission != Admission::Accepted) return admission;
    wake = push(task, estimate_ns, clock_.now_ns());
  }
  if (wake) wake->wake.notify_one();
  return Admission::Accepted;
}

TaskQueue::ConsumerId TaskQueue::add_consumer(LaneMask lanes) {
  MutexLock lock(mutex_);
  consumers_.emplace_back().lanes = lanes;
  return static_cast<ConsumerId>(consumers_.size() - 1);
}

std::optional<TaskQueue::Taken> TaskQueue::take(ConsumerId id) {
  MutexLock lock(mutex_);
  Consumer& consumer = consumers_[id];
  for (;;) {
    if (auto entry = policy_.pop(consumer.lanes)) return take_out(*entry);
    consumer.woken = false;
    if (!policy_.park(id, consumer.lanes)) return std::nullopt;
    while (!consumer.woken) lock.wait(consumer.wake);
  }
}

std::optional<TaskQueue::Taken> TaskQueue::try_take(LaneMask lanes) {
  MutexLock lock(mutex_);
  auto entry = policy_.pop(lanes);
  if (!entry) return std::nullopt;
  return take_out(*entry);
}

std::optional<TaskQueue::Taken> TaskQueue::cancel(uint64_t job) {
  MutexLock lock(mutex_);
  auto entry = policy_.cancel(job);
  if (!entry) return std::nullopt;
  return take_out(*entry);
}

std::vector<TaskQueue::Taken> TaskQueue::stop(StopMode mode) {
  MutexLock lock(mutex_);
  const PriorityPolicy::Stop stop = policy_.stop(mode);
  std::vector<Taken> dropped;
  for (const PriorityPolicy::Entry& entry : stop.dropped) dropped.push_back(take_out(entry));
  for (ConsumerId id : stop.wake) {
    consumers_[id].woken = true;
    consumers_[id].wake.notify_one();
  }
  taking_.notify_all();
  return dropped;
}

bool TaskQueue::wait_empty(int64_t deadline_ns) {
  MutexLock lock(mutex_);
  while (policy_.size() > 0 && wait_for_taking(lock, deadline_ns)) {
  }
  return policy_.size() == 0;
}

void TaskQueue::set_weights(double weight, double decay_per_s) {
  MutexLock lock(mutex_);
  policy_.set_weights(weight, decay_per_s);
}

size_t TaskQueue::size(LaneMask lanes) const {
  MutexLock lock(mutex_);
  return policy_.size(lanes);
}

bool TaskQueue::stopped() const {
  MutexLock lock(mutex_);
  return policy_.stopped();
}

}  // namespace posset::sched
