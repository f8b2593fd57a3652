// Members and their records: which records may be handed over when a quantum ends, or when the member on top waits. What
// policy.h chooses from is kept here, for the language (interp/runtime/posse.h) and for the simulator alike; only what a
// record says, and how it is run, is theirs.
//
// A record is stamped when a quantum begins and finds it, and it is old enough when a quantum that began later, or this one,
// has been fully used: it was there when a complete slice began and when that ended. A new member's first quantum begins
// after a moment, so the most basal records that it leaves at once are old enough after one.
//
// For another executor the member must have run at the end of that quantum. What comes before the record has taken so long
// then, so the record probably does as well. Of who was suspended before, any record grows old without having shown anything:
// those the executor may do itself, but sending them costs more than most are worth.
//
// Records that lie one on the other and are of one kind are a chain. Of one that is longer than `kChain` another
// executor is given the most basal half, and its own does some together: what is done for each theft, and how long it has to
// wait for, are then those of many records. Longer pieces there would leave less for who comes later.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include "sched/posse/policy.h"

namespace posset::sched::posse {

// The records of a member lie one behind the other, the most basal first.
template <class R>
concept RecordOfPosse = requires(R& record, const R& seen, uint64_t generation) {
  { seen.is_open() } -> std::same_as<bool>;           // nobody has taken it, and it can be taken
  { seen.stamp() } -> std::convertible_to<uint64_t>;  // 0: none yet
  record.set_stamp(generation);
  { seen.continues(seen) } -> std::same_as<bool>;     // it is done in the same way as that one below it; both are open
};

constexpr size_t kChain = 64;

// One computation of a posse on an executor: that of the host, or a delegate.
template <RecordOfPosse R>
struct Member {
  using Record = R*;
  Member(R* first, const uint64_t& its_generation, size_t long_chain = kChain)
      : base(first), end(first), scanned(first), generation(its_generation), chain(long_chain) {}

  // For another executor.
  R* first_eligible() { return if_older(first_open(), ran_in); }
  R* next_eligible(R* before) const {
    R* record = before + 1;
    while (record < end && !record->is_open()) ++record;
    return if_older(record, ran_in);
  }
  // For its own, while the top of the stack waits.
  R* first_old_enough() { return if_older(first_open(), generation); }
  // How many from that one on are done as one: elsewhere, or here.
  size_t given_with(R* first) const { return piece(first, ran_in, SIZE_MAX); }
  size_t kept_with(R* first) const { return piece(first, generation, chain); }
  // When a quantum begins. Below a record that has a stamp all have one: it lay on them then.
  void stamp() {
    for (R* record = end; record-- > base && record->stamp() == 0;) record->set_stamp(generation);
  }

  R* const base;
  R* end;      // behind the last, while it does not run
  R* scanned;  // below there is none to steal
  const uint64_t& generation;
  const size_t chain;  // the longest that is taken one by one
  uint64_t ran_in = 0;   // the generation after the last quantum at whose end it ran
  uint32_t pending = 0;  // delegates elsewhere that have not ended; under the lock of its executor

 private:
  R* first_open() {
    while (scanned < end && !scanned->is_open()) ++scanned;
    return scanned;
  }
  // What lies above one that is too young is younger.
  R* if_older(R* record, uint64_t than) const {
    return record < end && is_older(*record, than) ? record : nullptr;
  }
  static bool is_older(const R& record, uint64_t than) { return record.stamp() != 0 && record.stamp() < than; }
  // Half of the chain of those that are old enough, `most` at most; the next one is open then. Only as much of the chain is
  // looked at as is needed.
  size_t piece(R* first, uint64_t than, size_t most) const {
    R* const young = std::partition_point(first, end, [than](const R& record) { return is_older(record, than); });
    const auto old = static_cast<size_t>(young - first);
    if (old <= chain) return 1;
    const size_t half = std::min(old / 2, most), look = std::max(half, chain) + 1;
    size_t long_is = 1;
    while (long_is < look && first[long_is].is_open() && first[long_is].continues(first[long_is - 1])) ++long_is;
    if (long_is <= chain) return 1;
    return long_is < look ? std::min(long_is / 2, most) : half;
  }
};

// The members of a posse on one executor, the most basal first. Only the one on top runs.
template <RecordOfPosse R>
class MemberStack {
 public:
  using Member = posse::Member<R>;

  // One more than quanta have been fully used here.
  const uint64_t& generation() const { return generation_; }
  bool empty() const { return members_.empty(); }
  Member& top() const { return *members_.back(); }
  void push(Member& member) { members_.push_back(&member); }
  void pop() { members_.pop_back(); }
  // For another computation.
  void clear() {
    members_.clear();
    generation_ = kFirst;
  }

  // `end` is behind the last record of the member that runs.
  void begin_quantum(R* end) {
    top().end = end;
    for (Member* each : members_) each->stamp();
  }
  // It has been fully used. What may be handed over, if anybody wants it.
  Theft<Member> end_quantum(R* end) {
    top().end = end;
    top().ran_in = ++generation_;
    return choose_theft(members_);
  }
  // Before it is.
  void widen(Theft<Member>& theft) { posse::widen(theft); }
  // What the executor may do itself while the member on top waits.
  Theft<Member> while_top_waits() { return choose_seamless(members_); }
  // The member on top has taken its records back, from there on.
  void took_back(R* from) {
    if (!empty()) top().scanned = std::min(top().scanned, from);
  }

 protected:
  static constexpr uint64_t kFirst = 1;  // a stamp is never 0
  std::vector<Member*> members_;
  uint64_t generation_ = kFirst;
};

}  // namespace posset::sched::posse
