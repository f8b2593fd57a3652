// Variables that need not own what they name: a `let` of what the function refers to outside of itself, a captured value or a
// let of its module, of an item of that, or of a literal that is made once, where the variable is only ever looked into
// (`at[k]`, `len(at)`, `k in at`). Nobody can change that value or let it go while the function runs: what is captured is a
// closure's own, and neither a let of a module nor such a literal is ever assigned. So the variable is a view, whose reference nobody counts: executors that run the function at the same time would
// wait for each other to count one object, and it costs more than many a look.
//
// A view is in a register of its own, above the slots. The variable's slot is nil, or owns the value where it was made
// by the look itself (a slice, what an object of the host gives): Op::ViewIndex with kHolds.
#pragma once

#include <cstdint>
#include <set>

#include "interp/syntax/ast.h"

namespace posset::bytecode {

// Their slots, of the lets within `part`: the body of the function, or one of its loops.
std::set<uint32_t> find_views(const syntax::FunctionDecl& function, syntax::Node* part);

}  // namespace posset::bytecode
