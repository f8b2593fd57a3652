// The start order of a plan and its picture. Components are found by Tarjan's algorithm ("Depth-first search and
// linear graph algorithms", 1972) with a stack of its own, because a pipeline may be longer than the thread's
// stack is deep; then the component that is free and has the earliest registered node is next (Kahn, 1962).
#include <algorithm>
#include <queue>

#include "sched/graph/plan.h"

namespace posset::sched::graph {

namespace {

using Successors = std::vector<std::vector<NodeId>>;

class Components {
 public:
  explicit Components(const Successors& next) : next_(next), index_(next.size(), kNone), low_(next.size()), of_(next.size(), kNone) {
    for (NodeId node = 0; node < next.size(); ++node) {
      if (index_[node] == kNone) visit(node);
    }
  }
  uint32_t count() const { return count_; }
  uint32_t of(NodeId node) const { return of_[node]; }

 private:
  struct Frame {
    NodeId node;
    size_t edge;
  };

  void visit(NodeId root) {
    open(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.edge < next_[frame.node].size()) {
        const NodeId other = next_[frame.node][frame.edge++];
        if (index_[other] == kNone) {
          open(other);
        } else if (of_[other] == kNone) {
          low_[frame.node] = std::min(low_[frame.node], index_[other]);
        }
      } else {
        close(frame.node);
      }
    }
  }
  void open(NodeId node) {
    index_[node] = low_[node] = visited_++;
    stack_.push_back(node);
    frames_.push_back({node, 0});
  }
  void close(NodeId node) {
    frames_.pop_back();
    if (!frames_.empty()) low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
    if (low_[node] != index_[node]) return;
    for (NodeId member = kNone; member != node;) {
      member = stack_.back();
      stack_.pop_back();
      of_[member] = count_;
    }
    ++count_;
  }

  const Successors& next_;
  std::vector<uint32_t> index_, low_, of_;
  std::vector<NodeId> stack_;
  std::vector<Frame> frames_;
  uint32_t visited_ = 0;
  uint32_t count_ = 0;
};

Successors successors(const Plan& plan) {
  Successors next(plan.nodes.size());
  for (const PlannedEdge& edge : plan.edges) {
    if (edge.src != kNone) next[edge.src].push_back(edge.dst);
  }
  return next;
}

}  // namespace

std::vector<NodeId> start_order(const Plan& plan) {
  const Successors next = successors(plan);
  const Components components(next);
  std::vector<std::vector<NodeId>> members(components.count());
  std::vector<uint32_t> waits_for(components.count(), 0);
  for (NodeId node = 0; node < next.size(); ++node) {
    members[components.of(node)].push_back(node);
    for (NodeId other : next[node]) waits_for[components.of(other)] += components.of(other) != components.of(node);
  }
  // By the earliest member, which is the first: members came in the order of registration.
  auto later = [&members](uint32_t a, uint32_t b) { return members[a].front() > members[b].front(); };
  std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(later)> free(later);
  for (uint32_t component = 0; component < members.size(); ++component) {
    if (waits_for[component] == 0) free.push(component);
  }
  std::vector<NodeId> order;
  while (!free.empty()) {
    const uint32_t component = free.top();
    free.pop();
    for (NodeId node : members[component]) {
      order.push_back(node);
      for (NodeId other : next[node]) {
        const uint32_t target = components.of(other);
        if (target != component && --waits_for[target] == 0) free.push(target);
      }
    }
  }
  return order;
}

namespace {

// Within double quotes; a name has neither quotes nor backslashes, a type's name might.
std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (char c : text) made += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return made + "\"";
}

std::string label_of(const PlannedEdge& edge, const std::string& from, const Port& to) {
  static constexpr const char* kPolicies[] = {"block", "drop", "latest", "coalesce"};
  static constexpr const char* kBandNames[] = {"normal", "high", "control"};
  const std::string type = to.type == kAnyType ? "" : type_name(to.type) + ", ";
  return from + " > " + to.name + ", " + type + kPolicies[static_cast<size_t>(edge.options.policy)] + " " +
         std::to_string(edge.options.capacity) + ", " + kBandNames[static_cast<size_t>(band_of_priority(edge.options.priority))];
}

}  // namespace

std::string Plan::dot() const {
  std::string text = "digraph plan {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const PlannedNode& node : nodes) text += "  " + quoted(node.name) + ";\n";
  if (!inputs.empty()) text += "  \"host\" [shape=plaintext];\n";
  for (const PlannedEdge& edge : edges) {
    const bool outside = edge.src == kNone;
    const std::string from_node = outside ? "host" : nodes[edge.src].name;
    const std::string from = outside ? edge.id.substr(5, edge.id.find("->") - 5) : nodes[edge.src].options.outputs[edge.src_port].name;
    text += "  " + quoted(from_node) + " -> " + quoted(nodes[edge.dst].name) + " [label=" +
            quoted(label_of(edge, from, nodes[edge.dst].options.inputs[edge.dst_port])) + (edge.back ? ", constraint=false" : "") +
            "];\n";
  }
  return text + "}\n";
}

}  // namespace posset::sched::graph
