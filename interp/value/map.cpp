// Insertion-ordered hash maps. A table is one block, the entries and, beyond kMaxScanned of them,
// an index that is at most two thirds full (map.h tells how it is probed). Removing leaves a hole
// in the entries, to which the index goes on pointing (an Unset key equals nothing); so probing
// needs no marks, `used` never goes down (or the index would fill up), and holes go when the table is
// compacted, which happens as soon as they are more than half of what is used.
#include "interp/value/map.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "interp/value/compare.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

constexpr uint32_t kMaxScanned = 4;  // entries without an index; from 5 on it is faster
constexpr uint32_t kFirstCapacity = 4;
constexpr uint32_t kMaxCapacity = 1u << 30;
constexpr uint32_t kCompactFrom = 16;  // used entries below which holes do not matter

struct Table {
  MapEntry* entries = nullptr;
  uint32_t* index = nullptr;
  uint32_t index_mask = 0;
  uint32_t capacity = 0;
};

uint32_t index_size_for(uint32_t capacity) {
  return capacity <= kMaxScanned ? 0 : std::bit_ceil(capacity + capacity / 2);
}
size_t table_bytes(uint32_t capacity, uint32_t index_size) {
  return capacity * sizeof(MapEntry) + index_size * sizeof(uint32_t);
}
uint32_t index_size_of(const Map* map) { return map->index == nullptr ? 0 : map->index_mask + 1; }

bool allocate_table(Heap& heap, uint64_t capacity, Table& table) {
  if (capacity > kMaxCapacity) return false;
  table.capacity = static_cast<uint32_t>(capacity);
  uint32_t index_size = index_size_for(table.capacity);
  auto* block = static_cast<char*>(heap.allocate_block(table_bytes(table.capacity, index_size)));
  if (block == nullptr) return false;
  table.entries = reinterpret_cast<MapEntry*>(block);
  table.index = index_size == 0 ? nullptr : reinterpret_cast<uint32_t*>(table.entries + capacity);
  table.index_mask = index_size == 0 ? 0 : index_size - 1;
  return true;
}

void set_table(Map* map, const Table& table) {
  map->entries = table.entries;
  map->index = table.index;
  map->index_mask = table.index_mask;
  map->capacity = table.capacity;
}

// What takes or gives a Probe is inlined by force: passing one through the stack, written as three
// words and read as two, stalled every insertion (twice the time).

inline uint64_t hash_key(Borrowed key, const KnownKey* known) {
  if (key.is_int()) return hash_int(key.as_int());
  if (key.is_short_string()) return hash_words(key.word0, key.word1);
  return known != nullptr && known->is(key) ? known->hash : hash_of(key);
}

// Floats that equal an int must be searched like it.
inline Probe probe_for(Borrowed key, uint64_t hash) {
  if (key.is_int()) return probe_int(key.as_int(), hash);
  if (key.is_float() && is_integral(key.as_float()))
    return probe_int(static_cast<int64_t>(key.as_float()), hash);
  return probe_hash(hash);
}

[[gnu::always_inline]] inline void add_to_index(Map* map, uint32_t number, Probe probe) {
  uint32_t mask = map->index_mask;
  uint32_t slot = probe.first & mask;
  while (map->index[slot] != kNoEntry) slot = next_slot(probe) & mask;
  map->index[slot] = (probe.tag & ~mask) | number;
}

// Between two looks at whether what is done is still wanted (Heap::stop_wish): a millisecond or two.
constexpr uint32_t kEntriesPerLook = 1u << 14;
constexpr size_t kSlotsPerLook = Heap::kCopyPortion / sizeof(uint32_t);

// `heap`: null for what must be brought to its end.
bool is_given_up(const Heap* heap, uint32_t entries_done) {
  return heap != nullptr && (entries_done + 1) % kEntriesPerLook == 0 && heap->is_to_stop();
}

// False: given up.
bool build_index(const Heap* heap, Map* map) {
  if (map->index == nullptr) return true;
  const size_t slots = map->index_mask + size_t{1};
  for (size_t from = 0; from < slots; from += kSlotsPerLook) {
    if (from != 0 && heap != nullptr && heap->is_to_stop()) return false;
    std::fill_n(map->index + from, std::min(kSlotsPerLook, slots - from), kNoEntry);
  }
  for (uint32_t i = 0; i < map->used; ++i) {
    if (is_given_up(heap, i)) return false;
    add_to_index(map, i, probe_for(map->entries[i].key, map->entries[i].hash));
  }
  return true;
}

// Puts the live entries at the front of `to`, which has room for them and may be the same map, and sets its counts.
// False: given up.
bool move_entries(const Heap* heap, const Map* from, Map* to) {
  uint32_t used = 0;
  const uint32_t end = from->used;
  for (uint32_t i = from->first; i < end; ++i) {
    if (is_given_up(heap, i)) return false;
    if (!from->entries[i].key.is_unset()) to->entries[used++] = from->entries[i];
  }
  to->used = used;
  to->first = 0;
  return true;
}

