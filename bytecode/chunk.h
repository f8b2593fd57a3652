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
#include <optional>
#include <string>
#include <vector>

#include "bytecode/outline.h"
#include "interp/runtime/context.h"
#include "interp/runtime/function.h"
#include "interp/runtime/native.h"
#include "interp/runtime/signatures.h"
#include "interp/runtime/tier.h"
#include "interp/runtime/type_tags.h"
#include "interp/syntax/ast.h"
#include "interp/value/objects.h"
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
  EnterNative,      // of kEnterNative, where a chunk with native code is entered
  EnterNativeLoop,  // of kEnterNativeLoop, at the head of a loop
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
constexpr uint8_t kHolds = 4;  // ViewIndex: the slot that its register is the view of owns what nobody else does (views.h)
constexpr uint8_t kFree = 8;              // of a loop's next round: charges no step
constexpr uint8_t kCharged = 4;           // CallValue: a round of a loop, charged a step whatever is called
constexpr uint8_t kSplits = 8;            // CallbackReady: the built-in does it in halves if the function says so
constexpr uint8_t kFromFirst = 128;       // CallbackReady: the state begins with the first item (interp/runtime/callback_loop.h)
constexpr uint8_t kParametersShift = 4;   // CallbackReady: how many arguments the function gets, in two bits
constexpr uint32_t parameters_of(uint8_t x) { return x >> kParametersShift & 3; }
constexpr uint8_t kAskerShift = 4;        // JumpIf, LoopIf: what wants to know it (interp::Asker)
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
// Differs between tables of instructions, so that nobody takes the code of one for that of another.
constexpr uint64_t instruction_set() {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char* each : {
#define OP(Name, a, b, c, flags, meaning) #Name #a #b #c " " #flags " ",
#include "bytecode/opcodes.def"
#undef OP
       }) {
    for (; *each; ++each) hash = (hash ^ static_cast<uint8_t>(*each)) * 0x100000001b3;
  }
  return hash;
}
// Does a data word follow (operator, marks, cache)?
bool has_next_word(Op op);
inline uint32_t length_of(Op op) { return has_next_word(op) ? 2 : 1; }
// How far a branch goes, from its own place.
inline int32_t distance_of(const Insn& insn) {
  return info(static_cast<Op>(insn.op)).b == 'W' ? insn.wide : insn.imm_c();
}
// Calls of closures.
constexpr bool is_call(Op op) { return op == Op::CallKnown || op == Op::CallLink || op == Op::CallValue; }

// What a chunk with native code has for its entry.
constexpr Insn native_stub(Op op) {
  Insn insn{};
  insn.op = static_cast<uint8_t>(op);
  return insn;
}
inline constexpr Insn kEnterNative = native_stub(Op::EnterNative);
inline constexpr Insn kEnterNativeLoop = native_stub(Op::EnterNativeLoop);

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
  uint32_t forks = 0;            // fork points whose records the frame may have left around it, a bit each
};

struct LiveChange {
  uint32_t pc = 0;
  uint16_t locals = 0;
  uint32_t set = 0;              // index into live_sets
};

// Pieces of an interpolation: text, or the next register formatted by `spec`.
struct Piece {
  std::string text;
  std::optional<syntax::FormatSpec> spec;
  bool is_value = false;
  uint32_t site = 0;             // of the value, for errors
};

// An element of a record with spreads: a name, or null for a spread.
using FieldNames = std::vector<const interp::Symbol*>;

// The target of backward jumps, and which loop of the function they repeat (-1: the body, by a tail call or for the
// rounds of a built-in that calls a function).
struct LoopHead {
  uint32_t pc = 0;
  int loop = -1;
};

// Native code of a chunk. `entry`: 0 its beginning, n + 1 its loop head n. It runs to the end of the frame:
// the value comes back owned with every register of the frame released, or Failed with the error pending;
// of a loop's own chunk `Context::native_leave` tells how it was left.
using NativeEntry = Borrowed (*)(interp::Context*, interp::Closure*, Borrowed* registers, uint32_t entry);

