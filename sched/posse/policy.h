// The rules of stealing without threads: which fork records of a posse are handed over at the end of a quantum.
//
// A computation and what was stolen from it are members of one posse. An executor has those of its members that it was
// handed in a stack, and only the top one runs; those below are victims and wait for their delegates, so every wait goes
// from an older member to a younger one and none goes in a circle. A member's records are ordered too: the most basal
// is the oldest, and stands for most work.
//
// A record is old enough when it was there when a fully used quantum began and when that ended, and eligible for others when
// its member ran then (member.h). What is stolen is suspended with its member until it has been done, so nobody but the
// executor of a member ever looks at its records.
//
// Source: doc/design/work_stealing.md of Hemlock, with the decisions of docs/schedulers.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>

namespace posset::sched::posse {

// A member as the rules see it. `Record` is a pointer or something like it, false when there is none.
template <class M>
concept MemberOfPosse = requires(M& member, typename M::Record record) {
  { member.first_eligible() } -> std::same_as<typename M::Record>;
  { member.next_eligible(record) } -> std::same_as<typename M::Record>;
  { member.first_old_enough() } -> std::same_as<typename M::Record>;
  { member.given_with(record) } -> std::same_as<size_t>;
  { member.kept_with(record) } -> std::same_as<size_t>;
  { static_cast<bool>(record) };
};

// What is handed over at one pause. Nothing: `of` is null.
template <MemberOfPosse Member>
struct Theft {
  Member* of = nullptr;                // loses the records, and waits
  typename Member::Record given{};     // to the other executor
  typename Member::Record kept{};      // done here, on top of `of`; none when `of` waits already
  size_t given_count = 1;              // so many from there on, as one
  size_t kept_count = 1;
  explicit operator bool() const { return of != nullptr; }
};

// After a fully used quantum, for the members on one executor from the most basal to the one that has run. From one that
// waits already one record goes. From the one that runs two go or none: if it had to wait for the only one, nothing
// would be gained.
//
// Where there are many records of one kind, as a linear recursion leaves them, one of them is not worth a quantum. Then as many
// as the member says are handed over as one (`widen`).
template <std::ranges::bidirectional_range Members>
auto choose_theft(Members& basal_to_top) {
  using Member = std::remove_reference_t<decltype(**std::ranges::begin(basal_to_top))>;
  auto* const top = &**std::prev(std::ranges::end(basal_to_top));
  for (auto& each : basal_to_top) {
    Member& member = *each;
    const auto first = member.first_eligible();
    if (!first) continue;
    if (&member != top) return Theft<Member>{&member, first, {}};
    const auto second = member.next_eligible(first);
    return second ? Theft<Member>{&member, first, second} : Theft<Member>{};
  }
  return Theft<Member>{};
}

// When somebody wants it: how much it is. Long chains are looked at then only.
template <MemberOfPosse Member>
void widen(Theft<Member>& theft) {
  theft.given_count = theft.of->given_with(theft.given);
  if (!theft.kept) return;
  theft.kept = theft.of->next_eligible(theft.given + (theft.given_count - 1));
  theft.kept_count = theft.of->kept_with(theft.kept);
}

// When the member on top has ended, or waits for what others do: the most basal record that is old enough is done here, in
// what is left of the quantum. None: `given` is false.
template <std::ranges::input_range Members>
auto choose_seamless(Members& basal_to_top) {
  using Member = std::remove_reference_t<decltype(**std::ranges::begin(basal_to_top))>;
  for (auto& each : basal_to_top) {
    if (const auto record = each->first_old_enough()) return Theft<Member>{&*each, record, {}, each->kept_with(record)};
  }
  return Theft<Member>{};
}

}  // namespace posset::sched::posse
