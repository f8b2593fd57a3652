// What the layout is made of: the pieces of a source, which are its tokens and comments, in order. A string with all its
// interpolations is one piece, because nothing inside it is touched. The source must parse, or at least its strings
// must end: brackets balance then, and nothing but white space is between pieces.
//
// The passes of the layout fill in a piece one after the other.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "interp/syntax/token.h"

namespace posset::syntax::layout {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // at the start: stays, and means nothing

struct Piece {
  TokenKind kind = TokenKind::End;  // String for every string, End for a comment
  bool is_comment = false;
  bool newline_before = false;  // Token::newline_before
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t breaks = 0;  // line breaks right before it; layout_lines.cpp leaves 0, 1 or 2

  // layout_spacing.cpp, which reads no comments:
  bool space_before = true;
  bool space_after = true;
  bool opens_block = false;  // a `{` inside which lines count: of a block, or of the arms of a `match`

  uint32_t indentation = 0;  // layout_lines.cpp: of one that starts a line

  bool is_open() const { return !is_comment && is_opening(kind); }
  bool is_close() const { return !is_comment && is_closing(kind); }
};

// Of a comment, blanks at the end are no part, unless it reads as a directive (`#!`, `# word:`): then they may be data.
std::vector<Piece> pieces_of(std::string_view source, const std::vector<Token>& tokens);

void set_spaces(std::vector<Piece>& pieces);
void set_lines(std::vector<Piece>& pieces);

}  // namespace posset::syntax::layout
