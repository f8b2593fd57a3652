// See graph.h. Here: who has the role, how it is given away in the middle of a handler and comes back, and what is done when
// there is nothing to do.
#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "interp/runtime/graph.h"

namespace posset::interp {

namespace {

namespace graph = sched::graph;
using graph::NodeId;
using graph::Progress;
using What = graph::GraphPolicy::Action::What;

}  // namespace

// ---- the role ----

// Null: raised. It may begin when the run is over, and then finds that there is nothing to do.
Job* ScriptGraph::start_fiber() {
  try {
    return tasks_.start_helper([self = shared_from_this()] { self->drive(); });
  } catch (const std::bad_alloc&) {
    context_.raise_memory_limit();
    return nullptr;
  }
}

// All that a fiber does.
void ScriptGraph::drive() {
  if (ended_) return;
  ++fibers_;
  serve_role(tasks_.current());
  if (--fibers_ == 0) tasks_.wake(*caller_);
}

void ScriptGraph::serve_role(Job& self) {
  while (await_role(self)) {
    try {
      serve();
    } catch (const std::exception&) {  // there is no memory
      collapse();
    }
  }
}

// False: the run is over.
bool ScriptGraph::await_role(Job& self) {
  while (runner_ != &self && !ended_) tasks_.park(sched::kNever, "its turn in a graph");
  return !ended_;
}

void ScriptGraph::give_role(Job& to) {
  runner_ = &to;
  tasks_.wake(to);
}

// One action of the loop. What is in the middle and what has room to send again is seen to between two.
void ScriptGraph::serve() {
  if (collapsed_) return collapse();
  look_at_time();
  const graph::GraphPolicy::Action action = loop_->next();
  if (sending_ > 0) serve_senders();
  switch (action.what) {
    case What::Call: return call(action.node);
    case What::Cancel: node(action.node).cancelled = true; return resume(action.node);
    case What::Resume: return resume(action.node);
    case What::Sleep: return sleep(action.until_ns);
    case What::Ended: return end();
  }
}

void ScriptGraph::look_at_time() {
  const int64_t now_ns = loop_->policy().now_ns();
  if (now_ns >= deadline_ns_) {
    deadline_ns_ = sched::kNever;
    stop_for("timeout");
  }
  // Where handlers keep handing the role over no quantum of theirs ends, and tasks must have their turn all the same.
  if (now_ns - quantum_since_ns_ < tasks_.quantum_ns()) return;
  quantum_since_ns_ = now_ns;
  door_->sweep();
  tasks_.let_others_run();
}

// The activation's fiber has the role from here on; this one waits until somebody needs a fiber.
void ScriptGraph::resume(NodeId id) {
  spares_.push_back(&tasks_.current());
  give_role(*node(id).job);
}

// Gives the role away in the middle of a handler. False: raised.
bool ScriptGraph::leave(ScriptNode& node, Progress progress) {
  if (spares_.empty()) {
    spares_.reserve(1);
    Job* fresh = start_fiber();
    if (!fresh) return false;
    spares_.push_back(fresh);
  }
  Job* next = spares_.back();
  spares_.pop_back();
  loop_->policy().finished(node.id, progress);
  give_role(*next);
  return true;
}

// Waits for the role. False: raised, and the handler is to end.
bool ScriptGraph::come_back(ScriptNode& node) {
  while (runner_ != node.job) tasks_.park(sched::kNever, "its turn in a graph");
  const bool waited = std::exchange(node.waits, false);
  quantum_since_ns_ = loop_->policy().now_ns();
  const bool at_end = waited && loop_->policy().stopping() && loop_->policy().callback(node.id) != graph::Callback::Stop;
  if (dead_ || collapsed_ || node.cancelled || at_end) {
    node.cancelled = true;
    context_.raise(ErrorCode::Cancelled, "the graph has ended");
    return false;
  }
  if (!std::exchange(node.stuck, false)) return true;
  context_.raise(ErrorCode::Deadlock, "deadlock: node " + plan_->nodes[node.id].name + " waits, and so does every other and every task",
                 "nothing is left that could wake one of them");
  return false;
}

// ---- nothing to do ----

bool ScriptGraph::nobody_sends() const {
  if (door_->has_senders()) return false;
  return plan_->inputs.empty() || (tasks_.is_host(*caller_) && tasks_.is_alone(fibers_));
}

void ScriptGraph::sleep(int64_t until_ns) {
  const bool for_ever = until_ns == sched::kNever;
  // Who has gone may have sent something just before, so the mailbox is looked into afterwards.
  const bool ends = for_ever && loop_->policy().quiet() && nobody_sends();
  if (!loop_->mailbox().fall_asleep()) return;
  if (ends) return stop_for("idle");
  door_->sweep();
  // Other threads may wake it: that it waits for them is no deadlock of the tasks, and with a deadline does not look like one.
  constexpr int64_t kOutsideNs = 3600 * sched::kSecond;
  const bool open = door_->has_senders();
  if (open) until_ns = std::min(until_ns, loop_->policy().now_ns() + kOutsideNs);
  for_ever_ = !open && for_ever && deadline_ns_ == sched::kNever;
  tasks_.park(std::min(until_ns, deadline_ns_), "something to do in a graph", &bell_);
  for_ever_ = false;
  if (!std::exchange(nothing_happens_, false)) return;
  if (loop_->policy().quiet()) return stop_for("idle");
  if (!wake_stuck()) fail(ErrorCode::Deadlock, "deadlock: nothing in the graph can go on, and neither can any task");
}

// Lets every handler that waits have an error. False: there is none.
bool ScriptGraph::wake_stuck() {
  bool any = false;
  for (NodeId id = 0; id < plan_->nodes.size(); ++id) {
    if (!node(id).waits) continue;
    any = node(id).stuck = true;
    loop_->mailbox().wake(id);
  }
  return any;
}

// Any thread.
void ScriptGraph::notify() { bell_.ring(); }

bool ScriptGraph::nothing_happens() {
  if (ended_) return false;
  if (runner_ && !runner_->begun) {
    if (std::exchange(starved_, true)) return false;
    tasks_.wake(*caller_);
    return true;
  }
  if (!for_ever_ || std::exchange(nothing_happens_, true)) return false;
  tasks_.wake(*runner_);
  return true;
}

}  // namespace posset::interp
