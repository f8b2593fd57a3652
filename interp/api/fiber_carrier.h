// The fiber that a submitted evaluation runs on, as its context knows it (interp::Carrier). While the evaluation waits, or others
// have their turn, the context is nobody's: what runs on the thread then may no more enter it than another thread.
//
// A fiber is pinned to its thread, which sleeps with it, while a function of the host is below it on the stack and has called
// back: that may hold a lock, which others on this thread must not meet.
#pragma once

#include "interp/api/handles.h"
#include "interp/runtime/carrier.h"
#include "sched/base/relay.h"
#include "sched/base/thread_safety.h"
#include "sched/base/wake_up.h"
#include "sched/fiber/outer_task.h"
#include "sched/fiber/parker.h"
#include "sched/p2/task.h"

namespace posset::api {

// The thread has the context, that of a submission, from now on.
void enter_context(posset_context& context);
// Ends what the context evaluates. Any thread, signal handlers.
void interrupt(posset_context& context);

class FiberCarrier final : public interp::Carrier {
 public:
  // Of that context, which outlives it; for all its submissions.
  explicit FiberCarrier(posset_context& context);
  ~FiberCarrier();
  FiberCarrier(const FiberCarrier&) = delete;
  FiberCarrier& operator=(const FiberCarrier&) = delete;

  // While it lives the evaluation that begins is carried by the fiber that the caller is on; not where the host has its own
  // way of waiting. What the evaluation waits is told to `measured`.
  class Ride {
   public:
    Ride(posset_context& context, sched::TaskContext& measured);
    ~Ride();
    Ride(const Ride&) = delete;
    Ride& operator=(const Ride&) = delete;

   private:
    posset_context& context_;
    sched::fiber::OuterTask task_;
    FiberCarrier* carrier_ = nullptr;
  };

  // It is to stop: if others have the thread, it is not to wait for the turns of all. Any thread, signal handlers.
  void hurry();
  void sleep(int64_t until_ns) override;
  void slice_ends() override;
  sched::fiber::Parker* parker() override { return is_pinned() ? nullptr : &parked_; }

 private:
  // The evaluation, as what it waits for sees it.
  class Parked final : public sched::fiber::Parker {
   public:
    explicit Parked(FiberCarrier& carrier) : carrier_(carrier) {}
    void park(int64_t deadline_ns, const char* what) override;
    void unpark() override { carrier_.unpark(); }
    int64_t now_ns() const override;

   private:
    FiberCarrier& carrier_;
  };

  bool is_pinned() const;
  void set_task(sched::fiber::OuterTask* task) POSSET_EXCLUDES(mutex_);
  void unpark() POSSET_EXCLUDES(mutex_);
  void come_back();
  // Others run meanwhile.
  template <class Body>
  void aside(Body&& body);

  posset_context& context_;
  Parked parked_{*this};
  const sched::WakeUp::Listener listener_;
  sched::Relay::Item item_;
  // Of the thread that evaluates; the first also of whoever wakes it.
  sched::Mutex mutex_;
  sched::fiber::OuterTask* task_ POSSET_GUARDED_BY(mutex_) = nullptr;  // null: none evaluates
  sched::fiber::OuterTask* running_ = nullptr;                         // the same
  sched::TaskContext* measured_ = nullptr;
  // Whether others have the thread, and are hurried for this. Where both threads change them at a time the others may be hurried
  // until it is their turn once more.
  std::atomic<uint32_t> is_aside_{0};
  std::atomic<bool> hurries_{false};
  int64_t since_ns_ = 0;  // when it was first seen after it had gone on; 0: not yet
};

}  // namespace posset::api
