// See together.h.
#include "interp/runtime/together.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "interp/runtime/posse.h"
#include "interp/runtime/tasks.h"
#include "interp/runtime/work.h"

namespace posset::interp {

namespace posse = sched::posse;

namespace {

constexpr int64_t kStartNs = 5 * sched::kMillisecond;
constexpr auto kBetweenLooks = std::chrono::microseconds(50);

}  // namespace

// Who claims must send something.
struct Together::Nothing final : posse::Work {
  void run(posse::Executor&) override { delete this; }
  void give_up() override { delete this; }
};

namespace {

// Null: none is idle, or there is no memory for it.
posse::Executor* claim_one(posse::Crew& crew, posse::Cabal& cabal) try {
  return crew.has_idle(cabal) ? crew.claim_idle(cabal) : nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

Together::Together(Context& context, size_t others) : context_(context) {
  Seat* const seat = context.seat;
  const bool in_task = context.tasks && context.tasks->runs_task();
  if (others == 0 || !seat || in_task || !context.fork_top || context.heap.is_guarded()) return;
  if (context.is_brief()) context.settle_in();  // others look at its clock from now on
  Posse& posse = seat->posse_;
  posse::Crew& crew = posse.crew();
  others = std::min<size_t>(others, context.runtime.options.workers - 1);
  claimed_.reserve(others);
  while (nothings_.size() < others) nothings_.push_back(std::make_unique<Nothing>());
  if (seat->members().empty()) seat->begin_quantum(context.runtime.clock.now_ns());
  seat->take_part();
  if (!context.native.reserve()) return;
  const int64_t deadline_ns = context.runtime.clock.now_ns() + kStartNs;
  while (claimed_.size() < others) {
    if (posse::Executor* const other = claim_one(crew, posse.cabal())) {
      claimed_.push_back(other);
    } else if (context.runtime.clock.now_ns() >= deadline_ns) {
      return;
    } else {
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }
}

Together::~Together() {
  for (size_t n = 0; n < claimed_.size(); ++n) claimed_[n]->send(*nothings_[n].release());
}

bool Together::run(std::span<RightSide* const> parts) {
  Seat& seat = *context_.seat;
  std::vector<std::unique_ptr<Delegate>> delegates;
  for (RightSide* part : parts) {
    ForkRecord record;
    record.header = ForkRecord::kBuiltin;
    record.frame = context_.stack_top;
    record.part = part;
    delegates.push_back(std::make_unique<Delegate>(seat, &record, 1, /*small_sides_later=*/false));
  }
  for (size_t n = 1; n < delegates.size(); ++n) {
    posse::Executor& other = *claimed_.back();
    claimed_.pop_back();
    seat.trace_taken(*delegates[n], other, 0);
    other.send(*delegates[n]);
  }
  seat.trace_taken(*delegates[0], *seat.executor_, 0);
  seat.run_here(*delegates[0]);
  delegates[0]->done_ = 1;
  for (const auto& each : delegates) seat.wait_for(*each, 0);
  return seat.end_of_wait() && settle(delegates);
}

bool Together::settle(std::span<const std::unique_ptr<Delegate>> delegates) {
  uint64_t steps = 0;
  bool fits = true;
  for (const auto& each : delegates) {
    const Delegate::Part& part = each->parts_[0];
    steps += part.steps;
    fits = fits && (part.peak == 0 || context_.heap.note_peak(part.peak));
    if (each->job_) context_.seat->trace(TierEvent::part_merged, {static_cast<int64_t>(each->job_), !part.failed});
  }
  if (!context_.has_steps(steps)) return context_.charge(steps);
  context_.add_steps(steps);
  if (!fits) context_.raise_memory_limit();
  return fits && context_.poll();
}

bool Together::look() {
  Seat& seat = *context_.seat;
  if (!seat.should_stop()) return false;
  seat.posse_.stop(true);
  return true;
}

}  // namespace posset::interp
