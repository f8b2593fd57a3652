// See translate.h.
#include "jit/translate.h"

#include "jit/translator.h"

namespace posset::jit {

namespace {

// Instructions; beyond, compiling would take seconds.
constexpr uint32_t kLargestChunk = 20000;

}  // namespace

std::unique_ptr<Translation> translate(const bytecode::Chunk& chunk, int stage, const Prepare& prepare,
                                       interp::Reason& refusal) {
  if (chunk.size > kLargestChunk) {
    refusal = interp::Reason::not_translated;
    return nullptr;
  }
  if (stage == 1) return Translator(chunk, nullptr, prepare).run();
  const Kinds kinds(chunk);
  return Translator(chunk, &kinds, prepare).run();
}

}  // namespace posset::jit
