// Places: a variable followed by fields and indexes. A walk starts at the variable's slot and goes one
// container at a time; each step makes the container unique (copy-on-write, counted) and gives the address
// of the next slot. The address holds only until anything else runs, so tiers evaluate all operands first
// and then walk and finish in one go.
//
// A step into a packed list gives the address of `context.scratch` (a number has no places inside; the
// next step raises). A step through a ref goes into the cell.
#pragma once

#include "interp/runtime/context.h"
#include "interp/syntax/ast.h"

namespace posset::interp {

// Null: raised.
Borrowed* place_index(Context& context, Borrowed* container, Borrowed index);
// Whoever stores there says so by note_field, unless the place has no owner to tell: then a record forgets what kind of
// value it has in the field (Record::kinds).
Borrowed* place_field(Context& context, Borrowed* container, const Symbol* name);
void note_field(Borrowed container, const Borrowed* slot);
// m[k, d] on the way: inserts `fallback` when the key is missing (taken then). `fallback` Unset: the key is
// known to be there.
Borrowed* place_index_default(Context& context, Borrowed* container, Borrowed index, Value& fallback);

// What all steps of a kind check first. False: raised.
bool check_key(Context& context, const Map* map, Borrowed key);
bool own_map(Context& context, Borrowed* place);
// A walk that raises leaves no key behind: every walk that may insert starts with the first, and whoever
// sees it raise, in a step or at its end, calls the second before anything else runs.
void begin_insertions(Context& context);
void undo_insertions(Context& context);

bool store_index(Context& context, Borrowed* container, Borrowed index, Value v);
bool store_field(Context& context, Borrowed* container, const Symbol* name, Value v);

// `place op= right` (place_update.cpp). `read`: the old value as it was before the right side ran, or null: it is
// read now; it counts whatever the place holds by now. `fallback`: the default of m[k, d], where nothing was
// read. Both may be taken. False: raised.
struct OldValue {
  Value* read = nullptr;
  Value* fallback = nullptr;
};
bool update_cell(Context& context, Borrowed* cell, syntax::BinaryOp op, Value* old, Borrowed right);
bool update_index(Context& context, Borrowed* container, Borrowed index, syntax::BinaryOp op, const OldValue& old,
                  Borrowed right);
bool update_field(Context& context, Borrowed* container, const Symbol* name, syntax::BinaryOp op, Value* old,
                  Borrowed right);

// Taking for inout and `with`: moves the value out and leaves nil, so that it is unique while it is lent
// (copied instead where the walk went through a ref: `shared_cell`). put writes it back.
Value take_index(Context& context, Borrowed* container, Borrowed index, bool shared_cell);
Value take_field(Context& context, Borrowed* container, const Symbol* name, bool shared_cell);

}  // namespace posset::interp
