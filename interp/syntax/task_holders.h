// Which locals of a function may hold the handle of a task. A task ends with its last handle, so these keep what they have
// as long as they are in scope: a value that is moved out of its variable at its last use is nobody's afterwards.
#pragma once

#include "interp/syntax/ast.h"
#include "interp/syntax/slot_set.h"

namespace posset::syntax {

// Adds the slots that are bound to, or stored from, an expression in which something is spawned: by itself, in a function
// that it makes, or by a function of a module that it calls.
void add_task_holders(const FunctionDecl& function, SlotSet& to);

}  // namespace posset::syntax
