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
//   basal      it is the first of those that its member has, in a plain search; and it is not passed. Or it stands for the rest of
//              a linear recursion
//   held       while what failed is computed once more nothing is given
//   chain      of a long chain of one kind the most basal half is one, by counting
//   once       an executor tries once in a quantum, which it has used fully and without a wait
//   runs       a member runs on top of its executor only, on who waits for what it is part of, each posse by itself
//   visible    a result that is used has been published
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
  bool publishes_late = false;
  bool forgets_to_wake = false;
  bool takes_anything = false;  // who waits, of its posse
  bool keeps_what_nobody_wants = false;
  bool keeps_quantum = false;   // after a wait
  bool sends_unclaimed = false;
  bool keeps_refused = false;   // goes on though the first in the source cannot be given
  bool keeps_the_rest = false;  // and though it has failed
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
  uint64_t thefts = 0;
  uint64_t to_waiting = 0;  // of those, to an executor that waited
  uint64_t chains = 0;      // of many records at once
  uint64_t given_up = 0;    // what nobody wanted
  uint64_t again = 0;       // what failed
  uint64_t recursions = 0;  // linear ones that went first
  uint64_t nobody = 0;    // somebody would have had something to give, and nobody wanted it
  uint64_t deepest = 0;   // members on an executor
  std::vector<std::vector<std::pair<int64_t, int64_t>>> busy;  // of each executor, from when to when
};

struct SimRecord;

// Parts that are computed away from their places, one after the other, in the order of the source.
struct SimDelegate {
  std::vector<SimPart> parts;
  uint32_t posse;
  uint32_t home;        // executor of the victim
  SimDelegate* parent;  // that the victim computes; null: the whole
  bool recursion_first = false;
  bool small_sides = false;  // of such a recursion: the first is the first in the source, and a failure is that of all
  std::vector<SimResult> results{};  // by number of the part
  std::vector<int64_t> work{};       // reductions
  size_t left = 0;  // parts that have not been computed
  size_t published = 0, told = 0;  // results; of these the victim knows
  bool wanted = true;

  // Of those that have not been computed.
  size_t next() const { return small_sides ? parts.size() - left : left - 1; }
  size_t place(size_t number) const { return small_sides ? number : parts.size() - 1 - number; }
  bool is_published(size_t number) const { return place(number) < published; }
  bool is_there(size_t number) const { return place(number) < told; }
};

struct SimRecord {
  enum class State : uint8_t { Open, Taken, Refused };
  SimPart part{};
  State state = State::Open;
  uint64_t generation = 0;
  uint64_t born = 0;  // the quanta that had begun
  bool odd = false;
  bool small_side = false;
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

  void fail(std::string invariant, std::string problem) { simulation_.fail(std::move(invariant), std::move(problem)); }
  Executor* find_other(const Executor& here, auto&& fits);
  std::string check_executors() const;

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
  bool in_order = false;  // a recursion that went first has failed
  SimResult result;
};

// The part of a posse on one executor.
template <class Stack>
struct PosseWorld<Stack>::Seat {
  Seat(PosseWorld& its_world, Posse& its_posse, const PossePlan& plan) : world(its_world), posse(its_posse), quantum(plan.quantum) {}

  SimMember& top() const { return *members.back(); }
  void push(const SimPart& part, SimDelegate* delegate);
  void push(SimDelegate& delegate) { push(delegate.parts[delegate.next()], &delegate); }
  void pop() {
    stack.pop();
    members.pop_back();
  }
  // By a plain search: the most basal record that may be given.
  SimRecord* search() const;
  // By counting: how many of the member's go with that one.
  size_t piece(const SimMember& member, const SimRecord* first) const;
  // Something here is, or is on top of, what nobody wants.
  bool is_wanted() const;

  PosseWorld& world;
  Posse& posse;
  Stack stack;
  Quantum quantum;
  std::vector<std::unique_ptr<SimMember>> members;  // what `stack` is to have
  // Quanta, by number.
  uint64_t begun = 0, used = 0;
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
        computation(std::in_place, its_seat.posse.program, part, this, goes_first()) {}

  static uint64_t most_records(const SimProgram& program, const SimPart& part, const SimDelegate* delegate) {
    uint64_t most = program.most_records(part);
    if (!delegate) return most;
    for (const SimPart& each : delegate->parts) most = std::max(most, program.most_records(each));
    return most;
  }

  bool goes_first() const { return delegate && delegate->recursion_first; }

