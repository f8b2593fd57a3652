// A stack for walks over values: the first N frames stand inside, so that ordinary values need no
// allocation, and deep ones use the C++ heap instead of native recursion. Such a stack is not
// charged: it is never larger than the objects on the path it stands for.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace posset::interp {

template <class T, size_t N>
class SmallStack {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Valid until the next push.
  T& top() { return size_ <= N ? inside_[size_ - 1] : more_.back(); }
  void push(const T& item) {
    if (size_ < N) {
      inside_[size_] = item;
    } else {
      more_.push_back(item);
    }
    ++size_;
  }
  void pop() {
    if (size_ > N) more_.pop_back();
    --size_;
  }
  T take() {
    T item = top();
    pop();
    return item;
  }

 private:
  std::array<T, N> inside_;
  std::vector<T> more_;
  size_t size_ = 0;
};

}  // namespace posset::interp
