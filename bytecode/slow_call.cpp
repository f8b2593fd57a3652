// Calls that leave the machine, checks, described errors, general iteration. See slow.h.
#include <algorithm>

#include "bytecode/slow.h"
#include "interp/runtime/call.h"
#include "interp/runtime/iterate.h"
#include "interp/runtime/messages.h"
#include "interp/runtime/ops.h"
#include "interp/runtime/work.h"
#include "interp/value/list.h"
#include "interp/value/print.h"

namespace posset::bytecode {

bool call_in_window(Context& context, Borrowed callee, Borrowed* window, uint32_t count, uint64_t marks) {
  context.stack_top = window + 2 + count;
  Value result = interp::call_value(context, callee, window + 2, count, marks);
  if (result.failed()) return false;
  window[0] = result.take();
  return true;
}

namespace {

// If the function has bytecode by now, calls go there directly.
void note_code(const interp::Function& function) {
  if (function.direct_code.load(std::memory_order_relaxed)) return;
  // A trace wants the first entry, and calls of known code pass by where it is noted.
  if (function.unit->body.entry_job[1].load(std::memory_order_relaxed) != 0) return;
  const std::atomic<void*>& published = function.unit->body.code[1];
  void* code = published.load(std::memory_order_acquire);
  if (!code) return;
  function.direct_code.store(code, std::memory_order_seq_cst);
  // Evicted meanwhile: then perhaps after the eviction had cleared this copy.
  if (published.load(std::memory_order_seq_cst) != code) function.direct_code.store(nullptr, std::memory_order_seq_cst);
}

}  // namespace

bool call_through_core(Context& context, Closure* callee, Borrowed* window, uint32_t count) {
  const interp::Function& function = *callee->function;
  const bool ok = call_in_window(context, Borrowed::heap(interp::Tag::Fn, callee), window, count, function.inout_mask);
  note_code(function);
  return ok;
}

void drop_arguments(const interp::Function& function, Borrowed* arguments) {
  for (uint32_t n = 0; n < function.parameter_count; ++n) {
    if (n >= 64 || !(function.inout_mask >> n & 1)) drop(arguments[n]);
  }
}

// Once in a slice of steps; why so many: docs/decisions/002-recording-half.md.
constexpr int32_t kRecordingAgain = 250;

void count_call(Context& context, const interp::Function& function) {
  context.runtime.control.count_and_promote(context, function, function.unit->body, -1);
}

// Code that records is counted and asks by its count; whoever was refused and has stopped recording is found here, the
// oftener the hotter it is.
void ask_again(Context& context, const interp::Function& function, const Chunk& chunk, const Insn* head) {
  const uint32_t entry = chunk.entry_at(head);
  if (entry != 0) context.runtime.control.ask_again(function, chunk.loop_heads[entry - 1].loop, chunk.loop);
}

const Insn* record_again(Context& context, const interp::Function& function, Chunk& chunk, const Insn* head) {
  const bool records = head < chunk.code.get() + chunk.size;
  if (records || !context.runtime.control.awaits_native(function.unit->counted(chunk.loop))) return head;
  chunk.recording_budget.store(kRecordingBriefly + kRecordingAgain, std::memory_order_relaxed);
  return chunk.code.get() + chunk.index_of(head);
}

void note_call_place(Context& context, const Chunk& chunk, const Closure* closure, const Insn* pc) {
  context.call_place = {closure->function->decl, chunk.site_of(chunk.index_of(pc), false)};
}

bool end_slice_in_call(Context& context, const interp::Function& function) {
  if (!context.poll()) return false;
  context.runtime.control.ask_again(function, -1, -1);
  if (void* code = function.direct_code.load(std::memory_order_acquire)) {
    auto& chunk = *static_cast<Chunk*>(code);
    const Insn* plain = chunk.code.get() + chunk.size;
    if (chunk.entry.load(std::memory_order_relaxed) != plain) return true;  // it is recording, or has native code
    const Insn* entry = record_again(context, function, chunk, plain);
    chunk.entry.compare_exchange_strong(plain, entry, std::memory_order_relaxed);
  }
  return true;
}

uint32_t native_entry_at(const Chunk& chunk, const Insn* head) {
  const uint32_t entry = chunk.entry_at(head);
  const uint64_t heads = chunk.native_heads.load(std::memory_order_relaxed);
  return entry != 0 && entry <= 64 && (heads >> (entry - 1) & 1) ? entry : 0;
}

void count_round(Context& context, const interp::Function& function, const Chunk& chunk, uint32_t pc) {
  const uint32_t entry = chunk.entry_at(chunk.code.get() + chunk.target_at(pc));
  if (entry != 0) context.runtime.control.count_round(function, chunk.loop_heads[entry - 1].loop, chunk.loop);
}

namespace {

bool answer(Value result, Borrowed* dst) {
  if (result.failed()) return false;
  *dst = result.take();
  return true;
}

}  // namespace

bool call_with_list(Context& context, Borrowed* dst, Borrowed callee, Borrowed* list) {
  return answer(interp::call_with_list(context, callee, move_out(*list)), dst);
}

bool spawn_with_list(Context& context, Borrowed* dst, Borrowed callee, Borrowed* list, const interp::Spawn& spawn) {
  return answer(interp::spawn_task(context, Value::copy(callee), move_out(*list), spawn), dst);
}

bool await_task(Context& context, Borrowed* dst, Borrowed task) {
  return answer(interp::await_task(context, task), dst);
}

// As a call would arrange its arguments.
bool spread_parameters(Context& context, Closure* running, Borrowed* first, Borrowed* list) {
  const interp::Function& function = *running->function;
  Value arguments = move_out(*list);
  auto* items = arguments->as<interp::List>();
  if (items->size < function.required || (!function.has_rest && items->size > function.parameter_count)) {
    interp::raise_argument_count(context, Borrowed::heap(interp::Tag::Fn, running), static_cast<uint32_t>(items->size));
    return false;
  }
  uint64_t fixed = function.parameter_count - (function.has_rest ? 1 : 0);
  uint64_t given = std::min(fixed, items->size);
  Value rest;
  if (function.has_rest) rest = interp::list_slice(context.heap, items, given, items->size);
  if (!interp::or_memory_limit(context, !rest.failed())) return false;
  for (uint64_t i = 0; i < fixed; ++i) first[i] = i < given ? interp::list_copy(items, i).take() : Borrowed::unset();
  if (function.has_rest) first[fixed] = rest.take();
  return true;
}

bool undefined_link(Context& context, const Closure* closure, uint32_t link) {
  std::string name(closure->function->decl->links[link].name);
  context.raise(interp::ErrorCode::UsedBeforeDefinition, "'" + name + "' is used before its definition",
                "the let that defines it has not run yet");
  return false;
}

bool check_type(Context& context, const Closure* closure, const syntax::TypeExpr& type, Borrowed v, Annotated what, uint32_t which) {
  const interp::Function& function = *closure->function;
  if (interp::fits_type(function, type, v)) return true;
  switch (what) {
    case Annotated::Parameter:
      interp::raise_argument_type(context, *function.decl, which, type, v);
      context.blame_caller();
      break;
    case Annotated::Argument: interp::raise_argument_type(context, *function.decl, which, type, v); break;
    case Annotated::Result: interp::raise_result_type(context, *function.decl, type, v); break;
    case Annotated::Variable: interp::raise_variable_type(context, *function.decl, which, type, v); break;
  }
  return false;
}

bool raise_described(Context& context, const RaiseInfo& info, Borrowed about) {
  std::string message = info.message;
  size_t at = message.find('%');
  if (at != std::string::npos) message.replace(at, 1, interp::brief(about));
  context.raise(info.code, std::move(message), info.hint);
  return false;
}

int slow_answer(Context& context, const Closure* closure, uint32_t link, Borrowed answer) {
  const std::string name(closure->function->decl->links[link].name);
  return interp::expect_bool(context, answer, ("the result of " + name + "'s function").c_str());
}

bool new_list_for(Context& context, Borrowed* dst, const Borrowed* hidden) {
  // As the built-ins do. Numbers are expected; an element of another kind finds room for half as many.
  interp::List* list = interp::new_list_expecting(context, interp::Packing::Int, interp::items_expected(hidden));
  if (!list) return interp::or_memory_limit(context, false);
  *dst = Borrowed::heap(interp::Tag::List, list);
  return true;
}

bool not_counted_next(Context& context, Borrowed* hidden, Borrowed* item, bool& more) {
  Value next;
  interp::Step step = interp::next_item(context, hidden, next);
  more = step == interp::Step::Item;
  if (step == interp::Step::Failed) return false;
  if (more) *item = next.take();
  return true;
}

}  // namespace posset::bytecode