void free_table(Heap& heap, const Map& map) {
  if (map.entries != nullptr) heap.free_block(map.entries, table_bytes(map.capacity, index_size_of(&map)));
}

// Gives the map a table of its own size, without holes. False: no memory, or given up; the map is as it was.
bool rebuild(Heap& heap, Map* map, uint64_t capacity) {
  Table table;
  if (!allocate_table(heap, capacity, table)) return false;
  Map made = *map;
  set_table(&made, table);
  if (!move_entries(&heap, map, &made) || !build_index(&heap, &made)) {
    free_table(heap, made);
    return false;
  }
  free_table(heap, *map);
  set_table(map, table);
  map->used = made.used;
  map->first = made.first;
  return true;
}

// The table shrinks when it has become far too large; else its index could cost more to clear than
// the removals that led here. One that is large gets a new table, which can be given up, where there
// is memory for it; and it is left as it is where it would be given up: holes do no harm for a while.
void compact(Heap& heap, Map* map) {
  const bool is_large = map->used > kEntriesPerLook;
  if (is_large && heap.is_to_stop()) return;
  const bool shrinks = map->capacity > 4 * map->live + kMaxScanned;
  const uint64_t capacity = shrinks ? std::max<uint64_t>(kMaxScanned, map->live * 2) : map->capacity;
  if ((shrinks || is_large) && (rebuild(heap, map, capacity) || heap.is_to_stop())) return;
  move_entries(nullptr, map, map);
  build_index(nullptr, map);
}

// Room for one more entry.
bool make_space(Heap& heap, Map* map) {
  if (map->used < map->capacity) return true;
  if (map->used - map->live > map->used / 2) {
    compact(heap, map);
    if (map->used < map->capacity) return true;
  }
  uint64_t larger = std::max<uint64_t>(kFirstCapacity, map->capacity * uint64_t{2});
  if (rebuild(heap, map, larger)) return true;
  if (heap.is_to_stop()) return false;
  if (rebuild(heap, map, map->live + map->live / 8 + 1)) return true;
  if (map->used == map->live) return false;
  compact(heap, map);
  return map->used < map->capacity;
}

// By hash and `equal`, for keys that can equal what has other words.
template <class Equals>
[[gnu::always_inline]] inline MapEntry* find_entry(const Map* map, uint64_t hash, Probe probe, Equals&& equals) {
  auto is_it = [&](const MapEntry& entry) { return entry.hash == hash && equals(entry.key); };
  if (map->index != nullptr) return search_index(map, probe, is_it);
  for (uint32_t i = map->first; i < map->used; ++i) {
    if (is_it(map->entries[i])) return &map->entries[i];
  }
  return nullptr;
}

// A copy of the map has the same keys, and what is known of the old one is not searched for by comparing.
[[gnu::noinline]] MapEntry* find_known(const Map* map, Borrowed key, uint64_t hash, Probe probe, const KnownKey& known) {
  const bool is_searched = known.is_searched(map);
  if (is_searched && known.twin == nullptr) return nullptr;
  return find_entry(map, hash, probe, [&](Borrowed other) {
    if (other.is_heap() && (other.object() == known.twin || other.object() == key.object())) return true;
    return !is_searched && equal(other, key);
  });
}

[[gnu::always_inline]] inline Borrowed* find_probed(const Map* map, Borrowed key, uint64_t hash, Probe probe,
                                                    const KnownKey* known) {
  if (same_words_only(map, key)) return map_find_words(map, key, probe);
  MapEntry* entry;
  if (known != nullptr && known->is(key)) [[unlikely]] {
    entry = find_known(map, key, hash, probe, *known);
  } else {
    entry = find_entry(map, hash, probe, [&](Borrowed other) { return equal(other, key); });
  }
  return entry == nullptr ? nullptr : &entry->value;
}

// In the place of an entry, joined to the gaps on both sides of it.
void leave_gap(Map* map, uint32_t at) {
  MapEntry* const entries = map->entries;
  Gap gap = {at, at + 1};
  if (at > 0 && entries[at - 1].key.is_unset()) gap.begin = gap_of(entries[at - 1]).begin;
  if (gap.end < map->used && entries[gap.end].key.is_unset()) gap.end = gap_of(entries[gap.end]).end;
  const uint64_t told = gap.begin | uint64_t{gap.end} << 32;
  entries[at] = {Borrowed::unset(), Borrowed::nil(), told};
  entries[gap.begin].hash = entries[gap.end - 1].hash = told;
  if (gap.begin == 0) map->first = gap.end;
}

MapEntry* entry_of(Borrowed* value) {
  return reinterpret_cast<MapEntry*>(reinterpret_cast<char*>(value) - offsetof(MapEntry, value));
}

}  // namespace

Map* new_map(Heap& heap, uint64_t capacity) {
  auto* map = heap.make<Map>(Tag::Map);
  if (map == nullptr) return nullptr;
  map->live = 0;
  map->used = 0;
  map->first = 0;
  set_table(map, Table());
  if (capacity != 0 && !rebuild(heap, map, capacity)) {
    heap.free_object(map);
    return nullptr;
  }
  return map;
}

