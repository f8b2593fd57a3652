// Calls of the host that end later, include/posset/suspend.h: who waits, what each way of completing gives, what becomes
// of a call that nobody completes or that nobody waits for, and event loops on the thread that evaluates.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "fixture.h"

using posset::test::Problem;
using posset::test::text;
using posset::test::World;

namespace {

using namespace std::chrono_literals;

// The calls that wait for the host, in the order they came. Any thread.
struct Desk {
  struct Request {
    int64_t number;
    posset_completion* completion;
  };

  void put(Request request) {
    std::lock_guard lock(mutex);
    requests.push_back(request);
    came.notify_one();
  }
  Request take() {
    std::unique_lock lock(mutex);
    REQUIRE(came.wait_for(lock, 60s, [&] { return !requests.empty(); }));
    const Request request = requests.front();
    requests.pop_front();
    return request;
  }
  bool empty() {
    std::lock_guard lock(mutex);
    return requests.empty();
  }

  std::mutex mutex;
  std::condition_variable came;
  std::deque<Request> requests;
};

posset_datum datum_of(int64_t number) {
  posset_datum datum = {};
  datum.kind = POSSET_INT;
  datum.of.integer = number;
  return datum;
}

posset_status complete(posset_completion* completion, int64_t number) {
  const posset_datum datum = datum_of(number);
  return posset_complete(completion, &datum);
}

// ask(n): puts its completion on the desk.
posset_status ask(posset_call* call) {
  int64_t number = 0;
  if (posset_want_int(call, 0, &number)) return POSSET_RAISED;
  posset_completion* completion = nullptr;
  if (const posset_status status = posset_suspend(call, &completion)) return status;
  static_cast<Desk*>(call->data)->put({number, completion});
  return POSSET_OK;
}

void define(World& w, const char* name, posset_function function, void* data, bool pure = false) {
  posset_function_row row = {};
  row.name = name;
  const std::string signature = std::string(name) + "(n)";
  row.signature = signature.c_str();
  row.doc = "";
  row.min_arguments = row.max_arguments = 1;
  row.pure = pure;
  row.function = function;
  row.data = data;
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
}

// Answers so many requests with twice their number, the last first where they come in groups.
std::thread answering(Desk& desk, int count, int group = 1) {
  return std::thread([&desk, count, group] {
    for (int done = 0; done < count; done += group) {
      std::vector<Desk::Request> requests;
      for (int i = 0; i < group; ++i) requests.push_back(desk.take());
      while (!requests.empty()) {
        CHECK(complete(requests.back().completion, 2 * requests.back().number) == POSSET_OK);
        posset_completion_free(requests.back().completion);
        requests.pop_back();
      }
    }
  });
}

void still_works(World& w) { CHECK(w.show("fn f(x) => x + 1\nlet t = spawn f(1)\nawait t + await t") == "4"); }

// With a longer time each time, until `attempt(seconds)` says that it was enough to come as far as to ask: on a busy machine a
// short one is over before.
template <class Attempt>
void with_enough_time(Attempt&& attempt) {
  for (double seconds = 0.05; !attempt(seconds); seconds *= 2) REQUIRE(seconds < 60);
}

}  // namespace

// ---- who waits ----

TEST_CASE("host calls that suspend: the evaluation waits when it is all there is") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  std::thread other = answering(desk, 3);
  CHECK(w.show("ask(1) + ask(20)") == "42");
  CHECK(w.show("ask(4)") == "8");
  other.join();
  still_works(w);
}

TEST_CASE("host calls that suspend: tasks wait beside each other, and others go on meanwhile") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  std::thread other = answering(desk, 8, 4);  // four are out at a time: none blocks the thread of the others
  CHECK(w.show("fn two(n) => ask(n) + ask(n)\n"
               "let ts = map([1, 2, 3, 4], (n) => spawn two(n))\n"
               "sum(map(ts, (t) => await t))") == "40");
  other.join();
  std::thread late = answering(desk, 2, 2);  // not before both have asked
  CHECK(w.show("import \"task\"\nlet log = ref([])\n"
               "fn slow() { log.value.push(ask(1)) }\nfn quick() {\n  log.value.push(\"quick\")\n  ask(2)\n}\n"
               "spawn slow()\nspawn quick()\ntask.join_all()\nlog.value") == "[\"quick\", 2]");
  late.join();
}

