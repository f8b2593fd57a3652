// A context's memory. Every block comes from mimalloc and is charged to the heap before it is
// allocated, in O(1). Small cells (up to kMaxSmall bytes) are carved from 64 KiB pages that know
// their heap, with one free list per size class; larger blocks carry a prefix that does. So an
// object alone tells its heap, and releasing needs no context.
//
// Threads: a heap is used by one thread at a time, the one it is bound to. `share`d objects may be
// released elsewhere; such objects are pushed on `remote_frees_` (atomic stack) and die at one of the
// owner's next slow allocations. A thread that hands the heap to another unbinds it first.
//
// Failure: allocation gives null when the limit would be exceeded (after free pages were given back
// and unreachable cycles collected) or mimalloc has no memory; nothing is charged then. Callers
// turn null into the context's memory-limit error.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "interp/value/chunked_array.h"
#include "interp/value/huge_pages.h"
#include "interp/value/known_key.h"
#include "interp/value/large_block.h"
#include "interp/value/outside_counts.h"
#include "interp/value/patience.h"
#include "interp/value/spare_chunks.h"
#include "interp/value/value.h"

namespace posset::interp {

class ShapeTable;
struct ErrorData;
struct ChanObject;
struct HostObject;
struct Ref;
struct TaskObject;

// What runs when an object that belongs to a higher layer dies or prints itself. Set by that layer
// when it makes the heap. Hooks may release values; they run on the heap's thread.
struct ObjectHooks {
  void (*destroy_error)(ErrorData*) = nullptr;
  void (*destroy_host)(HostObject*) = nullptr;
  void (*destroy_task)(TaskObject*) = nullptr;
  void (*destroy_chan)(ChanObject*) = nullptr;
  // The name of a Fn, Builtin, Module, Task, Chan or Host for printing: "area" gives `<fn area>`;
  // empty gives `<fn>`. A Host's name stands alone: `<File>`.
  std::string (*name_of)(Borrowed) = nullptr;
};

// Asked by what copies much in one go, or gives much back to the system, between its portions. Where the heap's owner has been told
// to stop, a copy is given up as if there were no memory for it, and whoever makes an error of that asks the same
// (Context::raise_memory_limit); what is to be given back waits.
struct StopWish {
  bool (*is_there)(const void* owner) = nullptr;
  const void* owner = nullptr;
};

struct HeapStats {
  uint64_t allocations = 0;  // objects ever made
  uint64_t frees = 0;
  uint64_t copies = 0;  // copies-on-write: a container changed while shared was copied first
  uint64_t copied_bytes = 0;
  uint64_t peak_bytes = 0;
  uint64_t cycle_collections = 0;
  uint64_t cycle_visits = 0;  // objects these looked at
};

class Heap {
 public:
  static constexpr size_t kPageBytes = 64 * 1024;
  static constexpr size_t kGranule = 16;
  static constexpr size_t kMaxSmall = 1024;
  static constexpr size_t kClasses =
      kMaxSmall / kGranule + 1;                         // class = size in granules; 0 is large
  static constexpr size_t kMaxBytes = size_t{1} << 46;  // of one block: sums of sizes never wrap
#ifdef POSSET_SANITIZED
  static constexpr bool kPooled =
      false;  // each object its own block, so that the sanitizer sees its end
#else
  static constexpr bool kPooled = true;
#endif

