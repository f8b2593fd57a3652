// How soon an interruption from another thread ends what a context is doing: every function that is built in with large
// arguments of every kind, every operator (tests/unit/api/every_call.h), regular expressions in long texts, and loops. A benchmark
// is a function with all its calls, so `--benchmark_filter=strings` takes some of them. Those calls count which still run when the wish comes, after a while that
// differs each time; the slowest are tried more often. The time of a benchmark is that of its worst call, in processor time of
// the thread that evaluates, which a busy machine leaves as it is; wall time stands beside it. The slowest calls of all
// are printed at the end, each with the median of further tries, and with what the machine takes at worst for one touch of memory that
// nobody has touched: in between no program can look whether it is to stop.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include <benchmark/benchmark.h>

#include <posset/posset.h>

#include "tests/unit/api/every_call.h"

namespace {

using Clock = std::chrono::steady_clock;

// A moment in wall time, and in processor time of the thread that evaluates.
struct Moment {
  Clock::time_point wall{};
  double cpu_ms = 0;
};

Moment now(clockid_t evaluating) {
  timespec cpu{};
  clock_gettime(evaluating, &cpu);
  return {Clock::now(), static_cast<double>(cpu.tv_sec) * 1e3 + static_cast<double>(cpu.tv_nsec) / 1e6};
}

// Interrupts a context when it is told to, on a thread of its own.
class Interrupter {
 public:
  // Made by the thread that evaluates.
  explicit Interrupter(posset_context* context) : context_(context) {
    pthread_getcpuclockid(pthread_self(), &evaluating_);
    thread_ = std::thread([this] { run(); });
  }
  ~Interrupter() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      wake_.notify_one();
    }
    thread_.join();
  }
  void arm(int after_us) {
    const std::lock_guard lock(mutex_);
    after_us_ = after_us;
    wished_ = {};
    armed_ = true;
    ++order_;
    wake_.notify_one();
  }
  // When it was; nothing, when it has not come to it.
  Moment disarm() {
    const std::lock_guard lock(mutex_);
    armed_ = false;
    ++order_;
    wake_.notify_one();
    return wished_;
  }
  clockid_t evaluating() const { return evaluating_; }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    uint64_t followed = 0;
    const auto is_new = [&] { return ended_ || order_ != followed; };
    for (;;) {
      wake_.wait(lock, is_new);
      if (ended_) return;
      followed = order_;
      if (!armed_ || wake_.wait_for(lock, std::chrono::microseconds(after_us_), is_new)) continue;
      wished_ = now(evaluating_);
      posset_interrupt(context_);
      armed_ = false;
    }
  }
  posset_context* const context_;
  clockid_t evaluating_{};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool armed_ = false, ended_ = false;
  uint64_t order_ = 0;  // of arming and disarming: one may follow the other before the thread has woken
  int after_us_ = 0;
  Moment wished_;
  std::thread thread_;  // last
};

struct Run {
  const every_call::Call* call;
  double cpu_ms;  // from the wish to the end; negative: it had ended before
  double wall_ms;
  bool slower_than(const Run& other) const { return cpu_ms > other.cpu_ms; }
};

void drop_error(posset_context* context) {
  if (posset_error* error = posset_take_error(context)) posset_error_free(error);
}

Run latency(posset_context* context, Interrupter& other, const every_call::Call& call, int after_us) {
  const Run none = {&call, -1, -1};
  posset_value function = posset_nil(), result = posset_nil();
  if (!every_call::prepare(context, call, function)) {
    drop_error(context);
    return none;
  }
  other.arm(after_us);
  const posset_status status = posset_invoke(context, function, nullptr, 0, &result);
  const Moment end = now(other.evaluating());
  const Moment wished = other.disarm();
  if (status == POSSET_RAISED) drop_error(context);
  posset_release(result);
  posset_release(function);
  posset_eval(context, posset_text_of("1"), nullptr, nullptr);  // takes an interruption that came too late
  drop_error(context);
  if (wished.wall == Clock::time_point{} || wished.wall > end.wall) return none;
  return {&call, end.cpu_ms - wished.cpu_ms, std::chrono::duration<double, std::milli>(end.wall - wished.wall).count()};
}

// Interrupted before it begins it does not come to an end by itself, or is long in doing so. Of others, some are tried all the
// same.
constexpr int kSample = 50;
bool has_much_to_do(posset_context* context, clockid_t evaluating, const every_call::Call& call) {
  posset_value function = posset_nil(), result = posset_nil();
  if (!every_call::prepare(context, call, function)) {
    drop_error(context);
    return false;
  }
  posset_interrupt(context);
  const Moment begin = now(evaluating);
  const posset_status status = posset_invoke(context, function, nullptr, 0, &result);
  bool much = now(evaluating).cpu_ms - begin.cpu_ms > 2;
  if (status == POSSET_RAISED) {
    posset_error* error = posset_take_error(context);
    posset_error_info info = {};
    info.size = sizeof info;
    much = much || (posset_error_get(error, &info) == POSSET_OK && info.is_interrupt);
    posset_error_free(error);
  }
  posset_release(result);
  posset_release(function);
  return much;
}

