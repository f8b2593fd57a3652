// The profile that code was made from, kept with it. When the code turns out not to fit what another
// process runs, it is made anew from what both have seen: otherwise two programs that use one function differently
// would each make the code anew that the other has kept.
#pragma once

#include <string>
#include <string_view>

#include "bytecode/chunk.h"
#include "jit/bindings.h"

namespace posset::jit {

// Of a chunk, with callees by the part they are.
std::string kept_profile(const bytecode::Chunk& chunk, const Bindings& bindings);
// Adds one that was kept to what has been seen here; of another length it is none of this chunk's.
void add_profile(const bytecode::Chunk& chunk, std::string_view kept, const Bindings& bindings);

}  // namespace posset::jit
