// The module lists: functions over whole lists that are not always in scope.
#include "stdlib/modules.h"
#include "stdlib/rand.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

// The argument as a list, whatever `for` takes.
posset_status gather(posset_call* call, uint32_t i, Owned& out) {
  POSSET_TRY(posset_want_iterable(call, i));
  posset_value xs = posset_argument(call, i);
  if (posset_is(xs, POSSET_LIST)) {
    out = Owned::copy(xs);
    return posset_charge_elements(call->context, posset_list_size(xs));
  }
  POSSET_TRY(posset_list(call->context, 0, out.place()));
  struct Visit {
    posset_context* context;
    Owned* list;
  } visit{call->context, &out};
  return posset_iterate(
      call->context, xs,
      [](void* data, posset_value item) {
        auto* v = static_cast<Visit*>(data);
        posset_status status = posset_charge_elements(v->context, 16);
        return status == POSSET_OK ? posset_list_push(v->context, v->list->place(), posset_retain(item)) : status;
      },
      &visit);
}

posset_status unique(posset_call* call) {
  Owned xs, seen, out;
  POSSET_TRY(gather(call, 0, xs));
  POSSET_TRY(posset_map(call->context, 0, seen.place()));
  POSSET_TRY(posset_list(call->context, 0, out.place()));
  Pace pace(call->context);
  for (uint64_t i = 0; i < posset_list_size(xs.get()); ++i) {
    POSSET_TRY(pace.go(Pace::kValue));
    posset_value item = posset_list_at(xs.get(), i);
    const uint64_t before = posset_map_size(seen.get());
    POSSET_TRY(posset_map_set(call->context, seen.place(), posset_retain(item), posset_nil()));
    if (posset_map_size(seen.get()) == before) continue;
    POSSET_TRY(posset_list_push(call->context, out.place(), posset_retain(item)));
  }
  return give(call, out);
}

posset_status positive(posset_call* call, uint32_t i, uint64_t& out) {
  POSSET_TRY(posset_want_count(call, i, &out));
  if (out == 0) return posset_raise_argument(call, POSSET_ERROR_OutOfRange, i, text_of("0 is out of range: must be at least 1"));
  return POSSET_OK;
}

posset_status chunk(posset_call* call) {
  Owned xs, out;
  uint64_t size;
  POSSET_TRY(gather(call, 0, xs));
  POSSET_TRY(positive(call, 1, size));
  POSSET_TRY(posset_list(call->context, 0, out.place()));
  uint64_t count = posset_list_size(xs.get());
  Pace pace(call->context);
  for (uint64_t from = 0; from < count; from += std::min(size, count - from)) {
    POSSET_TRY(pace.go(Pace::kValue + std::min(size, count - from)));
    posset_value part;
    POSSET_TRY(posset_list_slice(call->context, xs.get(), from, from + std::min(size, count - from), &part));
    POSSET_TRY(posset_list_push(call->context, out.place(), part));
  }
  return give(call, out);
}

posset_status window(posset_call* call) {
  Owned xs, out;
  uint64_t size;
  POSSET_TRY(gather(call, 0, xs));
  POSSET_TRY(positive(call, 1, size));
  POSSET_TRY(posset_list(call->context, 0, out.place()));
  uint64_t count = posset_list_size(xs.get());
  Pace pace(call->context);
  for (uint64_t from = 0; size <= count && from <= count - size; ++from) {
    POSSET_TRY(pace.go(Pace::kValue + size));
    POSSET_TRY(posset_charge_elements(call->context, size));
    posset_value part;
    POSSET_TRY(posset_list_slice(call->context, xs.get(), from, from + size, &part));
    POSSET_TRY(posset_list_push(call->context, out.place(), part));
  }
  return give(call, out);
}

