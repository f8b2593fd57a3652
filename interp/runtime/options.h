// Options of a built-in: the fields of a record, each read by a row of a table. What the table does not have is an error that
// lists what it has.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "interp/runtime/builtins.h"

namespace posset::interp {

// False: raised.
template <class Asked>
struct Option {
  std::string_view name;
  bool (*read)(NativeCall& call, Borrowed given, Asked& asked);
};

inline double number_of(Borrowed v) { return v.is_int() ? static_cast<double>(v.as_int()) : v.as_float(); }

enum class Least : uint8_t { Zero, MoreThanZero };
// A number of seconds in argument i as nanoseconds; what no clock holds is never.
bool read_seconds(const NativeCall& call, uint32_t i, std::string_view name, Borrowed given, Least least, int64_t& ns);

// Raises "there is no option 'x'; there are a, b and c".
void raise_no_option(const NativeCall& call, uint32_t i, std::string_view name, std::span<const std::string_view> there);
// Visits the names and values of the record in argument i, in order, until `visit` gives false. False: it did, or raised.
bool each_option(const NativeCall& call, uint32_t i, const std::function<bool(std::string_view name, Borrowed given)>& visit);

// The record in argument i, which may be absent or nil. False: raised.
template <class Asked, size_t n>
bool read_options(NativeCall& call, uint32_t i, const Option<Asked> (&rows)[n], Asked& asked) {
  if (!call.has(i) || call[i].is_nil()) return true;
  return each_option(call, i, [&](std::string_view name, Borrowed given) {
    std::string_view names[n];
    for (size_t row = 0; row < n; ++row) {
      if (rows[row].name == name) return rows[row].read(call, given, asked);
      names[row] = rows[row].name;
    }
    raise_no_option(call, i, name, names);
    return false;
  });
}

}  // namespace posset::interp
