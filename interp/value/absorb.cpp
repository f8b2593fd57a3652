// How a heap takes over all that is in another (Heap::absorb): its pages, large blocks, free cells and counts change hands,
// and the objects stay where they are. What a thread has computed for another goes over in this way.
#include <algorithm>
#include <utility>

#include "interp/value/heap_pages.h"
#include "interp/value/linked.h"

namespace posset::interp {

namespace {

// Each is visited. Puts `from` before `to`.
template <class Item, class Visit>
void splice(Item*& to, Item*& from, Visit&& visit) {
  Item* last = nullptr;
  for (Item* item = from; item != nullptr; item = item->next) visit(*(last = item));
  if (last != nullptr) splice_first(to, from, last);
}

}  // namespace

bool Heap::absorb(Heap& other) {
  if (const size_t bytes = other.used_ - other.own_bytes(); !has_room(bytes) && !make_room(bytes)) return false;
  absorb_overdrawn(other);
  stats_.peak_bytes = std::max<uint64_t>(stats_.peak_bytes, used_);
  trim_if_doubled();  // who is given much again and again may need no page of its own for it
  return true;
}

void Heap::absorb_overdrawn(Heap& other) {
  absorb_cells(other);
  absorb_pages(other);
  absorb_large(other);
  absorb_waiting(other);
  absorb_counts(other);
}

void Heap::absorb_cells(Heap& other) {
  for (size_t cls = 0; cls < kClasses; ++cls) {
    if (other.free_[cls] == nullptr) other.free_[cls] = other.take_other_cells(cls);
    while (Cell* const list = other.free_[cls]) {
      other.free_[cls] = other.take_other_cells(cls);
      list->others = std::exchange(other_cells_[cls], list);
    }
  }
}

void Heap::absorb_pages(Heap& other) {
  const auto owned = [this](Page& page) { page.heap = this; };
  for (size_t cls = 0; cls < kClasses; ++cls) {
    Page* const theirs = std::exchange(other.current_[cls], nullptr);
    Page*& ours = current_[cls];
    if (theirs != nullptr && (ours == nullptr || theirs->carved < ours->carved)) ours = theirs;
  }
  splice(pages_, other.pages_, owned);
  splice(free_pages_, other.free_pages_, owned);
  splice(unused_pages_, other.unused_pages_, owned);
  splice(chunks_, other.chunks_, [](Chunk&) {});
  page_count_ += std::exchange(other.page_count_, 0);
}

void Heap::absorb_large(Heap& other) {
  splice(large_, other.large_, [this](LargeBlock& block) { block.heap = this; });
}

void Heap::absorb_counts(Heap& other) {
  used_ += std::exchange(other.used_, other.own_bytes()) - other.own_bytes();
  const HeapStats theirs = std::exchange(other.stats_, {});
  stats_.allocations += theirs.allocations;
  stats_.frees += theirs.frees;
  stats_.copies += theirs.copies;
  stats_.copied_bytes += theirs.copied_bytes;
  stats_.cycle_collections += theirs.cycle_collections;
  stats_.cycle_visits += theirs.cycle_visits;
  other.frees_at_trim_ = other.allocations_at_collection_ = 0;
  other.trim_at_pages_ = kFirstTrimPages;
}

}  // namespace posset::interp
