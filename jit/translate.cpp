// See translate.h. Every unit is refused: the translator arrives family by family.
#include "jit/translate.h"

namespace posset::jit {

std::unique_ptr<Translation> translate(const bytecode::Chunk&, int, interp::Reason& refusal) {
  refusal = interp::Reason::not_translated;
  return nullptr;
}

}  // namespace posset::jit
