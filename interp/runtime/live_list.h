// Lists in memory that is no heap's: functions of the script see them, and nobody frees them by counting.
//
// A LiveVector is a vector of floats that several threads change, one float at a time, while functions of the script read
// it as a list. That list is never counted: threads that count one object would wait for each other, and what is not counted
// is not changed in place either. So each of those that write has a list of its own over the same floats, which nobody else
// is given, and whose header it alone counts. The headers lie in front of the vector; a list whose header is further in
// front has the vector further behind, by as many elements as fit between the headers:
//
//   writer 1 | writer 0 | list | x[0] x[1] ...
//
// so x[i] is element i + shift(w) of writer w. Nobody reads or writes what is in front of it, which are headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "interp/value/objects.h"

namespace posset::interp {

// On a line of its own with what follows; processors fetch lines in pairs.
struct alignas(128) ListLine {
  std::byte bytes[128];
};

// Room for numbers of one kind.
class BufferList {
 public:
  BufferList(Packing packing, size_t capacity);

  // The first `size` of them. For who only reads: not counted.
  Borrowed view(size_t size) { return list(0, size); }
  // For an inout parameter, by which they are changed in place.
  Borrowed lent(size_t size) { return list(1, size); }
  int64_t* ints() { return header().ints(); }
  double* floats() { return header().floats(); }

 private:
  List& header() { return *reinterpret_cast<List*>(lines_.data()); }
  Borrowed list(int32_t count, size_t size);

  std::vector<ListLine> lines_;
};

class LiveVector {
 public:
  // Throws std::bad_alloc.
  LiveVector(std::span<const double> start, size_t writers);

  std::span<double> floats() { return {header(0).floats(), size_}; }
  Borrowed list() { return Borrowed::heap(Tag::List, &header(0)); }
  // For an inout parameter. By one thread at a time, and with a name that nothing else sees.
  Borrowed writer(size_t w) { return Borrowed::heap(Tag::List, &header(w + 1)); }
  static int64_t shift(size_t w) { return static_cast<int64_t>((w + 1) * sizeof(ListLine) / sizeof(double)); }

 private:
  List& header(size_t number) {
    auto* const memory = reinterpret_cast<std::byte*>(lines_.data());
    return *reinterpret_cast<List*>(memory + (headers_ - number) * sizeof(ListLine) - sizeof(List));
  }

  const size_t size_;
  const size_t headers_;
  std::vector<ListLine> lines_;
};

}  // namespace posset::interp
