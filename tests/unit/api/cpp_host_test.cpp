// Host types and containers in the C++ layer.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <posset/posset.hpp>

namespace {

class Player {
 public:
  explicit Player(std::string name) : name_(std::move(name)) { ++alive; }
  Player(const Player&) = delete;
  ~Player() { --alive; }
  const std::string& name() const { return name_; }
  double x() const { return x_; }
  void set_x(double x) {
    if (x < 0) throw std::runtime_error("x is below 0");
    x_ = x;
  }
  double move(double dx) noexcept { return x_ += dx; }
  int health = 10;
  const int id = 7;
  static inline int alive = 0;

 private:
  std::string name_;
  double x_ = 0;
};

posset::Runtime runtime_with_player() {
  posset::Runtime runtime;
  posset::Type<Player> type("Player", "Somebody who plays.");
  type.property("health", &Player::health)
      .property("id", &Player::id)
      .property("name", &Player::name)
      .property("loud_name", [](const Player& p) { return p.name() + "!"; })
      .property("x", &Player::x, &Player::set_x)
      .method("move", &Player::move)
      .method("hit", [](Player& p, int n, Player* by) { p.health -= by ? 2 * n : n; })
      .label([](const Player& p) { return p.name(); });
  runtime.define(std::move(type));
  return runtime;
}

}  // namespace

TEST_CASE("C++ host types: members, accessors and methods") {
  posset::Runtime runtime = runtime_with_player();
  posset::Context context(runtime);
  auto ann = std::make_shared<Player>("ann");
  context.set("ann", ann);
  context.run("a", "ann.health -= 3\nann.x = 2\nann.move(0.5)\nann.hit(1, nil)\nann.hit(1, ann)");
  CHECK(ann->health == 4);
  CHECK(ann->x() == 2.5);
  CHECK(context.eval<std::string>("str([ann, ann.name, ann.loud_name, ann.id])") == "[<Player ann>, \"ann\", \"ann!\", 7]");
  CHECK(context.try_eval("var a = ann\na.id = 8").error().message() == "cannot assign to 'id' of Player: it is read-only");
  CHECK(context.try_eval("ann.x = -1").error().message() == "x is below 0");
  CHECK(context.try_eval("ann.health = \"x\"").error().code() == POSSET_ERROR_TypeMismatch);
  CHECK(context.try_eval("ann.hit(1, 2)").error().message() ==
        "argument b of hit(a, b): expected Player, got int (2)");
}

TEST_CASE("C++ host types: objects as arguments and results") {
  posset::Runtime runtime = runtime_with_player();
  CHECK(Player::alive == 0);
  {
    posset::Context context(runtime);
    context.define("make", [](std::string name) { return std::make_unique<Player>(std::move(name)); });
    context.define("healthier", [](const Player& a, const Player& b) { return a.health >= b.health; });
    context.define("nobody", [] { return std::shared_ptr<Player>(); });
    CHECK(context.eval<bool>("let a = make(\"a\")\nlet b = make(\"b\")\nb.health += 1\nhealthier(b, a)"));
    CHECK(context.eval<bool>("nobody() == nil"));
    CHECK(context.try_eval("healthier(1, 2)").error().message() ==
          "argument a of healthier(a, b): expected Player, got int (1)");
    context.run("keep", "let kept = ref(make(\"c\"))");
  }
  CHECK(Player::alive == 0);
}

TEST_CASE("C++ host types: a loan ends") {
  posset::Runtime runtime = runtime_with_player();
  posset::Context context(runtime);
  Player bob("bob");
  auto hurt = context.compile<void(posset::Value)>("p => p.health -= 1");
  {
    posset::Loan loan = context.lend(bob);
    context.set("bob", loan.value());
    hurt(loan.value());
    CHECK(context.eval<int>("bob.health") == 9);
  }
  CHECK(context.try_eval("bob.health").error().message() == "this Player is closed: it has no 'health' any more");
  struct Unknown {};
  Unknown unknown;
  CHECK_THROWS_AS((void)context.lend(unknown), posset::Misuse);
}

