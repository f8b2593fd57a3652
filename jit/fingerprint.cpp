// See fingerprint.h.
#include "jit/fingerprint.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <vector>

#include <llvm/ADT/StringMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/TargetParser/Host.h>

#include "interp/value/shape.h"
#include "interp/value/string.h"

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Op;
using interp::Borrowed;

namespace {

class Bytes {
 public:
  template <class T>
  Bytes& number(T v) {
    text.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  Bytes& add(std::string_view v) {
    number(v.size());
    text += v;
    return *this;
  }
  std::string text;
};

// Numbers and short strings are all in the value. Of what is pointed to, code takes the pointer from the chunk at
// hand; long strings enter for what they say, of others the structural hash knows.
void add_constant(Bytes& to, const Borrowed& v) {
  to.number(v.word0);
  if (v.is_short_string() || v.is_int() || v.is_float() || v.is_bool() || v.is_nil()) {
    to.number(v.word1);
  } else if (v.is_string()) {
    to.add(interp::string_view_of(v));
  }
}

void add_shape(Bytes& to, const interp::Shape& shape) {
  to.number(shape.fields.size());
  for (const interp::Symbol* field : shape.fields) to.add(field->text);
  if (shape.is_variant()) to.add(shape.type->key).number(shape.ordinal);
}

// What a call or a constructor has to match.
void add_outline(Bytes& to, const bytecode::Outline& outline) {
  to.number(outline.parameters).number(outline.rest);
  for (const auto& link : outline.links) {
    to.number(link.count).number(link.exact);
    const interp::NativeFunction* native = link.native;
    to.number(native ? native->intrinsic : interp::Intrinsic::None);
    to.number(native && native->of_float).number(native && native->of_floats);
  }
}

void add_side_tables(Bytes& to, const Chunk& chunk) {
  for (const bytecode::LoopHead& each : chunk.loop_heads) to.number(each.pc).number(each.loop);
  to.number(chunk.regions.size());
  for (const bytecode::Region& each : chunk.regions) {
    to.number(each.begin).number(each.end).number(each.handler).number(each.reg).number(each.cleanup);
  }
  for (const bytecode::LiveChange& each : chunk.live) to.number(each.pc).number(each.locals).number(each.set);
  for (const auto& set : chunk.live_sets) {
    to.number(set.size());
    for (uint16_t reg : set) to.number(reg);
  }
  for (const bytecode::Chunk::Type& each : chunk.types) {
    to.number(each.tags.fit).number(each.tags.open).number(each.element.fit).number(each.element.open);
  }
  for (const auto& [pc, loop] : chunk.step_sites) to.number(pc).number(loop);
}

// The note the linker gives a file for telling it from all others.
std::string build_of(const dl_phdr_info& file, const ElfW(Phdr)& notes) {
  const char* at = reinterpret_cast<const char*>(file.dlpi_addr + notes.p_vaddr);
  const char* end = at + notes.p_memsz;
  auto padded = [](size_t size) { return (size + 3) & ~size_t{3}; };
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
    const char* name = at + sizeof note;
    const char* text = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && std::string_view(name, note.n_namesz) == std::string_view("GNU\0", 4)) {
      return {text, note.n_descsz};
    }
    at = text + padded(note.n_descsz);
  }
  return {};
}

bool holds(const dl_phdr_info& file, uintptr_t address) {
  return std::any_of(file.dlpi_phdr, file.dlpi_phdr + file.dlpi_phnum, [&](const ElfW(Phdr)& each) {
    return each.p_type == PT_LOAD && address - file.dlpi_addr - each.p_vaddr < each.p_memsz;
  });
}

// Of the file this function is in.
std::string build_of_this_file() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* file, size_t, void* out) {
        if (!holds(*file, reinterpret_cast<uintptr_t>(&build_of_this_file))) return 0;
        for (int n = 0; n < file->dlpi_phnum; ++n) {
          std::string& build = *static_cast<std::string*>(out);
          if (file->dlpi_phdr[n].p_type == PT_NOTE && build.empty()) build = build_of(*file, file->dlpi_phdr[n]);
        }
        return 1;
      },
      &found);
  return found;
}

std::string find_maker() {
  const std::string build = build_of_this_file();
  if (build.empty()) return {};
  Bytes made;
  made.add(build).add(LLVM_VERSION_STRING).number(bytecode::instruction_set());
  made.add(llvm::sys::getProcessTriple()).add(llvm::sys::getHostCPUName());
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  }
  std::sort(features.begin(), features.end());  // the map's order is nobody's
  for (const std::string& each : features) made.add(each);
  return std::move(made.text);
}

}  // namespace

std::string fingerprint(const Chunk& chunk) {
  Bytes made;
  made.add({reinterpret_cast<const char*>(chunk.code.get() + chunk.size), chunk.size * sizeof(bytecode::Insn)});
  made.number(chunk.is_loop).number(chunk.loop).number(chunk.slots).number(chunk.registers);
  made.number(chunk.first_local).number(chunk.inout_mask);
  for (const Borrowed& each : chunk.constants) add_constant(made, each);
  for (const auto& each : chunk.caches) made.add(each->name->text);
  for (const interp::Shape* each : chunk.shapes) add_shape(made, *each);
  add_side_tables(made, chunk);
  add_outline(made, chunk.outline);
  return std::move(made.text);
}

const std::string& maker() {
  static const std::string made = find_maker();
  return made;
}

}  // namespace posset::jit
