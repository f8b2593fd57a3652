// See solve.h. Updates themselves are in solve_update.cpp.
#include "sched/fixpoint/solve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace posset::sched::fixpoint {

namespace {

int64_t deadline(int64_t now_ns, int64_t timeout_ns) {
  return timeout_ns > kNever - now_ns ? kNever : now_ns + timeout_ns;
}

int64_t bits(double number) { return std::bit_cast<int64_t>(number); }

}  // namespace

Solve::Solve(const SolveSetting& setting, Scheduler* custom, const Problem& problem, std::span<double> x,
             const SolveOptions& options, const std::stop_token& stop)
    : setting_(setting),
      f_(problem.f),
      run_(problem.run && options.alpha == 1 ? &problem.run : nullptr),
      x_(x),
      options_(options),
      stop_(stop),
      began_ns_(setting.clock.now_ns()),
      deadline_ns_(deadline(began_ns_, options.timeout_ns)),
      n_(problem.n),
      custom_(custom),
      choice_(options.schedule, options.tolerance),
      history_(options.history),
      residual_(std::numeric_limits<double>::infinity()),
      work_(options.work ? options.work() : 0),
      next_progress_ns_(options.progress ? deadline(began_ns_, options.progress_ns) : kNever),
      monitor_(problem.n, options.workers),
      workers_(options.workers),
      residuals_(problem.n),
      quiescence_(options.workers) {}

SolveResult Solve::run() {
  guarded([this] { start_schedule(); });
  trace(TraceKind::solve_started, {setting_.number, static_cast<int64_t>(n_), static_cast<int64_t>(workers_.size()),
                                   static_cast<int64_t>(custom_ ? Schedule::Auto : options_.schedule)});
  if (n_ == 0) {
    residual_ = 0;
    end(SolveStatus::Converged);
  }
  if (!ended()) {
    if (workers_.size() == 1) {
      work(0);
    } else {
      event_ = setting_.executor.make_event();
      setting_.executor.run(workers_.size(), [this](size_t number) { work(number); });
    }
  }
  return result();
}

void Solve::start_schedule() {
  if (custom_) return custom_->init(n_, workers_.size());
  blocks_.init(n_, workers_.size());
  if (choice_.current() == Schedule::Static) return;
  buckets_.emplace(options_.buckets);
  buckets_->init(n_, workers_.size());
  using_ = Schedule::Residual;
  // Nothing is known yet: the first order is a sweep, and what it finds makes the next.
  monitor_.rebuilt(0, n_);
}

Scheduler& Solve::schedule() {
  if (custom_) return *custom_;
  if (using_ == Schedule::Residual) return *buckets_;
  return blocks_;
}

void Solve::work(size_t number) {
  do {
    update(number);
    arrive(false, [this] { begin_scan(); });
    if (scanning_) scan(number);
    arrive(true, [this] { end_scan(); });
  } while (!leave_);
}

void Solve::update(size_t number) {
  Worker& worker = workers_[number];
  // The end of a batch is the beginning of the next: one look at the clock for each.
  int64_t now_ns = setting_.clock.now_ns();
  while (!halting_.load(std::memory_order_relaxed)) {
    const uint64_t changes = changes_.load(std::memory_order_acquire);
    const uint64_t most = std::min<uint64_t>(options_.batch, monitor_.allowance(sum_updates(), sum_quiet()));
    size_t made = 0;
    guarded([&] { made = update_batch(number, worker.pace.batch(most)); });
    tell_counts(worker);
    if (made == 0 && !ended()) {
      park(changes);
      now_ns = setting_.clock.now_ns();
      continue;
    }
    now_ns = look_up(worker, now_ns, made);
    if (!ended() && do_what_is_due()) now_ns = setting_.clock.now_ns();
    setting_.executor.pause();
  }
}

void Solve::tell_counts(Worker& worker) {
  worker.updates.store(worker.updates_made, std::memory_order_relaxed);
  worker.quiet.store(worker.quiet_made, std::memory_order_relaxed);
}

// After some evaluations that began then, so many of them updates: is there a reason to end, and
// how many shall be the next? When that was.
int64_t Solve::look_up(Worker& worker, int64_t began_ns, size_t updates) {
  const int64_t now_ns = setting_.clock.now_ns();
  worker.pace.took(now_ns - began_ns);
  if (options_.timed && updates > 0) worker.cost.took(now_ns - began_ns, updates);
  if (&worker == workers_.data() && now_ns >= next_progress_ns_) tell_progress(now_ns);
  if (stop_.stop_requested()) {
    end(SolveStatus::Stopped);
  } else if (now_ns >= deadline_ns_) {
    end(SolveStatus::TimedOut);
  }
  return now_ns;
}

// Between two halts, when nobody writes the residual.
void Solve::tell_progress(int64_t now_ns) {
  next_progress_ns_ = deadline(now_ns, options_.progress_ns);
  guarded([&] { options_.progress({now_ns - began_ns_, sum_updates(), residual_}); });
}

