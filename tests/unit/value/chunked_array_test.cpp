// ChunkedArray: grows by what it says, and what is in it stays in its place.
#include <cstdint>
#include <set>

#include <doctest/doctest.h>

#include "interp/value/chunked_array.h"

using posset::interp::ChunkedArray;

TEST_CASE("chunked array: it grows by what it says, little at first, and all that was written is there") {
  ChunkedArray<uint64_t> array;
  constexpr size_t kElements = 5 * ChunkedArray<uint64_t>::kChunk;
  CHECK(array.capacity() == 0);
  CHECK(array.bytes() == 0);
  for (size_t n = 0; n < kElements; ++n) {
    if (n == array.capacity()) {
      const size_t expected = array.bytes() + array.growth();
      REQUIRE(array.grow());
      CHECK(array.bytes() == expected);
      if (n == 0) CHECK(expected < 512);
    }
    array[n] = n * n;
  }
  CHECK(array.capacity() == kElements);
  for (size_t n = 0; n < kElements; ++n) REQUIRE(array[n] == n * n);
}

TEST_CASE("chunked array: beyond the first chunk nothing moves, whether it grows or shrinks") {
  ChunkedArray<int> array;
  constexpr size_t kChunk = ChunkedArray<int>::kChunk;
  while (array.capacity() < kChunk) REQUIRE(array.grow());
  const int* const first = &array[0];
  while (array.capacity() < 20 * kChunk) REQUIRE(array.grow());
  std::set<const int*> chunks;
  for (size_t n = 0; n < 20 * kChunk; n += kChunk) chunks.insert(&array[n]);
  CHECK(chunks.size() == 20);
  CHECK(chunks.contains(first));
  array[5 * kChunk - 1] = 77;
  const size_t full = array.bytes();
  while (array.capacity() > 5 * kChunk) array.shrink();
  CHECK(array.bytes() == full - 15 * kChunk * sizeof(int));
  CHECK(array[5 * kChunk - 1] == 77);
  for (int i = 0; i < 10; ++i) array.shrink();
  CHECK(array.capacity() == kChunk);
  CHECK(&array[0] == first);
  REQUIRE(array.grow());
  array[2 * kChunk - 1] = 5;
}
