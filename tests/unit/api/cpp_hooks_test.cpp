// What a context of the C++ layer calls by itself: output, progress, loader, event loop; who owns them when.
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

#include <posset/posset.hpp>

namespace {

// One class for everything that a context tells.
struct Monitor {
  std::shared_ptr<std::string> told;
  void operator()(std::string_view text) const { *told += text; }
  void operator()(const posset_solve_progress&) const { *told += "progress"; }
  std::optional<posset::Source> operator()(std::string_view, std::string_view) const {
    *told += "loader";
    return std::nullopt;
  }
};

// A context that another thread evaluates in until this goes.
class Busy {
 public:
  explicit Busy(posset::Context& context) {
    context.define("spin", [this] {
      runs_ = true;
      while (!over_) std::this_thread::yield();
    });
    future_ = context.submit("spin()");
    while (!runs_) std::this_thread::yield();
  }
  ~Busy() {
    over_ = true;
    future_.wait();
  }

 private:
  std::atomic<bool> runs_{false}, over_{false};
  posset::Future<posset::Value> future_;
};

void set_all(posset::Context& context, const std::shared_ptr<int>& held) {
  CHECK_THROWS_WITH_AS(context.set_output([held](std::string_view) {}), "output: the context is running on another thread",
                       posset::Misuse);
  CHECK_THROWS_AS(context.set_progress([held](const posset_solve_progress&) {}), posset::Misuse);
  CHECK_THROWS_AS(context.set_loader([held](std::string_view, std::string_view) { return std::optional<posset::Source>(); }),
                  posset::Misuse);
  CHECK_THROWS_AS(context.set_idle([held](double) {}), posset::Misuse);
  CHECK_THROWS_AS(context.set_idle([held](double) {}, [held] {}), posset::Misuse);
  CHECK_THROWS_AS(context.define("held", [held] {}), posset::Misuse);
  CHECK_THROWS_AS(posset::Graph(context).add("held", posset::Node({}, {}).on_start([held](posset::Turn&) {})), posset::Misuse);
}

}  // namespace

TEST_CASE("host callback: one class for output and progress was deleted as the one while it was the other") {
  posset::Runtime runtime;
  auto output = std::make_shared<std::string>(), others = std::make_shared<std::string>();
  {
    posset::Context context(runtime);
    context.set_output(Monitor{output});
    context.set_progress(Monitor{others});
    context.set_loader(Monitor{others});
    CHECK(output.use_count() == 2);
    context.eval("print(1)");
    CHECK(*output == "1");
    (void)context.try_eval("import \"nowhere\"");
    CHECK(*others == "loader");
  }
  CHECK(output.use_count() == 1);
  CHECK(others.use_count() == 1);
}

TEST_CASE("host callback: one that is set again goes when the other is in force, and not while it runs") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  auto first = std::make_shared<std::string>(), second = std::make_shared<std::string>();
  context.set_output(Monitor{first});
  context.set_output(Monitor{second});
  CHECK(first.use_count() == 1);
  std::string seen;
  context.set_output([&context, &seen, first](std::string_view text) {
    const std::string* const mine = first.get();
    context.set_output([&seen](std::string_view later) { seen += later; });
    CHECK(first.get() == mine);
    CHECK(first.use_count() == 2);
    seen += "first: ";
    seen += text;
  });
  CHECK(second.use_count() == 1);
  context.eval("print(1)\nprint(2)");
  CHECK(seen == "first: 12");
  CHECK(first.use_count() == 1);
}

TEST_CASE("host callback: set in a context that is busy, it was never freed") {
  posset::Runtime runtime;
  auto held = std::make_shared<int>(0);
  posset::Context context(runtime), other(runtime);
  {
    Busy busy(context);
    set_all(context, held);
    CHECK(held.use_count() == 1);
  }
  other.set_output([](std::string_view) {});
  {
    Busy busy(other);
    set_all(other, held);
    CHECK(held.use_count() == 1);
  }
  context.define("set_idle", [&] { context.set_idle([held](double) {}); });
  CHECK(context.try_eval("set_idle()").error().code() == POSSET_ERROR_HostError);
  CHECK(held.use_count() == 1);
}

TEST_CASE("host callback: hooks go with their context when it is moved") {
  posset::Runtime runtime;
  auto told = std::make_shared<std::string>();
  {
    posset::Context context(runtime);
    context.set_output(Monitor{told});
    posset::Context moved(std::move(context));
    moved.eval("print(1)");
    CHECK_THROWS_AS(context.set_output(Monitor{told}), posset::Misuse);
    context = posset::Context(runtime);
    CHECK(told.use_count() == 2);
    context.set_output(Monitor{told});
    context.eval("print(2)");
    CHECK(told.use_count() == 3);
  }
  CHECK(*told == "12");
  CHECK(told.use_count() == 1);
}

TEST_CASE("host callback: an exception of an output function lost its text") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  context.set_output([](std::string_view text) {
    if (text == "full") throw std::runtime_error("no space left on device");
    if (text == "odd") throw 5;
    return text != "no";
  });
  const auto full = context.try_eval("print(\"full\")");
  CHECK(full.error().message() == "no space left on device");
  CHECK(full.error().code() == POSSET_ERROR_HostError);
  CHECK(full.error().line() == 1);
  CHECK(context.eval<std::string>("try { print(\"full\") } catch e { e.message }") == "no space left on device");
  CHECK(context.try_eval("print(\"odd\")").error().message() == "an exception of an unknown type");
  CHECK(context.try_eval("print(\"no\")").error().message() == "cannot write to the output");
  CHECK(context.try_eval("print(\"yes\")").ok());
  posset::Context moved(std::move(context));
  CHECK(moved.try_eval("await spawn print(\"full\")").error().message() == "no space left on device");
}
