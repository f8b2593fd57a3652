// What the code of a unit refers to of the process it runs in, besides helpers (linker.h): chunks, their bytecode, their
// inline caches and constants, numbers of units, ids of shapes. All of these are symbols in its object file, named by
// what they are of, so that the object can be kept and linked in another process (entry.h): there is nothing else in it
// that another process would not have.
//
// A part is a chunk whose code has gone into it: 0 is the unit's own, the others are inlined. Symbols:
//   chunk.P  unit.P            the part, the number of its unit
//   pc.P.N                     its instruction N, as compiled
//   cache.P.N  constant.P.N    an inline cache's word; a constant's, where that is a pointer
//   floats.P.N                 where link N, a built-in function, is called with floats
//   shape.N
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/chunk.h"
#include "interp/value/shape.h"

namespace posset::jit {

class Bindings {
 public:
  struct Part {
    const bytecode::Chunk* chunk;
    uint32_t unit;  // 0: nobody has asked
  };

  // Adds what is not there yet.
  std::string chunk(const bytecode::Chunk& of) { return numbered("chunk.", part(of)); }
  std::string pc(const bytecode::Chunk& of, uint32_t n) { return numbered(numbered("pc.", part(of)) + ".", n); }
  std::string cache(const bytecode::Chunk& of, uint32_t n) { return numbered(numbered("cache.", part(of)) + ".", n); }
  std::string constant(const bytecode::Chunk& of, uint32_t n) { return numbered(numbered("constant.", part(of)) + ".", n); }
  std::string of_floats(const bytecode::Chunk& of, uint32_t n) { return numbered(numbered("floats.", part(of)) + ".", n); }
  std::string unit(const bytecode::Chunk& of, uint32_t number);
  std::string shape(const interp::Shape& of);

  uint32_t part(const bytecode::Chunk& of);
  uint32_t number_of(const bytecode::Chunk& of) const;  // of one that is there
  void add(const Part& part) { parts_.push_back(part); }
  void add(const interp::Shape& shape) { shapes_.push_back(&shape); }
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<const interp::Shape*>& shapes() const { return shapes_; }

  // The address, number or id that a symbol stands for. Nothing: it is none of these.
  std::optional<uint64_t> value_of(std::string_view symbol) const;

 private:
  static std::string numbered(std::string_view name, size_t n) { return std::string(name) + std::to_string(n); }
  std::vector<Part> parts_;
  std::vector<const interp::Shape*> shapes_;
};

}  // namespace posset::jit