TEST_CASE("host calls that suspend: in every tier, in the middle of loops and calls") {
  for (int tier = 0; tier <= (posset_native_tier(3) ? 3 : 1); ++tier) {
    CAPTURE(tier);
    posset_runtime_options options = posset_runtime_defaults();
    options.forced_tier = options.max_tier = tier;
    posset_runtime* runtime = nullptr;
    REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
    {
      Desk desk;
      World w(runtime, posset_context_defaults());
      define(w, "ask", ask, &desk);
      std::thread other = answering(desk, 600);
      CHECK(w.session("fn total(n) { var s = 0\nfor i in 0..n { s += ask(i) }\ns }\ntotal(200)") == "39800");
      posset_runtime_settle(runtime);
      const std::string explained = posset::test::explain(w, "total");
      CHECK_MESSAGE(explained.find("tier " + std::to_string(tier)) != std::string::npos, explained);
      CHECK(w.session("let a = spawn total(200)\nlet b = spawn total(200)\n[await a, await b]") == "[39800, 39800]");
      other.join();
    }
    posset_runtime_release(runtime);
  }
}

TEST_CASE("host calls that suspend: a function that is called again and again") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  posset_value function = posset_nil();
  REQUIRE(w.eval("(n) => if n % 10 == 0 { ask(n) } else { n }", &function) == POSSET_OK);
  std::thread other = answering(desk, 20);
  int64_t sum = 0;
  for (int64_t i = 0; i < 200; ++i) {  // often enough to be brief calls in between
    posset_value argument = posset_int(i), result = posset_nil();
    REQUIRE(posset_invoke(w.context, function, &argument, 1, &result) == POSSET_OK);
    sum += posset_as_int(result);
  }
  other.join();
  CHECK(sum == 199 * 200 / 2 + 10 * 190);
  posset_release(function);
}

TEST_CASE("host calls that suspend: on a thread of the runtime") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  posset_future* future = nullptr;
  REQUIRE(posset_submit_eval(w.context, text("ask(21)"), nullptr, &future) == POSSET_OK);
  const Desk::Request request = desk.take();
  CHECK(complete(request.completion, 42) == POSSET_OK);
  posset_completion_free(request.completion);
  REQUIRE(posset_future_wait(future, 60));
  posset_value value = posset_nil();
  REQUIRE(posset_future_take(future, &value, nullptr) == POSSET_OK);
  CHECK(posset_as_int(value) == 42);
  posset_future_release(future);
}

// ---- what it is completed with ----

TEST_CASE("host calls that suspend: every datum, at once and later") {
  struct Row {
    posset_datum datum;
    const char* shown;
  };
  Row rows[] = {{{}, "nil"}, {{}, "true"}, {{}, "-7"}, {{}, "2.5"}, {{}, "\"a text that is longer than a short one\""}};
  rows[1].datum.kind = POSSET_BOOL, rows[1].datum.of.truth = true;
  rows[2].datum = datum_of(-7);
  rows[3].datum.kind = POSSET_FLOAT, rows[3].datum.of.number = 2.5;
  rows[4].datum.kind = POSSET_STR, rows[4].datum.of.text = posset_text_of("a text that is longer than a short one");
  struct Now {
    const posset_datum* datum;
    bool later;
    std::thread other;
  } now = {};
  World w;
  define(w, "fetch", [](posset_call* call) -> posset_status {
    auto& told = *static_cast<Now*>(call->data);
    posset_completion* completion = nullptr;
    if (posset_suspend(call, &completion)) return POSSET_RAISED;
    auto answer = [completion, datum = told.datum, later = told.later] {
      if (later) std::this_thread::sleep_for(1ms);
      CHECK(posset_complete(completion, datum) == POSSET_OK);
      posset_completion_free(completion);
    };
    if (told.later) {
      told.other = std::thread(answer);
    } else {
      answer();
    }
    return POSSET_OK;
  }, &now);
  for (const Row& row : rows) {
    now.datum = &row.datum;
    now.later = false;
    CHECK(w.show("fetch(0)") == row.shown);
    now.later = true;
    CHECK(w.show("fetch(0)") == row.shown);
    now.other.join();
  }
  now.datum = nullptr;
  CHECK(w.show("fetch(0)") == "nil");
  now.other.join();
}