TEST_CASE("C++ host types: values stay in their context") {
  posset::Runtime runtime = runtime_with_player();
  posset::Context a(runtime), b(runtime);
  a.set("p", std::make_shared<Player>("p"));
  posset::Value p = a.get("p"), list = a.eval("[p]");
  CHECK_THROWS_AS(b.set("p", p), posset::Misuse);
  CHECK_THROWS_AS(b.set("p", list), posset::Misuse);
  auto identity = b.compile<posset::Value(posset::Value)>("x => x");
  CHECK_THROWS_AS(identity(p), posset::Misuse);
}

TEST_CASE("C++ conversions: spans see a script's list where it stands") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  const double* seen = nullptr;
  context.define("sum_of", [&](std::span<const double> xs) {
    seen = xs.data();
    double sum = 0;
    for (double x : xs) sum += x;
    return sum;
  });
  CHECK(context.eval<double>("sum_of([1.5, 2.5])") == 4);
  CHECK(context.eval<double>("sum_of([])") == 0);
  CHECK(context.try_eval("sum_of([1, \"a\"])").error().message() ==
        "argument a of sum_of(a): element 1: expected int or float, got str (\"a\")");
  CHECK(context.try_eval("sum_of(5)").error().message() == "argument a of sum_of(a): expected list of floats, got int (5)");
  posset::Value list = context.eval("[1.0, 2.0, 3.0]");
  auto floats = list.to<std::span<const double>>();
  CHECK(floats.size() == 3);
  auto sum = context.compile<double(posset::Value)>("xs => sum_of(xs)");
  CHECK(sum(list) == 6);
  CHECK(seen == floats.data());
  const std::vector<double> column(1000, 0.5);
  CHECK(context.compile<double(std::span<const double>)>("xs => sum(xs)")(column) == 500);
  CHECK(context.compile<std::vector<double>(const std::vector<double>&)>("xs => map(xs, x => x * 2)")(column)[999] == 1);
}

TEST_CASE("C++ conversions: a list of floats that was stored otherwise, or had ints, was refused as a span") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  context.define("sum_of", [](std::span<const double> xs, std::optional<std::span<const double>> more) {
    double sum = 0;
    for (double x : xs) sum += x;
    for (double x : more.value_or(std::span<const double>())) sum += x;
    return sum;
  });
  context.define("last_of", [](const std::span<const int64_t>& xs) { return xs.back(); });
  CHECK(context.eval<double>("do { var x = [1, 1.5]\nx[0] = 2.5\nsum_of(x) }") == 4);
  CHECK(context.eval<double>("sum_of([1, 2.5]) + sum_of([1, 2])") == 6.5);
  CHECK(context.eval<double>("sum_of([1.0], nil) + sum_of([1.0], [2, 0.5])") == 4.5);
  CHECK(context.eval<std::string>("do { let x = [1, 2.5]\nlet y = x\nsum_of(x)\nstr([x, y]) }") == "[[1, 2.5], [1, 2.5]]");
  CHECK(context.eval<int64_t>("do { var x = [1, \"a\"]\nx[1] = 7\nlast_of(x) }") == 7);
  CHECK(context.try_eval("last_of([1, 2.5])").error().message() ==
        "argument a of last_of(a): element 1: expected int, got float (2.5)");
  CHECK(context.try_eval("sum_of([1.0], [nil])").error().message() ==
        "argument b of sum_of(a, b = nil): element 0: expected int or float, got nil");
}

