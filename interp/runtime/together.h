// Parts of one computation that run at the same time and may wait for each other. What is stolen must not (posse.h): the
// thief may be the one that is waited for. So each of these has an executor for itself before the first begins, and
// keeps it to its end. How many there are depends on who has nothing to do just then.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "interp/runtime/forks.h"
#include "sched/posse/crew.h"

namespace posset::interp {

class Together {
 public:
  // Takes executors that are idle, `others` at most; threads that are only just starting are waited for, a few
  // milliseconds. None where pure work stays on one thread: with one worker, in tasks.
  Together(Context& context, size_t others);
  ~Together();  // those that were not needed are given back
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  size_t others() const { return claimed_.size(); }
  // Once. The first part on this thread, the others, as many as there are executors at most, each with a context of its
  // own there; returns when all have ended. What they raise is dropped, so they keep what is to be known of it. The
  // steps of all are charged to this evaluation, and what memory they needed must have room in it. False: that, or a limit or
  // an interruption meanwhile, has been raised. Throws std::bad_alloc before anything has begun.
  bool run(std::span<RightSide* const> parts);
  // Whether the evaluation is to end: then the parts' next looks at their limits raise. Any thread, while they run.
  bool look();

 private:
  struct Nothing;
  bool settle(std::span<const std::unique_ptr<Delegate>> delegates);

  Context& context_;
  std::vector<sched::posse::Executor*> claimed_;
  std::vector<std::unique_ptr<Nothing>> nothings_;  // for each of them
};

}  // namespace posset::interp
