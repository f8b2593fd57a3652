// Host objects: properties, methods, identity, memory, their end; the same in every tier. Nothing a script does may
// use an object after the host has it back.
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"

using posset::test::str;
using posset::test::text;
using posset::test::World;

namespace {

struct Player {
  int64_t health = 10;
  double x = 0, y = 0;
  posset_value bag = posset_nil();  // of the context
  int dropped = 0;
};

Player& self(posset_call* call) { return *static_cast<Player*>(call->self); }

posset_status get_health(posset_call* call) { return posset_return(call, posset_int(self(call).health)); }
posset_status set_health(posset_call* call) { return posset_want_int(call, 0, &self(call).health); }
posset_status get_x(posset_call* call) { return posset_return(call, posset_float(self(call).x)); }
posset_status get_bag(posset_call* call) { return posset_return(call, posset_retain(self(call).bag)); }
posset_status set_bag(posset_call* call) {
  posset_release(self(call).bag);
  self(call).bag = posset_retain(posset_argument(call, 0));
  return POSSET_OK;
}
posset_status get_name(posset_call* call) { return posset_return_string(call, text("a name that is long enough for the heap")); }
posset_status get_broken(posset_call* call) {
  return posset_raise(call->context, POSSET_ERROR_HostError, text("broken on purpose"));
}
// Tries all that an accessor may not do.
posset_status get_meddling(posset_call* call) {
  posset_value out = posset_nil();
  int refused = posset_eval(call->context, text("1"), &out, nullptr) == POSSET_BUSY;
  refused += posset_set_global(call->context, text("player"), posset_nil()) == POSSET_BUSY;
  refused += posset_session_eval(call->context, text("i"), text("1"), &out, nullptr) == POSSET_BUSY;
  refused += posset_context_finish(call->context) == POSSET_MISUSE;
  return posset_return(call, posset_int(refused));
}

posset_status move_by(posset_call* call) {
  double dx = 0, dy = 0;
  if (posset_want_number(call, 0, &dx) || posset_want_number(call, 1, &dy)) return POSSET_RAISED;
  self(call).x += dx;
  self(call).y += dy;
  return POSSET_OK;
}
posset_status twice(posset_call* call) {  // calls back
  posset_value argument = posset_retain(call->self_value);
  posset_status status = posset_invoke(call->context, call->arguments[0], &argument, 1, nullptr);
  argument = posset_retain(call->self_value);
  return status == POSSET_OK ? posset_invoke(call->context, call->arguments[0], &argument, 1, &call->result) : status;
}
posset_status leave(posset_call* call) { return posset_host_close(call->context, call->self_value); }

const posset_property_row kProperties[] = {
    {"health", "Points left.", get_health, set_health, nullptr},
    {"x", "", get_x, nullptr, nullptr},
    {"bag", "", get_bag, set_bag, nullptr},
    {"name", "", get_name, nullptr, nullptr},
    {"broken", "", get_broken, nullptr, nullptr},
    {"meddling", "", get_meddling, nullptr, nullptr},
};

posset_function_row method(const char* name, const char* signature, uint32_t count, posset_function f) {
  posset_function_row row = {};
  row.name = name;
  row.signature = signature;
  row.doc = "";
  row.min_arguments = row.max_arguments = count;
  row.function = f;
  return row;
}

void drop_player(void* data) {
  auto* player = static_cast<Player*>(data);
  ++player->dropped;
  posset_release(std::exchange(player->bag, posset_nil()));
}

const char kKey = 0;

const posset_type* add_type(posset_runtime* runtime) {
  const posset_function_row methods[] = {method("move", "move(dx, dy)", 2, move_by),
                                         method("twice", "twice(f)", 1, twice), method("leave", "leave()", 0, leave)};
  posset_type_row row = posset_type_of("Player");
  row.key = &kKey;
  row.properties = kProperties;
  row.property_count = std::size(kProperties);
  row.methods = methods;
  row.method_count = std::size(methods);
  row.label = [](const void* object, char* out, size_t capacity) {
    return static_cast<size_t>(
        std::snprintf(out, capacity, "%d", static_cast<int>(static_cast<const Player*>(object)->health)));
  };
  const posset_type* type = nullptr;
  REQUIRE(posset_register_type(runtime, &row, &type) == POSSET_OK);
  return type;
}

// A runtime of one way to run code, with the type Player.
posset_runtime* runtime_with(posset_runtime_options options, const posset_type** type) {
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
  *type = add_type(runtime);
  return runtime;
}

struct Game {
  explicit Game(posset_runtime_options options = posset_runtime_defaults(),
                posset_context_options limits = posset_context_defaults())
      : runtime(runtime_with(options, &type)), world(runtime, limits) {
    REQUIRE(posset_set_global(world.context, text("player"), handle()) == POSSET_OK);
  }
  ~Game() { posset_runtime_release(runtime); }
  posset_value handle(size_t bytes = 0) {
    posset_object object = posset_object_of(&player);
    object.bytes = bytes;
    object.drop = drop_player;
    object.data = &player;
    posset_value value = posset_nil();
    REQUIRE(posset_host(world.context, type, &object, &value) == POSSET_OK);
    return value;
  }
  std::string show(std::string_view source) { return world.show(source); }