TEST_CASE("host calls that suspend: an error is raised at the call and can be caught") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  auto failing = [&](posset_code code) {
    return std::thread([&desk, code] {
      const Desk::Request request = desk.take();
      CHECK(posset_complete_error(request.completion, code, text("no answer")) == POSSET_OK);
      posset_completion_free(request.completion);
    });
  };
  std::thread other = failing(POSSET_ERROR_OutOfRange);
  REQUIRE(w.eval("fn f() => 1 + ask(1)\nf()") == POSSET_RAISED);
  other.join();
  const Problem problem = w.problem();
  CHECK(problem.code == POSSET_ERROR_OutOfRange);
  CHECK(problem.message == "no answer");
  CHECK((problem.line == 1 && problem.column == 15));
  CHECK(problem.report.find("in ask (host)") != std::string::npos);
  other = failing(POSSET_ERROR_StepLimit);  // no code that may be raised
  CHECK(w.show("try { ask(1) } catch e { str(e) }").find("no answer") != std::string::npos);
  other.join();
}

TEST_CASE("host calls that suspend: a function makes the result on the script's thread") {
  struct Finish {
    std::thread::id thread = std::this_thread::get_id();
    int calls = 0, drops = 0;
    bool raises = false;
  } finish;
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  auto function = [](posset_call* call) -> posset_status {
    auto& own = *static_cast<Finish*>(call->data);
    ++own.calls;
    CHECK(own.thread == std::this_thread::get_id());
    if (own.raises) return posset_raise(call->context, POSSET_ERROR_BadArgument, text("not this"));
    posset_value list = posset_nil();
    if (posset_list(call->context, 1, &list)) return POSSET_RAISED;
    if (posset_list_push(call->context, &list, posset_retain(posset_argument(call, 0)))) return POSSET_RAISED;  // still there
    return posset_return(call, list);
  };
  auto finishing = [&] {
    return std::thread([&] {
      const Desk::Request request = desk.take();
      CHECK(posset_complete_with(request.completion, function, &finish,
                                 [](void* data) { ++static_cast<Finish*>(data)->drops; }) == POSSET_OK);
      posset_completion_free(request.completion);
    });
  };
  std::thread other = finishing();
  CHECK(w.show("ask(5)") == "[5]");
  other.join();
  finish.raises = true;
  other = finishing();
  CHECK(w.show("ask(5)") == "raised: not this");
  other.join();
  CHECK((finish.calls == 2 && finish.drops == 2));
}

TEST_CASE("host calls that suspend: what finishes a call may suspend it again") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) {
      const Desk::Request request = desk.take();
      CHECK(posset_complete_with(request.completion, ask, &desk, nullptr) == POSSET_OK);
      posset_completion_free(request.completion);
    }
    const Desk::Request last = desk.take();
    CHECK(complete(last.completion, 2 * last.number) == POSSET_OK);
    posset_completion_free(last.completion);
  });
  CHECK(w.show("ask(4)") == "8");
  other.join();
}

// ---- what can go wrong ----

TEST_CASE("host calls that suspend: a completion that is dropped is an error that says so") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  std::thread other([&] { posset_completion_free(desk.take().completion); });
  CHECK(w.show("ask(1)") == "raised: ask failed: the host has dropped the call without completing it");
  other.join();
  define(w, "drop", [](posset_call* call) -> posset_status {
    posset_completion* completion = nullptr;
    if (posset_suspend(call, &completion)) return POSSET_RAISED;
    posset_completion_free(completion);
    return POSSET_OK;
  }, nullptr);
  CHECK(w.show("drop(1)") == "raised: drop failed: the host has dropped the call without completing it");
  still_works(w);
}

TEST_CASE("host calls that suspend: the first completion counts, of one thread or of two") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  std::thread other([&] {
    const Desk::Request request = desk.take();
    CHECK(posset_completion_wanted(request.completion));
    CHECK(complete(request.completion, 1) == POSSET_OK);
    CHECK_FALSE(posset_completion_wanted(request.completion));
    CHECK(complete(request.completion, 2) == POSSET_NOT_FOUND);
    CHECK(posset_complete_error(request.completion, POSSET_ERROR_HostError, text("late")) == POSSET_NOT_FOUND);
    posset_completion_free(request.completion);
  });
  CHECK(w.show("ask(0)") == "1");
  other.join();

  constexpr int kRounds = 200;
  std::atomic<int> taken{0};
  std::thread both([&] {
    for (int i = 0; i < kRounds; ++i) {
      const Desk::Request request = desk.take();
      std::thread second([&] { taken += complete(request.completion, 1) == POSSET_OK; });
      taken += complete(request.completion, 2) == POSSET_OK;
      second.join();
      posset_completion_free(request.completion);
    }
  });
  CHECK(w.show("var bad = 0\nfor i in 0..200 { let a = ask(i)\nif a != 1 and a != 2 { bad += 1 } }\nbad") == "0");
  both.join();
  CHECK(taken == kRounds);
}

