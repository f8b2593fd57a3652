// Posses in the simulator: executors that compute trees and hand parts to each other, around the members, the rules, the
// quantum and the offers that the language uses. An executor's steps are those between which others can come: to run
// until its quantum is used or its computation waits or ends, to pause and choose, to claim somebody, to send, to publish a
// result, to count down, to look whether it may go on, to offer itself, to look at its mail.
//
// In virtual time (`timed`) a reduction takes a nanosecond, and executors are as fast as each other; otherwise only the order
// of steps counts, and every order is possible.
//
// The stack of members is a parameter, and other mistakes are switches, so that a test can see them caught. Invariants:
//   age        what is handed over was there when a fully used quantum began, by counting quanta, at whose end its member ran
//   basal      it is the first of those, by (depth of the member, index of the record), in a plain search; and it is not passed
//   pair       two are taken from the member that runs, one from one that waits; of a long chain of one kind the most basal half is
//              one, and done here a piece of it is, by counting
//   once       an executor tries once in a quantum, which it has used fully and without a wait
//   runs       a member runs on top of its executor only, while none of its delegates is elsewhere, each posse by itself
//   visible    a result that is used has been published
//   pending    is the number of delegates elsewhere that have not counted down
//   mail       is sent to who has nothing to do and has been claimed, one piece at a time
//   wake-up    nobody sleeps who has mail, or may go on
//   finished   at the end: every result is the sequential one, and nothing is left
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sched/posse/member.h"
#include "sched/posse/offer.h"
#include "sched/posse/quantum.h"
#include "sched/sim/posse_program.h"
#include "sched/sim/simulation.h"

namespace posset::sched::posse {

// What would be wrong in who uses the rules.
struct PosseFaults {
  bool counts_after_sending = false;
  bool publishes_after_counting = false;
  bool forgets_to_wake = false;
  bool goes_on_at_once = false;  // who lost two does not wait for what it gave away
  bool keeps_quantum = false;    // after a wait
  bool sends_unclaimed = false;
};

struct PossePlan {
  std::vector<SimTree> trees;  // the first executors are hosts, one for each
  uint32_t executors = 2;
  int64_t quantum = 100;       // reductions
  int64_t look = 5;            // from which on it begins
  size_t chain = kChain;       // the longest that is taken one by one
  uint64_t seed = 1;           // who is asked first
  bool timed = false;
  int64_t latency_ns = 0;      // from being woken to running
  int64_t wait_ns = 0;         // of a leaf that waits
  bool checks_all = true;      // whether invariants that look at everything are checked after every step
  PosseFaults faults;
};

struct PosseOutcome {
  uint64_t attempts = 0;  // pauses
  uint64_t firsts = 0;    // two taken from who ran
  uint64_t laters = 0;    // one taken from who waited
  uint64_t seamless = 0;
  uint64_t chains = 0;    // of those, of many records at once
  uint64_t nobody = 0;    // somebody would have had something to give, and nobody wanted it
  uint64_t deepest = 0;   // members on an executor
  std::vector<std::vector<std::pair<int64_t, int64_t>>> busy;  // of each executor, from when to when
};

struct SimRecord;

// Parts that are computed away from their places, one after the other.
struct SimDelegate {
  std::vector<SimPart> parts;
  uint32_t* pending;  // of the victim
  uint32_t posse;
  uint32_t home;  // executor of the victim
  bool away;      // on another executor
  std::vector<SimResult> results{};
  bool published = false;
  bool counted_down = false;
};

struct SimRecord {
  enum class State : uint8_t { Open, Taken, Refused };
  SimPart part{};
  State state = State::Open;
  uint64_t generation = 0;
  uint64_t born = 0;  // the quanta that had begun
  bool odd = false;
  std::shared_ptr<SimDelegate> delegate;
  size_t number = 0;  // among its parts

  bool is_open() const { return state == State::Open; }
  uint64_t stamp() const { return generation; }
  void set_stamp(uint64_t stamp) { generation = stamp; }
  bool continues(const SimRecord& below) const { return !odd && !below.odd; }
};

template <class Stack = MemberStack<SimRecord>>
class PosseWorld final : public World {
 public:
  // `outcome`, if given, is filled.
  PosseWorld(Simulation& simulation, const PossePlan& plan, PosseOutcome* outcome = nullptr);

