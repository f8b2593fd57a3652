// How a heap gives pages back whose cells are all free. To find them all free cells are looked at, and taken out of their lists
// where their page goes; since there can be many millions, a trimming is given up where the heap's owner is to stop, and has changed
// nothing then. Pages that have been found wait in `unused_pages_`, charged, and go one after the other, unless the owner is to stop.
#include <mimalloc.h>

#include "interp/value/heap_pages.h"
#include "interp/value/linked.h"

namespace posset::interp {

namespace {
// Near the limit, work that freed little must not be repeated for every slice: it may look at this many cells for each object freed
// since it was done last.
constexpr size_t kLooksPerFree = 256;
}  // namespace

class Heap::Trimming {
 public:
  explicit Trimming(Heap& heap) : heap_(heap), patience_(heap) {}
  // False: given up.
  bool run() {
    if (!count_free_cells()) return false;
    const bool done = set_pages_apart() && set_cells_apart();
    done ? keep() : undo();
    return done;
  }

 private:
  bool count_free_cells() {
    for (Page* page = heap_.pages_; page != nullptr; page = page->next) {
      if (!patience_.lasts()) return false;
      page->free_cells = 0;
    }
    for (size_t cls = 0; cls < kClasses; ++cls) {
      if (heap_.free_[cls] == nullptr) heap_.free_[cls] = heap_.take_other_cells(cls);
      for (Cell* cell = heap_.free_[cls]; cell != nullptr; cell = cell->next) {
        if (!patience_.lasts()) return false;
        ++page_of(cell)->free_cells;
        ++looks_;
        if (cell->next == nullptr) cell->next = heap_.take_other_cells(cls);
      }
    }
    return true;
  }

  bool set_pages_apart() {
    Page* next;
    for (Page* page = heap_.pages_; page != nullptr; page = next) {
      if (!patience_.lasts()) return false;
      next = page->next;
      page->unused = page->free_cells == page->cells();
      if (!page->unused) continue;
      unlink(heap_.pages_, page);
      link_first(pages_, page);
      if (last_page_ == nullptr) last_page_ = page;
    }
    return true;
  }

  bool set_cells_apart() {
    if (pages_ == nullptr) return true;
    for (size_t cls = 0; cls < kClasses; ++cls) {
      Cell** link = &heap_.free_[cls];
      while (Cell* const cell = *link) {
        if (!patience_.lasts()) return false;
        if (!page_of(cell)->unused) {
          link = &cell->next;
          continue;
        }
        *link = cell->next;
        cell->next = cells_[cls];
        cells_[cls] = cell;
        if (last_cells_[cls] == nullptr) last_cells_[cls] = cell;
      }
    }
    return true;
  }

  void keep() {
    heap_.frees_at_trim_ = heap_.stats_.frees;
    heap_.trim_cost_ = looks_;
    for (Page*& page : heap_.current_) {
      if (page != nullptr && page->unused) page = nullptr;
    }
    if (pages_ != nullptr) splice_first(heap_.unused_pages_, pages_, last_page_);
  }

  void undo() {
    if (pages_ != nullptr) splice_first(heap_.pages_, pages_, last_page_);
    for (size_t cls = 0; cls < kClasses; ++cls) {
      if (cells_[cls] == nullptr) continue;
      last_cells_[cls]->next = heap_.free_[cls];
      heap_.free_[cls] = cells_[cls];
    }
  }

  Heap& heap_;
  WishPatience patience_;
  size_t looks_ = 0;
  Page *pages_ = nullptr, *last_page_ = nullptr;            // that go
  Cell *cells_[kClasses] = {}, *last_cells_[kClasses] = {};  // in them
};

void Heap::trim_if_worth() {
  free_unused_pages();
  if (stats_.frees - frees_at_trim_ > trim_cost_ / kLooksPerFree) trim_pages();
}

void Heap::trim_if_doubled() {
  if (page_count_ >= trim_at_pages_ && trim_pages()) trim_at_pages_ = std::max(kFirstTrimPages, 2 * page_count_);
}

bool Heap::trim_pages() {
  if (!kPooled) return true;
  free_unused_pages();
  if (unused_pages_ != nullptr || !Trimming(*this).run()) return false;
  free_unused_pages();
  return true;
}

void Heap::free_unused_pages() {
  while (unused_pages_ != nullptr && !is_to_stop()) {
    Page* const page = unused_pages_;
    unlink(unused_pages_, page);
    free_page(page);
  }
}

void Heap::free_page(Page* page) {
  discharge(page->carved - Page::kHeaderBytes);
  --page_count_;
  link_first(free_pages_, page);
  if (++page->chunk->free_pages == page->chunk->pages) free_chunk(page->chunk);
}

void Heap::free_chunk(Chunk* chunk) {
  for (size_t i = 0; i < chunk->pages; ++i) unlink(free_pages_, chunk->page(i));
  unlink(chunks_, chunk);
  mi_free(chunk->memory);
  mi_free(chunk);
}

}  // namespace posset::interp
