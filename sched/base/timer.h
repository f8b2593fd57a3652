// Timers: what is to happen when. A TimerSet only orders deadlines; whoever owns it asks `next_ns` how long
// it may sleep and calls `expire` when it wakes. Equal deadlines expire in the order they were added, so a
// simulation repeats exactly. Not locked: its owner guards it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "sched/base/clock.h"

namespace posset::sched {

class TimerSet {
 public:
  using Id = uint64_t;
  using Action = std::function<void()>;

  Id add(int64_t deadline_ns, Action action) {
    Id id = next_id_++;
    timers_.emplace(std::pair(deadline_ns, id), std::move(action));
    deadlines_.emplace(id, deadline_ns);
    return id;
  }

  // False: it has expired or was cancelled before.
  bool cancel(Id id) {
    auto found = deadlines_.find(id);
    if (found == deadlines_.end()) return false;
    timers_.erase({found->second, id});
    deadlines_.erase(found);
    return true;
  }

  // kNever: there is none.
  int64_t next_ns() const { return timers_.empty() ? kNever : timers_.begin()->first.first; }

  // Runs everything due at `now_ns`, in order. Actions may add and cancel timers; what they add for a time
  // already reached expires in the same call.
  size_t expire(int64_t now_ns) {
    size_t expired = 0;
    while (next_ns() <= now_ns) {
      auto node = timers_.extract(timers_.begin());
      deadlines_.erase(node.key().second);
      node.mapped()();
      ++expired;
    }
    return expired;
  }

  size_t size() const { return timers_.size(); }

 private:
  std::map<std::pair<int64_t, Id>, Action> timers_;
  std::map<Id, int64_t> deadlines_;
  Id next_id_ = 1;
};

}  // namespace posset::sched
