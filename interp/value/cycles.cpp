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
// Nothing is written into objects meanwhile: a collection of millions of them takes long, and is given up where the heap's owner
// is to stop, which takes no time then. So the table, with one entry for each object that was looked at, is found by an index
// beside it. Both (16 bytes for each object, 4 for each 16 bytes of memory around it) live beside the limit, since a collection is
// what makes room; the peak in the stats includes them. What is garbage stays so: its refs stand first in `refs_`, and are emptied
// in portions, as what else dies (Heap::bury_portion).
//
// When: as the number of refs, or the bytes in use, has doubled since the last time; so the work is
// a constant per ref made. Near the limit; and at teardown.
#include "interp/value/cycles.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <mimalloc.h>

#include "interp/value/heap.h"
#include "interp/value/object_index.h"
#include "interp/value/objects.h"

namespace posset::interp {

namespace {

constexpr size_t kMinThreshold = 1000;  // refs
constexpr size_t kMinBytes = size_t{64} << 20;
constexpr size_t kVisitsPerRef = 4;  // work allowed per ref made
constexpr size_t kEmptiedAtOnce = 256;  // refs

class CycleSearch {
 public:
  CycleSearch(const Heap& heap, bool shared_too) : heap_(heap), shared_too_(shared_too) {}

  // False: given up, as there is no memory for the table or the heap's owner is to stop.
  bool run(ChunkedArray<Ref*>& refs, size_t n) { return trace(refs, n) && mark_live(); }

  // Calls visit(Ref*) for refs that are garbage, all of them unless the owner is to stop.
  template <class Visit>
  void each_garbage(Visit&& visit) {
    for (uint32_t i = 1; i <= size_ && goes_on(); ++i) {
      Entry& entry = table_[i];
      if (!entry.is_live && entry.object->tag == Tag::Ref) visit(static_cast<Ref*>(entry.object));
    }
  }

  size_t visited() const { return size_; }
  size_t bytes() const { return table_.bytes() + index_.bytes(); }

 private:
  struct Entry {
    Object* object;
    uint32_t inside;  // references from objects in the table; of live ones the next to be followed
    bool is_live;
  };

  bool goes_on() {
    constexpr uint32_t kSteps = 4096;  // some tenths of a millisecond
    return ++steps_ % kSteps != 0 || !heap_.is_to_stop();
  }

  // Enters everything the refs reach.
  bool trace(ChunkedArray<Ref*>& refs, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      if (!goes_on() || (can_be_freed(refs[i]) && !entered(refs[i]))) return false;
    }
    for (uint32_t i = 1; i <= size_; ++i) {
      if (!goes_on() || !each_value(table_[i].object, [&](Borrowed v) { return count_edge(v); })) return false;
    }
    return true;
  }

  // Marks what is held from outside and all it reaches.
  bool mark_live() {
    for (uint32_t i = 1; i <= size_; ++i) {
      Entry& entry = table_[i];
      if (!goes_on()) return false;
      if (entry.is_live || std::abs(int64_t{count_of(entry.object)}) <= int64_t{entry.inside}) continue;
      make_live(i);
      while (pending_ != 0) {
        Entry& next = table_[pending_];
        pending_ = next.inside;
        if (!each_value(next.object, [&](Borrowed v) { return follow(v); })) return false;
      }
    }
    return true;
  }

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
    if (!goes_on()) return false;
    if (!v.is_heap() || !can_be_freed(v.object())) return true;
    const uint32_t at = entered(v.object());
    if (at == 0) return false;
    ++table_[at].inside;
    return true;
  }

  bool follow(Borrowed v) {
    if (!goes_on()) return false;
    if (!v.is_heap() || !can_be_freed(v.object())) return true;
    const uint32_t at = *index_.at(v.object());
    if (!table_[at].is_live) make_live(at);
    return true;
  }

  void make_live(uint32_t at) {
    Entry& entry = table_[at];
    entry.is_live = true;
    entry.inside = std::exchange(pending_, at);
  }