TEST_CASE("C++ conversions: maps, optionals, tuples, functions, nil") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  using Prices = std::map<std::string, double>;
  context.set("prices", Prices{{"pear", 2.0}, {"plum", 1.0}});
  CHECK(context.eval<std::string>("str(prices)") == "[\"pear\": 2.0, \"plum\": 1.0]");
  CHECK(context.eval<Prices>("map_of([[\"fig\", 3]])").at("fig") == 3);
  CHECK(context.eval<std::optional<int>>("nil") == std::nullopt);
  CHECK(context.eval<std::optional<int>>("3") == 3);
  CHECK(context.eval<std::tuple<int, std::string>>("[1, \"a\"]") == std::tuple(1, std::string("a")));
  CHECK(context.eval<std::vector<std::pair<int, bool>>>("[[1, true], [2, false]]").size() == 2);
  CHECK(!context.try_eval<std::tuple<int, int>>("[1]").ok());
  context.set("nothing", nullptr);
  CHECK(context.eval<bool>("nothing == nil"));
  context.define("apply", [](posset::Function<int(int)> f, std::optional<int> x) { return f(x.value_or(10)); });
  CHECK(context.eval<int>("apply(x => x + 1, nil)") == 11);
  CHECK(context.try_eval("apply(x => [x][5], 1)").error().trace().size() == 3);
  context.define("pairs", [](int n) { return std::make_pair(n, std::vector<bool>{true, n > 1}); });
  CHECK(context.eval<std::string>("str(pairs(2))") == "[2, [true, true]]");
}

TEST_CASE("C++ layer: a module loader") {
  posset::Runtime runtime;
  posset::Context context(runtime);
  context.set_loader([](std::string_view from, std::string_view path) -> std::optional<posset::Source> {
    if (path == "broken") throw std::runtime_error("the disk is on fire, asked for by " + std::string(from));
    if (path != "rules") return std::nullopt;
    return posset::Source{.name = "rules.posset", .text = "export fn rate() => 3", .key = "rules"};
  });
  CHECK(context.eval<int>("import \"rules\"\nrules.rate()") == 3);
  CHECK(context.try_eval("import \"other\"").error().message().find("other") != std::string::npos);
  CHECK(context.try_eval("import \"broken\"").error().report().find("on fire") != std::string::npos);
}

namespace {

// What a script sees of it never changes.
struct Model {
  double rate = 0.5;
  int64_t calls = 0;
  double next(int64_t, std::vector<double> x) const { return rate * x[0] + 1; }
  double join(double a, double b) const { return std::max(a, b); }
  double guess(int64_t, std::vector<double>) { return static_cast<double>(++calls); }
};

}  // namespace

TEST_CASE("C++ host types: what is marked pure may stand where purity is asked for") {
  posset::Runtime runtime;
  posset::Type<Model> type("Model");
  type.property("rate", posset::pure(&Model::rate))
      .property("double_rate", posset::pure([](const Model& m) { return 2 * m.rate; }))
      .property("calls", &Model::calls)
      .method("next", posset::pure(&Model::next))
      .method("larger", posset::pure([](const Model& m, double a, double b) { return m.join(a, b); }))
      .method("guess", &Model::guess);
  runtime.define(std::move(type));
  posset::Context context(runtime);
  Model model;
  posset::Loan loan = context.lend(model);
  context.set("model", loan.value());
  CHECK(context.eval<double>("pure fn f(m) => m.rate + m.double_rate\nf(model)") == 1.5);
  CHECK_FALSE(context.try_eval("pure fn f(m) => m.calls\nf(model)").ok());
  CHECK_FALSE(context.try_eval("model.rate = 1").ok());
  CHECK(context.eval<double>("import \"fixpoint\"\nfixpoint.solve(1, model.next).x[0]") == doctest::Approx(2).epsilon(0.001));
  const auto impure = context.try_eval("import \"fixpoint\"\nfixpoint.solve(1, model.guess)");
  REQUIRE_FALSE(impure.ok());
  CHECK(impure.error().message().find("pure") != std::string::npos);
  CHECK(model.calls == 0);
  posset::Graph graph(context);
  graph.add("sink", posset::Node({"in"}).on_message([](posset::Turn&) {}));
  graph.input("a", "sink:in", {.policy = posset::EdgePolicy::Coalesce, .fold = context.eval("model.larger")});
  CHECK_THROWS_AS(graph.input("b", "sink:in", {.policy = posset::EdgePolicy::Coalesce, .fold = context.eval("model.guess")}),
                  posset::Error);
  const posset_type* found = nullptr;
  REQUIRE(posset_find_type(runtime.handle(), posset::detail::type_key<Model>(), &found) == POSSET_OK);
  std::string pure;
  posset_each_member(found, [](void* data, const posset_member_info* info) {
    if (info->is_pure) *static_cast<std::string*>(data) += std::string(info->name.data, info->name.size) + " ";
    return POSSET_OK;
  }, &pure);
  CHECK(pure == "double_rate larger next rate ");
}

