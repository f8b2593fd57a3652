// See options.h.
#include "interp/runtime/options.h"

#include "interp/value/record.h"
#include "sched/base/clock.h"

namespace posset::interp {

bool read_seconds(const NativeCall& call, uint32_t i, std::string_view name, Borrowed given, Least least, int64_t& ns) {
  constexpr double kMostSeconds = 9e9;  // more than nanoseconds in 64 bits hold
  const double seconds = given.is_number() ? number_of(given) : -1;
  if (!(least == Least::Zero ? seconds >= 0 : seconds > 0)) {
    raise_argument(call, ErrorCode::OutOfRange, i,
                   std::string(name) + (least == Least::Zero ? " must be 0 or more seconds, got " : " must be more than 0 seconds, got ") +
                       kind_and_value(call.context, given));
    return false;
  }
  ns = seconds >= kMostSeconds ? sched::kNever : static_cast<int64_t>(seconds * 1e9);
  return true;
}

void raise_no_option(const NativeCall& call, uint32_t i, std::string_view name, std::span<const std::string_view> there) {
  std::string text = "there is no option '" + std::string(name) + "'; there " + (there.size() == 1 ? "is " : "are ");
  for (size_t n = 0; n < there.size(); ++n) {
    if (n > 0) text += n + 1 == there.size() ? " and " : ", ";
    text += there[n];
  }
  raise_argument(call, ErrorCode::BadArgument, i, text);
}

bool each_option(const NativeCall& call, uint32_t i, const std::function<bool(std::string_view name, Borrowed given)>& visit) {
  if (!call[i].is(Tag::Record)) {
    raise_argument(call, i, "record");
    return false;
  }
  const auto* record = call[i].as<Record>();
  const Shape* shape = shape_of(call.context.heap, record);
  for (size_t field = 0; field < shape->fields.size(); ++field) {
    if (!visit(shape->fields[field]->text, record->fields()[field])) return false;
  }
  return true;
}

}  // namespace posset::interp
