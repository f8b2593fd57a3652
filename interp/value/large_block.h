// Blocks too large for a heap's pages, each with a prefix that tells its heap and links it into the
// heap's list. They come from mimalloc. A block that is very large, or grows so, gets pages of its own
// from the system, which can move to a larger range without a byte being touched: a list that
// grows by pushing neither copies itself again and again nor leaves memory behind that it touched. These are whole huge pages, so that
// the system moves and takes back huge pages, not what they are made of: for a gigabyte 0.3 ms in place of 7, and 4 in place of 8.
// What is charged for a block, and when, is the heap's affair (heap.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace posset::interp {

class Heap;
class HugePages;

struct LargeBlock {
  Heap* heap;  // first: Heap::heap_of reads it
  uint64_t bytes : 63;  // with this prefix
  uint64_t mapped : 1;
  LargeBlock* previous;
  LargeBlock* next;

  // What a block for `payload` bytes takes, prefix included.
  static size_t good_bytes(size_t payload);
  // A block of a good size; only `bytes` and `mapped` are set. Null: no memory.
  static LargeBlock* allocate(size_t bytes, HugePages& pages);
  // Makes a mapped block `bytes` long, a good size; it may move, and whoever points to it must be
  // told. Nothing is copied. Null: no memory, the block is as it was.
  LargeBlock* remap(size_t bytes, HugePages& pages);
  // Gives the end of a mapped block back: `bytes` remain, a good size.
  void cut(size_t bytes);
  void free();
};

}  // namespace posset::interp
