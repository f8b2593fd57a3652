// The loop of a graph without the thread that runs it: the policy and the mailbox, joined at the boundary. A driver asks
// `next`, performs the action and starts again; to sleep it asks `fall_asleep` first and then waits for its
// notifier, so that nothing that comes in between is missed. The simulator drives the same loop step by
// step; the policy is a parameter so that it can put a broken one in and see it caught.
#pragma once

#include <exception>
#include <optional>

#include "sched/graph/mailbox.h"
#include "sched/graph/policy.h"

namespace posset::sched::graph {

template <class Policy>
class BasicLoop {
 public:
  // All outlive it; `trace` may be null.
  BasicLoop(const Plan& plan, const Clock& clock, const GraphConfig& config, Trace* trace, Notifier& notifier)
      : policy_(plan, clock, config, trace), mailbox_(plan, notifier) {}

  Policy& policy() { return policy_; }
  const Policy& policy() const { return policy_; }
  Mailbox& mailbox() { return mailbox_; }

  GraphPolicy::Action next() {
    if (std::optional<GraphPolicy::Action> more = policy_.continue_turn()) return *more;
    exchange();
    return policy_.begin_turn();
  }

  // Calls what a Call, Resume or Cancel says.
  void perform(const GraphPolicy::Action& action) {
    using What = GraphPolicy::Action::What;
    Activation activation(policy_, action.node);
    Node& node = *policy_.plan().nodes[action.node].node;
    try {
      if (action.what == What::Cancel) {
        node.cancel(activation);
      } else {
        return policy_.finished(action.node, action.what == What::Call ? node.call(activation) : node.resume(activation));
      }
    } catch (const std::exception& exception) {
      return policy_.failed(action.node, exception.what());
    } catch (...) {
      return policy_.failed(action.node, "something that is no std::exception");
    }
    policy_.cancelled(action.node);
  }

 private:
  // At the boundary: what other threads want, in the order commands, items, end.
  void exchange() {
    const bool room_made = policy_.take_room_made();
    if (!mailbox_.arrived() && !(room_made && mailbox_.has_backlog())) return;
    mailbox_.collect_commands(arrivals_);
    for (const Command& command : arrivals_.commands) apply(command);
    mailbox_.collect_items([this](EdgeId edge) { return policy_.room(edge); }, arrivals_);
    if (arrivals_.stop) policy_.shut_down();
    for (Mailbox::Arrival& arrival : arrivals_.items) policy_.put_from_outside(arrival.edge, std::move(arrival.item));
    arrivals_.clear();
  }
  void apply(const Command& command) {
    switch (command.kind) {
      case Command::Kind::SetPriority: policy_.set_priority(command.target, static_cast<Band>(command.value)); break;
      case Command::Kind::SetCapacity: policy_.set_capacity(command.target, command.value); break;
      case Command::Kind::Wake: return policy_.wake(command.target);
    }
    mailbox_.set_limit(command.target, policy_.capacity(command.target), policy_.effective_policy(command.target));
  }

  Policy policy_;
  Mailbox mailbox_;
  Mailbox::Arrivals arrivals_;
};

using GraphLoop = BasicLoop<GraphPolicy>;

}  // namespace posset::sched::graph
