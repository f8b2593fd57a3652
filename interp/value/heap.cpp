// Where a heap's bytes come from: pages of small cells, large blocks, the limit. How objects die is
// in counting.cpp, how unreachable cycles are found in cycles.cpp, how pages go back in trim.cpp.
//
// Pages come in chunks of up to Chunk::kMostPages, because mimalloc doubles a single block that must be
// aligned to its own size. A page belongs to one size class; its cells are carved and charged a
// slice at a time, so a small context pays (and touches) a slice per class it uses, not a page.
#include <algorithm>
#include <unordered_map>
#include <mimalloc.h>

#include "interp/value/heap_pages.h"
#include "interp/value/linked.h"
#include "interp/value/objects.h"
#include "interp/value/reference_cache.h"

namespace posset::interp {

namespace {
constexpr size_t kSliceBytes = 4096;
constexpr size_t kHugePagesFrom = size_t{1} << 20;  // half a huge page
constexpr size_t kFirstCycleThreshold = 1000;
constexpr size_t kFirstCycleBytes = size_t{64} << 20;
// Near the limit a collection of cycles may look at this many objects for each that was made since the last. With what a trimming may
// look at (trim.cpp) the limit is exact to within 1 %.
constexpr size_t kCollectionLooksPerObject = 16;
}  // namespace

Heap::Heap(ShapeTable& shapes, size_t limit_bytes)
    : shapes_(shapes),
      limit_(limit_bytes),
      trim_at_pages_(kFirstTrimPages),
      owner_(std::this_thread::get_id()),
      cycle_threshold_(kFirstCycleThreshold),
      cycle_bytes_(kFirstCycleBytes) {
  static_assert(sizeof(Page) <= Page::kHeaderBytes && sizeof(LargeBlock) % kGranule == 0);
}

Heap::~Heap() {
  stop_wish = {};
  bind_to_thread();
  bury_all();
  collect_cycles(/*shared_too=*/true);
  bury_all();
  while (large_ != nullptr) {  // immortal ones
    LargeBlock* block = large_;
    large_ = block->next;
    block->free();
  }
  while (chunks_ != nullptr) {
    Chunk* chunk = chunks_;
    chunks_ = chunk->next;
    mi_free(chunk->memory);
    mi_free(chunk);
  }
}

// ---- the limit ----

bool Heap::charge(size_t bytes) {
  if (!has_room(bytes) && !make_room(bytes)) return false;
  used_ += bytes;
  if (used_ > stats_.peak_bytes) stats_.peak_bytes = used_;
  return true;
}

bool Heap::note_peak(size_t more) {
  if (!has_room(more) && !make_room(more)) return false;
  stats_.peak_bytes = std::max<uint64_t>(stats_.peak_bytes, used_ + more);
  return true;
}

// Memory is short: give back what nobody uses, then what nobody can reach.
bool Heap::make_room(size_t bytes) {
  if (ReferenceCache* const cache = ReferenceCache::current()) cache->flush();
  take_remote_frees();
  while (!has_room(bytes) && can_bury()) {
    if (is_to_stop()) return false;
    bury_portion();
    take_remote_frees();
  }
  trim_if_worth();
  if (has_room(bytes)) return true;
  if (ref_count_ == 0 || bytes > limit_) return false;
  if (stats_.allocations - allocations_at_collection_ <=
      collection_cost_ / kCollectionLooksPerObject)
    return false;
  uint64_t frees = stats_.frees;
  collect_cycles();
  if (stats_.frees != frees) trim_pages();
  return has_room(bytes);
}

bool Heap::is_overdrawn_by_living() {
  if (!is_overdrawn()) return false;
  bury_while_wanted();
  trim_if_worth();
  return is_overdrawn();
}

void Heap::know_key(const KnownKey& known) {
  retain(known.key);
  forget_key();
  known_key_ = known;
}

// ---- small cells ----

void* Heap::pop_cell(size_t cls) {
  if (free_[cls] == nullptr && !refill(cls)) return nullptr;
  Cell* cell = free_[cls];
  free_[cls] = cell->next;
  return cell;
}

// Carves the next cells of a class. The charge comes first: it may trim pages, so nothing about
// them may be remembered across it.
bool Heap::refill(size_t cls) {
  if (remote_frees_.load(std::memory_order_relaxed) != nullptr) {
    take_remote_frees();
    if (free_[cls] != nullptr) return true;
  }
  if ((free_[cls] = take_other_cells(cls)) != nullptr) return true;
  if (has_buried()) {
    bury_for(kSliceBytes);
    if (free_[cls] != nullptr) return true;
  }
  size_t size = cls * kGranule;
  size_t wanted = std::max<size_t>(1, kSliceBytes / size);
  if (!charge(wanted * size)) return false;
  if (free_[cls] != nullptr) {  // collecting cycles gave some back
    discharge(wanted * size);
    return true;
  }
  Page* page = current_[cls];
  if (page == nullptr || page->carved + size > kPageBytes) {
    page = take_page();
    if (page == nullptr) {
      discharge(wanted * size);
      return false;
    }
    page->cls = static_cast<uint32_t>(cls);
    current_[cls] = page;
  }
  size_t cells = std::min(wanted, (kPageBytes - page->carved) / size);
  discharge((wanted - cells) * size);
  // Linked from the back, so that they are handed out in order of address.
  char* first = reinterpret_cast<char*>(page) + page->carved;
  for (size_t i = cells; i-- > 0;) push_cell(first + i * size, cls);
  page->carved += static_cast<uint32_t>(cells * size);
  return true;
}

Heap::Page* Heap::take_page() {
  // Cells of one class do not serve another: before growing much, see which pages emptied.
  trim_if_doubled();
  if (free_pages_ == nullptr) free_unused_pages();
  if (free_pages_ == nullptr && !add_chunk(chunks_ == nullptr ? 4 : Chunk::kMostPages) && !add_chunk(1))
    return nullptr;
  Page* page = free_pages_;
  unlink(free_pages_, page);
  --page->chunk->free_pages;
  page->carved = Page::kHeaderBytes;
  page->unused = false;
  link_first(pages_, page);
  ++page_count_;
  return page;
}

void* Heap::memory_for(size_t pages) {
  if (spares_ && pages == Chunk::kMostPages) {
    if (void* const spare = spares_->take()) return spare;
  }
  void* const memory = mi_malloc_aligned(pages * kPageBytes, kPageBytes);
  if (memory != nullptr && (huge_pages.have_asked_around(memory) || !is_to_stop())) use_huge_pages(memory);
  return memory;
}

bool Heap::add_chunk(size_t pages) {
  auto* chunk = static_cast<Chunk*>(mi_malloc(sizeof(Chunk)));
  void* memory = chunk == nullptr ? nullptr : memory_for(pages);
  if (memory == nullptr) {
    mi_free(chunk);
    return false;
  }
  *chunk = {nullptr, nullptr, memory, pages, pages};
  link_first(chunks_, chunk);
  for (size_t i = pages; i-- > 0;) {
    Page* const page = chunk->page(i);
    page->heap = this;
    page->chunk = chunk;
    link_first(free_pages_, page);
  }
  return true;
}

void Heap::use_huge_pages(const void* memory) {
  if (used_ >= kHugePagesFrom) huge_pages.use_around(memory);
}

// ---- for tests ----

bool Heap::has_sound_cells() const {
  std::unordered_map<const Page*, size_t> cells_of;
  for (const Page* page = pages_; page != nullptr; page = page->next) cells_of[page] = page->cells();
  const auto is_sound = [&](const Cell* cell, size_t cls) {
    const Page* const page = page_of(cell);
    const size_t offset = reinterpret_cast<uintptr_t>(cell) - reinterpret_cast<uintptr_t>(page);
    return cells_of.contains(page) && page->cls == cls && offset >= Page::kHeaderBytes && offset < page->carved &&
           (offset - Page::kHeaderBytes) % (cls * kGranule) == 0 && cells_of[page]-- != 0;
  };
  for (size_t cls = 1; cls < kClasses; ++cls) {
    for (const Cell* list = free_[cls], *others = other_cells_[cls]; list != nullptr || others != nullptr;) {
      for (const Cell* cell = list; cell != nullptr; cell = cell->next) {
        if (!is_sound(cell, cls)) return false;
      }
      list = others;
      if (others != nullptr) others = others->others;
    }
  }
  return true;
}

// ---- large blocks ----

void* Heap::allocate_large(size_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  bury_for(bytes);
  size_t total = LargeBlock::good_bytes(bytes);
  if (!charge(total)) return nullptr;
  LargeBlock* block = LargeBlock::allocate(total, huge_pages);
  if (block == nullptr) {
    discharge(total);
    return nullptr;
  }
  if (block->mapped == 0) use_huge_pages(block);
  block->heap = this;
  link_first(large_, block);
  return block + 1;
}

// A block that copies itself is there twice for a moment, and charged twice.
void* Heap::grow_large(void* payload, size_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  LargeBlock* block = static_cast<LargeBlock*>(payload) - 1;
  size_t old_total = block->bytes;
  size_t total = LargeBlock::good_bytes(bytes);
  size_t kept = block->mapped != 0 ? old_total : 0;
  if (!charge(total - kept)) return nullptr;
  LargeBlock* grown = block->mapped != 0 ? block->remap(total, huge_pages) : copied(block, total);
  if (grown == nullptr) {
    discharge(total - kept);
    return nullptr;
  }
  discharge(old_total - kept);
  link_between(large_, grown);  // its neighbours, which it knows, are told where it is
  return grown + 1;
}

// Null: no memory, or given up; the block is as it was.
LargeBlock* Heap::copied(LargeBlock* block, size_t bytes) {
  LargeBlock* larger = LargeBlock::allocate(bytes, huge_pages);
  if (larger == nullptr) return nullptr;
  if (!copy(larger + 1, block + 1, block->bytes - sizeof(LargeBlock))) {
    larger->free();
    return nullptr;
  }
  if (larger->mapped == 0) use_huge_pages(larger);
  larger->heap = this;
  larger->previous = block->previous;
  larger->next = block->next;
  block->free();
  return larger;
}

bool Heap::copy(void* to, const void* from, size_t bytes) {
  return in_portions(to, bytes, 1, [&](size_t begin, size_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

// What is long to write is mostly the newest block.
void Heap::note_portion(const void* target, int64_t& since_ns) {
  const auto is_in = [target](const LargeBlock* block) {
    return target >= block && target < reinterpret_cast<const char*>(block) + block->bytes;
  };
  if (large_ != nullptr && large_->mapped != 0 && is_in(large_)) huge_pages.note_portion(large_, large_->bytes, since_ns);
}

void Heap::free_large(void* payload) {
  LargeBlock* block = static_cast<LargeBlock*>(payload) - 1;
  unlink(large_, block);
  if (block->mapped != 0) {
    block->next = std::exchange(dying_, block);
    do bury_block_portion();
    while (dying_ != nullptr && !is_to_stop());
  } else {
    discharge(block->bytes);
    block->free();
  }
}

// Such a block can be of gigabytes, and the system takes most of a millisecond to take a portion back where pages are small.
void Heap::bury_block_portion() {
  constexpr size_t kPortion = size_t{16} << 20;
  LargeBlock* block = dying_;
  if (block->bytes > kPortion) {
    discharge(kPortion);
    block->cut(block->bytes - kPortion);
  } else {
    dying_ = block->next;
    discharge(block->bytes);
    block->free();
  }
}

// ---- objects and blocks ----

Object* Heap::make_object_slow(size_t bytes, Tag tag, uint8_t flags) {
  bool small = kPooled && bytes <= kMaxSmall;
  size_t cls = small ? (bytes + kGranule - 1) / kGranule : 0;
  void* memory = small ? pop_cell(cls) : allocate_large(bytes);
  if (memory == nullptr) return nullptr;
  ++stats_.allocations;
  auto* object = static_cast<Object*>(memory);
  set_header(object, tag, flags, cls);
  return object;
}

Object* Heap::make_object_overdrawn(size_t bytes, Tag tag, uint8_t flags) {
  if (Object* made = make_object(bytes, tag, flags)) return made;
  overdrawn_ = true;
  const size_t limit = std::exchange(limit_, SIZE_MAX);
  Object* made = make_object_slow(bytes, tag, flags);
  limit_ = limit;
  if (made) return made;
  resorted_ = true;
  auto* shared = reinterpret_cast<Object*>(last_resort_[tag == Tag::List]);
  set_header(shared, tag, flags, class_of(bytes));
  shared->count = 0;  // immortal
  return shared;
}

Object* Heap::resize_object(Object* object, size_t bytes) {
  size_t old_class = object->size_class;
  size_t old_bytes = usable_bytes(object);
  bool small = kPooled && bytes <= kMaxSmall;
  size_t cls = small ? (bytes + kGranule - 1) / kGranule : 0;
  bool fits = cls == old_class && (small || (bytes <= old_bytes && bytes >= old_bytes / 2));
  if (fits) return object;
  if (cls == 0 && old_class == 0 && bytes > old_bytes)
    return static_cast<Object*>(grow_large(object, bytes));
  void* memory = small ? pop_cell(cls) : allocate_large(bytes);
  if (memory == nullptr) return nullptr;
  if (!copy(memory, object, std::min(old_bytes, bytes))) {
    small ? push_cell(memory, cls) : free_large(memory);
    return nullptr;
  }
  auto* moved = static_cast<Object*>(memory);
  moved->size_class = static_cast<uint8_t>(cls);
  if (old_class != 0) {
    push_cell(object, old_class);
  } else {
    free_large(object);
  }
  return moved;
}

void* Heap::allocate_block(size_t bytes) {
  return kPooled && bytes <= kMaxSmall ? pop_cell((bytes + kGranule - 1) / kGranule)
                                       : allocate_large(bytes);
}

void Heap::free_block(void* block, size_t bytes) {
  if (kPooled && bytes <= kMaxSmall) {
    push_cell(block, (bytes + kGranule - 1) / kGranule);
  } else {
    free_large(block);
  }
}

}  // namespace posset::interp
