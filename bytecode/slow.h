// The out-of-line halves of the instruction handlers: everything that is not a guarded fast path. They
// call the operator semantics of interp/runtime and keep the ownership rules of chunk.h: on failure every
// operand register is either as it was or nil.
#pragma once

#include "bytecode/chunk.h"
#include "interp/runtime/context.h"
#include "interp/syntax/ast.h"

namespace posset::interp {
struct Spawn;
}

namespace posset::bytecode {

using interp::Closure;
using interp::Context;
using interp::Value;

inline void drop(Borrowed& reg) { interp::release(std::exchange(reg, Borrowed::nil())); }
inline Value move_out(Borrowed& reg) { return Value::adopt(std::exchange(reg, Borrowed::nil())); }
// The value of an operand: taken out of its register or copied.
inline Value operand_value(Borrowed& reg, bool consume) { return consume ? move_out(reg) : Value::copy(reg); }
// What an instruction consumes of its operands, by the flags in x.
inline void drop_consumed(Borrowed* b, Borrowed* c, uint8_t x) {
  if (x & kConsumeB) drop(*b);
  if (x & kConsumeC) drop(*c);
}

// slow_arith.cpp. False or -1: raised.
bool slow_binary(Context& context, syntax::BinaryOp op, Borrowed* dst, Borrowed* left, Borrowed* right, uint8_t x);
bool slow_unary(Context& context, syntax::UnaryOp op, Borrowed* dst, Borrowed* operand, uint8_t x);
int slow_compare(Context& context, syntax::BinaryOp op, Borrowed* left, Borrowed* right, uint8_t x);
int slow_contains(Context& context, Borrowed* left, Borrowed* right, uint8_t x);
int slow_condition(Context& context, Borrowed* reg, uint8_t x);

// slow_data.cpp
bool slow_index(Context& context, Borrowed* dst, Borrowed* base, Borrowed* index, uint8_t x);
bool slow_view_index(Context& context, Borrowed* dst, Borrowed* base, Borrowed* index, Borrowed* holds);
bool slow_index_or(Context& context, Borrowed* dst, Borrowed* base, Borrowed* index, uint8_t x);
bool slow_field(Context& context, Borrowed* dst, Borrowed* base, FieldCache& cache, uint8_t x);
bool slow_view_field(Context& context, Borrowed* dst, Borrowed* base, FieldCache& cache);
bool slow_slice(Context& context, Borrowed* dst, Borrowed* base, Borrowed* bounds, uint8_t x);
bool slow_len(Context& context, Borrowed* dst, Borrowed* operand, uint8_t x);
bool slow_code_at(Context& context, Borrowed* dst, Borrowed* text, Borrowed* index, uint8_t x);
bool slow_has(Context& context, Borrowed* dst, Borrowed* map, Borrowed* key, uint8_t x);
bool slow_set_index(Context& context, Borrowed* container, Borrowed* index, Borrowed* value, bool consume);
bool slow_set_field(Context& context, Borrowed* container, FieldCache& cache, Borrowed* value, bool consume);
bool slow_push(Context& context, Borrowed* place, Borrowed* value, bool consume);
bool slow_pop(Context& context, Borrowed* dst, Borrowed* place);
bool slow_swap(Context& context, Borrowed* place, Borrowed i, Borrowed j);
bool make_list(Context& context, Borrowed* dst, Borrowed* first, uint32_t count);
bool append_item(Context& context, Borrowed* list, Borrowed* value, uint8_t x);
bool append_spread_items(Context& context, Borrowed* list, Borrowed* value, uint8_t x);
bool new_list(Context& context, Borrowed* dst, uint32_t capacity);
bool new_map(Context& context, Borrowed* dst, uint32_t capacity);
bool map_put(Context& context, Borrowed* map, Borrowed* key, Borrowed* value, uint8_t x);
bool make_record(Context& context, Borrowed* dst, Borrowed* first, const interp::Shape* shape);
bool build_record(Context& context, Borrowed* dst, Borrowed* first, const FieldNames& names);
bool make_variant(Context& context, Borrowed* dst, Borrowed* first, uint32_t count, Borrowed constructor);
bool make_range(Context& context, Borrowed* dst, Borrowed* first, Borrowed* last, uint8_t x);
bool interpolate(Context& context, Borrowed* dst, Borrowed* first, const std::vector<Piece>& pieces,
                 const interp::Function& function);
bool make_closure(Context& context, Borrowed* dst, Closure* running, uint32_t child, Borrowed* registers);
bool rest_list(Context& context, Borrowed* dst, Borrowed list, uint32_t skip, uint32_t drop_last);
bool rest_record(Context& context, Borrowed* dst, Borrowed record, const FieldNames& names);
bool fits_constructor(const Closure* running, Borrowed value, Borrowed constructor);
Borrowed item_of(Borrowed container, uint32_t at, bool from_end);
bool test_field(Context& context, Borrowed* dst, Borrowed base, FieldCache& cache);

// slow_place.cpp
bool place_ref(Context& context, Borrowed& reg, bool host, Borrowed*& place);
Borrowed* place_find(Context& context, Borrowed* container, Borrowed index, bool& failed);
bool update_index(Context& context, Borrowed* container, Borrowed index, syntax::BinaryOp op, Borrowed* old,
                  bool old_is_default, Borrowed* right, bool consume);
bool update_field(Context& context, Borrowed* container, FieldCache& cache, syntax::BinaryOp op, Borrowed* old,
                  Borrowed* right, bool consume);
bool update_cell(Context& context, Borrowed* cell, syntax::BinaryOp op, Borrowed* old, Borrowed* right, bool consume);

// slow_call.cpp
bool call_in_window(Context& context, Borrowed callee, Borrowed* window, uint32_t count, uint64_t marks);
// A call by the general path. If the callee has bytecode by then, further calls go there directly.
bool call_through_core(Context& context, Closure* callee, Borrowed* window, uint32_t count);
void drop_arguments(const interp::Function& function, Borrowed* arguments);
// An execution of bytecode that is still recording: executions are counted as long, to promote it.
void count_call(Context& context, const interp::Function& function);
// The slice of steps ends at a loop head of the chunk: its code of a higher tier is asked for again if it was refused.
void ask_again(Context& context, const interp::Function& function, const Chunk& chunk, const Insn* head);
// Where code goes on at the end of a slice of steps that has no native code yet: it records a little more, so that what
// its first rounds did not meet is known when native code is made.
const Insn* record_again(Context& context, const interp::Function& function, Chunk& chunk, const Insn* head);
// Where the built-in stands that is going to be called.
void note_call_place(Context& context, const Chunk& chunk, const Closure* closure, const Insn* pc);
// The slice of steps ends in a call of the function: the same for its body. False: a limit was hit.
bool end_slice_in_call(Context& context, const interp::Function& function);
// How native code of the chunk is entered at this loop head; 0: not here.
uint32_t native_entry_at(const Chunk& chunk, const Insn* head);
// One round of a loop in bytecode that is recording, by the instruction that jumps back.
void count_round(Context& context, const interp::Function& function, const Chunk& chunk, uint32_t pc);
bool call_with_list(Context& context, Borrowed* dst, Borrowed callee, Borrowed* list);
bool spawn_with_list(Context& context, Borrowed* dst, Borrowed callee, Borrowed* list, const interp::Spawn& spawn);
bool await_task(Context& context, Borrowed* dst, Borrowed task);
bool spread_parameters(Context& context, Closure* running, Borrowed* first, Borrowed* list);
void remember_field(Context& context, Borrowed base, FieldCache& cache);
bool undefined_link(Context& context, const Closure* closure, uint32_t link);
// What an annotation is of. `which`: the slot of a parameter, also where the function calls itself in tail position (Argument); the
// site of a variable.
enum class Annotated : uint8_t { Parameter, Argument, Result, Variable };
bool check_type(Context& context, const Closure* closure, const syntax::TypeExpr& type, Borrowed v, Annotated what, uint32_t which);
bool raise_described(Context& context, const RaiseInfo& info, Borrowed about);
// Whether a built-in that calls `function` for what `over` gives (or as often as it says) can be a loop.
// The answer of a function that a built-in has called is no bool: raises. Gives -1.
int slow_answer(Context& context, const Closure* closure, uint32_t link, Borrowed answer);
// An empty list with room for what an iteration has left.
bool new_list_for(Context& context, Borrowed* dst, const Borrowed* hidden);
bool not_counted_next(Context& context, Borrowed* hidden, Borrowed* item, bool& more);

}  // namespace posset::bytecode
