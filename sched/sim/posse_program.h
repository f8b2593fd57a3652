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
  // Leaves by number, from the left: this one fails, and those from there on never end.
  uint64_t fails_at = UINT64_MAX, endless_from = UINT64_MAX;
};

struct SimPart {
  uint64_t leaves;
  uint64_t id;
  uint64_t first;  // leaf, by number
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

  SimPart whole() const { return {tree_.leaves, part_id(tree_.seed, 0), 0}; }
  static bool is_leaf(const SimPart& part) { return part.leaves == 1; }
  SimPart left(const SimPart& part) const { return {leaves_on_left(part), part_id(part.id, 1), part.first}; }
  SimPart right(const SimPart& part) const {
    const uint64_t left = leaves_on_left(part);
    return {part.leaves - left, part_id(part.id, 2), part.first + left};
  }
  int64_t cost(const SimPart& part) const;
  bool fails(const SimPart& part) const {
    return is_leaf(part) && (part.first == tree_.fails_at || chance(part, 3, tree_.fail));
  }
  bool waits(const SimPart& part) const { return is_leaf(part) && chance(part, 4, tree_.wait); }
  bool recovers(const SimPart& part) const { return chance(part, 5, tree_.recover); }
  bool refuses(const SimPart& part) const { return chance(part, 6, tree_.refuse); }
  bool is_odd(const SimPart& part) const { return chance(part, 8, tree_.odd); }
  // leaf(n) + f(n - 1)
  bool is_linear(const SimPart& part) const { return tree_.shape == SimTree::Shape::Linear && !is_leaf(part); }
  bool forks(const SimPart& part) const { return !chance(part, 7, tree_.impure); }
  // No more can be open at once.
  uint64_t most_records(const SimPart& part) const;

 private:
  static uint64_t part_id(uint64_t id, uint64_t which);
  static bool chance(const SimPart& part, uint64_t salt, uint32_t of_1024);
  uint64_t leaves_on_left(const SimPart& part) const;

  const SimTree tree_;
};

// Where a computation leaves the second sides of what it forks.
class SimForks {
 public:
  virtual void leave(const SimPart& second) = 0;
  // Whether somebody else computes the last one and has not ended, which is to be waited for before it is taken back or
  // dropped. `wanted`: else whoever computes it may give up.
  virtual bool is_away(bool wanted) = 0;
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
  enum class Stop : uint8_t { Budget, Waits, Awaits, Ended };
  // Without `forks` nothing is forked.
  // `recursion_first`: of a fork it does the right side first; then any failure is that of all.
  SimComputation(const SimProgram& program, const SimPart& part, SimForks* forks, bool recursion_first = false);

  // Counts the budget down.
  Stop run(int64_t& budget);
  // Nobody wants it: it fails, and goes through what it has left.
  void give_up();
  const SimResult& result() const { return result_; }
  // Reductions, here.
  int64_t work() const { return work_; }
  void hash_into(StateHash& hash) const;

 private:
  enum class Next : uint8_t { Enter, Merge, Return };
  struct Frame {
    SimPart part;
    bool forked;
    bool reversed;  // the right side is done first
    bool on_second = false;
    uint64_t first = 0;  // result
  };

  void enter(const SimPart& part);
  SimPart side(const Frame& frame, bool second) const {
    return second != frame.reversed ? program_.right(frame.part) : program_.left(frame.part);
  }
  void divide();
  void merge();
  // A side has its result, which its frame goes on with.
  void give_back();
  void unwind();
  bool awaits();

  const SimProgram& program_;
  SimForks* const forks_;
  const bool recursion_first_;
  std::vector<Frame> frames_;
  Next next_ = Next::Enter;
  SimPart part_;
  int64_t owed_ = 0;  // reductions until `next_` has been done
  int64_t work_ = 0;
  bool gives_up_ = false;
  SimResult result_;
};

struct SimSequential {
  SimResult result;
  int64_t work;  // reductions
};
SimSequential compute_sequentially(const SimProgram& program);

}  // namespace posset::sched::posse
