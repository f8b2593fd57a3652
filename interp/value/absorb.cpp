// How a heap takes over all that is in another (Heap::absorb): its pages, large blocks, free cells and counts change hands,
// and the objects stay where they are. What a thread has computed for another goes over in this way.
#include <algorithm>
#include <utility>

#include "interp/value/heap_pages.h"

namespace posset::interp {

namespace {

// Gives the last of a list; the list is not empty.
template <class Item, class Visit>
Item* last_of(Item* item, Visit&& visit) {
  for (;; item = item->next) {
    visit(*item);
    if (item->next == nullptr) return item;
  }
}

// Puts `from` before `to`.
template <class Item, class Visit>
void splice(Item*& to, Item*& from, Visit&& visit) {
  if (from == nullptr) return;
  last_of(from, visit)->next = to;
  to = std::exchange(from, nullptr);
}

}  // namespace

bool Heap::absorb(Heap& other) {
  other.take_remote_frees();
  other.bury_all();
  if (const size_t bytes = other.used_ - other.outside_; !has_room(bytes) && !make_room(bytes)) return false;
  absorb_cells(other);
  absorb_pages(other);
  absorb_large(other);
  absorb_counts(other);
  return true;
}

void Heap::absorb_cells(Heap& other) {
  for (size_t cls = 0; cls < kClasses; ++cls) splice(free_[cls], other.free_[cls], [](Cell&) {});
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
  splice(chunks_, other.chunks_, [](Chunk&) {});
  page_count_ += std::exchange(other.page_count_, 0);
}

void Heap::absorb_large(Heap& other) {
  if (other.large_ == nullptr) return;
  LargeBlock* const last = last_of(other.large_, [this](LargeBlock& block) { block.heap = this; });
  if (large_ != nullptr) large_->previous = last;
  last->next = large_;
  large_ = std::exchange(other.large_, nullptr);
}

void Heap::absorb_counts(Heap& other) {
  used_ += std::exchange(other.used_, other.outside_) - other.outside_;
  const HeapStats theirs = std::exchange(other.stats_, {});
  stats_.allocations += theirs.allocations;
  stats_.frees += theirs.frees;
  stats_.copies += theirs.copies;
  stats_.copied_bytes += theirs.copied_bytes;
  stats_.cycle_collections += theirs.cycle_collections;
  stats_.cycle_visits += theirs.cycle_visits;
  stats_.peak_bytes = std::max(stats_.peak_bytes, used_);
  other.frees_at_trim_ = other.allocations_at_collection_ = 0;
  other.trim_at_pages_ = kFirstTrimPages;
}

}  // namespace posset::interp
