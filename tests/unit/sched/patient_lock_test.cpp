// A patient lock excludes like any other, and comes to its turn without being woken.
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "sched/base/patient_lock.h"

using namespace posset::sched;

TEST_CASE("patient lock: excludes patient and other holders") {
  Mutex mutex;
  int count = 0;
  auto add = [&](bool patient) {
    for (int i = 0; i < 20000; ++i) {
      if (patient) {
        PatientLock lock(mutex);
        ++count;
      } else {
        MutexLock lock(mutex);
        ++count;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(add, i % 2 == 0);
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 80000);
}

TEST_CASE("patient lock: waits for a holder that keeps the mutex for long") {
  Mutex mutex;
  bool had = false;
  std::thread other;
  {
    MutexLock lock(mutex);
    other = std::thread([&] {
      PatientLock patient(mutex);
      had = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK_FALSE(had);
  }
  other.join();
  CHECK(had);
}
