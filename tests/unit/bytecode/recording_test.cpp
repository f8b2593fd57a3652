// For how long bytecode records operand types. Scripts see only that it was long enough: `explain` names them.
#include <doctest/doctest.h>

#include <posset/attach.h>

#include "bytecode/chunk.h"
#include "interp/runtime/builtins.h"
#include "interp/runtime/context.h"
#include "interp/runtime/program.h"
#include "interp/runtime/tier.h"

namespace posset::interp {

namespace {

int32_t recording_budget(int max_tier) {
  RuntimeOptions options;
  options.max_tier = max_tier;
  RuntimeState runtime{options};
  register_builtins(runtime);
  Context context(runtime, Limits());
  syntax::Diagnostics diagnostics;
  auto source = std::make_shared<syntax::Source>("a.posset", "fn f(x) => x + 1\nf(1)");
  auto tree = load_program(context, source, "", diagnostics, false);
  REQUIRE(tree);
  const auto* tier = static_cast<const TierInterface*>(posset_bytecode_tier());
  Refusal refusal;
  void* code = tier->compile(runtime, *tree->functions.front(), -1, nullptr, refusal);
  REQUIRE(code);
  const int32_t budget = static_cast<bytecode::Chunk*>(code)->recording_budget;
  tier->drop(code);
  return budget;
}

}  // namespace

TEST_CASE("bytecode: records for people only where no native tier will read it") {
  CHECK(recording_budget(3) == bytecode::kRecording);
  CHECK(recording_budget(2) == bytecode::kRecording);
  CHECK(recording_budget(1) == bytecode::kRecordingForPeople);
}

}  // namespace posset::interp
