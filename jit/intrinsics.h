// Built-in functions on numbers that native code does in place (interp/runtime/intrinsics.def names them), when the
// kinds of all arguments are known, or calls directly. Everything else about a built-in stays with the function itself.
#pragma once

#include <optional>

#include "bytecode/chunk.h"
#include "interp/runtime/native.h"
#include "jit/kinds.h"

namespace posset::jit {

// Of a call of a built-in function, or of a value that has always been one (`seen`); None: it is none of them.
interp::Intrinsic intrinsic_called(const bytecode::Chunk& chunk, uint32_t pc, bytecode::Seen seen);

// What it gives for arguments of one kind; nothing: not done in place.
std::optional<Kind> intrinsic_result(interp::Intrinsic which, Kind argument, uint32_t count);

// Whether that, with so many arguments, may be called with floats alone.
bool is_of_floats(interp::Intrinsic which, uint32_t count);

}  // namespace posset::jit
