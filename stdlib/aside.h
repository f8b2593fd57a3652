// What another library does at once and nobody can interrupt, on a thread of its own, while who waits for it looks at limits
// and interruptions. When one of them acts the work is abandoned: it goes on until it ends by itself, so it owns all that
// it uses. There is at most one that is abandoned: who begins something else waits for it, and so does the end.
#pragma once

#include <posset/posset.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace posset::stdlib {

// For one thread at a time, and for tasks that take turns on it.
class Aside {
 public:
  // Anything but POSSET_OK: a limit or an interruption, and `work` has not ended, or has not begun. Throws what it throws.
  posset_status run(posset_context* context, std::function<void()> work);

 private:
  struct Job {
    explicit Job(std::function<void()> what) : work(std::move(what)) {}
    ~Job() {
      if (thread.joinable()) thread.join();
    }
    std::function<void()> work;
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;          // under mutex
    std::exception_ptr thrown;  // by the work; likewise
    std::thread thread;
  };
  static posset_status wait(posset_context* context, Job& job);
  std::list<std::shared_ptr<Job>> abandoned_;
};

}  // namespace posset::stdlib