TEST_CASE("host calls that suspend: cancelling the task withdraws the call, and completing it does nothing") {
  struct Counts {
    int calls = 0, drops = 0;
  } counts;
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  CHECK(w.show("import \"task\"\nfn f() => ask(1)\nlet t = spawn f()\ntask.yield()\ntask.cancel(t)\n"
               "try { await t } catch e { str(e) }") == "\"the task was cancelled\"");
  Desk::Request request = desk.take();
  CHECK_FALSE(posset_completion_wanted(request.completion));
  CHECK(complete(request.completion, 2) == POSSET_NOT_FOUND);
  CHECK(posset_complete_with(request.completion, [](posset_call* call) -> posset_status {
          ++static_cast<Counts*>(call->data)->calls;
          return POSSET_OK;
        }, &counts, [](void* data) { ++static_cast<Counts*>(data)->drops; }) == POSSET_NOT_FOUND);
  CHECK((counts.calls == 0 && counts.drops == 1));
  posset_completion_free(request.completion);
  // A handle that goes is a task that is cancelled.
  CHECK(w.show("import \"task\"\nfn f() => ask(1)\nfn g() { let t = spawn f()\ntask.yield() }\ng()\n7") == "7");
  request = desk.take();
  CHECK_FALSE(posset_completion_wanted(request.completion));
  posset_completion_free(request.completion);
  still_works(w);
}

TEST_CASE("host calls that suspend: an answer that comes as the task is cancelled is not lost") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  // Completed and cancelled before the task runs again: it is cancelled, what the answer holds is dropped.
  static int drops = 0;
  drops = 0;
  define(w, "answer", [](posset_call* call) -> posset_status {
    const Desk::Request request = static_cast<Desk*>(call->data)->take();
    CHECK(posset_complete_with(request.completion, [](posset_call*) { return POSSET_OK; }, nullptr, [](void*) { ++drops; }) == POSSET_OK);
    CHECK(drops == 0);
    posset_completion_free(request.completion);
    return POSSET_OK;
  }, &desk);
  CHECK(w.show("import \"task\"\nfn f() => ask(1)\nlet t = spawn f()\ntask.yield()\nanswer(0)\ntask.cancel(t)\n"
               "try { await t } catch e { str(e) }") == "\"the task was cancelled\"");
  CHECK(drops == 1);
}

TEST_CASE("host calls that suspend: completing when the context and the runtime are gone") {
  Desk desk;
  std::vector<Desk::Request> left;
  {
    World w;
    define(w, "ask", ask, &desk);
    CHECK(w.show("import \"task\"\nfn f(n) => ask(n)\nlet a = spawn f(1)\nlet b = spawn f(2)\nlet c = spawn f(3)\n"
                 "for _ in 0..3 { task.yield() }\ntask.cancel(a)\ntask.cancel(b)\ntask.cancel(c)\n3") == "3");
    for (int i = 0; i < 3; ++i) left.push_back(desk.take());
  }
  CHECK_FALSE(posset_completion_wanted(left[0].completion));
  CHECK(complete(left[0].completion, 2) == POSSET_NOT_FOUND);
  CHECK(posset_complete_error(left[1].completion, POSSET_ERROR_HostError, text("late")) == POSSET_NOT_FOUND);
  for (const Desk::Request& each : left) posset_completion_free(each.completion);
}

TEST_CASE("host calls that suspend: a function that fails after it has suspended") {
  Desk desk;
  World w;
  define(w, "fail", [](posset_call* call) -> posset_status {
    ask(call);
    return posset_raise(call->context, POSSET_ERROR_HostError, text("no line"));
  }, &desk);
  define(w, "status", [](posset_call* call) -> posset_status {
    ask(call);
    return POSSET_NOT_BUILT;
  }, &desk);
  CHECK(w.show("fail(1)") == "raised: no line");
  CHECK(w.show("status(1)").find("raised: status failed") == 0);
  for (int i = 0; i < 2; ++i) {
    const Desk::Request request = desk.take();
    CHECK(complete(request.completion, 1) == POSSET_NOT_FOUND);
    posset_completion_free(request.completion);
  }
}

