// See translate.h.
#include "jit/translate.h"

#include "jit/translator.h"

namespace posset::jit {

namespace {

// Beyond these compiling takes seconds. An exit stores what is live, so its code grows with the product
// of instructions and registers.
constexpr uint64_t kMostInstructions = 10000;
constexpr uint64_t kMostExitStores = 60000;

bool is_too_large(const bytecode::Chunk& chunk) {
  return chunk.size > kMostInstructions || uint64_t{chunk.size} * chunk.registers > kMostExitStores;
}

// Stage 1 inlines nothing.
const Bodies kNoBodies = [](uint32_t) -> const bytecode::Chunk* { return nullptr; };

}  // namespace

std::unique_ptr<Translation> translate(const bytecode::Chunk& chunk, int stage, const Bodies& bodies,
                                       const Prepare& prepare, interp::Reason& refusal) {
  if (is_too_large(chunk)) {
    refusal = interp::Reason::not_translated;
    return nullptr;
  }
  const auto versions = versions_of(chunk, stage, stage == 1 ? kNoBodies : bodies);
  auto made = Translator(chunk, versions, stage, prepare).run();
  const auto note_inlined = [&](uint32_t unit, const bytecode::Chunk& body) {
    made->bindings.part(body);
    made->inlined.push_back({&body, unit});
  };
  for (const Version& each : versions) {
    each.kinds->for_each_inlined(note_inlined);
    if (each.forking) each.forking->for_each_inlined(note_inlined);
  }
  return made;
}

}  // namespace posset::jit