  void hash_into(StateHash& hash) const override;
  std::string unfinished() const override;

  static Scenario scenario(const PossePlan& plan, PosseOutcome* outcome = nullptr) {
    return [&plan, outcome](Simulation& simulation) { return std::make_unique<PosseWorld>(simulation, plan, outcome); };
  }

 private:
  class Executor;
  struct Posse;
  struct Seat;
  struct SimMember;
  using Theft = posse::Theft<Member<SimRecord>>;

  void fail(std::string invariant, std::string problem) { simulation_.fail(std::move(invariant), std::move(problem)); }
  Executor* find_other(const Executor& here, auto&& fits);
  std::string check_executors() const;
  std::string check_pending() const;

  Simulation& simulation_;
  const PossePlan& plan_;
  PosseOutcome own_outcome_;
  PosseOutcome& outcome_;
  Random random_;
  uint64_t draws_ = 0;
  std::vector<std::unique_ptr<Posse>> posses_;
  std::vector<std::unique_ptr<Executor>> executors_;
};

// ---- what there is ----

template <class Stack>
struct PosseWorld<Stack>::Posse {
  Posse(const PossePlan& plan, const SimTree& tree) : program(tree), seats(plan.executors) {}

  const SimProgram program;
  std::vector<std::unique_ptr<Seat>> seats;  // by number of the executor
  bool ended = false;
  SimResult result;
};

// The part of a posse on one executor.
template <class Stack>
struct PosseWorld<Stack>::Seat {
  Seat(PosseWorld& its_world, Posse& its_posse, const PossePlan& plan) : world(its_world), posse(its_posse), quantum(plan.quantum) {}

  SimMember& top() const { return *members.back(); }
  void push(const SimPart& part, SimDelegate* delegate);
  void push(SimDelegate& delegate) { push(delegate.parts.front(), &delegate); }
  void pop() {
    stack.pop();
    members.pop_back();
  }
  // By a plain search: the records that may be done elsewhere, or only here, of the most basal member that has any.
  std::pair<SimMember*, std::vector<SimRecord*>> search(bool elsewhere) const;
  // By counting: how many of the member's go with that one.
  size_t piece(const SimMember& member, const SimRecord* first, bool elsewhere, size_t most) const;

  PosseWorld& world;
  Posse& posse;
  Stack stack;
  Quantum quantum;
  std::vector<std::unique_ptr<SimMember>> members;  // what `stack` is to have
  // Quanta, by number.
  uint64_t begun = 0;
  uint64_t used = 0;  // the last that was fully used
};

struct SimRecords {
  explicit SimRecords(uint64_t most) : all(std::make_unique<SimRecord[]>(most)) {}
  std::unique_ptr<SimRecord[]> all;
};

template <class Stack>
struct PosseWorld<Stack>::SimMember final : SimRecords, Member<SimRecord>, SimForks {
  SimMember(Seat& its_seat, const SimPart& part, SimDelegate* its_delegate)
      : SimRecords(most_records(its_seat.posse.program, part, its_delegate)),
        Member<SimRecord>(all.get(), its_seat.stack.generation(), its_seat.world.plan_.chain),
        seat(its_seat),
        delegate(its_delegate),
        free(base),
        computation(std::in_place, its_seat.posse.program, part, this) {}

  static uint64_t most_records(const SimProgram& program, const SimPart& part, const SimDelegate* delegate) {
    uint64_t most = program.most_records(part);
    if (!delegate) return most;
    for (const SimPart& each : delegate->parts) most = std::max(most, program.most_records(each));
    return most;
  }

  void leave(const SimPart& right) override {
    *free = SimRecord();
    free->part = right;
    free->odd = seat.posse.program.is_odd(right);
    free++->born = seat.begun;
  }
  bool take_back(SimResult& into) override {
    SimRecord& record = take();
    const std::shared_ptr<SimDelegate> done = std::move(record.delegate);
    if (!done) return false;
    if (!done->published) seat.world.fail("visible", "a result is used before it is there");
    const SimResult& result = done->results[record.number];
    if (!result.failed) into = result;
    return !result.failed;
  }
  void drop() override { take().delegate.reset(); }

