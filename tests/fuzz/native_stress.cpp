// Runs generated programs in every tier, on one executor and on three that take from each other what they can, and
// compares with the tree walker all that can be observed, as program_fuzz does for bytecode:
//
//   native_stress [PROGRAMS [SEED [RUNS]]]        a program that differs is made smaller and printed, and the exit
//                                                 status is 1
//   native_stress show SEED                       the program of a seed
//   native_stress try FILE [SEED]                 a file in 16 sets of runtimes, from that of the seed on; for what ends
//                                                 the process
//
// Native code depends on what has run before. So each program runs RUNS times in one runtime of each native mode
// with low thresholds, and between runs every compilation is waited for: the first run counts and records, the
// later ones are in native code, with exits where the profile was too narrow, or at random. Nearly all the time goes
// into compiling, which the modes do at the same time as far as they do it in the background. Most programs are small
// and hot; one in kWholeEvery is of the kind that program_fuzz makes.
//
// Runtimes last for kProgramsPerRuntime programs, whose seeds begin at a multiple of that: running one such block again
// is running the same.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include <posset/posset.h>

#include "program_generator.h"
#include "program_reduce.h"
#include "program_run.h"

namespace {

using namespace posset::fuzz;

constexpr uint64_t kProgramsPerRuntime = 32;
constexpr size_t kMostBytes = 600, kHotBytes = 4000;  // hot programs end for other reasons
constexpr uint64_t kWholeEvery = 16;

std::string random_program(uint64_t seed) {
  std::mt19937_64 random(seed);
  const bool hot = seed % kWholeEvery != 0;
  std::vector<uint8_t> bytes(hot ? kHotBytes : random() % kMostBytes);
  for (uint8_t& each : bytes) each = static_cast<uint8_t>(random());
  return hot ? generate_hot_program(bytes.data(), bytes.size()) : generate_program(bytes.data(), bytes.size());
}

// Ends of the process say which program it was, and where.
volatile uint64_t running_seed = 0;
const char* volatile running_mode = "none";
volatile int running_run = 0;

void tell_seed(int signal) {
  char text[128];
  const int size = std::snprintf(text, sizeof text, "CRASH, seed %llu, mode %s, run %d\n",
                                 static_cast<unsigned long long>(running_seed), running_mode, running_run);
  if (size > 0 && write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) _exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// As in program_fuzz: memory differs between tiers, and `runtime` tells them apart.
bool agree(const std::string& text, const Outcome& walker, const Outcome& other) {
  if (walker.live_objects || other.live_objects || !walker.sound || !other.sound) return false;
  if (walker.cut_short || other.cut_short || text.find("runtime") != std::string::npos) return true;
  return walker.describe() == other.describe();
}

// What it is that differs: the first word of the first line that does. A smaller program is to show the same.
std::string difference(const Outcome& walker, const Outcome& other) {
  const std::string a = walker.describe(), b = other.describe();
  const size_t at = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const size_t line = a.rfind('\n', at) + 1;
  return a.substr(line, a.find_first_of(": ", line) - line);
}

std::string shortened(const std::string& text) {
  constexpr size_t kMost = 1500;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...\n";
}

struct Mode {
  const char* name;
  TierRuntime runtime;
  bool repeats;  // what runs again is in other code
};

class Stress {
 public:
  explicit Stress(int runs) : runs_(runs) {}

  void begin_block(uint64_t seed) {
    seed_ = static_cast<uint32_t>(seed / kProgramsPerRuntime % UINT32_MAX + 1);
    renew();
  }

  bool is_same(uint64_t seed) { return is_same(seed, random_program(seed)); }

  bool is_same(uint64_t seed, const std::string& text) {
    running_seed = seed;
    const Program program = expecting(text);
    for (int run = 0; run < runs_; ++run) {
      for (Mode& mode : modes_) {
        if (runs_same(mode, program, run)) continue;
        report(mode, seed, text);
        return false;
      }
      for (Mode& mode : modes_) settle(mode, run);
    }
    return true;
  }

 private:
  void renew() {
    walker_.renew();
    for (Mode& mode : modes_) {
      mode.runtime.renew();
      mode.runtime.set_seed(seed_);
    }
  }

  struct Program {
    const std::string& text;
    Limits limits;
    Outcome expected;
  };

  Program expecting(const std::string& text) {
    const Limits limits = limits_for(text);
    running_mode = "walker";
    return {text, limits, run_program(walker_, text, limits)};
  }

  static bool runs(const Mode& mode, int run) { return run == 0 || mode.repeats; }

  static void settle(Mode& mode, int run) {
    if (runs(mode, run)) posset_runtime_settle(mode.runtime.get());
  }

  bool runs_same(Mode& mode, const Program& program, int run) {
    if (!runs(mode, run)) return true;
    running_mode = mode.name;
    running_run = run + 1;
    const Outcome outcome = run_program(mode.runtime, program.text, program.limits);
    if (agree(program.text, program.expected, outcome)) return true;
    kind_ = difference(program.expected, outcome);
    differing_ = "---- tier 0 ----\n" + shortened(program.expected.describe()) + "---- " + mode.name + ", run " +
                 std::to_string(run + 1) + " ----\n" + shortened(outcome.describe());
    return false;
  }

  // On its own, in new runtimes; else what ran before matters and the program stays as it is.
  bool differs_alone(Mode& mode, const std::string& text) {
    renew();
    const Program program = expecting(text);
    if (!program.expected.loaded) return false;
    for (int run = 0; run < runs_; ++run) {
      if (!runs_same(mode, program, run)) return true;
      settle(mode, run);
    }
    return false;
  }

  void report(Mode& mode, uint64_t seed, const std::string& text) {
    std::printf("MISMATCH, seed %llu, mode %s, runtimes of seed %u\n%s", static_cast<unsigned long long>(seed), mode.name,
                seed_, differing_.c_str());
    std::string small = text;
    if (differs_alone(mode, text)) {
      const std::string kind = kind_;
      small = reduce_program(text, [&](const std::string& part) { return differs_alone(mode, part) && kind_ == kind; });
      differs_alone(mode, small);
      std::printf("==== made smaller ====\n%s", differing_.c_str());
    } else {
      std::printf("==== not on its own: programs before it in its block matter ====\n");
    }
    std::printf("---- program ----\n%s\n", small.c_str());
    std::fflush(stdout);
  }

  const int runs_;
  uint32_t seed_ = 1;
  std::string differing_, kind_;
  TierRuntime walker_{Tier::Walker};
  Mode modes_[6] = {{"bytecode", TierRuntime(Tier::Bytecode), false},
                    {"stage 1", TierRuntime(Tier::Stage1), true},
                    {"stage 2", TierRuntime(Tier::Stage2), true},
                    {"exits", TierRuntime(Tier::Exits), true},
                    {"stolen, tree", TierRuntime(Tier::StolenTree), false},
                    {"stolen, native", TierRuntime(Tier::StolenNative), true}};
};

uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

// Without a native compiler, which is looked for beside the process, all would agree and nothing would be tested.
bool makes_native_code() {
  TierRuntime runtime(Tier::Stage1);
  const posset_context_options options = posset_context_defaults();
  posset_context* context = nullptr;
  if (posset_context_create(runtime.get(), &options, &context) != POSSET_OK) return false;
  const char text[] = "fn hot(x) => x + 1\nfor i in 0..100 { hot(i) }\nhot";
  int tier = -1;
  posset_value function = posset_nil();
  for (int run = 0; run < 3 && posset_eval(context, {text, sizeof text - 1}, &function, nullptr) == POSSET_OK; ++run) {
    posset_runtime_settle(runtime.get());
    tier = posset_function_tier(context, function);
    posset_release(function);
  }
  posset_context_release(context);
  return tier >= 2;
}

// One file alone.
int try_file(const char* path, uint64_t first) {
  constexpr uint64_t kSets = 16;
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Stress stress(3);
  for (uint64_t set = 0; set < kSets; ++set) {
    const uint64_t seed = first + set * kProgramsPerRuntime;
    stress.begin_block(seed);
    if (!stress.is_same(seed, text)) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "show") == 0) return std::fputs(random_program(number(argv[2])).c_str(), stdout) < 0;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) std::signal(signal, tell_seed);
  if (argc > 2 && std::strcmp(argv[1], "try") == 0) return try_file(argv[2], argc > 3 ? number(argv[3]) : 0);
  if (!makes_native_code()) {
    std::fprintf(stderr, "native_stress: no native code is made here\n");
    return 2;
  }
  const uint64_t programs = argc > 1 ? number(argv[1]) : 300;
  const uint64_t first = argc > 2 ? number(argv[2]) : 1;
  const int runs = argc > 3 ? std::atoi(argv[3]) : 3;
  Stress stress(runs);
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    if (seed == first || seed % kProgramsPerRuntime == 0) stress.begin_block(seed);
    if (!stress.is_same(seed)) return 1;
  }
  std::printf("%llu programs, no difference\n", static_cast<unsigned long long>(programs));
  return 0;
}
