// Compound assignment to places, and finding a place that may be missing. See slow.h.
#include "bytecode/slow.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/place.h"

namespace posset::bytecode {

bool place_ref(Context& context, Borrowed& reg, bool host, Borrowed*& place) {
  if (!reg.is(host ? interp::Tag::Host : interp::Tag::Ref)) {
    context.raise(interp::ErrorCode::CannotAssign,
                  "cannot assign to a field of " + interp::kind_and_value(context, reg) + " through a name that is no var",
                  "declare the variable with var");
    return false;
  }
  place = host ? &reg : &reg.as<interp::Ref>()->value;
  return true;
}

Borrowed* place_find(Context& context, Borrowed* container, Borrowed index, bool& failed) {
  if (!container->is_map()) {
    Borrowed* found = interp::place_index(context, container, index);
    failed = found == nullptr;
    return found;
  }
  Value present = interp::load_index_or_unset(context, *container, index);
  if (present.failed()) failed = true;
  if (present.failed() || present->is_unset()) return nullptr;
  present = Value();  // the place must be the only owner
  Borrowed* found = interp::place_index(context, container, index);
  failed = found == nullptr;
  return found;
}

namespace {

// The operation with its operands taken out of their registers.
Value taken(Borrowed* reg) { return reg ? move_out(*reg) : Value(); }

}  // namespace

bool update_cell(Context& context, Borrowed* cell, syntax::BinaryOp op, Borrowed* old, Borrowed* right, bool consume) {
  Value read = taken(old);
  bool done = interp::update_cell(context, cell, op, old ? &read : nullptr, *right);
  if (consume) drop(*right);
  return done;
}

bool update_field(Context& context, Borrowed* container, FieldCache& cache, syntax::BinaryOp op, Borrowed* old,
                  Borrowed* right, bool consume) {
  Value read = taken(old);
  remember_field(context, *container, cache);
  bool done = interp::update_field(context, container, cache.name, op, old ? &read : nullptr, *right);
  if (consume) drop(*right);
  return done;
}

bool update_index(Context& context, Borrowed* container, Borrowed index, syntax::BinaryOp op, Borrowed* old,
                  bool old_is_default, Borrowed* right, bool consume) {
  Value start = taken(old);
  interp::OldValue value;
  if (old) (old_is_default ? value.fallback : value.read) = &start;
  bool done = interp::update_index(context, container, index, op, value, *right);
  if (consume) drop(*right);
  return done;
}

}  // namespace posset::bytecode
