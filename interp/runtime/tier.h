// The narrow interface between the core and a tier that compiles. `interp` owns the policy (counters,
// thresholds, who is compiled when); a tier only compiles and executes, and never names another tier. A
// tier is attached once per runtime (include/posset/attach.h) and outlives it.
//
// Frames are the same in every tier: `frame[0..slot_count)` are the slots of the function as the resolver
// numbered them; a tier may use what lies above, up to the stack limit it has checked.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "interp/runtime/function.h"

namespace posset::interp {

class Context;
class RuntimeState;
class Signatures;

// Its code takes long to make, and is the fastest.
constexpr int kOptimisingTier = 3;

// How a loop that was entered in the middle of a function ended. NoRoom: it was not, for want of registers.
enum class LoopExit : uint8_t { Finished, Returned, Failed, NoRoom };

// A function that the code of higher tiers calls. It throws nothing.
struct Helper {
  const char* name;
  const void* address;
};

// Where other native code enters a version of a function with arguments in registers of the processor
// (jit/translate_direct.cpp). It lives as long as the code.
struct NativeDirect {
  void* code = nullptr;
  uint64_t kinds = 0;      // of the arguments, as the compiler says
  uint32_t registers = 0;  // of the frame, and calls in it, with what is inlined
  uint32_t depth = 0;
};

// Where native code is entered: a bytecode::NativeEntry, and at which loop heads (bit n: number n).
struct NativeEntrance {
  void* entry = nullptr;
  uint64_t heads = 0;
  int level = 0;  // its tier
  void* formula = nullptr;  // for the host: a FormulaEntry (interp/api/numbers_entry.h); null: there is none
  std::span<const NativeDirect> direct;  // by version; those without code have no such entry
};

// Tier 1's code of a function body that other code has been made from, besides its own: it has been inlined.
struct Inlined {
  uint32_t unit = 0;  // by number
  const void* code = nullptr;
};

// What a compilation has to do with the code cache (code_cache.h).
struct CacheUse {
  bool only = false;               // asked: code that is kept or none; nothing is compiled
  bool hit = false;                // it came from there
  Reason not_used = Reason::none;  // what there is of it is no good
  Reason not_kept = Reason::none;
};

// Why a tier does not take a unit, and where; the span is empty when it is about the unit as a whole.
struct Refusal {
  Reason reason = Reason::none;
  syntax::Span span;
  CacheUse cache;  // of code as well as of none
};

struct Rounds;  // rounds.h

struct TierInterface {
  int version = 1;
  int level = 0;                 // 1 bytecode, 2 and 3 native
  const char* name = "";

  // What takes long the first time that something is compiled, so that whoever compiles can then ask whether the code is
  // still wanted. From any thread; may be null.
  void (*prepare)(RuntimeState& runtime) = nullptr;

  // Makes code for a function body (loop < 0) or one of its loops. Null with `refusal` set when this tier
  // cannot take it. May be called from any thread.
  // `below` is tier 1's code of the same, which stays alive during the call; null at level 1.
  void* (*compile)(RuntimeState& runtime, const syntax::FunctionDecl& function, int loop, void* below,
                   Refusal& refusal) = nullptr;

  // Native tiers: where the code is entered, for `go_over` of tier 1.
  NativeEntrance (*entrance)(const void* code) = nullptr;
  // Native tiers: what is inlined there. The code is taken back when any of these is.
  std::span<const Inlined> (*inlined)(const void* code) = nullptr;
  // Tier 1: from its next entry on, `code` runs what native code is entered there; a null entry takes that back.
  // Under the unit table's lock.
  void (*go_over)(void* code, NativeEntrance entrance) = nullptr;

  // Runs a function: arguments are in their slots, absent ones are Unset, rest collected, steps and depth
  // charged. Consumes the frame's slots (all are dead afterwards except inout parameters, which stay for
  // the caller to write back). Result: owned, or Failed.
  Value (*enter)(Context& context, void* code, Closure* closure, Borrowed* frame) = nullptr;

  // Tier 0: what stands at a fork point of the closure's function, with the point's inputs, in order, which it takes. Result:
  // owned, or Failed with the error pending.
  Value (*evaluate_fork)(Context& context, Closure* closure, Value* inputs, uint32_t point) = nullptr;

  // Tier 0: the rounds [from, to) of what is left of a comprehension, for whoever divides it. Takes the list so far, and gives it with
  // what they add; or Failed with the error pending, as it would be in the loop itself.
  Value (*do_rounds)(Context& context, const Rounds& rounds, uint64_t from, uint64_t to, Value list) = nullptr;

  // Runs a loop from its head. `depth` slots of the frame are live before and after; the loop's hidden
  // slots are set. On Finished or Returned, `value` is the loop's value or the returned one.
  LoopExit (*enter_loop)(Context& context, void* code, Closure* closure, Borrowed* frame, Value& value) = nullptr;

  void (*drop)(void* code) = nullptr;
  size_t (*memory)(const void* code) = nullptr;
  // One stable text form (disassembly).
  std::string (*describe)(const void* code) = nullptr;
  // Types seen, one line per instruction that recorded any; empty when none.
  std::string (*types_seen)(const void* code) = nullptr;
  // Tier 1: `code`, which is not published yet, has met what `loops` have, code of loops in it; its body has been called
  // as `signatures` say.
  void (*learn)(void* code, std::span<const void* const> loops, const Signatures& signatures) = nullptr;

  // Tier 1: native code made of `code` from now on is to do rows of columns, too (NativeCodeHead::columns).
  void (*want_columns)(void* code) = nullptr;

  std::span<const Helper> helpers;  // what this tier lends to the code of higher ones
  uint64_t instructions = 0;        // tier 1: which table of instructions its code is made from
  // Tier 1: its code of the body of a unit, see UnitTable::body_code.
  void* (*body_of_unit)(RuntimeState& runtime, uint32_t number) = nullptr;
};

}  // namespace posset::interp