namespace {

struct Named {
  virtual ~Named() = default;
  int id = 1;
};
struct Place {
  int x = 2;
  void set_x(int to) { x = to; }
};
struct Mass {
  int64_t grams = 3;
};
struct Ship : Named, Place, virtual Mass {
  int crew = 4;
};

}  // namespace

TEST_CASE("host callback: a member of a second or virtual base was stored to in another place") {
  posset::Runtime runtime;
  posset::Type<Ship> type("Ship");
  type.property("id", &Ship::id).property("x", &Ship::x).property("grams", &Ship::grams).property("crew", &Ship::crew);
  type.property("x_too", [](const Ship& ship) { return ship.x; }, &Ship::set_x).method("set_x", &Ship::set_x);
  runtime.define(std::move(type));
  posset::Context context(runtime);
  auto ship = std::make_shared<Ship>();
  context.set("ship", ship);
  context.eval("ship.id = 10\nship.x = 20\nship.grams = 30\nship.crew = 40");
  CHECK(ship->id == 10);
  CHECK(ship->x == 20);
  CHECK(ship->grams == 30);
  CHECK(ship->crew == 40);
  context.eval("ship.set_x(21)\nship.x_too += 1");
  CHECK(ship->x == 22);
  CHECK(dynamic_cast<Ship*>(static_cast<Named*>(ship.get())) == ship.get());
  CHECK(context.eval<std::vector<int>>("[ship.id, ship.x, ship.grams, ship.crew]") == std::vector<int>{10, 22, 30, 40});
}

TEST_CASE("host callback: a loan that ended while its context was submitted stayed open") {
  posset::Runtime runtime = runtime_with_player();
  posset::Context context(runtime);
  std::atomic<bool> runs{false}, over{false};
  context.define("work", [&] {
    runs = true;
    while (!over) std::this_thread::yield();
  });
  posset::Future<std::string> future;
  std::thread other;
  {
    auto eve = std::make_unique<Player>("eve");
    posset::Loan loan = context.lend(*eve);
    context.set("eve", loan.value());
    future = context.submit<std::string>("work()\neve.name");
    while (!runs) std::this_thread::yield();
    other = std::thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      over = true;
    });
  }
  CHECK(future.progress() == POSSET_FUTURE_DONE);  // the end of the loan has waited
  CHECK(future.get() == "eve");
  CHECK(context.try_eval("eve.name").error().message() == "this Player is closed: it has no 'name' any more");
  other.join();
}

TEST_CASE("C++ host types: a loan whose evaluation is cancelled ends soon") {
  posset::Runtime runtime = runtime_with_player();
  posset::Context context(runtime);
  Player eve("eve");
  posset::Loan loan = context.lend(eve);
  context.set("eve", loan.value());
  auto future = context.submit("while true { eve.health += 1 }");
  while (future.progress() == POSSET_FUTURE_QUEUED) std::this_thread::yield();
  future.cancel();
  loan.close();
  CHECK(future.try_get().error().is_interrupt());
  CHECK(context.try_eval("eve.health").error().code() == POSSET_ERROR_HostError);
}

namespace {

// Which is called again and again.
struct Sum {
  int total = 0;
  Sum* other = nullptr;
  Sum& add(int n) {
    total += n;
    return *this;
  }
  Sum& wrong() { return *other; }
};
struct BigSum : Named, Sum {};

}  // namespace

