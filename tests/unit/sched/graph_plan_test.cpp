// Plans: numbers and names, subgraphs, what is wrong with a description in words that name it, start orders, pictures.
#include "sched/graph/plan.h"

#include <algorithm>
#include <memory>

#include <doctest/doctest.h>

#include "graph_fixture.h"
#include "sched/base/random.h"

using namespace posset::sched;
using namespace posset::sched::graph;

namespace {

std::shared_ptr<Node> body() { return std::make_shared<Node>(); }

// What is wrong with a graph that `describe` makes of two nodes a and b, each with ports in and out of ints.
template <class Describe>
std::string wrong(Describe describe) {
  Subgraph graph;
  graph.add("a", body(), ins_outs(1, 1));
  graph.add("b", body(), ins_outs(1, 1));
  describe(graph);
  try {
    Plan::of(graph);
  } catch (const GraphError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> start_names(const Plan& plan) {
  std::vector<std::string> names;
  for (NodeId node : plan.start_order) names.push_back(plan.nodes[node].name);
  return names;
}

}  // namespace

TEST_CASE("graph plan: nodes and edges have dense numbers and names that say where they are") {
  Subgraph inner;
  inner.add("split", body(), ins_outs(1, 2));
  inner.add("join", body(), ins_outs(2, 1));
  inner.connect("split:out", "join:in");
  inner.connect("split:out1", "join:in1");
  inner.expose("in", "split:in");
  inner.expose("result", "join:out");
  Subgraph graph;
  graph.add("source", body(), ins_outs(0, 1));
  graph.add("middle", std::move(inner));
  graph.add("sink", body(), ins_outs(1, 0));
  graph.connect("source:out", "middle:in");
  graph.connect("middle:result", "sink:in");
  graph.input("feed", "middle/join:in1");
  const Plan plan = Plan::of(graph);
  REQUIRE(plan.nodes.size() == 4);
  CHECK(plan.node("middle/split") == 1);
  CHECK(plan.node("sink") == 3);
  const char* ids[] = {"middle/split:out->middle/join:in", "middle/split:out1->middle/join:in1", "source:out->middle/split:in",
                       "middle/join:out->sink:in", "host:feed->middle/join:in1"};
  REQUIRE(plan.edges.size() == 5);
  for (EdgeId i = 0; i < 5; ++i) {
    CHECK(plan.edges[i].id == ids[i]);
    CHECK(plan.edge(ids[i]) == i);
  }
  CHECK(plan.input("feed") == 4);
  CHECK(plan.inputs == std::vector<EdgeId>{4});
  CHECK(start_names(plan) == std::vector<std::string>{"source", "middle/split", "middle/join", "sink"});
}

TEST_CASE("graph plan: subgraphs within subgraphs hand their ports out step by step") {
  Subgraph inner, outer, graph;
  inner.add("node", body(), ins_outs(1, 1));
  inner.expose("in", "node:in");
  outer.add("inner", std::move(inner));
  outer.expose("entry", "inner:in");
  graph.add("outer", std::move(outer));
  graph.add("a", body(), ins_outs(0, 1));
  graph.connect("a:out", "outer:entry");
  CHECK(Plan::of(graph).edges[0].id == "a:out->outer/inner/node:in");
}

TEST_CASE("graph plan: what is wrong is said with the names") {
  using G = Subgraph;
  CHECK(wrong([](G&) {}) == "");
  CHECK(wrong([](G& g) { g.add("a", body(), {}); }) == "two nodes or subgraphs are called a");
  CHECK(wrong([](G& g) { g.add("a", G()); }) == "two nodes or subgraphs are called a");
  CHECK(wrong([](G& g) { g.add("", body(), {}); }).find("node \"\": a name is not empty") == 0);
  CHECK(wrong([](G& g) { g.add("x:y", body(), {}); }).find("node \"x:y\": a name") == 0);
  CHECK(wrong([](G& g) { g.add("host", body(), {}); }).find("no node can be called host") == 0);
  CHECK(wrong([](G& g) { g.add("c", nullptr, {}); }) == "node c is null");
  CHECK(wrong([](G& g) { g.add("c", body(), {.inputs = {{"x"}, {"x"}}}); }) == "node c has two input ports x");
  CHECK(wrong([](G& g) { g.add("c", body(), {.tick_interval_ns = -2}); }) == "node c: its tick interval is negative");
  CHECK(wrong([](G& g) {
          auto one = body();
          g.add("c", one, {});
          g.add("d", one, {});
        }) == "nodes c and d are one object");
  CHECK(wrong([](G& g) { g.connect("a:out", "b"); }) == "\"b\" is not of the form node:port");
  CHECK(wrong([](G& g) { g.connect("a:out", "c:in"); }) == "unknown node c in c:in");
  CHECK(wrong([](G& g) { g.connect("a:out", "b:inn"); }) == "node b has no input port inn");
  CHECK(wrong([](G& g) { g.connect("a:in", "b:in"); }) == "node a has no output port in");
  CHECK(wrong([](G& g) {
          g.connect("a:out", "b:in");
          g.connect("a:out", "b:in");
        }) == "edge a:out->b:in is there twice");
  CHECK(wrong([](G& g) {
          g.input("feed", "a:in");
          g.input("feed", "b:in");
        }) == "two inputs are called feed");
  CHECK(wrong([](G& g) { g.expose("p", "a:in"); }) == "only a subgraph can expose ports");
  CHECK(wrong([](G& g) {
          G inner;
          inner.expose("p", "nobody:in");
          g.add("s", std::move(inner));
        }) == "unknown node s/nobody in s/nobody:in");
}

TEST_CASE("graph plan: options of edges that cannot be are said with the edge") {
  using G = Subgraph;
  auto with = [](EdgeOptions options) {
    return wrong([&](G& g) { g.connect("a:out", "b:in", options); });
  };
  CHECK(with({.capacity = 0}) == "edge a:out->b:in: capacity 0 is not between 1 and 16777216");
  CHECK(with({.capacity = -3}).find("capacity -3 is not between") != std::string::npos);
  CHECK(with({.capacity = kMostCapacity + 1}).find("is not between") != std::string::npos);
  CHECK(with({.priority = -1}) == "edge a:out->b:in: priority -1 is negative");
  CHECK(with({.policy = EdgePolicy::Coalesce}) == "edge a:out->b:in coalesces and has no function to fold with");
  CHECK(with({.fold = fold<int>([](int a, int) { return a; })}).find("does not coalesce") != std::string::npos);
}

TEST_CASE("graph plan: types are compared when ports are connected") {
  using G = Subgraph;
  auto text_in = NodeOptions{.inputs = {port<std::string>("in")}};
  CHECK(wrong([&](G& g) {
          g.add("c", body(), text_in);
          g.connect("a:out", "c:in");
        }).find("edge a:out->c:in: a:out gives int, c:in takes std::") == 0);
  CHECK(wrong([](G& g) {
          g.add("c", body(), {.inputs = {{"in"}}});
          g.connect("a:out", "c:in");
        }) == "");
  CHECK(wrong([](G& g) {
          g.add("c", body(), {.outputs = {{"out"}}});
          g.connect("c:out", "a:in");
        }) == "edge c:out->a:in: c:out gives anything, a:in takes int");
  const std::string once = wrong([](G& g) {
    g.add("c", body(), {.outputs = {port<std::unique_ptr<int>>("out")}});
    g.add("d", body(), {.inputs = {{"in"}, {"in1"}}});
    g.connect("c:out", "d:in");
    g.connect("c:out", "d:in1");
  });
  CHECK(once.find("cannot be copied, so c:out can have one edge only") != std::string::npos);
}

TEST_CASE("graph plan: priorities are bands") {
  CHECK(band_of_priority(0) == Band::Normal);
  CHECK(band_of_priority(1) == Band::Normal);
  CHECK(band_of_priority(2) == Band::High);
  CHECK(band_of_priority(3) == Band::Control);
  CHECK(band_of_priority(1000) == Band::Control);
  CHECK_THROWS_AS(band_of_priority(-1), GraphError);
}

TEST_CASE("graph plan 4.1.2: producers start before consumers, ties by registration, cycles as one") {
  Subgraph graph;
  for (const char* name : {"sink", "b", "a", "c", "source"}) graph.add(name, body(), ins_outs(2, 2));
  graph.connect("source:out", "a:in");
  graph.connect("a:out", "b:in");
  graph.connect("b:out", "c:in");
  graph.connect("c:out", "a:in1");  // a, b and c form a cycle, registered as b, a, c
  graph.connect("c:out1", "sink:in");
  const Plan plan = Plan::of(graph);
  CHECK(start_names(plan) == std::vector<std::string>{"source", "b", "a", "c", "sink"});
  CHECK(plan.edges[plan.edge("a:out->b:in")].back);  // b starts first
  CHECK_FALSE(plan.edges[plan.edge("b:out->c:in")].back);
}

TEST_CASE("graph plan 4.3: start orders of random graphs") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const uint64_t count = 1 + random.below(20);
    const bool acyclic = random.below(2) == 0;
    Subgraph graph;
    for (uint64_t i = 0; i < count; ++i) graph.add("n" + std::to_string(i), body(), ins_outs(1, 1));
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count));
    for (uint64_t i = 0; i < 2 * count; ++i) {
      uint64_t from = random.below(count), to = random.below(count);
      if (acyclic && from == to) continue;
      // Against the order of registration, so that it does not give the answer.
      if (acyclic && from < to) std::swap(from, to);
      if (reaches[from][to]) continue;
      reaches[from][to] = true;
      graph.connect("n" + std::to_string(from) + ":out", "n" + std::to_string(to) + ":in");
    }
    const Plan plan = Plan::of(graph);
    for (uint64_t via = 0; via < count; ++via) {
      for (uint64_t a = 0; a < count; ++a) {
        for (uint64_t b = 0; b < count; ++b) reaches[a][b] = reaches[a][b] || (reaches[a][via] && reaches[via][b]);
      }
    }
    std::vector<size_t> place(count);
    REQUIRE(plan.start_order.size() == count);
    for (size_t i = 0; i < count; ++i) place[plan.start_order[i]] = i;
    for (uint64_t a = 0; a < count; ++a) {
      for (uint64_t b = 0; b < count; ++b) {
        if (reaches[a][b] && !reaches[b][a]) CHECK(place[a] < place[b]);
        if (a < b && reaches[a][b] && reaches[b][a]) CHECK(place[a] < place[b]);
      }
    }
  }
}

