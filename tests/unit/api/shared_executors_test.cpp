// One set of executors for evaluations that were submitted and for the parts of pure work that they hand over: how many threads
// that takes, and what runs on a thread while what is on it waits for a part.
#include <posset/posset.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using posset::Context;
using posset::Future;
using posset::Runtime;
using posset::RuntimeOptions;

namespace {

// With short quanta, so that whatever takes a moment is shared.
RuntimeOptions with(uint32_t workers, uint32_t evaluating) {
  RuntimeOptions options;
  options.workers = workers;
  options.evaluation_threads = evaluating;
  options.quantum_us = 50;
  options.max_tier = 0;  // no threads that compile
  return options;
}

int threads_of_process() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int count = 0;
    if (word == "Threads:" && status >> count) return count;
  }
  return 0;
}

constexpr const char* kFib = "fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\n";

}  // namespace

TEST_CASE("shared executors: evaluations and the parts they share have no more threads than there are executors") {
  constexpr int kContexts = 6;
  const int before = threads_of_process();
  Runtime runtime(with(2, 2));
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<Future<int64_t>> futures;
  for (int i = 0; i < kContexts; ++i) {
    contexts.push_back(std::make_unique<Context>(runtime));
    futures.push_back(contexts.back()->submit<int64_t>(kFib + std::string("fib(") + std::to_string(16 + i % 3) + ")"));
  }
  int most = 0;
  for (int i = 0; i < kContexts; ++i) {
    while (!futures[static_cast<size_t>(i)].wait_for(std::chrono::milliseconds(1))) most = std::max(most, threads_of_process());
    CHECK(futures[static_cast<size_t>(i)].get() == (i % 3 == 0 ? 987 : i % 3 == 1 ? 1597 : 2584));
  }
  CHECK(most <= before + 2);
  CHECK(threads_of_process() <= before + 2);
}

TEST_CASE("shared executors: an evaluation that waits for a part leaves its thread to others") {
  std::atomic<bool> open{false}, inside{false};
  Runtime runtime(with(2, 1));
  Context waits(runtime), other(runtime);
  std::atomic<std::thread::id> evaluating{};
  waits.define("on_its_thread", [&] { evaluating.store(std::this_thread::get_id()); });
  // By whoever computes the part: where nobody took it, it is not waited for, and it is tried again.
  waits.define("hold", posset::pure([&](int64_t n) {
                 if (std::this_thread::get_id() == evaluating.load()) return n;
                 inside.store(true);
                 while (!open.load()) std::this_thread::yield();
                 return n + 1;
               }));
  for (int64_t result = 0; result != 6767;) {
    inside.store(false);
    open.store(false);
    Future<int64_t> future = waits.submit<int64_t>(kFib + std::string("on_its_thread()\nfn both(n) => fib(n) + hold(n - 19)\nboth(20)"));
    while (!inside.load() && !future.wait_for(std::chrono::milliseconds(1))) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(inside.load() ? 50 : 0));  // until it waits
    if (inside.load()) CHECK(other.submit<int64_t>("fn f(n) => if n == 0 { 7 } else { f(n - 1) }\nf(1000)").get() == 7);
    open.store(true);
    result = future.get();
    CHECK((result == 6766 || result == 6767));
  }
}

TEST_CASE("shared executors: an evaluation begins although all threads compute parts of another") {
  Runtime runtime(with(3, 3));
  Context host(runtime), submitted(runtime);
  std::atomic<bool> ended{false};
  // On this thread, with two helpers, for as long as the other takes.
  host.define("goes_on", posset::pure([&](int64_t) { return !ended.load(); }));
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) CHECK(submitted.submit<int64_t>(kFib + std::string("fib(12)")).get() == 144);
    ended.store(true);
  });
  const auto rounds = host.eval<int64_t>(kFib + std::string("var rounds = 0\nwhile goes_on(rounds) {\n  fib(15)\n  rounds += 1\n}\nrounds"));
  other.join();
  CHECK(rounds >= 0);
}

TEST_CASE("shared executors regression: who sleeps wakes beside a part that takes long") {
  Runtime runtime(with(2, 2));
  Context host(runtime), first(runtime), second(runtime);
  std::atomic<int> begun{0}, woken{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  // Where one of them cannot wake it ends nevertheless.
  host.define("goes_on", posset::pure([&](int64_t) { return woken.load() < 2 && std::chrono::steady_clock::now() < deadline; }));
  std::vector<Future<int64_t>> futures;
  for (Context* each : {&first, &second}) {
    each->define("begins", [&] { ++begun; });
    each->define("wakes", [&] { ++woken; });
    futures.push_back(each->submit<int64_t>("import \"task\"\nbegins()\ntask.sleep(0.2)\nwakes()\n1"));
  }
  while (begun.load() < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  // On this thread, and beside one of those that sleep.
  const char* const source = "fn spin(n) => if goes_on(n) { spin(n + 1) } else { 1 }\nfn both(n) => spin(n) + spin(n + 1)\nboth(0)";
  CHECK(host.eval<int64_t>(source) == 2);
  CHECK(woken.load() == 2);
  for (Future<int64_t>& each : futures) CHECK(each.get() == 1);
}

TEST_CASE("shared executors regression: solves that share threads go on in their own contexts") {
  constexpr int kContexts = 4, kRounds = 40;
  Runtime runtime(with(3, 3));
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<Future<int64_t>> futures;
  for (int i = 0; i < kContexts; ++i) {
    contexts.push_back(std::make_unique<Context>(runtime));
    // What an update makes is of the context it runs in, and so is the constant it adds.
    const std::string source =
        "import \"fixpoint\"\nlet c = " + std::to_string(i + 1) +
        ".0\nfn ring(i, x) => 0.5 * x[(i + 1) % 100] + sum([for k in 0..8 => c]) / 8.0\n"
        "var wrong = 0\nvar shared = 0\nfor round in 0.." + std::to_string(kRounds) +
        " {\n  let r = fixpoint.solve(100, ring, {workers: 3, tolerance: 1e-10})\n"
        "  if not (r.converged and all(r.x, v => abs(v - 2.0 * c) < 1e-8)) { wrong += 1 }\n  if r.workers > 1 { shared += 1 }\n}\n"
        "1000 * wrong + shared";
    futures.push_back(contexts.back()->submit<int64_t>(source));
  }
  int64_t shared = 0;
  for (Future<int64_t>& each : futures) {
    const int64_t told = each.get();
    CHECK(told < 1000);
    shared += told;
  }
  CHECK(shared > 0);
}
