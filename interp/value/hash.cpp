// Hashes that agree with equality: an integral float hashes as its int, -0.0 as 0, maps and records
// add their entries up so that order does not matter, packed and unpacked lists give the same.
#include <bit>

#include "interp/value/compare.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/record.h"
#include "interp/value/small_stack.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

struct HashedFrame {
  Object* object;
  uint64_t next;
  uint64_t state;
};

uint64_t hash_float(double d) {
  if (is_integral(d)) return hash_int(static_cast<int64_t>(d));
  return hash_words(std::bit_cast<uint64_t>(d), static_cast<uint64_t>(Tag::Float));
}

uint64_t hash_range(const Range* range) {
  RangeInts ints = ints_of(range);
  if (ints.empty) return kMixA;
  return hash_words(static_cast<uint64_t>(ints.first), static_cast<uint64_t>(ints.last));
}

// What equal host objects have in common (equal.cpp).
uint64_t host_identity(const Object* object) {
  if (object->flags & HostObject::kMethod)
    return reinterpret_cast<uint64_t>(static_cast<const BoundMethod*>(object)->function);
  const void* pointer = static_cast<const HostObject*>(object)->pointer;
  return reinterpret_cast<uint64_t>(pointer ? pointer : object);
}

// False: the hash is that of what is inside.
bool hash_shallow(Borrowed v, uint64_t& hash, Patience* patience) {
  switch (v.tag()) {
    case Tag::Int:
      hash = hash_int(v.as_int());
      return true;
    case Tag::Float:
      hash = hash_float(v.as_float());
      return true;
    case Tag::ShortStr:
    case Tag::Str:
      hash = string_hash(v, patience);
      return true;
    case Tag::Range:
      hash = hash_range(v.as<Range>());
      return true;
    case Tag::Host:
      hash = hash_words(v.word0, host_identity(v.object()));
      return true;
    case Tag::Constructor:
      hash = hash_words(v.word0, v.as<Constructor>()->shape);
      return true;
    case Tag::Module:
      hash = hash_words(v.word0, reinterpret_cast<uint64_t>(v.as<ModuleObject>()->identity()));
      return true;
    case Tag::List:
    case Tag::Map:
    case Tag::Record:
    case Tag::Variant:
    case Tag::Fn:
    case Tag::Error:
      return false;
    default:
      hash = hash_words(v.word0, v.word1);
      return true;  // the words are what is compared
  }
}

uint64_t seed_of(const Object* object) {
  uint64_t tag = static_cast<uint64_t>(object->tag) + 1;
  switch (object->tag) {
    case Tag::Variant:
      return hash_words(tag, static_cast<const Record*>(object)->shape);
    case Tag::Fn:
      return hash_words(tag,
                        reinterpret_cast<uint64_t>(static_cast<const Closure*>(object)->function));
    default:
      return hash_words(tag, 0);
  }
}

// The next value inside, or false. A record's field names and a map's keys come in with `add`.
bool next_inside(HashedFrame& frame, Borrowed& v) {
  switch (frame.object->tag) {
    case Tag::List: {
      auto* list = static_cast<List*>(frame.object);
      if (frame.next == list->size) return false;
      v = list_get(list, frame.next++);
      return true;
    }
    case Tag::Map: {
      auto* map = static_cast<Map*>(frame.object);
      uint32_t place = map_next(map, static_cast<uint32_t>(frame.next));
      if (place == map->used) return false;
      frame.next = place + uint64_t{1};
      v = map->entries[place].value;
      return true;
    }
    case Tag::Record:
    case Tag::Variant: {
      auto* record = static_cast<Record*>(frame.object);
      if (frame.next == record->size) return false;
      v = record->fields()[frame.next++];
      return true;
    }
    case Tag::Fn: {
      auto* closure = static_cast<Closure*>(frame.object);
      if (frame.next == closure->size) return false;
      v = closure->captured()[frame.next++];
      return true;
    }
    default: {
      auto* error = static_cast<ErrorObject*>(frame.object);
      if (frame.next == 2) return false;
      v = frame.next++ == 0 ? error->message : error->value;
      return true;
    }
  }
}

void add(HashedFrame& frame, uint64_t hash) {
  switch (frame.object->tag) {
    case Tag::Map:
      frame.state +=
          hash_words(static_cast<Map*>(frame.object)->entries[frame.next - 1].hash, hash);
      break;
    case Tag::Record: {
      auto* record = static_cast<Record*>(frame.object);
      const Shape* shape = Heap::heap_of(record).shapes().shape(record->shape);
      frame.state += hash_words(reinterpret_cast<uint64_t>(shape->fields[frame.next - 1]), hash);
      break;
    }
    default:
      frame.state = mix(frame.state ^ hash, kMixB) + frame.next;
      break;  // in order
  }
}

}  // namespace

uint64_t hash_of(Borrowed v, Patience* patience) {
  uint64_t hash;
  if (hash_shallow(v, hash, patience)) return hash;
  SmallStack<HashedFrame, 12> stack;
  stack.push({v.object(), 0, seed_of(v.object())});
  while (true) {
    HashedFrame& frame = stack.top();
    Borrowed inside;
    if (!lasts(patience)) return 0;
    if (!next_inside(frame, inside)) {
      hash = mix(frame.state ^ kMixA, kMixC);
      stack.pop();
      if (stack.empty()) return hash;
      add(stack.top(), hash);
    } else if (hash_shallow(inside, hash, patience)) {
      add(frame, hash);
    } else {
      stack.push({inside.object(), 0, seed_of(inside.object())});
    }
  }
}

}  // namespace posset::interp
