// Runs whole programs in the tree walker and in forced bytecode and compares all that can be
// observed: output, value or error with its place and trace, steps, and that nothing is left over.
// What differs is printed under MISMATCH with the program, and the process aborts.
//
// An input whose first byte could begin a source file is a source file; any other byte says that
// the rest drives the generator (program_generator.h). To work with an input of the second kind:
//
//   POSSET_FUZZ_PRINT=1 build/fuzz/bin/program_fuzz FILE    prints the program made of it, too
//
// tests/fuzz/seeds holds random bytes of the second kind, tests/lang inputs of the first.
//
// The printed program is an input of the first kind, which can be made smaller by hand; it is also
// what `posset run --tier 0` and `--force-tier 1` take. POSSET_FUZZ_COUNT=1 says at the end how
// many programs did not load, raised and so on, which tells what the generator is worth.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "program_generator.h"
#include "program_run.h"

namespace {

using namespace posset::fuzz;

constexpr int kProgramsPerRuntime = 64;
// Two runs and their checks are well within libFuzzer's own limit of 20, behind which it says that
// the program hangs: one that does not heed its time limit still does.
constexpr uint32_t kSecondsPerRun = 4;

struct Counts {
  uint64_t runs = 0, generated = 0, refused = 0, raised = 0, cut_short = 0, step_limited = 0;

  void add(const Outcome& outcome, bool is_generated) {
    ++runs;
    generated += is_generated;
    refused += is_generated && !outcome.loaded;
    raised += is_generated && !outcome.error.empty();
    cut_short += outcome.cut_short;
    step_limited += outcome.error.starts_with("StepLimit");
  }
  ~Counts() {
    if (!std::getenv("POSSET_FUZZ_COUNT")) return;
    std::fprintf(stderr,
                 "%llu runs, %llu generated, of which %llu refused, %llu raised; "
                 "%llu cut short, %llu step limits\n",
                 static_cast<unsigned long long>(runs), static_cast<unsigned long long>(generated),
                 static_cast<unsigned long long>(refused), static_cast<unsigned long long>(raised),
                 static_cast<unsigned long long>(cut_short),
                 static_cast<unsigned long long>(step_limited));
  }
};

bool is_source(const uint8_t* data, size_t size) {
  return size == 0 || (data[0] >= 0x20 && data[0] < 0x7f) || data[0] == '\n';
}

// Tiers need different amounts of memory and time, so only runs that ended by themselves must be
// equal; the module `runtime` is there to tell tiers apart, `fixpoint` and `graph` take times and
// tell them, and how many rounds fit into a sleep or before a timeout is the machine's affair.
bool agree(const std::string& text, const Outcome& walker, const Outcome& bytecode) {
  if (walker.live_objects || bytecode.live_objects) return false;
  if (walker.cut_short || bytecode.cut_short) return true;
  for (const char* timed : {"runtime", "fixpoint", "graph", "sleep", "timeout"}) {
    if (text.find(timed) != std::string::npos) return true;
  }
  return walker.describe() == bytecode.describe();
}

[[noreturn]] void report(const std::string& text, const Limits& limits, const Outcome& walker,
                         const Outcome& bytecode) {
  std::fprintf(stderr, "MISMATCH\n---- tier 0 ----\n%s---- tier 1 ----\n%s",
               walker.describe().c_str(), bytecode.describe().c_str());
  std::fprintf(stderr, "---- --step-limit %llu --stack-limit %u, %llu bytes of output ----\n%s\n",
               static_cast<unsigned long long>(limits.steps), limits.stack,
               static_cast<unsigned long long>(limits.output), text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Counts counts;
  static TierRuntime walker_runtime(Tier::Walker), bytecode_runtime(Tier::Bytecode);
  const bool is_text = is_source(data, size);
  const std::string text = is_text ? std::string(reinterpret_cast<const char*>(data), size)
                                   : generate_program(data + 1, size - 1);
  if (std::getenv("POSSET_FUZZ_PRINT")) std::printf("%s", text.c_str());
  if (counts.runs % kProgramsPerRuntime == 0) {
    walker_runtime.renew();
    bytecode_runtime.renew();
  }
  Limits limits = limits_for(text);
  limits.seconds = kSecondsPerRun;
  const Outcome walker = run_program(walker_runtime, text, limits);
  const Outcome bytecode = run_program(bytecode_runtime, text, limits);
  counts.add(walker, !is_text);
  if (std::getenv("POSSET_FUZZ_PRINT") && !walker.loaded)
    std::fprintf(stderr, "%s", walker.diagnostics.c_str());
  if (!agree(text, walker, bytecode)) report(text, limits, walker, bytecode);
  return 0;
}