TEST_CASE("host calls that suspend: a result that is set as well is dropped, and suspending twice is misuse") {
  Desk desk;
  World w;
  define(w, "twice", [](posset_call* call) -> posset_status {
    ask(call);
    posset_completion* second = nullptr;
    CHECK(posset_suspend(call, &second) == POSSET_MISUSE);
    CHECK(second == nullptr);
    CHECK(posset_return_string(call, text("a string that lies on the heap")) == POSSET_OK);
    return POSSET_OK;
  }, &desk);
  std::thread other = answering(desk, 1);
  CHECK(w.show("twice(4)") == "8");
  other.join();
}

TEST_CASE("host calls that suspend: not where nothing may wait") {
  posset_runtime* runtime = posset::test::make_runtime();
  Desk desk;
  static const posset_property_row kProperties[] = {{"now", "", [](posset_call* call) -> posset_status {
                                                       posset_completion* completion = nullptr;
                                                       const posset_status status = posset_suspend(call, &completion);
                                                       CHECK(completion == nullptr);
                                                       return status;
                                                     }, nullptr, nullptr}};
  posset_type_row row = posset_type_of("Clock");
  row.properties = kProperties;
  row.property_count = 1;
  const posset_type* type = nullptr;
  REQUIRE(posset_register_type(runtime, &row, &type) == POSSET_OK);
  {
    World w(runtime, posset_context_defaults());
    define(w, "guess", ask, &desk, true);
    CHECK(w.show("guess(1)") == "raised: guess cannot wait: it is declared as pure");
    int object = 0;
    const posset_object given = posset_object_of(&object);
    posset_value value = posset_nil();
    REQUIRE(posset_host(w.context, type, &given, &value) == POSSET_OK);
    REQUIRE(posset_set_global(w.context, text("clock"), value) == POSSET_OK);
    CHECK(w.show("clock.now") == "raised: now cannot wait: it is the accessor of a property");
    still_works(w);
  }
  posset_runtime_release(runtime);
  CHECK(desk.empty());
}

TEST_CASE("host calls that suspend: what cannot be is misuse, and the call can still be completed") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  CHECK(posset_suspend(nullptr, nullptr) == POSSET_MISUSE);
  CHECK(posset_complete(nullptr, nullptr) == POSSET_MISUSE);
  CHECK(posset_complete_error(nullptr, POSSET_ERROR_HostError, text("")) == POSSET_MISUSE);
  CHECK_FALSE(posset_completion_wanted(nullptr));
  posset_completion_free(nullptr);
  int drops = 0;
  auto drop = [](void* data) { ++*static_cast<int*>(data); };
  CHECK(posset_complete_with(nullptr, ask, &drops, drop) == POSSET_MISUSE);
  CHECK(drops == 1);
  std::thread other([&] {
    const Desk::Request request = desk.take();
    posset_datum list = {};
    list.kind = POSSET_LIST;
    CHECK(posset_complete(request.completion, &list) == POSSET_MISUSE);
    posset_datum no_text = {};
    no_text.kind = POSSET_STR;
    no_text.of.text = text("a\xff");
    CHECK(posset_complete(request.completion, &no_text) == POSSET_MISUSE);
    CHECK(posset_complete_with(request.completion, nullptr, &drops, drop) == POSSET_MISUSE);
    CHECK(posset_completion_wanted(request.completion));
    CHECK(complete(request.completion, 3) == POSSET_OK);
    posset_completion_free(request.completion);
  });
  CHECK(w.show("ask(1)") == "3");
  other.join();
  CHECK(drops == 2);
}

// ---- limits, interruption, deadlock ----