  // What has not been touched the stack is not told of, as in the language.
  SimRecord& take() {
    SimRecord& record = *--free;
    if (record.stamp() != 0 || !record.is_open()) seat.stack.took_back(&record);
    return record;
  }
  // Delegates elsewhere that have not counted down.
  uint32_t away() const {
    return static_cast<uint32_t>(std::count_if(base, free, [](const SimRecord& record) {
      return record.delegate && record.number == 0 && record.delegate->away && !record.delegate->counted_down;
    }));
  }
  // They are computed as one. `pending` as in SimDelegate, null: here.
  SimDelegate& take(SimRecord* first, size_t count, uint32_t* its_pending, uint32_t posse, uint32_t home) {
    auto made = std::make_shared<SimDelegate>(SimDelegate{{}, its_pending, posse, home, its_pending != nullptr});
    for (size_t n = 0; n < count; ++n) {
      made->parts.push_back(first[n].part);
      first[n].state = SimRecord::State::Taken;
      first[n].delegate = made;
      first[n].number = n;
    }
    return *made;
  }

  Seat& seat;
  SimDelegate* const delegate;  // null: the host's
  SimRecord* free;              // behind the last record
  uint64_t last_used = 0;       // the last fully used quantum at whose end it ran
  std::optional<SimComputation> computation;  // of one part after the other
};

template <class Stack>
void PosseWorld<Stack>::Seat::push(const SimPart& part, SimDelegate* delegate) {
  members.push_back(std::make_unique<SimMember>(*this, part, delegate));
  stack.push(*members.back());
  world.outcome_.deepest = std::max<uint64_t>(world.outcome_.deepest, members.size());
}

template <class Stack>
auto PosseWorld<Stack>::Seat::search(bool elsewhere) const -> std::pair<SimMember*, std::vector<SimRecord*>> {
  std::vector<SimRecord*> found;
  for (const auto& member : members) {
    const uint64_t quantum = elsewhere ? member->last_used : used;
    for (SimRecord* record = member->base; record < member->free; ++record) {
      if (record->is_open() && record->born < quantum) found.push_back(record);
    }
    if (!found.empty()) return {member.get(), std::move(found)};
  }
  return {};
}

template <class Stack>
size_t PosseWorld<Stack>::Seat::piece(const SimMember& member, const SimRecord* first, bool elsewhere, size_t most) const {
  const uint64_t quantum = elsewhere ? member.last_used : used;
  size_t old = 0, of_one_kind = 1;
  for (const SimRecord* record = first; record < member.free && record->born < quantum; ++record) ++old;
  while (of_one_kind < old && first[of_one_kind].is_open() && !first[of_one_kind].odd && !first->odd) ++of_one_kind;
  if (of_one_kind <= world.plan_.chain) return 1;
  const size_t half = std::min(old / 2, most);
  return of_one_kind > half ? half : std::min(of_one_kind / 2, most);
}

// ---- executors ----

template <class Stack>
class PosseWorld<Stack>::Executor final : public Actor {
 public:
  // With a posse: of a host's that begins it.
  Executor(PosseWorld& world, uint32_t number, Posse* posse);

  std::string name() const override { return "executor" + std::to_string(number_); }
  bool enabled() const override;
  std::string step() override;
  void hash_into(StateHash& hash) const override;

  Offer& offer() { return offer_; }
  std::string check() const;
  std::string unfinished() const;
  // By others, under its lock.
  void receive(SimDelegate& delegate);
  void count_down(SimDelegate& delegate);

 private:
  enum class State : uint8_t { Runs, Pauses, Gives, Sends, Ends, CountsDown, Looks, Offers, Waits, Left };

  std::string run();
  std::string pause();
  std::string give();
  std::string send();
  std::string end();
  std::string count_down_home();
  std::string look();
  std::string make_offer();
  std::string wait();
  std::string take_mail();

  const PossePlan& plan() const { return world_.plan_; }
  bool may_go_on() const { return seat_ && seat_->top().pending == 0; }
  int64_t now() const { return plan().timed ? world_.simulation_.now_ns() : clock_; }
  void take_until(int64_t ns);
  void begin_quantum(int64_t now);
  void after_wait();
  void wake();
  Seat& seat_of(uint32_t posse);
  void leave_member();
  void check_top() const;
  void check_theft(const Theft& theft) const;
  void check_choice(const Theft& theft, bool at_pause) const;

