// Limits a context has although nobody set them.
#include "world.h"

using namespace posset::interp;

TEST_CASE("limits: so little memory that no 32-bit reference count overflows") {
  World w;
  constexpr size_t kReferences = size_t{1} << 31;
  CHECK(w.context.heap.limit_bytes() / sizeof(Borrowed) < kReferences);
  Limits small;
  small.memory_bytes = 1000000;
  w.context.set_limits(small);
  CHECK(w.context.heap.limit_bytes() == 1000000);
}
