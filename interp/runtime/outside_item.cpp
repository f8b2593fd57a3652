// See outside_item.h.
#include "interp/runtime/outside_item.h"

#include "interp/value/string.h"

namespace posset::interp {

namespace {

struct MakeValue {
  Context& context;
  Value operator()(std::monostate) const { return Value(); }
  Value operator()(bool v) const { return Value::boolean(v); }
  Value operator()(int64_t v) const { return Value::integer(v); }
  Value operator()(double v) const { return Value::floating(v); }
  Value operator()(const std::shared_ptr<const std::string>& text) const {
    Value made = make_string(context.heap, *text);
    return made.failed() ? context.raise_memory_limit() : std::move(made);
  }
};

}  // namespace

Value value_of_item(Context& context, const OutsideItem& item) { return std::visit(MakeValue{context}, item); }

}  // namespace posset::interp