  void leave(const SimPart& second) override {
    *free = SimRecord();
    free->part = second;
    free->odd = seat.posse.program.is_odd(second);
    free->small_side = goes_first();
    free++->born = seat.begun;
  }
  bool take_back(SimResult& into) override {
    SimRecord& record = take();
    const std::shared_ptr<SimDelegate> done = std::move(record.delegate);
    if (!done) return false;
    if (!done->is_published(record.number)) seat.world.fail("visible", "a result is used before it is there");
    const SimResult& result = done->results[record.number];
    if (!result.failed) {
      into = result;
      return true;
    }
    ++seat.world.outcome_.again;
    seat.posse.in_order |= done->recursion_first;
    const auto quanta = static_cast<uint64_t>(done->work[record.number] / seat.world.plan_.quantum + 1);
    hold(quanta);
    held = seat.used + quanta;
    return false;
  }
  void drop() override { take().delegate.reset(); }

  bool is_away(bool wanted) override {
    const SimRecord& last = free[-1];
    if (!last.delegate || last.delegate->is_there(last.number)) return false;
    awaited = last.delegate.get();
    awaited_part = last.number;
    if (!wanted) awaited->wanted = false;
    return true;
  }

  // What has not been touched the stack is not told of, as in the language.
  SimRecord& take() {
    SimRecord& record = *--free;
    awaited = nullptr;
    if (record.stamp() != 0 || !record.is_open()) seat.stack.took_back(&record);
    return record;
  }
  // They are computed as one.
  SimDelegate& take(SimRecord* first, size_t count, uint32_t posse, uint32_t home) {
    auto made = std::make_shared<SimDelegate>(SimDelegate{{}, posse, home, delegate});
    made->small_sides = first->small_side;
    made->results.resize(made->left = count);
    made->work.resize(count);
    for (size_t n = 0; n < count; ++n) {
      made->parts.push_back(first[n].part);
      first[n].state = SimRecord::State::Taken;
      first[n].delegate = made;
      first[n].number = n;
    }
    return *made;
  }
  bool may_go_on() const { return !awaited || awaited->is_there(awaited_part); }

