// Insertion-ordered hash maps (a dense array of entries and an index beside it, as CPython's dict
// since 3.6). Keys that are `==` are one key: ints and floats that are equal hash equally. Keys
// must have been accepted by `is_valid_key` (value/compare.h).
//
// Where `known` is given, it is used if it is of this key (known_key.h).
#pragma once

#include "interp/value/heap.h"
#include "interp/value/known_key.h"
#include "interp/value/mixing.h"
#include "interp/value/objects.h"

namespace posset::interp {

Map* new_map(Heap& heap, uint64_t capacity = 0);
// As with lists (list.h).
Value copy_map(Heap& heap, const Map* map);
bool make_unique_map(Heap& heap, Borrowed& place);

// Pointer to the value of a key, null when absent. Valid until the map changes.
inline Borrowed* map_find(const Map* map, Borrowed key, const KnownKey* known = nullptr);
// The same for the key of another map's entry, whose hash it has.
Borrowed* map_find_like(const Map* map, const MapEntry& entry, Patience* patience);
// Inserts or replaces; the first spelling and place of a key stay. Unique map only.
bool map_set(Heap& heap, Map* map, Value key, Value value, const KnownKey* known = nullptr);
// The slot of `key`, inserted with nil when absent (`inserted` says so). Null: no memory.
Borrowed* map_slot(Heap& heap, Map* map, Borrowed key, bool& inserted, const KnownKey* known = nullptr);
// Removes; Unset when absent.
Value map_remove(Heap& heap, Map* map, Borrowed key, const KnownKey* known = nullptr);
// In two steps, where many go or the place is known: a live entry, which becomes a gap; and what is to follow one or many of these.
Value map_take_entry(Map* map, MapEntry* entry);
void map_close_gaps(Heap& heap, Map* map);
// The heap knows the key from then on, until it is to forget it, unless the patience has ended.
void know_key(Heap& heap, const Map* map, Borrowed key, Patience& patience);
bool map_reserve(Heap& heap, Map* map, uint64_t capacity);
void map_clear(Heap& heap, Map* map);

// Gives the table of a dying map back; its entries have been released.
void free_map_table(Heap& heap, Map* map);

// Removed entries that stand beside each other are a gap. Its first and its last one tell where it begins and ends, so that it is
// passed in one step from either side, however often that is done; one in between tells what was its gap when it was removed, or
// later. As gaps only grow until all are closed, whatever an entry tells has no live one in it.
struct Gap {
  uint32_t begin, end;  // the entry behind its last
};
inline Gap gap_of(const MapEntry& removed) {
  return {static_cast<uint32_t>(removed.hash), static_cast<uint32_t>(removed.hash >> 32)};
}

// Iteration by position: the first live entry at or after `position`, or used when there is none.
inline uint32_t map_next(const Map* map, uint32_t position) {
  if (position < map->first) position = map->first;
  while (position < map->used && map->entries[position].key.is_unset()) position = gap_of(map->entries[position]).end;
  return position;
}
// The last live entry of a map that has one.
inline uint32_t map_last(const Map* map) {
  const MapEntry& end = map->entries[map->used - 1];
  return (end.key.is_unset() ? gap_of(end).begin : map->used) - 1;
}

// ---- inline parts ----
// A slot of the index holds an entry's number in its low bits and bits of the hash above (as many
// as the mask leaves free), so that most probes of a wrong entry end without touching it. kNoEntry
// cannot be an entry's number, because an index is larger than the table.
//
// The first probe of an int is at its own low bits: keys that are near each other, or evenly
// spaced, stay near each other in the index and do not collide. Whatever is not there follows its
// hash, from `next` on, a few one by one and then here and there; so a pattern that makes all
// low bits equal costs one probe, and a key that meets the long run of slots that near ints take is
// out of it after kInLine.
constexpr uint32_t kNoEntry = UINT32_MAX;
constexpr uint8_t kMapHasFloats =
    1;  // Map::flags: a float key has been stored, so ints may equal it

struct Probe {
  uint32_t first;
  uint32_t next;
  uint32_t tag;
  uint32_t tried = 0;
};
constexpr uint32_t kInLine = 8;  // slots of one or two cache lines
// The slot to be tried after `first`, again and again. The jumps come to every slot: 5 x + an odd number has the full period
// modulo every power of two.
inline uint32_t next_slot(Probe& probe) {
  const uint32_t slot = probe.next;
  probe.next = ++probe.tried < kInLine ? slot + 1 : 5 * slot + (probe.tag | 1);
  return slot;
}
inline Probe probe_int(int64_t i, uint64_t hash) {
  return {static_cast<uint32_t>(i), static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32)};
}
inline Probe probe_hash(uint64_t hash) {
  return {static_cast<uint32_t>(hash), static_cast<uint32_t>(hash) + 1,
          static_cast<uint32_t>(hash >> 32)};
}

// The entry that `is_it`, or null; the map has an index.
template <class IsIt>
inline MapEntry* search_index(const Map* map, Probe probe, IsIt&& is_it) {
  uint32_t mask = map->index_mask;
  for (uint32_t slot = probe.first;; slot = next_slot(probe)) {
    uint32_t found = map->index[slot & mask];
    if (found == kNoEntry) return nullptr;
    if (((found ^ probe.tag) & ~mask) == 0 && is_it(map->entries[found & mask]))
      return &map->entries[found & mask];
  }
}

// Whether the key only equals what has the same words: an int (without floats about), a short string, a bool, nil. Nothing is
// charged for such a key, and it is valid.
inline bool same_words_only(const Map* map, Borrowed key) {
  return key.is_int() ? (map->flags & kMapHasFloats) == 0 : key.is_short_string() || key.is_bool() || key.is_nil();
}

// For such a key.
inline Borrowed* map_find_words(const Map* map, Borrowed key, Probe probe) {
  if (map->index == nullptr) {
    // All of the few entries, with conditional moves: a mispredicted way out costs more than four
    // of them.
    Borrowed* value = nullptr;
    for (uint32_t i = map->first; i < map->used; ++i) {
      MapEntry& entry = map->entries[i];
      uint64_t differs = (entry.key.word0 ^ key.word0) | (entry.key.word1 ^ key.word1);
      value = differs == 0 ? &entry.value : value;
    }
    return value;
  }
  MapEntry* entry = search_index(map, probe, [&](const MapEntry& candidate) {
    return candidate.key.word0 == key.word0 && candidate.key.word1 == key.word1;
  });
  return entry == nullptr ? nullptr : &entry->value;
}

Borrowed* map_find_slow(const Map* map, Borrowed key, const KnownKey* known);

inline Borrowed* map_find(const Map* map, Borrowed key, const KnownKey* known) {
  if (key.is_int()) {
    if ((map->flags & kMapHasFloats) == 0) [[likely]] {
      return map_find_words(map, key, probe_int(key.as_int(), hash_int(key.as_int())));
    }
  } else if (key.is_short_string()) {
    return map_find_words(map, key, probe_hash(hash_words(key.word0, key.word1)));
  }
  return map_find_slow(map, key, known);
}

}  // namespace posset::interp
