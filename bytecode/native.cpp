// See native.h.
#include "bytecode/native.h"

#include "bytecode/exits.h"
#include "bytecode/frame_map.h"
#include "bytecode/handlers_call.h"
#include "bytecode/slow.h"
#include "bytecode/vm.h"
#include "interp/value/map.h"

namespace posset::bytecode {

namespace {

// Code that has exited so often is made anew: by then the profile knows more. Quick code is not for long, and at a time
// when much happens for the first time.
constexpr uint32_t kManyExits = 4, kManyQuickExits = 64;
// Making a unit of so many instructions anew takes a second of a processor and more: each time it is to have exited twice as often,
// which by then has told what several exits of the first kind had to say.
constexpr uint32_t kLargeUnit = 400, kMostDoublings = 8;
// Instructions recorded after an exit, beginning with the one that exited.
constexpr int32_t kRecordingAfterExit = 2000;
// As often code may be made anew, for whatever reason, before what it is entered with is taken for what cannot be known.
constexpr uint32_t kEntriesMadeAnew = 2;

Borrowed run_bytecode(Context& context, Chunk& chunk, Closure* closure, Borrowed* registers, const Insn* pc) {
  Value result;
  const Leave how = run(context, &chunk, closure, registers, result, {pc});
  context.native_leave = static_cast<uint8_t>(how);
  return how == Leave::Failed ? Borrowed::failure() : result.take();
}

Borrowed run_code(Context& context, Chunk& chunk, Closure* closure, Borrowed* registers, uint32_t entry) {
  if (NativeEntry code = chunk.native.load(std::memory_order_acquire)) {
    return code(&context, closure, registers, entry);
  }
  const uint32_t at = entry == 0 ? 0 : chunk.loop_heads[entry - 1].pc;
  return run_bytecode(context, chunk, closure, registers, chunk.code.get() + chunk.size + at);
}

// Nothing of the frame has run, or it stands at the head of a loop: it fails there.
Borrowed fail_at(Context& context, Chunk& chunk, Closure* closure, Borrowed* registers, uint32_t entry) {
  context.raise_stack_overflow();
  if (entry == 0 && !chunk.is_loop) {
    drop_arguments(*closure->function, registers);
    context.blame_caller();
    return Borrowed::failure();
  }
  const uint32_t at = entry == 0 ? 0 : chunk.loop_heads[entry - 1].pc;
  Frame frame{chunk.code.get() + chunk.size + at, registers, closure, &chunk};
  if (!unwind(context, frame, registers)) return Borrowed::failure();
  return run_bytecode(context, chunk, closure, registers, frame.pc);
}

}  // namespace

Borrowed enter_native_otherwise(Context& context, Chunk& chunk, Closure* closure, Borrowed* registers, uint32_t entry) {
  if (context.runtime.trace) context.runtime.control.note_native_entry(*closure->function, chunk.loop);
  if (!context.native.low()) [[likely]] return run_code(context, chunk, closure, registers, entry);
  Borrowed result;
  auto body = [&] { result = run_code(context, chunk, closure, registers, entry); };
  if (context.native.on_fresh_segment(body)) return result;
  return fail_at(context, chunk, closure, registers, entry);
}

// ---- helpers ----

namespace {

bool call_closure_here(Context& context, Closure* callee, Borrowed* window, uint32_t count) {
  const interp::Function& function = *callee->function;
  Chunk* chunk = chunk_of(function);
  Borrowed* base = window + 2;
  if (!chunk || count != function.parameter_count || function.has_rest) {
    return call_through_core(context, callee, window, count);
  }
  if (!charge_call(context, base, function, *chunk)) [[unlikely]] {
    drop_arguments(function, base);
    return false;
  }
  const bool native = chunk->entry.load(std::memory_order_acquire) == &kEnterNative;
  const Borrowed value = native ? enter_native(context, *chunk, callee, base, 0)
                                : run_bytecode(context, *chunk, callee, base, nullptr);
  --context.depth;
  if (value.failed()) [[unlikely]] {
    context.leave_failed();
    return false;
  }
  *window = value;
  return true;
}

bool call_with_marks(NativeFrame& frame, Borrowed callee, Borrowed* window, uint32_t count, const Insn* pc) {
  const uint64_t marks = std::bit_cast<uint64_t>(pc[1]);
  if (callee.is(interp::Tag::Fn) && callee.as<Closure>()->function->inout_mask == marks) [[likely]] {
    return call_closure_here(*frame.context, callee.as<Closure>(), window, count);
  }
  return call_in_window(*frame.context, callee, window, count, marks);
}

bool call_link(NativeFrame& frame, Borrowed callee, Borrowed* window, const Insn* pc) {
  if (!callee.is_unset()) [[likely]] return call_with_marks(frame, callee, window, pc->c, pc);
  for (uint32_t n = 0; n < pc->c; ++n) drop(window[2 + n]);
  return undefined_link(*frame.context, frame.closure, pc->b);
}

}  // namespace

bool native_call(NativeFrame* frame, const Insn* pc) try {
  Borrowed* window = frame->registers + pc->a;
  const Borrowed** links = frame->closure->function->links;
  switch (static_cast<Op>(pc->op)) {
    case Op::CallKnown: return call_closure_here(*frame->context, links[pc->b]->as<Closure>(), window, pc->c);
    case Op::CallLink: return call_link(*frame, *links[pc->b], window, pc);
    default: {
      const Borrowed callee = frame->registers[pc->b];
      return charge_round(*frame->context, callee, *pc, window) && call_with_marks(*frame, callee, window, pc->c, pc);
    }
  }
} catch (const std::bad_alloc&) {
  frame->context->raise_no_memory();
  return false;
}

bool native_poll(Context* context) { return context->poll(); }

namespace {

// As its callee would, had it been entered. What is called may be another function by now, unless it is a module's own.
void drop_refused(const NativeFrame& frame, const Insn* call) {
  const bool is_known = static_cast<Op>(call->op) == Op::CallKnown;
  const uint64_t lent = is_known ? frame.closure->function->links[call->b]->as<Closure>()->function->inout_mask
                                 : std::bit_cast<uint64_t>(call[1]);
  for (uint32_t n = 0; n < call->c; ++n) {
    if (n >= 64 || !(lent >> n & 1)) drop(frame.registers[call->a + 2 + n]);
  }
}

// Where the error is handled, or -1: all registers are released. Frames that are inlined have no handlers.
int64_t unwind_frames(const FramesLeft& left, const NativeFrame& outermost) {
  Context& context = *outermost.context;
  context.fuel += left.steps;
  if (left.expected.why() == Expected::Why::Refused) drop_refused(*left.innermost, left.pc);
  const Insn* pc = left.pc;
  for (NativeFrame* frame = left.innermost;; frame = frame->caller) {
    Frame at{pc, frame->registers, frame->closure, frame->chunk};
    const bool is_handled = unwind(context, at, frame->registers);
    if (frame == &outermost) return is_handled ? frame->chunk->index_of(at.pc) : -1;
    context.leave_failed();
    pc = frame->call;
  }
}

}  // namespace

int64_t native_raised(NativeFrame* outermost, const uint32_t* map, uint32_t place, const uint64_t* parts) {
  return unwind_frames(restore_frames(*outermost, map, place, parts), *outermost);
}

void native_retain(uint64_t word0, uint64_t word1) { interp::retain(Borrowed{word0, word1}); }

// The code that calls this cannot go back to where it could say that there is no memory, so the limit is overdrawn, and the
// slice of steps ends there, or is the last one (Context::poll).
uint64_t native_box(Context* context, uint32_t shape, uint32_t kinds, const uint64_t* parts, bool goes_on) {
  interp::Object* made = box_parts(context->heap, shape, kinds, parts);
  if (goes_on && context->heap.is_overdrawn()) context->end_slice();
  return std::bit_cast<uint64_t>(made);
}

void native_release_value(uint64_t word0, uint64_t word1) { interp::release(Borrowed{word0, word1}); }

namespace {

// Whether the instruction did what it was not made for. What it has not been made for yet is no failure of its own; nor
// is what a loop is entered with, which was computed elsewhere, unless code made of what has been seen since does no better.
bool is_to_blame(Expected::Why why, const Chunk& chunk) {
  if (why == Expected::Why::Entry) {
    const int level = chunk.native_level();  // 0: it has been taken back meanwhile
    return level > 1 && chunk.times_remade(level) >= kEntriesMadeAnew;
  }
  return why != Expected::Why::New && why != Expected::Why::Captured;
}

// The instruction is met anew, and its operands recorded.
void note_exit(Chunk& chunk, uint32_t at, Expected::Why why) {
  std::atomic<uint64_t>& seen = chunk.profile[at];
  const bool has_run = seen.load(std::memory_order_relaxed) & Seen::kRan;
  if (has_run && is_to_blame(why, chunk)) seen.fetch_or(Seen::kExited, std::memory_order_relaxed);
  chunk.recording_budget.store(kRecordingAfterExit, std::memory_order_relaxed);
}

void trace_exit(const NativeFrame& frame, const NativeFrame& outermost, uint32_t at, uint32_t depth, Expected expected) {
  if (!frame.context->runtime.trace) return;
  frame.context->runtime.control.note_side_exit(*outermost.closure->function, outermost.chunk->loop, outermost.chunk->native_level(),
                                                tell_exit(frame, at, depth, expected));
}

// What the callee does with what it has captured has to be seen anew.
void record_callee(const NativeFrame& frame, uint32_t at) {
  const interp::Closure* callee = callee_at(frame, at);
  auto* chunk = callee ? static_cast<Chunk*>(callee->function->direct_code.load(std::memory_order_acquire)) : nullptr;
  if (chunk) chunk->recording_budget.store(kRecordingAfterExit, std::memory_order_relaxed);
}

// `frame` is the one the code was made for.
void count_exit(NativeFrame& frame, uint32_t weight) {
  Chunk& chunk = *frame.chunk;
  const int level = chunk.native_level();
  const uint32_t doublings = chunk.size < kLargeUnit ? 0 : std::min(chunk.times_remade(level), kMostDoublings);
  const uint32_t many = (level == interp::kOptimisingTier ? kManyExits : kManyQuickExits) << doublings;
  if (chunk.exits.fetch_add(weight, std::memory_order_relaxed) + weight < many) return;
  chunk.exits.store(0, std::memory_order_relaxed);
  frame.context->runtime.control.make_anew(*frame.closure->function, chunk.loop, level, chunk.remade(level));
}

Borrowed finish_in_bytecode(NativeFrame& frame, const Resume& from) {
  Value result;
  const Leave how = run(*frame.context, frame.chunk, frame.closure, frame.registers, result, from);
  frame.context->native_leave = static_cast<uint8_t>(how);
  return how == Leave::Failed ? Borrowed::failure() : result.take();
}

// As the machine would have left the frames around an inlined one.
void save_frames(const NativeFrame* frame, uint32_t depth) {
  for (; depth > 0; --depth) {
    const NativeFrame& caller = *frame->caller;
    const Insn* after = frame->call + length_of(static_cast<Op>(frame->call->op));
    reinterpret_cast<SavedFrame*>(frame->registers)[-1] = {after, caller.registers, caller.closure, caller.chunk};
    frame = frame->caller;
  }
}

// The code `self` has been left.
Borrowed go_on_in_bytecode(const FramesLeft& left, NativeFrame& outermost, NativeEntry self) {
  NativeFrame& frame = *left.innermost;
  Context& context = *frame.context;
  save_frames(&frame, left.depth);
  context.fuel += left.steps;  // before the slice ends
  const uint32_t at = frame.chunk->index_of(left.pc);
  if (context.heap.is_overdrawn()) context.end_slice();  // by what has just been boxed, perhaps
  if (!context.take_forced_exit()) {
    const Expected::Why why = left.expected.why();
    const bool is_new = why == Expected::Why::New;
    if (why == Expected::Why::Captured) record_callee(frame, at);
    trace_exit(frame, outermost, at, left.depth, left.expected);
    const bool is_fault = left.expected.is_fault();
    if (is_fault) note_exit(*frame.chunk, at, why);
    // What was new is known after a look or two; whether what has failed will do so again, is not. Code that has been
    // replaced may have many activations left, all of which exit: that says nothing of the code that is there now.
    const bool is_current = outermost.chunk->native.load(std::memory_order_acquire) == self;
    if (is_fault && is_current) count_exit(outermost, is_new ? kManyExits / 2 : 1);
  }
  context.depth += left.depth;
  return finish_in_bytecode(frame, {frame.chunk->code.get() + at, frame.place, frame.shared_cell != 0, outermost.registers});
}

}  // namespace

Borrowed native_exit(NativeFrame* outermost, const uint32_t* map, uint32_t place, const uint64_t* parts, NativeEntry self) {
  const FramesLeft left = restore_frames(*outermost, map, place, parts);
  if (!left.expected.is_error()) return go_on_in_bytecode(left, *outermost, self);
  unwind_frames(left, *outermost);
  return Borrowed::failure();
}

Borrowed native_refuse(NativeFrame* frame, const Insn* pc, uint32_t expected, NativeEntry self) {
  return go_on_in_bytecode({frame, pc, 0, 0, {expected}}, *frame, self);
}

Borrowed native_decline(NativeFrame* frame, const Insn* pc) { return finish_in_bytecode(*frame, {pc}); }

Borrowed native_newer(NativeFrame* frame, NativeEntry self, const Insn* head) {
  Chunk& chunk = *frame->chunk;
  ask_again(*frame->context, *frame->closure->function, chunk, head);
  NativeEntry code = chunk.native.load(std::memory_order_acquire);
  if (!code || code == self) return Borrowed::unset();
  const uint32_t entry = native_entry_at(chunk, head);
  if (entry == 0) return Borrowed::unset();
  interp::RuntimeState& runtime = frame->context->runtime;
  if (runtime.trace) runtime.control.note_native_entry(*frame->closure->function, chunk.loop);
  return code(frame->context, frame->closure, frame->registers, entry);
}

uint8_t native_left_part(Context* context, interp::ForkRecord* record, const Borrowed* frame, uint32_t point) {
  return static_cast<uint8_t>(interp::left_part(*context, *record, frame, point));
}

void native_fork_less(Context* context, const interp::Activation* activation, int64_t room) {
  context->fork_depth.use_up(static_cast<uint32_t>(activation->top - room));
}

const Borrowed* native_map_item(const interp::Map* map, uint64_t word0, uint64_t word1) {
  const Borrowed key{word0, word1};
  return interp::same_words_only(map, key) ? interp::map_find(map, key) : nullptr;
}

int32_t native_map_has(const interp::Map* map, uint64_t word0, uint64_t word1) {
  const Borrowed key{word0, word1};
  return interp::same_words_only(map, key) ? interp::map_find(map, key) != nullptr : -1;
}

void native_left(Context* context) { context->leave_failed(); }

void native_left_itself(Context* context, int64_t left) {
  if (left == kCalleeLeft) context->leave_failed();
}

const std::vector<interp::Helper>& helpers() {
  // Never destroyed: when the process ends a runtime that is left may still compile.
  static const auto& all = *new std::vector<interp::Helper>([] {
    std::vector<interp::Helper> rows;
#define HELPER(name, result, parameters, meaning) rows.push_back({#name, reinterpret_cast<const void*>(&native_##name)});
#include "bytecode/helpers.def"
#undef HELPER
#define OP(Name, a, b, c, flags, meaning) \
  if (kExec[static_cast<size_t>(Op::Name)]) {                                                   \
    rows.push_back({"exec_" #Name, reinterpret_cast<const void*>(kExec[static_cast<size_t>(Op::Name)])}); \
  }
#include "bytecode/opcodes.def"
#undef OP
    return rows;
  }());
  return all;
}

}  // namespace posset::bytecode
