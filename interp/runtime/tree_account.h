// Counts the trees of a context against its memory limit, and lets its time limit and interruptions act while a source is
// parsed and resolved.
//
// Trees outlive what they were made for: code that several contexts share holds them. So what is given back, by any thread,
// first gathers here, and the context's own thread takes it off its count when it passes by (`settle`); a context that has
// ended does so no more.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "interp/syntax/meter.h"

namespace posset::interp {

class Context;

class TreeAccount final : public syntax::Meter {
 public:
  size_t take(size_t bytes) override;
  void give_back(size_t bytes) noexcept override {
    // Orders nothing: only the sum matters.
    returned_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void look() override;

  // Takes what was given back off the count of its context.
  void settle(Context& context);

  // A source of the context is being read as long as this lives. They nest: a host that is asked for a module may evaluate
  // something in the same context.
  class Loading {
   public:
    Loading(TreeAccount& account, Context& context) : account_(account), outer_(std::exchange(account.loading_, &context)) {}
    ~Loading() { account_.loading_ = outer_; }
    Loading(const Loading&) = delete;
    Loading& operator=(const Loading&) = delete;
    // Raises what has stopped it.
    void raise();

   private:
    TreeAccount& account_;
    Context* outer_;
  };

 private:
  Context* loading_ = nullptr;  // only the thread that loads looks at it
  bool out_of_memory_ = false;
  std::atomic<size_t> returned_{0};
};

}  // namespace posset::interp
