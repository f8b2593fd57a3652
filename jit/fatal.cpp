// See fatal.h.
#include "jit/fatal.h"

#include <mutex>

#include <llvm/Support/ErrorHandling.h>

namespace posset::jit {

namespace {

void on_fatal_error(void*, const char* message, bool) { throw FatalError(message); }

void on_bad_alloc(void*, const char*, bool) { throw std::bad_alloc(); }

}  // namespace

void catch_fatal_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_bad_alloc);
  });
}

}  // namespace posset::jit
