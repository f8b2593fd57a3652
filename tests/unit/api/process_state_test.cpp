// What belongs to the process stays as the host has it: no runtime, script or compilation changes the locale, the floating-point
// environment or what signals do. A host's locale changes nothing of scripts; its rounding mode only what has to be rounded.
#include <cfenv>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <locale>
#include <posset/posset.hpp>
#include <string>
#include <thread>
#include <vector>

#include "../sanitized.h"
#include "fixture.h"

using posset::test::World;

namespace {

// Reads, prints and computes floats in every way there is; long enough to become native code where that is built.
const char* const kNumbers =
    "import \"json\"\nimport \"strings\"\nimport \"math\"\n"
    "fn work(n) { var sum = 0.0\n for i in 0..n { sum += i * 0.25 }\n sum }\n"
    "[work(200000), 1234567.875, float(\"2.5\"), \"{1234567.875:.2f}\", \"{1234567:d}\", str(1e300), json.decode(\"[1.5e3, -0.25]\"),"
    " json.encode([1234.5]), sum([0.5, 0.25]), math.sqrt(2.25), \"{0.375:e}\", float(\"1e-3\") == 0.001]";
const char* const kResult =
    "[4999975000.0, 1234567.875, 2.5, \"1234567.88\", \"1234567\", \"1e+300\", [1500.0, -0.25], \"[1234.5]\", 0.75, 1.5, "
    "\"3.750000e-01\", true]";

// Rounded in reading.
const char* const kRounded = "import \"json\"\n[0.1, float(\"0.1\"), json.decode(\"0.3\"), 1e23, \"{0.1:.20f}\", 0.1 + 0.2]";
const char* const kRoundedResult = "[0.1, 0.1, 0.3, 1e+23, \"0.10000000000000000555\", 0.30000000000000004]";

std::string computed(bool with_rounded = true) {
  posset_runtime* runtime = nullptr;
  posset_runtime_options options = posset_runtime_defaults();
  REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
  std::string shown;
  {
    World w(runtime, posset_context_defaults());
    shown = w.show(kNumbers);
    posset_runtime_settle(runtime);
    CHECK(w.show(kNumbers) == shown);
    if (with_rounded) CHECK(w.show(kRounded) == kRoundedResult);
    w.show("throw 1");
    w.show("1 +");
  }
  posset_runtime_release(runtime);
  return shown;
}

// Everything of the process that a library may be suspected of.
struct ProcessState {
  std::string c_locale = std::setlocale(LC_ALL, nullptr), cpp_locale = std::locale().name();
  int rounding = std::fegetround(), exceptions = 0;
  std::vector<struct sigaction> signals;
  sigset_t mask = {};

  ProcessState() {
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction action = {};
      sigaction(number, nullptr, &action);
      signals.push_back(action);
    }
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  }
  bool has_same_signals(const ProcessState& other) const {
    for (size_t i = 0; i < signals.size(); ++i) {
      if (signals[i].sa_handler != other.signals[i].sa_handler || signals[i].sa_flags != other.signals[i].sa_flags) return false;
    }
    for (int number = 1; number < NSIG; ++number) {
      if (sigismember(&mask, number) != sigismember(&other.mask, number)) return false;
    }
    return true;
  }
};

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("nothing of the process is changed by runtimes, scripts and compilations") {
  const ProcessState before;
  std::fenv_t environment, after_environment;
  std::fegetenv(&environment);
  CHECK(computed() == kResult);
  std::fegetenv(&after_environment);
  const ProcessState after;
  CHECK(after.c_locale == before.c_locale);
  CHECK(after.cpp_locale == before.cpp_locale);
  CHECK(after.rounding == before.rounding);
#ifdef __x86_64__
  constexpr unsigned kFlags = 0x3f;  // what has happened may be said there, as by any arithmetic
  CHECK((after_environment.__mxcsr & ~kFlags) == (environment.__mxcsr & ~kFlags));
  CHECK(after_environment.__control_word == environment.__control_word);
#endif
  CHECK(after.has_same_signals(before));
}

TEST_CASE("a host's locale changes nothing of numbers in scripts") {
  const std::locale former = std::locale::global(std::locale(std::locale::classic(), new Commas));
  const std::string former_c = std::setlocale(LC_ALL, nullptr);
  // Where one with a decimal comma is installed.
  const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
  for (const char* name : names) {
    if (std::setlocale(LC_ALL, name)) break;
  }
  const std::string set = std::setlocale(LC_ALL, nullptr);
  CHECK(computed() == kResult);
  CHECK(std::string(std::setlocale(LC_ALL, nullptr)) == set);
  std::setlocale(LC_ALL, former_c.c_str());
  std::locale::global(former);
}

TEST_CASE("a host's rounding mode stays, and changes nothing where there is nothing to round") {
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CAPTURE(mode);
    std::fesetround(mode);
    const std::string shown = computed(false);
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    CHECK(after == mode);
    CHECK(shown == kResult);
  }
}

// ---- variables of the process ----

namespace {

// Made before main, perhaps before all variables of the library.
posset::Runtime before_main;

struct App {
  posset::Runtime runtime;
  posset::Context context{runtime};
};

}  // namespace

TEST_CASE("process regression: a runtime that was a variable found no tiers, and ended the program before main") {
  posset::Context context(before_main);
  CHECK(context.eval<int>("1 + 1") == 2);
}

// Run by the one below, in a process of its own. The future holds the context, so that nobody ends the evaluation before the process
// does; by then the compiler is being loaded, compiles or has done so.
TEST_CASE("child: a runtime compiles when the process ends" * doctest::skip()) {
  static App app;
  auto endless = app.context.submit<void>("while true { }");
  const char* const ms = std::getenv("POSSET_TEST_MS");
  std::this_thread::sleep_for(std::chrono::milliseconds(ms ? std::atoi(ms) : 0));
  std::exit(0);
}

TEST_CASE("process regression: the compiler's variables went before a runtime that still compiled") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "'" + self + "' --no-skip '--test-case=child: a runtime compiles when the process ends' > /dev/null 2>&1";
  const int runs = posset::test::kSanitized ? 1 : 40;
  for (int i = 0; i < runs; ++i) {
    const std::string when = "POSSET_TEST_MS=" + std::to_string(i % 20 + 4) + " ";
    CHECK(std::system((when + command).c_str()) == 0);
  }
}
