// What code kept in another process must find unchanged, as bytes to take a digest of.
#pragma once

#include <string>

#include "bytecode/chunk.h"

namespace posset::jit {

// Of a chunk: all that its translation reads besides the profile. Ids and addresses are in it by what they
// mean, source positions and names of variables not at all.
std::string fingerprint(const bytecode::Chunk& chunk);

// Of whoever makes code: this build of the native compiler, which knows the layout of the core's objects and the
// table of instructions, LLVM's version, and the processor with its features. Empty when the build cannot be
// told from others; nothing is kept then.
const std::string& maker();

}  // namespace posset::jit
