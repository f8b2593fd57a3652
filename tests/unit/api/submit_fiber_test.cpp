// Submitted evaluations as fibers: one that waits, for its own tasks, for a time or for the host, leaves its thread to others, and
// nobody gets into its context meanwhile; one that computes gives those their turn that have begun.
#include <posset/submit.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <posset/posset.hpp>
#include <posset/suspend.h>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

using posset::test::text;
using posset::test::World;
using namespace std::chrono_literals;

namespace {

constexpr uint32_t kCounts[] = {1, 2, 4, 8};

posset_runtime_options with_threads(uint32_t threads) {
  posset_runtime_options options = posset_runtime_defaults();
  options.evaluation_threads = threads;
  options.queue_limit = 4096;
  options.quantum_us = 1000;
  return options;
}

// Where suspended calls wait for a test that completes them.
class Desk {
 public:
  static posset_status ask(posset_call* call) {
    posset_completion* completion = nullptr;
    if (const posset_status status = posset_suspend(call, &completion)) return status;
    static_cast<Desk*>(call->data)->put(completion);
    return POSSET_OK;
  }
  // Waits until so many calls wait.
  void await(size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(came_.wait_for(lock, 60s, [&] { return waiting_.size() >= count; }));
  }
  void complete_all(int64_t number) {
    std::vector<posset_completion*> all;
    {
      std::lock_guard lock(mutex_);
      all.swap(waiting_);
    }
    posset_datum datum = {};
    datum.kind = POSSET_INT;
    datum.of.integer = number;
    for (posset_completion* each : all) {
      posset_complete(each, &datum);
      posset_completion_free(each);
    }
  }
  ~Desk() { complete_all(0); }

