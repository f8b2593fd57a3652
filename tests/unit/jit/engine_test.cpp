// The native compiler without a translator: hand-written modules in, calls out.
#include "jit/engine.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include <doctest/doctest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

#include "interp/runtime/native_plugin.h"

using posset::interp::Helper;
using posset::jit::Code;
using posset::jit::Engine;
using posset::jit::EngineOptions;
using posset::jit::Failure;
using posset::jit::Mapper;
using posset::jit::Pipeline;
using posset::jit::Problem;

// The debugger's list, by the names it knows (jit/watch.cpp).
struct jit_code_entry {
  jit_code_entry *next, *previous;
  const char* symbol_file;
  uint64_t symbol_file_bytes;
};
extern "C" struct {
  uint32_t version, action;
  jit_code_entry *relevant, *first;
} __jit_debug_descriptor;

namespace {

int64_t twice(int64_t x) { return 2 * x; }

const Helper kHelpers[] = {{"helper_twice", reinterpret_cast<const void*>(twice)}};

const char* const kAdd = R"(
define i64 @add(i64 %a, i64 %b) {
  %place = alloca i64
  store i64 %a, ptr %place
  %x = load i64, ptr %place
  %sum = add i64 %x, %b
  ret i64 %sum
})";

std::unique_ptr<Engine> make_engine(const EngineOptions& options = {}) {
  Problem problem;
  auto made = Engine::create(kHelpers, options, problem);
  CHECK(problem.text == "");
  REQUIRE(made);
  return made;
}

struct Source {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;

  Source(Engine& engine, const char* text) {
    llvm::SMDiagnostic fault;
    module = llvm::parseAssemblyString(text, fault, context);
    REQUIRE_MESSAGE(module, fault.getMessage().str());
    engine.prepare(*module);
  }
};

std::unique_ptr<Code> compile(Engine& engine, const char* text, Pipeline pipeline, Problem& problem) {
  Source source(engine, text);
  return engine.compile(*source.module, pipeline, problem);
}

std::unique_ptr<Code> compile(Engine& engine, const char* text, Pipeline pipeline = Pipeline::Quick) {
  Problem problem;
  auto code = compile(engine, text, pipeline, problem);
  CHECK(problem.text == "");
  REQUIRE(code);
  return code;
}

template <class Function>
Function* function(const Code& code, const char* name) {
  return reinterpret_cast<Function*>(code.entry(name));
}

constexpr Pipeline kAll[] = {Pipeline::Quick, Pipeline::Light, Pipeline::Full};

}  // namespace

TEST_CASE("engine: a function is compiled and called, by every pipeline") {
  auto engine = make_engine();
  for (Pipeline pipeline : kAll) {
    CAPTURE(name_of(pipeline));
    auto code = compile(*engine, kAdd, pipeline);
    CHECK(function<int64_t(int64_t, int64_t)>(*code, "add")(40, 2) == 42);
    CHECK(code->entry("subtract") == nullptr);
    CHECK(code->bytes() > 0);
  }
}

TEST_CASE("engine regression: optimising a match of thousands of arms took half a minute") {
  auto engine = make_engine();
  const auto sums = [&](size_t count) {
    std::string text = "define i64 @sum(i64 %a) {\n";
    for (size_t i = 1; i <= count; ++i) {
      text += "  %v" + std::to_string(i) + " = add i64 %" + (i == 1 ? "a" : "v" + std::to_string(i - 1)) + ", 7\n";
    }
    return Source(*engine, (text + "  ret i64 %v" + std::to_string(count) + "\n}\n").c_str());
  };
  const Source few = sums(1'000), many = sums(30'000);
  for (Pipeline pipeline : kAll) {
    CHECK(affordable(pipeline, *few.module) == pipeline);
    CHECK(affordable(pipeline, *many.module) == Pipeline::Quick);
  }
}

TEST_CASE("engine: code calls helpers and what code generation needs itself") {
  auto engine = make_engine();
  const char* text = R"(
declare i64 @helper_twice(i64)
declare double @llvm.floor.f64(double)
define i64 @f(i64 %x) {
  %y = call i64 @helper_twice(i64 %x)
  %z = add i64 %y, 1
  ret i64 %z
}
define double @g(double %x, double %y) {
  %r = frem double %x, %y
  %f = call double @llvm.floor.f64(double %r)
  ret double %f
})";
  for (Pipeline pipeline : kAll) {
    auto code = compile(*engine, text, pipeline);
    CHECK(function<int64_t(int64_t)>(*code, "f")(20) == 41);
    CHECK(function<double(double, double)>(*code, "g")(7.5, 4) == 3);
  }
}

TEST_CASE("engine: multiply and add are not fused") {
  auto engine = make_engine();
  const char* text = R"(
define double @f(double %a, double %b, double %c) {
  %p = fmul double %a, %b
  %s = fadd double %p, %c
  ret double %s
})";
  volatile double a = 1 + 0x1p-30, c = -1 - 0x1p-29;
  for (Pipeline pipeline : kAll) {
    auto code = compile(*engine, text, pipeline);
    CHECK(function<double(double, double, double)>(*code, "f")(a, a, c) == 0);  // 2^-60 if fused
  }
}

TEST_CASE("engine: an unknown symbol is a problem, not a call into nothing") {
  auto engine = make_engine();
  Problem problem;
  auto code = compile(*engine, "declare void @nobody()\ndefine void @f() {\n call void @nobody()\n ret void\n}",
                      Pipeline::Quick, problem);
  CHECK(!code);
  CHECK(problem.kind == Failure::Fault);
  CHECK(problem.text.find("nobody") != std::string::npos);
  compile(*engine, kAdd);
  CHECK(engine->bytes() == 0);
}

