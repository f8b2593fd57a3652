// A tree of stop requests: runtime, then graph, solver or task, then its parts. Stopping a node stops what
// is below it and nothing above. The tokens are the standard library's, so everything that waits on those
// waits on these.
//
// Lifetimes are free: a child that outlives its parent is no longer stopped by it.
#pragma once

#include <optional>
#include <stop_token>

namespace posset::sched {

class StopNode {
 public:
  StopNode() = default;  // a root
  explicit StopNode(std::stop_token parent) { from_parent_.emplace(std::move(parent), Forward{&source_}); }
  StopNode(const StopNode&) = delete;
  StopNode& operator=(const StopNode&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  bool stopped() const { return source_.stop_requested(); }
  // False: it had been stopped before.
  bool stop() { return source_.request_stop(); }

 private:
  struct Forward {
    std::stop_source* child;
    void operator()() const { child->request_stop(); }
  };
  std::stop_source source_;
  std::optional<std::stop_callback<Forward>> from_parent_;  // last: it must go before source_
};

}  // namespace posset::sched