// With some room when the map was growing.
Value copy_map(Heap& heap, const Map* map) {
  uint64_t room = map->used < map->capacity ? map->live / 8 : 0;
  Map* copy = new_map(heap, map->live + room);
  if (copy == nullptr) return Value::failure();
  Value owned = Value::adopt(Borrowed::heap(Tag::Map, copy));
  for (uint32_t i = map->first; i < map->used; ++i) {
    if (is_given_up(&heap, i)) return Value::failure();
    const MapEntry& entry = map->entries[i];
    if (entry.key.is_unset()) continue;
    retain(entry.key);
    retain(entry.value);
    copy->entries[copy->used++] = entry;
    ++copy->live;
  }
  copy->flags = map->flags;
  return build_index(&heap, copy) ? std::move(owned) : Value::failure();
}

bool make_unique_map(Heap& heap, Borrowed& place) {
  auto* map = place.as<Map>();
  if (is_unique(map)) return true;
  const size_t bytes = map->live * sizeof(MapEntry);
  return heap.put_copy(place, copy_map(heap, map), bytes);
}

Borrowed* map_find_slow(const Map* map, Borrowed key, const KnownKey* known) {
  if (map->live == 0) return nullptr;
  uint64_t hash = hash_key(key, known);
  return find_probed(map, key, hash, probe_for(key, hash), known);
}

Borrowed* map_find_like(const Map* map, const MapEntry& like, Patience* patience) {
  if (!like.key.is_heap()) return map_find(map, like.key);
  const auto equals = [&](Borrowed other) { return equal(other, like.key, patience); };
  MapEntry* entry = find_entry(map, like.hash, probe_hash(like.hash), equals);
  return entry == nullptr ? nullptr : &entry->value;
}

void know_key(Heap& heap, const Map* map, Borrowed key, Patience& patience) {
  heap.forget_key();
  KnownKey known = {.key = key, .problem = is_valid_key(key, &patience)};
  if (known.problem == KeyProblem::None) {
    known.hash = hash_of(key, &patience);
    const auto equals = [&](Borrowed other) { return equal(other, key, &patience); };
    const MapEntry* entry = patience.ended() ? nullptr : find_entry(map, known.hash, probe_for(key, known.hash), equals);
    known.map = map;
    known.used = map->used;
    known.twin = entry != nullptr ? entry->key.object() : nullptr;
  }
  if (!patience.ended()) heap.know_key(known);
}

Borrowed* map_slot(Heap& heap, Map* map, Borrowed key, bool& inserted, const KnownKey* known) {
  uint64_t hash = hash_key(key, known);
  Probe probe = probe_for(key, hash);
  inserted = false;
  if (Borrowed* found = find_probed(map, key, hash, probe, known)) return found;
  if (!make_space(heap, map)) return nullptr;
  MapEntry& entry = map->entries[map->used];
  entry = {key, Borrowed::nil(), hash};
  retain(key);
  if (map->index != nullptr) add_to_index(map, map->used, probe);
  if (key.is_float()) map->flags |= kMapHasFloats;
  ++map->used;
  ++map->live;
  inserted = true;
  return &entry.value;
}

bool map_set(Heap& heap, Map* map, Value key, Value value, const KnownKey* known) {
  bool inserted;
  Borrowed* slot = map_slot(heap, map, key, inserted, known);
  if (slot == nullptr) return false;
  release(std::exchange(*slot, value.take()));
  return true;
}

Value map_remove(Heap& heap, Map* map, Borrowed key, const KnownKey* known) {
  Borrowed* found = map_find(map, key, known);
  if (found == nullptr) return Value::adopt(Borrowed::unset());
  Value value = map_take_entry(map, entry_of(found));
  map_close_gaps(heap, map);
  return value;
}

Value map_take_entry(Map* map, MapEntry* entry) {
  Borrowed old_key = entry->key;
  Value value = Value::adopt(entry->value);
  leave_gap(map, static_cast<uint32_t>(entry - map->entries));
  --map->live;
  release(old_key);  // last: whose key it is may be told by a view of it
  return value;
}

void map_close_gaps(Heap& heap, Map* map) {
  if (map->used >= kCompactFrom && map->used - map->live > map->used / 2) compact(heap, map);
}

bool map_reserve(Heap& heap, Map* map, uint64_t capacity) {
  return capacity <= map->capacity || rebuild(heap, map, capacity);
}

void map_clear(Heap& heap, Map* map) {
  Map old = *map;
  map->live = 0;
  map->used = 0;
  map->first = 0;
  map->flags = 0;
  set_table(map, Table());
  for (uint32_t i = old.first; i < old.used; ++i) {
    release(old.entries[i].key);
    release(old.entries[i].value);
  }
  free_map_table(heap, &old);
}

void free_map_table(Heap& heap, Map* map) {
  if (map->entries != nullptr)
    heap.free_block(map->entries, table_bytes(map->capacity, index_size_of(map)));
}

}  // namespace posset::interp
