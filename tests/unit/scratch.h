// A folder of its own for one test, where the machine keeps what is temporary; gone with everything in it when the
// test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

namespace posset::test {

struct ScratchFolder {
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "posset-test-XXXXXX";
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path path;
};

}  // namespace posset::test
