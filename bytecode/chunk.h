// A Chunk is the tier-1 code of one unit (a function body or one loop): instructions, constants, and the
// side tables that only errors, dumps and profiles read. Immutable once published, except for inline
// caches, the profile and the recording budget, which are relaxed atomics.
//
// The instructions stand twice in `code`: the second half is the code as compiled; in the first half every
// opcode is `Record`, which notes the operand types of its twin and then executes it. Units start in the
// first half and leave it when `recording_budget` is used up, so recording costs nothing afterwards.
//
// Ownership of registers is static. At any instruction the function's live locals are the prefix
// [first_local, locals) of the frame and the owned temporaries are exactly those of the live set in force;
// unwinding releases those and nothing else (`live` maps instruction to set). Views (kind U) are never
// owned.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/function.h"
#include "interp/runtime/tier.h"
#include "interp/syntax/ast.h"
#include "interp/value/value.h"

namespace posset::bytecode {

using interp::Borrowed;
using interp::Reason;
using interp::Refusal;

enum class Op : uint8_t {
#define OP(Name, a, b, c, flags, meaning) Name,
#include "bytecode/opcodes.def"
#undef OP
  Record,
  kCount
};

struct Insn {
  uint8_t op;
  uint8_t x;
  uint16_t a;
  union {
    struct {
      uint16_t b;
      uint16_t c;
    };
    int32_t wide;  // kind W
  };
  int16_t imm_b() const { return static_cast<int16_t>(b); }
  int16_t imm_c() const { return static_cast<int16_t>(c); }
};
static_assert(sizeof(Insn) == 8);

constexpr uint8_t kConsumeB = 1;
constexpr uint8_t kConsumeC = 2;
constexpr uint8_t kConsumeA = 2;  // instructions whose value operand is a
constexpr uint8_t kSense = 4;
constexpr uint16_t kNoRegister = 0xffff;

// What an instruction's operands are.
struct OpInfo {
  const char* name;
  char a, b, c;
  uint8_t flags;
  const char* meaning;
};
constexpr uint8_t Throws = 1, Branch = 2, Ends = 4, Step = 8;
const OpInfo& info(Op op);
// Does a data word follow (operator, marks, cache)?
bool has_next_word(Op op);

// Field access: name, and the last shape seen with the field's index (shape id << 32 | index).
struct FieldCache {
  const interp::Symbol* name = nullptr;
  std::atomic<uint64_t> seen{UINT64_MAX};
};

// A try (catches script errors into `reg`) or a cleanup (also gets limits, ends in Rethrow).
struct Region {
  uint32_t begin = 0, end = 0;   // instructions covered
  uint32_t handler = 0;
  uint32_t depth = 0;            // how many are around it
  uint16_t reg = 0;              // where the error goes; of a cleanup also reg + 1, its site
  uint16_t locals = 0;           // live locals at the handler
  uint32_t live_set = 0;         // owned temporaries at the handler
  bool cleanup = false;
};

struct LiveChange {
  uint32_t pc = 0;
  uint16_t locals = 0;
  uint32_t set = 0;              // index into live_sets
};

// Pieces of an interpolation: text, or the next register formatted by `spec`.
struct Piece {
  std::string text;
  const syntax::FormatSpec* spec = nullptr;
  bool is_value = false;
  uint32_t site = 0;             // of the value, for errors
};

// An element of a record with spreads: a name, or null for a spread.
using FieldNames = std::vector<const interp::Symbol*>;

struct RaiseInfo {
  syntax::ErrorCode code;
  std::string message;           // "%" stands for the value in question
  std::string hint;
};

struct Chunk {
  ~Chunk();

  std::shared_ptr<const syntax::Module> tree;  // types, formats and names of links point into it
  const syntax::FunctionDecl* function = nullptr;
  interp::RuntimeState* runtime = nullptr;
  std::string name;
  bool is_loop = false;
  uint32_t size = 0;               // instructions; code holds twice as many
  std::unique_ptr<Insn[]> code;
  std::atomic<const Insn*> entry{nullptr};  // code, later code + size
  std::atomic<int32_t> recording_budget{20000};
  std::unique_ptr<std::atomic<uint32_t>[]> profile;  // by instruction: tag masks of b and c (low, high half)

  std::vector<Borrowed> constants; // long strings are immortal objects of the runtime
  std::vector<std::unique_ptr<FieldCache>> caches;
  std::vector<const syntax::TypeExpr*> types;
  std::vector<const interp::Shape*> shapes;
  std::vector<FieldNames> field_names;
  std::vector<std::vector<Piece>> texts;
  std::vector<RaiseInfo> raises;

  uint32_t slots = 0;              // of the function
  uint32_t registers = 0;          // slots and temporaries, with room for one more window
  uint16_t first_local = 0;        // a loop's code releases only what it made itself
  uint64_t inout_mask = 0;

  std::vector<uint32_t> sites;     // by instruction
  std::vector<std::pair<uint32_t, uint32_t>> step_sites;  // instruction -> loop, for limits met by a step
  std::vector<LiveChange> live;    // ascending pc
  std::vector<std::vector<uint16_t>> live_sets;
  std::vector<Region> regions;     // innermost first

  // Instruction number of a pc of either half.
  uint32_t index_of(const Insn* pc) const {
    auto i = static_cast<uint32_t>(pc - code.get());
    return i >= size ? i - size : i;
  }
  const LiveChange& live_at(uint32_t pc) const;
  // The site of an error raised by an instruction.
  uint32_t site_of(uint32_t pc, bool limit) const;
  size_t memory() const;
};

std::string disassemble(const Chunk& chunk);
std::string types_seen(const Chunk& chunk);
// Empty when the chunk is well formed, else what is wrong. Called for every chunk in debug builds.
std::string verify(const Chunk& chunk);

}  // namespace posset::bytecode
