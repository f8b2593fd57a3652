// Suspending host functions and event loops in the C++ layer.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <posset/posset.hpp>

namespace {

// What is to be done when nothing else is.
struct Later {
  std::vector<std::function<void()>> actions;
  void run(double) {
    for (const auto& action : std::exchange(actions, {})) action();
  }
};

struct World {
  World() {
    context.set_idle([this](double seconds) { later.run(seconds); });
  }
  Later later;
  posset::Runtime runtime;
  posset::Context context{runtime};
};

struct Account {
  int64_t balance = 10;
};

}  // namespace

TEST_CASE("C++ host calls that suspend: whatever can be given to scripts completes them") {
  World w;
  auto gives = [&](const char* name, auto value) {
    w.context.define(name, posset::suspending([&w, value](const posset::Completion& done) {
      w.later.actions.push_back([done, value] { CHECK(done.complete(value)); });
    }));
  };
  gives("a_bool", true);
  gives("an_int", int32_t{-3});
  gives("a_float", 2.5f);
  gives("a_text", std::string("longer than what stands in two words"));
  gives("a_literal", "short");
  gives("a_nil", nullptr);
  gives("a_list", std::vector<double>{1, 2.5});
  gives("a_pair", std::pair<int64_t, std::string>(7, "seven"));
  gives("nothing", std::optional<int64_t>());
  CHECK(w.context.eval<std::string>("str([a_bool(), an_int(), a_float(), a_text(), a_literal(), a_nil(), a_list(), a_pair(), nothing()])") ==
        R"([true, -3, 2.5, "longer than what stands in two words", "short", nil, [1.0, 2.5], [7, "seven"], nil])");
  w.context.define("signal", posset::suspending([](const posset::Completion& done) { CHECK(done.complete()); }));
  CHECK(w.context.eval("signal()").is_nil());
}

TEST_CASE("C++ host calls that suspend: arguments are read before, and what is wrong with them is told at once") {
  World w;
  int calls = 0;
  w.context.define("add", posset::suspending([&](posset::Completion done, int64_t a, std::string b) {
    ++calls;
    w.later.actions.push_back([done = std::move(done), a, b = std::move(b)] { done.complete(b + std::to_string(a)); });
  }));
  CHECK(w.context.eval<std::string>("add(1, \"b\")") == "b1");
  CHECK(w.context.try_eval("add(\"b\", 1)").error().code() == POSSET_ERROR_TypeMismatch);
  CHECK(w.context.try_eval("add(1)").error().code() == POSSET_ERROR_ArgumentCount);
  CHECK(calls == 1);
}

TEST_CASE("C++ host calls that suspend: failing, throwing and forgetting") {
  World w;
  w.context.define("fail", posset::suspending([](const posset::Completion& done) { CHECK(done.fail("no answer", POSSET_ERROR_OutOfRange)); }));
  w.context.define("fling", posset::suspending([](const posset::Completion&) { throw std::runtime_error("no line"); }));
  std::optional<posset::Completion> kept;
  w.context.define("keep_and_fling", posset::suspending([&](posset::Completion done) {
    kept = std::move(done);
    throw std::runtime_error("no line");
  }));
  w.context.define("forget", posset::suspending([](const posset::Completion&) {}));
  w.context.define("huge", posset::suspending([](const posset::Completion& done) { done.complete(UINT64_MAX); }));
  CHECK(w.context.try_eval("fail()").error().code() == POSSET_ERROR_OutOfRange);
  CHECK(w.context.try_eval("fling()").error().message() == "no line");
  CHECK(w.context.try_eval("keep_and_fling()").error().message() == "no line");
  CHECK_FALSE(kept->is_wanted());
  CHECK_FALSE(kept->complete(1));
  CHECK(w.context.try_eval("forget()").error().message() == "forget failed: the host has dropped the call without completing it");
  CHECK(w.context.try_eval("huge()").error().message().find("64 bits") != std::string::npos);
}

TEST_CASE("C++ host calls that suspend: methods of host objects") {
  Later later;
  posset::Runtime runtime;
  posset::Type<Account> type("Account");
  type.property("balance", &Account::balance)
      .method("pay", posset::suspending([&](posset::Completion done, Account& account, int64_t amount) {
        later.actions.push_back([done = std::move(done), &account, amount] { done.complete(account.balance -= amount); });
      }));
  runtime.define(std::move(type));
  posset::Context context(runtime);
  context.set_idle([&](double seconds) { later.run(seconds); });
  context.set("account", std::make_shared<Account>());
  CHECK(context.eval<std::string>("let a = spawn account.pay(3)\nlet b = spawn account.pay(2)\nstr([await a, await b, account.balance])") ==
        "[7, 5, 5]");
  CHECK(context.try_eval("account.pay(nil)").error().code() == POSSET_ERROR_TypeMismatch);
}

TEST_CASE("C++ host calls that suspend: completed by a thread that outlives the context") {
  std::thread other;
  bool heard = true;
  for (double seconds = 0.02; !other.joinable(); seconds *= 2) {  // on a busy machine a short one is over before it has asked
    REQUIRE(seconds < 60);
    posset::Runtime runtime;
    posset::Context context(runtime, {.time_limit_seconds = seconds});
    context.define("ask", posset::suspending([&](posset::Completion done) {
      other = std::thread([done = std::move(done), &heard] {
        while (done.is_wanted()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        heard = done.complete(std::vector<std::string>{"late"});
      });
    }));
    CHECK(context.try_eval("ask()").error().code() == POSSET_ERROR_TimeLimit);
  }
  other.join();
  CHECK_FALSE(heard);
}

TEST_CASE("C++ host calls that suspend: an event loop that throws, is woken, and is set anew") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  std::optional<posset::Completion> pending;
  context.define("ask", posset::suspending([&](posset::Completion done) { pending = std::move(done); }));
  context.set_idle([](double) { throw std::runtime_error("lost"); });
  CHECK(context.try_eval("ask()").error().message() == "the host's event loop has failed");
  int turns = 0, wakes = 0;
  context.set_idle(
      [&](double) {
        ++turns;
        return pending->complete(5);
      },
      [&] { ++wakes; });
  CHECK(context.eval<int64_t>("ask()") == 5);
  CHECK(turns == 1);
  CHECK(wakes == 1);
}
