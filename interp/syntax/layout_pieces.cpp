// A source as pieces. The lexer steps over comments, so they are found again between its tokens. See layout_pieces.h.
#include "interp/syntax/layout_pieces.h"

#include <algorithm>

namespace posset::syntax::layout {

namespace {

bool is_trailing_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// `#!/usr/bin/env posset`, `# expect: ...`, `# expect runtime error: ...`: words in small letters and a colon.
bool is_directive(std::string_view comment) {
  if (comment.starts_with("#!")) return true;
  const size_t end = comment.find_first_not_of("abcdefghijklmnopqrstuvwxyz ", 1);
  return end != std::string_view::npos && comment[end] == ':';
}

size_t end_of_comment(std::string_view source, size_t begin, size_t limit) {
  size_t end = std::min(source.find('\n', begin), limit);
  const bool keeps_blanks = is_directive(source.substr(begin, end - begin));
  while (keeps_blanks ? source[end - 1] == '\r' : is_trailing_blank(source[end - 1])) --end;
  return end;
}

// Appends the comments between two tokens; gives the line breaks behind the last of them.
uint32_t add_comments(std::string_view source, size_t at, size_t limit, std::vector<Piece>& out) {
  uint32_t breaks = 0;
  while (at < limit) {
    if (source[at] == '\n') ++breaks;
    if (source[at] != '#') {
      ++at;
      continue;
    }
    const size_t end = end_of_comment(source, at, limit);
    Piece comment;
    comment.is_comment = true;
    comment.begin = static_cast<uint32_t>(at);
    comment.end = static_cast<uint32_t>(end);
    comment.breaks = breaks;
    out.push_back(comment);
    breaks = 0;
    at = std::min(source.find('\n', at), limit);
  }
  return breaks;
}

// The StringTail of a StringHead, or the end where there is none.
size_t end_of_string(const std::vector<Token>& tokens, size_t at) {
  size_t open = 0;
  for (;; ++at) {
    if (tokens[at].kind == TokenKind::End) return at;
    if (tokens[at].kind == TokenKind::StringHead) ++open;
    if (tokens[at].kind == TokenKind::StringTail && --open == 0) return at;
  }
}

}  // namespace

std::vector<Piece> pieces_of(std::string_view source, const std::vector<Token>& tokens) {
  std::vector<Piece> out;
  out.reserve(tokens.size());
  size_t end = source.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& first = tokens[i];
    const uint32_t breaks = add_comments(source, end, first.begin, out);
    if (first.kind == TokenKind::End) break;
    Piece piece;
    piece.kind = first.kind == TokenKind::StringHead ? TokenKind::String : first.kind;
    piece.newline_before = first.newline_before;
    piece.breaks = breaks;
    if (first.kind == TokenKind::StringHead) i = end_of_string(tokens, i);
    piece.begin = first.begin;
    piece.end = tokens[i].end;
    out.push_back(piece);
    end = piece.end;
  }
  return out;
}

}  // namespace posset::syntax::layout
