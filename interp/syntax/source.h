// One source text and places in it. A Span is a pair of byte offsets; lines and columns (from 1, columns
// in Unicode scalars) are worked out only when somebody asks, so nodes stay small. A Source is immutable
// once made and shared by everything that can still report a place in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace posset::syntax {

struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct Position {
  uint32_t line = 1;
  uint32_t column = 1;
};

class Source {
 public:
  // `name` is what diagnostics print, `text` the bytes as read (they may be invalid UTF-8; the lexer
  // says so). At most 4 GiB - 1.
  Source(std::string name, std::string text);

  // What one of that text takes.
  static size_t bytes_of(std::string_view text);
  size_t bytes() const { return text_.size() + line_starts_.size() * sizeof(uint32_t); }

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }

  // Line and column of a byte offset; offsets past the end give the end.
  Position position(uint32_t offset) const;
  // "prices.posset:3:1"
  std::string place(uint32_t offset) const;
  // The text of a line (from 1) without its line break.
  std::string_view line(uint32_t number) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

using SourcePtr = std::shared_ptr<const Source>;

}  // namespace posset::syntax
