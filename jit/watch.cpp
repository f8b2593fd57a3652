// See watch.h.
#include "jit/watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <mutex>
#include <vector>

#include <llvm/Object/ELFObjectFile.h>

#include "interp/runtime/native_plugin.h"

// What GDB and LLDB look for by name. The descriptor's `version` and `action` have the numbers GDB gives them.
extern "C" {
struct jit_code_entry {
  jit_code_entry* next;
  jit_code_entry* previous;
  const char* symbol_file;
  uint64_t symbol_file_bytes;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action;  // 0 none, 1 registered, 2 unregistered
  jit_code_entry* relevant;
  jit_code_entry* first;
};
extern jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code();

__attribute__((used)) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
// The debugger has a breakpoint here.
__attribute__((used, noinline)) void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
}

namespace posset::jit {

namespace {

void write_perf_map(const Code& code) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  // Not through a link: anybody may have put one where the name is known beforehand.
  const int descriptor = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  std::FILE* file = descriptor >= 0 ? fdopen(descriptor, "a") : nullptr;
  if (!file) return;
  for (const Code::Symbol& symbol : code.symbols()) {
    std::fprintf(file, "%" PRIxPTR " %zx %s\n", reinterpret_cast<uintptr_t>(symbol.address), symbol.bytes,
                 symbol.name.c_str());
  }
  std::fclose(file);
}

// The sections of the copy of an object file get the addresses they were linked to, which is where a debugger
// takes them from.
void place_sections(std::vector<char>& object, const Code& code) {
  using Elf = llvm::object::ELF64LE;
  auto file = llvm::object::ELFFile<Elf>::create({object.data(), object.size()});
  if (!file) return llvm::consumeError(file.takeError());
  auto sections = file->sections();
  if (!sections) return llvm::consumeError(sections.takeError());
  for (const Elf::Shdr& section : *sections) {
    auto name = file->getSectionName(section);
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    for (const Code::Section& linked : code.sections()) {
      if (linked.name != *name) continue;
      const_cast<Elf::Shdr&>(section).sh_addr = reinterpret_cast<uintptr_t>(linked.address);
    }
  }
}

// An object file on the debugger's list.
class Listed : public Registration {
 public:
  Listed(const Code& code, llvm::StringRef object) : object_(object.begin(), object.end()) {
    place_sections(object_, code);
    entry_ = {nullptr, nullptr, object_.data(), object_.size()};
    std::lock_guard lock(mutex());
    entry_.next = __jit_debug_descriptor.first;
    if (entry_.next) entry_.next->previous = &entry_;
    __jit_debug_descriptor.first = &entry_;
    tell(1);
  }

  ~Listed() override {
    std::lock_guard lock(mutex());
    if (entry_.next) entry_.next->previous = entry_.previous;
    (entry_.previous ? entry_.previous->next : __jit_debug_descriptor.first) = entry_.next;
    tell(2);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex made;
    return made;
  }
  void tell(uint32_t action) {
    __jit_debug_descriptor.relevant = &entry_;
    __jit_debug_descriptor.action = action;
    __jit_debug_register_code();
  }

  std::vector<char> object_;
  jit_code_entry entry_{};
};

}  // namespace

std::unique_ptr<Registration> announce(const Code& code, llvm::StringRef object, uint32_t watchers) {
  if (watchers & interp::kWatchPerf) write_perf_map(code);
  if (watchers & interp::kWatchGdb) return std::make_unique<Listed>(code, object);
  return nullptr;
}

}  // namespace posset::jit
