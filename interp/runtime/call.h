// Calling. `call_closure` is the general entry every tier and every built-in uses: it checks the argument
// count, fills in absent arguments (Unset; defaults are evaluated by the callee) and the rest list, charges
// one step and one level of depth, chooses the highest ready tier and runs it.
#pragma once

#include "interp/runtime/context.h"
#include "interp/runtime/native.h"

namespace posset::interp {

// `base[0..count)` are the arguments, owned, at the top of the register stack (base + count <= stack_top or
// base == stack_top before pushing); they are consumed, except that lent ones (marked with &, or by the
// callee's mask) stay in base[i] for the caller to write back, however the call ends. `inout_marks`: which
// arguments were marked; must equal the callee's mask (kAnyMarks: not checked, for calls by built-ins).
constexpr uint64_t kAnyMarks = ~uint64_t{0};
Value call_value(Context& context, Borrowed callee, Borrowed* base, uint32_t count, uint64_t inout_marks);
Value call_closure(Context& context, Closure* closure, Borrowed* base, uint32_t count);
// For functions that the runtime has made for itself: the call is no level of nesting. With an argument for each parameter.
Value call_unnested(Context& context, Closure* closure, Borrowed* base);
Value call_native(Context& context, const NativeFunction* function, Borrowed* base, uint32_t count,
                  Borrowed self = Borrowed::nil());
// The arguments in a list, none of them marked.
Value call_with_list(Context& context, Borrowed callee, Value arguments);

// What `spawn` does where it stands, a call in a function: callee(..arguments), a list, as a task. Gives the handle, or nil
// when it is `held` by nobody.
struct Spawn {
  const Function& function;
  uint32_t site;  // of the call
  bool held;
};
Value spawn_task(Context& context, Value callee, Value arguments, const Spawn& spawn);
// What the task gives, when it has ended.
Value await_task(Context& context, Borrowed task);

// The inout mask of anything callable (0 when it is not).
uint64_t inout_mask_of(Borrowed callee);
// Whether a call of it is known to be pure: by the compiler's proof, or by that of what it has captured.
bool is_pure_function(Borrowed callee);
std::string signature_of(Borrowed callee);   // "area(w, h)"
// "area(w, h) takes 2 arguments, got 1"
Value raise_argument_count(Context& context, Borrowed callee, uint32_t got);

// For built-ins that call a function for every element: `call(a)`, `call(a, b)`.
class Callback {
 public:
  Callback(Context& context, Borrowed callee) : context_(context), callee_(callee) {}
  Value operator()(Value a);
  Value operator()(Value a, Value b);
  // A call that must give a bool: -1 failed.
  int test(Value a, const char* who);

 private:
  // With the arguments at the top of the register stack.
  Value call(Borrowed* base, uint32_t count);

  Context& context_;
  Borrowed callee_;
};

// A closure of `function` whose captured values are still to be set. Null: raised.
Closure* new_closure(Context& context, const Function* function, uint32_t count);
// Makes a closure of `function` with `captured` values (taken).
Value make_closure(Context& context, const Function* function, Borrowed* captured, uint32_t count);

}  // namespace posset::interp