  Player player;  // outlives the world
  const posset_type* type = nullptr;
  posset_runtime* runtime;
  World world;
};

// Every way to run code that this build has.
std::vector<posset_runtime_options> all_tiers() {
  std::vector<posset_runtime_options> all;
  for (int tier = 0; tier <= 3; ++tier) {
    if (tier >= 2 && !posset_native_tier(tier)) continue;
    posset_runtime_options options = posset_runtime_defaults();
    options.max_tier = options.forced_tier = tier;
    all.push_back(options);
  }
  return all;
}

}  // namespace

TEST_CASE("host objects: properties and methods, the same in every tier") {
  struct Row {
    const char* source;
    const char* value;
  };
  const Row rows[] = {
      {"player.health", "10"},
      {"player.health -= 3\nplayer.health", "7"},
      {"player.health = player.health * 2 + 1\nplayer.health", "21"},
      {"fn hit(p, n) { p.health -= n\n p.health }\nhit(player, 4)", "6"},
      {"let p = player\np.health += 1\n[p.health, player.health]", "[11, 11]"},
      {"var p = player\np.health += 1\n[p.health, player.health]", "[11, 11]"},
      {"for p in [player, player] { p.health -= 1 }\nplayer.health", "8"},
      {"fn f() { let p = player\n var n = 0\n for i in 0..300 { p.health += i % 2\n n += p.health }\n n }\n[f(), player.health]",
       "[25500, 160]"},
      {"let hit = () => player.health -= 1\nhit()\nhit()\nplayer.health", "8"},
      {"let world = {players: [player]}\nworld.players[0].health -= 2\nplayer.health", "8"},
      {"var world = {players: [player]}\nworld.players[0].health -= 2\nplayer.health", "8"},
      {"let r = ref(player)\nr.value.health -= 2\nplayer.health", "8"},
      {"player.move(1, 2)\nplayer.move(0.5, 1)\nplayer.x", "1.5"},
      {"let step = player.move\nstep(1, 1)\nstep(1, 1)\nplayer.x", "2.0"},
      {"[1, 2, 3].each(n => player.move(n, 0))\nplayer.x", "6.0"},
      {"player.twice(p => p.health -= 2)\nplayer.health", "6"},
      {"player.bag = []\nplayer.bag.push(\"rope\")\nplayer.bag.push(\"lamp\")\nplayer.bag", "[\"rope\", \"lamp\"]"},
      {"player.bag = [1, 2]\nwith b = &player.bag { b[0] = 7\n b.push(3) }\nplayer.bag", "[7, 2, 3]"},
      {"player.bag = nil\nplayer.bag ?" "?= [1]\nplayer.bag", "[1]"},
      {"fn add(inout xs, x) { xs.push(x) }\nplayer.bag = []\nadd(&player.bag, 1)\nplayer.bag", "[1]"},
      {"var p = player\n[p.health, p.x] = [1, 2]", "raised: cannot assign to 'x' of Player: it is read-only"},
      {"type(player)", "\"Player\""},
      {"str(player)", "\"<Player 10>\""},
      {"type(player.move)", "\"fn\""},
      {"str(player.move)", "\"<fn move>\""},
      {"player == player and [player] == [player] and player.move == player.move", "true"},
      {"player == nil or player == 1", "false"},
      {"match player { {health: h} => h, _ => \"opaque\" }", "\"opaque\""},
      {"player?.health", "10"},
      {"len(player.name)", "39"},
      {"player.name[0] + player.name[7]", "\"at\""},
      {"player.meddling", "4"},
      {"(f => f(1, 2))(player.move)\nplayer.x", "1.0"},
      {"let f: fn = player.move\nf(1, 1)\nplayer.x", "1.0"},
  };
  for (const posset_runtime_options& options : all_tiers()) {
    for (const Row& row : rows) {
      Game game(options);
      CAPTURE(options.forced_tier);
      CAPTURE(std::string(row.source));
      CHECK(game.show(row.source) == std::string(row.value));
    }
  }
}

