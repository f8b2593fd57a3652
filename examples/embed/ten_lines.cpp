// Ten lines that put Posset into a program: a global, a host function, and a formula that is called
// like a C++ function. Prints 44.625 and 2.38.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include <posset/posset.hpp>

int main() {
  const std::map<std::string, double, std::less<>> table = {{"pear", 2.0}};
  posset::Runtime runtime;                                       // threads, code, caches; shared
  posset::Context context(runtime, {.memory_limit = 64 << 20});  // globals, modules; isolated
  context.set("rate", 0.19);
  context.define("lookup", [&](std::string_view key) { return table.at(std::string(key)); });
  auto price = context.compile<double(double, int64_t)>("(net, n) => net * n * (1.0 + rate)");
  double gross = price(12.5, 3);
  std::printf("%.3f\n", gross);
  std::printf("%.2f\n", price(context.eval<double>("lookup(\"pear\")"), 1));
}
