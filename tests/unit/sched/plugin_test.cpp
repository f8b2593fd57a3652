// Finding shared objects: beside the program, by the linker's search, by path, and not at all.
#include "sched/base/plugin.h"

#include <doctest/doctest.h>

using posset::sched::plugin_symbol;

TEST_CASE("plugin: what is not there is null, and the linker says why") {
  std::string problem;
  CHECK(plugin_symbol("libposset_there_is_no_such_thing.so", "anything", &problem) == nullptr);
  CHECK(problem.find("libposset_there_is_no_such_thing.so") != std::string::npos);
  CHECK(plugin_symbol("/nowhere/libposset_arena.so", "posset_arena_v1") == nullptr);
}

TEST_CASE("plugin: a library without the symbol is as good as none") {
  std::string problem;
  CHECK(plugin_symbol("libc.so.6", "posset_arena_v1", &problem) == nullptr);
  CHECK(problem.find("posset_arena_v1") != std::string::npos);
}

TEST_CASE("plugin: the linker's own search finds what is not beside the program") {
  CHECK(plugin_symbol("libc.so.6", "malloc") != nullptr);
}
