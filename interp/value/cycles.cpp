// Cycle collection. Values are trees except where a ref leads back to something that holds it, so
// every unreachable cycle goes through a ref, and a heap knows all its refs (`refs_`). It does not
// do to watch only refs that lost a reference and lived on (Bacon and Rajan's candidates): in
//     let r = ref(nil); let xs = [r]; xs[0].value = xs
// moves keep the ref's count at 1, and the reference that is lost last is the list's.
//
// A collection counts, for every object that can be reached from a ref, how many references come
// from such objects (`inside`). Who has more is held from outside; he and all he reaches live. The
// rest is garbage: its refs are emptied, after which ordinary counting frees everything.
//
// The table has one entry per object looked at. While it exists, an object's count field holds the
// index of its entry and its mark says so; no hashing, and giving up half-way (no memory for the
// table) is only a matter of putting the counts back. The table (16 bytes per object) lives beside
// the limit, since a collection is what makes room; the peak in the stats includes it.
//
// When: as the number of refs, or the bytes in use, has doubled since the last time; so the work is
// a constant per ref made. Near the limit; and at teardown.
#include "interp/value/cycles.h"

#include <algorithm>
#include <cstdlib>
#include <mimalloc.h>

#include "interp/value/heap.h"
#include "interp/value/objects.h"

namespace posset::interp {

namespace {

constexpr size_t kMinThreshold = 1000;  // refs
constexpr size_t kMinBytes = size_t{64} << 20;
constexpr size_t kVisitsPerRef = 4;  // work allowed per ref made
constexpr uint8_t kSeen = 1;
constexpr uint8_t kLive = 2;

class CycleSearch {
 public:
  explicit CycleSearch(bool shared_too) : shared_too_(shared_too) {}
  ~CycleSearch() { mi_free(entries_); }
  CycleSearch(const CycleSearch&) = delete;
  CycleSearch& operator=(const CycleSearch&) = delete;

  // Enters everything the refs reach. False: no memory for the table.
  bool trace(Ref** refs, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      if (can_be_freed(refs[i]) && refs[i]->mark == 0 && !enter(refs[i])) return false;
    }
    for (size_t i = 0; i < size_; ++i) {
      bool ok = true;
      for_each_value(entries_[i].object, [&](Borrowed v) { ok = ok && count_edge(v); });
      if (!ok) return false;
    }
    return true;
  }

  // Marks what is held from outside and all it reaches. `inside` of a live entry links those still
  // to be followed.
  void mark_live() {
    for (size_t i = 0; i < size_; ++i) {
      Entry& entry = entries_[i];
      if (entry.object->mark == kLive ||
          std::abs(entry.count) <= static_cast<int64_t>(entry.inside))
        continue;
      make_live(entry.object);
      while (pending_ != kNone) {
        Object* object = entries_[pending_].object;
        pending_ = entries_[pending_].inside;
        for_each_value(object, [&](Borrowed v) {
          if (v.is_heap() && v.object()->mark == kSeen) make_live(v.object());
        });
      }
    }
  }

  // Takes nothing for garbage, after a trace that failed.
  void abandon() {
    for (size_t i = 0; i < size_; ++i) entries_[i].object->mark = kLive;
  }

  // Puts all counts back. Gives the number of garbage refs, which `garbage(i)` then lists.
  size_t restore() {
    size_t found = 0;
    for (size_t i = 0; i < size_; ++i) {
      Object* object = entries_[i].object;
      bool garbage = object->mark == kSeen && object->tag == Tag::Ref;
      object->count = entries_[i].count;
      object->mark = 0;
      if (garbage) entries_[found++].object = object;
    }
    return found;
  }
  Ref* garbage(size_t i) const { return static_cast<Ref*>(entries_[i].object); }

  size_t visited() const { return size_; }
  size_t bytes() const { return capacity_ * sizeof(Entry); }

