// The plain schedule: [0, n) is cut into T contiguous blocks whose sizes differ by at most one, and each worker
// goes round in its own. No worker reads or writes what another does. With more workers than coordinates the last
// ones have empty blocks, and get none.
#pragma once

#include <algorithm>
#include <vector>

#include "sched/fixpoint/scheduler.h"

namespace posset::sched::fixpoint {

class StaticBlocks final : public Scheduler {
 public:
  void init(size_t n, size_t workers) override;
  std::optional<size_t> next(size_t worker) override {
    if (worker >= blocks_.size()) return std::nullopt;
    Block& block = blocks_[worker];
    if (block.begin == block.end) return std::nullopt;
    const size_t i = block.next;
    block.next = i + 1 < block.end ? i + 1 : block.begin;
    return i;
  }
  // The next ones, at most so many, that lie one behind the other: as if they had been asked for one by one. None: empty.
  Run next_run(size_t worker, size_t most) {
    if (worker >= blocks_.size()) return {};
    Block& block = blocks_[worker];
    const Run run{block.next, block.next + std::min(most, block.end - block.next)};
    block.next = run.end < block.end ? run.end : block.begin;
    return run;
  }
  std::string_view name() const override { return "static"; }

 private:
  // Two lines each, because processors fetch lines in pairs: a worker's cursor shares none with its neighbour's.
  struct alignas(128) Block {
    size_t begin = 0;
    size_t end = 0;
    size_t next = 0;
  };
  std::vector<Block> blocks_;  // by worker, which alone writes `next`
};

}  // namespace posset::sched::fixpoint
