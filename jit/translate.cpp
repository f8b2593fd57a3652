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
  static_cast<void>(stage);
  if (chunk.size > kLargestChunk) {
    refusal = interp::Reason::not_translated;
    return nullptr;
  }
  return Translator(chunk, prepare).run();
}

}  // namespace posset::jit
