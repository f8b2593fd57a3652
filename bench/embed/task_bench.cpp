// What tasks of scripts cost, on the thread that evaluates: starting one and awaiting it, handing a value over a channel,
// one value of a generator; each as items per second of a loop in a script. Beside it a coroutine of LuaJIT that is made and
// resumed once, and one that yields values. Every script gives its answer, which is checked.
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>
#ifdef WITH_LUAJIT
#include <lua.hpp>
#endif

#include <posset/posset.hpp>

namespace {

constexpr int64_t kItems = 100000;
constexpr int64_t kSum = kItems * (kItems - 1) / 2;

// `run(n)` adds up 0 .. n - 1.
constexpr const char* kSpawn = R"(
fn same(x) => x
fn run(n) {
  var total = 0
  for i in 0..n { total += await spawn same(i) }
  total
})";
constexpr const char* kChannel = R"(
fn produce(c, n) {
  for i in 0..n { c.send(i) }
  c.close()
}
fn pass(n, room) {
  let c = chan(room)
  spawn produce(c, n)
  var total = 0
  for x in c { total += x }
  total
}
fn run(n) => pass(n, 0)
fn run_with_room(n) => pass(n, 64)
)";
constexpr const char* kGenerator = R"(
fn run(n) {
  var total = 0
  for x in gen(emit => { for i in 0..n { emit(i) } }) { total += x }
  total
})";

void script(benchmark::State& state, const char* source, const char* name) {
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 64 << 20});
  auto run = context.compile<int64_t(int64_t)>(std::string(source) + "\n" + name);
  for (int i = 0; i < 20; ++i) {
    if (run(kItems) != kSum) return state.SkipWithError("another sum");
  }
  for (auto _ : state) benchmark::DoNotOptimize(run(kItems));
  state.SetItemsProcessed(state.iterations() * kItems);
}

BENCHMARK_CAPTURE(script, spawn_and_await, kSpawn, "run");
BENCHMARK_CAPTURE(script, channel, kChannel, "run");
BENCHMARK_CAPTURE(script, channel_with_room, kChannel, "run_with_room");
BENCHMARK_CAPTURE(script, generator, kGenerator, "run");

#ifdef WITH_LUAJIT
constexpr const char* kLuaMake = R"(
return function(n)
  local total = 0
  for i = 0, n - 1 do
    local made = coroutine.create(function(x) return x end)
    local _, value = coroutine.resume(made, i)
    total = total + value
  end
  return total
end)";
constexpr const char* kLuaYield = R"(
return function(n)
  local total = 0
  for x in coroutine.wrap(function() for i = 0, n - 1 do coroutine.yield(i) end end) do total = total + x end
  return total
end)";

void luajit(benchmark::State& state, const char* source) {
  lua_State* lua = luaL_newstate();
  luaL_openlibs(lua);
  if (luaL_dostring(lua, source) != 0) return state.SkipWithError(lua_tostring(lua, -1));
  auto run = [&] {
    lua_pushvalue(lua, -1);
    lua_pushinteger(lua, kItems);
    lua_call(lua, 1, 1);
    const auto sum = static_cast<int64_t>(lua_tonumber(lua, -1));
    lua_pop(lua, 1);
    return sum;
  };
  if (run() != kSum) return state.SkipWithError("another sum");
  for (auto _ : state) benchmark::DoNotOptimize(run());
  state.SetItemsProcessed(state.iterations() * kItems);
  lua_close(lua);
}

BENCHMARK_CAPTURE(luajit, coroutine_made_and_resumed, kLuaMake);
BENCHMARK_CAPTURE(luajit, coroutine_yields, kLuaYield);
#endif

}  // namespace

BENCHMARK_MAIN();
