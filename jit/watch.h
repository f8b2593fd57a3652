// Telling profilers and debuggers what code there is. Both are off unless a runtime asks for them
// (option native_watch): one writes a file, the other keeps every object file.
//
// perf: a line for each function in /tmp/perf-PID.map, which `perf report` reads for addresses that belong to no
// file. The file only grows: of two functions at one address the later counts.
// gdb: the JIT interface of GDB and LLDB, a list of object files in memory that the debugger looks at whenever
// the program calls a certain empty function.
#pragma once

#include <cstdint>
#include <memory>

#include "jit/linker.h"

namespace posset::jit {

// Makes code known; what it gives makes it forgotten again when it is destroyed. `object` is the code's object
// file. Null when nothing must be undone. Any thread.
class Registration {
 public:
  virtual ~Registration() = default;
};
std::unique_ptr<Registration> announce(const Code& code, llvm::StringRef object, uint32_t watchers);

}  // namespace posset::jit
