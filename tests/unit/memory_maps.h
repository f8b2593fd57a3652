// What the system says about this process's memory.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "sched/base/huge_pages.h"

namespace posset::test {

// Whether the system was asked for huge pages where `memory` lies, by its own account.
inline bool is_asked_for_huge_pages(const void* memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from, to;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) here = from <= address && address < to;
    if (here && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
  }
  return false;
}

// Systems without huge pages, and sanitizers, have nothing to ask for.
inline bool knows_huge_pages() {
  const size_t bytes = size_t{4} << 20;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  CHECK(!is_asked_for_huge_pages(memory));
  sched::advise_huge_pages(memory, bytes);
  const bool knows = is_asked_for_huge_pages(memory);
  munmap(memory, bytes);
  return knows;
}

}  // namespace posset::test
