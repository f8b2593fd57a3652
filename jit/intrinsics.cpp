// See intrinsics.h.
#include "jit/intrinsics.h"

#include <bit>

namespace posset::jit {

using interp::Intrinsic;

Intrinsic intrinsic_called(const bytecode::Chunk& chunk, uint32_t pc, bytecode::Seen seen) {
  const bytecode::Op op = chunk.op_at(pc);
  if (op == bytecode::Op::CallNative) {
    const interp::NativeFunction* function = chunk.outline.links[chunk.at(pc).b].native;
    return function ? function->intrinsic : Intrinsic::None;
  }
  const bool takes_marks = op == bytecode::Op::CallLink || op == bytecode::Op::CallValue;
  return takes_marks && std::bit_cast<uint64_t>(chunk.at(pc + 1)) == 0 ? seen.native() : Intrinsic::None;
}

bool is_of_floats(Intrinsic which, uint32_t count) {
  return (which == Intrinsic::OfFloat && count == 1) || (which == Intrinsic::OfFloats && count == 2);
}

std::optional<Kind> intrinsic_result(Intrinsic which, Kind argument, uint32_t count) {
  if (!is_number(argument)) return std::nullopt;
  const auto fits = [&](uint32_t least, uint32_t most, Kind result) {
    return count >= least && count <= most ? std::optional(result) : std::nullopt;
  };
  switch (which) {
    case Intrinsic::Min:
    case Intrinsic::Max: return fits(2, UINT32_MAX, argument);
    case Intrinsic::Clamp: return fits(3, 3, argument);
    case Intrinsic::Abs: return fits(1, 1, argument);
    case Intrinsic::Sqrt:
    case Intrinsic::Float: return fits(1, 1, Kind::Float);
    case Intrinsic::Int:
    case Intrinsic::Floor:
    case Intrinsic::Ceil:
    case Intrinsic::Round: return fits(1, 1, Kind::Int);
    default: return std::nullopt;
  }
}

}  // namespace posset::jit
