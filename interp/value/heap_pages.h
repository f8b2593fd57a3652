// What a heap's pages begin with, for the files that implement it. What they are for is said in heap.cpp.
#pragma once

#include "interp/value/heap.h"

namespace posset::interp {

struct Heap::Page {
  Heap* heap;  // first: heap_of reads it
  Page *previous, *next;  // in pages_, free_pages_ or unused_pages_
  Chunk* chunk;
  uint32_t cls;
  uint32_t carved;      // offset of the first byte that is no cell yet
  // While trimming; they mean nothing at other times.
  uint32_t free_cells;
  bool unused;  // all its cells are free
  Cell *first_free, *last_free;
  size_t cells() const { return (carved - kHeaderBytes) / (cls * kGranule); }
  static constexpr size_t kHeaderBytes = 64;
};

struct Heap::Chunk {
  static constexpr size_t kMostPages = 19;  // and room to align them: 20 pages, a size that mimalloc has
  Chunk *previous, *next;
  void* memory;
  size_t pages;
  size_t free_pages;
  Page* page(size_t number) const { return reinterpret_cast<Page*>(static_cast<char*>(memory) + number * kPageBytes); }
};

}  // namespace posset::interp
