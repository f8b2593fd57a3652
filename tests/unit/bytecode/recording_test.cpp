// For how long bytecode records operand types. Scripts see only that it was long enough: `explain` names them.
#include "bytecode/chunk.h"
#include "one_function.h"

namespace posset::interp {

namespace {

int32_t recording_budget(int max_tier) {
  RuntimeOptions options;
  options.max_tier = max_tier;
  OneFunction module{options};
  Refusal refusal;
  void* code = module.compile(refusal);
  REQUIRE(code);
  const int32_t budget = static_cast<bytecode::Chunk*>(code)->recording_budget;
  module.tier->drop(code);
  return budget;
}

}  // namespace

TEST_CASE("bytecode: records for people only where no native tier will read it") {
  CHECK(recording_budget(3) == bytecode::kRecording);
  CHECK(recording_budget(2) == bytecode::kRecording);
  CHECK(recording_budget(1) == bytecode::kRecordingForPeople);
}

}  // namespace posset::interp