// Whether anything was.
bool Solve::do_what_is_due() {
  const Monitor::Due due = monitor_.due(sum_updates(), sum_quiet());
  if (due == Monitor::Due::Scan) halt();
  if (due == Monitor::Due::Rebuild) rebuild_from_notes();
  return due != Monitor::Due::Nothing;
}

// While the others go on.
void Solve::rebuild_from_notes() {
  if (rebuilding_.exchange(true, std::memory_order_acquire)) return;
  // Another may have done it since this worker asked.
  if (monitor_.due(sum_updates(), 0) == Monitor::Due::Rebuild) {
    const int64_t began_ns = options_.timed ? setting_.clock.now_ns() : 0;
    guarded([this] {
      buckets_->rebuild_from_notes();
      use(Schedule::Residual, sum_updates(), buckets_->snapshot()->hot(options_.tolerance, buckets_->options().base));
    });
    if (options_.timed) rebuild_cost_.took(setting_.clock.now_ns() - began_ns, 1);
    // A difference of finite numbers may be infinite.
    if (buckets_->diverged()) end(SolveStatus::Diverged);
    {
      MutexLock lock(mutex_);
      changes_.fetch_add(1, std::memory_order_release);
    }
    wake_all();
  }
  rebuilding_.store(false, std::memory_order_release);
}

void Solve::begin_scan() {
  scanning_ = !ended();
  next_scanned_.store(0, std::memory_order_relaxed);
  quiet_scan_ = monitor_.is_quiet(sum_quiet());
  cost_ = cost_of(sum_updates() - updates_at_scan_);
  for (Worker& worker : workers_) worker.largest = 0;
}

// Of each of the updates since the last scan.
double Solve::cost_of(uint64_t updates) {
  const auto each = [updates](double all) {
    return updates > 0 ? all / static_cast<double>(updates) : 0;
  };
  if (options_.work) {
    const double claims = using_ == Schedule::Residual ? options_.bucket_work : 0;
    return claims + each(static_cast<double>(options_.work() - work_));
  }
  double ns = rebuild_cost_.sum_ns();
  rebuild_cost_.reset();
  for (Worker& worker : workers_) {
    ns += worker.cost.sum_ns();
    worker.cost.reset();
  }
  return each(ns);
}

void Solve::scan(size_t number) {
  Worker& worker = workers_[number];
  while (!ended()) {
    const int64_t began_ns = setting_.clock.now_ns();
    const size_t count = worker.pace.batch(options_.batch);
    const size_t from = next_scanned_.fetch_add(count, std::memory_order_relaxed);
    if (from >= n_) return;
    guarded([&] { scan_chunk(worker, from, std::min(n_, from + count)); });
    look_up(worker, began_ns, 0);
    setting_.executor.pause();
  }
}

void Solve::scan_chunk(Worker& worker, size_t from, size_t to) {
  double largest = worker.largest;
  if (run_ && found_by_run(worker, from, to)) {
    for (size_t i = from; i < to; ++i) largest = std::max(largest, note_residual(i, worker.found[i - from]));
  } else {
    for (size_t i = from; i < to; ++i) largest = std::max(largest, note_residual(i, f_(i, x_)));
  }
  worker.largest = largest;
  worker.scanned += to - from;
}

bool Solve::found_by_run(Worker& worker, size_t from, size_t to) {
  worker.found.resize(std::max(worker.found.size(), to - from));
  const auto number = static_cast<size_t>(&worker - workers_.data());
  return (*run_)({.worker = number, .begin = from, .end = to}, x_, worker.found.data());
}

double Solve::note_residual(size_t i, double found) {
  double residual = std::abs(found - x_[i]);
  if (!std::isfinite(residual)) residual = std::numeric_limits<double>::infinity();
  residuals_[i] = residual;
  return residual;
}

void Solve::end_scan() {
  if (!ended()) {
    double largest = 0;
    for (const Worker& worker : workers_) largest = std::max(largest, worker.largest);
    residual_ = largest;
    ++scans_;
    Scan found{.updates = sum_updates(), .residual = largest, .n = n_, .cost = cost_};
    history_.add({setting_.clock.now_ns() - began_ns_, found.updates, largest});
    trace(TraceKind::solve_scanned, {setting_.number, static_cast<int64_t>(found.updates), bits(largest)});
    if (!std::isfinite(largest)) {
      end(SolveStatus::Diverged);
    } else if (largest <= options_.tolerance) {
      end(SolveStatus::Converged);
    } else {
      guarded([&] { go_on(found); });
    }
  }
  if (options_.work) work_ = options_.work();
  leave_ = ended();
}