 private:
  void put(posset_completion* completion) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(completion);
    came_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<posset_completion*> waiting_;
};

void define(posset_context* context, const char* name, posset_function function, void* data, bool may_yield = false) {
  posset_function_row row = {};
  row.name = name;
  row.signature = name;
  row.doc = "";
  row.max_arguments = POSSET_ANY_COUNT;
  row.data = data;
  row.function = function;
  row.may_yield = may_yield;
  REQUIRE(posset_define(context, &row, sizeof row, nullptr) == POSSET_OK);
}

using Host = std::function<posset_status(posset_call*)>;
posset_status call_host(posset_call* call) { return (*static_cast<Host*>(call->data))(call); }

// A context of a runtime that others have too, and its evaluation.
class Guest {
 public:
  explicit Guest(World& of) {
    REQUIRE(posset_context_create(posset_context_runtime(of.context), nullptr, &context) == POSSET_OK);
  }
  ~Guest() {
    posset_future_release(future);
    posset_context_release(context);
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  void submit(const std::string& source, double deadline = 0) {
    posset_submit_options options = posset_submit_defaults();
    options.deadline_seconds = deadline;
    posset_future_release(future);
    REQUIRE(posset_submit_eval(context, text(source), &options, &future) == POSSET_OK);
  }
  posset_progress progress() const { return posset_future_progress(future); }
  // The integer it gives; -1 when it fails.
  int64_t finish() {
    CHECK(posset_future_wait(future, 60));
    posset_value value = posset_nil();
    const posset_status status = posset_future_take(future, &value, nullptr);
    if (status == POSSET_RAISED) posset_error_free(posset_take_error(context));
    if (status != POSSET_OK) return -1;
    return posset_as_int(value);
  }
  // Its value, or the error's text.
  std::string shown() {
    CHECK(posset_future_wait(future, 60));
    posset_value value = posset_nil();
    posset_status status = posset_future_take(future, &value, nullptr);
    std::string out;
    if (status == POSSET_OK) {
      posset_print(context, value, true, posset::test::append, &out);
      posset_release(value);
      return out;
    }
    if (posset_error* error = status == POSSET_RAISED ? posset_take_error(context) : nullptr) {
      posset_error_render(error, false, posset::test::append, &out);
      posset_error_free(error);
    }
    return posset_status_text(status) + (": " + out);
  }
  // What it has raised.
  std::string error() {
    CHECK(posset_future_wait(future, 60));
    if (posset_future_take(future, nullptr, nullptr) != POSSET_RAISED) return "none";
    posset_error* error = posset_take_error(context);
    posset_error_info info = {};
    info.size = sizeof info;
    REQUIRE(posset_error_get(error, &info) == POSSET_OK);
    const std::string code = posset_code_name(info.code);
    posset_error_free(error);
    return code;
  }

  posset_context* context = nullptr;
  posset_future* future = nullptr;
};

using Guests = std::vector<std::unique_ptr<Guest>>;
Guests guests_of(World& world, int count) {
  Guests all;
  for (int i = 0; i < count; ++i) all.push_back(std::make_unique<Guest>(world));
  return all;
}

}  // namespace

TEST_CASE("submitted fibers: more evaluations wait at a time than there are threads") {
  for (uint32_t threads : kCounts) {
    CAPTURE(threads);
    constexpr int kGuests = 60;
    Desk desk;
    World w(posset_context_defaults(), with_threads(threads));
    const Guests guests = guests_of(w, kGuests);
    for (int i = 0; i < kGuests; ++i) {
      define(guests[i]->context, "ask", Desk::ask, &desk);
      guests[i]->submit("fn f(k) => ask() + k\nlet t = spawn f(1)\nask() + await t + " + std::to_string(i));
    }
    desk.await(2 * kGuests);  // of each the evaluation's own and its task's
    desk.complete_all(10);
    for (int i = 0; i < kGuests; ++i) CHECK(guests[i]->finish() == 21 + i);
  }
}

TEST_CASE("submitted fibers: what has been woken has its turn although another computes") {
  Desk desk;
  World w(posset_context_defaults(), with_threads(1));
  Guest waits(w), computes(w);
  define(waits.context, "ask", Desk::ask, &desk);
  waits.submit("ask() + 1");
  desk.await(1);
  computes.submit("while true {}");
  while (computes.progress() == POSSET_FUTURE_QUEUED) std::this_thread::sleep_for(100us);
  desk.complete_all(4);
  CHECK(waits.finish() == 5);
  CHECK(computes.progress() == POSSET_FUTURE_RUNNING);
  CHECK(posset_future_cancel(computes.future));
  CHECK(computes.error() == "Interrupted");
}

TEST_CASE("submitted fibers: sleeping is over in time although another computes") {
  World w(posset_context_defaults(), with_threads(1));
  Guest sleeps(w), computes(w);
  sleeps.submit("import \"task\"\ntask.sleep(0.02)\n6");
  while (sleeps.progress() == POSSET_FUTURE_QUEUED) std::this_thread::sleep_for(100us);
  computes.submit("while true {}");
  CHECK(sleeps.finish() == 6);
  CHECK(posset_future_cancel(computes.future));
  CHECK(computes.error() == "Interrupted");
}

TEST_CASE("submitted fibers: what waits to begin does not interrupt what computes, and what computes changes turns") {
  World w(posset_context_defaults(), with_threads(1));
  Guest first(w), second(w), third(w);
  Desk desk;
  std::atomic<bool> stop{false};
  std::atomic<int> calls[2] = {};
  Host stops[2];
  Guest* const both[2] = {&first, &second};
  for (int i = 0; i < 2; ++i) {
    stops[i] = [&, i](posset_call* call) {
      ++calls[i];
      return posset_return(call, posset_bool(stop));
    };
    define(both[i]->context, "ask", Desk::ask, &desk);
    define(both[i]->context, "stops", call_host, &stops[i]);
    both[i]->submit("ask()\nvar n = 0\nwhile not stops() { n += 1 }\n3");
  }
  desk.await(2);
  desk.complete_all(0);
  for (const auto& each : calls) {
    while (each == 0) std::this_thread::sleep_for(100us);  // neither ends: they take turns
  }
  third.submit("7");
  for (const auto& each : calls) {
    const int before = each;
    while (each < before + 3) std::this_thread::sleep_for(100us);
  }
  CHECK(third.progress() == POSSET_FUTURE_QUEUED);
  stop = true;
  CHECK(first.finish() == 3);
  CHECK(second.finish() == 3);
  CHECK(third.finish() == 7);
}

TEST_CASE("submitted fibers regression: one that was to stop waited for the turns of all that computed") {
  posset_runtime_options options = with_threads(1);
  options.quantum_us = 10'000'000;
  World w(posset_context_defaults(), options);
  Desk desk;
  constexpr int kGuests = 12;
  Guests guests = guests_of(w, kGuests);
  std::atomic<int> computing{0};
  Host begins = [&](posset_call*) {
    ++computing;
    return POSSET_OK;
  };
  for (auto& guest : guests) {
    define(guest->context, "ask", Desk::ask, &desk);
    define(guest->context, "begins", call_host, &begins);
    guest->submit("ask()\nbegins()\nwhile true { }");
  }
  desk.await(kGuests);
  desk.complete_all(1);
  while (computing == 0) std::this_thread::sleep_for(100us);
  // One computes for ten seconds, then the next: the last would be told after nearly two minutes.
  for (int i = kGuests; i-- > 0;) {
    posset_interrupt(guests[i]->context);
    REQUIRE(guests[i]->error() == "Interrupted");
  }
}

TEST_CASE("submitted fibers: the context of one that waits is nobody's, its own thread's neither") {
  Desk desk;
  World w(posset_context_defaults(), with_threads(1));
  Guest waits(w), visits(w);
  define(waits.context, "ask", Desk::ask, &desk);
  waits.submit("ask() + 1");
  desk.await(1);
  std::atomic<posset_status> evaluated{POSSET_OK}, submitted{POSSET_OK};
  Host visit = [&](posset_call* call) {
    posset_value value = posset_nil();
    evaluated = posset_eval(waits.context, text("1"), &value, nullptr);
    submitted = posset_submit_eval(waits.context, text("1"), nullptr, nullptr);
    return posset_return(call, posset_bool(true));
  };
  define(visits.context, "visit", call_host, &visit);
  visits.submit("if visit() { 2 } else { 3 }");
  CHECK(visits.finish() == 2);
  CHECK(evaluated == POSSET_BUSY);
  CHECK(submitted == POSSET_BUSY);
  desk.complete_all(1);
  CHECK(waits.finish() == 2);
}

TEST_CASE("submitted fibers: where a function of the host has called back the thread is kept") {
  Desk desk;
  World w(posset_context_defaults(), with_threads(1));
  Guest calls(w), other(w);
  std::mutex of_host;
  std::atomic<bool> held{false};
  Host locked = [&](posset_call* call) {
    std::lock_guard lock(of_host);
    held = true;
    posset_value result = posset_nil();
    const posset_status status = posset_invoke(call->context, posset_argument(call, 0), nullptr, 0, &result);
    held = false;
    if (status != POSSET_OK) return status;
    const int64_t number = posset_as_int(result);
    posset_release(result);
    return posset_return(call, posset_int(number));
  };
  Host other_locked = [&](posset_call* call) {
    std::lock_guard lock(of_host);
    return posset_return(call, posset_bool(held));
  };
  define(calls.context, "ask", Desk::ask, &desk);
  define(calls.context, "locked", call_host, &locked);
  define(other.context, "locked", call_host, &other_locked);
  calls.submit("locked(() => ask() + 1)");
  desk.await(1);
  other.submit("if locked() { 1 } else { 0 }");
  std::this_thread::sleep_for(5ms);
  CHECK(other.progress() == POSSET_FUTURE_QUEUED);
  desk.complete_all(8);
  CHECK(calls.finish() == 9);
  CHECK(other.finish() == 0);
}

namespace {

// Calls its first argument, and gives what that gives.
posset_status through(posset_call* call) {
  return posset_invoke(call->context, posset_argument(call, 0), nullptr, 0, &call->result);
}

// Whether another evaluation on the only thread ends within so long while `source` waits for the desk.
bool other_ends(const std::string& source, int64_t result, double seconds) {
  Desk desk;
  World w(posset_context_defaults(), with_threads(1));
  Guest waits(w), other(w);
  define(waits.context, "ask", Desk::ask, &desk);
  define(waits.context, "keeps", through, nullptr);
  define(waits.context, "yields", through, nullptr, true);
  waits.submit(source);
  desk.await(1);
  other.submit("7");
  const bool ends = posset_future_wait(other.future, seconds);
  desk.complete_all(8);
  CHECK(waits.finish() == result);
  CHECK(other.finish() == 7);
  return ends;
}

bool lets_go_on(const std::string& source, int64_t result) { return other_ends(source, result, 60); }  // however slow the machine is
bool keeps_thread(const std::string& source, int64_t result) { return !other_ends(source, result, 0.02); }

}  // namespace

TEST_CASE("submitted fibers: where a function of the host that may yield has called back the thread goes on") {
  CHECK(lets_go_on("yields(() => ask() + 1)", 9));
  CHECK(lets_go_on("yields(() => yields(() => ask()))", 8));
  CHECK(lets_go_on("let a = keeps(() => 1)\nyields(() => ask() + a)", 9));
  CHECK(lets_go_on("let t = spawn yields(() => ask())\nawait t", 8));
  CHECK(lets_go_on("yields(() => 0) + ask()", 8));
  // What another function has begun keeps it, wherever that is.
  CHECK(keeps_thread("keeps(() => ask())", 8));
  CHECK(keeps_thread("yields(() => keeps(() => ask()))", 8));
  CHECK(keeps_thread("keeps(() => yields(() => ask()))", 8));
  CHECK(keeps_thread("let a = yields(() => 1)\nkeeps(() => ask() + a)", 9));
  CHECK(keeps_thread("let a = try { yields(() => throw 1) } catch e { 1 }\nkeeps(() => ask() + a)", 9));
  CHECK(keeps_thread("fn both() { let t = spawn yields(() => ask())\n keeps(() => await t) }\nboth()", 8));
}

TEST_CASE("submitted fibers: what computes below a function of the host that may yield gives turns") {
  World w(posset_context_defaults(), with_threads(1));
  Guest computes(w), other(w);
  Desk desk;
  define(other.context, "ask", Desk::ask, &desk);
  other.submit("ask() + 1");
  desk.await(1);
  std::atomic<bool> has_begun{false};
  Host begins = [&](posset_call*) {
    has_begun = true;
    return POSSET_OK;
  };
  define(computes.context, "begins", call_host, &begins);
  define(computes.context, "yields", through, nullptr, true);
  computes.submit("yields(() => { begins()\n while true { } })");
  while (!has_begun) std::this_thread::sleep_for(100us);
  desk.complete_all(6);
  CHECK(other.finish() == 7);
  posset_interrupt(computes.context);
  CHECK(computes.error() == "Interrupted");
}

TEST_CASE("submitted fibers: functions of the library that call a script's function let the thread go on") {
  posset::Runtime runtime({.evaluation_threads = 1});
  posset::Context waits(runtime), other(runtime);
  Desk desk;
  define(waits.handle(), "ask", Desk::ask, &desk);
  auto asking = runtime.submit<int>(waits, "import \"maps\"\nmaps.update([\"a\": 1], \"a\", (k, v) => v + ask())[\"a\"]");
  desk.await(1);
  CHECK(runtime.submit<int>(other, "7").get() == 7);
  desk.complete_all(8);
  CHECK(asking.get() == 9);
}

TEST_CASE("C++ layer: functions and methods that may yield, pure ones too") {
  struct Twice {
    int call(posset::Function<int()> f) { return 2 * f(); }
  };
  posset::Runtime runtime({.evaluation_threads = 1});
  posset::Type<Twice> type("Twice");
  type.method("call", posset::may_yield(&Twice::call));
  runtime.define(std::move(type));
  posset::Context waits(runtime), other(runtime);
  Desk desk;
  define(waits.handle(), "ask", Desk::ask, &desk);
  Twice twice;
  const auto loan = waits.lend(twice);
  waits.set("twice", loan.value());
  waits.define("thrice", posset::pure(posset::may_yield([](posset::Function<int()> f) { return 3 * f(); })));
  for (const char* source : {"twice.call(ask)", "thrice(ask) - 1"}) {
    auto asking = runtime.submit<int>(waits, source);
    desk.await(1);
    CHECK(runtime.submit<int>(other, "7").get() == 7);
    desk.complete_all(source[1] == 'w' ? 4 : 3);
    CHECK(asking.get() == 8);
  }
}

namespace {

posset_context* interrupted_by_handler = nullptr;

}  // namespace

TEST_CASE("submitted fibers: what waits is interrupted from a signal handler, by its deadline, and by cancelling") {
  Desk desk;
  World w(posset_context_defaults(), with_threads(1));
  Guest one(w), two(w), three(w);
  for (Guest* each : {&one, &two, &three}) define(each->context, "ask", Desk::ask, &desk);
  one.submit("ask()");
  three.submit("ask()");
  desk.await(2);
  two.submit("ask()", 0.05);  // on a busy machine that may come before it begins
  interrupted_by_handler = one.context;
  auto* const before = std::signal(SIGUSR2, [](int) { posset_interrupt(interrupted_by_handler); });
  std::raise(SIGUSR2);
  std::signal(SIGUSR2, before);
  CHECK(one.error() == "Interrupted");
  CHECK(two.error() == "TimeLimit");
  CHECK(posset_future_cancel(three.future));
  CHECK(three.error() == "Interrupted");
  desk.complete_all(0);  // that nobody waits for
  one.submit("2");
  CHECK(one.finish() == 2);
}

TEST_CASE("submitted fibers: tasks and channels of many contexts on few threads") {
  const std::string program =
      "import \"task\"\nfn produce(c, n) { for i in 0..n { c.send(i)\nif i % 7 == 0 { task.sleep(0.0001) } }\nc.close() }\n"
      "fn total(n) { let c = chan(2)\nspawn produce(c, 40)\nvar s = n\nfor x in c { s += x }\ns }\n";
  for (uint32_t threads : kCounts) {
    CAPTURE(threads);
    constexpr int kGuests = 24, kRounds = 3;
    World w(posset_context_defaults(), with_threads(threads));
    const Guests guests = guests_of(w, kGuests);
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kGuests; ++i) guests[i]->submit(program + "total(" + std::to_string(i) + ")");
      for (int i = 0; i < kGuests; ++i) CHECK(guests[i]->shown() == std::to_string(780 + i));
    }
  }
}

