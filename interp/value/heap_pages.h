// What a heap's pages begin with, for the files that implement it. What they are for is said in heap.cpp.
#pragma once

#include "interp/value/heap.h"

namespace posset::interp {

struct Heap::Chunk {
  Chunk* next;
  void* memory;
  size_t pages;
  size_t free_pages;
};

struct Heap::Page {
  Heap* heap;  // first: heap_of reads it
  Page* next;  // in pages_ or free_pages_
  Chunk* chunk;
  uint32_t cls;
  uint32_t carved;      // offset of the first byte that is no cell yet
  uint32_t free_cells;  // counted while trimming
  bool unused;          // found while trimming: all its cells are free
  size_t cells() const { return (carved - kHeaderBytes) / (cls * kGranule); }
  static constexpr size_t kHeaderBytes = 64;
};

}  // namespace posset::interp
