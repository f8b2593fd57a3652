// The layouts of the counted objects. Operations on them live in the header of each kind (string.h,
// list.h, map.h, record.h); what `+`, `==` or indexing mean lives in runtime/ops.
#pragma once

#include <cstdint>
#include <utility>

#include "interp/value/object.h"
#include "interp/value/shape.h"
#include "interp/value/value.h"

namespace posset::interp {

// More than 14 bytes of valid UTF-8; bytes follow the header. flags: kAscii, kMilestones.
struct Str : Object {
  static constexpr uint8_t kAscii = 1;
  static constexpr uint8_t kMilestones = 2;  // the block has room for them behind `capacity` bytes (milestones.h)
  static constexpr uint32_t kMaxBytes = UINT32_MAX - 64;
  static constexpr uint32_t kUncounted = UINT32_MAX;
  uint32_t hash;      // 0: not known yet (written at most once with the same value: relaxed)
  uint32_t size;      // bytes
  uint32_t capacity;  // bytes of text that fit in the block
  uint32_t scalars;   // number of Unicode scalars, kUncounted: not known yet
  char* data() { return reinterpret_cast<char*>(this + 1); }
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  bool ascii() const { return flags & kAscii; }
};

// How a list's elements are stored. An empty list takes the packing of the first element it gets.
enum class Packing : uint8_t { Any, Int, Float, Bool };

// Elements follow the header: Borrowed (owned by the list), int64_t, double or uint8_t.
struct List : Object {
  uint64_t size;
  uint64_t capacity;  // elements that fit
  Packing packing() const { return static_cast<Packing>(flags); }
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(this + 1);
  }
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(this + 1);
  }
  Borrowed* any() { return data<Borrowed>(); }
  int64_t* ints() { return data<int64_t>(); }
  double* floats() { return data<double>(); }
  // For whoever reads or changes a list by itself: what looks like one may be a vector that several threads change, one float
  // at a time (runtime/live_list.h). Relaxed, which costs what a plain access does; no two of them belong together.
  double float_at(uint64_t i) const {
    double value;
    __atomic_load(data<double>() + i, &value, __ATOMIC_RELAXED);
    return value;
  }
  void set_float(uint64_t i, double value) {
    __atomic_store(data<double>() + i, &value, __ATOMIC_RELAXED);
  }
  uint8_t* bools() { return data<uint8_t>(); }
};

struct MapEntry {
  Borrowed key;    // owned; tag Unset: removed
  Borrowed value;  // owned
  uint64_t hash;   // of a removed one: its gap (map.h)
};
// Entries in insertion order with an open-addressing index of uint32_t beside them (absent while
// there are at most 4 entries).
struct Map : Object {
  uint64_t live;      // entries that are there
  uint32_t used;      // entries including removed ones
  uint32_t capacity;  // entries that fit
  MapEntry* entries;  // one block: entries, then the index
  uint32_t* index;    // null for small maps
  uint32_t index_mask;
  uint32_t first;  // every entry before it is removed (so popping the front stays cheap)
};

// What is known of the values of a record's fields, two bits each: which plain kind, or 0: any.
struct FieldKinds {
  static constexpr uint32_t kFields = 8;  // later ones are not known
  static constexpr uint32_t kAny = 0, kInt = 1, kFloat = 2, kBool = 3;
  static constexpr uint32_t of(Tag tag) {
    return tag == Tag::Int ? kInt : tag == Tag::Float ? kFloat : tag == Tag::Bool ? kBool : kAny;
  }
  static constexpr uint32_t at(uint32_t field, uint32_t kind) { return field < kFields ? kind << (2 * field) : 0; }
  static constexpr uint32_t mask(uint32_t field) { return at(field, 3); }
};

// Records and variants: field values follow, owned.
struct Record : Object {
  uint32_t shape;  // id in the ShapeTable
  uint16_t size;   // number of fields, at most Shape::kMaxFields
  // Two bits for each of the first eight fields, of what it is known to hold (FieldKinds): native code looks at them
  // once instead of at each field's tag. Whoever stores into a field says so here, by store() or note_kind(); whoever
  // lets others store, by field_place(), which leaves it unknown. Of a shared record they may be read while they are
  // being copied, and do not change.
  uint16_t kinds;

  const Borrowed* fields() const { return reinterpret_cast<const Borrowed*>(this + 1); }
  // For whoever fills in a new record, and says by note_kinds() that it has.
  Borrowed* new_fields() { return reinterpret_cast<Borrowed*>(this + 1); }
  Borrowed* field_place(uint32_t field) {
    kinds &= static_cast<uint16_t>(~FieldKinds::mask(field));
    return &new_fields()[field];
  }
  // Nothing in it is counted, as far as that is known.
  bool is_plain() const {
    if (size > FieldKinds::kFields) return false;
    const uint32_t known = (kinds | kinds >> 1) & 0x5555U;
    return known == (0x5555U & ((1U << 2 * size) - 1));
  }
  // Gives the old value, which the caller owns then.
  Borrowed store(uint32_t field, Borrowed v) {
    Borrowed old = std::exchange(new_fields()[field], v);
    note_kind(field);
    return old;
  }
  void note_kind(uint32_t field) {
    const uint32_t others = kinds & ~FieldKinds::mask(field);
    kinds = static_cast<uint16_t>(others | FieldKinds::at(field, FieldKinds::of(fields()[field].tag())));
  }
  void note_kinds() {
    kinds = 0;
    for (uint32_t field = 0; field < size && field < FieldKinds::kFields; ++field)
      kinds |= static_cast<uint16_t>(FieldKinds::at(field, FieldKinds::of(fields()[field].tag())));
  }
};

