// See intrinsics.h.
#include "jit/intrinsics.h"

namespace posset::jit {

using interp::Intrinsic;

namespace {

const interp::NativeFunction* called(const bytecode::Chunk& chunk, const bytecode::Insn& insn) {
  return chunk.outline.links[insn.b].native;
}

}  // namespace

Intrinsic intrinsic_called(const bytecode::Chunk& chunk, const bytecode::Insn& insn) {
  const interp::NativeFunction* function = called(chunk, insn);
  return function ? function->intrinsic : Intrinsic::None;
}

bool calls_of_floats(const bytecode::Chunk& chunk, const bytecode::Insn& insn) {
  const interp::NativeFunction* function = called(chunk, insn);
  return function && ((function->of_float && insn.c == 1) || (function->of_floats && insn.c == 2));
}

std::optional<Kind> intrinsic_result(Intrinsic which, Kind argument, uint32_t count) {
  if (!is_number(argument)) return std::nullopt;
  const bool best = which == Intrinsic::Min || which == Intrinsic::Max;
  if (best ? count < 2 : count != 1) return std::nullopt;
  switch (which) {
    case Intrinsic::Abs:
    case Intrinsic::Min:
    case Intrinsic::Max: return argument;
    case Intrinsic::Sqrt:
    case Intrinsic::Float: return Kind::Float;
    case Intrinsic::Int:
    case Intrinsic::Floor: return Kind::Int;
    default: return std::nullopt;
  }
}

}  // namespace posset::jit
