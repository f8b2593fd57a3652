// See highlight.h. The colours are a row for each kind of token; the layout is the editor's: characters follow
// each other, a wide one that does not fit at the end of a row stands on the next, and behind a full row the
// cursor is on the next.
#include "cli/highlight.h"

#include <posset/tokens.h>

#include <algorithm>
#include <cwchar>
#include <optional>
#include <vector>

namespace posset::cli {

namespace {

constexpr const char* kPlain = "\x1b[0m";

// Each begins by ending the one before.
const char* color_of(posset_token_kind kind) {
  switch (kind) {
    case POSSET_TOKEN_KEYWORD: return "\x1b[0;35m";
    case POSSET_TOKEN_NUMBER: return "\x1b[0;36m";
    case POSSET_TOKEN_TEXT: return "\x1b[0;32m";
    case POSSET_TOKEN_COMMENT: return "\x1b[0;90m";
    case POSSET_TOKEN_ERROR: return "\x1b[0;31m";
    case POSSET_TOKEN_NAME:
    case POSSET_TOKEN_PUNCTUATION: break;
  }
  return kPlain;
}

// ---- colours ----

struct Colors {
  size_t skipped;                // bytes of the input before the line
  std::vector<const char*> all;  // of each byte of the line
};

posset_status add_color(void* data, const posset_token_info* token) {
  auto& colors = *static_cast<Colors*>(data);
  for (size_t at = std::max(token->begin, colors.skipped); at < token->end; ++at) {
    colors.all[at - colors.skipped] = color_of(token->kind);
  }
  return POSSET_OK;
}

std::vector<const char*> colors_of(const TypedLine& line) {
  const std::string input = std::string(line.before) + std::string(line.text);
  Colors colors{line.before.size(), std::vector<const char*>(line.text.size(), kPlain)};
  posset_each_token(posset_text_n(input.data(), input.size()), add_color, &colors);
  return std::move(colors.all);
}

// ---- layout ----

struct Character {
  size_t begin, size;
  int row, column;
};

// Bytes and cells of the first character; no width when it is none that stands in cells of its own.
struct Measure {
  size_t size = 0;
  int width = 0;
};

Measure measure(std::string_view text) {
  wchar_t scalar = 0;
  std::mbstate_t state{};
  const size_t size = std::mbrtowc(&scalar, text.data(), text.size(), &state);
  if (size == 0 || size > text.size()) return {};
  return {size, std::max(wcwidth(scalar), 0)};
}

// The characters in their places, and the place behind them as the last. With wide characters only within one
// row: where one begins a row, libedit may be wrong about the row it is in, and painting would hit others.
std::optional<std::vector<Character>> lay_out(const TypedLine& line) {
  std::vector<Character> out;
  int row = 0, column = line.prompt_width, widest = 1;
  const auto wrap_at = [&](int limit) {
    if (column < limit) return;
    ++row;
    column = 0;
  };
  for (size_t at = 0; at < line.text.size();) {
    const Measure next = measure(line.text.substr(at));
    if (next.width == 0) return std::nullopt;
    wrap_at(line.columns - next.width + 1);
    out.push_back({at, next.size, row, column});
    column += next.width;
    widest = std::max(widest, next.width);
    wrap_at(line.columns);
    at += next.size;
  }
  out.push_back({line.text.size(), 0, row, column});
  if (row >= line.rows || (row > 0 && widest > 1)) return std::nullopt;
  return out;
}

// ---- cursor ----

std::string move(int count, char direction) {
  return count > 0 ? "\x1b[" + std::to_string(count) + direction : std::string();
}

// To a column of another row; the carriage return also leaves the edge of a full row, where terminals differ.
std::string go(int from_row, int row, int column) {
  return "\r" + move(from_row - row, 'A') + move(row - from_row, 'B') + move(column, 'C');
}

}  // namespace

std::string painting(const TypedLine& line) {
  if (line.text.empty() || line.columns <= line.prompt_width) return {};
  const auto characters = lay_out(line);
  if (!characters) return {};
  const std::vector<const char*> colors = colors_of(line);
  const Character* cursor = &characters->back();
  for (const Character& each : *characters) {
    if (each.begin == line.cursor) cursor = &each;
  }
  std::string out = go(cursor->row, 0, line.prompt_width);
  const char* color = kPlain;
  int row = 0;
  for (const Character& each : *characters) {
    if (each.size == 0) break;
    if (each.row != row) out += go(row, each.row, 0);
    row = each.row;
    if (colors[each.begin] != color) out += colors[each.begin];
    color = colors[each.begin];
    out += line.text.substr(each.begin, each.size);
  }
  return out + kPlain + go(row, cursor->row, cursor->column);
}

}  // namespace posset::cli
