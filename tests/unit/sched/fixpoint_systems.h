// Systems to solve in tests: x = A x + b with a known solution, sparse and dense, easy and hard; and the two
// synchronous methods that the asynchronous one is compared with.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sched/base/random.h"
#include "sched/fixpoint/iterate.h"

namespace posset::sched::fixpoint {

// F_i(x) = sum of weight * x[column] + constant[i].
struct LinearSystem {
  std::vector<std::vector<std::pair<size_t, double>>> rows;
  std::vector<double> constants;

  size_t n() const { return rows.size(); }
  template <class X>
  double at(size_t i, const X& x) const {
    double sum = constants[i];
    for (const auto& [column, weight] : rows[i]) sum += weight * x[column];
    return sum;
  }
  Operator f() const {
    return [this](size_t i, const Iterate& x) { return at(i, x); };
  }
  double residual(const std::vector<double>& x) const {
    double largest = 0;
    for (size_t i = 0; i < n(); ++i) largest = std::max(largest, std::abs(at(i, x) - x[i]));
    return largest;
  }
};

// x_i = beta x_{i+1} + r, round a ring: every coordinate of the solution is r / (1 - beta).
inline LinearSystem ring(size_t n, double beta, double r) {
  LinearSystem system;
  for (size_t i = 0; i < n; ++i) system.rows.push_back({{(i + 1) % n, beta}});
  system.constants.assign(n, r);
  return system;
}

// Rows of some random weights whose absolute values sum to beta: a contraction by beta in the maximum norm.
inline LinearSystem random_contraction(size_t n, size_t row, double beta, uint64_t seed) {
  Random random(seed);
  LinearSystem system;
  for (size_t i = 0; i < n; ++i) {
    std::vector<std::pair<size_t, double>> entries;
    double sum = 0;
    for (size_t k = 0; k < row; ++k) {
      entries.push_back({random.below(n), 2 * random.unit() - 1});
      sum += std::abs(entries.back().second);
    }
    for (auto& entry : entries) entry.second *= beta / sum;
    system.rows.push_back(std::move(entries));
    system.constants.push_back(2 * random.unit() - 1);
  }
  return system;
}

// One coordinate in `every` belongs to a slow ring of their own (beta); the others follow their neighbour and are quick.
inline LinearSystem skewed(size_t n, size_t every, double beta) {
  LinearSystem system;
  for (size_t i = 0; i < n; ++i) {
    const bool slow = i % every == 0;
    const size_t next = i + every < n ? i + every : 0;
    system.rows.push_back({{slow ? next : (i + 1) % n, slow ? beta : 0.1}});
    system.constants.push_back(1);
  }
  return system;
}

// PageRank of a random graph in which a few have most of the votes and most have none: x_i = 0.15 + 0.85 * sum of x_j / (votes
// of j) over those who vote for i. Skewed, and soon solved.
inline LinearSystem votes(size_t n, size_t each, uint64_t seed) {
  Random random(seed);
  LinearSystem system;
  system.rows.resize(n);
  system.constants.assign(n, 0.15);
  for (size_t from = 0; from < n; ++from) {
    for (size_t k = 0; k < each; ++k) {
      const double popular = std::pow(random.unit(), 6);
      const auto to = static_cast<size_t>(popular * static_cast<double>(n));
      system.rows[to < n ? to : n - 1].push_back({from, 0.85 / static_cast<double>(each)});
    }
  }
  return system;
}

// Sweeps until the largest residual is within the tolerance; all at once, from the values before.
inline size_t jacobi(const LinearSystem& system, std::vector<double>& x, double tolerance) {
  std::vector<double> next(x.size());
  for (size_t sweeps = 1;; ++sweeps) {
    double largest = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      next[i] = system.at(i, x);
      largest = std::max(largest, std::abs(next[i] - x[i]));
    }
    x.swap(next);
    if (largest <= tolerance) return sweeps;
  }
}

// The same, each with what is there already.
inline size_t gauss_seidel(const LinearSystem& system, std::vector<double>& x, double tolerance) {
  for (size_t sweeps = 1;; ++sweeps) {
    double largest = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double next = system.at(i, x);
      largest = std::max(largest, std::abs(next - x[i]));
      x[i] = next;
    }
    if (largest <= tolerance) return sweeps;
  }
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace posset::sched::fixpoint
