// A formula engine over columns: formulas that users type are compiled once and run over columns of doubles of the host,
// which are read where they stand, as the results are written where the host wants them. Prints a small table, how a wrong
// formula is reported, and the sum over a long column.
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <posset/posset.hpp>

namespace {

using Column = std::span<const double>;
// The formula of one row: what the user typed is the body of a function of the names.
using Formula = posset::Function<double(double, double)>;

Formula compile(posset::Context& context, const std::string& formula) {
  return context.compile<double(double, double)>("(price, quantity) => " + formula);
}

std::vector<double> apply(const Formula& formula, Column price, Column quantity) {
  std::vector<double> results(price.size());
  formula.map_into(results, price, quantity);
  return results;
}

void print(const char* name, Column values) {
  std::printf("%-52s", name);
  for (double v : values) std::printf(" %8.2f", v);
  std::printf("\n");
}

}  // namespace

int main() {
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 256 << 20, .step_limit = 50'000'000});
  context.set("rate", 0.19);

  const std::vector<double> price = {10.0, 2.5, 99.0, 0.5}, quantity = {3, 10, 1, 400};
  print("price", price);
  print("quantity", quantity);
  for (const char* text : {"price * quantity", "price * quantity * (1 + rate)",
                           "if quantity >= 10 { price * 0.9 } else { price }"}) {
    print(text, apply(compile(context, text), price, quantity));
  }

  auto wrong = context.try_compile<double(double, double)>("(price, quantity) => price * quantty");
  std::printf("%s\n  %s\n", wrong.error().message().c_str(), wrong.error().hint().c_str());

  const std::vector<double> ones(100'000, 1.0), halves(100'000, 0.5);
  double sum = 0;
  for (double v : apply(compile(context, "price * quantity"), ones, halves)) sum += v;
  std::printf("%.1f\n", sum);
}
