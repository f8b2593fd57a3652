// Systems x = F(x) with sparse linear F, for benchmarks of the fixed-point solver: PageRank of a real graph, a large
// one that contracts quickly, small ones in which few coordinates are slow.
//
// PageRank is of the votes of Wikipedia (wiki-Vote.txt of the Stanford collection), whose path is in POSSET_WIKI_VOTE;
// without it of a random graph of the same size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace posset::bench {

// Rows one after the other: x_i = sum of weight * x[column] + constant.
struct Sparse {
  std::vector<size_t> begins{0};
  std::vector<uint32_t> columns;
  std::vector<double> weights;
  double constant = 1;
  std::string name;  // which one it is, where there are two

  size_t n() const { return begins.size() - 1; }
  void end_row() { begins.push_back(columns.size()); }
  void add(size_t column, double weight) {
    columns.push_back(static_cast<uint32_t>(column));
    weights.push_back(weight);
  }
  template <class X>
  double at(size_t i, const X& x) const {
    double sum = constant;
    for (size_t k = begins[i]; k < begins[i + 1]; ++k) sum += weights[k] * x[columns[k]];
    return sum;
  }
};

using Edges = std::vector<std::pair<uint32_t, uint32_t>>;

// Numbers nodes in the order they are met.
inline Edges read_edges(const char* path) {
  Edges edges;
  std::map<uint32_t, uint32_t> numbers;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    uint32_t from, to;
    if (line[0] == '#' || !(std::istringstream(line) >> from >> to)) continue;
    const auto number = [&numbers](uint32_t name) {
      return numbers.try_emplace(name, static_cast<uint32_t>(numbers.size())).first->second;
    };
    const uint32_t first = number(from);
    edges.push_back({first, number(to)});
  }
  return edges;
}

inline Edges random_edges(uint32_t nodes, size_t count) {
  std::mt19937_64 random(1);
  Edges edges;
  while (edges.size() < count) {
    edges.push_back({static_cast<uint32_t>(random() % nodes), static_cast<uint32_t>(random() % nodes)});
  }
  return edges;
}

// x_i = 0.15 + 0.85 * sum over the votes for i of x_j / (votes of j).
inline Sparse make_pagerank() {
  const char* path = std::getenv("POSSET_WIKI_VOTE");
  Edges edges = path ? read_edges(path) : Edges();
  const bool by_random = edges.empty();
  if (by_random) edges = random_edges(7115, 103'689);
  uint32_t nodes = 0;
  for (const auto& [from, to] : edges) nodes = std::max({nodes, from + 1, to + 1});
  std::vector<double> votes(nodes);
  for (const auto& [from, to] : edges) ++votes[from];
  std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  Sparse system;
  system.name = by_random ? "random graph" : "wiki-Vote";
  system.constant = 0.15;
  size_t at = 0;
  for (uint32_t node = 0; node < nodes; ++node) {
    for (; at < edges.size() && edges[at].second == node; ++at) system.add(edges[at].first, 0.85 / votes[edges[at].first]);
    system.end_row();
  }
  return system;
}

// Four neighbours at random distances, a contraction by 0.9.
inline Sparse make_large() {
  std::mt19937_64 random(2);
  Sparse system;
  constexpr size_t n = 1'000'000;
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) system.add((i + random() % 1000) % n, 0.225);
    system.end_row();
  }
  return system;
}

// One coordinate in `every` belongs to a slow group; the others are quick. every = 1: all alike.
inline Sparse make_skewed(size_t every) {
  std::mt19937_64 random(3);
  Sparse system;
  constexpr size_t n = 20'000;
  for (size_t i = 0; i < n; ++i) {
    const bool slow = i % every == 0;
    for (int k = 0; k < 16; ++k) system.add(slow ? random() % (n / every) * every : random() % n, (slow ? 0.99 : 0.3) / 16);
    system.end_row();
  }
  return system;
}

inline double residual(const Sparse& system, const std::vector<double>& x) {
  double largest = 0;
  for (size_t i = 0; i < system.n(); ++i) largest = std::max(largest, std::abs(system.at(i, x) - x[i]));
  return largest;
}

}  // namespace posset::bench
