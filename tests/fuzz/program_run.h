// Runs one program in one tier through the public interface and keeps all that a host can observe
// of it, so that two runs can be compared. Limits are the same for every run. One that ended at the
// memory limit says so, because tiers need different amounts, and so does one that took too long: a
// step may copy a list, and how long that takes is the machine's affair.
#pragma once

#include <cstdint>
#include <string>

struct posset_runtime;

namespace posset::fuzz {

enum class Tier {
  Walker,
  Bytecode,  // forced: every unit is compiled before it runs
  Stage1,    // native code of tier 2 for what has run twice, in the background
  Stage2,    // of tier 3 for what has run three times; now and then behind tier 2, with all passes
  Exits,     // of tier 3, in the foreground, with guards that fail at random
  StolenTree,   // tier 0, where three executors take from each other all that may be handed over
  StolenNative  // the same with all tiers in the foreground and guards that fail at random
};

// A runtime of one tier. Units are shared by programs of one runtime, as in an embedding, so
// keeping one for several programs tests more than making a new one each time; `renew` does that.
class TierRuntime {
 public:
  explicit TierRuntime(Tier tier) : tier_(tier) {}
  Tier tier() const { return tier_; }
  // Of the next runtime: by it code of loops is entered in their middle or not, and exits are forced.
  void set_seed(uint32_t seed) { seed_ = seed; }
  ~TierRuntime();
  TierRuntime(const TierRuntime&) = delete;
  TierRuntime& operator=(const TierRuntime&) = delete;
  posset_runtime* get();
  void renew();

 private:
  Tier tier_;
  uint32_t seed_ = 1;
  posset_runtime* runtime_ = nullptr;
};

struct Limits {
  uint64_t steps, output;
  uint32_t stack;
  uint32_t seconds = 0;  // of time; 0: any
};

// Generous ones for most texts, for some so tight that they end the run wherever it just is. They
// depend on nothing but the text, so that a find can be run again.
Limits limits_for(const std::string& text);

struct Outcome {
  bool loaded = false;  // else `diagnostics` tells
  bool cut_short = false;  // by the limit of memory or of time
  std::string diagnostics;
  std::string output;
  std::string value;  // of the last expression, as a literal
  std::string error;  // code, place and message, and a line for each function of the trace
  uint64_t steps = 0;
  uint64_t live_objects = 0;  // when everything has been given back
  bool sound = true;          // the heap, then

  // Everything, in lines: what is compared and what a report shows.
  std::string describe() const;
};

Outcome run_program(TierRuntime& runtime, const std::string& text, const Limits& limits);

}  // namespace posset::fuzz