struct RaiseInfo {
  syntax::ErrorCode code;
  std::string message;           // "%" stands for the value in question
  std::string hint;
};

// What an instruction has met, in one word: for its first and second operand of kind R and its operand of kind
// V a mask each, by tag, and for lists also by packing; for a call whom it has called: a unit, or a built-in function as what
// the tiers know it as.
struct Seen {
  static constexpr int kBits = 20, kOtherTag = 15, kFirstPacking = 16;  // the last bit of tags is for all that follow
  static constexpr uint64_t kTags = 0xffff;
  static constexpr uint64_t kRan = 1ULL << 63;
  static constexpr uint64_t kExited = 1ULL << 62;  // native code made for what was seen did not fit here
  // Calls of closures have the number of the callee's unit in place of the second mask and the third.
  static constexpr int kCallee = kBits;
  static constexpr uint64_t kSeveralCallees = 1ULL << (kCallee + 32);
  static constexpr uint32_t kNative = 1U << 31;  // in place of a unit's number: of a built-in function, with its Intrinsic
  enum Operand : int { First, Second, Changed };
  uint64_t word = 0;

  uint64_t mask(Operand operand) const { return word >> (kBits * operand) & ((1 << kBits) - 1); }
  uint64_t tags(Operand operand) const { return mask(operand) & kTags; }
  static constexpr uint64_t of(interp::Tag tag) { return 1ULL << number_of(tag); }
  static constexpr int number_of(interp::Tag tag) { return static_cast<int>(tag) < kOtherTag ? static_cast<int>(tag) : kOtherTag; }
  // 0: none, or several.
  uint32_t called() const { return word & kSeveralCallees ? 0 : static_cast<uint32_t>(word >> kCallee); }
  // A unit.
  uint32_t callee() const { return called() & kNative ? 0 : called(); }
  interp::Intrinsic native() const {
    return called() & kNative ? static_cast<interp::Intrinsic>(called() & ~kNative) : interp::Intrinsic::None;
  }
  // Of two words of one instruction: what both have met. Two callees are several.
  static constexpr uint64_t joined(uint64_t one, uint64_t other, bool is_call) {
    constexpr uint64_t kOne = uint64_t{UINT32_MAX} << kCallee;
    const bool differ = is_call && (one & kOne) != 0 && (other & kOne) != 0 && (one & kOne) != (other & kOne);
    return differ ? ((one | other) & ~kOne) | kSeveralCallees : one | other;
  }
  static constexpr uint64_t of(interp::Packing packing) { return 1ULL << (kFirstPacking + static_cast<int>(packing)); }
};

// What an instruction has met inside containers, as masks of the same form: the item or field it has read or was
// to replace, and what stood at the place that a walk had come to. Of a call of a built-in function: all arguments together.
struct SeenInside {
  uint64_t word = 0;

  uint64_t part() const { return word & ((1 << Seen::kBits) - 1); }
  uint64_t place() const { return word >> Seen::kBits & ((1 << Seen::kBits) - 1); }
  static uint64_t of_place(uint64_t mask) { return mask << Seen::kBits; }
};

// For how many instructions a chunk records: docs/decisions/002-recording-half.md says why so few.
constexpr int32_t kRecording = 1000;
// A budget above this is of a chunk that records again for a moment, which ends here, whether code is still asked for or not.
constexpr int32_t kRecordingBriefly = 1 << 28;

struct Chunk {
  static constexpr size_t kMostVersions = interp::Signatures::kMost;
  ~Chunk();

