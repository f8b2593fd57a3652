// See translate.h.
#include "jit/translate.h"

#include "jit/translator.h"

namespace posset::jit {

namespace {

// Beyond these compiling takes seconds. An exit of stage 2 stores what is live, so its code grows with the product
// of instructions and registers.
constexpr uint64_t kMostInstructions = 10000;
constexpr uint64_t kMostExitStores = 60000;

bool is_too_large(const bytecode::Chunk& chunk, int stage) {
  if (chunk.size > kMostInstructions) return true;
  return stage > 1 && uint64_t{chunk.size} * chunk.registers > kMostExitStores;
}

}  // namespace

std::unique_ptr<Translation> translate(const bytecode::Chunk& chunk, int stage, const Bodies& bodies,
                                       const Prepare& prepare, interp::Reason& refusal) {
  if (is_too_large(chunk, stage)) {
    refusal = interp::Reason::not_translated;
    return nullptr;
  }
  if (stage == 1) return Translator(chunk, nullptr, prepare).run();
  const Kinds kinds(chunk, bodies);
  auto made = Translator(chunk, &kinds, prepare).run();
  kinds.for_each_inlined([&](uint32_t unit, const bytecode::Chunk& body) {
    made->bindings.part(body);
    made->inlined.push_back({&body, unit});
  });
  return made;
}

}  // namespace posset::jit
