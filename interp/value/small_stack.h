// A stack for walks over values: the first N frames stand inside, so that ordinary values need no
// allocation, and deep ones use the C++ heap instead of native recursion. Such a stack is not
// charged: it is never larger than the objects that it stands for.
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

#include "interp/value/chunked_array.h"

namespace posset::interp {

template <class T, size_t N>
class SmallStack {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Valid until the next push.
  T& top() { return size_ <= N ? inside_[size_ - 1] : more_[size_ - 1 - N]; }
  // Throws std::bad_alloc, and is as it was then.
  void push(const T& item) {
    if (size_ < N) {
      inside_[size_] = item;
    } else {
      if (size_ - N == more_.capacity() && !more_.grow()) throw std::bad_alloc();
      more_[size_ - N] = item;
    }
    ++size_;
  }
  void pop() { --size_; }
  void clear() { size_ = 0; }
  T take() {
    T item = top();
    pop();
    return item;
  }

 private:
  std::array<T, N> inside_;
  ChunkedArray<T> more_;  // a large one does not move as it grows, which nobody could interrupt
  size_t size_ = 0;
};

}  // namespace posset::interp
