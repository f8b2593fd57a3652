// See intrinsics.h.
#include "jit/intrinsics.h"

#include <string_view>

#include "interp/syntax/ast.h"

namespace posset::jit {

using interp::Intrinsic;

namespace {

struct Row {
  std::string_view name;
  Intrinsic intrinsic;
};

constexpr Row kRows[] = {
#define BUILTIN(name, signature, doc, min, max, inout, calls, pure, intrinsic) {#name, Intrinsic::intrinsic},
#include "interp/runtime/builtins.def"
#undef BUILTIN
};

}  // namespace

Intrinsic intrinsic_called(const bytecode::Chunk& chunk, const bytecode::Insn& insn) {
  const bytecode::Outline::Link& link = chunk.outline.links[insn.b];
  if (link.kind != syntax::Link::Kind::Builtin) return Intrinsic::None;
  for (const Row& row : kRows) {
    if (row.name == link.name) return row.intrinsic;
  }
  return Intrinsic::None;
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
