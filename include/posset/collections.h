/* Lists, maps, records, variants, and going through whatever `for` takes. Ownership, views and
 * places are explained in value.h.
 *
 * Functions that read take a value of the right kind and give 0, false or nil for any other.
 * Functions that change take a place: a pointer to an owned value; for a place of another kind they
 * give POSSET_MISUSE. POSSET_RAISED means the memory limit unless something else is said. What they
 * take they take in any case.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_COLLECTIONS_H
#define POSSET_COLLECTIONS_H

#include "base.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lists ---- */

/* An empty list with room for `capacity` elements (a hint). */
POSSET_API posset_status posset_list(posset_context* context, uint64_t capacity, posset_value* out);
/* Lists of copied numbers, packed. `values` may be null when `count` is 0. */
POSSET_API posset_status posset_list_of_ints(posset_context* context, const int64_t* values,
                                             uint64_t count, posset_value* out);
POSSET_API posset_status posset_list_of_floats(posset_context* context, const double* values,
                                               uint64_t count, posset_value* out);
/* A list of `values`, which are taken. */
POSSET_API posset_status posset_list_of(posset_context* context, posset_value* values,
                                        uint64_t count, posset_value* out);

POSSET_API uint64_t posset_list_size(posset_value list);
POSSET_API posset_value posset_list_at(posset_value list,
                                       uint64_t index); /* view; nil beyond the end */
/* The elements of a list that consists of ints (floats) only and is stored so, good until it
 * changes. False: read it by posset_list_at. An empty list gives true. */
POSSET_API bool posset_list_ints(posset_value list, const int64_t** data, uint64_t* count);
POSSET_API bool posset_list_floats(posset_value list, const double** data, uint64_t* count);

POSSET_API posset_status posset_list_push(posset_context* context, posset_value* list,
                                          posset_value value);
/* POSSET_NOT_FOUND: there is no such element (for insert: `index` is beyond the end). */
POSSET_API posset_status posset_list_set(posset_context* context, posset_value* list,
                                         uint64_t index, posset_value value);
POSSET_API posset_status posset_list_insert(posset_context* context, posset_value* list,
                                            uint64_t index, posset_value value);
POSSET_API posset_status posset_list_remove(posset_context* context, posset_value* list,
                                            uint64_t index,
                                            posset_value* removed); /* owned; null: not wanted */
POSSET_API posset_status posset_list_swap(posset_context* context, posset_value* list, uint64_t i,
                                          uint64_t j);
POSSET_API posset_status posset_list_reserve(posset_context* context, posset_value* list,
                                             uint64_t capacity);
POSSET_API posset_status posset_list_truncate(posset_context* context, posset_value* list,
                                              uint64_t size);
/* xs[from..to], owned; POSSET_NOT_FOUND unless from <= to <= size. */
POSSET_API posset_status posset_list_slice(posset_context* context, posset_value list,
                                           uint64_t from, uint64_t to, posset_value* out);

/* ---- maps ---- */

POSSET_API posset_status posset_map(posset_context* context, uint64_t capacity, posset_value* out);
POSSET_API uint64_t posset_map_size(posset_value map);
/* The value of a key as a view. False: there is none, or `key` cannot be a key. */
POSSET_API bool posset_map_find(posset_value map, posset_value key, posset_value* out);
/* The same within an evaluation: charges the weight of a key that is a container, and can be
 * interrupted however long it takes to hash and to compare. POSSET_NOT_FOUND with nil in *out: there
 * is none, or `key` cannot be a key. */
POSSET_API posset_status posset_map_get(posset_context* context, posset_value map, posset_value key,
                                        posset_value* out);
/* Takes key and value. POSSET_RAISED also when `key` cannot be a key (NaN, a function ...). Charges
 * the weight of a key that is a container. */
POSSET_API posset_status posset_map_set(posset_context* context, posset_value* map,
                                        posset_value key, posset_value value);
/* POSSET_NOT_FOUND when the key is missing. `removed` as for lists. */
POSSET_API posset_status posset_map_remove(posset_context* context, posset_value* map,
                                           posset_value key, posset_value* removed);
/* Goes through the entries in their order: start with *position = 0; false at the end. Views. */
POSSET_API bool posset_map_next(posset_value map, uint64_t* position, posset_value* key,
                                posset_value* value);

/* ---- records and variants ---- */

/* A record of `count` fields; `names` must differ (POSSET_MISUSE). Takes `values`. POSSET_RAISED
 * also when there are too many different sets of fields in the runtime. */
POSSET_API posset_status posset_record(posset_context* context, const posset_text* names,
                                       posset_value* values, uint32_t count, posset_value* out);
/* Fields of a record or variant, in their order. */
POSSET_API uint32_t posset_field_count(posset_value value);
POSSET_API posset_text posset_field_name(posset_context* context, posset_value value,
                                         uint32_t index);
POSSET_API posset_value posset_field_at(posset_value value, uint32_t index); /* view */
/* The field of that name as a view; false when there is none. */
POSSET_API bool posset_field(posset_context* context, posset_value value, posset_text name,
                             posset_value* out);
/* Changes or (in a record) adds a field. POSSET_NOT_FOUND: a variant without that field. */
POSSET_API posset_status posset_field_set(posset_context* context, posset_value* place,
                                          posset_text name, posset_value value);
/* The constructor's name of a variant: "Circle". Empty for other kinds. Lives as long as the
 * runtime. */
POSSET_API posset_text posset_variant_name(posset_context* context, posset_value value);

/* ---- going through ---- */

/* How many items `for` would give, UINT64_MAX when that is not known beforehand or it takes none.
 */
POSSET_API uint64_t posset_count_items(posset_value iterable);
/* Called with each item, a view. Gives POSSET_OK to go on, POSSET_DONE to stop, or what is to be
 * the result of posset_iterate. */
typedef posset_status (*posset_visit_item)(void* data, posset_value item);
/* Goes through what `for x in iterable` goes through, over the value it has now. Charges nothing:
 * charge in the visitor, or beforehand by posset_count_items. POSSET_RAISED: "cannot iterate over
 * ...". */
POSSET_API posset_status posset_iterate(posset_context* context, posset_value iterable,
                                        posset_visit_item visit, void* data);

#ifdef __cplusplus
}
#endif

#endif
