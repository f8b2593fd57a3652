// The counterparts of fib.posset, merge_sort.posset and tree.posset in C++ on oneTBB, with a cut-off below which they
// go on sequentially: `tbb NAME N WORKERS` prints what the script prints. Cut-offs were chosen by trying: larger and
// smaller ones by a factor of four are not faster.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>

namespace {

using oneapi::tbb::parallel_invoke;

int64_t fib_alone(int64_t n) { return n < 2 ? n : fib_alone(n - 1) + fib_alone(n - 2); }
int64_t fib(int64_t n) {
  constexpr int64_t kAlone = 20;
  if (n < kAlone) return fib_alone(n);
  int64_t a = 0, b = 0;
  parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

using Ints = std::vector<int64_t>;
// Lists of its own for every call, as the script makes them.
Ints merge_sort(const Ints& xs, size_t from, size_t to) {
  constexpr size_t kAlone = 4096;
  if (to - from < 2) return Ints(xs.begin() + static_cast<ptrdiff_t>(from), xs.begin() + static_cast<ptrdiff_t>(to));
  const size_t middle = (from + to) / 2;
  Ints a, b;
  const auto left = [&] { a = merge_sort(xs, from, middle); };
  const auto right = [&] { b = merge_sort(xs, middle, to); };
  if (to - from < kAlone) {
    left();
    right();
  } else {
    parallel_invoke(left, right);
  }
  Ints out;
  out.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
void sort(int64_t n) {
  Ints xs(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) xs[static_cast<size_t>(i)] = (i * 1103515245 + 12345) % 2147483648;
  const Ints sorted = merge_sort(xs, 0, xs.size());
  std::printf("%lld %lld %lld\n", static_cast<long long>(sorted.front()), static_cast<long long>(sorted[sorted.size() / 2]),
              static_cast<long long>(sorted.back()));
}

struct Tree {
  int64_t value = 0;
  std::unique_ptr<Tree> left, right;
};
constexpr int64_t kTreeAlone = 10;
std::unique_ptr<Tree> grow(int64_t depth, int64_t value) {
  auto tree = std::make_unique<Tree>();
  if (depth == 0) {
    tree->value = value;
    return tree;
  }
  const auto left = [&] { tree->left = grow(depth - 1, value * 2); };
  const auto right = [&] { tree->right = grow(depth - 1, value * 2 + 1); };
  if (depth < kTreeAlone) {
    left();
    right();
  } else {
    parallel_invoke(left, right);
  }
  return tree;
}
int64_t total(const Tree& tree, int64_t depth) {
  if (!tree.left) return tree.value % 1000;
  if (depth < kTreeAlone) return total(*tree.left, depth - 1) + total(*tree.right, depth - 1);
  int64_t a = 0, b = 0;
  parallel_invoke([&] { a = total(*tree.left, depth - 1); }, [&] { b = total(*tree.right, depth - 1); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int64_t n = std::atoll(argv[2]);
  oneapi::tbb::global_control workers(oneapi::tbb::global_control::max_allowed_parallelism, std::strtoul(argv[3], nullptr, 10));
  if (!std::strcmp(argv[1], "fib")) std::printf("%lld\n", static_cast<long long>(fib(n)));
  if (!std::strcmp(argv[1], "merge_sort")) sort(n);
  if (!std::strcmp(argv[1], "tree")) std::printf("%lld\n", static_cast<long long>(total(*grow(n, 1), n)));
  return 0;
}