// Of loops some parts come late.
int some_us(const every_call::Call& call, int most) {
  constexpr int kLoopMost = 400000;
  return 300 + std::rand() % (call.name == "loops" ? kLoopMost : most);
}

// Again, after other times; leaves the worst.
void try_more(posset_context* context, Interrupter& other, Run& run) {
  for (int round = 0; round < 8; ++round) {
    const Run again = latency(context, other, *run.call, some_us(*run.call, 20000));
    if (again.slower_than(run)) run = again;
  }
}

std::vector<Run> all_runs;  // of all benchmarks

void measure(benchmark::State& state, posset_context* context, const std::vector<const every_call::Call*>& calls) {
  for (auto _ : state) {
    Interrupter other(context);
    std::vector<Run> runs;
    for (const every_call::Call* call : calls) {
      if (!has_much_to_do(context, other.evaluating(), *call) && std::rand() % kSample != 0) continue;
      const Run run = latency(context, other, *call, some_us(*call, 4000));
      if (run.cpu_ms >= 0) runs.push_back(run);
    }
    const auto slower = [](const Run& a, const Run& b) { return a.slower_than(b); };
    std::sort(runs.begin(), runs.end(), slower);
    constexpr size_t kSlowest = 3;
    for (size_t i = 0; i < std::min(kSlowest, runs.size()); ++i) try_more(context, other, runs[i]);
    std::sort(runs.begin(), runs.end(), slower);
    if (!runs.empty()) state.SetLabel(runs[0].call->text.substr(0, 60));
    state.SetIterationTime(runs.empty() ? 0 : std::max(0.0, runs[0].cpu_ms) / 1000);
    state.counters["interrupted"] = static_cast<double>(runs.size());
    state.counters["wall_ms"] = runs.empty() ? 0 : runs[0].wall_ms;
    all_runs.insert(all_runs.end(), runs.begin(), runs.end());
  }
}

// Regular expressions over 10 to 100 MB: patterns that match nowhere, everywhere, once at the end, over long stretches, ones that
// take long to compile, and ones for which RE2 needs more states than it may keep.
void give_long_texts(posset_context* context, std::vector<every_call::Call>& calls) {
  const auto make = [&](const char* name, const std::string& source) {
    posset_value value = posset_nil();
    if (posset_eval(context, every_call::text_of(source), &value, nullptr) != POSSET_OK ||
        posset_set_global(context, posset_text_of(name), value) != POSSET_OK)
      std::abort();
  };
  make("words", "import \"strings\"\nstrings.repeat(\"abc déf, ghi\\n\", 7000000) + \"end\"");  // 98 MB
  make("one_line", "import \"strings\"\nstrings.repeat(\"abc déf, ghi \", 7000000) + \"end\"");
  make("letters", "import \"strings\"\nstrings.repeat(\"a\", 100000000)");
  make("tags", "import \"strings\"\nstrings.repeat(\"<a><b> \", 1500000)");  // 10 MB
  make("random", "var x = 12345\nvar out = []\nfor i in 0..4000000 { x = (x * 1103515245 + 12345) & 0x7fffffff\n"
                 "out.push(if (x >> 16) & 1 == 1 { \"a\" } else { \"b\" }) }\njoin(out)");
  make("alternatives", "import \"strings\"\nstrings.repeat(\"x1|y2|\", 40000) + \"z\"");
  make("classes", "import \"strings\"\nstrings.repeat(\"\\\\pL\", 80000)");
  const char* const patterns[] = {"\"x\"", "\"end\"", "'[xyz]+[0-9]'", "'[a-z]+'", "', g'", "'end$'", "'x|end'", "'^b'", "'a.*z'", "'a.*end'",
                                  "'(?s)f.*q'", "'[^x]*x'", "'\\w+'", "'<.*?>'", "'(\\w+) (\\w+)'", "'(.*)e(.*)'", "'\\pL{100}1'",
                                  "alternatives", "classes", "'(a|b)*a(a|b){14}c'", "'a[ab]{14}c'", "'[ab]a[ab]{100}c'", "'(a[ab]{30}){20}'",
                                  "'((a|b)a(a|b){60}c|(b|a)b(a|b){70}d|.{90}e)'"};
  for (const char* text : {"words", "one_line", "letters", "tags", "random"})
    for (const char* pattern : patterns)
      for (const char* name : {"test", "find", "find_all", "split", "replace"}) {
        std::string call = std::string("re.") + name + "(" + text + ", " + pattern;
        if (name == std::string_view("replace")) call += std::string_view(pattern).find('(') < 5 ? ", '\\1-'" : ", '-'";
        calls.push_back({std::string("re.") + name + " in long texts", call + ")"});
      }
}

