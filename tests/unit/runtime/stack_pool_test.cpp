// Stacks that contexts give back and take up again.
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <vector>

#include "interp/runtime/strand.h"
#include "../memory_maps.h"
#include "sched/base/native_stack.h"
#include "world.h"

using namespace posset::interp;

namespace {

constexpr size_t kBytes = size_t{64} << 20;

bool is_resident(const void* page) {
  unsigned char resident = 0;
  REQUIRE(mincore(const_cast<void*>(page), 4096, &resident) == 0);
  return (resident & 1) != 0;
}

}  // namespace

TEST_CASE("stack pool: a register stack that is given back is the next one, with nil at its bottom") {
  StackPool pool;
  Borrowed* first = nullptr;
  {
    RegisterStack stack(kBytes, &pool);
    first = stack.begin();
    for (size_t i = 0; i < 1000; ++i) first[i] = Borrowed::integer(7);
  }
  RegisterStack other(kBytes / 2, &pool);  // of another size
  CHECK(other.begin() != first);
  RegisterStack stack(kBytes, &pool);
  CHECK(stack.begin() == first);
  for (size_t i = 0; i < Strand::kKeptViews; ++i) CHECK(first[i].is_nil());
}

TEST_CASE("stack pool: what was used far from the bottom goes back to the system") {
  StackPool pool;
  char* memory = nullptr;
  {
    RegisterStack stack(kBytes, &pool);
    memory = reinterpret_cast<char*>(stack.begin());
    std::memset(memory, 1, size_t{8} << 20);
    REQUIRE(is_resident(memory + (size_t{7} << 20)));
  }
  CHECK(is_resident(memory));
  CHECK_FALSE(is_resident(memory + (size_t{1} << 20)));
  CHECK_FALSE(is_resident(memory + (size_t{7} << 20)));
}

TEST_CASE("stack pool: it keeps few") {
  StackPool pool;
  {
    std::vector<std::unique_ptr<RegisterStack>> many;
    for (int i = 0; i < 40; ++i) many.push_back(std::make_unique<RegisterStack>(size_t{1} << 20, &pool));
  }
  std::vector<posset::sched::StackArea> kept;
  do {
    kept.push_back(pool.take(size_t{1} << 20));
  } while (kept.back().memory());
  CHECK(kept.size() - 1 == 16);
}

TEST_CASE("stack pool: contexts of one runtime take up each other's stacks") {
  RuntimeState runtime{RuntimeOptions()};
  const Borrowed* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    Context context(runtime, Limits());
    if (!first) first = context.stack_top;
    CHECK(context.stack_top == first);
    for (size_t r = 0; r < Strand::kKeptViews; ++r) CHECK(context.stack_top[-1 - static_cast<ptrdiff_t>(r)].is_nil());
  }
}

TEST_CASE("stacks: what lies deep is served in huge pages, and where they begin in small ones") {
  if (!posset::test::knows_huge_pages()) return;
  const RegisterStack registers(kBytes);
  const char* const bottom = reinterpret_cast<const char*>(registers.begin());
  CHECK(!posset::test::is_asked_for_huge_pages(bottom));
  CHECK(posset::test::is_asked_for_huge_pages(bottom + kBytes / 2));
  const posset::sched::NativeStack native(kBytes);
  CHECK(!posset::test::is_asked_for_huge_pages(native.low() + native.bytes() - 4096));
  CHECK(posset::test::is_asked_for_huge_pages(native.low() + native.bytes() / 2));
  // Those of tasks are small throughout.
  const posset::sched::NativeStack task(size_t{256} << 10);
  CHECK(!posset::test::is_asked_for_huge_pages(task.low() + task.bytes() / 2));
}