  explicit Heap(ShapeTable& shapes, size_t limit_bytes = SIZE_MAX);
  ~Heap();  // every object must be gone except immortal ones; frees all pages
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // An object of `bytes` bytes with count 1 and the given tag; fields past the header are not set.
  template <class T>
  T* make(Tag tag, size_t bytes = sizeof(T), uint8_t flags = 0) {
    if constexpr (std::is_same_v<T, Ref>) {
      return static_cast<T*>(make_ref());
    } else {
      return static_cast<T*>(make_object(bytes, tag, flags));
    }
  }
  Object* make_object(size_t bytes, Tag tag, uint8_t flags) {
    size_t cls = (bytes + kGranule - 1) / kGranule;
    if (cls < kClasses) [[likely]] {
      if (Cell* cell = free_[cls]) [[likely]] {
        free_[cls] = cell->next;
        ++stats_.allocations;
        auto* object = reinterpret_cast<Object*>(cell);
        set_header(object, tag, flags, cls);
        return object;
      }
    }
    return make_object_slow(bytes, tag, flags);
  }
  // For what cannot be told that there is no memory: a record or list of at most kMostOverdrawn bytes, beyond the limit
  // where need be. Where mimalloc has none either it is a place that all others of the tag share and nobody frees. Both are
  // told by `is_overdrawn`, until `end_overdraft`: whoever polls asks, so that it does not go on for long.
  static constexpr size_t kMostOverdrawn = 160;
  Object* make_object_overdrawn(size_t bytes, Tag tag, uint8_t flags = 0);
  bool is_overdrawn() const { return overdrawn_ && (used_ > limit_ || resorted_); }
  // Also when what has died, and the pages of that, have gone.
  bool is_overdrawn_by_living();
  void end_overdraft() { overdrawn_ = resorted_ = false; }
  // For compiled code that takes free cells as make_object does.
  static constexpr bool has_class(size_t bytes) { return bytes <= kMaxSmall; }
  static constexpr size_t class_of(size_t bytes) { return (bytes + kGranule - 1) / kGranule; }
  // Templates, so that only who calls them is asked whether offsetof will do.
  template <class Self = Heap>
  static size_t free_cells_offset(size_t cls) {
    return offsetof(Self, free_) + cls * sizeof(Cell*);
  }
  template <class Self = Heap>
  static size_t allocations_offset() {
    return offsetof(Self, stats_) + offsetof(HeapStats, allocations);
  }
  static uint64_t header_word(Tag tag, uint8_t flags, size_t cls) {
    return 1 | uint64_t{static_cast<uint8_t>(tag)} << 32 | uint64_t{flags} << 40 |
           uint64_t{cls} << 48;
  }
  // Gives a dead object's memory back (children already released). `heap_of(object)` must be this.
  void free_object(Object* object) {
    ++stats_.frees;
    if (object->size_class != 0) [[likely]] {
      push_cell(object, object->size_class);
    } else {
      free_large(object);
    }
  }

  // Changes the size of a unique object, keeping its first min(old, new) bytes; may move it. Null:
  // no memory, the object is as it was.
  Object* resize_object(Object* object, size_t bytes);
  // Bytes usable in the object's block, at least what was asked for.
  static size_t usable_bytes(const Object* object) {
    return object->size_class != 0 ? object->size_class * kGranule : large_bytes(object);
  }

  // Uncounted blocks owned by one object (map tables, ref's bookkeeping).
  void* allocate_block(size_t bytes);
  void free_block(void* block, size_t bytes);

  // Charges bytes that live elsewhere (host copies, parser); false when over the limit.
  bool charge(size_t bytes);
  void discharge(size_t bytes) { used_ -= bytes; }

  static Heap& heap_of(const Object* object) {
    auto address = reinterpret_cast<uintptr_t>(object);
    address =
        object->size_class != 0 ? address & ~(kPageBytes - 1) : address - sizeof(LargeBlock);
    return **reinterpret_cast<Heap* const*>(address);  // Page and LargeBlock begin with it
  }

  // Moves all that is in `other` here; it is empty then, its counts included. Nothing is copied: what it costs grows
  // with its pages, large blocks and objects that wait to die. Nobody else uses `other` or refers to what is in it, and it has no refs. False: there is
  // no room, nothing has happened.
  bool absorb(Heap& other);
  // For what is to die here: whether there is room or not, which it makes. It is no peak.
  void absorb_overdrawn(Heap& other);