posset_status transpose(posset_call* call) {
  Owned rows, out;
  POSSET_TRY(gather(call, 0, rows));
  POSSET_TRY(posset_list(call->context, 0, out.place()));
  uint64_t count = posset_list_size(rows.get()), width = 0;
  Pace pace(call->context);
  for (uint64_t i = 0; i < count; ++i) {
    POSSET_TRY(pace.go(4));
    posset_value row = posset_list_at(rows.get(), i);
    if (!posset_is(row, POSSET_LIST)) return posset_raise_kind(call, 0, "a list of lists");
    uint64_t size = posset_list_size(row);
    if (i > 0 && size != width) {
      return posset_raise_argument(call, POSSET_ERROR_OutOfRange, 0, text_of("rows of different lengths: out of range"));
    }
    width = size;
  }
  for (uint64_t j = 0; j < width; ++j) {
    POSSET_TRY(posset_charge_elements(call->context, count));
    Owned column;
    POSSET_TRY(posset_list(call->context, count, column.place()));
    for (uint64_t i = 0; i < count; ++i) {
      POSSET_TRY(pace.go(Pace::kValue));
      posset_value item = posset_list_at(posset_list_at(rows.get(), i), j);
      POSSET_TRY(posset_list_push(call->context, column.place(), posset_retain(item)));
    }
    POSSET_TRY(posset_list_push(call->context, out.place(), column.take()));
  }
  return give(call, out);
}

posset_status binary_search(posset_call* call) {
  POSSET_TRY(posset_want_list(call, 0));
  posset_value xs = posset_argument(call, 0), wanted = posset_argument(call, 1);
  uint64_t from = 0, to = posset_list_size(xs);
  while (from < to) {
    POSSET_TRY(posset_charge_steps(call->context, 1));
    uint64_t middle = from + (to - from) / 2;
    posset_value item = posset_list_at(xs, middle);
    POSSET_TRY(posset_charge_value(call->context, item));
    int order = posset_order(item, wanted);
    if (order != -1 && order != 0 && order != 1) {
      return posset_raisef(call->context, POSSET_ERROR_WrongOperands, "cannot compare %s and %s in a binary search",
                           posset_kind_name(posset_kind_of(item)), posset_kind_name(posset_kind_of(wanted)));
    }
    if (order < 0) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  bool found = from < posset_list_size(xs) && posset_equal(posset_list_at(xs, from), wanted);
  return posset_return(call, found ? posset_int(static_cast<int64_t>(from)) : posset_nil());
}

posset_status partition(posset_call* call) {
  Owned xs, yes, no;
  POSSET_TRY(gather(call, 0, xs));
  POSSET_TRY(posset_want_function(call, 1));
  POSSET_TRY(posset_list(call->context, 0, yes.place()));
  POSSET_TRY(posset_list(call->context, 0, no.place()));
  for (uint64_t i = 0; i < posset_list_size(xs.get()); ++i) {
    posset_value item = posset_list_at(xs.get(), i);
    posset_value argument = posset_retain(item);
    bool fits = false;
    POSSET_TRY(test_with(call, 1, &argument, 1, fits));
    POSSET_TRY(posset_list_push(call->context, (fits ? yes : no).place(), posset_retain(item)));
  }
  posset_value parts[] = {yes.take(), no.take()};
  Owned out;
  POSSET_TRY(posset_list_of(call->context, parts, 2, out.place()));
  return give(call, out);
}

// Fisher and Yates, from the end.
posset_status shuffle(posset_call* call) {
  Owned xs;
  Generator generator;
  POSSET_TRY(gather(call, 0, xs));
  POSSET_TRY(generator.take(call, 1));
  Pace pace(call->context);
  for (uint64_t i = posset_list_size(xs.get()); i > 1; --i) {
    POSSET_TRY(pace.go(Pace::kValue));
    POSSET_TRY(posset_list_swap(call->context, xs.place(), i - 1, generator.below(i)));
  }
  return give(call, xs);
}

constexpr posset_function_row kRows[] = {
    pure_row("unique", "unique(xs)", "The elements of xs without repetitions, each where it came first.", 1, 1, unique),
    pure_row("chunk", "chunk(xs, n)", "xs cut into lists of n elements; the last may be shorter.", 2, 2, chunk),
    pure_row("window", "window(xs, n)", "All runs of n neighbouring elements.", 2, 2, window),
    pure_row("transpose", "transpose(rows)", "Rows as columns; all rows must have one length.", 1, 1, transpose),
    pure_row("binary_search", "binary_search(xs, x)", "The first index of x in a sorted list, nil when it is absent.", 2,
             2, binary_search),
    calling_row("partition", "partition(xs, f)", "[yes, no]: the elements for which f gives true, and the others.", 2, 2,
                2, partition),
    pure_row("shuffle", "shuffle(xs, generator)", "xs in an order that the generator determines.", 2, 2, shuffle),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_lists(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "lists", posset::stdlib::kRows);
}
