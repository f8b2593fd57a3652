// JSON numbers that are longer than what is read at once: written shorter, with the same value. A
// double is decided by its first 768 digits and whether one behind them is not zero; so that many
// are kept, and the exponent says where the point was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace posset::stdlib {

enum class LongNumber { Shortened, NoNumber, Stopped };

// `look` is asked after so many bytes; false stops. A whole number is none: simdjson takes no more
// than 20 digits.
LongNumber shorten_number(std::string_view text, size_t window,
                          const std::function<bool(size_t)>& look, std::string& out);

// Where whole numbers of the document end that 64 bits do not hold, in order: with an exponent there they are floats, which
// simdjson takes. False: stopped by `look`.
bool find_wide_integers(std::string_view text, size_t window, const std::function<bool(size_t)>& look,
                        std::vector<size_t>& ends);

}  // namespace posset::stdlib