TEST_CASE("submitted fibers: automatic parallelism inside of those that take turns") {
  posset_runtime_options options = with_threads(2);
  options.workers = 3;
  options.quantum_us = 50;
  World w(posset_context_defaults(), options);
  constexpr int kGuests = 12;
  const Guests guests = guests_of(w, kGuests);
  for (int i = 0; i < kGuests; ++i) {
    guests[i]->submit(
        "import \"task\"\nfn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\n"
        "let xs = list(0..2000)\nfn part(xs, a, b) => if b - a < 9 { sum(xs[a..b]) } else { part(xs, a, (a + b) // 2) + part(xs, (a + b) // 2, b) }\n"
        "let t = spawn fib(17)\ntask.sleep(0.001)\nlet a = fib(19) + part(xs, 0, 2000)\ntask.sleep(0.001)\na + part(xs, 0, 2000) + await t");
  }
  for (int i = 0; i < kGuests; ++i) CHECK(guests[i]->finish() == 4181 + 2 * 1999000 + 1597);
}

TEST_CASE("submitted fibers: those that wait are spread over all threads") {
  constexpr int kThreads = 4;
  Desk desk;
  World w(posset_context_defaults(), with_threads(kThreads));
  const Guests guests = guests_of(w, kThreads);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  Host note = [&](posset_call*) {
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return POSSET_OK;
  };
  for (int i = 0; i < kThreads; ++i) {
    define(guests[i]->context, "ask", Desk::ask, &desk);
    define(guests[i]->context, "note", call_host, &note);
    guests[i]->submit("note()\nask()");
    desk.await(static_cast<size_t>(i) + 1);  // by now its thread has nothing to do
  }
  CHECK(threads.size() == kThreads);
  desk.complete_all(1);
  for (const auto& each : guests) CHECK(each->finish() == 1);
}

