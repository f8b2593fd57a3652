// Structural equality, hashing and ordering of values, exactly as language.md section 2 has them.
// All are bounded in native stack: deep structures are walked with an explicit stack.
#pragma once

#include <compare>

#include "interp/value/objects.h"
#include "interp/value/patience.h"
#include "interp/value/value.h"

namespace posset::interp {

bool equal_slow(Borrowed a, Borrowed b, Patience* patience);
// Never fails; NaN equals nothing.
inline bool equal(Borrowed a, Borrowed b, Patience* patience = nullptr) {
  // Inside the value and no float: equal when the words are.
  if (a.word0 == b.word0 && !a.is_heap() && !a.is_float()) return a.word1 == b.word1;
  return equal_slow(a, b, patience);
}
int compare_int_float(int64_t a, double b);  // exact: -1, 0, 1; 2 when b is NaN
uint64_t hash_of(Borrowed v, Patience* patience = nullptr);  // equal values, equal hashes; any value

enum class KeyProblem : uint8_t { None, NaN, Kind };
KeyProblem is_valid_key(Borrowed v, Patience* patience = nullptr);  // looks inside lists, records, variants

enum class Order : int8_t { Less = -1, Equal = 0, Greater = 1, Unordered = 2, Incomparable = 3 };
// Numbers exactly (Unordered when a NaN is met), strings by scalar value, lists by the first pair
// that is not ==, variants of one type by ordinal, then fields. Incomparable: kinds that have no
// order; the two values that could not be compared are left in `left` and `right` when given.
Order order(Borrowed a, Borrowed b, Borrowed* left = nullptr, Borrowed* right = nullptr,
            Patience* patience = nullptr);

// The ints of a range: none, or `first` to `last` with both. Ranges with the same ones are equal.
struct RangeInts {
  bool empty;
  int64_t first;
  int64_t last;
};
inline RangeInts ints_of(const Range* range) {
  const uint64_t size = range->size();
  if (size == 0) return {true, 0, 0};
  return {false, range->at(0), range->back()};  // reversed ranges differ in which comes first
}

// How much work comparing or hashing v may be (elements looked at; 64 bytes of a string are one),
// for charging steps before it is done. Counts no further than `enough`. The packing of lists does
// not show.
uint64_t weight_of(Borrowed v, uint64_t enough, Patience* patience = nullptr);

}  // namespace posset::interp