  PosseWorld& world_;
  const uint32_t number_;
  Posse* const hosted_;
  Seat* seat_ = nullptr;  // null: nothing to do
  State state_ = State::Offers;
  int64_t until_ns_ = 0;
  int64_t clock_ = 0;     // what it has run, and its waits a quantum each
  int64_t ran_ = 0;       // since it began, waited or tried to steal
  Theft theft_;
  Executor* other_ = nullptr;
  SimDelegate* ended_ = nullptr;
  Offer offer_;
  SimDelegate* mail_ = nullptr;
  bool notified_ = false;
};

template <class Stack>
PosseWorld<Stack>::Executor::Executor(PosseWorld& world, uint32_t number, Posse* posse)
    : world_(world), number_(number), hosted_(posse) {
  if (!posse) return;
  seat_ = &seat_of(number);
  seat_->push(posse->program.whole(), nullptr);
  state_ = State::Runs;
}

template <class Stack>
bool PosseWorld<Stack>::Executor::enabled() const {
  if (state_ == State::Left || world_.simulation_.now_ns() < until_ns_) return false;
  return state_ != State::Waits || notified_;
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::step() {
  switch (state_) {
    case State::Runs: return run();
    case State::Pauses: return pause();
    case State::Gives: return give();
    case State::Sends: return send();
    case State::Ends: return end();
    case State::CountsDown: return count_down_home();
    case State::Looks: return look();
    case State::Offers: return make_offer();
    case State::Waits: return wait();
    case State::Left: break;
  }
  return "";
}

template <class Stack>
void PosseWorld<Stack>::Executor::take_until(int64_t ns) {
  if (!plan().timed || ns <= world_.simulation_.now_ns()) return;
  until_ns_ = ns;
  world_.simulation_.wake_at(ns);
}

template <class Stack>
void PosseWorld<Stack>::Executor::after_wait() {
  clock_ += plan().quantum;
  ran_ = 0;
  if (seat_ && !plan().faults.keeps_quantum) seat_->quantum.begin_anew();
}

template <class Stack>
auto PosseWorld<Stack>::Executor::seat_of(uint32_t posse) -> Seat& {
  std::unique_ptr<Seat>& seat = world_.posses_[posse]->seats[number_];
  if (!seat) seat = std::make_unique<Seat>(world_, *world_.posses_[posse], plan());
  return *seat;
}

// ---- running ----

template <class Stack>
std::string PosseWorld<Stack>::Executor::run() {
  check_top();
  Quantum& quantum = seat_->quantum;
  const bool had_begun = quantum.has_begun();
  const int64_t budget = had_begun ? std::max<int64_t>(quantum.left(now()), 0) : plan().look;
  int64_t left = budget;
  const auto stop = seat_->top().computation->run(left);
  const int64_t ran = budget - left;
  const int64_t begin_ns = world_.simulation_.now_ns(), end = now() + ran;
  clock_ += ran;
  ran_ += ran;
  if (plan().timed) world_.outcome_.busy[number_].emplace_back(begin_ns, begin_ns + ran);
  const bool waits = stop == SimComputation::Stop::Waits;
  take_until(begin_ns + ran + (waits ? plan().wait_ns : 0));
  if (waits) after_wait();
  if (stop == SimComputation::Stop::Budget && !had_begun) begin_quantum(end);
  if (stop == SimComputation::Stop::Budget && had_begun) state_ = State::Pauses;
  if (stop == SimComputation::Stop::Ended) state_ = State::Ends;
  return "runs for " + std::to_string(ran) + (waits ? " and waits" : "");
}

// At the first look.
template <class Stack>
void PosseWorld<Stack>::Executor::begin_quantum(int64_t now) {
  ran_ = 0;
  ++seat_->begun;
  seat_->quantum.begin(now);
  seat_->stack.begin_quantum(seat_->top().free);
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::pause() {
  if (ran_ < plan().quantum) world_.fail("once", name() + " pauses after " + std::to_string(ran_) + " reductions");
  ran_ = 0;
  ++world_.outcome_.attempts;
  seat_->used = seat_->top().last_used = seat_->begun;
  seat_->quantum.begin_anew();
  theft_ = seat_->stack.end_quantum(seat_->top().free);
  if (theft_) seat_->stack.widen(theft_);
  check_theft(theft_);
  const Owner owner = &seat_->posse;
  const bool wanted = theft_ && (plan().faults.sends_unclaimed ||
                                 world_.find_other(*this, [owner](Executor& each) { return each.offer().is_made_to(owner); }));
  world_.outcome_.nobody += theft_ && !wanted;
  state_ = wanted ? State::Gives : State::Runs;
  return wanted ? "pauses and has something to give" : "pauses";
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::give() {
  state_ = State::Runs;
  for (size_t n = 0; n < theft_.given_count; ++n) {
    if (!seat_->posse.program.refuses(theft_.given[n].part)) continue;
    theft_.given[n].state = SimRecord::State::Refused;
    if (n == 0) return "cannot give it";
    theft_.given_count = n;
  }
  const bool anybody = plan().faults.sends_unclaimed;
  const Owner owner = &seat_->posse;
  other_ = world_.find_other(*this, [&](Executor& each) { return anybody || each.offer().claim(owner); });
  if (!other_) return "finds nobody any more";
  const auto posse = static_cast<uint32_t>(std::find_if(world_.posses_.begin(), world_.posses_.end(),
                                                        [this](const auto& each) { return each.get() == &seat_->posse; }) -
                                           world_.posses_.begin());
  static_cast<SimMember*>(theft_.of)->take(theft_.given, theft_.given_count, &theft_.of->pending, posse, number_);
  if (!plan().faults.counts_after_sending) ++theft_.of->pending;
  state_ = State::Sends;
  return "claims " + other_->name();
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::send() {
  other_->receive(*theft_.given->delegate);
  if (plan().faults.counts_after_sending) ++theft_.of->pending;
  ++(theft_.kept ? world_.outcome_.firsts : world_.outcome_.laters);
  world_.outcome_.chains += theft_.given_count > 1;
  state_ = State::Runs;
  if (!theft_.kept) return "sends one to " + other_->name();
  if (plan().faults.goes_on_at_once) return "sends one, and goes on";
  seat_->push(static_cast<SimMember*>(theft_.of)->take(theft_.kept, theft_.kept_count, nullptr, 0, number_));
  return "sends one to " + other_->name() + " and keeps one";
}

// ---- ending ----

template <class Stack>
std::string PosseWorld<Stack>::Executor::end() {
  SimMember& member = seat_->top();
  if (member.free != member.base) world_.fail("finished", name() + " leaves records");
  ended_ = member.delegate;
  if (!ended_) {
    hosted_->ended = true;
    hosted_->result = member.computation->result();
    leave_member();
    state_ = State::Left;
    return "ends";
  }
  ended_->results.push_back(member.computation->result());
  if (ended_->results.size() < ended_->parts.size()) {
    member.computation.emplace(seat_->posse.program, ended_->parts[ended_->results.size()], &member);
    state_ = State::Runs;
    return "goes on with the next part";
  }
  ended_->published = !ended_->away || !plan().faults.publishes_after_counting;
  const bool away = ended_->away;
  leave_member();
  state_ = away ? State::CountsDown : State::Looks;
  return away ? "publishes a result" : "has a result";
}

template <class Stack>
void PosseWorld<Stack>::Executor::leave_member() {
  seat_->pop();
  if (seat_->members.empty()) seat_ = nullptr;
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::count_down_home() {
  SimDelegate& ended = *ended_;
  if (!ended.published && ended.counted_down) {
    ended.published = true;  // too late
  } else {
    world_.executors_[ended.home]->count_down(ended);
    if (!ended.published) return "counts down first";
  }
  state_ = seat_ ? State::Looks : State::Offers;
  return "counts down";
}

template <class Stack>
void PosseWorld<Stack>::Executor::count_down(SimDelegate& delegate) {
  delegate.counted_down = true;
  if ((*delegate.pending)-- == 0) world_.fail("pending", "is negative");
  if (*delegate.pending == 0 && !plan().faults.forgets_to_wake) wake();
}

// ---- waiting ----

template <class Stack>
std::string PosseWorld<Stack>::Executor::look() {
  state_ = State::Runs;
  if (may_go_on() || plan().faults.goes_on_at_once) return "goes on";
  const Theft theft = seat_->stack.while_top_waits();
  check_choice(theft, false);
  if (!theft) {
    state_ = State::Offers;
    return "has nothing to do but wait";
  }
  ++world_.outcome_.seamless;
  seat_->push(static_cast<SimMember*>(theft.of)->take(theft.given, theft.given_count, nullptr, 0, number_));
  return "steals from itself";
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::make_offer() {
  offer_.make(seat_ ? &seat_->posse : nullptr);
  state_ = State::Waits;
  notified_ = true;  // it looks once
  return "offers itself";
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::wait() {
  notified_ = false;
  if (mail_) return take_mail();
  if (!may_go_on() || !offer_.withdraw()) return "sleeps";
  after_wait();
  state_ = State::Looks;
  return "withdraws";
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::take_mail() {
  SimDelegate& delegate = *std::exchange(mail_, nullptr);
  seat_ = &seat_of(delegate.posse);
  after_wait();
  seat_->push(delegate);
  state_ = State::Runs;
  return "takes its mail";
}

template <class Stack>
void PosseWorld<Stack>::Executor::receive(SimDelegate& delegate) {
  const Owner owner = world_.posses_[delegate.posse].get();
  if (mail_ || state_ != State::Waits) world_.fail("mail", name() + " is sent something and has something to do");
  if (offer_.is_made_to(owner)) world_.fail("mail", name() + " is sent something and was not claimed");
  if (seat_ && &seat_->posse != owner) world_.fail("mail", name() + " is sent something of another posse");
  mail_ = &delegate;
  wake();
}

template <class Stack>
void PosseWorld<Stack>::Executor::wake() {
  notified_ = true;
  if (state_ == State::Waits) take_until(world_.simulation_.now_ns() + plan().latency_ns);
}

// ---- what has to hold ----

template <class Stack>
void PosseWorld<Stack>::Executor::check_top() const {
  const SimMember& member = seat_->top();
  if (member.pending != 0) world_.fail("runs", name() + " runs who waits for " + std::to_string(member.pending));
  if (&seat_->stack.top() != &member) world_.fail("runs", name() + " runs who is not on top");
  for (const SimRecord* record = member.base; record < member.free; ++record) {
    if (record->delegate && !record->delegate->published) world_.fail("visible", name() + " goes on before all results are there");
  }
}

// At a pause.
template <class Stack>
void PosseWorld<Stack>::Executor::check_theft(const Theft& theft) const {
  const bool of_top = theft.of == &seat_->top();
  if (theft && of_top != (theft.kept != nullptr)) return world_.fail("pair", name() + " takes a wrong number");
  check_choice(theft, true);
}

template <class Stack>
void PosseWorld<Stack>::Executor::check_choice(const Theft& theft, bool at_pause) const {
  const uint64_t quantum = at_pause && theft ? static_cast<SimMember*>(theft.of)->last_used : seat_->used;
  const auto too_young = [quantum](const SimRecord* record) { return record && record->born >= quantum; };
  if (too_young(theft.given) || too_young(theft.kept)) return world_.fail("age", name() + " takes what is too young");
  const auto [member, eligible] = seat_->search(at_pause);
  const bool two = at_pause && member == &seat_->top();
  const bool any = eligible.size() >= (two ? 2 : 1);
  SimRecord* const given = any ? eligible[0] : nullptr;
  const size_t many = !given ? 1 : seat_->piece(*member, given, at_pause, at_pause ? SIZE_MAX : plan().chain);
  SimRecord* const kept = any && two ? eligible[many] : nullptr;
  if (theft.given != given || theft.kept != kept) return world_.fail("basal", name() + " does not take the most basal");
  const size_t here = kept ? seat_->piece(*member, kept, false, plan().chain) : 1;
  if ((given && theft.given_count != many) || (kept && theft.kept_count != here)) {
    world_.fail("pair", name() + " takes a wrong number");
  }
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::check() const {
  if (state_ == State::Waits && !notified_) {
    if (mail_) return name() + " sleeps and has mail";
    if (may_go_on() && offer_.is_made_to(&seat_->posse)) return name() + " sleeps and may go on";
  }
  return "";
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::unfinished() const {
  if (hosted_ && state_ != State::Left) return name() + " has not ended";
  if (!hosted_ && (state_ != State::Waits || seat_ || !offer_.is_made_to(nullptr))) return name() + " is not free at the end";
  return "";
}

template <class Stack>
void PosseWorld<Stack>::Executor::hash_into(StateHash& hash) const {
  hash.add(static_cast<uint64_t>(state_) * 2 + notified_);
  hash.add(static_cast<uint64_t>(ran_));
  hash.add(mail_ ? mail_->parts.front().id : 0);
  hash.add(ended_ && state_ == State::CountsDown ? ended_->parts.front().id : 0);
  hash.add(other_ && state_ == State::Sends ? other_->number_ : UINT32_MAX);
  hash.add(static_cast<uint64_t>(std::max<int64_t>(until_ns_ - world_.simulation_.now_ns(), 0)));
  hash.add(offer_.is_made_to(seat_ ? &seat_->posse : nullptr));
  if (!seat_) return;
  for (const auto& member : seat_->members) {
    member->computation->hash_into(hash);
    hash.add(member->delegate ? member->delegate->results.size() : 0);
    hash.add(member->pending * 1024 + static_cast<uint64_t>(member->free - member->base));
    for (const SimRecord* record = member->base; record < member->free; ++record) {
      const uint64_t age = seat_->stack.generation() - record->stamp();
      hash.add(record->stamp() == 0 ? 0 : 1 + std::min<uint64_t>(age, 1) + 2 * (record->stamp() < member->ran_in));
      hash.add(static_cast<uint64_t>(record->state) * 4 + (record->delegate ? 1 + record->delegate->published : 0));
    }
  }
}

// ---- all of it ----

template <class Stack>
PosseWorld<Stack>::PosseWorld(Simulation& simulation, const PossePlan& plan, PosseOutcome* outcome)
    : simulation_(simulation), plan_(plan), outcome_(outcome ? *outcome : own_outcome_), random_(plan.seed) {
  outcome_ = {};
  outcome_.busy.resize(plan.executors);
  for (const SimTree& tree : plan.trees) posses_.push_back(std::make_unique<Posse>(plan, tree));
  for (uint32_t number = 0; number < plan.executors; ++number) {
    Posse* const posse = number < posses_.size() ? posses_[number].get() : nullptr;
    executors_.push_back(std::make_unique<Executor>(*this, number, posse));
    simulation.add(*executors_.back());
  }
  if (!plan.checks_all) return;
  simulation.invariant("wake-up", [this] { return check_executors(); });
  simulation.invariant("pending", [this] { return check_pending(); });
}

template <class Stack>
auto PosseWorld<Stack>::find_other(const Executor& here, auto&& fits) -> Executor* {
  ++draws_;
  auto at = [this](size_t number) { return executors_[number].get(); };
  return find_from_random(random_, executors_.size(), at, [&](Executor& each) { return &each != &here && fits(each); });
}

template <class Stack>
std::string PosseWorld<Stack>::check_executors() const {
  for (const auto& executor : executors_) {
    if (std::string problem = executor->check(); !problem.empty()) return problem;
  }
  return "";
}

template <class Stack>
std::string PosseWorld<Stack>::check_pending() const {
  for (const auto& posse : posses_) {
    for (const auto& seat : posse->seats) {
      if (!seat) continue;
      for (const auto& member : seat->members) {
        if (member->pending != member->away()) return std::to_string(member->pending) + " instead of " + std::to_string(member->away());
      }
    }
  }
  return "";
}

template <class Stack>
void PosseWorld<Stack>::hash_into(StateHash& hash) const {
  for (const auto& posse : posses_) hash.add(posse->ended);
  if (executors_.size() > 2) hash.add(draws_);
}

template <class Stack>
std::string PosseWorld<Stack>::unfinished() const {
  for (const auto& executor : executors_) {
    if (std::string problem = executor->unfinished(); !problem.empty()) return problem;
  }
  for (const auto& posse : posses_) {
    if (posse->result != compute_sequentially(posse->program).result) return "a result is not the sequential one";
    for (const auto& seat : posse->seats) {
      if (seat && !seat->members.empty()) return "a member is left";
    }
  }
  return "";
}

}  // namespace posset::sched::posse