TEST_CASE("host objects: what goes wrong is said clearly, the same in every tier") {
  struct Row {
    const char* source;
    const char* message;
  };
  const Row rows[] = {
      {"player.helth", "no field 'helth' in Player"},
      {"var p = player\np.x = 1.0", "cannot assign to 'x' of Player: it is read-only"},
      {"var p = player\np.move = nil", "cannot assign to 'move' of Player: it is a method"},
      {"player.health = \"much\"", "argument value of health(value): expected int, got str (\"much\")"},
      {"player.health += \"much\"", "cannot add int and str (10 + \"much\")"},
      {"player.move(1)", "move(dx, dy) takes 2 arguments, got 1"},
      {"player.move(1, \"a\")", "argument dy of move(dx, dy): expected int or float, got str (\"a\")"},
      {"player.broken", "broken on purpose"},
      {"player.bag = [1]\nplayer.bag[0] = 2", "cannot change a part of 'bag' of Player, which is a value that the host gives"},
      {"player + 1", "cannot add Player and int (<Player 10> + 1)"},
      {"player[0]", "cannot index Player (<Player 10>)"},
      {"[player: 1]", "Player cannot be a map key: got <Player 10>"},
      {"for x in player { }", "cannot iterate over Player (<Player 10>)"},
      {"player()", "<Player 10> is not a function"},
      {"player < player", "cannot compare Player and Player (<Player 10> < <Player 10>)"},
      {"player.leave()\nplayer.health", "this Player is closed: it has no 'health' any more"},
      {"player.leave()\nplayer.health = 1", "this Player is closed: it has no 'health' any more"},
      {"let m = player.move\nplayer.leave()\nm(1, 2)", "this Player is closed: it has no 'move' any more"},
      {"player.leave()\nthrow str(player)", "<Player (closed)>"},
      {"fn f(p) { p.health = 1 }\nf({health: 2})",
       "cannot assign to a field of record ({health: 2}) through a name that is no var"},
      {"fn f(p) { p.health = 1 }\nf(ref({health: 2}))",
       "cannot assign to a field of ref (ref({health: 2})) through a name that is no var"},
  };
  for (const posset_runtime_options& options : all_tiers()) {
    for (const Row& row : rows) {
      Game game(options);
      CAPTURE(options.forced_tier);
      CHECK(game.show(row.source) == std::string("raised: ") + row.message);
    }
  }
}

TEST_CASE("host objects: a property that cannot be written is named, also where the host has set the object") {
  Game game;
  auto message = [&](const char* source) {
    posset_diagnostics* found = nullptr;
    CHECK(posset_eval(game.world.context, text(source), nullptr, &found) == POSSET_INVALID);
    posset_diagnostic first = {};
    first.size = sizeof first;
    CHECK(posset_diagnostics_get(found, 0, &first) == POSSET_OK);
    const std::string said = posset::test::str(first.message);
    posset_diagnostics_free(found);
    return said;
  };
  const std::string end = "the host has set 'player', and no object of the host has a property ";
  CHECK(message("player.x = 1.0") == "cannot assign to 'x' of 'player': " + end + "'x' that can be written");
  CHECK(message("player.nosuch += 1") == "cannot assign to 'nosuch' of 'player': " + end + "'nosuch' that can be written");
  CHECK(message("player = 1") == "cannot assign to 'player': it is a value the host has set");
  CHECK(game.show("player.health = 7\nplayer.health") == "7");
}

