// What waits has a stack, of which a process can have only so many: what there is none for waits until there is one, and is told
// apart from what waits for something else.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <posset/posset.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../sanitized.h"
#include "../scarce_stacks.h"
#include "fixture.h"

using posset::sched::StackArea;
using posset::test::ScarceStacks;
using namespace std::chrono_literals;

namespace {

// Tasks that say that they have begun, and then wait each for itself.
constexpr const char* kWaiting =
    "fn waits(c, begun) { begun.send(1)\nc.recv() }\n"
    "fn many(n) { let begun = chan(n)\nlet channels = [for i in 0..n => chan(0)]\n"
    "let tasks = [for c in channels => spawn waits(c, begun)]\n";

// Calls of scripts that wait until they are completed.
class Desk {
 public:
  void put(posset::Completion completion) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(completion));
    came_.notify_all();
  }
  void await(size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(came_.wait_for(lock, 60s, [&] { return waiting_.size() >= count; }));
  }
  // How many there were.
  size_t complete_all() {
    std::vector<posset::Completion> all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(waiting_);
    }
    for (const posset::Completion& each : all) each.complete(1);
    return all.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<posset::Completion> waiting_;
};

// Takes what can be had.
std::vector<StackArea> all_there_are(StackArea::Use use) {
  std::vector<StackArea> all;
  do {
    all.emplace_back(size_t{256} << 10, StackArea::Grows::Down, use);
  } while (all.back().memory());
  all.pop_back();
  return all;
}

// A context whose scripts `ask` the desk.
posset::Context asking(const posset::Runtime& runtime, Desk& desk) {
  posset::Context context(runtime);
  context.define("ask", posset::suspending([&desk](posset::Completion completion) { desk.put(std::move(completion)); }));
  return context;
}

}  // namespace

TEST_CASE("scarce stacks: twenty thousand tasks wait at a time, also where a guard page takes mappings") {
  posset::Runtime runtime;
  for (bool guards_by_mapping : {false, true}) {
    CAPTURE(guards_by_mapping);
    posset::Context context(runtime);
    posset::sched::StackMappings::set_guards_by_mapping(guards_by_mapping);
    const std::string source = std::string(kWaiting) + "for i in 0..n { begun.recv() }\nfor i in 0..n { channels[i].send(i) }\n"
                                                       "sum([for t in tasks => await t]) }\n";
    if (posset::test::kSanitized) {
      CHECK(context.eval<int>(source + "many(1000)") == 499'500);  // the thread sanitizer knows no more fibers
    } else {
      CHECK(context.eval<int>(source + "many(20000)") == 199'990'000);
    }
    posset::sched::StackMappings::set_guards_by_mapping(false);
  }
}

TEST_CASE("scarce stacks regression: tasks without a stack were counted among those that wait for something") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  const std::string source = std::string(kWaiting) + "for i in 0..n { begun.recv() }\nfor c in channels { c.send(1) }\n"
                                                     "for t in tasks { await t } }\nmany(1000)";
  ScarceStacks scarce(200);
  const auto result = context.try_eval(source);
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == POSSET_ERROR_Deadlock);
  const std::string message = result.error().message();
  CHECK_MESSAGE(message.find("there is no stack for the other ") != std::string::npos, message);
  CHECK_MESSAGE(message.find("every task") == std::string::npos, message);
  scarce.end();
  context.eval(source);
}

TEST_CASE("scarce stacks: tasks that end make room for those that could not begin") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  const ScarceStacks scarce(200);
  context.eval(std::string(kWaiting) + "for c in channels { c.send(1) }\nfor t in tasks { await t } }\nmany(1000)");
}

TEST_CASE("scarce stacks regression: a submitted evaluation failed, or its end spun, where others had the stacks of its tasks") {
  posset::RuntimeOptions options;
  options.queue_limit = 200;
  options.evaluation_threads = 2;
  posset::Runtime runtime(options);
  Desk desk;
  std::vector<posset::Context> contexts;
  for (int i = 0; i < 100; ++i) contexts.push_back(asking(runtime, desk));
  const ScarceStacks scarce(100);
  std::vector<posset::Future<int>> futures;
  // All that begin wait; then each wants a stack more.
  for (posset::Context& each : contexts) futures.push_back(each.submit<int>("ask()\nfn f() => ask()\nlet t = spawn f()\nawait t"));
  const auto is_done = [](const posset::Future<int>& each) { return each.wait_for(0s); };
  desk.await(1);
  while (!all_there_are(StackArea::Use::Begins).empty()) std::this_thread::sleep_for(1ms);
  while (!std::all_of(futures.begin(), futures.end(), is_done)) {
    if (desk.complete_all() == 0) std::this_thread::sleep_for(1ms);
  }
  for (posset::Future<int>& each : futures) CHECK(each.get() == 1);
}

TEST_CASE("scarce stacks regression: an evaluation ended for ever whose tasks had no stack at all") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  const ScarceStacks scarce(60);
  const std::vector<StackArea> all = all_there_are(StackArea::Use::GoesOn);
  const auto result = context.try_eval("fn f() => 1\nlet tasks = [for i in 0..10 => spawn f()]\nawait tasks[0]");
  REQUIRE_FALSE(result);
  const std::string message = result.error().message();
  CHECK_MESSAGE(message.find("and so do 0 tasks; there is no stack for the other 10") != std::string::npos, message);
}

TEST_CASE("scarce stacks regression: a submitted evaluation failed without a stack, in place of waiting for one") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  const ScarceStacks scarce(60);
  std::vector<StackArea> all = all_there_are(StackArea::Use::GoesOn);
  auto future = context.submit<int>("1 + 1");
  CHECK_FALSE(future.wait_for(20ms));
  all.clear();
  CHECK(future.get() == 2);
}

TEST_CASE("scarce stacks regression: what was interrupted waited for a stack, so that it could be cancelled") {
  posset::RuntimeOptions options;
  options.evaluation_threads = 1;
  posset::Runtime runtime(options);
  Desk desk;
  posset::Context has = asking(runtime, desk), waits = asking(runtime, desk);
  ScarceStacks scarce(60);
  // Takes all there are, and keeps them.
  auto hog = has.submit<int>("fn f() => ask()\nlet tasks = [for i in 0..100 => spawn f()]\nask()");
  while (!all_there_are(StackArea::Use::Begins).empty()) std::this_thread::sleep_for(1ms);
  std::atomic<bool> ended{false};
  std::thread interrupts([&] {
    for (; !ended; std::this_thread::sleep_for(1ms)) posset_interrupt(waits.handle());
  });
  const auto result = waits.try_eval("fn f() => 1\nlet tasks = [for i in 0..100 => spawn f()]\nask()");
  ended = true;
  interrupts.join();
  REQUIRE_FALSE(result);
  CHECK(result.error().is_interrupt());
  scarce.end();
  while (!hog.wait_for(0s)) {
    if (desk.complete_all() == 0) std::this_thread::sleep_for(1ms);
  }
  CHECK(hog.get() == 1);
}
