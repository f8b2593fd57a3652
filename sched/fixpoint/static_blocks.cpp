// See static_blocks.h.
#include "sched/fixpoint/static_blocks.h"

#include <algorithm>

namespace posset::sched::fixpoint {

void StaticBlocks::init(size_t n, size_t workers) {
  const size_t count = std::max<size_t>(workers, 1);
  std::vector<Block> blocks(count);
  size_t begin = 0;
  for (size_t worker = 0; worker < count; ++worker) {
    const size_t size = n / count + (worker < n % count ? 1 : 0);
    blocks[worker] = {begin, begin + size, begin};
    begin += size;
  }
  blocks_.swap(blocks);
}

}  // namespace posset::sched::fixpoint
