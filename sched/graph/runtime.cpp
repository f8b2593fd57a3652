// See runtime.h.
#include "sched/graph/runtime.h"

#include <utility>

#include "sched/base/wait.h"

namespace posset::sched::graph {

// What there is once the description is final. The callback goes first and comes last: it may call into the rest.
struct GraphRuntime::Built {
  Built(const Subgraph& description, const Clock& clock, const GraphConfig& config, Trace* trace, std::stop_token token)
      : plan(Plan::of(description)),
        loop(plan, clock, config, trace, sleeper),
        on_stop(std::move(token), [this] { loop.mailbox().stop(); }) {}

  Plan plan;
  Sleeper sleeper;
  GraphLoop loop;
  std::stop_callback<std::function<void()>> on_stop;
};

GraphRuntime::GraphRuntime(const Clock& clock, Trace* trace, GraphConfig config, std::stop_token parent)
    : clock_(clock), trace_(trace), config_(std::move(config)), stop_(std::move(parent)) {}

GraphRuntime::~GraphRuntime() = default;

// ---- registering ----

Subgraph& GraphRuntime::description(std::string_view what) {
  if (owned_) throw GraphError("cannot register " + std::string(what) + ": the plan of the graph has been made");
  return description_;
}

void GraphRuntime::add(std::string name, std::shared_ptr<Node> node, NodeOptions options) {
  MutexLock lock(mutex_);
  description("node " + name).add(std::move(name), std::move(node), std::move(options));
}

void GraphRuntime::add(std::string name, Subgraph subgraph) {
  MutexLock lock(mutex_);
  description("subgraph " + name).add(std::move(name), std::move(subgraph));
}

void GraphRuntime::connect(std::string from, std::string to, EdgeOptions options) {
  MutexLock lock(mutex_);
  description("edge " + from + "->" + to).connect(std::move(from), std::move(to), std::move(options));
}

void GraphRuntime::input(std::string name, std::string to, EdgeOptions options) {
  MutexLock lock(mutex_);
  description("input " + name).input(std::move(name), std::move(to), std::move(options));
}

void GraphRuntime::build() {
  if (owned_) return;
  owned_ = std::make_unique<Built>(description_, clock_, config_, trace_, stop_.token());
  built_.store(owned_.get(), std::memory_order_release);
}

GraphRuntime::Built& GraphRuntime::built() {
  if (Built* made = built_.load(std::memory_order_acquire)) return *made;
  MutexLock lock(mutex_);
  build();
  return *owned_;
}

// ---- running ----

void GraphRuntime::Sleeper::notify() {
  {
    MutexLock lock(mutex_);
    notified_ = true;
  }
  condition_.notify_one();
}

void GraphRuntime::Sleeper::sleep(const Clock& clock, int64_t until_ns) {
  MutexLock lock(mutex_);
  while (!notified_ && wait_on(clock, lock, condition_, until_ns)) {
  }
  notified_ = false;
}

void GraphRuntime::run() {
  Built& made = built();
  if (ran_.exchange(true)) throw GraphError("the graph has been run before, and a graph runs once");
  using What = GraphPolicy::Action::What;
  for (;;) {
    const GraphPolicy::Action action = made.loop.next();
    if (action.what == What::Ended) return;
    if (action.what != What::Sleep) {
      made.loop.perform(action);
    } else if (made.loop.mailbox().fall_asleep()) {
      made.sleeper.sleep(clock_, action.until_ns);
    }
  }
}

void GraphRuntime::shutdown() { stop_.stop(); }

// ---- while it runs ----

void GraphRuntime::set_priority(std::string_view edge, int64_t priority) { built().loop.set_priority(edge, priority); }
void GraphRuntime::set_capacity(std::string_view edge, int64_t capacity) { built().loop.set_capacity(edge, capacity); }

EdgeId GraphRuntime::find_input(std::string_view name) { return built().plan.input(name); }
NodeId GraphRuntime::find_node(std::string_view name) { return built().plan.node(name); }

void GraphRuntime::check_item(EdgeId input, const Message& item) {
  const Plan& plan = built().plan;
  if (input >= plan.edges.size() || plan.edges[input].src != kNone) {
    throw GraphError("there is no input with the number " + std::to_string(input));
  }
  const PlannedEdge& edge = plan.edges[input];
  const Port& port = plan.nodes[edge.dst].options.inputs[edge.dst_port];
  if (item.empty()) throw GraphError("an empty message for " + edge.id);
  if (port.type == kAnyType || item.type() == port.type) return;
  throw GraphError("a message of " + type_name(item.type()) + " for " + edge.id + ", which takes " + type_name(port.type));
}

// What a new item has replaced may be destroyed on any thread.
static PutResult without_replaced(Message& item, PutResult result) {
  if (result == PutResult::Replaced) item.reset();
  return result;
}

PutResult GraphRuntime::put(EdgeId input, Message& item) {
  check_item(input, item);
  return without_replaced(item, built().loop.mailbox().put(input, item));
}

PutResult GraphRuntime::put_by(EdgeId input, Message& item, int64_t deadline_ns) {
  check_item(input, item);
  return without_replaced(item, built().loop.mailbox().put_by(input, item, clock_, deadline_ns));
}

void GraphRuntime::wake(NodeId node) {
  if (node >= built().plan.nodes.size()) throw GraphError("there is no node with the number " + std::to_string(node));
  built().loop.mailbox().wake(node);
}

GraphStatistics GraphRuntime::statistics() { return built().loop.policy().statistics(); }
std::string GraphRuntime::dot() { return built().plan.dot(); }

}  // namespace posset::sched::graph
