// The compile scheduler's queue in the simulator: submitters, workers and whoever cancels and stops, around
// the policy the threads use. A worker looks and parks in one step, as TaskQueue does under its lock.
//
// The policy is a parameter so that a test can put a broken one in and see it caught. Invariants, checked
// after every step:
//   order     the task taken is the first of its lanes by (key, sequence), against a plain search
//   capacity  never more tasks than the queue may hold
//   wake-up   no task waits while every worker that could take it sleeps
//   once      a task ends at most once, and none that was refused
//   finished  at the end: every accepted task has ended, and after a stop every worker too
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sched/p2/policy.h"
#include "sched/sim/script.h"
#include "sched/sim/simulation.h"

namespace posset::sched {

struct SimTask {
  int64_t at_ns = 0;
  int64_t takes_ns = 0;
  Priority priority = Priority::BackgroundCompile;
  Lane lane = Lane::Compile;
  // What the tracker would say; by default it knows.
  std::optional<double> estimate_s = std::nullopt;
};

struct SimStop {
  int64_t at_ns = 0;
  StopMode mode = StopMode::Drain;
};

struct P2Plan {
  PriorityPolicy::Config config{.max_queue_size = 1'000'000};
  std::vector<std::vector<SimTask>> submitters;  // each in the order of its times
  std::vector<LaneMask> workers;
  std::vector<std::pair<int64_t, uint64_t>> cancels;  // when, which job
  std::vector<SimStop> stops;
};

// What became of a task. Jobs are numbered through all submitters, the first submitter's first.
struct SimFate {
  std::optional<Admission> admission;
  int64_t submitted_ns = 0;
  int64_t started_ns = -1;
  std::optional<Outcome> outcome;
};

template <class Policy = PriorityPolicy>
class P2World final : public World {
 public:
  // `fates`, if given, receives what became of every task.
  P2World(Simulation& simulation, const P2Plan& plan, std::vector<SimFate>* fates = nullptr);

  void hash_into(StateHash& hash) const override;
  std::string unfinished() const override;

  static Scenario scenario(const P2Plan& plan, std::vector<SimFate>* fates = nullptr) {
    return [&plan, fates](Simulation& simulation) { return std::make_unique<P2World>(simulation, plan, fates); };
  }

 private:
  using Entry = PriorityPolicy::Entry;

  class Worker final : public Actor {
   public:
    enum class State : uint8_t { Looks, Sleeps, Runs, Ended };
    Worker(P2World& world, uint32_t number, LaneMask lanes) : world_(world), number_(number), lanes_(lanes) {}
    std::string name() const override { return "worker" + std::to_string(number_); }
    bool enabled() const override {
      return state_ == State::Looks || (state_ == State::Runs && world_.simulation_.now_ns() >= until_ns_);
    }
    std::string step() override { return state_ == State::Runs ? finish() : look(); }
    void hash_into(StateHash& hash) const override {
      hash.add(static_cast<uint64_t>(state_));
      if (state_ == State::Runs) hash.add(job_ * 1'000'003 + static_cast<uint64_t>(until_ns_ - world_.simulation_.now_ns()));
    }
    void wake() {
      if (state_ == State::Sleeps) state_ = State::Looks;
    }
    bool could_take(Lane lane) const { return (lanes_ & lane_bit(lane)) != 0; }
    State state() const { return state_; }

   private:
    std::string look();
    std::string finish();

    P2World& world_;
    const uint32_t number_;
    const LaneMask lanes_;
    State state_ = State::Looks;
    uint64_t job_ = 0;
    int64_t until_ns_ = 0;
  };

  void add_submitters();
  void add_others();
  std::string submit(uint64_t job);
  std::string cancel(uint64_t job);
  std::string stop(StopMode mode);
  void end(uint64_t job, Outcome outcome);
  void check_order(const Entry& taken, LaneMask lanes);
  std::string check_wake_up() const;
  void add_actor(std::unique_ptr<Actor> actor) {
    simulation_.add(*actor);
    actors_.push_back(std::move(actor));
  }