  // Only where `types` point into it: it may be there for nothing else, when an expression is forgotten but for its
  // code, and is many times as large.
  std::shared_ptr<const syntax::Module> tree;
  Outline outline;
  interp::RuntimeState* runtime = nullptr;
  std::string name;
  bool is_loop = false;
  int loop = -1;                   // its number, when it is one
  uint32_t size = 0;               // instructions; code holds twice as many
  std::unique_ptr<Insn[]> code;
  std::atomic<const Insn*> entry{nullptr};  // code, later code + size; &kEnterNative while there is native code
  std::atomic<NativeEntry> native{nullptr};
  std::atomic<const interp::NativeDirect*> direct[kMostVersions] = {};  // of `native`, by version; null: no such entry
  std::atomic<uint64_t> native_heads{0};  // bit n: native code can be entered at loop head n
  std::atomic<uint32_t> exits{0};         // of native code back to bytecode, since it was made
  std::atomic<bool> wants_columns{false};  // native code is to do rows of columns (interp::NativeCodeHead::columns)
  std::vector<LoopHead> loop_heads;  // ascending
  std::atomic<int32_t> recording_budget{kRecording};
  std::unique_ptr<std::atomic<uint64_t>[]> profile;  // by instruction: a Seen
  std::unique_ptr<std::atomic<uint64_t>[]> insides;  // by instruction: a SeenInside
  mutable interp::Signatures signatures;   // of calls, of a function's body

  std::vector<Borrowed> constants; // long strings are immortal objects of the runtime
  std::vector<std::unique_ptr<FieldCache>> caches;
  struct Type {
    const syntax::TypeExpr* written;
    interp::TypeTags tags;
    interp::TypeTags element;  // of the elements of [T]
  };
  std::vector<Type> types;
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

  // Installs native code, or takes it back (null). Whoever frees it waits until nobody can be running it.
  void install(NativeEntry made, const interp::NativeEntrance& entrance) {
    for (size_t n = 0; n < kMostVersions; ++n) {
      const bool there = n < entrance.direct.size() && entrance.direct[n].code;
      direct[n].store(there ? &entrance.direct[n] : nullptr, std::memory_order_release);
    }
    native_heads.store(entrance.heads, std::memory_order_relaxed);
    const int level = entrance.level;
    native_level_.store(static_cast<uint8_t>(level), std::memory_order_relaxed);
    exits.store(0, std::memory_order_relaxed);
    native.store(made, std::memory_order_release);
    entry.store(made ? &kEnterNative : code.get() + size, std::memory_order_release);
  }
  // How often the exits of native code of a tier were too many.
  std::atomic<uint32_t>& remade(int level) { return remade_[level - kFirstNative]; }
  uint32_t times_remade(int level) const { return remade_[level - kFirstNative].load(std::memory_order_relaxed); }
  // The tier of `native`.
  int native_level() const { return native_level_.load(std::memory_order_relaxed); }
  // The loop head at a place, as `entry` of NativeEntry; 0: none.
  uint32_t entry_at(const Insn* head) const;

  // Instructions by number, as they stand in the half that does not record: what they are, how many words they take,
  // and where the branches among them go.
  const Insn& at(uint32_t pc) const { return code[size + pc]; }
  Op op_at(uint32_t pc) const { return static_cast<Op>(at(pc).op); }
  uint32_t length_at(uint32_t pc) const { return length_of(op_at(pc)); }
  uint32_t target_at(uint32_t pc) const { return static_cast<uint32_t>(int64_t{pc} + distance_of(at(pc))); }

  // Instruction number of a pc of either half.
  uint32_t index_of(const Insn* pc) const {
    auto i = static_cast<uint32_t>(pc - code.get());
    return i >= size ? i - size : i;
  }
  const LiveChange& live_at(uint32_t pc) const;
  // The site of an error raised by an instruction.
  uint32_t site_of(uint32_t pc, bool limit) const;
  size_t memory() const;

 private:
  static constexpr int kFirstNative = 2;
  std::atomic<uint8_t> native_level_{0};
  std::atomic<uint32_t> remade_[2] = {};
};

std::string disassemble(const Chunk& chunk);
std::string types_seen(const Chunk& chunk);
// Empty when the chunk is well formed, else what is wrong. Called for every chunk in debug builds.
std::string verify(const Chunk& chunk);

}  // namespace posset::bytecode