TEST_CASE("host calls that suspend: the time limit and an interruption end the wait") {
  Desk desk;
  for (const char* source : {"ask(1)", "fn f() => ask(1)\nlet t = spawn f()\nawait t", "fn f() => ask(1)\nspawn f()\n1"}) {
    CAPTURE(source);
    with_enough_time([&](double seconds) {
      posset_context_options options = posset_context_defaults();
      options.time_limit_seconds = seconds;
      World w(options);
      define(w, "ask", ask, &desk);
      CHECK(w.eval(source) == POSSET_RAISED);
      CHECK(w.problem().code == POSSET_ERROR_TimeLimit);
      if (desk.empty()) return false;
      const Desk::Request request = desk.take();
      CHECK(complete(request.completion, 1) == POSSET_NOT_FOUND);
      posset_completion_free(request.completion);
      options.time_limit_seconds = 0;
      REQUIRE(posset_context_set_options(w.context, &options) == POSSET_OK);
      still_works(w);
      return true;
    });
    World w;
    define(w, "ask", ask, &desk);
    std::thread other([&] {
      const Desk::Request request = desk.take();
      posset_interrupt(w.context);
      while (posset_completion_wanted(request.completion)) std::this_thread::sleep_for(1ms);
      posset_completion_free(request.completion);
    });
    CHECK(w.eval(source) == POSSET_RAISED);
    other.join();
    CHECK(w.problem().is_interrupt);
    still_works(w);
  }
}

TEST_CASE("host calls that suspend: the deadline of a submission and the end of its context end the wait") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  with_enough_time([&](double seconds) {
    posset_submit_options options = posset_submit_defaults();
    options.deadline_seconds = seconds;
    posset_future* future = nullptr;
    REQUIRE(posset_submit_eval(w.context, text("ask(1)"), &options, &future) == POSSET_OK);
    REQUIRE(posset_future_wait(future, 60));
    CHECK(posset_future_progress(future) == POSSET_FUTURE_FAILED);
    posset_future_release(future);
    if (desk.empty()) return false;
    posset_completion_free(desk.take().completion);
    return true;
  });
  {
    posset_context* second = nullptr;
    REQUIRE(posset_context_create(w.runtime, nullptr, &second) == POSSET_OK);
    posset_function_row row = {};
    row.name = "ask", row.signature = "ask(n)", row.doc = "";
    row.min_arguments = row.max_arguments = 1;
    row.function = ask, row.data = &desk;
    REQUIRE(posset_define(second, &row, sizeof row, nullptr) == POSSET_OK);
    REQUIRE(posset_submit_eval(second, text("ask(2)"), nullptr, nullptr) == POSSET_OK);
    const Desk::Request request = desk.take();
    posset_context_release(second);
    CHECK(complete(request.completion, 1) == POSSET_NOT_FOUND);
    posset_completion_free(request.completion);
  }
}

TEST_CASE("host calls that suspend: waiting for the host is no deadlock, and does not hide one") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  std::thread other([&] {
    const Desk::Request request = desk.take();
    std::this_thread::sleep_for(20ms);  // everybody waits for that long
    CHECK(complete(request.completion, 5) == POSSET_OK);
    posset_completion_free(request.completion);
  });
  CHECK(w.show("let c = chan(0)\nfn f() { c.send(ask(1)) }\nspawn f()\nc.recv()") == "5");
  other.join();
  other = answering(desk, 1);
  REQUIRE(w.eval("let c = chan(0)\nfn f() { ask(1) }\nspawn f()\nc.recv()") == POSSET_RAISED);
  other.join();
  CHECK(w.problem().code == POSSET_ERROR_Deadlock);
  still_works(w);
}

TEST_CASE("host calls that suspend: what waits for the host says so in task.stats") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  std::thread other;
  CHECK(w.show("import \"task\"\nfn f() => ask(1)\nlet t = spawn f()\ntask.yield()\nlet s = task.stats().waiting\n"
               "task.cancel(t)\ns[0].waits_for") == "\"a call of the host\"");
  posset_completion_free(desk.take().completion);
}

TEST_CASE("host calls that suspend: the trace tells who waits for the host, and for how long") {
  posset_runtime_options options = posset_runtime_defaults();
  options.trace_events = 1000;
  Desk desk;
  World w(posset_context_defaults(), options);
  define(w, "ask", ask, &desk);
  std::thread other([&] {
    const Desk::Request request = desk.take();
    std::this_thread::sleep_for(20ms);
    CHECK(complete(request.completion, 1) == POSSET_OK);
    posset_completion_free(request.completion);
  });
  CHECK(w.show("fn asks() => ask(1)\nlet t = spawn asks()\nawait t") == "1");
  other.join();
  std::string lines, json;
  REQUIRE(posset_trace_write(w.runtime, POSSET_TRACE_TEXT, posset::test::append, &lines) == POSSET_OK);
  REQUIRE(posset_trace_write(w.runtime, POSSET_TRACE_CHROME, posset::test::append, &json) == POSSET_OK);
  CHECK_MESSAGE(lines.find("name=asks until=a call of the host took=") != std::string::npos, lines);
  const size_t again = lines.rfind("task_went_on task=2 name=asks waited=");
  REQUIRE(again != std::string::npos);
  CHECK(lines.substr(again, 60).find("ms") != std::string::npos);  // 20 or more of them
  CHECK(json.find("{\"name\":\"waits for a call of the host\",\"cat\":\"task\",\"ph\":\"b\"") != std::string::npos);
}