  Simulation& simulation_;
  const P2Plan& plan_;
  Policy policy_;
  std::vector<SimTask> tasks_;
  std::vector<SimFate> own_fates_;
  std::vector<SimFate>& fates_;
  std::vector<Entry> queued_;  // the reference: everything in the queue, searched from end to end
  std::vector<Worker*> workers_;
  std::vector<std::unique_ptr<Actor>> actors_;
  bool stopped_ = false;
};

template <class Policy>
P2World<Policy>::P2World(Simulation& simulation, const P2Plan& plan, std::vector<SimFate>* fates)
    : simulation_(simulation), plan_(plan), policy_(plan.config), fates_(fates ? *fates : own_fates_) {
  for (LaneMask lanes : plan.workers) {
    auto worker = std::make_unique<Worker>(*this, static_cast<uint32_t>(workers_.size()), lanes);
    workers_.push_back(worker.get());
    add_actor(std::move(worker));
  }
  add_submitters();
  add_others();
  fates_.assign(tasks_.size(), SimFate());
  simulation.invariant("capacity", [this] {
    return policy_.size() <= plan_.config.max_queue_size ? "" : std::to_string(policy_.size()) + " tasks in the queue";
  });
  simulation.invariant("wake-up", [this] { return check_wake_up(); });
}

template <class Policy>
void P2World<Policy>::add_submitters() {
  for (size_t i = 0; i < plan_.submitters.size(); ++i) {
    std::vector<Script::Line> lines;
    for (const SimTask& task : plan_.submitters[i]) {
      lines.push_back({task.at_ns, [this, job = tasks_.size()] { return submit(job); }});
      tasks_.push_back(task);
    }
    add_actor(std::make_unique<Script>(simulation_, "submitter" + std::to_string(i), std::move(lines)));
  }
}

template <class Policy>
void P2World<Policy>::add_others() {
  std::vector<Script::Line> cancels, stops;
  for (const auto& line : plan_.cancels) cancels.push_back({line.first, [this, job = line.second] { return cancel(job); }});
  for (const SimStop& line : plan_.stops) stops.push_back({line.at_ns, [this, mode = line.mode] { return stop(mode); }});
  if (!cancels.empty()) add_actor(std::make_unique<Script>(simulation_, "canceller", std::move(cancels)));
  if (!stops.empty()) add_actor(std::make_unique<Script>(simulation_, "stopper", std::move(stops)));
}

template <class Policy>
std::string P2World<Policy>::submit(uint64_t job) {
  const SimTask& task = tasks_[job];
  SimFate& fate = fates_[job];
  fate.admission = policy_.admission(task.lane);
  fate.submitted_ns = simulation_.now_ns();
  const std::string what = "job " + std::to_string(job);
  if (*fate.admission != Admission::Accepted) {
    return what + (*fate.admission == Admission::Stopped ? " refused: stopped" : " refused: full");
  }
  const double takes_s = static_cast<double>(task.takes_ns) / static_cast<double>(kSecond);
  Entry entry{.estimate_s = task.estimate_s.value_or(takes_s),
              .enqueued_ns = simulation_.now_ns(),
              .job = job,
              .lane = task.lane,
              .priority = task.priority};
  const PriorityPolicy::Pushed pushed = policy_.push(entry);
  entry.key = pushed.key;
  entry.sequence = queued_.empty() ? 0 : queued_.back().sequence + 1;  // only its order matters
  queued_.push_back(entry);
  if (!pushed.wake) return what + " queued";
  workers_[*pushed.wake]->wake();
  return what + " queued, wakes worker" + std::to_string(*pushed.wake);
}

template <class Policy>
std::string P2World<Policy>::cancel(uint64_t job) {
  const std::optional<Entry> entry = policy_.cancel(job);
  if (!entry) return "job " + std::to_string(job) + " does not wait";
  std::erase_if(queued_, [job](const Entry& e) { return e.job == job; });
  end(job, Outcome::Cancelled);
  return "job " + std::to_string(job) + " cancelled";
}

template <class Policy>
std::string P2World<Policy>::stop(StopMode mode) {
  stopped_ = true;
  const PriorityPolicy::Stop stop = policy_.stop(mode);
  for (const Entry& entry : stop.dropped) {
    std::erase_if(queued_, [&entry](const Entry& e) { return e.job == entry.job; });
    end(entry.job, Outcome::Cancelled);
  }
  for (PriorityPolicy::ConsumerId worker : stop.wake) workers_[worker]->wake();
  return std::string(mode == StopMode::Drain ? "drains" : "discards") + ", drops " + std::to_string(stop.dropped.size()) +
         ", wakes " + std::to_string(stop.wake.size());
}

template <class Policy>
void P2World<Policy>::end(uint64_t job, Outcome outcome) {
  SimFate& fate = fates_[job];
  if (fate.admission != Admission::Accepted) simulation_.fail("once", "job " + std::to_string(job) + " was not accepted");
  if (fate.outcome) simulation_.fail("once", "job " + std::to_string(job) + " ended twice");
  fate.outcome = outcome;
}

template <class Policy>
std::string P2World<Policy>::Worker::look() {
  const std::optional<Entry> entry = world_.policy_.pop(lanes_);
  if (!entry) {
    state_ = world_.policy_.park(number_, lanes_) ? State::Sleeps : State::Ended;
    return state_ == State::Sleeps ? "sleeps" : "ends";
  }
  world_.check_order(*entry, lanes_);
  std::erase_if(world_.queued_, [&entry](const Entry& e) { return e.job == entry->job; });
  job_ = entry->job;
  state_ = State::Runs;
  world_.fates_[job_].started_ns = world_.simulation_.now_ns();
  until_ns_ = world_.simulation_.now_ns() + world_.tasks_[job_].takes_ns;
  world_.simulation_.wake_at(until_ns_);
  return "starts job " + std::to_string(job_);
}

template <class Policy>
std::string P2World<Policy>::Worker::finish() {
  world_.end(job_, Outcome::Done);
  state_ = State::Looks;
  return "ends job " + std::to_string(job_);
}

template <class Policy>
void P2World<Policy>::check_order(const Entry& taken, LaneMask lanes) {
  const Entry* first = nullptr;
  for (const Entry& entry : queued_) {
    if ((lanes & lane_bit(entry.lane)) && (!first || entry.before(*first))) first = &entry;
  }
  if (!first || first->job != taken.job) {
    simulation_.fail("order", "job " + std::to_string(taken.job) + " taken before job " +
                                  (first ? std::to_string(first->job) : "none"));
  }
}

template <class Policy>
std::string P2World<Policy>::check_wake_up() const {
  for (Lane lane : kLanes) {
    if (policy_.size(lane_bit(lane)) == 0) continue;
    bool all_sleep = true, any = false;
    for (const Worker* worker : workers_) {
      if (!worker->could_take(lane)) continue;
      any = true;
      all_sleep = all_sleep && worker->state() == Worker::State::Sleeps;
    }
    if (any && all_sleep) return "a task waits while all its workers sleep";
  }
  return "";
}

template <class Policy>
void P2World<Policy>::hash_into(StateHash& hash) const {
  for (const SimFate& fate : fates_) hash.add(fate.outcome ? 1 + static_cast<uint64_t>(*fate.outcome) : 0);
  for (const Entry& entry : queued_) hash.add(entry.job);
  for (uint32_t i = 0; i < workers_.size(); ++i) hash.add(policy_.parked(i));
  hash.add(stopped_);
}

template <class Policy>
std::string P2World<Policy>::unfinished() const {
  for (size_t job = 0; job < fates_.size(); ++job) {
    if (!fates_[job].admission) return "job " + std::to_string(job) + " was never submitted";
    if (*fates_[job].admission == Admission::Accepted && !fates_[job].outcome) {
      return "job " + std::to_string(job) + " never ended";
    }
  }
  if (!stopped_) return "";
  for (const Worker* worker : workers_) {
    if (worker->state() != Worker::State::Ended) return worker->name() + " sleeps after the stop";
  }
  return "";
}

}  // namespace posset::sched