TEST_CASE("host objects: names of properties change nothing for records") {
  Game game;
  CHECK(game.show("var p = {health: 1, x: 2}\np.health += 1\np.x += p.health\np") == "{health: 2, x: 4}");
  CHECK(game.show("let p = {health: 1}\np.health = 2") == "the source does not parse or resolve");
  CHECK(game.show("let r = ref({health: 1})\nr.value.health = 2\nr") == "ref({health: 2})");
  CHECK(game.show("fn f(p) => p.health\nsum([for i in 0..10 => f({health: i})])") == "45");
  // Without the type the assignment to a parameter is found before anything runs.
  World plain;
  CHECK(plain.show("fn f(p) { p.health = 1 }") == "the source does not parse or resolve");
}

TEST_CASE("host objects: each is given back once, when the last handle is gone") {
  Game game;
  CHECK(game.show("let keep = [player, {p: player}, () => player]\nlen(keep)") == "3");
  CHECK(game.player.dropped == 0);
  REQUIRE(posset_set_global(game.world.context, text("player"), posset_nil()) == POSSET_OK);
  REQUIRE(posset_context_finish(game.world.context) == POSSET_OK);
  CHECK(game.player.dropped == 1);
}

TEST_CASE("host objects: a method that is kept keeps its object") {
  Game game;
  posset_value bound = posset_nil();
  REQUIRE(game.world.eval("player.move", &bound) == POSSET_OK);
  CHECK(posset_kind_of(bound) == POSSET_FN);
  posset_function_info info = {};
  info.size = sizeof info;
  REQUIRE(posset_describe_function(game.world.context, bound, &info) == POSSET_OK);
  CHECK(str(info.name) == "move");
  CHECK(info.min_arguments == 2);
  REQUIRE(posset_set_global(game.world.context, text("player"), posset_nil()) == POSSET_OK);
  CHECK(game.player.dropped == 0);
  posset_value arguments[] = {posset_float(1), posset_float(2)};
  CHECK(posset_invoke(game.world.context, bound, arguments, 2, nullptr) == POSSET_OK);
  CHECK(game.player.x == 1);
  posset_release(bound);
  CHECK(game.player.dropped == 1);
}

TEST_CASE("host objects: the end of a context gives back what a cycle through the host holds") {
  Player player;
  {
    const posset_type* type = nullptr;
    posset_runtime* runtime = runtime_with(posset_runtime_defaults(), &type);
    posset_context* context = nullptr;
    REQUIRE(posset_context_create(runtime, nullptr, &context) == POSSET_OK);
    posset_object object = posset_object_of(&player);
    object.drop = drop_player;
    object.data = &player;
    posset_value value = posset_nil();
    REQUIRE(posset_host(context, type, &object, &value) == POSSET_OK);
    REQUIRE(posset_set_global(context, text("player"), value) == POSSET_OK);
    REQUIRE(posset_eval(context, text("player.bag = [player]"), nullptr, nullptr) == POSSET_OK);
    REQUIRE(posset_context_finish(context) == POSSET_OK);
    CHECK(player.dropped == 0);
    posset_context_release(context);
    posset_runtime_release(runtime);
  }
  CHECK(player.dropped == 1);
}

TEST_CASE("host objects: closing gives back at once, and closing again nothing") {
  Game game;
  posset_value handle = game.handle();
  CHECK(posset_host_pointer(handle, game.type) == &game.player);
  CHECK(posset_host_close(game.world.context, handle) == POSSET_OK);
  CHECK(game.player.dropped == 1);
  CHECK(posset_host_close(game.world.context, handle) == POSSET_OK);
  CHECK(posset_host_pointer(handle, game.type) == nullptr);
  CHECK(posset_host_type(handle) == game.type);
  posset_release(handle);
  CHECK(game.player.dropped == 1);
  CHECK(game.show("player.health") == "10");  // another handle of the same object
}

TEST_CASE("host objects: what is behind one counts against the memory limit") {
  posset_context_options limits = posset_context_defaults();
  limits.memory_limit = 4 << 20;
  Game game(posset_runtime_defaults(), limits);
  const uint64_t before = game.world.statistics().used_bytes;
  posset_value handle = game.handle(1 << 20);
  CHECK(game.world.statistics().used_bytes >= before + (1 << 20));
  posset_release(handle);
  CHECK(game.world.statistics().used_bytes < before + 4096);
  Player other;
  posset_object object = posset_object_of(&other);
  object.bytes = 16 << 20;
  object.drop = drop_player;
  object.data = &other;
  CHECK(posset_host(game.world.context, game.type, &object, &handle) == POSSET_RAISED);
  CHECK(game.world.problem().code == POSSET_ERROR_MemoryLimit);
  CHECK(other.dropped == 1);
  // Handles alone cannot fill the memory either.
  CHECK(game.show("var all = []\nwhile true { all.push(player.move) }").find("raised: memory limit") == 0);
  CHECK(game.show("player.health") == "10");
}

