// Long parts are found by the two-way algorithm of Crochemore and Perrin (Journal of the ACM 38, 1991): the part is cut where
// its local period is its period; what is right of the cut is compared from left to right, then what is left of it. It
// needs no memory and at most twice as many comparisons as the text has bytes.
#include "interp/runtime/text_search.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "interp/runtime/work.h"

namespace posset::interp {

namespace {

constexpr size_t kLongPart = 256 << 10;    // bytes; memmem prepares shorter ones in some hundred microseconds
constexpr size_t kWindow = 4 * kLongPart;  // of the text, at a time

struct Cut {
  size_t at = 0, period = 1;  // the part from `at` on is its largest suffix
};

// By the order of bytes, or the opposite one.
bool largest_suffix(ContextPatience& patience, std::string_view part, bool opposite, Cut& cut) {
  size_t begin = 0, candidate = 1, same = 0;
  cut.period = 1;
  while (candidate + same < part.size()) {
    if (!patience.lasts()) return false;
    const auto a = static_cast<unsigned char>(part[candidate + same]), b = static_cast<unsigned char>(part[begin + same]);
    if (a == b) {
      if (++same == cut.period) candidate += std::exchange(same, 0);
    } else if ((a < b) != opposite) {
      candidate += std::exchange(same, 0) + 1;
      cut.period = candidate - begin;
    } else {
      begin = candidate++;
      same = 0;
      cut.period = 1;
    }
  }
  cut.at = begin;
  return true;
}

class TwoWay {
 public:
  TwoWay(Context& context, std::string_view part) : patience_(context), part_(part) {}

  bool find(std::string_view text, size_t from, size_t& at) {
    if (!prepare()) return patience_.held();
    at = std::string_view::npos;
    size_t known = 0;  // bytes at the beginning of the part that are known to stand there
    for (size_t here = from; part_.size() <= text.size() - here;) {
      const char* there = text.data() + here;
      size_t i = std::max(cut_.at, known);
      while (i < part_.size() && part_[i] == there[i]) {
        if (!patience_.lasts()) return patience_.held();
        ++i;
      }
      if (i < part_.size()) {
        here += i - cut_.at + 1;
        known = 0;
      } else if (!left_matches(there, known)) {
        if (patience_.ended()) break;
        here += cut_.period;
        known = periodic_ ? part_.size() - cut_.period : 0;
      } else {
        at = here;
        break;
      }
      if (!patience_.lasts()) break;
    }
    return patience_.held();
  }

 private:
  bool prepare() {
    Cut opposite;
    if (!largest_suffix(patience_, part_, false, cut_) || !largest_suffix(patience_, part_, true, opposite)) return false;
    if (opposite.at >= cut_.at) cut_ = opposite;
    periodic_ = std::memcmp(part_.data(), part_.data() + cut_.period, cut_.at) == 0;
    if (!periodic_) cut_.period = std::max(cut_.at, part_.size() - cut_.at) + 1;
    return true;
  }
  bool left_matches(const char* there, size_t known) {
    for (size_t i = cut_.at; i > known; --i) {
      if (part_[i - 1] != there[i - 1] || !patience_.lasts()) return false;
    }
    return true;
  }

  ContextPatience patience_;
  const std::string_view part_;
  Cut cut_;
  bool periodic_ = false;
};

}  // namespace

bool find_text(Context& context, std::string_view text, std::string_view part, size_t from, size_t& at) {
  if (part.size() > kLongPart) return TwoWay(context, part).find(text, from, at);
  ContextPatience patience(context);
  at = std::string_view::npos;
  while (part.size() <= text.size() - from) {
    const size_t size = std::min(text.size() - from, kWindow);
    if (const void* found = memmem(text.data() + from, size, part.data(), part.size())) {
      at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
      return true;
    }
    if (size == text.size() - from) return true;
    from += size - part.size() + 1;
    if (!patience.lasts(size / kElementsPerStep)) break;
  }
  return patience.held();
}

}  // namespace posset::interp