  Seat& seat;
  SimDelegate* const delegate;  // null: the host's
  SimRecord* free;              // behind the last record
  SimDelegate* awaited = nullptr;  // of the last record
  size_t awaited_part = 0;
  uint64_t held = 0;  // until so many quanta have been used
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
auto PosseWorld<Stack>::Seat::search() const -> SimRecord* {
  for (SimRecord* record = top().base; record < top().free; ++record) {
    if (!record->is_open() || record->born >= top().last_used) continue;
    return record;
  }
  return nullptr;
}

template <class Stack>
size_t PosseWorld<Stack>::Seat::piece(const SimMember& member, const SimRecord* first) const {
  size_t old = 0, of_one_kind = 1;
  for (const SimRecord* record = first; record < member.free && record->born < member.last_used; ++record) ++old;
  while (of_one_kind < old && first[of_one_kind].is_open() && !first[of_one_kind].odd && !first->odd) ++of_one_kind;
  if (of_one_kind <= world.plan_.chain) return 1;
  return of_one_kind > old / 2 ? old / 2 : of_one_kind / 2;
}

template <class Stack>
bool PosseWorld<Stack>::Seat::is_wanted() const {
  return std::all_of(members.begin(), members.end(), [](const auto& each) { return !each->delegate || each->delegate->wanted; });
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
  void hear(SimDelegate& delegate, size_t results);
  // Something that it may compute is not wanted any more.
  void notice() {
    if (seat_ && !seat_->is_wanted()) wake();
  }

 private:
  enum class State : uint8_t { Runs, Pauses, Gives, Sends, Ends, Tells, Looks, Offers, Waits, Left };

  std::string run();
  std::string pause();
  std::string give();
  std::string send();
  std::string end();
  std::string tell();
  std::string look();
  std::string make_offer();
  std::string wait();
  std::string take_mail();

  const PossePlan& plan() const { return world_.plan_; }
  bool may_go_on() const { return seat_ && seat_->top().may_go_on(); }
  // Whether an offer is made to whom what runs is part of.
  template <class Ask>
  bool fits(Ask&& ask) const;
  void await();
  void give_up();
  void forsake(SimDelegate& delegate);
  SimRecord* linear_part() const;
  int64_t now() const { return plan().timed ? world_.simulation_.now_ns() : clock_; }
  void take_until(int64_t ns);
  void begin_quantum(int64_t now);
  void after_wait();
  void wake();
  Seat& seat_of(uint32_t posse);
  void leave_member();
  void check_top() const;
  void check_given() const;

  PosseWorld& world_;
  const uint32_t number_;
  Posse* const hosted_;
  Seat* seat_ = nullptr;  // null: nothing to do
  State state_ = State::Offers;
  int64_t until_ns_ = 0;
  int64_t clock_ = 0;     // what it has run, and its waits a quantum each
  int64_t ran_ = 0;       // since it began, waited or tried to steal
  SimRecord* given_ = nullptr;
  size_t count_ = 1;
  bool recursion_first_ = false;
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
    case State::Tells: return tell();
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
  if (!plan().faults.keeps_what_nobody_wants && !seat_->is_wanted()) give_up();
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
  if (stop == SimComputation::Stop::Awaits) await();
  return "runs for " + std::to_string(ran) + (waits ? " and waits" : "");
}

// What it needs, or may not leave behind, is computed elsewhere.
template <class Stack>
void PosseWorld<Stack>::Executor::await() {
  state_ = State::Looks;
  if (!seat_->top().awaited->wanted) forsake(*seat_->top().awaited);
}

template <class Stack>
void PosseWorld<Stack>::Executor::forsake(SimDelegate& delegate) {
  delegate.wanted = false;
  for (const auto& each : world_.executors_) each->notice();
}

template <class Stack>
void PosseWorld<Stack>::Executor::give_up() {
  ++world_.outcome_.given_up;
  seat_->top().computation->give_up();
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
  seat_->top().last_used = seat_->begun;
  ++seat_->used;
  seat_->quantum.begin_anew();
  given_ = seat_->stack.end_quantum(seat_->top().free);
  count_ = given_ ? seat_->stack.count(given_) : 1;
  check_given();
  SimRecord* const rest = linear_part();
  recursion_first_ = rest && (!given_ || given_ == rest);
  if (recursion_first_) given_ = rest;
  const auto asks = [this](Executor& each) {
    return fits([&each](Owner owner) { return each.offer().is_made_to(owner); });
  };
  const bool wanted = given_ && (plan().faults.sends_unclaimed || world_.find_other(*this, asks));
  world_.outcome_.nobody += given_ && !wanted;
  state_ = wanted ? State::Gives : State::Runs;
  return wanted ? "pauses and has something to give" : "pauses";
}

// What stands for the rest of a linear recursion, and could go on with that first.
template <class Stack>
SimRecord* PosseWorld<Stack>::Executor::linear_part() const {
  const SimMember& member = seat_->top();
  if (member.free == member.base || member.is_held() || member.goes_first() || seat_->posse.in_order) return nullptr;
  SimRecord* const record = member.free - 1;
  return record->is_open() && seat_->posse.program.is_linear(record->part) ? record : nullptr;
}

template <class Stack>
template <class Ask>
bool PosseWorld<Stack>::Executor::fits(Ask&& ask) const {
  for (const SimDelegate* each = seat_->top().delegate; each; each = each->parent) {
    if (ask(each)) return true;
  }
  return ask(&seat_->posse);
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::give() {
  state_ = State::Runs;
  for (size_t n = 0; n < count_; ++n) {
    if (!seat_->posse.program.refuses(given_[n].part)) continue;
    given_[n].state = SimRecord::State::Refused;
    // In its turn that would be done last, though it comes before the others.
    const bool ends_all = given_->small_side && !plan().faults.keeps_refused;
    if (ends_all) forsake(*seat_->top().delegate);
    if (ends_all || n == 0) return "cannot give it";
    count_ = n;
  }
  const bool anybody = plan().faults.sends_unclaimed;
  other_ = world_.find_other(*this, [&](Executor& each) {
    return anybody || fits([&each](Owner owner) { return each.offer().claim(owner); });
  });
  if (!other_) return "finds nobody any more";
  const auto posse = static_cast<uint32_t>(std::find_if(world_.posses_.begin(), world_.posses_.end(),
                                                        [this](const auto& each) { return each.get() == &seat_->posse; }) -
                                           world_.posses_.begin());
  seat_->top().take(given_, count_, posse, number_).recursion_first = recursion_first_;
  world_.outcome_.recursions += recursion_first_;
  state_ = State::Sends;
  return "claims " + other_->name();
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::send() {
  world_.outcome_.to_waiting += other_->seat_ != nullptr;
  other_->receive(*given_->delegate);
  ++world_.outcome_.thefts;
  world_.outcome_.chains += count_ > 1;
  state_ = State::Runs;
  return "sends one to " + other_->name();
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
  const SimResult result = member.computation->result();
  ended_->work[ended_->next()] = member.computation->work();
  ended_->results[ended_->next()] = result;
  --ended_->left;
  // What comes behind a failure is probably not wanted, and may never end.
  for (; result.failed && ended_->left > 0; --ended_->left) ended_->results[ended_->next()].failed = true;
  if (result.failed && ended_->small_sides && !plan().faults.keeps_the_rest) forsake(*ended_->parent);
  if (!plan().faults.publishes_late) ended_->published = ended_->parts.size() - ended_->left;
  if (ended_->left == 0) {
    leave_member();
  } else {
    member.computation.emplace(seat_->posse.program, ended_->parts[ended_->next()], &member, member.goes_first());
  }
  state_ = State::Tells;
  return "publishes a result";
}

template <class Stack>
void PosseWorld<Stack>::Executor::leave_member() {
  seat_->pop();
  if (seat_->members.empty()) seat_ = nullptr;
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::tell() {
  SimDelegate& ended = *ended_;
  const size_t results = ended.parts.size() - ended.left;
  if (ended.told != results) {
    const bool late = ended.published != results;
    world_.executors_[ended.home]->hear(ended, results);
    if (late) return "tells first";
  } else {
    ended.published = results;  // too late
  }
  state_ = seat_ ? State::Looks : State::Offers;
  return "tells its victim";
}

// The victim may be gone when this has returned, and the delegate with it.
template <class Stack>
void PosseWorld<Stack>::Executor::hear(SimDelegate& delegate, size_t results) {
  delegate.told = results;
  if (!plan().faults.forgets_to_wake) wake();
}

// ---- waiting ----

template <class Stack>
std::string PosseWorld<Stack>::Executor::look() {
  const bool unwanted = !plan().faults.keeps_what_nobody_wants && !seat_->is_wanted();
  if (unwanted && !may_go_on() && seat_->top().awaited->wanted) {
    give_up();
    forsake(*seat_->top().awaited);
  }
  state_ = may_go_on() ? State::Runs : State::Offers;
  return may_go_on() ? "goes on" : "has nothing to do but wait";
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::make_offer() {
  const bool anything = seat_ && plan().faults.takes_anything;
  offer_.make(!seat_ ? nullptr : anything ? static_cast<Owner>(&seat_->posse) : seat_->top().awaited);
  state_ = State::Waits;
  notified_ = true;  // it looks once
  return "offers itself";
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::wait() {
  notified_ = false;
  if (mail_) return take_mail();
  const bool over = may_go_on() || (seat_ && seat_->top().awaited->wanted && !seat_->is_wanted());
  if (!over || !offer_.withdraw()) return "sleeps";
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
  if (mail_ || state_ != State::Waits) world_.fail("mail", name() + " is sent something and has something to do");
  if (!offer_.is_claimed()) world_.fail("mail", name() + " is sent something and was not claimed");
  const SimDelegate* above = delegate.parent;
  while (seat_ && above && above != seat_->top().awaited) above = above->parent;
  if (seat_ && !above) world_.fail("runs", name() + " is sent what it does not wait for");
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
  if (!member.may_go_on()) world_.fail("runs", name() + " runs who waits");
  if (&seat_->stack.top() != &member) world_.fail("runs", name() + " runs who is not on top");
}

// At a pause.
template <class Stack>
void PosseWorld<Stack>::Executor::check_given() const {
  const SimMember& member = seat_->top();
  const bool held = seat_->used <= member.held;
  if (given_ && held) return world_.fail("held", name() + " gives what it computes once more");
  if (given_ && given_->born >= member.last_used) return world_.fail("age", name() + " gives what is too young");
  SimRecord* const first = held ? nullptr : seat_->search();
  if (given_ != first) return world_.fail("basal", name() + " does not give the most basal");
  if (first && count_ != seat_->piece(member, first)) world_.fail("chain", name() + " gives a wrong number");
}

template <class Stack>
std::string PosseWorld<Stack>::Executor::check() const {
  if (state_ == State::Waits && !notified_) {
    if (mail_) return name() + " sleeps and has mail";
    // Who has been claimed waits for its mail.
    if (may_go_on() && !offer_.is_claimed()) return name() + " sleeps and may go on";
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
  hash.add(ended_ && state_ == State::Tells ? ended_->parts.front().id : 0);
  hash.add(other_ && state_ == State::Sends ? other_->number_ : UINT32_MAX);
  hash.add(static_cast<uint64_t>(std::max<int64_t>(until_ns_ - world_.simulation_.now_ns(), 0)));
  hash.add(offer_.is_claimed());
  if (!seat_) return;
  for (const auto& member : seat_->members) {
    member->computation->hash_into(hash);
    hash.add(member->delegate ? member->delegate->left : 0);
    hash.add(static_cast<uint64_t>(member->free - member->base));
    hash.add(member->may_go_on() * 2 + (!member->delegate || member->delegate->wanted));
    for (const SimRecord* record = member->base; record < member->free; ++record) {
      const uint64_t age = seat_->stack.generation() - record->stamp();
      hash.add(record->stamp() == 0 ? 0 : 1 + std::min<uint64_t>(age, 1) + 2 * (record->stamp() < member->ran_in));
      hash.add(static_cast<uint64_t>(record->state) * 4 + (record->delegate ? 1 + record->delegate->is_there(record->number) : 0));
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
