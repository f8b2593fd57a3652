// A rule engine that takes a new version of its rules while it runs. Orders come in one after the other; before each
// the host looks whether the rules have changed. A version that does not parse, or that raises when it is loaded, is
// reported and the old one stays. Prints what is decided about each order.
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <posset/posset.hpp>

namespace {

struct Order {
  std::string country;
  double total;
};

using Fields = std::map<std::string, posset::Value>;

// The rules in use: a program and its function `decide(order)`.
class Rules {
 public:
  explicit Rules(posset::Context& context) : context_(context) {}

  // Takes the text into use if it is good.
  void load(const std::string& name, const std::string& text) {
    try {
      posset::Program program = context_.load(name, text);
      program.run();
      decide_ = program.function<std::string(Fields)>("decide");
      program_.emplace(std::move(program));  // the old version goes
      std::printf("-- %s is in use\n", name.c_str());
    } catch (const posset::Error& error) {
      std::printf("-- %s is refused: %s\n", name.c_str(), error.what());
    }
  }

  std::string decide(const Order& order) const {
    const Fields fields = {{"country", context_.value(order.country)},
                           {"total", context_.value(order.total)}};
    auto decision = decide_.try_call(fields);
    return decision.ok() ? *decision : "failed: " + decision.error().message();
  }

 private:
  posset::Context& context_;
  std::optional<posset::Program> program_;
  posset::Function<std::string(Fields)> decide_;
};

// What would be a file that somebody edits: the version that is there before order i.
const std::map<size_t, std::pair<std::string, std::string>> kVersions = {
    {0, {"rules-1.posset", R"(
export fn decide(order) => if order["total"] > 100 { "check" } else { "accept" }
)"}},
    {2, {"rules-2.posset", R"(
export fn decide(order) => if order["total"] > { "check" }
)"}},
    {3, {"rules-3.posset", R"(
let LIMITS = ["DE": 500, "FR": 200]
export fn decide(order) {
  let limit = LIMITS[order["country"]]
  if order["total"] > limit { "check: more than {limit}" } else { "accept" }
}
)"}},
};

}  // namespace

int main() {
  posset::Runtime runtime;
  posset::Context context(runtime, {.memory_limit = 16 << 20, .step_limit = 100'000});
  Rules rules(context);
  const std::vector<Order> orders = {{"DE", 80}, {"DE", 300}, {"FR", 300}, {"FR", 300}, {"DE", 300}, {"IT", 1}};
  for (size_t i = 0; i < orders.size(); ++i) {
    if (auto found = kVersions.find(i); found != kVersions.end()) rules.load(found->second.first, found->second.second);
    std::printf("%s %.0f: %s\n", orders[i].country.c_str(), orders[i].total, rules.decide(orders[i]).c_str());
  }
}
