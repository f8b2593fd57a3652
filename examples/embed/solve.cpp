// A system x = F(x) of the host, solved on two threads: the temperature of a plate whose left edge is hot, each
// point the mean of its four neighbours. Then the same with a time-out that it misses, and with an operator that
// throws. Prints a row of the plate, and how the others ended.
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include <posset/posset.hpp>

namespace {

constexpr size_t kSide = 31;

// What an edge has, and else x.
double temperature(posset::Iterate x, size_t row, size_t column) {
  if (column == 0) return 100;
  if (row == 0 || row == kSide - 1 || column == kSide - 1) return 0;
  return x[row * kSide + column];
}

double mean_of_neighbours(size_t i, posset::Iterate x) {
  const size_t row = i / kSide, column = i % kSide;
  if (row == 0 || row == kSide - 1 || column == 0 || column == kSide - 1) return temperature(x, row, column);
  return (temperature(x, row - 1, column) + temperature(x, row + 1, column) + temperature(x, row, column - 1) +
          temperature(x, row, column + 1)) / 4;
}

}  // namespace

int main() {
  std::vector<double> plate(kSide * kSide);  // cold
  const posset::Solution solution = posset::solve(plate, mean_of_neighbours, {.tolerance = 1e-9, .workers = 2});
  std::printf("%s\n", solution.what().c_str());
  for (size_t column = 0; column < kSide; column += 5) {
    std::printf("%.3f%s", plate[kSide / 2 * kSide + column], column + 5 < kSide ? " " : "\n");
  }

  // 1 - x swings between 0 and 1 for ever.
  std::vector<double> x(1);
  auto swing = [](size_t, posset::Iterate now) { return 1 - now[0]; };
  const posset::Solution late = posset::try_solve(x, swing, {.timeout_seconds = 0.05});
  std::printf("swing: %s, residual %.0f\n", late.what().c_str(), late.residual());

  try {
    posset::solve(plate, [](size_t i, posset::Iterate now) {
      if (i == 17) throw std::runtime_error("no sensor at 17");
      return now[i];
    });
  } catch (const std::runtime_error& why) {
    std::printf("failed: %s\n", why.what());
  }
}
