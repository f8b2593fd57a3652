// Places in a source. The line table is built once; a column is counted when somebody asks. A byte
// order mark at the very start belongs to no column, as no editor shows it.
#include "interp/syntax/source.h"

#include <algorithm>
#include <utility>

#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

uint32_t mark_length(std::string_view text) {
  return text.substr(0, kByteOrderMark.size()) == kByteOrderMark
             ? static_cast<uint32_t>(kByteOrderMark.size())
             : 0;
}

size_t line_count(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

}  // namespace

size_t Source::bytes_of(std::string_view text) { return text.size() + line_count(text) * sizeof(uint32_t); }

Source::Source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  line_starts_.reserve(line_count(text_));
  line_starts_.push_back(mark_length(text_));
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_starts_.push_back(static_cast<uint32_t>(at + 1));
  }
}

Position Source::position(uint32_t offset) const {
  offset = std::clamp(offset, line_starts_.front(), static_cast<uint32_t>(text_.size()));
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<uint32_t>(after - line_starts_.begin());
  Position position{line, 1};
  for (uint32_t at = line_starts_[line - 1]; at < offset; ++at) {
    if (!is_continuation_byte(text_[at])) ++position.column;
  }
  return position;
}

std::string Source::place(uint32_t offset) const {
  const Position at = position(offset);
  return name_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string_view Source::line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const size_t begin = line_starts_[number - 1];
  const size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  std::string_view text = std::string_view(text_).substr(begin, end - begin);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

}  // namespace posset::syntax