 private:
  struct Entry {
    Object* object;
    int32_t count;    // its real count
    uint32_t inside;  // references from objects in the table; later a link
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  // Only what holds values can be part of a cycle or lead to one.
  bool can_be_freed(const Object* object) const {
    int32_t count = count_of(object);
    if (count == 0 || (count < 0 && !shared_too_)) return false;
    switch (object->tag) {
      case Tag::List:
        return static_cast<const List*>(object)->packing() == Packing::Any;
      case Tag::Map:
      case Tag::Record:
      case Tag::Variant:
      case Tag::Fn:
      case Tag::Ref:
      case Tag::Error:
      case Tag::Task:
      case Tag::Chan:
        return true;
      case Tag::Host:
        return (object->flags & (HostObject::kMethod | HostObject::kHolds)) != 0;
      default:
        return false;
    }
  }

  bool count_edge(Borrowed v) {
    if (!v.is_heap()) return true;
    Object* object = v.object();
    if (object->mark == 0) {
      if (!can_be_freed(object)) return true;
      if (!enter(object)) return false;
    }
    ++entries_[object->count].inside;
    return true;
  }

  bool enter(Object* object) {
    if (size_ == capacity_ && !grow()) return false;
    entries_[size_] = {object, object->count, 0};
    object->count = static_cast<int32_t>(size_++);
    object->mark = kSeen;
    return true;
  }

  bool grow() {
    size_t capacity = std::max<size_t>(256, capacity_ * 2);
    if (capacity > INT32_MAX) return false;
    void* grown = mi_realloc(entries_, capacity * sizeof(Entry));
    if (grown == nullptr) return false;
    entries_ = static_cast<Entry*>(grown);
    capacity_ = capacity;
    return true;
  }

  void make_live(Object* object) {
    object->mark = kLive;
    auto index = static_cast<uint32_t>(object->count);
    entries_[index].inside = pending_;
    pending_ = index;
  }

  Entry* entries_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  uint32_t pending_ = kNone;
  bool shared_too_;
};

}  // namespace

void Heap::collect_cycles(bool shared_too) {
  if (collecting_ || in_hook_ || ref_count_ == 0) return;
  bury_all();  // it could not be walked
  collecting_ = true;
  CycleSearch search(shared_too);
  if (search.trace(refs_, ref_count_)) {
    search.mark_live();
  } else {
    search.abandon();
  }
  stats_.peak_bytes = std::max<uint64_t>(stats_.peak_bytes, used_ + search.bytes());
  size_t garbage = search.restore();
  for (size_t i = 0; i < garbage; ++i) retain(search.garbage(i));
  for (size_t i = 0; i < garbage; ++i)
    release(std::exchange(search.garbage(i)->value, Borrowed::nil()));
  for (size_t i = 0; i < garbage; ++i) release(search.garbage(i));
  ++stats_.cycle_collections;
  stats_.cycle_visits += search.visited();
  collection_cost_ = search.visited();
  allocations_at_collection_ = stats_.allocations;
  cycle_threshold_ =
      std::max({kMinThreshold, 2 * ref_count_, ref_count_ + search.visited() / kVisitsPerRef});
  cycle_bytes_ = std::max(kMinBytes, used_ > SIZE_MAX / 2 ? SIZE_MAX : 2 * used_);
  collecting_ = false;
}

// ---- the list of refs ----

Object* Heap::make_ref() {
  if (ref_count_ >= cycle_threshold_ || used_ >= cycle_bytes_) collect_cycles();
  if (ref_count_ == ref_capacity_ && !grow_refs()) return nullptr;
  auto* ref = static_cast<Ref*>(make_object(sizeof(Ref), Tag::Ref, 0));
  if (ref == nullptr) return nullptr;
  ref->value = Borrowed::nil();
  ref->place = ref_count_;
  refs_[ref_count_++] = ref;
  return ref;
}

bool Heap::grow_refs() {
  size_t capacity = std::max<size_t>(32, ref_capacity_ * 2);
  size_t more = (capacity - ref_capacity_) * sizeof(Ref*);
  if (!charge(more)) return false;
  void* grown = mi_realloc(refs_, capacity * sizeof(Ref*));
  if (grown == nullptr) {
    discharge(more);
    return false;
  }
  refs_ = static_cast<Ref**>(grown);
  ref_capacity_ = capacity;
  return true;
}

void Heap::forget_ref(Ref* ref) {
  Ref* last = refs_[--ref_count_];
  refs_[ref->place] = last;
  last->place = ref->place;
}

}  // namespace posset::interp
