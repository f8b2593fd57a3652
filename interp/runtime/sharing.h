// Values that several executors are about to read: all that is reached from them is marked shared, so that it is counted
// atomically and never changed in place. A function reaches what it refers to in its module.
//
// Some things cannot be read by others: refs and what else changes while somebody looks (tasks, channels, objects of the
// host whose types are not pure), errors, which note how they were thrown, functions of the host that are not pure, and what is not defined yet.
// Where one is found nothing is marked.
//
// To mark hundreds of thousands of objects takes long, and so does it to take that back. Where the evaluation is to stop in the middle, some are left
// marked that hold others which are not. That is as right as before on one thread, and what the context holds is never shared
// again (Context::holds_half_shared).
#pragma once

#include <unordered_set>

#include "interp/runtime/context.h"
#include "interp/value/small_stack.h"

namespace posset::interp {

class Sharing {
 public:
  // By the thread of `context`, which may help `root`.
  Sharing(Context& context, const Context& root) : context_(context), root_(root), patience_(context.heap) {}
  ~Sharing() { undo(); }
  Sharing(const Sharing&) = delete;
  Sharing& operator=(const Sharing&) = delete;

  // False: it cannot be shared, and what was marked no longer is; or the evaluation is to stop, see above.
  bool add(Borrowed v);
  // All that a part of the closure's function refers to outside of its slots.
  bool add_part(Closure* closure, syntax::Node* part);
  // What is marked stays so.
  void keep() { marked_.clear(); }

 private:
  void undo();
  bool mark_all();
  bool mark_part(Closure& closure, syntax::Node* node);
  bool mark_child(Closure& closure, uint32_t child);
  bool mark_named(Closure& closure, const syntax::Binding& binding);
  bool mark(Borrowed v);
  bool mark_function(const Function& function);
  bool mark_link(const Function& function, size_t number);
  bool mark_module(const ModuleInstance& instance);

  Context& context_;
  const Context& root_;
  WishPatience patience_;
  SmallStack<Object*, 32> marked_;
  SmallStack<Object*, 32> open_;  // marked, what they hold is not
  std::unordered_set<const void*> seen_;  // functions and modules
};

}  // namespace posset::interp
