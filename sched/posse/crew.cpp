// See crew.h.
#include "sched/posse/crew.h"

#include <algorithm>
#include <new>
#include <string>

namespace posset::sched::posse {

// ---- one executor ----

void Executor::send(Work& work) {
  {
    MutexLock lock(mutex_);
    if (parker_) {
      mail_ = &work;
      parker_->unpark();
      return;
    }
  }
  begin(work);
}

// ---- a worker of the pool, as one ----

// From its claim to the end of what it is sent then it is taken.
class Crew::Helper final : public Executor {
 public:
  Helper(Crew& crew, uint32_t number) : Executor(number), crew_(crew) {}

  bool is_free(const fiber::Executors& pool) const { return !taken_.load(std::memory_order_relaxed) && pool.is_idle(number()); }
  // The task is made before the claim, behind which nothing may fail. Throws std::bad_alloc.
  bool claim(fiber::Executors& pool) {
    if (!is_free(pool) || taken_.exchange(true, std::memory_order_acquire)) return false;
    try {
      task_ = fiber::Executors::prepare([token = Token(this)]() mutable {
        token->name_thread();
        token.release()->serve();
      });
    } catch (const std::bad_alloc&) {
      taken_.store(false, std::memory_order_release);
      throw;
    }
    pool_ = &pool;
    if (pool.claim(number())) return true;
    task_.reset();
    taken_.store(false, std::memory_order_release);
    return false;
  }

 private:
  // Of the task: it is dropped with one that never begins.
  struct Drop {
    void operator()(Helper* helper) const { helper->never_begins(); }
  };
  using Token = std::unique_ptr<Helper, Drop>;

  void begin(Work& work) override {
    work_ = &work;
    pool_->schedule_on(number(), std::move(task_));
  }

  // Without memory it has none.
  void name_thread() try {
    if (crew_.trace_) crew_.trace_->name_thread("executor " + std::to_string(number()));
  } catch (const std::bad_alloc&) {
  }

  void serve() {
    std::exchange(work_, nullptr)->run(*this);
    end();
  }

  void never_begins() {
    if (!work_) return;  // it was not sent for anything
    std::exchange(work_, nullptr)->give_up();
    end();
  }

  void end() {
    crew_.helping_.fetch_sub(1, std::memory_order_relaxed);
    taken_.store(false, std::memory_order_release);
  }

  Crew& crew_;
  std::atomic<bool> taken_{false};
  // Of who has claimed it, and then of its task.
  fiber::Executors* pool_ = nullptr;
  fiber::Executors::Prepared task_{nullptr, nullptr};
  Work* work_ = nullptr;
};

// ---- all of them ----

Crew::Crew(Pool pool, uint32_t workers, uint32_t helpers, uint64_t seed, Trace* trace)
    : pool_(std::move(pool)), most_helpers_(helpers), trace_(trace), random_(seed) {
  for (uint32_t number = 0; number < workers; ++number) helpers_.push_back(std::make_unique<Helper>(*this, number));
}

Crew::~Crew() = default;

Executor& Crew::enter(Cabal& cabal) {
  const fiber::Executors* const pool = pool_();
  MutexLock lock(mutex_);
  if (free_.empty()) {
    others_.push_back(std::make_unique<Executor>(static_cast<uint32_t>(helpers_.size() + others_.size())));
    free_.push_back(others_.back().get());
  }
  Executor& taken = *free_.back();
  free_.pop_back();
  cabal.begin(taken.number(), pool ? pool->own_worker() : -1);
  return taken;
}

void Crew::leave(Executor& executor) {
  MutexLock lock(mutex_);
  free_.push_back(&executor);
}

// ---- who waits ----

template <class Fits>
Executor* Crew::find_waiting(const Executor& here, Fits&& fits) {
  const size_t workers = helpers_.size();
  const std::unique_ptr<Executor>* const others = others_.data();
  auto at = [&](size_t number) -> Executor* { return number < workers ? helpers_[number].get() : others[number - workers].get(); };
  return find_from_random(random_, workers + others_.size(), at, [&](Executor& each) { return &each != &here && fits(each); });
}

bool Crew::has_offer(Owner owner, const Executor& here, const Cabal& cabal) {
  MutexLock lock(mutex_);
  return find_waiting(here, [&](Executor& each) { return cabal.admits(each.number()) && each.offer().is_made_to(owner); }) != nullptr;
}

// Of the cabal it is already: only its own wait for its work.
Executor* Crew::claim(Owner owner, const Executor& here, const Cabal& cabal) {
  MutexLock lock(mutex_);
  return find_waiting(here, [&](Executor& each) { return cabal.admits(each.number()) && each.offer().claim(owner); });
}

// ---- who has nothing to do ----

// The last: tasks begin on the first, and what is cold stays so.
template <class Fits>
Crew::Helper* Crew::find_helper(const Cabal& cabal, Fits&& fits) {
  const auto found =
      std::find_if(helpers_.rbegin(), helpers_.rend(), [&](const auto& each) { return cabal.admits(each->number()) && fits(*each); });
  return found == helpers_.rend() ? nullptr : found->get();
}

bool Crew::has_idle(const Cabal& cabal) {
  fiber::Executors* const pool = pool_();
  if (!pool || helpers_.empty() || helping_.load(std::memory_order_relaxed) >= most_helpers_) return false;
  MutexLock lock(mutex_);
  return find_helper(cabal, [pool](Helper& each) { return each.is_free(*pool); }) != nullptr;
}

Executor* Crew::claim_idle(Cabal& cabal) {
  fiber::Executors* const pool = pool_();
  if (!pool || helpers_.empty()) return nullptr;
  MutexLock lock(mutex_);
  if (helping_.load(std::memory_order_relaxed) >= most_helpers_) return nullptr;
  Helper* const found = find_helper(cabal, [pool](Helper& each) { return each.claim(*pool); });
  if (!found) return nullptr;
  helping_.fetch_add(1, std::memory_order_relaxed);
  cabal.add(found->number());
  return found;
}

}  // namespace posset::sched::posse