struct Range : Object {  // flags: kInclusive, kDescending
  static constexpr uint8_t kInclusive = 1;
  static constexpr uint8_t kDescending =
      2;          // what reverse(a..b) gives: the same ints, the last one first
  int64_t first;  // as written, the low end of a descending one too
  int64_t last;   // as written
  bool inclusive() const { return flags & kInclusive; }
  bool descending() const { return flags & kDescending; }
  // Number of ints. All 2^64 of them do not fit: UINT64_MAX, one too few, which nobody gets to.
  uint64_t size() const {
    if (first > last || (first == last && !inclusive())) return 0;
    uint64_t distance = static_cast<uint64_t>(last) - static_cast<uint64_t>(first);
    return distance == UINT64_MAX ? distance : distance + (inclusive() ? 1 : 0);
  }
  // The int at a place, index < size().
  int64_t at(uint64_t index) const {
    if (!descending()) return static_cast<int64_t>(static_cast<uint64_t>(first) + index);
    return static_cast<int64_t>(static_cast<uint64_t>(last) - (inclusive() ? 0 : 1) - index);
  }
  // The last int of a range that has one, in its order; right where size() is one too few, too.
  int64_t back() const {
    if (descending()) return first;
    return inclusive() ? last : static_cast<int64_t>(static_cast<uint64_t>(last) - 1);
  }
};

struct Ref : Object {  // made by Heap::make<Ref>, which sets the value to nil
  Borrowed value;      // owned
  uint64_t place;      // in the heap's list of refs (cycle collection)
};

struct Function;  // runtime/function.h: what a closure runs
struct Closure : Object {
  const Function* function;
  int64_t*
      owner_count;  // not null: goes up with each closure of a module instance, down when one dies
  uint64_t size;    // captured values, which follow, owned
  Borrowed* captured() { return reinterpret_cast<Borrowed*>(this + 1); }
  const Borrowed* captured() const { return reinterpret_cast<const Borrowed*>(this + 1); }
};

// A constructor used as a function value: makes records of `shape`.
struct Constructor : Object {
  uint32_t shape;
  uint32_t unused;
  const void* declaration;  // runtime/module.h: for annotations on fields
};

struct ErrorData;  // runtime/error.h: code, place, trace
struct ErrorObject : Object {
  Borrowed message;  // a string, owned
  Borrowed
      value;  // what was thrown, owned; nil for errors of the language (`value` is the message)
  ErrorData* data;  // owned; null until raised
  size_t charged;   // to the heap, beside the object
};

struct ModuleInstance;
struct BuiltinModule;  // runtime/context.h
struct ModuleObject : Object {
  // One of them, which lives as long as the context: of a script, or built in.
  const ModuleInstance* instance;
  const BuiltinModule* builtin;
  const void* identity() const { return instance ? static_cast<const void*>(instance) : builtin; }
};

// Opaque things of higher layers (host objects, tasks, channels).
struct HostClass;  // runtime/host_object.h: name, properties, methods
struct HostObject : Object {
  static constexpr uint8_t kMethod = 1;  // flags: a BoundMethod
  static constexpr uint8_t kHolds = 2;   // flags: a HoldingObject
  const HostClass* type;                 // of a bound method that of its receiver
  void* pointer;                         // null: closed
  void (*drop)(void* data);              // gives the host its own back; may be null
  void* data;                            // for `drop`
  uint64_t bytes;                        // charged for what is behind the pointer
  HostObject* next;                      // the context's list of objects
  HostObject** link;                     // what points to this one there; null: not in a list
};

// One that holds values of the script, which cycle collection has to see.
struct HoldingObject : HostObject {
  Borrowed held;  // owned: nil, or a ref (the only thing by which a cycle is found)
};

struct NativeFunction;
// A method together with the object it is called on: a function value.
struct BoundMethod : Object {
  const HostClass* type;  // as in HostObject
  const NativeFunction* function;
  Borrowed receiver;  // a host object, owned
};

struct Job;  // runtime/tasks.h
// The handle of a task. Its end cancels the task.
struct TaskObject : Object {
  Job* job;         // counted; null: it was never started
  Borrowed result;  // owned; of one that failed the error value
};

struct Channel;  // runtime/channel.h
struct ChanObject : Object {
  static constexpr uint8_t kEmitter = 1;  // flags: what a generator gives its values to
  Channel* channel;  // counted
  Borrowed held;     // owned: a ref, whose value is the list of what waits in it (a ref, for cycle collection)
};

}  // namespace posset::interp
