// How a heap gives pages back whose cells are all free. To find them all free cells are looked at, once: each goes into a list of
// its page, and the lists of pages that stay become those of their classes again, page by page. Since there can be many millions, a
// trimming is given up where the heap's owner is to stop; then all pages stay. Pages that have been found wait in `unused_pages_`,
// charged, and go one after the other, unless the owner is to stop.
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
    if (!begin()) return false;
    bool done = true;
    for (size_t cls = 0; cls < kClasses && done; ++cls) done = sort(cls);
    gather(done);
    if (done) keep();
    return done;
  }

 private:
  bool begin() {
    for (Page* page = heap_.pages_; page != nullptr; page = page->next) {
      if (!patience_.lasts()) return false;
      page->free_cells = 0;
      page->first_free = nullptr;
    }
    return true;
  }

  // Mostly cells beside each other have become free one after the other: where the page is the same nothing is written.
  bool sort(size_t cls) {
    while (Cell* cell = heap_.free_[cls] != nullptr ? heap_.free_[cls] : heap_.take_other_cells(cls)) {
      heap_.free_[cls] = nullptr;
      while (cell != nullptr) {
        Page* const page = page_of(cell);
        Cell* const first = cell;
        Cell* last = cell;
        uint32_t count = 0;
        bool lasts = true;
        for (; cell != nullptr && page_of(cell) == page && (lasts = patience_.lasts()); cell = cell->next, ++count) last = cell;
        if (count != 0) add(page, first, last, count);
        if (lasts) continue;
        heap_.free_[cls] = cell;
        return false;
      }
    }
    return true;
  }

  void add(Page* page, Cell* first, Cell* last, uint32_t count) {
    last->next = nullptr;
    (page->first_free == nullptr ? page->first_free : page->last_free->next) = first;
    page->last_free = last;
    page->free_cells += count;
    looks_ += count;
  }

  // Pages without a cell in use are set apart with their cells, where all cells have been looked at.
  void gather(bool done) {
    Page* next;
    for (Page* page = heap_.pages_; page != nullptr; page = next) {
      next = page->next;
      page->unused = done && page->free_cells == page->cells();
      if (page->unused) {
        unlink(heap_.pages_, page);
        link_first(heap_.unused_pages_, page);
      } else if (page->first_free != nullptr) {
        page->last_free->next = std::exchange(heap_.free_[page->cls], page->first_free);
      }
    }
  }

  void keep() {
    heap_.frees_at_trim_ = heap_.stats_.frees;
    heap_.trim_cost_ = looks_;
    for (Page*& page : heap_.current_) {
      if (page != nullptr && page->unused) page = nullptr;
    }
  }

  Heap& heap_;
  WishPatience patience_;
  size_t looks_ = 0;
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
  if (!spares_ || chunk->pages != Chunk::kMostPages || !spares_->keep(chunk->memory)) mi_free(chunk->memory);
  mi_free(chunk);
}

}  // namespace posset::interp