  // Heaps of one family may refer to each other's shared objects: that of a context and of those that work for it.
  const Heap* family() const { return family_; }
  void join(const Heap& other) {
    family_ = other.family_;
    spares_ = other.spares_;
  }
  // Chunks are kept for the family from here on, until they are given back.
  void keep_spares() { spares_ = std::make_shared<SpareChunks>(); }
  void free_spares() {
    if (spares_) spares_->free_all();
  }

  // Bytes to be copied between two looks: a millisecond where each page is touched for the first time.
  static constexpr size_t kCopyPortion = size_t{1} << 20;
  StopWish stop_wish;
  bool is_to_stop() const { return stop_wish.is_there != nullptr && stop_wish.is_there(stop_wish.owner); }
  // Lets write(from, to) fill n elements of `bytes` each, in portions. `target`: where, if it does nothing else that takes long, so
  // that what it takes is what new memory takes; else null. False: given up.
  template <class Write>
  bool in_portions(const void* target, uint64_t n, size_t bytes, Write&& write) {
    // A quarter of what is copied elsewhere: it seldom lies across two huge pages, each of which may have to be found.
    const uint64_t portion = kCopyPortion / 4 / bytes;
    const bool is_timed = target != nullptr && n > portion;
    int64_t since_ns = is_timed ? huge_pages.now_ns() : 0;
    for (uint64_t from = 0; from < n; from += portion) {
      if (from != 0 && is_to_stop()) return false;
      if (from != 0 && is_timed) note_portion(target, since_ns);
      write(from, std::min(n, from + portion));
    }
    return true;
  }
  // False: given up.
  bool copy(void* to, const void* from, size_t bytes);

  // The key that is looked for, if it is one of those that take long (map.h).
  const KnownKey* known_key() const { return &known_key_; }
  void know_key(const KnownKey& known);
  void forget_key() {
    if (known_key_.key.is_heap()) [[unlikely]] release(std::exchange(known_key_, {}).key);
  }

  ShapeTable& shapes() { return shapes_; }
  ObjectHooks hooks;
  HugePages huge_pages;
  size_t used_bytes() const { return used_; }
  // Memory that lives outside of the heap, and stays with this one where another absorbs it.
  bool charge_outside(size_t bytes) {
    if (!charge(bytes)) return false;
    outside_ += bytes;
    return true;
  }
  void discharge_outside(size_t bytes) {
    outside_ -= bytes;
    discharge(bytes);
  }
  size_t limit_bytes() const { return limit_; }
  void set_limit_bytes(size_t limit) { limit_ = limit; }
  // From here on the peak is measured anew; `end_peak` gives it, and the whole time's is what it was or that. For work in
  // between, whose place is another heap.
  uint64_t begin_peak() { return std::exchange(stats_.peak_bytes, used_); }
  uint64_t end_peak(uint64_t before) {
    return std::exchange(stats_.peak_bytes, std::max(before, stats_.peak_bytes));
  }
  // What is in use now and so many bytes have been in use at once, though these elsewhere. False: the limit forbids that.
  bool note_peak(size_t more);
  uint64_t live_objects() const { return stats_.allocations - stats_.frees; }
  uint64_t live_refs() const { return ref_count_; }
  bool has_large_blocks() const { return large_ != nullptr; }
  const HeapStats& stats() const { return stats_; }
  // In the place of what was shared and is about to be changed, of so many bytes; counted. False: the copy has failed.
  bool put_copy(Borrowed& place, Value copy, size_t bytes) {
    if (copy.failed() || is_to_stop_after(bytes)) return false;
    ++stats_.copies;
    stats_.copied_bytes += bytes;
    release(std::exchange(place, copy.take()));
    return true;
  }

  // Frees every unreachable cycle through refs: trial deletion, synchronous, starting from all refs
  // of the heap. Runs by itself as refs pile up, when memory runs short, and at teardown. Shared
  // objects count as reachable, unless `shared_too` says that no other thread is using them. Given up
  // where the owner is to stop.
  void collect_cycles(bool shared_too = false);