TEST_CASE("host calls that suspend: handlers of a graph wait beside each other, and the graph does not end for it") {
  Desk desk;
  World w;
  define(w, "ask", ask, &desk);
  std::thread other = answering(desk, 4, 2);  // both handlers are out at a time
  CHECK(w.show("import \"graph\"\nlet log = ref([])\nlet g = graph.new()\n"
               "g.add(\"source\", {outputs: [\"a\", \"b\"], on_start: (s, node) => { for i in 0..2 { node.emit(\"a\", i)\nnode.emit(\"b\", 10 + i) } }})\n"
               "let asking = {inputs: [\"in\"], on_message: (s, x, node) => { log.value.push(ask(x)) }}\n"
               "g.add(\"a\", asking)\ng.add(\"b\", asking)\n"
               "g.connect(\"source:a\", \"a:in\")\ng.connect(\"source:b\", \"b:in\")\n"
               "let end = g.run().ended\n[end, sort(log.value)]") == "[\"idle\", [0, 2, 20, 22]]");
  other.join();
}

TEST_CASE("host calls that suspend: a text is charged when the script gets it") {
  posset_context_options options = posset_context_defaults();
  options.memory_limit = 1 << 20;
  Desk desk;
  World w(options);
  define(w, "ask", ask, &desk);
  std::thread other([&] {
    const Desk::Request request = desk.take();
    const std::string large(4 << 20, 'x');
    posset_datum datum = {};
    datum.kind = POSSET_STR;
    datum.of.text = text(large);
    CHECK(posset_complete(request.completion, &datum) == POSSET_OK);
    posset_completion_free(request.completion);
  });
  CHECK(w.eval("len(ask(1))") == POSSET_RAISED);
  other.join();
  CHECK(w.problem().code == POSSET_ERROR_MemoryLimit);
  still_works(w);
}

// ---- event loops on the thread that evaluates ----

namespace {

// An event loop: answers what is on the desk, and else waits until it is woken.
struct Loop {
  explicit Loop(World& the_world) : w(the_world) { define(w, "ask", ask, &desk); }
  void install(bool hears = true) {
    posset_idle idle = posset_idle_defaults();
    idle.wait = [](void* data, double seconds) { return static_cast<Loop*>(data)->wait(seconds); };
    if (hears) idle.wake = [](void* data) { static_cast<Loop*>(data)->wake(); };
    idle.data = this;
    REQUIRE(posset_context_set_idle(w.context, &idle) == POSSET_OK);
  }
  bool wait(double seconds) {
    ++turns;
    longest = std::max(longest, seconds);
    CHECK(std::this_thread::get_id() == thread);
    if (fails) return false;
    if (uses) uses(*this);
    if (answers && !desk.empty()) {
      const Desk::Request request = desk.take();
      CHECK(complete(request.completion, 2 * request.number) == POSSET_OK);
      posset_completion_free(request.completion);
      return true;
    }
    std::unique_lock lock(mutex);
    woken_up.wait_for(lock, std::chrono::duration<double>(std::min(seconds, 60.0)), [&] { return woken; });
    woken = false;
    return true;
  }
  void wake() {
    std::lock_guard lock(mutex);
    woken = true;
    woken_up.notify_one();
  }

  World& w;
  Desk desk;
  const std::thread::id thread = std::this_thread::get_id();
  std::mutex mutex;
  std::condition_variable woken_up;
  bool woken = false;
  bool answers = true, fails = false;
  void (*uses)(Loop&) = nullptr;
  std::atomic<int> turns{0};
  double longest = 0;
};

}  // namespace

