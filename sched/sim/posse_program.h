// Programs for the posses of the simulator: trees of which an inner node computes its left side, then its right, and merges,
// and of which the leaves take so many reductions. A node is only described, and divided when a computation comes to it; so a
// tree of a million leaves costs nothing but the time to walk it.
//
// Everything about a node, its shape, cost and faults, follows from the tree's seed and the way to it. A result says in which
// order everything was merged, and of two failures the left one is the result.
//
// Elsewhere: who computes which node (posse_world.h).
#pragma once

#include <cstdint>
#include <vector>

#include "sched/sim/simulation.h"

namespace posset::sched::posse {

struct SimTree {
  enum class Shape : uint8_t {
    Balanced,
    Skewed,         // so much of the leaves to the left: `left_share`
    Linear,         // leaf(n) + f(n - 1)
    LinearOnRight,  // f(n - 1) + leaf(n)
    Random,
  };
  Shape shape = Shape::Balanced;
  uint64_t leaves = 1;
  double left_share = 0.5;
  int64_t leaf_cost = 10;  // reductions; of a random tree at most
  uint64_t seed = 1;
  // Of 1024 nodes: leaves that fail; inner nodes that make a result of a failure; parts that cannot be given away;
  // leaves that wait for something; inner nodes whose sides depend on each other; parts that are done in a way of their own.
  uint32_t fail = 0, recover = 0, refuse = 0, wait = 0, impure = 0, odd = 0;
};

struct SimPart {
  uint64_t leaves;
  uint64_t id;
};

struct SimResult {
  uint64_t value = 0;
  bool failed = false;
  bool operator==(const SimResult&) const = default;
};

class SimProgram {
 public:
  explicit SimProgram(const SimTree& tree) : tree_(tree) {}

  static constexpr int64_t kInnerCost = 1;  // to divide it, and to merge

  SimPart whole() const { return {tree_.leaves, part_id(tree_.seed, 0)}; }
  static bool is_leaf(const SimPart& part) { return part.leaves == 1; }
  SimPart left(const SimPart& part) const { return {leaves_on_left(part), part_id(part.id, 1)}; }
  SimPart right(const SimPart& part) const { return {part.leaves - leaves_on_left(part), part_id(part.id, 2)}; }
  int64_t cost(const SimPart& part) const;
  bool fails(const SimPart& part) const { return is_leaf(part) && chance(part, 3, tree_.fail); }
  bool waits(const SimPart& part) const { return is_leaf(part) && chance(part, 4, tree_.wait); }
  bool recovers(const SimPart& part) const { return chance(part, 5, tree_.recover); }
  bool refuses(const SimPart& part) const { return chance(part, 6, tree_.refuse); }
  bool is_odd(const SimPart& part) const { return chance(part, 8, tree_.odd); }
  bool forks(const SimPart& part) const { return !chance(part, 7, tree_.impure); }
  // No more can be open at once.
  uint64_t most_records(const SimPart& part) const;

 private:
  static uint64_t part_id(uint64_t id, uint64_t which);
  static bool chance(const SimPart& part, uint64_t salt, uint32_t of_1024);
  uint64_t leaves_on_left(const SimPart& part) const;

  const SimTree tree_;
};

// Where a computation leaves the right sides of what it forks.
class SimForks {
 public:
  virtual void leave(const SimPart& right) = 0;
  // The last one. True: `result` is there; false: it is to be computed now.
  virtual bool take_back(SimResult& result) = 0;
  // The last one, after a failure.
  virtual void drop() = 0;

 protected:
  ~SimForks() = default;
};

// Computes a part; can be stopped after any reduction.
class SimComputation {
 public:
  enum class Stop : uint8_t { Budget, Waits, Ended };
  // Without `forks` nothing is forked.
  SimComputation(const SimProgram& program, const SimPart& part, SimForks* forks);

  // Counts the budget down.
  Stop run(int64_t& budget);
  const SimResult& result() const { return result_; }
  void hash_into(StateHash& hash) const;

 private:
  enum class Next : uint8_t { Enter, Merge, Return };
  struct Frame {
    SimPart part;
    bool forked;
    bool on_right = false;
    uint64_t left = 0;
  };

  void enter(const SimPart& part);
  void divide();
  void merge();
  // A side has its result, which its frame goes on with.
  void give_back();
  void unwind();

  const SimProgram& program_;
  SimForks* const forks_;
  std::vector<Frame> frames_;
  Next next_ = Next::Enter;
  SimPart part_;
  int64_t owed_ = 0;  // reductions until `next_` has been done
  SimResult result_;
};

struct SimSequential {
  SimResult result;
  int64_t work;  // reductions
};
SimSequential compute_sequentially(const SimProgram& program);

}  // namespace posset::sched::posse
