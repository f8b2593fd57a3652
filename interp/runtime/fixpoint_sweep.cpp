// See fixpoint_sweep.h.
#include "interp/runtime/fixpoint_sweep.h"

#include <string>

#include "interp/runtime/call.h"
#include "interp/runtime/error.h"
#include "interp/runtime/program.h"
#include "interp/value/list.h"

namespace posset::interp {

namespace {

// NaN and infinity are what differs from itself by something else than 0; what is no number raises. `* 1.0` makes floats of
// ints and leaves those, and their signs, alone. No run begins below 0: the number there, the operator's, keeps the code apart
// from that of other operators.
std::string source_for(uint32_t unit) {
  const std::string never = "  if begin < -" + std::to_string(unit) + " { return nil }\n";
  return "fn update(f, x, begin, end) {\n" + never +
         "  var live = x\n"
         "  for i in begin..end {\n"
         "    let value = f(i, live)\n"
         "    if value - value != 0.0 { return nil }\n"
         "    live[i] = value * 1.0\n"
         "  }\n"
         "  live\n"
         "}\n"
         "fn look(f, x, begin, end) {\n" + never +
         "  [for i in begin..end => f(i, x) * 1.0]\n"
         "}\n";
}

// Steps of a run besides those of the operator's calls: the loop's own function, and a round for each coordinate.
int64_t own_steps(uint64_t count) { return 1 + static_cast<int64_t>(count); }

// The loop is nobody's to see: an error that came up in it came up where the solve is.
void hide_loop(ErrorData& error, const syntax::Module* loop) {
  const auto in_loop = [loop](const TracePoint& point) { return point.function && point.function->module == loop; };
  std::erase_if(error.trace, in_loop);
  if (error.located && in_loop(error.place)) error.located = false;
}

}  // namespace

FixpointSweep::~FixpointSweep() {
  if (module_) forget_module(context_, module_);
}

bool FixpointSweep::can_call(const Context& context, Borrowed f) {
  if (context.helps || !f.is(Tag::Fn)) return false;
  const Function& function = *f.as<Closure>()->function;
  return function.parameter_count == 2 && !function.has_rest && function.inout_mask == 0;
}

bool FixpointSweep::make() {
  syntax::Diagnostics found;
  auto source = make_source(context_, "fixpoint.solve", source_for(f_.as<Closure>()->function->unit->number));
  auto tree = source ? load_program(context_, std::move(source), {}, found, false) : nullptr;
  if (tree) module_ = instantiate(context_, tree);
  if (context_.error_pending()) context_.take_error();
  return module_ != nullptr;
}

Value FixpointSweep::run(size_t function, Value x, uint64_t begin, uint64_t end) {
  const uint64_t used = context_.steps_used();
  context_.fuel += own_steps(end - begin);
  Borrowed* const base = context_.stack_top;
  base[0] = Value::copy(f_).take();
  base[1] = x.take();
  base[2] = Borrowed::integer(static_cast<int64_t>(begin));
  base[3] = Borrowed::integer(static_cast<int64_t>(end));
  Value result = call_closure(context_, module_->closures[function]->as<Closure>(), base, 4);
  if (result.failed()) {
    Value error = context_.take_error();
    ErrorData& data = *static_cast<ErrorObject*>(error->object())->data;
    if (data.limit) {
      hide_loop(data, module_->tree.get());
      context_.restore_error(std::move(error));
      return Value::failure();
    }
  }
  if (result.failed() || !result->is(Tag::List) || result->as<List>()->packing() != Packing::Float) {
    // It is done again, and counted then.
    context_.fuel += static_cast<int64_t>(context_.steps_used() - used);
    result = Value();
  }
  // The slice has become longer by the steps that were given for the loop: look now.
  return context_.poll() ? std::move(result) : Value::failure();
}

}  // namespace posset::interp