TEST_CASE("submitted fibers regression: a task that outlived the call ended outside of any evaluation") {
  World w(posset_context_defaults(), with_threads(1));
  Guest guest(w), other(w);
  Desk desk;
  Host back = [](posset_call* call) {
    posset_value result = posset_nil();
    const posset_status status = posset_invoke(call->context, posset_argument(call, 0), nullptr, 0, &result);
    return status == POSSET_OK ? posset_return(call, result) : status;
  };
  define(guest.context, "ask", Desk::ask, &desk);
  define(guest.context, "back", call_host, &back);
  guest.submit("import \"task\"\nfn g(r) { task.sleep(0.001)\nr.value = back(() => ask() + 1) + back(() => 30) }\n"
               "fn f(r) { spawn g(r)\n1 }\nlet r = ref(0)\nf(r)");
  desk.await(1);
  other.submit("5");
  std::this_thread::sleep_for(2ms);
  CHECK(other.progress() == POSSET_FUTURE_QUEUED);  // pinned
  desk.complete_all(4);
  CHECK(guest.finish() == 1);
  CHECK(other.finish() == 5);
  // What nobody awaits fails the evaluation, as it does on the host's thread.
  const std::string fails = "fn g() { throw \"unheard\" }\nfn f() { spawn g()\n1 }\nf()";
  CHECK(w.show(fails) == "raised: unheard");
  guest.submit(fails);
  CHECK(guest.error() == "Thrown");
}

