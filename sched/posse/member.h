// Members and their records: the rules of stealing, without threads. Which fork records of a posse are handed over when a
// quantum ends is said here, for the language (interp/runtime/posse.h) and for the simulator alike; only what a record says,
// and how it is run, is theirs.
//
// A computation and what was stolen from it are members of one posse. Who loses a record goes on with what comes before it,
// and waits for it where it needs the result; on top of who waits its executor does parts of what it waits for. So what comes
// first in the source is never held up by what comes later, which may never end: an error in what comes first shows that the
// rest is not wanted.
//
// An executor has its members in a stack, and only the one on top runs and gives. Its records are ordered: the most basal is the
// oldest, and stands for most work; nobody but that executor ever looks at them.
//
// A record is stamped when a quantum begins and finds it, and it is eligible when a quantum that began later, or this one, has
// been fully used while its member ran: it was there when a complete slice began and when that ended. What comes before it has
// taken so long then, so the record probably does as well. A new member's first quantum begins after a moment, so the most
// basal records that it leaves at once are eligible after one.
//
// Records that lie one on the other and are of one kind are a chain. Of one that is longer than `kChain` the most basal half
// goes: what is done for each theft, and how long it has to wait for, are then those of many records.
//
// A part that failed is computed once more in its place, where the error is to be raised, and nothing is given meanwhile:
// its own parts would fail, and be computed twice each, level by level.
//
// Source: doc/design/work_stealing.md of Hemlock, with the decisions of docs/schedulers.md.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

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

  // The most basal one that may be given. What lies above one that is too young is younger. Null: none.
  R* first_eligible() {
    if (is_held()) return nullptr;
    scanned = std::find_if(scanned, end, [](const R& record) { return record.is_open(); });
    return scanned < end && is_older(*scanned, ran_in) ? scanned : nullptr;
  }
  // How many from that one on are done as one.
  size_t given_with(R* first) const;
  // So many quanta nothing is given.
  void hold(uint64_t quanta) { held_until = generation + quanta; }
  bool is_held() const { return generation <= held_until; }
  // When a quantum begins. Below a record that has a stamp all have one: it lay on them then.
  void stamp() {
    for (R* record = end; record-- > base && record->stamp() == 0;) record->set_stamp(generation);
  }

  R* const base;
  R* end;      // behind the last, while it does not run
  R* scanned;  // below there is none to steal
  const uint64_t& generation;
  const size_t chain;  // the longest that is taken one by one
  uint64_t ran_in = 0;  // the generation after the last quantum at whose end it ran
  uint64_t held_until = 0;

 private:
  static bool is_older(const R& record, uint64_t than) { return record.stamp() != 0 && record.stamp() < than; }
};

// Half of the chain of those that are old enough; the next one is open then. Only as much of the chain is looked at as is
// needed.
template <RecordOfPosse R>
size_t Member<R>::given_with(R* first) const {
  R* const young = std::partition_point(first, end, [this](const R& record) { return is_older(record, ran_in); });
  const auto old = static_cast<size_t>(young - first);
  if (old <= chain) return 1;
  const size_t half = old / 2, look = std::max(half, chain) + 1;
  size_t long_is = 1;
  while (long_is < look && first[long_is].is_open() && first[long_is].continues(first[long_is - 1])) ++long_is;
  if (long_is <= chain) return 1;
  return long_is < look ? long_is / 2 : half;
}

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
  // It has been fully used. What may be given, if anybody wants it; null: nothing.
  R* end_quantum(R* end) {
    top().end = end;
    top().ran_in = ++generation_;
    return top().first_eligible();
  }
  // When somebody does: so many from that one on. Long chains are looked at then only.
  size_t count(R* given) const { return top().given_with(given); }
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