TEST_CASE("engine: what is linked is also linked again from its object") {
  auto engine = make_engine();
  Source source(*engine, kAdd);
  Problem problem;
  auto object = engine->emit(*source.module, Pipeline::Full, problem);
  REQUIRE(!object.empty());
  for (int i = 0; i < 3; ++i) {
    auto code = engine->link({object.data(), object.size()}, problem);
    REQUIRE(code);
    CHECK(function<int64_t(int64_t, int64_t)>(*code, "add")(i, 2) == i + 2);
  }
  auto code = engine->link({object.data(), object.size() / 2}, problem);
  CHECK(!code);
  CHECK(problem.kind == Failure::Fault);
}

TEST_CASE("engine: several threads compile at the same time") {
  auto engine = make_engine();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        auto code = compile(*engine, kAdd, kAll[(t + i) % 3]);
        right += function<int64_t(int64_t, int64_t)>(*code, "add")(i, t) == i + t;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4 * 30);
  CHECK(engine->bytes() == 0);
}

TEST_CASE("engine: code goes with its memory") {
  auto engine = make_engine();
  size_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    auto code = compile(*engine, kAdd);
    CHECK(engine->bytes() == code->bytes());
    most = std::max(most, engine->bytes());
  }
  CHECK(engine->bytes() == 0);
  CHECK(most < size_t{64} << 10);
}

TEST_CASE("engine: refused memory is a problem with a text") {
  static Mapper mapper;
  mapper = posset::jit::system_mapper();
  EngineOptions options;
  options.mapper = &mapper;
  auto engine = make_engine(options);
  Problem problem;
  mapper.protect = [](void*, size_t, bool, bool execute) { return errno = EACCES, !execute; };
  CHECK(!compile(*engine, kAdd, Pipeline::Quick, problem));
  CHECK(problem.kind == Failure::Refused);
  CHECK(problem.text.find("executable memory refused") != std::string::npos);
  CHECK(!Engine::create(kHelpers, options, problem));
  CHECK(problem.kind == Failure::Refused);
  mapper = posset::jit::system_mapper();
  mapper.map = [](void*, size_t) -> void* { return errno = ENOMEM, nullptr; };
  CHECK(!compile(*engine, kAdd, Pipeline::Quick, problem));
  CHECK(problem.kind == Failure::OutOfMemory);
  CHECK(!Engine::create(kHelpers, options, problem));
  mapper = posset::jit::system_mapper();
  CHECK(engine->bytes() == 0);
  compile(*engine, kAdd);
}

TEST_CASE("engine: a fatal error of LLVM's is a problem, and the last") {
  auto engine = make_engine();
  Problem problem;
  auto before = compile(*engine, kAdd);
  // An instruction of another machine cannot be selected.
#ifdef __x86_64__
  const char* text = "declare i32 @llvm.aarch64.crc32b(i32, i32)\ndefine i32 @f(i32 %x) {\n"
                     " %r = call i32 @llvm.aarch64.crc32b(i32 %x, i32 1)\n ret i32 %r\n}";
#else
  const char* text = "declare i32 @llvm.x86.sse42.crc32.32.8(i32, i8)\ndefine i32 @f(i32 %x) {\n"
                     " %r = call i32 @llvm.x86.sse42.crc32.32.8(i32 %x, i8 1)\n ret i32 %r\n}";
#endif
  CHECK(!compile(*engine, text, Pipeline::Quick, problem));
  CHECK(problem.kind == Failure::Fault);
  CHECK(problem.text.find("select") != std::string::npos);
  CHECK(!compile(*engine, kAdd, Pipeline::Quick, problem));
  CHECK(function<int64_t(int64_t, int64_t)>(*before, "add")(1, 2) == 3);
}

TEST_CASE("engine: perf and GDB are told of code while it is there") {
  auto engine = make_engine();
  engine->watch(posset::interp::kWatchPerf | posset::interp::kWatchGdb);
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  {
    auto first = compile(*engine, kAdd);
    auto second = compile(*engine, kAdd, Pipeline::Full);
    std::ostringstream line;
    line << std::hex << reinterpret_cast<uintptr_t>(second->entry("add"));
    std::ostringstream map;
    map << std::ifstream(path).rdbuf();
    CHECK(map.str().find(line.str() + " ") != std::string::npos);
    CHECK(map.str().find(" add\n") != std::string::npos);
    REQUIRE(__jit_debug_descriptor.first);
    REQUIRE(__jit_debug_descriptor.first->next);
    CHECK(__jit_debug_descriptor.first->symbol_file_bytes > 0);
    first.reset();
    CHECK(__jit_debug_descriptor.first->next == nullptr);
  }
  CHECK(__jit_debug_descriptor.first == nullptr);
  std::remove(path.c_str());
}

TEST_CASE("engine: IR and assembly as text") {
  auto engine = make_engine();
  Problem problem;
  Source one(*engine, kAdd);
  const std::string ir = engine->ir(*one.module, Pipeline::Full, problem);
  CHECK(ir.find("define") != std::string::npos);
  CHECK(ir.find("alloca") == std::string::npos);
  Source other(*engine, kAdd);
  CHECK(engine->assembly(*other.module, Pipeline::Full, problem).find("add:") != std::string::npos);
}
