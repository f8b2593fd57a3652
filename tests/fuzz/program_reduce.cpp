// See program_reduce.h.
#include "program_reduce.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace posset::fuzz {

namespace {

using Shows = std::function<bool(const std::string&)>;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

int depth_change(const std::string& line) {
  return static_cast<int>(std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}'));
}

// The lines of a block that begins here, up to the one that closes it.
size_t block_size(const std::vector<std::string>& lines, size_t at) {
  int depth = 0;
  for (size_t end = at; end < lines.size(); ++end) {
    depth += depth_change(lines[end]);
    if (depth <= 0) return end - at + 1;
  }
  return 1;
}

bool drop_lines(std::string& text, const Shows& shows) {
  std::vector<std::string> lines = lines_of(text);
  bool changed = false;
  auto try_without = [&](size_t at, size_t count) {
    std::vector<std::string> fewer = lines;
    const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
    fewer.erase(from, from + static_cast<std::ptrdiff_t>(std::min(count, fewer.size() - at)));
    if (!shows(joined(fewer))) return false;
    lines = std::move(fewer);
    return changed = true;
  };
  for (size_t at = 0; at < lines.size();) {
    if (!try_without(at, block_size(lines, at)) && !try_without(at, 1)) ++at;
  }
  text = joined(lines);
  return changed;
}

size_t closing(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (std::string_view("([{").find(text[at]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(text[at]) != std::string_view::npos && --depth == 0) return at;
  }
  return std::string::npos;
}

// A bracket behind a name is a call or an index.
bool begins_operand(const std::string& text, size_t open) {
  return open == 0 || !(std::isalnum(static_cast<unsigned char>(text[open - 1])) || std::string_view("_)]\"").find(text[open - 1]) != std::string_view::npos);
}

bool simplify(std::string& text, const Shows& shows) {
  static constexpr const char* kSimple[] = {"1", "0.5", "nil", "true", "\"a\"", "[1]", "[]"};
  bool changed = false;
  for (size_t open = 0; open < text.size(); ++open) {
    if (std::string_view("([").find(text[open]) == std::string_view::npos || !begins_operand(text, open)) continue;
    const size_t close = closing(text, open);
    if (close == std::string::npos) continue;
    for (const char* simple : kSimple) {
      if (close - open + 1 <= std::string_view(simple).size()) continue;
      std::string shorter = text;
      shorter.replace(open, close - open + 1, simple);
      if (!shows(shorter)) continue;
      text = std::move(shorter);
      changed = true;
      break;
    }
  }
  return changed;
}

}  // namespace

std::string reduce_program(const std::string& text, const Shows& shows) {
  constexpr int kMostRounds = 4;
  std::string small = text;
  for (int round = 0; round < kMostRounds; ++round) {
    const bool fewer = drop_lines(small, shows);
    if (!simplify(small, shows) && !fewer) break;
  }
  return small;
}

}  // namespace posset::fuzz
