// See queue.h.
#include "sched/p2/queue.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "sched/base/spin.h"
#include "sched/base/wait.h"
#include "sched/p2/linger.h"
#include "sched/trace_events.h"

namespace posset::sched {

TaskQueue::TaskQueue(const Clock& clock, Trace* trace, const PriorityPolicy::Config& config)
    : clock_(clock), trace_(trace), policy_(config) {}

// ---- keeping tasks ----

// So that what is in the inbox can be placed without asking for memory, by a thread that could not say no.
void TaskQueue::reserve_ahead() {
  inbox_.reserve();
  arrivals_.reserve(Inbox::kMost);
  const size_t kept = items_.size() - free_items_.size();
  if (items_.capacity() > kept + Inbox::kMost) return;
  items_.reserve(2 * (kept + Inbox::kMost));
  free_items_.reserve(items_.capacity());
  policy_.reserve(items_.capacity());
}

// How many more may come in without memory or permission.
size_t TaskQueue::room() const {
  const size_t kept = items_.size() - free_items_.size();
  return std::min(policy_.room(), items_.capacity() - kept);
}

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

// To where it is wanted, because moving a task is a good part of what it costs.
void TaskQueue::take_out(const PriorityPolicy::Entry& entry, std::optional<Taken>& into) {
  Task& item = items_[entry.item];
  into.emplace(std::move(item), entry);
  // A moved-from function may hold on to something, by the letter of the standard.
  item.run = nullptr;
  item.done = nullptr;
  free_items_.push_back(entry.item);
  if (waiting_for_taking_ > 0) taking_.notify_one();
}

PriorityPolicy::Pushed TaskQueue::place(Task& task, double estimate_ns, int64_t now_ns) {
  const PriorityPolicy::Entry entry{.estimate_s = estimate_ns / static_cast<double>(kSecond),
                                    .enqueued_ns = now_ns,
                                    .job = task.job,
                                    .item = keep(task),
                                    .lane = task.lane,
                                    .priority = task.priority};
  return policy_.push(entry);
}

// ---- the inbox ----

// Takes in what was left, when something was; `room` is what the queue has for more.
void TaskQueue::collect(size_t room) {
  // Read before what came with it: a change in between is found the next time.
  collected_ = inbox_.changes();
  inbox_.collect(arrivals_, room);
  for (Inbox::Arrival& arrival : arrivals_) {
    const PriorityPolicy::Pushed pushed = place(arrival.task, arrival.estimate_ns, arrival.enqueued_ns);
    assert(!pushed.wake);  // it was open, so nobody sleeps
    (void)pushed;
  }
  arrivals_.clear();
}

// Nothing is left there any more until `open_inbox`.
void TaskQueue::collect_and_close() { collect(0); }

// Those whose consumers are all awake.
LaneMask TaskQueue::lanes_for_inbox() const {
  if (trace_ || policy_.stopped()) return 0;
  return served_ & Inbox::kLanes & static_cast<LaneMask>(~policy_.parked_lanes());
}

void TaskQueue::open_inbox() {
  open_ = lanes_for_inbox();
  inbox_.open(open_, room());
}

// False: something has come in.
bool TaskQueue::close_inbox(LaneMask lanes) {
  if ((open_ & lanes) == 0) return true;
  if (!inbox_.try_close(lanes)) return false;
  open_ = static_cast<LaneMask>(open_ & ~lanes);
  return true;
}

// ---- coming in ----

void TaskQueue::trace_queued(const Task& task, double key, double estimate_ns) {
  // Under the lock, so that no worker can have started it before. The sink's lock is a leaf.
  trace_->record(static_cast<uint16_t>(TraceKind::task_queued),
                 {static_cast<int64_t>(task.job), static_cast<int64_t>(Route::Pool), std::bit_cast<int64_t>(key),
                  static_cast<int64_t>(estimate_ns), static_cast<int64_t>(policy_.size()),
                  static_cast<int64_t>(task.priority)});
}

// Whom to notify once the lock is given back.
TaskQueue::Consumer* TaskQueue::push(Task& task, double estimate_ns, int64_t now_ns) {
  reserve_ahead();
  const Lane lane = task.lane;
  const PriorityPolicy::Pushed pushed = place(task, estimate_ns, now_ns);
  if (trace_) trace_queued(task, pushed.key, estimate_ns);  // its number and priority are there still
  open_inbox();
  if (!pushed.wake) return policy_.size(lane_bit(lane)) < kWorthWaking ? nullptr : dozer_of(lane);
  Consumer& consumer = consumers_[*pushed.wake];
  consumer.woken = true;
  return &consumer;
}

Admission TaskQueue::try_push(Task& task, double estimate_ns) {
  Consumer* wake = nullptr;
  const int64_t now_ns = clock_.now_ns();  // not under the lock: it takes as long as the rest
  if (inbox_.leave(task, estimate_ns, now_ns)) return Admission::Accepted;
  {
    MutexLock lock(mutex_);
    collect_and_close();
    const Admission admission = policy_.admission(task.lane);
    if (admission != Admission::Accepted) {
      open_inbox();
      return admission;
    }
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
    collect_and_close();
    // The room is looked for once more after the deadline: it may have come with it.
    while (policy_.admission(task.lane) == Admission::QueueFull && wait_for_taking(lock, deadline_ns)) {
      collect_and_close();
    }
    const Admission admission = policy_.admission(task.lane);
    if (admission != Admission::Accepted) return admission;
    wake = push(task, estimate_ns, clock_.now_ns());
  }
  if (wake) wake->wake.notify_one();
  return Admission::Accepted;
}

// ---- going out ----

TaskQueue::ConsumerId TaskQueue::add_consumer(LaneMask lanes, bool dozes) {
  MutexLock lock(mutex_);
  Consumer& consumer = consumers_.emplace_back();
  consumer.lanes = lanes;
  consumer.dozes = dozes ? kDozes : 0;
  return static_cast<ConsumerId>(consumers_.size() - 1);
}

// False: there is none.
bool TaskQueue::take_next(LaneMask lanes, std::optional<Taken>& into) {
  if (inbox_.changes() != collected_) collect(room());
  const auto entry = policy_.pop(lanes);
  if (entry) take_out(*entry, into);
  return entry.has_value();
}

// Sleeps until it is woken. False: the queue has stopped.
bool TaskQueue::park(ConsumerId id, Consumer& consumer, MutexLock& lock) {
  consumer.woken = false;
  if (!policy_.park(id, consumer.lanes)) return false;
  while (!consumer.woken) lock.wait(consumer.wake);
  return true;
}

void TaskQueue::doze(Consumer& consumer, int before, MutexLock& lock) {
  consumer.dozing = true;
  wait_on(clock_, lock, consumer.wake, clock_.now_ns() + doze_ns(before));
  consumer.dozing = false;
}

// Null: none dozes, or it has been notified.
TaskQueue::Consumer* TaskQueue::dozer_of(Lane lane) {
  for (Consumer& consumer : consumers_) {
    if (consumer.dozing && (consumer.lanes & lane_bit(lane)) != 0) {
      consumer.dozing = false;
      return &consumer;
    }
  }
  return nullptr;
}

void TaskQueue::spin(uint64_t seen) const {
  spin_until(kSpinBeforeSleep, [this, seen] { return inbox_.changes() != seen; });
}

std::optional<TaskQueue::Taken> TaskQueue::take(ConsumerId id) {
  std::optional<Taken> taken;
  MutexLock lock(mutex_);
  Consumer& consumer = consumers_[id];
  served_ |= consumer.lanes;
  for (int looks = 1;; ++looks) {
    if (take_next(consumer.lanes, taken)) {
      if (open_ != lanes_for_inbox()) open_inbox();
      taken->at_once = looks == 1;
      return taken;
    }
    if (looks == 1) {
      const uint64_t seen = collected_;
      lock.unlock();
      spin(seen);
      lock.lock();
    } else if (looks <= consumer.dozes + 1 && !policy_.stopped()) {
      doze(consumer, looks - 2, lock);
    } else if (close_inbox(consumer.lanes) && !park(id, consumer, lock)) {
      return taken;
    }
  }
}

std::optional<TaskQueue::Taken> TaskQueue::try_take(LaneMask lanes) {
  std::optional<Taken> taken;
  MutexLock lock(mutex_);
  take_next(lanes, taken);
  return taken;
}

bool TaskQueue::hurry(Lane lane) {
  Consumer* wake = nullptr;
  {
    MutexLock lock(mutex_);
    const bool any_wait = policy_.size(lane_bit(lane)) + inbox_.size(lane_bit(lane)) != 0;
    if (any_wait) wake = dozer_of(lane);
  }
  if (wake) wake->wake.notify_one();
  return wake != nullptr;
}

std::optional<TaskQueue::Taken> TaskQueue::cancel(uint64_t job) {
  std::optional<Taken> taken;
  MutexLock lock(mutex_);
  collect(room());
  if (const auto entry = policy_.cancel(job)) take_out(*entry, taken);
  return taken;
}

std::vector<TaskQueue::Taken> TaskQueue::stop(StopMode mode) {
  MutexLock lock(mutex_);
  collect_and_close();
  const PriorityPolicy::Stop stop = policy_.stop(mode);
  open_inbox();  // for nobody; those who spin look
  std::vector<Taken> dropped;
  for (const PriorityPolicy::Entry& entry : stop.dropped) {
    std::optional<Taken> taken;
    take_out(entry, taken);
    dropped.push_back(std::move(*taken));
  }
  for (ConsumerId id : stop.wake) consumers_[id].woken = true;
  for (Consumer& consumer : consumers_) consumer.wake.notify_one();  // those who doze, too
  taking_.notify_all();
  return dropped;
}

bool TaskQueue::wait_empty(int64_t deadline_ns) {
  MutexLock lock(mutex_);
  // After a stop the inbox is closed and empty.
  while (policy_.size() > 0 && wait_for_taking(lock, deadline_ns)) {
  }
  return policy_.size() == 0;
}

void TaskQueue::set_weights(double weight, double decay_per_s) {
  MutexLock lock(mutex_);
  collect(room());
  policy_.set_weights(weight, decay_per_s);
}

size_t TaskQueue::size(LaneMask lanes) const {
  MutexLock lock(mutex_);
  return policy_.size(lanes) + inbox_.size(lanes);
}

bool TaskQueue::stopped() const {
  MutexLock lock(mutex_);
  return policy_.stopped();
}

}  // namespace posset::sched