TEST_CASE("host objects: no way into another context") {
  const posset_type* type = nullptr;
  posset_runtime* runtime = runtime_with(posset_runtime_defaults(), &type);
  {
    World a(runtime, posset_context_defaults()), b(runtime, posset_context_defaults());
    Player player;
    posset_object object = posset_object_of(&player);
    posset_value handle = posset_nil();
    REQUIRE(posset_host(a.context, type, &object, &handle) == POSSET_OK);
    CHECK(posset_set_global(b.context, text("player"), handle) == POSSET_MISUSE);
    CHECK(posset_host_close(b.context, handle) == POSSET_MISUSE);
    posset_value f = posset_nil(), argument = handle;
    REQUIRE(b.eval("x => x", &f) == POSSET_OK);
    CHECK(posset_invoke(b.context, f, &argument, 1, nullptr) == POSSET_MISUSE);
    CHECK(posset_host_pointer(argument, type) == &player);  // still ours
    posset_function_row smuggle = method("smuggle", "smuggle()", 0, [](posset_call* call) {
      return posset_return(call, posset_retain(*static_cast<posset_value*>(call->data)));
    });
    smuggle.data = &handle;
    REQUIRE(posset_define(b.context, &smuggle, sizeof smuggle, nullptr) == POSSET_OK);
    CHECK(b.show("smuggle()") == "raised: smuggle gave a value of another context");
    posset_release(f);
    posset_release(handle);
  }
  posset_runtime_release(runtime);
}

TEST_CASE("host objects: registering") {
  posset_runtime* runtime = posset::test::make_runtime();
  const posset_type* type = add_type(runtime);
  CHECK(str(posset_type_text(type)) == "Player");
  const posset_type* found = nullptr;
  CHECK(posset_find_type(runtime, &kKey, &found) == POSSET_OK);
  CHECK(found == type);
  CHECK(posset_find_type(runtime, &found, &found) == POSSET_NOT_FOUND);
  std::string names;
  posset_each_member(type, [](void* data, const posset_member_info* info) {
    *static_cast<std::string*>(data) += str(info->signature) + (info->is_writable ? "= " : " ");
    return POSSET_OK;
  }, &names);
  CHECK(names == "bag= broken health= leave() meddling move(dx, dy) name twice(f) x ");

  auto status_of = [&](posset_type_row row) { return posset_register_type(runtime, &row, nullptr); };
  int dropped = 0;
  posset_type_row row = posset_type_of("Player");
  row.data = &dropped;
  row.drop = [](void* data) { ++*static_cast<int*>(data); };
  CHECK(status_of(row) == POSSET_EXISTS);
  CHECK(dropped == 1);
  CHECK(status_of(posset_type_of("no identifier")) == POSSET_MISUSE);
  CHECK(status_of(posset_type_of(nullptr)) == POSSET_MISUSE);
  const posset_function_row shadowed[] = {method("push", "push(x)", 1, leave)};
  row = posset_type_of("Bag");
  row.methods = shadowed;
  row.method_count = 1;
  CHECK(status_of(row) == POSSET_EXISTS);  // x.push(1) would mean the built-in
  const posset_property_row twice_there[] = {kProperties[0], kProperties[0]};
  row = posset_type_of("Bag");
  row.properties = twice_there;
  row.property_count = 2;
  CHECK(status_of(row) == POSSET_EXISTS);
  posset_property_row changing = kProperties[0];
  changing.pure = true;
  row.properties = &changing;
  row.property_count = 1;
  CHECK(status_of(row) == POSSET_MISUSE);
  row.properties = nullptr;
  CHECK(status_of(row) == POSSET_MISUSE);
  CHECK(status_of(posset_type_of("Bag")) == POSSET_OK);  // nothing was left of the failures
  posset_context* context = nullptr;
  REQUIRE(posset_context_create(runtime, nullptr, &context) == POSSET_OK);
  CHECK(status_of(posset_type_of("Late")) == POSSET_MISUSE);
  posset_context_release(context);
  posset_runtime_release(runtime);
}