  // The constructing thread is bound at first. Shared objects released by any other thread wait for
  // the bound one; while none is bound, they all wait.
  void bind_to_thread() { bind_to_thread(std::this_thread::get_id()); }
  void bind_to_thread(std::thread::id calling) { owner_.store(calling, std::memory_order_release); }
  void unbind_from_thread() { owner_.store({}, std::memory_order_release); }
  // From here on some thread may use it at any time, whether one is bound or not; or no longer.
  void set_given_away(bool is_given_away) { is_given_away_.store(is_given_away, std::memory_order_release); }
  // Whether this thread may count references. One that is neither bound nor kept out by another may where nobody else does.
  bool may_count_here() const {
    const std::thread::id owner = owner_.load(std::memory_order_acquire);
    return owner == std::this_thread::get_id() || (owner == std::thread::id() && !is_given_away_.load(std::memory_order_acquire));
  }
  OutsideCounts outside;  // by threads that may not
  // Frees what other threads have released, or its first portion. As long as other things wait to die it waits, too.
  void take_remote_frees();
  // Something large dies in portions: what is over when its first has gone waits, and dies here as the heap's owner allocates
  // or looks at limits. One portion, or all of it. What waits is charged. Blocks that are mapped wait only where the owner has been
  // told to stop.
  void bury_some() {
    if (has_buried()) [[unlikely]] bury_portion();
  }
  bool bury_while_wanted();  // false: the owner is to stop before all is done
  void bury_all() {
    do {
      while (can_bury()) bury_portion();
      take_remote_frees();
    } while (can_bury());
  }
  bool has_buried() const { return buried_ != 0 || condemned_ != 0 || dying_ != nullptr; }
  // Gives wholly unused pages back to mimalloc, as many as there is time for. False: there was none to look for them.
  bool trim_pages();
  // Unless too little has been freed since the last time for what that costs.
  void trim_if_worth();
  // A property's function or one that gives a host its own back is running: nothing that scripts see may change.
  bool in_accessor = false;
  bool is_guarded() const { return in_accessor || in_hook_; }
  // For tests: free cells are cells of their class, each free once. Counting what is dead already spoils that.
  bool has_sound_cells() const;
  size_t spare_chunks() const { return spares_ ? spares_->count() : 0; }

 private:
  friend void destroy(Object* object);
  friend void release_shared(Object* object, int32_t references);
  friend class Burial;  // counting.cpp
  struct Cell {
    Cell* next;
    Cell* others;  // of the first of a list in other_cells_: the next list
  };
  struct Page;
  struct Chunk;
  class Trimming;

  static void set_header(Object* object, Tag tag, uint8_t flags, size_t cls) {
    // One store instead of five.
    static_assert(std::endian::native == std::endian::little);
    uint64_t word = header_word(tag, flags, cls);
    std::memcpy(static_cast<void*>(object), &word, sizeof word);
  }
  static Page* page_of(const void* cell) {
    return reinterpret_cast<Page*>(reinterpret_cast<uintptr_t>(cell) & ~(kPageBytes - 1));
  }
  void push_cell(void* block, size_t cls) {
    auto* cell = static_cast<Cell*>(block);
    cell->next = free_[cls];
    free_[cls] = cell;
  }
  void* pop_cell(size_t cls);  // null: no memory
  // A list of free cells that was another heap's, or null.
  Cell* take_other_cells(size_t cls) {
    Cell* const list = other_cells_[cls];
    if (list != nullptr) other_cells_[cls] = list->others;
    return list;
  }
  Object* make_object_slow(size_t bytes, Tag tag, uint8_t flags);
  Object* make_ref();
  bool grow_refs();
  void shrink_refs();
  void put_ref(Ref* ref, uint64_t place);
  void forget_ref(Ref* ref);
  void condemn(Ref* ref);
  void empty_condemned();

  bool refill(size_t cls);
  Page* take_page();
  void use_huge_pages(const void* memory);
  void note_portion(const void* target, int64_t& since_ns);
  void* memory_for(size_t pages);
  bool add_chunk(size_t pages);
  void free_page(Page* page);
  void free_chunk(Chunk* chunk);
  void free_unused_pages();
  void trim_if_doubled();

