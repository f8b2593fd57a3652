// A thread that was made to begin elsewhere may go wherever its maker may; where it begins is the system's affair.
#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "sched/base/start.h"

#ifdef __linux__

using namespace posset::sched;

namespace {

// The processors that a thread made by this one may use after all; it lives until it has been asked.
cpu_set_t allowed_to_new_thread() {
  std::atomic<bool> asked{false};
  std::thread thread([&asked] { asked.wait(false); });
  begin_elsewhere(thread);
  cpu_set_t allowed;
  CHECK(pthread_getaffinity_np(thread.native_handle(), sizeof allowed, &allowed) == 0);
  asked.store(true);
  asked.notify_one();
  thread.join();
  return allowed;
}

}  // namespace

TEST_CASE("start: a thread that begins elsewhere may go wherever its maker may, and its maker too") {
  cpu_set_t before, after;
  REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof before, &before) == 0);
  for (int i = 0; i < 100; ++i) {
    const cpu_set_t made = allowed_to_new_thread();
    CHECK(CPU_EQUAL(&made, &before));
  }
  REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&after, &before));
}

TEST_CASE("start: where there is one processor only, the thread begins on that") {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    REQUIRE(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
    const cpu_set_t made = allowed_to_new_thread();
    CHECK(CPU_EQUAL(&made, &one));
  }).join();
}

#endif
