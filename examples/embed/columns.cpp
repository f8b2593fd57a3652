// A formula engine over columns: formulas that users type are compiled once and run over columns of doubles, which
// go in as spans and come out as a view of the result. Prints a small table, how a wrong formula is reported, and
// the sum over a long column.
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <posset/posset.hpp>

namespace {

using Column = std::span<const double>;
// Two columns in, one out. The result stays a Value, so that it is read where it stands.
using Formula = posset::Function<posset::Value(Column, Column)>;

// The formula of one row, for all rows: what the user typed is the body of a function of the names.
Formula compile(posset::Context& context, const std::string& formula) {
  return context.compile<posset::Value(Column, Column)>(
      "let row = (price, quantity) => " + formula +
      "\n(prices, quantities) => [for i in 0..len(prices) => float(row(prices[i], quantities[i]))]");
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
    const posset::Value result = compile(context, text)(price, quantity);
    print(text, result.to<Column>());
  }

  auto wrong = context.try_eval("let row = (price, quantity) => price * quantty\nrow(1.0, 2.0)");
  std::printf("%s\n  %s\n", wrong.error().message().c_str(), wrong.error().hint().c_str());

  const std::vector<double> ones(100'000, 1.0), halves(100'000, 0.5);
  const posset::Value result = compile(context, "price * quantity")(ones, halves);
  double sum = 0;
  for (double v : result.to<Column>()) sum += v;
  std::printf("%.1f\n", sum);
}