TEST_CASE("graph plan: a pipeline of ten thousand nodes") {
  Subgraph graph;
  constexpr int kNodes = 10'000;
  for (int i = 0; i < kNodes; ++i) graph.add("n" + std::to_string(i), body(), ins_outs(1, 1));
  for (int i = 0; i + 1 < kNodes; ++i) graph.connect("n" + std::to_string(i + 1) + ":out", "n" + std::to_string(i) + ":in");
  const Plan plan = Plan::of(graph);
  CHECK(plan.start_order.front() == kNodes - 1);
  CHECK(plan.start_order.back() == 0);
}

TEST_CASE("graph plan: the picture") {
  Subgraph graph;
  graph.add("a", body(), ins_outs(1, 1));
  graph.add("b", body(), ins_outs(1, 0));
  graph.connect("a:out", "b:in", {.capacity = 4, .policy = EdgePolicy::Latest, .priority = 2});
  graph.connect("a:out", "a:in", {.priority = 3});
  graph.input("feed", "a:in", {.policy = EdgePolicy::Drop});
  CHECK(Plan::of(graph).dot() ==
        "digraph plan {\n"
        "  rankdir=LR;\n"
        "  node [shape=box];\n"
        "  \"a\";\n"
        "  \"b\";\n"
        "  \"host\" [shape=plaintext];\n"
        "  \"a\" -> \"b\" [label=\"out > in, int, latest 4, high\"];\n"
        "  \"a\" -> \"a\" [label=\"out > in, int, block 1024, control\", constraint=false];\n"
        "  \"host\" -> \"a\" [label=\"feed > in, int, drop 1024, normal\"];\n"
        "}\n");
}
