// An array that grows and shrinks at its end without what is in it being moved: chunks of kChunk elements, which a directory
// finds. The first chunk doubles until it is whole, so that little takes little. For elements that bytes may move; memory comes from
// mimalloc, and who owns the array charges for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <mimalloc.h>

namespace posset::interp {

template <class T>
class ChunkedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr size_t kChunk = 4096;  // elements

  ChunkedArray() = default;
  ~ChunkedArray() {
    for (size_t i = 0; i < chunks_; ++i) mi_free(directory_[i]);
    mi_free(directory_);
  }
  ChunkedArray(const ChunkedArray&) = delete;
  ChunkedArray& operator=(const ChunkedArray&) = delete;

  T& operator[](size_t at) { return directory_[at / kChunk][at % kChunk]; }
  size_t capacity() const { return chunks_ <= 1 ? first_ : chunks_ * kChunk; }
  size_t bytes() const { return capacity() * sizeof(T) + directory_capacity_ * sizeof(T*); }
  // How many `bytes` more there are after `grow`, at most.
  size_t growth() const {
    const size_t elements = doubles() ? grown_first() - first_ : kChunk;
    return elements * sizeof(T) + (is_directory_full() ? grown_directory() - directory_capacity_ : 0) * sizeof(T*);
  }
  // Larger by one element at least. False: no memory, what is in it stays.
  bool grow() {
    if (is_directory_full() && !grow_directory()) return false;
    const bool is_new = first_ == 0 || !doubles();
    T* const old = is_new ? nullptr : directory_[0];
    auto* chunk = static_cast<T*>(mi_realloc(old, (doubles() ? grown_first() : kChunk) * sizeof(T)));
    if (chunk == nullptr) return false;
    directory_[is_new ? chunks_ : 0] = chunk;
    if (doubles()) first_ = grown_first();
    if (is_new) ++chunks_;
    return true;
  }
  // Gives the last chunk back, unless it is the first. The directory stays.
  void shrink() {
    if (chunks_ > 1) mi_free(directory_[--chunks_]);
  }

 private:
  static constexpr size_t kFirst = 32, kFirstDirectory = 4;
  bool doubles() const { return first_ < kChunk; }
  size_t grown_first() const { return std::max(kFirst, 2 * first_); }
  bool is_directory_full() const { return chunks_ == directory_capacity_; }
  size_t grown_directory() const { return std::max(kFirstDirectory, 2 * directory_capacity_); }
  bool grow_directory() {
    auto* grown = static_cast<T**>(mi_realloc(directory_, grown_directory() * sizeof(T*)));
    if (grown == nullptr) return false;
    directory_ = grown;
    directory_capacity_ = grown_directory();
    return true;
  }

  T** directory_ = nullptr;
  size_t directory_capacity_ = 0, chunks_ = 0;
  size_t first_ = 0;  // elements of the first chunk
};

}  // namespace posset::interp