TEST_CASE("host calls that suspend: an event loop on the same thread completes them") {
  World w;
  Loop loop(w);
  loop.install();
  CHECK(w.show("ask(1) + ask(20)") == "42");
  CHECK(loop.turns == 2);
  CHECK(w.show("fn two(n) => ask(n) + ask(n)\nlet ts = map([1, 2, 3, 4], (n) => spawn two(n))\n"
               "sum(map(ts, (t) => await t))") == "40");
  const int before = loop.turns;
  CHECK(w.show("1 + 1") == "2");
  CHECK(loop.turns == before);
  REQUIRE(posset_context_set_idle(w.context, nullptr) == POSSET_OK);
  std::thread other = answering(loop.desk, 1);
  CHECK(w.show("ask(3)") == "6");
  CHECK(loop.turns == before);
  other.join();
}

TEST_CASE("host calls that suspend: an event loop is woken by other threads, by interruptions and by times") {
  World w;
  Loop loop(w);
  loop.answers = false;
  loop.install();
  std::thread other = answering(loop.desk, 1);
  CHECK(w.show("ask(3)") == "6");
  other.join();
  other = std::thread([&] {
    posset_completion_free(loop.desk.take().completion);
    posset_interrupt(w.context);
  });
  CHECK(w.eval("import \"task\"\ntry { ask(3) } catch { 1 }\ntask.sleep(600)") == POSSET_RAISED);
  other.join();
  CHECK(w.problem().is_interrupt);
  loop.longest = 0;
  CHECK(w.show("import \"task\"\ntask.sleep(0.02)\n1") == "1");
  CHECK(loop.longest > 0);
  CHECK(loop.longest < 0.03);
}

TEST_CASE("host calls that suspend: an event loop that nobody can wake is asked again and again") {
  World w;
  Loop loop(w);
  loop.answers = false;
  loop.install(false);
  std::thread other([&] {
    const Desk::Request request = loop.desk.take();
    for (int i = 0; i < 10'000 && loop.turns < 3; ++i) std::this_thread::sleep_for(1ms);
    CHECK(complete(request.completion, 4) == POSSET_OK);
    posset_completion_free(request.completion);
  });
  CHECK(w.show("ask(3)") == "4");
  other.join();
  CHECK(loop.turns >= 3);
  CHECK(loop.longest <= 0.01);
}

TEST_CASE("host calls that suspend: an event loop that fails ends the evaluation, with everything that waits") {
  World w;
  Loop loop(w);
  loop.install();
  loop.fails = true;
  for (const char* source : {"ask(1)", "fn f() => ask(1)\nspawn f()\nspawn f()\n1", "fn f() => ask(1)\nlet t = spawn f()\ntry { await t } catch { 2 }\nawait t"}) {
    CAPTURE(source);
    CHECK(w.eval(source) == POSSET_RAISED);
    CHECK(w.problem().message == "the host's event loop has failed");
    while (!loop.desk.empty()) posset_completion_free(loop.desk.take().completion);
  }
  loop.fails = false;
  CHECK(w.show("ask(1)") == "2");
}

TEST_CASE("host calls that suspend: an event loop does not use the context, but may use another") {
  static posset_context* second;
  World w;
  World other;
  second = other.context;
  Loop loop(w);
  loop.install();
  loop.uses = [](Loop& own) {
    CHECK(posset_eval(own.w.context, text("1"), nullptr, nullptr) == POSSET_BUSY);
    CHECK(posset_context_set_idle(own.w.context, nullptr) == POSSET_BUSY);
    posset_raise(own.w.context, POSSET_ERROR_HostError, text("nobody's"));
    posset_value value = posset_nil();
    CHECK(posset_eval(second, text("fn f(x) => x + 1\nlet t = spawn f(1)\nawait t"), &value, nullptr) == POSSET_OK);
    CHECK(posset_as_int(value) == 2);
  };
  CHECK(w.show("fn f() => ask(1)\nlet t = spawn f()\n[await t, ask(2)]") == "[2, 4]");
}

TEST_CASE("host calls that suspend: what an event loop cannot be") {
  World w;
  posset_idle idle = posset_idle_defaults();
  CHECK(posset_context_set_idle(w.context, &idle) == POSSET_MISUSE);
  CHECK(posset_context_set_idle(nullptr, nullptr) == POSSET_MISUSE);
  idle.wait = [](void*, double) { return true; };
  idle.size = 0;
  CHECK(posset_context_set_idle(w.context, &idle) == POSSET_MISUSE);
  still_works(w);
}
