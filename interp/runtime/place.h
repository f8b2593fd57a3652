// Places: a variable followed by fields and indexes. A walk starts at the variable's slot and goes one
// container at a time; each step makes the container unique (copy-on-write, counted) and gives the address
// of the next slot. The address holds only until anything else runs, so tiers evaluate all operands first
// and then walk and finish in one go.
//
// A step into a packed list gives the address of `context.scratch` (a number has no places inside; the
// next step raises). A step through a ref goes into the cell.
#pragma once

#include "interp/runtime/context.h"

namespace posset::interp {

// Null: raised.
Borrowed* place_index(Context& context, Borrowed* container, Borrowed index);
Borrowed* place_field(Context& context, Borrowed* container, const Symbol* name);
// m[k, d] on the way: inserts `fallback` when the key is missing (taken then). `fallback` Unset: the key is
// known to be there.
Borrowed* place_index_default(Context& context, Borrowed* container, Borrowed index, Value& fallback);

bool store_index(Context& context, Borrowed* container, Borrowed index, Value v);
bool store_field(Context& context, Borrowed* container, const Symbol* name, Value v);

// Taking for inout and `with`: moves the value out and leaves nil, so that it is unique while it is lent
// (copied instead where the walk went through a ref: `shared_cell`). put writes it back.
Value take_index(Context& context, Borrowed* container, Borrowed index, bool shared_cell);
Value take_field(Context& context, Borrowed* container, const Symbol* name, bool shared_cell);

}  // namespace posset::interp
