// See fixpoint_sweep.h.
#include "interp/runtime/fixpoint_sweep.h"

#include <algorithm>
#include <string>
#include <utility>

#include "interp/runtime/call.h"
#include "interp/runtime/error.h"
#include "interp/runtime/program.h"
#include "interp/value/list.h"

namespace posset::interp {

namespace {

// NaN and infinity are what differs from itself by something else than 0; what is no number raises. `* 1.0` makes floats of
// ints and leaves those, and their signs, alone. Parameters that are lent are whole: whoever writes to `out` has the vector
// behind its first `shift` elements (live_list.h). Nothing begins below 0 or has fewer elements: the operator's number
// there keeps the code apart from that of other operators. The functions are in the order of FixpointSweep::Loop.
constexpr std::string_view kLoops = R"(
fn look(f, x, begin, end) {
  if begin < -UNIT or x[begin] == nil { return nil }
  [for i in begin..end => f(i, x) * 1.0]
}
fn write(f, x, inout out, shift, begin, end) {
  if begin < -UNIT or x[begin] == nil { return nil }
  for i in begin..end {
    let value = f(i, x)
    if value - value != 0.0 { return nil }
    out[shift + i] = value * 1.0
  }
  true
}
fn write_at(f, x, inout out, shift, at) {
  if len(at) < -UNIT or x[at[0]] == nil { return nil }
  for i in at {
    let value = f(i, x)
    if value - value != 0.0 { return nil }
    out[shift + i] = value * 1.0
  }
  true
}
)";

std::string source_for(uint32_t unit) {
  std::string source(kLoops);
  constexpr std::string_view kUnit = "UNIT";
  for (size_t at; (at = source.find(kUnit)) != std::string::npos;) source.replace(at, kUnit.size(), std::to_string(unit));
  return source;
}

// Steps of a run besides those of the operator's calls: the loop's own function, and a round for each coordinate.
int64_t own_steps(uint64_t count) { return 1 + static_cast<int64_t>(count); }

// The loop is nobody's to see: an error that came up in it came up where the solve is.
void hide_loop(ErrorData& error, const syntax::Module* loop) {
  error.trace.remove(loop);
  if (error.located && error.place.function->module == loop) error.located = false;
}

Borrowed integer(uint64_t n) { return Borrowed::integer(static_cast<int64_t>(n)); }

}  // namespace

FixpointSweep::~FixpointSweep() {
  if (!module_) return;
  const auto before = std::exchange(context_.operator_loops, {unit(), module_});
  if (before.module) forget_module(context_, before.module);
}

uint32_t FixpointSweep::unit() const { return f_.as<Closure>()->function->unit->number; }

bool FixpointSweep::take_kept() {
  if (!context_.operator_loops.module || context_.operator_loops.unit != unit()) return false;
  module_ = std::exchange(context_.operator_loops, {}).module;
  return true;
}

bool FixpointSweep::can_call(const Context& context, Borrowed f) {
  if (context.helps || !f.is(Tag::Fn)) return false;
  const Function& function = *f.as<Closure>()->function;
  return function.parameter_count == 2 && !function.has_rest && function.inout_mask == 0;
}

bool FixpointSweep::make() {
  if (take_kept()) return true;
  syntax::Diagnostics found;
  auto source = make_source(context_, "fixpoint.solve", source_for(unit()));
  auto tree = source ? load_program(context_, std::move(source), {}, found, false) : nullptr;
  if (tree) module_ = instantiate(context_, tree);
  if (context_.error_pending()) context_.take_error();
  return module_ != nullptr;
}

bool FixpointSweep::share(Sharing& sharing) const {
  return std::all_of(module_->closures.begin(), module_->closures.end(),
                     [&](const Value& loop) { return sharing.add(loop); });
}

Value FixpointSweep::look(Context& context, Value x, uint64_t begin, uint64_t end) const {
  return run(context, Loop::Look, end - begin, {x.take(), integer(begin), integer(end)});
}

Value FixpointSweep::write(Context& context, LiveVector& x, size_t w, uint64_t begin, uint64_t end) const {
  const Borrowed shift = Borrowed::integer(LiveVector::shift(w));
  return run(context, Loop::Write, end - begin, {x.list(), x.writer(w), shift, integer(begin), integer(end)});
}

Value FixpointSweep::write_at(Context& context, LiveVector& x, size_t w, BufferList& at, size_t count) const {
  const Borrowed shift = Borrowed::integer(LiveVector::shift(w));
  return run(context, Loop::WriteAt, count, {x.list(), x.writer(w), shift, at.view(count)});
}

Value FixpointSweep::run(Context& context, Loop loop, uint64_t rounds,
                         std::initializer_list<Borrowed> arguments) const {
  const uint64_t used = context.steps_used();
  context.fuel += own_steps(rounds);
  Borrowed* const base = context.stack_top;
  base[0] = Value::copy(f_).take();
  std::copy(arguments.begin(), arguments.end(), base + 1);
  auto* const closure = module_->closures[static_cast<size_t>(loop)]->as<Closure>();
  Value result = call_unnested(context, closure, base);
  const bool done = !result.failed() && (!result->is(Tag::List) || result->as<List>()->packing() == Packing::Float);
  if (result.failed()) {
    Value error = context.take_error();
    ErrorData& data = *static_cast<ErrorObject*>(error->object())->data;
    if (data.limit) {
      hide_loop(data, module_->tree.get());
      context.restore_error(std::move(error));
      return Value::failure();
    }
  }
  if (!done || result->is_nil()) {
    // It is done again, and counted then.
    context.fuel += static_cast<int64_t>(context.steps_used() - used);
    result = Value();
  }
  // The slice has become longer by the steps that were given for the loop: look now.
  return context.poll() ? std::move(result) : Value::failure();
}

}  // namespace posset::interp