TEST_CASE("submitted fibers: the last release of a context ends what waits in it") {
  for (int i = 0; i < 20; ++i) {
    Desk desk;
    World w(posset_context_defaults(), with_threads(2));
    Guests guests = guests_of(w, 8);
    for (const auto& each : guests) {
      define(each->context, "ask", Desk::ask, &desk);
      each->submit("let t = spawn ask()\nask()");
    }
    if (i % 2 == 0) desk.await(16);
    for (const auto& each : guests) posset_future_release(std::exchange(each->future, nullptr));
    guests.clear();
  }
}

TEST_CASE("submitted fibers: interrupting, completing and cancelling race") {
  World w(posset_context_defaults(), with_threads(3));
  Desk desk;
  constexpr int kGuests = 12, kRounds = 25;
  const Guests guests = guests_of(w, kGuests);
  for (const auto& each : guests) define(each->context, "ask", Desk::ask, &desk);
  std::atomic<bool> ends{false};
  std::thread completes([&] {
    while (!ends) {
      desk.complete_all(1);
      std::this_thread::sleep_for(200us);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& each : guests) each->submit("import \"task\"\nvar s = 0\nfor i in 0..5 { s += ask()\ntask.sleep(0.0002) }\ns");
    for (int i = 0; i < kGuests; i += 3) posset_interrupt(guests[i]->context);
    for (int i = 1; i < kGuests; i += 3) posset_future_cancel(guests[i]->future);
    for (int i = 0; i < kGuests; ++i) {
      const int64_t result = guests[i]->finish();
      CHECK((result == 5 || (i % 3 != 2 && result == -1)));
    }
  }
  ends = true;
  completes.join();
}
