// The module maps. Functions that take a function call it with (k, v), in the order of the entries.
#include "stdlib/modules.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

posset_status merge(posset_call* call) {
  POSSET_TRY(posset_want_map(call, 0));
  POSSET_TRY(posset_want_map(call, 1));
  Owned out(posset_take(call, 0));
  posset_value more = posset_argument(call, 1), key, value;
  POSSET_TRY(posset_charge_elements(call->context, posset_map_size(out.get()) + posset_map_size(more)));
  Pace pace(call->context);
  for (uint64_t at = 0; posset_map_next(more, &at, &key, &value);) {
    POSSET_TRY(pace.go(Pace::kValue));
    POSSET_TRY(posset_map_set(call->context, out.place(), posset_retain(key), posset_retain(value)));
  }
  return give(call, out);
}

// m with the value at k replaced by f(k, old value); the old value is nil when there was none.
posset_status update(posset_call* call) {
  POSSET_TRY(posset_want_map(call, 0));
  POSSET_TRY(posset_want_function(call, 2));
  posset_value old = posset_nil();
  if (posset_map_get(call->context, posset_argument(call, 0), posset_argument(call, 1), &old) == POSSET_RAISED) return POSSET_RAISED;
  posset_value arguments[] = {posset_retain(posset_argument(call, 1)), posset_retain(old)};
  Owned changed;
  POSSET_TRY(posset_invoke(call->context, call->arguments[2], arguments, 2, changed.place()));
  Owned out(posset_take(call, 0));
  POSSET_TRY(posset_map_set(call->context, out.place(), posset_retain(posset_argument(call, 1)), changed.take()));
  return give(call, out);
}

posset_status filter(posset_call* call) {
  POSSET_TRY(posset_want_map(call, 0));
  POSSET_TRY(posset_want_function(call, 1));
  Owned out;
  POSSET_TRY(posset_map(call->context, 0, out.place()));
  posset_value m = posset_argument(call, 0), key, value;
  for (uint64_t at = 0; posset_map_next(m, &at, &key, &value);) {
    posset_value arguments[] = {posset_retain(key), posset_retain(value)};
    bool fits = false;
    POSSET_TRY(test_with(call, 1, arguments, 2, fits));
    if (fits) POSSET_TRY(posset_map_set(call->context, out.place(), posset_retain(key), posset_retain(value)));
  }
  return give(call, out);
}

posset_status map_values(posset_call* call) {
  POSSET_TRY(posset_want_map(call, 0));
  POSSET_TRY(posset_want_function(call, 1));
  posset_value m = posset_argument(call, 0), key, value;
  Owned out;
  POSSET_TRY(posset_map(call->context, posset_map_size(m), out.place()));
  for (uint64_t at = 0; posset_map_next(m, &at, &key, &value);) {
    posset_value arguments[] = {posset_retain(key), posset_retain(value)};
    Owned made;
    POSSET_TRY(posset_invoke(call->context, call->arguments[1], arguments, 2, made.place()));
    POSSET_TRY(posset_map_set(call->context, out.place(), posset_retain(key), made.take()));
  }
  return give(call, out);
}

posset_status invert(posset_call* call) {
  POSSET_TRY(posset_want_map(call, 0));
  posset_value m = posset_argument(call, 0), key, value;
  POSSET_TRY(posset_charge_elements(call->context, posset_map_size(m)));
  Owned out;
  POSSET_TRY(posset_map(call->context, posset_map_size(m), out.place()));
  Pace pace(call->context);
  for (uint64_t at = 0; posset_map_next(m, &at, &key, &value);) {
    POSSET_TRY(pace.go(Pace::kValue));
    POSSET_TRY(posset_map_set(call->context, out.place(), posset_retain(value), posset_retain(key)));
  }
  return give(call, out);
}

constexpr posset_function_row kRows[] = {
    pure_row("merge", "merge(a, b)", "The entries of both; where both have a key, b's value.", 2, 2, merge),
    calling_row("update", "update(m, k, f)", "m with f(k, old value) at key k; the old value is nil when k is missing.", 3,
                3, 4, update),
    calling_row("filter", "filter(m, f)", "The entries for which f(k, v) gives true.", 2, 2, 2, filter),
    calling_row("map_values", "map_values(m, f)", "The same keys with f(k, v) as values.", 2, 2, 2, map_values),
    pure_row("invert", "invert(m)", "Values as keys and keys as values; of equal values the last wins.", 1, 1, invert),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_maps(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "maps", posset::stdlib::kRows);
}
