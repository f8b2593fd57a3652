// How long the native compiler takes, by pipeline and by the size of the unit, without making the IR. The IR
// is of the kind that comes from bytecode: values in a frame, a fast path for ints and a call for the rest.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

#include "jit/engine.h"

namespace {

using namespace posset::jit;

void slow(void*, uint64_t, uint64_t) {}

const posset::interp::Helper kHelpers[] = {{"helper_slow", reinterpret_cast<const void*>(slow)}};

Engine& engine() {
  static Problem problem;
  static auto made = Engine::create(kHelpers, {}, problem);
  return *made;
}

// frame[a] = frame[b] + frame[c], some 17 instructions; as LLVM text.
std::string add_instruction(int number, int a, int b, int c) {
  const std::string n = std::to_string(number);
  auto word = [](int slot, int half) { return "getelementptr i64, ptr %frame, i64 " + std::to_string(2 * slot + half); };
  return "  br label %op" + n + "\nop" + n + ":\n  %tb" + n + " = " + word(b, 0) + "\n  %pb" + n + " = " + word(b, 1) +
         "\n  %tc" + n + " = " + word(c, 0) + "\n  %pc" + n + " = " + word(c, 1) + "\n  %pa" + n + " = " + word(a, 1) +
         "\n  %ta" + n + " = " + word(a, 0) + "\n  %x" + n + " = load i64, ptr %tb" + n + "\n  %y" + n +
         " = load i64, ptr %tc" + n + "\n  %both" + n + " = or i64 %x" + n + ", %y" + n + "\n  %ints" + n +
         " = icmp eq i64 %both" + n + ", 2\n  br i1 %ints" + n + ", label %fast" + n + ", label %slow" + n + "\nfast" + n +
         ":\n  %i" + n + " = load i64, ptr %pb" + n + "\n  %j" + n + " = load i64, ptr %pc" + n + "\n  %r" + n +
         " = call {i64, i1} @llvm.sadd.with.overflow.i64(i64 %i" + n + ", i64 %j" + n + ")\n  %over" + n +
         " = extractvalue {i64, i1} %r" + n + ", 1\n  br i1 %over" + n + ", label %slow" + n + ", label %ok" + n + "\nok" + n +
         ":\n  %sum" + n + " = extractvalue {i64, i1} %r" + n + ", 0\n  store i64 2, ptr %ta" + n + "\n  store i64 %sum" + n +
         ", ptr %pa" + n + "\n  br label %next" + n + "\nslow" + n + ":\n  call void @helper_slow(ptr %frame, i64 " +
         std::to_string(b) + ", i64 " + std::to_string(c) + ")\n  br label %next" + n + "\nnext" + n + ":\n";
}

std::string unit(int instructions, int functions) {
  std::string text = "declare void @helper_slow(ptr, i64, i64)\ndeclare {i64, i1} @llvm.sadd.with.overflow.i64(i64, i64)\n";
  for (int f = 0; f < functions; ++f) {
    text += "define i64 @f" + std::to_string(f) + "(ptr %frame) {\n";
    for (int i = 0; i < instructions; ++i) text += add_instruction(i, i * 7 % 5, i * 3 % 5, i % 5);
    text += "  %last = load i64, ptr %frame\n  ret i64 %last\n}\n";
  }
  return text;
}

void BM_compile(benchmark::State& state) {
  const std::string text = unit(static_cast<int>(state.range(1)), static_cast<int>(state.range(2)));
  const auto pipeline = static_cast<Pipeline>(state.range(0));
  Problem problem;
  for (auto _ : state) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic fault;
    auto module = llvm::parseAssemblyString(text, fault, context);
    engine().prepare(*module);
    const auto begin = std::chrono::steady_clock::now();
    auto code = engine().compile(*module, pipeline, problem);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (!code) state.SkipWithError(problem.text.c_str());
  }
  state.SetLabel(name_of(pipeline));
}
BENCHMARK(BM_compile)
    ->ArgNames({"pipeline", "instructions", "functions"})
    ->ArgsProduct({{0, 1, 2}, {3, 15, 60}, {1}})
    ->ArgsProduct({{0, 1, 2}, {15}, {10}})
    ->UseManualTime()
    ->Repetitions(5)
    ->ComputeStatistics("min", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); })
    ->DisplayAggregatesOnly()
    ->Unit(benchmark::kMicrosecond);

// What a cached object costs.
void BM_link(benchmark::State& state) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic fault;
  auto module = llvm::parseAssemblyString(unit(static_cast<int>(state.range(0)), 1), fault, context);
  engine().prepare(*module);
  Problem problem;
  const Emitter::Object object = engine().emit(*module, Pipeline::Full, problem);
  for (auto _ : state) {
    auto code = engine().link({object.data(), object.size()}, problem);
    if (!code) state.SkipWithError(problem.text.c_str());
  }
}
BENCHMARK(BM_link)->Arg(3)->Arg(60)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
