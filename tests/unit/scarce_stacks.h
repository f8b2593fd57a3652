// A process in which there is room for some stacks more, and for no others.
#pragma once

#include "sched/base/stack_area.h"

namespace posset::test {

// While it lives: what begins may take so many mappings more (a stack takes two to three of them), the first of many
// a twelfth more, and what goes on a sixth.
class ScarceStacks {
 public:
  explicit ScarceStacks(size_t mappings) : most_(sched::StackMappings::set_most((sched::StackMappings::taken() + mappings) / 12 * 16)) {
    sched::StackMappings::set_guards_by_mapping(true);
  }
  ~ScarceStacks() { end(); }
  ScarceStacks(const ScarceStacks&) = delete;
  ScarceStacks& operator=(const ScarceStacks&) = delete;
  // There are as many as ever.
  void end() {
    sched::StackMappings::set_most(most_);
    sched::StackMappings::set_guards_by_mapping(false);
  }

 private:
  const size_t most_;
};

}  // namespace posset::test
