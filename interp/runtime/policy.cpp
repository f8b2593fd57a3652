// See policy.h.
#include "interp/runtime/policy.h"

namespace posset::interp {

namespace {

void compile(RuntimeState& runtime, const syntax::FunctionDecl& decl, Counted& counted, int loop, int level) {
  const TierInterface* tier = runtime.tier(level);
  TierStatus expected = TierStatus::NotStarted;
  if (!counted.status[level].compare_exchange_strong(expected, TierStatus::Compiling, std::memory_order_acq_rel)) {
    return;
  }
  const char* refusal = nullptr;
  void* code = tier->compile(runtime, decl, loop, refusal);
  if (!code) {
    counted.refusal[level] = refusal;
    counted.status[level].store(TierStatus::Failed, std::memory_order_release);
    return;
  }
  counted.code[level].store(code, std::memory_order_release);
  counted.status[level].store(TierStatus::Ready, std::memory_order_release);
  counted.ready.store(static_cast<uint8_t>(level), std::memory_order_release);
}

// Counts stay exact up to here; beyond, nobody asks.
constexpr uint32_t kCountedFor = 10000;

bool is_settled(const RuntimeState& runtime, const Counted& counted, uint32_t count) {
  for (int level = 1; level <= runtime.options.max_tier && level < kTiers; ++level) {
    if (!runtime.tier(level)) continue;
    TierStatus status = counted.status[level].load(std::memory_order_acquire);
    if (status == TierStatus::NotStarted || status == TierStatus::Compiling) return false;
  }
  return count >= kCountedFor;
}

bool wanted(const RuntimeState& runtime, int level, uint32_t count) {
  if (level > runtime.options.max_tier) return false;
  if (runtime.options.forced_tier >= level) return true;
  return count >= runtime.options.thresholds[level];
}

}  // namespace

int count_and_promote(RuntimeState& runtime, const syntax::FunctionDecl& decl, Counted& counted, int loop) {
  const uint32_t count = counted.tick();
  for (int level = 1; level < kTiers; ++level) {
    if (!runtime.tier(level) || !wanted(runtime, level, count)) continue;
    if (counted.status[level].load(std::memory_order_acquire) == TierStatus::NotStarted) {
      compile(runtime, decl, counted, loop, level);
    }
  }
  if (is_settled(runtime, counted, count)) counted.settled.store(true, std::memory_order_release);
  return counted.ready.load(std::memory_order_acquire);
}

}  // namespace posset::interp