TEST_CASE("C++ host types: objects of scripts are read back") {
  posset::Runtime runtime = runtime_with_player();
  posset::Context context(runtime);
  context.define("make", [](std::string name) { return std::make_unique<Player>(std::move(name)); });
  {
    auto kept = context.eval<posset::Handle<Player>>("make(\"ann\")");
    CHECK(kept->name() == "ann");
    CHECK((*kept).health == 10);
    CHECK(Player::alive == 1);
    const posset::Value value = kept.value();
    CHECK(value.to<Player*>() == kept.get());
    CHECK(value.to<const Player*>() == kept.get());
    CHECK(context.compile<bool(posset::Handle<Player>, posset::Value)>("(a, b) => a == b")(kept, value));
    auto same = context.compile<posset::Handle<Player>(posset::Value)>("p => p");
    CHECK(same(value).get() == kept.get());
    context.define("health_of_first", [](const std::vector<Player*>& all) { return all.empty() ? 0 : all[0]->health; });
    context.set("ann", kept);
    CHECK(context.eval<int>("health_of_first([ann, make(\"b\")]) + health_of_first([])") == 10);
  }
  const posset::Value list = context.eval("[make(\"a\"), make(\"b\"), nil]");
  const auto players = list.to<std::vector<Player*>>();
  CHECK(players[1]->name() == "b");
  CHECK(players[2] == nullptr);
  CHECK(!context.eval<posset::Handle<Player>>("nil"));
  CHECK_THROWS_AS(posset::Handle<Player>()->name(), posset::Misuse);
  CHECK(context.try_eval<posset::Handle<Player>>("5").error().message() == "value: expected Player, got int (5)");
  CHECK_THROWS_AS((void)list.to<Player*>(), posset::Error);
}

TEST_CASE("C++ host types: a handle that is kept is closed with its loan") {
  posset::Runtime runtime = runtime_with_player();
  posset::Context context(runtime);
  posset::Handle<Player> kept;
  {
    Player bob("bob");
    posset::Loan loan = context.lend(bob);
    kept = loan.value().to<posset::Handle<Player>>();
    CHECK(kept.get() == &bob);
  }
  CHECK(!kept);
  CHECK_THROWS_WITH(kept->name(), "error: this Player is closed");
}

TEST_CASE("C++ host types: an argument of a script function is lent for the call") {
  posset::Runtime runtime = runtime_with_player();
  posset::Context context(runtime);
  Player ann("ann"), bob("bob");
  auto hit = context.compile<int(Player&, Player*)>("(p, by) => do { p.health -= if by == nil { 1 } else { by.health }\np.health }");
  CHECK(hit(ann, nullptr) == 9);
  CHECK(hit(ann, &bob) == -1);
  CHECK(*hit.try_call(bob, &ann) == 11);
  context.set("kept", 0);
  const posset::Value keep = context.eval("let kept = ref(nil)\n[p => do { kept.value = p }, () => kept.value.name]");
  keep[0](ann);
  CHECK(keep[1].try_call().error().message() == "this Player is closed: it has no 'name' any more");
  context.define("fail", [&] { throw std::runtime_error("failed"); });
  CHECK(!context.compile<void(Player&)>("p => fail()").try_call(ann).ok());
  struct Unknown {
  } unknown;
  CHECK_THROWS_AS(context.compile<void(Unknown&)>("x => x")(unknown), posset::Misuse);
}

TEST_CASE("C++ host types: methods that give their own object can be chained") {
  posset::Runtime runtime;
  posset::Type<BigSum> type("BigSum");
  type.property("total", &BigSum::total)
      .method("add", &BigSum::add)
      .method("twice", [](BigSum& sum, int n) -> BigSum& { return static_cast<BigSum&>(sum.add(n).add(n)); })
      .method("wrong", &BigSum::wrong);
  runtime.define(std::move(type));
  posset::Context context(runtime);
  auto sum = std::make_shared<BigSum>();
  Sum other;
  sum->other = &other;
  context.set("tally", sum);
  CHECK(context.eval<int>("tally.add(1).twice(10).add(2).total") == 23);
  CHECK(context.eval<bool>("tally.add(0) == tally"));
  CHECK(context.try_eval("tally.wrong()").error().message() == "the method gives a reference to another object than its own");
  CHECK(context.try_eval("tally.add(\"x\")").error().code() == POSSET_ERROR_TypeMismatch);
}
