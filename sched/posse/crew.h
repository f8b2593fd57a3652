// The executors of pure work: the workers of the runtime's fiber executors, and whatever evaluates otherwise, a host's thread or
// one of those workers' fibers, while it does. A worker that has nothing to do is there for everybody, and an executor that
// waits for a part for those who work on that (Owner, Offer). Whoever has something to hand over claims one, which nobody else
// can then, and sends exactly one piece of work for it. So there is at most one on its way to an executor, it cannot be refused,
// and who gets it has nothing else to do.
//
// What a worker is sent runs there as a task, beside whatever else has begun on it: it gives its thread to others while it
// waits, and after a quantum (interp/runtime/posse.cpp). A worker has one such task at a time, so the work of one posse only; of a
// posse whose root evaluates on it, it gets none.
//
// Elsewhere: what may be handed over (member.h); what the pieces are (interp/runtime/posse.h); the workers (sched/fiber).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sched/base/clock.h"
#include "sched/base/random.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"
#include "sched/fiber/executors.h"
#include "sched/fiber/parker.h"
#include "sched/posse/cabal.h"
#include "sched/posse/offer.h"

namespace posset::sched::posse {

class Executor;

// Something to do, once. It is told where it runs, and throws nothing.
class Work {
 public:
  virtual void run(Executor& here) = 0;
  // It cannot be, for want of memory. On any thread.
  virtual void give_up() = 0;

 protected:
  ~Work() = default;
};

class Executor {
 public:
  explicit Executor(uint32_t number) : number_(number) {}
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  uint32_t number() const { return number_; }

  // By who computes there, which parks meanwhile: offers itself to `owner` until work arrives, which is given, or until `done()`
  // or `deadline_ns`: null then. `done` is asked under the executor's lock, see `under_lock`.
  template <class Done>
  Work* wait(Owner owner, fiber::Parker& parker, int64_t deadline_ns, Done&& done) POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    parker_ = &parker;
    offer_.make(owner);  // under the lock, so that who claims it finds a parker
    for (;;) {
      if (mail_) break;
      // A claim comes with work, which is waited for.
      const bool over = done() || parker.now_ns() >= deadline_ns;
      if (over && offer_.withdraw()) break;
      lock.unlock();
      parker.park(over ? kNever : deadline_ns, "a part of it");
      lock.lock();
    }
    parker_ = nullptr;
    return std::exchange(mail_, nullptr);
  }

  // Changes what `done` of a `wait` asks for, and wakes it. The executor is not touched any more when this has returned.
  template <class Change>
  void under_lock(Change&& change) POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (change() && parker_) parker_->unpark();
  }

  // Whether it has nothing to do but what it waits for. Any thread.
  bool is_waiting() const { return !offer_.is_claimed(); }
  // Whoever claims the offer of a `wait` sends something.
  Offer& offer() { return offer_; }
  // After a claim, of the offer or by the crew. The work lives until it has run.
  void send(Work& work) POSSET_EXCLUDES(mutex_);

 private:
  // It does not wait: it was claimed because it had nothing to do.
  virtual void begin(Work& work) { work.run(*this); }

  const uint32_t number_;
  Offer offer_;
  Mutex mutex_;
  fiber::Parker* parker_ POSSET_GUARDED_BY(mutex_) = nullptr;  // while it waits
  Work* mail_ POSSET_GUARDED_BY(mutex_) = nullptr;
};

class Crew {
 public:
  // The fiber executors; null: there are none to be had. With no lock held.
  using Pool = std::function<fiber::Executors*()>;

  // Of the pool's `workers`, whose numbers are those of their executors, `helpers` at most work for posses at a time.
  // `trace` may be null, and is told the workers' names.
  Crew(Pool pool, uint32_t workers, uint32_t helpers, uint64_t seed, Trace* trace);
  ~Crew();  // after the pool has stopped
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // What the calling thread evaluates becomes an executor, and the first of the cabal, for another computation; of the last one
  // nothing is left. It is given back by the same, which waits for nothing any more.
  Executor& enter(Cabal& cabal) POSSET_EXCLUDES(mutex_);
  void leave(Executor& executor) POSSET_EXCLUDES(mutex_);

  // Whether some executor but `here` waits for that owner's work, as far as can be seen, and its cabal admits it.
  bool has_offer(Owner owner, const Executor& here, const Cabal& cabal) POSSET_EXCLUDES(mutex_);
  // One of them, claimed. Null: there is none.
  Executor* claim(Owner owner, const Executor& here, const Cabal& cabal) POSSET_EXCLUDES(mutex_);
  // Whether some worker has nothing to do, likewise.
  bool has_idle(const Cabal& cabal) POSSET_EXCLUDES(mutex_);
  // One of them, claimed, and of the cabal now. Null: there is none. Throws std::bad_alloc before anything is claimed.
  Executor* claim_idle(Cabal& cabal) POSSET_EXCLUDES(mutex_);

 private:
  class Helper;
  template <class Fits>
  Executor* find_waiting(const Executor& here, Fits&& fits) POSSET_REQUIRES(mutex_);
  template <class Fits>
  Helper* find_helper(const Cabal& cabal, Fits&& fits) POSSET_REQUIRES(mutex_);

  const Pool pool_;
  const uint32_t most_helpers_;
  Trace* const trace_;
  std::vector<std::unique_ptr<Helper>> helpers_;  // by number of the worker; fixed
  std::atomic<uint32_t> helping_{0};
  Mutex mutex_;
  Random random_ POSSET_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Executor>> others_ POSSET_GUARDED_BY(mutex_);  // by number, behind those of the workers; never fewer
  std::vector<Executor*> free_ POSSET_GUARDED_BY(mutex_);                    // of those who have left
};

}  // namespace posset::sched::posse
