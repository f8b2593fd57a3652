// Evaluating in the background: three contexts on the threads of one runtime, one of them with a deadline that
// it misses, one cancelled. Prints the sum of the squares, and how the others ended.
#include <cstdint>
#include <cstdio>

#include <posset/posset.hpp>

int main() {
  posset::Runtime runtime;
  posset::Context sums(runtime), endless(runtime), unwanted(runtime);

  auto sum = sums.submit<int64_t>("sum(map(0..100000, n => n * n))", {.priority = POSSET_PRIORITY_INTERACTIVE});
  auto late = endless.submit("while true { }", {.deadline_seconds = 0.05});
  auto dropped = unwanted.submit("while true { }", {.priority = POSSET_PRIORITY_BATCH});
  dropped.cancel();

  std::printf("%lld\n", static_cast<long long>(sum.get()));  // waits for it
  auto missed = late.try_get();
  std::printf("late: %s\n", missed.ok() ? "a value" : missed.error().code_name());
  auto cancelled = dropped.try_get();
  std::printf("dropped: %s\n", cancelled.ok() ? "a value" : cancelled.error().code_name());
  std::printf("%d\n", endless.eval<int>("1 + 1"));  // the contexts are as usable as before
}
