// See executors.h.
#include "sched/fiber/executors.h"

#include "sched/fiber/crew.h"

namespace posset::sched::fiber {

Executors::Executors(const Clock& clock, Config config, Trace* trace)
    : clock_(clock), crew_(std::make_unique<Crew>(clock, trace, std::move(config))) {}

Executors::~Executors() {
  const int64_t now_ns = clock_.now_ns();
  const int64_t left_ns = crew_->config().stop_ns;
  crew_->stop(left_ns > kNever - now_ns ? kNever : now_ns + left_ns);
  crew_->wait_unbound();
}

bool Executors::bind() { return crew_->bind(); }
bool Executors::unbind(int64_t deadline_ns) { return crew_->unbind(deadline_ns); }
void Executors::drop_waiting() { crew_->drop_waiting(); }
bool Executors::detach() { return crew_->detach(); }
bool Executors::attach() { return crew_->attach(); }
Scheduled Executors::hand_over(Task& task) { return crew_->schedule(task); }
bool Executors::is_idle(uint32_t worker) const { return crew_->is_idle(worker); }
bool Executors::claim(uint32_t worker) { return crew_->claim(worker); }
Scheduled Executors::schedule_on(uint32_t worker, Prepared task) { return crew_->schedule_on(worker, *task.release()); }
StopReport Executors::stop(int64_t deadline_ns) { return crew_->stop(deadline_ns); }
bool Executors::is_own_thread() const { return Worker::current_of(*crew_) != nullptr; }
int Executors::own_worker() const {
  const Worker* const worker = Worker::current_of(*crew_);
  return worker ? static_cast<int>(worker->number()) : -1;
}
std::vector<BlockedTask> Executors::blocked() const { return crew_->blocked(); }
Statistics Executors::statistics() const { return crew_->statistics(); }
std::string Executors::check() const { return crew_->check(); }

namespace this_fiber {

Wait yield_preempted() {
  Fiber* const fiber = Worker::current_fiber();
  if (!fiber) return Wait::Ok;
  fiber->about_to_wait();
  Worker::current()->preempt(*fiber);
  return fiber->cancelled() ? Wait::Cancelled : Wait::Ok;
}

void yield_preempted_regardless() {
  if (Fiber* const fiber = Worker::current_fiber()) Worker::current()->preempt(*fiber);
}

uint32_t others_ready() {
  const Worker* worker = Worker::current();
  return worker ? worker->ready() : 0;
}

Wait sleep_until(int64_t deadline_ns) {
  ThisParker parker;
  while (!(*parker).cancelled()) {
    if ((*parker).now_ns() >= deadline_ns) return Wait::Timeout;
    (*parker).park(deadline_ns, "a time");
  }
  return Wait::Cancelled;
}

bool cancelled() {
  const Fiber* fiber = Worker::current_fiber();
  return fiber && fiber->cancelled();
}

const char* stack_low() {
  const Fiber* fiber = Worker::current_fiber();
  return fiber ? fiber->context().stack_low() : nullptr;
}

int worker() {
  const Worker* worker = Worker::current();
  return worker ? static_cast<int>(worker->number()) : -1;
}

}  // namespace this_fiber

}  // namespace posset::sched::fiber
