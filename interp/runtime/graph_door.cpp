// See graph_door.h.
#include "interp/runtime/graph_door.h"

#include <algorithm>
#include <utility>

namespace posset::interp {

namespace graph = sched::graph;
using graph::Message;
using graph::PutResult;

Value value_of_message(Context& context, Message& message, bool keep) {
  if (!message.is<GraphItem>()) return value_of_item(context, message.get<OutsideItem>());
  return keep ? Value::copy(message.get<GraphItem>().value) : message.take<GraphItem>().value;
}

Value value_of_message(Context& context, const Message& message) {
  return value_of_message(context, const_cast<Message&>(message), /*keep=*/true);
}

// ---- any thread ----

void GraphDoor::expect_evicted() {
  const size_t wanted = evicted_.size() + waiting_ + 1;
  if (evicted_.capacity() < wanted) evicted_.reserve(std::max<size_t>(8, 2 * wanted));
}

void GraphDoor::keep_evicted(Message& item, PutResult result) {
  if (result != PutResult::Replaced || !item.is<GraphItem>()) return;
  evicted_.push_back(std::move(item));  // within what was expected
  has_evicted_.store(true, std::memory_order_relaxed);
}

bool GraphDoor::is_taken(graph::EdgeId input, const Message& item) const {
  using syntax::TypeKind;
  static constexpr TypeKind kKinds[] = {TypeKind::Nil, TypeKind::Bool, TypeKind::Int, TypeKind::Float, TypeKind::Str};
  static_assert(std::size(kKinds) == std::variant_size_v<OutsideItem>);
  const PortType* type = (*types_)[input];
  return !type || type->takes(kKinds[item.get<OutsideItem>().index()]);
}

std::optional<PutResult> GraphDoor::put(graph::EdgeId input, OutsideItem item) {
  Message message = Message::of(std::move(item));
  sched::MutexLock lock(mutex_);
  if (!loop_) return PutResult::Stopping;
  if (!is_taken(input, message)) return std::nullopt;
  expect_evicted();
  const PutResult result = loop_->mailbox().put(input, message);
  keep_evicted(message, result);
  return result;
}

std::optional<PutResult> GraphDoor::put_within(graph::EdgeId input, OutsideItem item, int64_t most_ns) {
  Message message = Message::of(std::move(item));
  graph::Mailbox* mailbox = nullptr;
  const sched::Clock* clock = nullptr;
  {
    sched::MutexLock lock(mutex_);
    if (!loop_) return PutResult::Stopping;
    if (!is_taken(input, message)) return std::nullopt;
    expect_evicted();
    mailbox = &loop_->mailbox();
    clock = clock_;
    if (thread_ == std::this_thread::get_id()) most_ns = 0;
    ++waiting_;
  }
  const int64_t now_ns = clock->now_ns();
  const int64_t deadline_ns = most_ns < sched::kNever - now_ns ? now_ns + most_ns : sched::kNever;
  const PutResult result = mailbox->put_by(input, message, *clock, deadline_ns);
  sched::MutexLock lock(mutex_);
  keep_evicted(message, result);
  if (--waiting_ == 0) none_waits_.notify_all();
  return result;
}

void GraphDoor::stop() {
  sched::MutexLock lock(mutex_);
  if (!loop_) return;
  stopped_.store(true, std::memory_order_relaxed);
  loop_->mailbox().stop();
}

graph::GraphLoop& GraphDoor::opened() {
  if (!loop_) throw graph::GraphError("the graph has ended");
  return *loop_;
}

void GraphDoor::set_priority(std::string_view edge, int64_t priority) {
  sched::MutexLock lock(mutex_);
  opened().set_priority(edge, priority);
}

void GraphDoor::set_capacity(std::string_view edge, int64_t capacity) {
  sched::MutexLock lock(mutex_);
  const graph::Plan& plan = opened().policy().plan();
  const graph::PlannedEdge& planned = plan.edges[plan.edge(edge)];
  graph::check_capacity(edge, capacity);
  if (planned.src == graph::kNone && capacity > planned.options.capacity) {
    throw graph::GraphError("edge " + planned.id + ": capacity " + std::to_string(capacity) + " is more than the " +
                            std::to_string(planned.options.capacity) + " of its description, which only the graph's thread can give it");
  }
  loop_->set_capacity(edge, capacity);
}

void GraphDoor::leave() {
  if (senders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  sched::MutexLock lock(mutex_);
  if (notifier_) notifier_->notify();
}

// ---- the graph's thread ----

void GraphDoor::open(graph::GraphLoop& loop, const std::vector<const PortType*>& types, graph::Notifier& notifier,
                     const sched::Clock& clock) {
  sched::MutexLock lock(mutex_);
  loop_ = &loop;
  types_ = &types;
  notifier_ = &notifier;
  clock_ = &clock;
  thread_ = std::this_thread::get_id();
}

void GraphDoor::close() {
  {
    sched::MutexLock lock(mutex_);
    if (loop_ && waiting_ > 0) loop_->mailbox().stop();
    loop_ = nullptr;
    notifier_ = nullptr;
    while (waiting_ > 0) lock.wait(none_waits_);
  }
  sweep();
}

void GraphDoor::sweep() {
  if (!has_evicted_.exchange(false, std::memory_order_relaxed)) return;
  for (;;) {
    Message out;  // destroyed without the lock: that may run code of the host
    sched::MutexLock lock(mutex_);
    if (evicted_.empty()) return;
    out = std::move(evicted_.back());
    evicted_.pop_back();
  }
}

}  // namespace posset::interp
