// A server that evaluates expressions of strangers: four threads, each with a context of its own on one runtime, take
// requests from a queue. Each context is limited in memory, steps, nested calls and output, and granted nothing.
// Whatever an expression does, the next one finds the context as good as new. Prints the answers in the order of the
// requests.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <posset/posset.hpp>

namespace {

const std::vector<std::string> kRequests = {
    "1 + 2 * 3",
    "sum([for i in 1..=100 => i * i])",
    "\"hello, \" + \"world\"",
    "while true { }",                                       // a loop without end
    "fn f(n) => 1 + f(n + 1)\nf(0)",                         // a recursion without end
    "var s = \"x\"\nwhile true { s = s + s }",               // memory
    "fill(1000000000000, 0)",                                // at once
    "for i in 0..1000000 { print(\"spam\") }",               // output
    "try { while true { } } catch { \"caught\" }",           // limits cannot be caught
    "1 +",                                                   // does not parse
    "nosuch(1)",                                             // nor does this resolve
    "[1, 2, 3][5]",                                          // an ordinary error
    "import \"io\"\nio.read(\"/etc/passwd\")",               // not granted
    "import \"re\"\nre.test(\"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\", '(a*)*b')",  // linear time
    "sort([3, 1, 2]) |> map(x => x * 10)",
};

// One answer: the value as text, or the kind of error and its message.
std::string answer(posset::Context& context, const std::string& request) {
  auto result = context.try_eval(request);
  if (result.ok()) return result->text(true);
  return std::string(result.error().code_name()) + ": " + result.error().message();
}

void serve(const posset::Runtime& runtime, std::atomic<size_t>& next, std::vector<std::string>& answers) {
  posset::Context context(runtime, {.memory_limit = 16 << 20, .step_limit = 1'000'000, .stack_limit = 1000,
                                    .output_limit = 1 << 16});
  context.set_output([](std::string_view) {});
  for (size_t i = next++; i < kRequests.size(); i = next++) answers[i] = answer(context, kRequests[i]);
}

}  // namespace

int main() {
  posset::Runtime runtime;
  std::atomic<size_t> next{0};
  std::vector<std::string> answers(kRequests.size());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { serve(runtime, next, answers); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : answers) std::printf("%s\n", each.c_str());
}
