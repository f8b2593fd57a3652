/* Objects of the host in scripts: an opaque type with properties and methods, and handles of its objects.
 *
 *   static posset_status get_health(posset_call* call) {
 *     return posset_return(call, posset_int(((struct player*)call->self)->health));
 *   }
 *   static const posset_property_row kProperties[] = {
 *     {"health", "Points left.", get_health, set_health, NULL, false},
 *   };
 *   posset_type_row row = posset_type_of("Player");
 *   row.properties = kProperties, row.property_count = 1;
 *   posset_register_type(runtime, &row, &player_type);     // before the first context
 *   ...
 *   posset_object object = posset_object_of(player);
 *   posset_host(context, player_type, &object, &value);    // value: what scripts hold
 *   posset_set_global(context, posset_text_of("player"), value);
 *
 * and a script writes `player.health -= 3` and `player.move(1, 2)`.
 *
 * What a script holds is a handle: copying it copies no object, two handles are equal when they stand for the
 * same pointer of the same type, and it prints as `<Player>`. It belongs to its context and cannot get into
 * another one.
 *
 * Properties are read and written by *accessors*, which are short: they may make values and raise, but run no
 * script (posset_invoke and its like give POSSET_BUSY in them) and change no global, ref or module. A method is a
 * function like any other and may call back. Both find the object in `call->self`, which is never null there.
 *
 * The end of an object: `drop` is called once, on the thread that uses the context then, when the last handle is
 * gone (what is large is freed in portions, docs/embedding.md says how late its objects may come back), when posset_host_close says so, or at the latest with the end of the context. It must not use the
 * context, but may release values. A handle that was closed stays a value; using it raises "this Player is
 * closed". So a host may give scripts objects that it owns itself, and closes them before they go.
 *
 * Reading a property may give another value each time, as far as scripts know: a `pure fn` may not read a field with the name of
 * one, unless every property and method of that name, of all types of the runtime, is marked pure. A method that is marked
 * pure and taken as a value (`reduce(xs, p.join)`) is a pure function. Objects of a type all of whose properties and
 * methods are pure may be read by other threads of the runtime, several at the same time; they are not to be closed while they are.
 *
 * A type is found by all contexts of its runtime. Their accessors, methods and `label` are called on the
 * threads of these contexts, at the same time too.
 *
 * SPDX-License-Identifier: MIT */
#ifndef POSSET_HOST_H
#define POSSET_HOST_H

#include "base.h"
#include "function.h"
#include "module.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */

typedef struct posset_type posset_type; /* lives as long as its runtime */

/* `get` is called without arguments, `set` (null: read-only) with the new value as argument 0; it checks that
 * with the posset_want functions like any other. */
typedef struct posset_property_row {
  const char* name; /* an identifier */
  const char* doc;
  posset_function get;
  posset_function set;
  void* data; /* for the calls */
  /* The value of an object's property never changes, and reading it has no effect (see below). Not with `set`. */
  bool pure;
} posset_property_row;

typedef struct posset_type_row {
  size_t size;      /* sizeof(posset_type_row) */
  const char* name; /* an identifier: what type(x) gives */
  const char* doc;
  const void* key; /* for posset_find_type; null: none */
  const posset_property_row* properties;
  size_t property_count;
  size_t property_size; /* sizeof(posset_property_row) */
  /* As in function.h, without the object: {"move", "move(dx, dy)", "...", 2, 2, ...}. `pure`: the result depends on nothing but
   * the object and the arguments, never changes, and the call has no effect. */
  const posset_function_row* methods;
  size_t method_count;
  size_t method_size; /* sizeof(posset_function_row) */
  /* What is printed behind the name: "<Player ann>". Writes at most `capacity` bytes and gives their number; a
   * character that does not fit whole is left out, what is not UTF-8 becomes U+FFFD. May be null. Uses no context. */
  size_t (*label)(const void* object, char* out, size_t capacity);
  void (*drop)(void* data); /* called with `data` when the runtime ends, or at once when registering fails */
  void* data;
} posset_type_row;

static inline posset_type_row posset_type_of(const char* name) {
  posset_type_row row;
  memset(&row, 0, sizeof row);
  row.size = sizeof row;
  row.name = name;
  row.doc = "";
  row.property_size = sizeof(posset_property_row);
  row.method_size = sizeof(posset_function_row);
  return row;
}

/* Registers a type in a runtime that has no context yet (else POSSET_MISUSE, as for a pure property with `set`). All texts are
 * copied.
 * POSSET_EXISTS: there is a type of that name or key; two members have one name; or a method has the name of a
 * built-in, which `x.name()` would mean. */
POSSET_API posset_status posset_register_type(posset_runtime* runtime, const posset_type_row* row,
                                              const posset_type** out);
/* The type with that key. POSSET_NOT_FOUND. Any thread. */
POSSET_API posset_status posset_find_type(posset_runtime* runtime, const void* key,
                                          const posset_type** out);
POSSET_API posset_text posset_type_text(const posset_type* type); /* its name */
POSSET_API const void* posset_type_key(const posset_type* type);

typedef struct posset_member_info {
  posset_text name;
  posset_text signature; /* of a property its name */
  posset_text doc;
  bool is_method;
  bool is_writable;
  bool is_pure;
} posset_member_info;
typedef posset_status (*posset_visit_member)(void* data, const posset_member_info* info);
/* Visits properties and methods in alphabetical order. */
POSSET_API posset_status posset_each_member(const posset_type* type, posset_visit_member visit,
                                            void* data);

/* ---- objects ---- */

typedef struct posset_object {
  size_t size;   /* sizeof(posset_object) */
  void* pointer; /* not null */
  size_t bytes;  /* counted against the memory limit while it is held */
  void (*drop)(void* data);
  void* data;
} posset_object;

static inline posset_object posset_object_of(void* pointer) {
  posset_object object;
  memset(&object, 0, sizeof object);
  object.size = sizeof object;
  object.pointer = pointer;
  return object;
}

/* A handle, owned. When it cannot be made, `drop` is called at once. POSSET_RAISED: the memory limit;
 * POSSET_MISUSE: no pointer, or a type of another runtime. */
POSSET_API posset_status posset_host(posset_context* context, const posset_type* type,
                                     const posset_object* object, posset_value* out);
/* The pointer when the value is an open handle of that type, else null. */
POSSET_API void* posset_host_pointer(posset_value value, const posset_type* type);
/* The type of a handle; null for any other value. */
POSSET_API const posset_type* posset_host_type(posset_value value);
/* Calls `drop` now; all handles that are copies of this one are closed. Closing again does nothing.
 * POSSET_NOT_FOUND: no handle of an object. */
POSSET_API posset_status posset_host_close(posset_context* context, posset_value value);
/* Argument i as an open handle of that type, or POSSET_RAISED with an error like that of a built-in. */
POSSET_API posset_status posset_want_host(posset_call* call, uint32_t i, const posset_type* type,
                                          void** out);

#ifdef __cplusplus
}
#endif

#endif