TEST_CASE("host objects: a closed one as an argument is said to be closed, not to be of another type") {
  Game game;
  posset_function_row row = {};
  row.name = "greet";
  row.signature = "greet(p)";
  row.doc = "";
  row.min_arguments = row.max_arguments = 1;
  row.function = [](posset_call* call) { return posset_raise_kind(call, 0, "Player"); };
  REQUIRE(posset_define(game.world.context, &row, sizeof row, nullptr) == POSSET_OK);
  CHECK(game.show("player.leave()\ngreet(player)") == "raised: argument p of greet(p): this Player is closed");
  CHECK(game.show("greet(1)") == "raised: argument p of greet(p): expected Player, got int (1)");
}

TEST_CASE("host objects: a label gives text, whatever its bytes") {
  struct Row {
    std::string bytes, shown;
  };
  const std::string a126(126, 'a');
  static const std::string* written = nullptr;
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_default_runtime(nullptr, &runtime) == POSSET_OK);
  posset_type_row row = posset_type_of("Lab");
  row.label = [](const void*, char* out, size_t capacity) {
    const size_t size = std::min(capacity, written->size());
    std::memcpy(out, written->data(), size);
    return size;
  };
  const posset_type* type = nullptr;
  REQUIRE(posset_register_type(runtime, &row, &type) == POSSET_OK);
  World w(runtime, posset_context_defaults());
  posset_runtime_release(runtime);
  int object = 0;
  posset_value handle = posset_nil();
  const posset_object given = posset_object_of(&object);
  REQUIRE(posset_host(w.context, type, &given, &handle) == POSSET_OK);
  REQUIRE(posset_set_global(w.context, text("lab"), handle) == POSSET_OK);
  for (const Row& each : {Row{"\xff\xfe", "\uFFFD\uFFFD"}, Row{"é\xc3", "é\uFFFD"}, Row{a126 + "aé", a126 + "a"},
                          Row{a126 + "é", a126 + "é"}, Row{a126 + "\U0001F600", a126}, Row{"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"}}) {
    written = &each.bytes;
    CHECK(w.show("str(lab)") == "\"<Lab " + each.shown + ">\"");
  }
}

TEST_CASE("host objects: errors say which function of the host raised") {
  Game game;
  REQUIRE(game.world.eval("fn f() => player.broken\nf()") == POSSET_RAISED);
  posset_error* error = posset_take_error(game.world.context);
  REQUIRE(error != nullptr);
  CHECK(str(posset_error_trace(error, 0)) == "in broken (host)");
  CHECK(str(posset_error_trace(error, 1)).find("in f (") == 0);
  posset_error_free(error);
  CHECK(game.show("try { player.broken } catch e { e.trace[0] }") == "\"in broken (host)\"");
}

TEST_CASE("host objects: reading one is impure for who asks") {
  Game game;
  CHECK(game.show("pure fn f(p) => p.health") == "the source does not parse or resolve");
  CHECK(game.show("pure fn f(p) => p.other\nf({other: 1})") == "1");
}

TEST_CASE("host objects: a name that one type marks pure and another does not is impure") {
  posset_runtime* runtime = posset::test::make_runtime();
  const auto get = [](posset_call* call) { return posset_return(call, posset_int(1)); };
  const posset_property_row one[] = {{"both", "", get, nullptr, nullptr, true}, {"only", "", get, nullptr, nullptr, true}};
  const posset_property_row other[] = {{"both", "", get, nullptr, nullptr, false}};
  posset_type_row row = posset_type_of("One");
  row.properties = one, row.property_count = 2;
  REQUIRE(posset_register_type(runtime, &row, nullptr) == POSSET_OK);
  row = posset_type_of("Other");
  row.properties = other, row.property_count = 1;
  REQUIRE(posset_register_type(runtime, &row, nullptr) == POSSET_OK);
  {
    World w(runtime, posset_context_defaults());
    CHECK(w.show("pure fn f(p) => p.only\nf({only: 2})") == "2");
    CHECK(w.show("pure fn f(p) => p.both\nf({both: 2})") == "the source does not parse or resolve");
  }
  posset_runtime_release(runtime);
}
