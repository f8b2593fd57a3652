// What is kept of a unit's code between runs, as bytes: its object file, how it is entered, and what its symbols mean
// (bindings.h) in terms that hold in every process: parts by the structural hash of their function and a digest of
// their bytecode, shapes by the names of their fields or by type and constructor.
//
// Equal structural hashes say that two functions mean the same; that their bytecode is the same too, which the
// code relies on instruction by instruction, is confirmed by the digest (fingerprint.h) when code is taken.
//
// Numbers are as the machine has them: the code is for this kind of machine only. Reading looks at every length
// first; damage that the file's checksum has not caught gives nothing, never a wrong access.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/runtime/code_cache.h"
#include "interp/syntax/ast.h"

namespace posset::jit {

struct Entry {
  struct Part {
    syntax::StructuralHash function;
    interp::Digest bytecode;
    std::string_view profile;  // kept_profile.h; empty: the code was not made from it
  };
  // A record's fields, or those of a constructor: with the key of its type, and its place there.
  struct ShapeName {
    std::vector<std::string_view> fields;
    std::string_view type;  // empty: a record
    uint32_t ordinal = 0;
  };
  std::vector<Part> parts;
  std::vector<uint32_t> inlined;  // those of the parts whose code going away takes this along
  std::vector<ShapeName> shapes;
  std::string_view symbol;        // of the function to enter
  std::string_view numbers;       // of the one that takes numbers; empty: there is none
  std::string_view plain;         // of the one that only computes, likewise
  uint8_t formula = 0;            // not 0: that one gives nothing but floats
  std::string_view columns;       // of the one that does rows of columns, likewise
  struct Direct {
    std::string_view symbol;
    uint64_t kinds = 0;
    uint32_t registers = 0, depth = 0;
  };
  std::vector<Direct> direct;     // by version, see interp::NativeDirect
  uint64_t heads = 0;
  std::string_view object;
};

std::string write_entry(const Entry& entry);
// Refers to the bytes. Nothing: they are no entry.
std::optional<Entry> read_entry(std::string_view bytes);

}  // namespace posset::jit