  // Which entry is this object's? 0: no memory for one.
  uint32_t entered(Object* object) {
    uint32_t* const place = index_.at(object);
    if (place == nullptr) return 0;
    if (*place != 0) return *place;
    if (size_ + 1 >= table_.capacity() && (size_ > INT32_MAX || !table_.grow())) return 0;
    table_[++size_] = {object, 0, false};
    return *place = size_;
  }

  const Heap& heap_;
  ObjectIndex index_;
  ChunkedArray<Entry> table_;  // that at 0 is none
  uint32_t size_ = 0;
  uint32_t pending_ = 0;     // the first live entry that is still to be followed
  uint32_t steps_ = 0;
  bool shared_too_;
};

}  // namespace

void Heap::collect_cycles(bool shared_too) {
  if (collecting_ || in_hook_ || ref_count_ == 0 || !bury_while_wanted()) return;  // what is buried could not be walked
  collecting_ = true;
  {
    CycleSearch search(*this, shared_too);
    if (search.run(refs_, ref_count_)) search.each_garbage([&](Ref* ref) { condemn(ref); });
    stats_.peak_bytes = std::max<uint64_t>(stats_.peak_bytes, used_ + search.bytes());
    ++stats_.cycle_collections;
    stats_.cycle_visits += search.visited();
    collection_cost_ = search.visited();
    allocations_at_collection_ = stats_.allocations;
  }
  if (bury_while_wanted()) {
    cycle_threshold_ = std::max({kMinThreshold, 2 * ref_count_, ref_count_ + collection_cost_ / kVisitsPerRef});
    cycle_bytes_ = std::max(kMinBytes, used_ > SIZE_MAX / 2 ? SIZE_MAX : 2 * used_);
  }
  collecting_ = false;
}

bool Heap::bury_while_wanted() {
  while (has_buried() || remote_frees_.load(std::memory_order_relaxed) != nullptr) {
    if (is_to_stop()) return false;
    take_remote_frees();
    if (in_hook_) break;
    if (can_bury()) bury_portion();
  }
  return true;
}

// ---- the list of refs ----

Object* Heap::make_ref() {
  if (ref_count_ >= cycle_threshold_ || used_ >= cycle_bytes_) collect_cycles();
  if (ref_count_ == refs_.capacity() && !grow_refs()) return nullptr;
  auto* ref = static_cast<Ref*>(make_object(sizeof(Ref), Tag::Ref, 0));
  if (ref == nullptr) return nullptr;
  ref->value = Borrowed::nil();
  ref->place = ref_count_;
  refs_[ref_count_++] = ref;
  return ref;
}

bool Heap::grow_refs() {
  const size_t charged = refs_.growth();
  if (!charge(charged)) return false;
  const size_t before = refs_.bytes();  // less than it was, where that has freed refs
  const bool grown = refs_.grow();
  discharge(charged - (refs_.bytes() - before));
  return grown;
}

// Room for two chunks stays, so that a count that goes up and down does not make and free one each time.
void Heap::shrink_refs() {
  if (refs_.capacity() - ref_count_ <= 2 * refs_.kChunk) return;
  const size_t before = refs_.bytes();
  refs_.shrink();
  discharge(before - refs_.bytes());
}

void Heap::put_ref(Ref* ref, uint64_t place) {
  refs_[place] = ref;
  ref->place = place;
}

void Heap::forget_ref(Ref* ref) {
  uint64_t hole = ref->place;
  if (hole < condemned_) {
    put_ref(refs_[--condemned_], hole);
    hole = condemned_;
  }
  if (hole != --ref_count_) put_ref(refs_[ref_count_], hole);
  if (ref_count_ % refs_.kChunk == 0) shrink_refs();
}

void Heap::condemn(Ref* ref) {
  const uint64_t place = ref->place;
  if (place < condemned_) return;
  put_ref(refs_[condemned_], place);
  put_ref(ref, condemned_++);
}

void Heap::empty_condemned() {
  for (size_t left = kEmptiedAtOnce; left != 0 && condemned_ != 0 && buried_ == 0; --left) {
    Ref* const ref = refs_[--condemned_];
    retain(ref);
    release(std::exchange(ref->value, Borrowed::nil()));
    release(ref);
  }
}

}  // namespace posset::interp