void Solve::go_on(Scan& scan) {
  check_progress(scan.updates);
  for (Worker& worker : workers_) {
    worker.quiet_made = 0;
    tell_counts(worker);
  }
  monitor_.scanned(scan.updates, quiet_scan_);
  if (custom_ && custom_->supports_rebuild()) {
    custom_->rebuild(residuals_);
    rebuilds_.fetch_add(1, std::memory_order_relaxed);
  }
  if (custom_) return;
  if (options_.schedule != Schedule::Static) look_for_hot(scan, residuals_, options_.tolerance);
  const Schedule next = choice_.observe(scan);
  if (next == Schedule::Residual) {
    if (!buckets_) {
      buckets_.emplace(options_.buckets);
      buckets_->init(n_, workers_.size());
    }
    buckets_->rebuild(residuals_);
  }
  use(next, scan.updates, scan.hot);
  if (choice_.on_trial()) monitor_.scan_within(scan.updates, choice_.trial_length(n_));
}

// A schedule that hands out nothing, scan after scan, would go on for ever.
void Solve::check_progress(uint64_t updates) {
  const bool idle = updates == updates_at_scan_;
  if (idle && idle_scan_) throw std::runtime_error("the schedule hands out no coordinate");
  idle_scan_ = idle;
  updates_at_scan_ = updates;
}

// With the workers halted, or Residual as before after a rebuild.
void Solve::use(Schedule schedule, uint64_t updates, size_t hot) {
  if (schedule == Schedule::Residual) {
    monitor_.rebuilt(updates, hot);
    rebuilds_.fetch_add(1, std::memory_order_relaxed);
    trace(TraceKind::solve_rebuilt, {setting_.number, static_cast<int64_t>(updates), static_cast<int64_t>(hot)});
  } else {
    monitor_.never_rebuild();
  }
  if (schedule == using_) return;
  using_ = schedule;
  ++switches_;
  trace(TraceKind::solve_switched, {setting_.number, static_cast<int64_t>(updates), static_cast<int64_t>(schedule)});
}

template <class Last>
void Solve::arrive(bool resume, const Last& last) {
  MutexLock lock(mutex_);
  if (!quiescence_.arrive()) {
    const uint64_t round = quiescence_.round();
    while (quiescence_.round() == round) {
      const uint64_t ticket = event_->ticket();
      lock.unlock();
      event_->wait(ticket);
      lock.lock();
    }
    return;
  }
  lock.unlock();
  last();
  lock.lock();
  quiescence_.release(resume);
  halting_.store(quiescence_.requested(), std::memory_order_relaxed);
  lock.unlock();
  wake_all();
}

void Solve::park(uint64_t changes) {
  MutexLock lock(mutex_);
  if (!quiescence_.park()) {
    halting_.store(true, std::memory_order_relaxed);
    lock.unlock();
    return wake_all();
  }
  while (!quiescence_.requested() && changes_.load(std::memory_order_relaxed) == changes) {
    const uint64_t ticket = event_->ticket();
    lock.unlock();
    event_->wait(ticket);
    lock.lock();
  }
  quiescence_.unpark();
}

void Solve::halt() {
  {
    MutexLock lock(mutex_);
    if (!quiescence_.request()) return;
    halting_.store(true, std::memory_order_relaxed);
  }
  wake_all();
}

void Solve::end(SolveStatus status, std::exception_ptr failure) {
  {
    MutexLock lock(mutex_);
    if (status_) return;
    status_ = status;
    failure_ = std::move(failure);
    ended_.store(true, std::memory_order_relaxed);
  }
  halt();
}

template <class Body>
void Solve::guarded(const Body& body) {
  try {
    body();
  } catch (...) {
    end(SolveStatus::Failed, std::current_exception());
  }
}

uint64_t Solve::sum_updates() const {
  uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.updates.load(std::memory_order_relaxed);
  return sum;
}

uint64_t Solve::sum_quiet() const {
  const uint64_t share = monitor_.quiet_share();
  uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += std::min(share, worker.quiet.load(std::memory_order_relaxed));
  return sum;
}

uint64_t Solve::sum_scanned() const {
  uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.scanned;
  return sum;
}

SolveResult Solve::result() {
  SolveResult result;
  {
    MutexLock lock(mutex_);
    result.status = *status_;
    result.failure = failure_;
  }
  result.residual = residual_;
  result.updates = sum_updates();
  result.evaluations = result.updates + sum_scanned();
  result.scans = scans_;
  result.rebuilds = rebuilds_.load(std::memory_order_relaxed);
  result.switches = switches_;
  result.workers = workers_.size();
  result.schedule = schedule().name();
  result.took_ns = setting_.clock.now_ns() - began_ns_;
  result.history = history_.points();
  trace(TraceKind::solve_finished, {setting_.number, static_cast<int64_t>(result.status), static_cast<int64_t>(result.updates),
                                    bits(result.residual), result.took_ns});
  return result;
}

void Solve::trace(TraceKind kind, std::initializer_list<int64_t> fields) {
  if (setting_.trace) setting_.trace->record(static_cast<uint16_t>(kind), fields);
}

}  // namespace posset::sched::fixpoint
