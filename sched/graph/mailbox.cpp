// See mailbox.h.
#include "sched/graph/mailbox.h"

#include <algorithm>
#include <utility>

#include "sched/base/wait.h"

namespace posset::sched::graph {

namespace {

EdgePolicy policy_of(const EdgeOptions& options) {
  return band_of_priority(options.priority) == Band::Control ? EdgePolicy::Block : options.policy;
}

}  // namespace

Mailbox::Mailbox(const Plan& plan, Notifier& notifier)
    : notifier_(notifier),
      inputs_(plan.inputs.size()),
      input_of_edge_(plan.edges.size(), kNone),
      woken_(plan.nodes.size(), false) {
  wakes_.reserve(plan.nodes.size());  // waking never fails
  for (uint32_t i = 0; i < plan.inputs.size(); ++i) {
    const EdgeId edge = plan.inputs[i];
    const EdgeOptions& options = plan.edges[edge].options;
    inputs_[i].limit = static_cast<size_t>(options.capacity);
    inputs_[i].policy = policy_of(options);
    inputs_[i].edge = edge;
    input_of_edge_[edge] = i;
  }
}

// ---- coming in ----

bool Mailbox::note() {
  arrived_.store(true, std::memory_order_relaxed);
  return std::exchange(asleep_, false);
}

PutResult Mailbox::try_put(EdgeId edge, Message& item) {
  if (stop_) return PutResult::Stopping;
  Input& input = inputs_[input_of_edge_[edge]];
  if (input.items.size() < input.limit) {
    input.items.push(std::move(item));
    return PutResult::Ok;
  }
  if (input.policy == EdgePolicy::Drop) return PutResult::Dropped;
  if (input.policy != EdgePolicy::Latest) return PutResult::Blocked;
  Message oldest = input.items.pop();
  input.items.push(std::move(item));
  item = std::move(oldest);
  return PutResult::Replaced;
}

PutResult Mailbox::put(EdgeId edge, Message& item) {
  bool notify = false;
  PutResult result;
  {
    MutexLock lock(mutex_);
    result = try_put(edge, item);
    if (result == PutResult::Ok || result == PutResult::Replaced) notify = note();
  }
  if (notify) notifier_.notify();
  if (result == PutResult::Dropped) item.reset();
  return result;
}

PutResult Mailbox::put_by(EdgeId edge, Message& item, const Clock& clock, int64_t deadline_ns) {
  Message replaced;
  bool notify = false;
  PutResult result;
  {
    MutexLock lock(mutex_);
    for (;;) {
      result = try_put(edge, item);
      if (result != PutResult::Blocked) break;
      ++waiting_for_room_;
      const bool in_time = wait_on(clock, lock, room_, deadline_ns);
      --waiting_for_room_;
      if (in_time) continue;
      // The room may have come with the deadline.
      result = try_put(edge, item);
      break;
    }
    if (result == PutResult::Ok || result == PutResult::Replaced) notify = note();
  }
  if (notify) notifier_.notify();
  if (result == PutResult::Dropped) item.reset();
  return result;
}

bool Mailbox::change(const Command& command) {
  bool notify = false;
  {
    MutexLock lock(mutex_);
    if (stop_ || commands_.size() >= kMostCommands) return false;
    commands_.push_back(command);
    notify = note();
  }
  if (notify) notifier_.notify();
  return true;
}

void Mailbox::wake(NodeId node) {
  bool notify = false;
  {
    MutexLock lock(mutex_);
    if (woken_[node]) return;
    woken_[node] = true;
    wakes_.push_back(node);
    notify = note();
  }
  if (notify) notifier_.notify();
}

void Mailbox::stop() {
  bool notify = false;
  {
    MutexLock lock(mutex_);
    if (std::exchange(stop_, true)) return;
    notify = note();
    room_.notify_all();
  }
  if (notify) notifier_.notify();
}

bool Mailbox::stopped() const {
  MutexLock lock(mutex_);
  return stop_;
}

// ---- going out ----

void Mailbox::collect_commands(Arrivals& into) {
  MutexLock lock(mutex_);
  arrived_.store(false, std::memory_order_relaxed);
  into.commands.swap(commands_);
  for (NodeId node : wakes_) {
    into.commands.push_back({Command::Kind::Wake, node});
    woken_[node] = false;
  }
  wakes_.clear();
}

void Mailbox::collect_items(const std::function<size_t(EdgeId)>& room, Arrivals& into) {
  MutexLock lock(mutex_);
  into.stop = stop_;
  bool left = false, taken = false;
  for (Input& input : inputs_) {
    if (input.items.empty()) continue;
    for (size_t n = std::min(input.items.size(), stop_ ? SIZE_MAX : room(input.edge)); n > 0; --n) {
      into.items.push_back({input.edge, input.items.pop()});
      taken = true;
    }
    left = left || !input.items.empty();
  }
  backlog_.store(left, std::memory_order_relaxed);
  if (taken && waiting_for_room_ > 0) room_.notify_all();
}

void Mailbox::set_limit(EdgeId edge, int64_t capacity, EdgePolicy policy) {
  if (input_of_edge_[edge] == kNone) return;
  MutexLock lock(mutex_);
  Input& input = inputs_[input_of_edge_[edge]];
  input.limit = static_cast<size_t>(capacity);
  input.policy = policy;
  if (waiting_for_room_ > 0) room_.notify_all();
}

bool Mailbox::fall_asleep() {
  MutexLock lock(mutex_);
  if (arrived_.load(std::memory_order_relaxed)) return false;
  asleep_ = true;
  return true;
}

}  // namespace posset::sched::graph
