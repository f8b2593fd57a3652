// A pipeline of nodes: a thread of the host sends what its sensors say, a rule written as a script decides what matters, and a node of
// the host acts on it. A flood of readings does not hold up the switch that turns everything off.
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include <posset/posset.hpp>

namespace {

// What the operators of this program may change.
constexpr const char* kRule = R"(
{
  state: {mean: 20.0, seen: 0},
  inputs: ["celsius"], outputs: ["alarm"],
  on_message: (s, x, node) => {
    if abs(x - s.mean) > 15.0 { node.emit("alarm", "{x:.1f} degrees, {s.mean:.1f} on average") }
    {mean: 0.9 * s.mean + 0.1 * x, seen: s.seen + 1}
  }
}
)";

}  // namespace

int main() {
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 64 << 20});
  posset::Graph graph(context);

  int alarms = 0;
  graph.add("rule", context.eval(kRule));
  graph.add("siren", posset::Node({"in"}).on_message([&](posset::Turn& turn) {
    std::printf("alarm: %s\n", turn.message<std::string>().c_str());
    ++alarms;
  }));
  graph.add("switch", posset::Node({"in"}).on_message([&](posset::Turn&) { graph.stop(); }));
  graph.connect("rule:alarm", "siren:in", {.capacity = 8});
  graph.input("readings", "rule:celsius", {.capacity = 64});
  graph.input("off", "switch:in", {.priority = 3});  // control: handled within a turn

  std::thread sensors([readings = graph.sender("readings"), off = graph.sender("off")] {
    for (int i = 0; i < 10000; ++i) {
      const double celsius = i % 4000 == 3999 ? 60.0 : 20.0 + i % 3;
      readings.send(celsius);  // waits while the rule is behind
    }
    off.put(true);
  });
  const posset::Value result = graph.run();  // on this thread, until somebody turns it off
  sensors.join();

  context.set("result", result);
  std::printf("%d alarms in %lld readings\n", alarms, static_cast<long long>(context.eval<int64_t>("result.states[\"rule\"].seen")));
}
