// See tree_account.h.
#include "interp/runtime/tree_account.h"

#include "interp/runtime/context.h"

namespace posset::interp {

size_t TreeAccount::take(size_t bytes) {
  if (!loading_) return 0;
  settle(*loading_);
  if (loading_->heap.charge(bytes)) return bytes;
  out_of_memory_ = true;
  throw syntax::Stopped{};
}

void TreeAccount::look() {
  if (loading_ && loading_->wants_to_stop()) throw syntax::Stopped{};
}

void TreeAccount::settle(Context& context) {
  if (returned_.load(std::memory_order_relaxed) == 0) return;
  context.heap.discharge(returned_.exchange(0, std::memory_order_relaxed));
}

void TreeAccount::Loading::raise() {
  Context& context = *account_.loading_;
  if (std::exchange(account_.out_of_memory_, false)) {
    context.raise_memory_limit();
  } else {
    context.poll();
  }
}

}  // namespace posset::interp
