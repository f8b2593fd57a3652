// How well pure work scales, in virtual time: the rules of stealing on simulated executors that compute balanced and skewed
// trees, where a reduction takes as long everywhere and nothing else on a machine disturbs. Prints the tables of
// docs/scaling.md, the same ones on every machine.
//
// Efficiency is the sequential work over executors times the time until the end. It depends on where the pieces happen to
// fall, so each figure is of many runs, with trees of somewhat different size and other executors asked first.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "sched/sim/explore.h"
#include "sched/sim/posse_world.h"

using namespace posset::sched;
using namespace posset::sched::posse;

namespace {

constexpr int64_t kQuantum = 1000;  // reductions: a millisecond, if one takes a microsecond
constexpr int64_t kLook = kQuantum / 20;
constexpr int64_t kLatency = kQuantum / 50;
constexpr int64_t kLeafCost = 10, kLeafAndInner = kLeafCost + 2 * SimProgram::kInnerCost;
constexpr int kRuns = 20;

struct Kind {
  const char* name;
  double left_share;
};
constexpr Kind kKinds[] = {{"balanced", 0.5}, {"0.4 : 0.6", 0.4}, {"0.6 : 0.4", 0.6}, {"0.3 : 0.7", 0.3}, {"0.7 : 0.3", 0.7}};

struct Run {
  double efficiency;
  // Shares of idle time: until all executors have had work, then, and from when the first has none any more.
  double before_all, with_all, after_all;
  PosseOutcome outcome;
};

PossePlan plan_of(const Kind& kind, uint32_t executors, double quanta, uint64_t seed) {
  PossePlan plan;
  // A tenth more at most: where the pieces end differs, and there is never less.
  const double work = quanta * (1 + 0.1 * static_cast<double>(seed) / kRuns) * kQuantum * executors;
  const auto shape = kind.left_share == 0.5 ? SimTree::Shape::Balanced : SimTree::Shape::Skewed;
  plan.trees = {{.shape = shape,
                 .leaves = static_cast<uint64_t>(work / kLeafAndInner) + 1,
                 .left_share = kind.left_share,
                 .leaf_cost = kLeafCost}};
  plan.executors = executors;
  plan.quantum = kQuantum;
  plan.look = kLook;
  plan.seed = seed;
  plan.timed = true;
  plan.latency_ns = kLatency;
  plan.checks_all = false;
  return plan;
}

// Idle time in [from, to).
int64_t idle(const PosseOutcome& outcome, int64_t from, int64_t to) {
  int64_t idle = static_cast<int64_t>(outcome.busy.size()) * (to - from);
  for (const auto& spans : outcome.busy) {
    for (const auto& [begin, end] : spans) idle -= std::max<int64_t>(0, std::min(end, to) - std::max(begin, from));
  }
  return idle;
}

Run run(const PossePlan& plan) {
  Run run{};
  const RunResult result = run_seeded(PosseWorld<>::scenario(plan, &run.outcome), plan.seed);
  if (!result.ok()) std::fprintf(stderr, "%s: %s\n", result.broken.c_str(), result.problem.c_str());
  const auto whole = static_cast<double>(result.end_ns * plan.executors);
  int64_t all_began = 0, first_ended = result.end_ns;
  for (const auto& spans : run.outcome.busy) {
    if (spans.empty()) continue;
    all_began = std::max(all_began, spans.front().first);
    first_ended = std::min(first_ended, spans.back().second);
  }
  first_ended = std::max(first_ended, all_began);
  run.before_all = static_cast<double>(idle(run.outcome, 0, all_began)) / whole;
  run.with_all = static_cast<double>(idle(run.outcome, all_began, first_ended)) / whole;
  run.after_all = static_cast<double>(idle(run.outcome, first_ended, result.end_ns)) / whole;
  run.efficiency = 1 - run.before_all - run.with_all - run.after_all;
  return run;
}

struct Summary {
  double mean = 0, least = 1;
  double before_all = 0, with_all = 0, after_all = 0;
  double thefts = 0, to_waiting = 0;
};

Summary summary_of(const Kind& kind, uint32_t executors, double quanta) {
  Summary all;
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    const Run one = run(plan_of(kind, executors, quanta, seed));
    all.mean += one.efficiency / kRuns;
    all.least = std::min(all.least, one.efficiency);
    all.before_all += one.before_all / kRuns;
    all.with_all += one.with_all / kRuns;
    all.after_all += one.after_all / kRuns;
    all.thefts += static_cast<double>(one.outcome.thefts) / kRuns;
    all.to_waiting += static_cast<double>(one.outcome.to_waiting) / kRuns;
  }
  return all;
}

void print_efficiencies(double quanta, uint32_t most) {
  std::printf("\nEfficiency with %.0f to %.0f quanta for each executor: mean (least) of %d runs\n\n| executors |", quanta, quanta * 1.1, kRuns);
  for (const Kind& kind : kKinds) std::printf(" %s |", kind.name);
  std::printf("\n|---|---|---|---|---|---|\n");
  for (uint32_t executors = 1; executors <= most; executors *= 2) {
    std::printf("| %u |", executors);
    for (const Kind& kind : kKinds) {
      const Summary all = summary_of(kind, executors, quanta);
      std::printf(" %.2f (%.2f) |", all.mean, all.least);
    }
    std::printf("\n");
  }
}

void print_losses(double quanta) {
  std::printf("\nWhere the time goes, %.0f to %.0f quanta: idle before all have had work, then, and when some have none for good\n", quanta, quanta * 1.1);
  std::printf("\n| tree | executors | before | between | after | thefts, of them to who waited |\n|---|---|---|---|---|---|\n");
  for (const Kind& kind : kKinds) {
    for (uint32_t executors : {16U, 64U}) {
      const Summary all = summary_of(kind, executors, quanta);
      std::printf("| %s | %u | %.1f %% | %.1f %% | %.1f %% | %.0f, %.0f |\n", kind.name, executors, 100 * all.before_all,
                  100 * all.with_all, 100 * all.after_all, all.thefts, all.to_waiting);
    }
  }
}

}  // namespace

int main() {
  print_efficiencies(50, 256);
  print_efficiencies(100, 64);
  print_efficiencies(200, 64);
  print_losses(50);
}
