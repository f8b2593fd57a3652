// Runs generated programs in the tree walker and in native code made for what they do, and compares all that
// can be observed, as program_fuzz does for bytecode:
//
//   native_stress [PROGRAMS [SEED [RUNS]]]        a program that differs is printed, and the exit status is 1
//
// Native code depends on what has run before. So each program runs RUNS times in one runtime with low
// thresholds, and between runs every compilation is waited for: the first run counts and records, the later
// ones are in ever higher tiers, with exits where the profile was too narrow.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <posset/posset.h>

#include "program_generator.h"
#include "program_run.h"

namespace {

using namespace posset::fuzz;

constexpr int kProgramsPerRuntime = 32;
constexpr size_t kMostBytes = 600;

std::string random_program(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(random() % kMostBytes);
  for (uint8_t& each : bytes) each = static_cast<uint8_t>(random());
  return generate_program(bytes.data(), bytes.size());
}

// As in program_fuzz: memory differs between tiers, and `runtime` tells them apart.
bool agree(const std::string& text, const Outcome& walker, const Outcome& native) {
  if (walker.live_objects || native.live_objects) return false;
  if (walker.memory_limited || native.memory_limited || text.find("runtime") != std::string::npos) return true;
  return walker.describe() == native.describe();
}

bool same_in_all_runs(TierRuntime& walker, TierRuntime& native, uint64_t seed, int runs) {
  const std::string text = random_program(seed);
  const Limits limits = limits_for(text);
  const Outcome expected = run_program(walker, text, limits);
  for (int run = 1; run <= runs; ++run) {
    const Outcome outcome = run_program(native, text, limits);
    posset_runtime_settle(native.get());
    if (agree(text, expected, outcome)) continue;
    std::printf("MISMATCH, seed %llu, run %d\n---- tier 0 ----\n%s---- native ----\n%s---- program ----\n%s\n",
                static_cast<unsigned long long>(seed), run, expected.describe().c_str(),
                outcome.describe().c_str(), text.c_str());
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t programs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const int runs = argc > 3 ? std::atoi(argv[3]) : 6;
  TierRuntime walker(Tier::Walker), native(Tier::Native);
  for (uint64_t n = 0; n < programs; ++n) {
    if (n % kProgramsPerRuntime == 0) {
      walker.renew();
      native.renew();
    }
    if (!same_in_all_runs(walker, native, seed + n, runs)) return 1;
  }
  std::printf("%llu programs, no difference\n", static_cast<unsigned long long>(programs));
  return 0;
}
