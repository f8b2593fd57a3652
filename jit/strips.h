// Strips: runs of rounds of an innermost loop about which everything is known before they begin. How many rounds
// there are follows from the loop's condition, from the steps that are left and from the sizes of the lists that
// are looked into; in these rounds nothing is asked that has one answer for all of them.
//
// A loop has strips when it counts (ForRange, or a condition that compares a variable which each round changes by
// the same amount) or goes through a packed list, and when everything in it is done in place, inlined calls included,
// and without counting references: then no list changes its size or its owners while the strip runs, but for lists
// under construction, which nothing looks into, and which have room for what is appended.
//
// Blocks in which something is done that stands in the way (a call of what is not inlined, a list that grows) are left
// out when there is a way round without them: a round that comes to one leaves the strip there and goes on as an ordinary
// one. What only they write stays as it is while the strip runs.
//
// A call of a function that is the same in all rounds (what a register holds, a function of the module, or what such
// a function has captured) is asked once whether it is the function that is inlined, and what that has captured.
//
// A row is a list within a list, at an index that is the same in all rounds: what is at one is looked into and changed in place like
// a list that a register holds. Nothing in a strip puts another list in its place.
//
// Sums of what counts and what does not change are linear, so that what holds for the first and the last round holds for all between them: an index is within its
// list, and a sum does not overflow. Of what is not linear (products of what varies, quotients and remainders) the bounds
// follow from those of its parts. A variable that only grows by such sums stays between what it would be if it grew in
// every round by the most, and by the least.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/kinds.h"
#include "jit/loops.h"

namespace posset::jit {

// A sum: over earlier terms of the same strip. Or, of one of the last forms, something else that is the same in all
// rounds: a function, or a row.
struct Term {
  enum class Form : uint8_t {
    Counter, Register, Constant, Captured, Add, Sub, Mul, IntDiv, Mod, Function, CapturedFunction, LinkedFunction, Row
  } form = Form::Constant;
  uint16_t reg = 0;           // of a row that of the list it is in; `left` is its index
  int64_t value = 0;          // also the divisor, which is positive; of what is captured or linked its number
  int left = -1, right = -1;  // of a remainder none is needed
  // Of what is captured or linked: by which function, itself a term; kOwn: the one that has the loop.
  static constexpr int kOwn = -1;
  int within = kOwn;
  bool varies = false;        // with the round
  bool by_one = false;        // upwards, each round
  bool linear = true;
  // It is at most so many times the largest of the registers in it, and a constant, away from zero.
  uint64_t times = 0;
  uint64_t beside = 0;

  bool is_number() const { return form < Form::Function; }
  bool is_function() const { return !is_number() && form != Form::Row; }
  bool is_sum() const { return is_number() && left >= 0; }
  // It does not overflow where no register in it is further than kNearZero from zero.
  bool is_small() const { return linear && times <= kMostTimes && beside <= kMostBeside; }

  static constexpr int64_t kNearZero = int64_t{1} << 56;
  static constexpr uint64_t kMostTimes = 32;
  static constexpr uint64_t kMostBeside = uint64_t{1} << 60;
};

struct Strip {
  // An instruction of the loop, or of what is inlined into it.
  struct Place {
    const Kinds* body;
    uint32_t pc;
    bool operator==(const Place&) const = default;
  };
  static constexpr int kNoRow = -1;
  struct Look {
    Place place;
    uint16_t list;
    Kind kind;     // that the list is taken to have
    int term;
    bool changes;  // the list
    int row = kNoRow;  // the list, instead of the register
  };
  struct Row {
    uint16_t list;  // of lists, and the term of the index in it
    int term;
    Kind kind;
  };
  struct Growth {
    Place place;
    uint16_t reg;
    int term;
    bool down;  // it is subtracted
  };
  struct Append {
    uint32_t pc;
    uint16_t list;
    Kind kind;      // that the list is taken to have: packed, and the item fits
  };
  // An inlined call of a function, a built-in perhaps, that is the same in all rounds.
  struct Call {
    Place place;
    int function;  // a term
  };
  // What makes it a number of rounds: a range, the items of a list, a comparison.
  enum class By : uint8_t { Range, Items, Comparison };
  std::vector<Growth> growths;
  std::vector<Append> appends;
  std::vector<Term> terms;
  std::vector<Place> sums;      // instructions that need no check for overflow
  std::vector<int> checked;     // their terms
  std::vector<Look> looks;
  std::vector<Row> rows;
  std::vector<Place> walks;     // the steps of walks to what is in a row that come to the row
  std::vector<Call> same_calls;  // each behind that of the function that its function is taken from
  std::vector<uint32_t> left_out;  // leaders of blocks that a strip is left for
  std::vector<bool> inside;        // by instruction, from the loop's head
  By by = By::Range;
  bool free = false;            // only the calls in a round are charged
  uint16_t counter = 0;
  bool upwards = true, strict = false;  // by comparison, like these terms:
  int step = -1, limit = -1;
  uint32_t calls = 0;           // inlined ones in a round, at most, that are charged a step
  uint32_t words = 0;           // of the body, with what is inlined
};

std::optional<Strip> find_strip(const Kinds& kinds, const std::vector<Loop>& loops, const Loop& loop);

}  // namespace posset::jit