// What takes long between the steps that scripts are charged for: collections of cycles among many refs, and copies of what
// somebody else holds.
void give_loops(std::vector<every_call::Call>& calls) {
  const char* const loops[] = {
      "var l = []\nwhile true { l.push(ref(1)) }",
      "let l = [for i in 0..1000000 => ref(i)]\nwhile true { ref(l) }",
      "let k = ref([])\nwhile true { k.value.push([k]) }",
      "while true { let k = ref([])\nfor i in 0..300000 { k.value.push([k]) } }",
      "while true { var k = []\nfor i in 0..300000 { let r = ref(nil)\nr.value = [r]\nk.push(r) } }",
      "var k = [for i in 0..100000 => ref(i)]\nwhile true { k.push(ref(k)) }",
      "var l = [for i in 0..60000 => i]\nwhile true { let c = l\nl[1] += 1 }",
      "var l = [for i in 0..60000 => [i, i]]\nwhile true { let c = l\nl[1] = nil }",
      "var m = map_of([for i in 0..60000 => [i, i]])\nwhile true { let c = m\nm[1] += 1 }",
  };
  for (const char* each : loops) calls.push_back({"loops", std::string("{ ") + each + " }"});
}

// Of tries in which it still ran when the wish came; negative: of none.
double median_ms(posset_context* context, Interrupter& other, const every_call::Call& call) {
  constexpr int kTries = 15;
  std::vector<double> tries;
  for (int i = 0; i < kTries; ++i) {
    const Run run = latency(context, other, call, some_us(call, 20000));
    if (run.cpu_ms >= 0) tries.push_back(run.cpu_ms);
  }
  if (tries.empty()) return -1;
  std::nth_element(tries.begin(), tries.begin() + tries.size() / 2, tries.end());
  return tries[tries.size() / 2];
}

void print_slowest(posset_context* context) {
  constexpr size_t kShown = 25;
  std::sort(all_runs.begin(), all_runs.end(), [](const Run& a, const Run& b) { return a.slower_than(b); });
  std::printf("%zu calls interrupted; the slowest, in ms of processor time, of wall time, and the median of further tries:\n", all_runs.size());
  Interrupter other(context);
  for (size_t i = 0; i < std::min(kShown, all_runs.size()); ++i) {
    const Run& run = all_runs[i];
    std::printf("%8.3f %8.3f %8.3f  %s\n", run.cpu_ms, run.wall_ms, median_ms(context, other, *run.call), run.call->text.c_str());
  }
}

// In pages as large lists have them.
void print_worst_touch() {
  constexpr size_t kBytes = size_t{512} << 20, kPageBytes = 4096;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  madvise(memory, kBytes, MADV_HUGEPAGE);
  clockid_t self{};
  pthread_getcpuclockid(pthread_self(), &self);
  std::vector<double> touches;
  for (size_t at = 0; at < kBytes; at += kPageBytes) {
    const double begin = now(self).cpu_ms;
    static_cast<volatile char*>(memory)[at] = 1;
    touches.push_back(now(self).cpu_ms - begin);
  }
  munmap(memory, kBytes);
  const auto over = std::count_if(touches.begin(), touches.end(), [](double ms) { return ms > 5; });
  std::printf("one touch of fresh memory: %.3f ms at worst, %td of %zu over 5 ms\n", *std::max_element(touches.begin(), touches.end()), over,
              kBytes >> 21);
}

// `--scale=16`: arguments that much larger.
int64_t take_scale(int& count, char** arguments) {
  constexpr std::string_view kName = "--scale=";
  int64_t scale = 1;
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const std::string_view each = arguments[i];
    if (each.substr(0, kName.size()) == kName) scale = std::atoll(arguments[i] + kName.size());
    else arguments[kept++] = arguments[i];
  }
  count = kept;
  return scale;
}

}  // namespace

int main(int count, char** arguments) {
  const int64_t scale = take_scale(count, arguments);
  benchmark::Initialize(&count, arguments);
  posset_runtime* runtime = nullptr;
  posset_context* context = nullptr;
  if (posset_default_runtime(nullptr, &runtime) != POSSET_OK || posset_context_create(runtime, nullptr, &context) != POSSET_OK ||
      !every_call::give(context, scale))
    std::abort();
  std::vector<std::string> names;
  std::vector<every_call::Call> calls = every_call::make(runtime, names);
  give_long_texts(context, calls);
  give_loops(calls);
  std::map<std::string, std::vector<const every_call::Call*>> by_name;
  for (const every_call::Call& call : calls) by_name[call.name].push_back(&call);
  for (const auto& [name, some] : by_name)
    benchmark::RegisterBenchmark(("interrupt/" + name).c_str(), [&some, context](benchmark::State& state) {
      measure(state, context, some);
    })->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
  print_slowest(context);
  print_worst_touch();
  posset_context_release(context);
  posset_runtime_release(runtime);
}
