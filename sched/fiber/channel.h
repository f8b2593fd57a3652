// A channel: what one task sends another receives, in order, each thing once. Of capacity 0 sender and receiver meet; else
// so many things wait in it. Who cannot send or receive at once waits, suspended, and is served in the order it came.
// Threads that are bound nowhere may use channels too.
//
// A deadline that has passed means not to wait. What could not be sent stays with the sender. After `close` nothing is sent
// any more, what is in the channel is still received, and then the answer is Closed.
//
// Things are moved under the channel's lock, from where the sender has them to where the receiver wants them: moving a T
// must not throw and must not use the channel. `select` waits for several channels, in select.h.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>

#include "sched/base/clock.h"
#include "sched/base/thread_safety.h"
#include "sched/fiber/select.h"
#include "sched/fiber/wait_list.h"

namespace posset::sched::fiber {

template <class T>
class Channel {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>);

 public:
  explicit Channel(size_t capacity = 0) : capacity_(capacity) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // `value` is moved from if the answer is Ok.
  Wait send(T&& value, int64_t deadline_ns = kNever) POSSET_EXCLUDES(mutex_) {
    ThisParker parker;
    Wish wish(*parker);
    Slot slot{&value};
    Waiter waiter(wish, &slot);
    MutexLock lock(mutex_);
    if (const std::optional<Wait> answer = send_now(value)) return *answer;
    return slot.answer(senders_.wait(mutex_, waiter, deadline_ns, "a channel to send to"));
  }
  Wait send(const T& value, int64_t deadline_ns = kNever) { return send(T(value), deadline_ns); }

  // `into` is assigned to if the answer is Ok.
  Wait receive(T& into, int64_t deadline_ns = kNever) POSSET_EXCLUDES(mutex_) {
    ThisParker parker;
    Wish wish(*parker);
    Slot slot{&into};
    Waiter waiter(wish, &slot);
    MutexLock lock(mutex_);
    if (const std::optional<Wait> answer = receive_now(into)) return *answer;
    return slot.answer(receivers_.wait(mutex_, waiter, deadline_ns, "a channel to receive from"));
  }

  // All that wait go on with Closed. False: it was closed before.
  bool close() POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (std::exchange(closed_, true)) return false;
    senders_.wake_all();
    receivers_.wake_all();
    return true;
  }

  bool closed() const POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return closed_;
  }
  // What waits in it.
  size_t size() const POSSET_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return held_.size();
  }

 private:
  template <class>
  friend class SendCase;
  template <class>
  friend class ReceiveCase;

  // Where a waiter has its value, or wants it.
  struct Slot {
    T* value;
    bool moved = false;  // granted otherwise: the channel was closed
    Wait answer(Wait wait) const { return wait == Wait::Ok && !moved ? Wait::Closed : wait; }
  };
  static Slot& slot_of(const Waiter& waiter) { return *static_cast<Slot*>(waiter.slot()); }

  // Empty: it has to wait.
  std::optional<Wait> send_now(T& value) POSSET_REQUIRES(mutex_) {
    if (closed_) return Wait::Closed;
    if (Waiter* receiver = receivers_.claim()) {
      *slot_of(*receiver).value = std::move(value);
      slot_of(*receiver).moved = true;
      receiver->unpark();
      return Wait::Ok;
    }
    if (held_.size() >= capacity_) return std::nullopt;
    held_.push_back(std::move(value));
    return Wait::Ok;
  }

  std::optional<Wait> receive_now(T& into) POSSET_REQUIRES(mutex_) {
    Waiter* const sender = senders_.claim();
    if (!held_.empty()) {
      into = std::move(held_.front());
      held_.pop_front();
      if (sender) held_.push_back(std::move(*slot_of(*sender).value));
    } else if (sender) {
      into = std::move(*slot_of(*sender).value);
    } else {
      return closed_ ? std::optional(Wait::Closed) : std::nullopt;
    }
    if (sender) {
      slot_of(*sender).moved = true;
      sender->unpark();
    }
    return Wait::Ok;
  }

  const size_t capacity_;
  mutable Mutex mutex_;
  bool closed_ POSSET_GUARDED_BY(mutex_) = false;
  std::deque<T> held_ POSSET_GUARDED_BY(mutex_);
  WaitList senders_ POSSET_GUARDED_BY(mutex_);
  WaitList receivers_ POSSET_GUARDED_BY(mutex_);
};

// Sending, as one of several things of which one is to happen. The channel and the value outlive it.
template <class T>
class SendCase final : public SelectCase {
 public:
  SendCase(Channel<T>& channel, T& value) : channel_(channel), slot_{&value} {}

  Mutex& mutex() override { return channel_.mutex_; }
  // Called with the lock of all channels held.
  POSSET_NOT_ANALYSED std::optional<Wait> try_now() override { return channel_.send_now(*slot_.value); }
  POSSET_NOT_ANALYSED WaitList& list() override { return channel_.senders_; }
  void* slot() override { return &slot_; }
  Wait answer() const override { return slot_.answer(Wait::Ok); }

 private:
  Channel<T>& channel_;
  typename Channel<T>::Slot slot_;
};

// Receiving, likewise.
template <class T>
class ReceiveCase final : public SelectCase {
 public:
  ReceiveCase(Channel<T>& channel, T& into) : channel_(channel), slot_{&into} {}

  Mutex& mutex() override { return channel_.mutex_; }
  POSSET_NOT_ANALYSED std::optional<Wait> try_now() override { return channel_.receive_now(*slot_.value); }
  POSSET_NOT_ANALYSED WaitList& list() override { return channel_.receivers_; }
  void* slot() override { return &slot_; }
  Wait answer() const override { return slot_.answer(Wait::Ok); }

 private:
  Channel<T>& channel_;
  typename Channel<T>::Slot slot_;
};

}  // namespace posset::sched::fiber
