// How T workers come to a halt together, and which of them may sleep before. A state machine without threads; whoever
// drives it holds a lock around every call and lets workers sleep and wake as the answers say.
//
//   update --request--> arrive (T times) --last--> scan --> arrive (T times) --last--> update, or end
//
// Invariants: a worker is running, parked or has arrived; parked and arrived together are at most T. When the last
// worker that runs would park there is nobody left who could ask for a halt, so it asks itself instead: no state in which
// all sleep for ever.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace posset::sched::fixpoint {

class Quiescence {
 public:
  explicit Quiescence(size_t workers) : workers_(workers) {}

  // Asks all workers to arrive. True: nobody had asked; those that are parked must be woken.
  bool request() {
    if (requested()) return false;
    requested_ = true;
    return true;
  }
  bool requested() const { return requested_; }

  // The worker has no coordinate. True: it may sleep until a request, or until there may be coordinates again, and calls
  // `unpark` then. False: it must arrive, and whoever is parked must be woken.
  bool park() {
    if (requested()) return false;
    if (parked_ + 1 == workers_) {
      requested_ = true;
      return false;
    }
    ++parked_;
    return true;
  }
  void unpark() {
    assert(parked_ > 0);
    --parked_;
  }

  // The worker has stopped. True: it is the last; it does alone what is to be done and calls `release`. False: it sleeps
  // until `round` changes.
  bool arrive() {
    assert(parked_ + arrived_ < workers_);
    return ++arrived_ == workers_;
  }
  // All go on; the request is forgotten when `resume`, otherwise workers that would update come straight back.
  void release(bool resume) {
    arrived_ = 0;
    ++round_;
    if (resume) requested_ = false;
  }
  uint64_t round() const { return round_; }

  size_t parked() const { return parked_; }
  size_t arrived() const { return arrived_; }

 private:
  const size_t workers_;
  size_t parked_ = 0;
  size_t arrived_ = 0;
  uint64_t round_ = 0;
  bool requested_ = false;
};

}  // namespace posset::sched::fixpoint