  // Large blocks by the address after their prefix.
  void* allocate_large(size_t bytes);
  void* grow_large(void* payload, size_t bytes);
  LargeBlock* copied(LargeBlock* block, size_t bytes);
  void free_large(void* payload);
  static size_t large_bytes(const void* payload) {
    return (static_cast<const LargeBlock*>(payload) - 1)->bytes - sizeof(LargeBlock);
  }

  void absorb_cells(Heap& other);
  void absorb_pages(Heap& other);
  void absorb_large(Heap& other);
  void absorb_counts(Heap& other);
  void absorb_waiting(Heap& other);

  size_t own_bytes() const { return outside_ + refs_.bytes(); }  // that are not in pages or blocks
  bool has_room(size_t bytes) const { return used_ <= limit_ && bytes <= limit_ - used_; }
  bool make_room(size_t bytes);
  // Many small copies take as long as a large one, and steps that are counted need not lie in between.
  bool is_to_stop_after(size_t bytes) {
    unlooked_ += bytes;
    if (unlooked_ < kCopyPortion / 4) [[likely]] return false;
    unlooked_ = 0;
    return is_to_stop();
  }
  void push_remote(Object* object);
  bool can_bury() const { return dying_ != nullptr || ((buried_ != 0 || condemned_ != 0) && !in_hook_); }
  void bury_portion();
  void bury_portion(int64_t values);
  void bury_for(size_t bytes);
  void bury_block_portion();

  Cell* free_[kClasses] = {};
  Cell* other_cells_[kClasses] = {};  // lists of them, taken over from other heaps
  Page* current_[kClasses] = {};  // where the next cells of a class are carved
  ShapeTable& shapes_;
  const Heap* family_ = this;
  std::shared_ptr<SpareChunks> spares_;  // of the family; null: none are kept
  size_t used_ = 0, outside_ = 0;
  size_t limit_;
  size_t unlooked_ = 0;  // bytes copied since the owner's wish was last asked for
  bool overdrawn_ = false, resorted_ = false;
  alignas(kGranule) unsigned char last_resort_[2][kMostOverdrawn] = {};  // records, lists
  HeapStats stats_;

  Page* pages_ = nullptr;       // all in use
  Page* free_pages_ = nullptr;  // of chunks that have others in use
  Page* unused_pages_ = nullptr;  // all their cells are free, and in no list
  Chunk* chunks_ = nullptr;
  size_t page_count_ = 0;
  static constexpr size_t kFirstTrimPages = 64;
  size_t trim_at_pages_ = kFirstTrimPages;
  uint64_t frees_at_trim_ = 0;
  size_t trim_cost_ = 0;    // free cells the last trimming looked at
  LargeBlock* large_ = nullptr;  // all of them, doubly linked
  LargeBlock* dying_ = nullptr;  // mapped ones that have died and wait for their end, by `next`

  std::atomic<Object*> remote_frees_{nullptr};
  std::atomic<std::thread::id> owner_;
  std::atomic<bool> is_given_away_{false};
  uint64_t buried_ = 0;  // objects that have died and wait for theirs (counting.cpp)
  bool in_hook_ = false;
  KnownKey known_key_;

  ChunkedArray<Ref*> refs_;  // every live ref; Ref::place is its index
  size_t condemned_ = 0;     // the first ones are garbage that waits for its end
  size_t ref_count_ = 0;
  size_t cycle_threshold_;  // refs, and bytes in use, at which the next collection starts
  size_t cycle_bytes_;
  uint64_t allocations_at_collection_ = 0;
  size_t collection_cost_ = 0;  // objects the last collection looked at
  bool collecting_ = false;
};

// For walks that end where the heap's owner is to stop.
class WishPatience final : public Patience {
 public:
  explicit WishPatience(const Heap& heap) : heap_(heap) {}

 private:
  bool is_over() override { return heap_.is_to_stop(); }
  const Heap& heap_;
};

}  // namespace posset::interp
