// The executors of pure work. Each is a thread: one of the crew's own, or a host's while it evaluates. An executor that has
// nothing to do offers itself to everybody, and one that waits for a part to those who work on that (Owner).
// Whoever has something to hand over claims an offer, which nobody else can then, and sends exactly one piece
// of work for it. So there is at most one on its way to an executor, it cannot be refused, and who gets it has nothing
// else to do.
//
// Threads start when something is first to be handed over: a program that is over before pays nothing.
//
// Elsewhere: what may be handed over (member.h); what the pieces are (interp/runtime/posse.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/random.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"
#include "sched/base/wait.h"
#include "sched/posse/cabal.h"
#include "sched/posse/offer.h"

namespace posset::sched::posse {

class Executor;

// Something to do, once. It is told where it runs, and throws nothing.
class Work {
 public:
  virtual void run(Executor& here) = 0;

 protected:
  ~Work() = default;
};

class Executor {
 public:
  explicit Executor(uint32_t number) : number_(number) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  uint32_t number() const { return number_; }

  // By its own thread: offers itself to `owner` (null: to everybody) until work arrives, which is given, or until `done()`
  // or `deadline_ns`: null then. `done` is asked under the executor's lock, see `under_lock`.
  template <class Done>
  Work* wait(Owner owner, const Clock& clock, int64_t deadline_ns, Done&& done) POSSET_EXCLUDES(mutex_) {
    offer_.make(owner);
    Work* work = nullptr;
    MutexLock lock(mutex_);
    for (;;) {
      if (mail_) break;
      // A claim comes with work, which is waited for.
      const bool over = done() || clock.now_ns() >= deadline_ns;
      if (over && offer_.withdraw()) return nullptr;
      wait_on(clock, lock, condition_, over ? kNever : deadline_ns);
    }
    std::swap(work, mail_);
    return work;
  }

  // Changes what `done` of a `wait` asks for, and wakes it. The executor is not touched any more when this has returned.
  template <class Change>
  void under_lock(Change&& change) POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (change()) condition_.notify_one();
  }

  // Whoever claims the offer of a `wait` sends something.
  Offer& offer() { return offer_; }
  // After a claim. The work lives until it has run.
  void send(Work& work) POSSET_EXCLUDES(mutex_);

 private:
  const uint32_t number_;
  Offer offer_;
  Mutex mutex_;
  std::condition_variable condition_;
  Work* mail_ POSSET_GUARDED_BY(mutex_) = nullptr;
};

class Crew {
 public:
  // `helpers` threads of its own at most, for all posses together.
  Crew(const Clock& clock, uint32_t helpers, uint64_t seed, Trace* trace)
      : clock_(clock), helpers_(helpers), random_(seed), trace_(trace) {}
  ~Crew();  // no posse has work out
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  const Clock& clock() const { return clock_; }

  // The calling thread becomes an executor, and the first of the cabal, for another computation; of the last one nothing is left.
  // It is given back by the same thread, which waits for nothing any more.
  Executor& enter(Cabal& cabal) POSSET_EXCLUDES(mutex_);
  void leave(Executor& executor) POSSET_EXCLUDES(mutex_);

  // Whether some executor but `here` offers itself to that owner, as far as can be seen, and its cabal admits it.
  bool has_offer(Owner owner, const Executor& here, const Cabal& cabal) POSSET_EXCLUDES(mutex_);
  // One of them, claimed, and of the cabal now. Null: there is none.
  Executor* claim(Owner owner, const Executor& here, Cabal& cabal) POSSET_EXCLUDES(mutex_);

  // `here` waits, as Executor::wait does, and the trace is told for how long.
  template <class Done>
  Work* wait(Executor& here, Owner owner, int64_t deadline_ns, Done&& done) {
    if (!trace_) return here.wait(owner, clock_, deadline_ns, done);
    const int64_t since_ns = clock_.now_ns();
    Work* const work = here.wait(owner, clock_, deadline_ns, done);
    trace_idle(clock_.now_ns() - since_ns);
    return work;
  }

 private:
  Executor& take_free() POSSET_REQUIRES(mutex_);
  template <class Fits>
  Executor* find_other(const Executor& here, Fits&& fits) POSSET_REQUIRES(mutex_);
  void start() POSSET_REQUIRES(mutex_);
  void trace_idle(int64_t took_ns);
  void serve(Executor& executor);

  const Clock& clock_;
  const uint32_t helpers_;
  Mutex mutex_;
  Random random_ POSSET_GUARDED_BY(mutex_);
  bool started_ POSSET_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Executor>> executors_ POSSET_GUARDED_BY(mutex_);  // never fewer
  std::vector<Executor*> free_ POSSET_GUARDED_BY(mutex_);                       // of host threads that have left
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
  Trace* trace_;
};

}  // namespace posset::sched::posse
