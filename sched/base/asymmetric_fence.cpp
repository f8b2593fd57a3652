// See asymmetric_fence.h.
#include "sched/base/asymmetric_fence.h"

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace posset::sched {

namespace {

#if defined(__linux__) && defined(SYS_membarrier)
bool ask_system(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }
// Registration holds for the process, and again is no error.
bool take_part() { return ask_system(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }
void fence_all() {
  // A process made by fork may not take part though its parent did.
  if (!ask_system(MEMBARRIER_CMD_PRIVATE_EXPEDITED) && take_part()) ask_system(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
#else
bool take_part() { return false; }
void fence_all() {}
#endif

}  // namespace

bool has_asymmetric_fence() {
  static const bool takes_part = take_part();
  return takes_part;
}

// The system call is a full barrier for the caller, too. The thread sanitizer knows no fences.
void heavy_fence() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  fence_all();
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace posset::sched
