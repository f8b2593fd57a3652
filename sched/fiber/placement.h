// Which worker gets a new task, and whether anything is still going on: what the workers of one set of executors know of
// each other. All in atomics, because who asks holds no lock; the simulator uses the same objects in one thread.
//
// Placement. A worker that has nothing to do sets its bit. Whoever has a task claims a worker by clearing its bit: of the
// workers that spin the latest one, which costs no wake-up, else that of the lowest number. A bit is cleared once, so as
// many tasks as there are idle workers go to as many workers. Without idle workers it is each one's turn.
//
// A task may still come behind something that runs: when it is its worker's turn, or when the worker that was claimed for it
// has stolen another meanwhile. Whoever added it then calls an idle worker, which looks around, and the next where that one runs
// something by then; and a worker that goes from looking around to work without having looked everywhere calls the next. So no
// worker sleeps while a task could begin.
//
// Activity. Everything that could make work counts itself in: a worker while it is awake, a foreign thread while it hands
// a task over. Whoever wakes a worker counts it in on its behalf, while it is itself counted. So when the count is zero
// nothing goes on inside, and only something outside (or a timer) can change that: the moment to end, or to say that all
// are stuck.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

namespace posset::sched::fiber {

class Placement {
 public:
  explicit Placement(uint32_t workers);

  // The worker has nothing to do.
  void set_idle(uint32_t worker);
  // It has found something by itself.
  void set_busy(uint32_t worker);
  // It is idle, and awake for a while.
  void spins(uint32_t worker);

  // A worker that was idle, and is the caller's. Empty: none was.
  std::optional<uint32_t> claim();
  // That worker. False: it was not idle.
  bool claim(uint32_t worker);
  // A hint.
  bool is_idle(uint32_t worker) const { return (idle_[worker / 64].load(std::memory_order_relaxed) >> (worker % 64) & 1) != 0; }
  // Some worker is idle; sequentially consistent, as is `set_idle`.
  bool any_idle() const;
  // Any worker: each one's turn.
  uint32_t turn();

  uint32_t workers() const { return workers_; }
  uint32_t idle() const;

 private:
  static constexpr uint32_t kRing = 8;
  static constexpr int32_t kNobody = -1;

  const uint32_t workers_;
  const uint32_t words_;
  const std::unique_ptr<std::atomic<uint64_t>[]> idle_;
  std::array<std::atomic<int32_t>, kRing> spinning_;  // hints; the bit decides
  alignas(64) std::atomic<uint32_t> next_spinning_{0};
  alignas(64) std::atomic<uint32_t> next_turn_{0};
};

// All operations are sequentially consistent: the end is decided by comparing what different threads did here.
class Activity {
 public:
  // Whoever calls, or a worker on whose behalf it calls, is active.
  void enter() { state_.fetch_add(kEpoch + 1); }
  // False: everything has finished, and the caller is not counted.
  bool try_enter() {
    if ((state_.fetch_add(kEpoch + 1) & kFinished) == 0) return true;
    leave();
    return false;
  }
  // True: nobody is active any more. Somebody who sees that looks whether everything has ended.
  bool leave() { return ((state_.fetch_sub(1) - 1) & kCount) == 0; }

  // A number that changes whenever somebody enters. Empty: somebody is active, or all has finished.
  std::optional<uint64_t> quiet() const {
    const uint64_t state = state_.load();
    if ((state & (kCount | kFinished)) != 0) return std::nullopt;
    return state;
  }
  // Nobody enters any more. False: somebody has entered since `seen`.
  bool finish(uint64_t seen) { return state_.compare_exchange_strong(seen, seen | kFinished); }
  bool finished() const { return (state_.load() & kFinished) != 0; }

 private:
  static constexpr uint64_t kCount = 0xffff'ffff;
  static constexpr uint64_t kFinished = uint64_t{1} << 32;
  static constexpr uint64_t kEpoch = uint64_t{1} << 33;

  alignas(64) std::atomic<uint64_t> state_{0};
};

}  // namespace posset::sched::fiber
