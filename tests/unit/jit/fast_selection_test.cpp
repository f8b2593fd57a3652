// Quick code without what the fast selection of instructions does not know: it does the same.
#include "jit/fast_selection.h"

#include <memory>

#include <doctest/doctest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>

#include "jit/engine.h"

using posset::jit::Engine;
using posset::jit::Pipeline;
using posset::jit::Problem;

namespace {

// Two cases go one way, another goes where the first way ends, too; the default is the fourth.
const char* const kChoice = R"(
define i64 @choice(i64 %x) {
entry:
  switch i64 %x, label %other [
    i64 1, label %both
    i64 7, label %alone
    i64 2, label %both
    i64 3, label %end
    i64 4, label %end
  ]
both:
  %b = phi i64 [ 10, %entry ], [ 10, %entry ]
  br label %end
alone:
  ret i64 70
other:
  %o = phi i64 [ 50, %entry ]
  ret i64 %o
end:
  %e = phi i64 [ %b, %both ], [ 30, %entry ], [ 30, %entry ]
  ret i64 %e
})";

const char* const kPairs = R"(
define { i64, i64 } @inner(i64 %x) {
  ret { i64, i64 } { i64 5, i64 6 }
}
define { i64, i64 } @pairs(i64 %x) {
entry:
  switch i64 %x, label %left [
  ]
left:
  %small = icmp slt i64 %x, 10
  br i1 %small, label %made, label %called
made:
  %a = insertvalue { i64, i64 } poison, i64 %x, 0
  %b = insertvalue { i64, i64 } %a, i64 1, 1
  ret { i64, i64 } %b
called:
  %big = icmp sgt i64 %x, 100
  br i1 %big, label %constant, label %asks
constant:
  ret { i64, i64 } { i64 2, i64 3 }
asks:
  %c = call { i64, i64 } @inner(i64 %x)
  ret { i64, i64 } %c
})";

const char* const kAtomics = R"(
define i64 @atomics(ptr %p) {
  %a = load atomic i64, ptr %p acquire, align 8
  store atomic i64 2, ptr %p release, align 8
  %b = load atomic i64, ptr %p monotonic, align 8
  %s = add i64 %a, %b
  ret i64 %s
})";

struct Prepared {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<Engine> engine;

  explicit Prepared(const char* text) {
    Problem problem;
    engine = Engine::create({}, {}, problem);
    REQUIRE(engine);
    llvm::SMDiagnostic fault;
    module = llvm::parseAssemblyString(text, fault, context);
    REQUIRE_MESSAGE(module, fault.getMessage().str());
    engine->prepare(*module);
    posset::jit::prepare_fast_selection(*module);
    REQUIRE_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  }

  template <class Instruction>
  int count(const char* function, bool (*of)(const Instruction&) = [](const Instruction&) { return true; }) const {
    int found = 0;
    for (const llvm::BasicBlock& block : *module->getFunction(function)) {
      for (const llvm::Instruction& each : block) {
        const auto* asked = llvm::dyn_cast<Instruction>(&each);
        found += asked && of(*asked);
      }
    }
    return found;
  }

  std::unique_ptr<posset::jit::Code> compile() {
    Problem problem;
    auto code = engine->compile(*module, Pipeline::Quick, problem);
    CHECK(problem.text == "");
    REQUIRE(code);
    return code;
  }
};

}  // namespace

TEST_CASE("fast selection: a switch is comparisons, and values that come from it into a block are the same") {
  Prepared made(kChoice);
  CHECK(made.count<llvm::SwitchInst>("choice") == 0);
  const auto code = made.compile();
  auto* choice = reinterpret_cast<int64_t (*)(int64_t)>(code->entry("choice"));
  const int64_t expected[] = {50, 10, 10, 30, 30, 50, 50, 70, 50};
  for (int64_t x = 0; x < 9; ++x) CHECK(choice(x) == expected[x]);
}

TEST_CASE("fast selection: two words are returned in one place, wherever they come from") {
  Prepared made(kPairs);
  CHECK(made.count<llvm::SwitchInst>("pairs") == 0);
  CHECK(made.count<llvm::ReturnInst>("pairs") == 1);
  const auto code = made.compile();
  struct Pair {
    int64_t first, second;
  };
  auto* pairs = reinterpret_cast<Pair (*)(int64_t)>(code->entry("pairs"));
  auto check = [&](int64_t x, int64_t first, int64_t second) {
    const Pair got = pairs(x);
    CHECK(got.first == first);
    CHECK(got.second == second);
  };
  check(4, 4, 1);
  check(20, 5, 6);
  check(200, 2, 3);
}

TEST_CASE("fast selection: atomic loads are volatile ones, stores stay") {
  Prepared made(kAtomics);
  CHECK(made.count<llvm::LoadInst>("atomics", [](const llvm::LoadInst& each) { return each.isAtomic(); }) == 0);
  CHECK(made.count<llvm::LoadInst>("atomics", [](const llvm::LoadInst& each) { return each.isVolatile(); }) == 2);
  CHECK(made.count<llvm::StoreInst>("atomics", [](const llvm::StoreInst& each) { return each.isAtomic(); }) == 1);
  const auto code = made.compile();
  int64_t word = 40;
  CHECK(reinterpret_cast<int64_t (*)(int64_t*)>(code->entry("atomics"))(&word) == 42);
  CHECK(word == 2);
}
