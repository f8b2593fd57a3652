// Threads for what cannot be interrupted. The thread knows its job by address alone: whoever gives up the last reference waits
// for it, and that is never the thread itself.
#include "stdlib/aside.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "stdlib/support.h"

namespace posset::stdlib {

posset_status Aside::wait(posset_context* context, Job& job) {
  constexpr auto kBetweenLooks = std::chrono::microseconds(500);
  std::unique_lock lock(job.mutex);
  while (!job.done && !job.ended.wait_for(lock, kBetweenLooks, [&] { return job.done; })) {
    lock.unlock();
    POSSET_TRY(posset_poll(context));  // other tasks may run meanwhile
    lock.lock();
  }
  return POSSET_OK;
}

posset_status Aside::run(posset_context* context, std::function<void()> work) {
  while (!abandoned_.empty()) {
    const std::shared_ptr<Job> before = abandoned_.front();
    POSSET_TRY(wait(context, *before));
    abandoned_.remove(before);
  }
  const auto job = std::make_shared<Job>(std::move(work));
  try {
    job->thread = std::thread([job = job.get()] {
      std::exception_ptr thrown;
      try {
        job->work();
      } catch (...) {
        thrown = std::current_exception();
      }
      const std::lock_guard lock(job->mutex);
      job->thrown = thrown;
      job->done = true;
      job->ended.notify_all();
    });
  } catch (const std::system_error&) {  // no more threads
    job->work();
    return POSSET_OK;
  }
  const posset_status status = wait(context, *job);
  if (status != POSSET_OK) abandoned_.push_back(job);
  if (status == POSSET_OK && job->thrown) std::rethrow_exception(job->thrown);
  return status;
}

}  // namespace posset::stdlib
