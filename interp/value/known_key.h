// What is known of a key of maps that takes long to hash and to compare, a container of very many values: it has been looked at
// where that can be given up (know_key, which runtime/work.h calls as it charges for keys), so that nobody looks again who cannot be told to
// stop. Its heap holds a reference, so the value does not change while it is known: as long as a KeyScope, the operation on the map.
#pragma once

#include <cstdint>

#include "interp/value/borrowed.h"
#include "interp/value/compare.h"
#include "interp/value/objects.h"

namespace posset::interp {

struct KnownKey {
  Borrowed key = Borrowed::nil();
  uint64_t hash = 0;
  KeyProblem problem = KeyProblem::None;
  // In the map, as long as it is as it was: the key of the entry that equals it; null: there is none.
  const Map* map = nullptr;
  uint32_t used = 0;
  const Object* twin = nullptr;

  bool is(Borrowed v) const { return v.is_heap() && v.word1 == key.word1 && v.word0 == key.word0; }
  bool is_searched(const Map* in) const { return in == map && in->used == used; }
};

}  // namespace posset::interp
