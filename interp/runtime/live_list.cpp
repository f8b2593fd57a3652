// See live_list.h.
#include "interp/runtime/live_list.h"

#include <algorithm>
#include <bit>

#include "interp/value/heap.h"
#include "interp/value/list.h"

namespace posset::interp {

namespace {

size_t lines_for(size_t bytes) { return (bytes + sizeof(ListLine) - 1) / sizeof(ListLine); }

void make_header(List& list, Packing packing, size_t size, int32_t count) {
  // Of a large block, as far as anybody asks.
  const uint64_t word = Heap::header_word(Tag::List, static_cast<uint8_t>(packing), 0);
  static_cast<Object&>(list) = std::bit_cast<Object>(word);
  list.count = count;
  list.size = list.capacity = size;
}

}  // namespace

BufferList::BufferList(Packing packing, size_t capacity)
    : lines_(lines_for(sizeof(List) + capacity * element_bytes(packing))) {
  make_header(header(), packing, 0, 0);
}

Borrowed BufferList::list(int32_t count, size_t size) {
  List& made = header();
  made.count = count;
  made.size = made.capacity = size;
  return Borrowed::heap(Tag::List, &made);
}

LiveVector::LiveVector(std::span<const double> start, size_t writers)
    : size_(start.size()), headers_(writers + 1), lines_(headers_ + lines_for(start.size_bytes())) {
  make_header(header(0), Packing::Float, size_, 0);
  for (size_t w = 0; w < writers; ++w) {
    make_header(header(w + 1), Packing::Float, size_ + static_cast<size_t>(shift(w)), 1);
  }
  std::copy(start.begin(), start.end(), floats().begin());
}

}  // namespace posset::interp
