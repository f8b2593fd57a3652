// A loop like that of a game: the host owns the monsters and the player, scripts say how they behave. A monster that
// dies is taken away from the script, which may still hold it. Prints each tick, and what happens to a handle whose
// object has gone.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <posset/posset.hpp>

namespace {

class Actor {
 public:
  Actor(std::string name, double x, int health) : health(health), name_(std::move(name)), x_(x) {}
  const std::string& name() const { return name_; }
  double x() const { return x_; }
  void move(double dx) { x_ += dx; }
  double distance(const Actor& other) const { return other.x_ > x_ ? other.x_ - x_ : x_ - other.x_; }
  int health;

 private:
  std::string name_;
  double x_;
};

const char* const kScript = R"(
let hits = ref([])                        # whom the player has hit, most recent last

export fn tick(player, monsters) {
  for m in monsters {
    if m.distance(player) > 1.0 {
      m.move(if player.x > m.x { 1.0 } else { -1.0 })
    } else {
      player.health -= 1
    }
  }
  let near = monsters |> filter(m => m.distance(player) <= 1.0)
  if len(near) > 0 {
    near[0].health -= 4
    hits.value.push(near[0])
  }
  "{player.name} {player.health}, near: {len(near)}"
}

export fn last_hit() => last(hits.value).name
)";

// One actor of the host, and the loan by which scripts see it.
struct Entry {
  Entry(posset::Context& context, std::string name, double x, int health)
      : actor(std::make_unique<Actor>(std::move(name), x, health)), loan(context.lend(*actor)) {}
  std::unique_ptr<Actor> actor;
  posset::Loan loan;  // ends before the actor does
};

}  // namespace

int main() {
  posset::Runtime runtime;
  posset::Type<Actor> type("Actor", "The player or a monster.");
  type.property("name", &Actor::name)
      .property("x", &Actor::x)
      .property("health", &Actor::health)
      .method("move", &Actor::move, "Goes dx to the right.")
      .method("distance", &Actor::distance)
      .label([](const Actor& a) { return a.name(); });
  runtime.define(std::move(type));

  // A frame must not take longer than a fraction of a second, whatever the script does.
  posset::Context context(runtime, {.memory_limit = 32 << 20, .time_limit_seconds = 0.5});
  posset::Program program = context.load("game.posset", kScript);
  program.run();
  auto tick = program.function<std::string(posset::Value, std::vector<posset::Value>)>("tick");

  Entry player(context, "ann", 0, 10);
  std::vector<Entry> monsters;
  monsters.emplace_back(context, "bat", 3, 4);
  monsters.emplace_back(context, "rat", -2, 8);
  for (int frame = 1; frame <= 5; ++frame) {
    std::vector<posset::Value> seen;
    for (const Entry& each : monsters) seen.push_back(each.loan.value());
    std::printf("%d: %s\n", frame, tick(player.loan.value(), seen).c_str());
    std::erase_if(monsters, [](const Entry& each) {
      if (each.actor->health <= 0) std::printf("   %s dies\n", each.actor->name().c_str());
      return each.actor->health <= 0;
    });
  }
  auto last = program.function<std::string()>("last_hit").try_call();
  std::printf("%s\n", last.ok() ? last->c_str() : last.error().message().c_str());
}
