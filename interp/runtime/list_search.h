// Lists of packed numbers looked through without making a value of each element, for `in`, `index_of`, `min` and `max`. The answers
// are those of the general loops, and so is what is charged: how a list is stored must not show.
#pragma once

#include "interp/runtime/context.h"
#include "interp/value/objects.h"

namespace posset::interp {

enum class PackedFind : uint8_t { Found, Absent, Raised, NotPacked };  // NotPacked: with numbers of the kind of `item`

// Where `item` first stands, in `at`.
PackedFind find_packed(Context& context, Borrowed item, const List* list, uint64_t& at);

inline bool has_packed_numbers(const List* list) { return list->packing() == Packing::Int || list->packing() == Packing::Float; }
// The first of the least or of the greatest of at least one packed number. A NaN is beyond nothing, and nothing is beyond it: it is
// the answer where it comes first, else it is passed over. False: raised.
bool best_packed(Context& context, const List* list, bool greatest, Value& best);

}  // namespace posset::interp
