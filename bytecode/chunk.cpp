// Chunk bookkeeping and the opcode table's contents.
#include "bytecode/chunk.h"

#include <algorithm>

namespace posset::bytecode {

namespace {

constexpr OpInfo kInfos[] = {
#define _ '_'
#define D 'D'
#define U 'U'
#define R 'R'
#define V 'V'
#define K 'K'
#define I 'I'
#define N 'N'
#define L 'L'
#define C 'C'
#define Q 'Q'
#define P 'P'
#define J 'J'
#define W 'W'
#define OP(Name, a, b, c, flags, meaning) {#Name, a, b, c, flags, meaning},
#include "bytecode/opcodes.def"
#undef OP
#undef _
#undef D
#undef U
#undef R
#undef V
#undef K
#undef I
#undef N
#undef L
#undef C
#undef Q
#undef P
#undef J
#undef W
    {"Record", '_', '_', '_', 0, "note operand types, then execute the twin instruction"},
    {"EnterNative", '_', '_', '_', 0, "run the chunk's native code from its beginning"},
    {"EnterNativeLoop", '_', '_', '_', 0, "run the chunk's native code from a loop head"},
};

}  // namespace

const OpInfo& info(Op op) { return kInfos[static_cast<size_t>(op)]; }

bool has_next_word(Op op) {
  switch (op) {
    case Op::Binary:
    case Op::CallLink:
    case Op::CallValue:
    case Op::UpdateIndex:
    case Op::UpdateField:
    case Op::UpdatePlace:
    case Op::TestField: return true;
    default: return false;
  }
}

Chunk::~Chunk() = default;  // constants are plain or immortal

uint32_t Chunk::entry_at(const Insn* head) const {
  const uint32_t pc = index_of(head);
  auto found = std::lower_bound(loop_heads.begin(), loop_heads.end(), pc,
                                [](const LoopHead& each, uint32_t at) { return each.pc < at; });
  if (found == loop_heads.end() || found->pc != pc) return 0;
  return static_cast<uint32_t>(found - loop_heads.begin()) + 1;
}

const LiveChange& Chunk::live_at(uint32_t pc) const {
  auto after = std::upper_bound(live.begin(), live.end(), pc, [](uint32_t at, const LiveChange& c) { return at < c.pc; });
  return *std::prev(after);
}

uint32_t Chunk::site_of(uint32_t pc, bool limit) const {
  if (limit) {
    for (auto [at, site] : step_sites) {
      if (at == pc) return site;
    }
  }
  return sites[pc];
}

namespace {

// Of a tree that is kept a function's code answers for its share.
size_t share_of_tree(const syntax::Module& tree) {
  const size_t functions = std::max<size_t>(1, tree.owned_functions.size());
  return sizeof(syntax::FunctionDecl) + (tree.arena.bytes() + tree.source->text().size()) / functions;
}

}  // namespace

size_t Chunk::memory() const {
  size_t bytes = sizeof(Chunk) + outline.memory() + size * (2 * sizeof(Insn) + sizeof(uint32_t) * 2);
  bytes += constants.size() * sizeof(Borrowed) + caches.size() * sizeof(FieldCache);
  bytes += live.size() * sizeof(LiveChange) + regions.size() * sizeof(Region);
  bytes += loop_heads.size() * sizeof(LoopHead);
  for (const auto& set : live_sets) bytes += set.size() * sizeof(uint16_t) + sizeof(set);
  for (const auto& text : texts) bytes += text.size() * sizeof(Piece);
  if (tree) bytes += share_of_tree(*tree);
  return bytes;
}

}  // namespace posset::bytecode
