// See posse_program.h.
#include "sched/sim/posse_program.h"

#include <algorithm>
#include <bit>

#include "sched/base/random.h"

namespace posset::sched::posse {

// ---- the tree ----

uint64_t SimProgram::part_id(uint64_t id, uint64_t which) { return Random(id * 8 + which).next(); }

bool SimProgram::chance(const SimPart& part, uint64_t salt, uint32_t of_1024) {
  return of_1024 > 0 && (part_id(part.id, salt) & 1023) < of_1024;
}

int64_t SimProgram::cost(const SimPart& part) const {
  if (!is_leaf(part)) return kInnerCost;
  if (part.first >= tree_.endless_from) return INT64_MAX;
  const bool varies = tree_.shape == SimTree::Shape::Random;
  return varies ? 1 + static_cast<int64_t>(part.id % static_cast<uint64_t>(tree_.leaf_cost)) : tree_.leaf_cost;
}

uint64_t SimProgram::leaves_on_left(const SimPart& part) const {
  switch (tree_.shape) {
    case SimTree::Shape::Balanced: return (part.leaves + 1) / 2;
    case SimTree::Shape::Skewed: {
      const auto share = static_cast<uint64_t>(static_cast<double>(part.leaves) * tree_.left_share);
      return std::clamp<uint64_t>(share, 1, part.leaves - 1);
    }
    case SimTree::Shape::Linear: return 1;
    case SimTree::Shape::LinearOnRight: return part.leaves - 1;
    case SimTree::Shape::Random: return 1 + part.id % (part.leaves - 1);
  }
  return 1;
}

// There is one for each step to the left on the way to what is computed.
uint64_t SimProgram::most_records(const SimPart& part) const {
  if (tree_.shape == SimTree::Shape::Balanced) return static_cast<uint64_t>(std::bit_width(part.leaves));
  if (tree_.shape != SimTree::Shape::Skewed) return part.leaves;
  uint64_t steps = 1;
  for (SimPart at = part; !is_leaf(at); ++steps) at.leaves = std::max(leaves_on_left(at), at.leaves - leaves_on_left(at));
  return steps;
}

// ---- a computation ----

SimComputation::SimComputation(const SimProgram& program, const SimPart& part, SimForks* forks, bool recursion_first)
    : program_(program), forks_(forks), recursion_first_(recursion_first), part_(part) {
  enter(part);
}

void SimComputation::enter(const SimPart& part) {
  part_ = part;
  next_ = Next::Enter;
  owed_ = program_.cost(part);
}

SimComputation::Stop SimComputation::run(int64_t& budget) {
  for (;;) {
    const int64_t paid = std::min(owed_, budget);
    owed_ -= paid;
    budget -= paid;
    work_ += paid;
    if (owed_ > 0) return Stop::Budget;
    switch (next_) {
      case Next::Enter:
        divide();
        if (next_ == Next::Return && program_.waits(part_)) return Stop::Waits;
        break;
      case Next::Merge: merge(); break;
      case Next::Return:
        if (frames_.empty()) return Stop::Ended;
        if (awaits()) return Stop::Awaits;
        give_back();
        break;
    }
  }
}

void SimComputation::divide() {
  if (SimProgram::is_leaf(part_)) {
    result_ = {part_.id, program_.fails(part_)};
    next_ = Next::Return;
    return;
  }
  const bool forked = forks_ && program_.forks(part_);
  frames_.push_back({part_, forked, forked && recursion_first_});
  if (forked) forks_->leave(side(frames_.back(), true));
  enter(side(frames_.back(), false));
}

void SimComputation::give_back() {
  if (result_.failed) return unwind();
  Frame& frame = frames_.back();
  if (!frame.on_second) {
    frame.on_second = true;
    frame.first = result_.value;
    if (!frame.forked || !forks_->take_back(result_)) return enter(side(frame, true));
  }
  next_ = Next::Merge;
  owed_ = SimProgram::kInnerCost;
}

void SimComputation::merge() {
  const Frame& frame = frames_.back();
  const uint64_t left = frame.reversed ? result_.value : frame.first, right = frame.reversed ? frame.first : result_.value;
  result_.value = Random(left * 31 + right).next();
  frames_.pop_back();
  next_ = Next::Return;
}

// One frame.
void SimComputation::unwind() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  if (frame.forked && !frame.on_second) forks_->drop();
  if (gives_up_ || recursion_first_ || !program_.recovers(frame.part)) return;
  result_ = {Random(result_.value + frame.part.id).next(), false};
}

bool SimComputation::awaits() {
  const Frame& frame = frames_.back();
  return frame.forked && !frame.on_second && forks_->is_away(!result_.failed);
}

void SimComputation::give_up() {
  gives_up_ = true;
  result_.failed = true;
  next_ = Next::Return;
  owed_ = 0;
}

void SimComputation::hash_into(StateHash& hash) const {
  hash.add(static_cast<uint64_t>(next_) * 2 + result_.failed);
  hash.add(part_.id);
  hash.add(result_.value);
  hash.add(static_cast<uint64_t>(owed_));
  for (const Frame& frame : frames_) hash.add(frame.on_second ? frame.first : frame.part.id);
}

SimSequential compute_sequentially(const SimProgram& program) {
  SimComputation computation(program, program.whole(), nullptr);
  int64_t budget = INT64_MAX;
  while (computation.run(budget) != SimComputation::Stop::Ended) {
  }
  return {computation.result(), INT64_MAX - budget};
}

}  // namespace posset::sched::posse
