// Writes the pieces of a source in their layout, places the comments behind code, and checks that the result is the same
// program. See layout.h.
//
// Comments behind code. Those of adjacent lines that begin in one column are a group, and stay one; so does a comment alone
// on the next line in that column. Where all of a group stand two columns or more behind their code, the column was
// chosen, and they keep it if there is room; otherwise they stand one behind the longest line. A group that was written so is
// left as it is by the next run: the distance of its longest line is 1, or more in the column it keeps. That holds for groups
// that have met, too.
#include "interp/syntax/layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "interp/syntax/layout_pieces.h"
#include "interp/syntax/lexer.h"
#include "interp/syntax/parser.h"
#include "interp/syntax/utf8.h"

namespace posset::syntax {

using layout::Piece;

namespace {

constexpr size_t kCommentDistance = 1;
constexpr size_t kMostSource = UINT32_MAX - 1;  // a position has 32 bits

size_t width_of(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const Scalar scalar = decode_utf8(text, at);
    width += static_cast<size_t>(display_width(scalar.value));
    at += scalar.length;
  }
  return width;
}

std::string_view line_before(std::string_view text, size_t at) {
  const size_t end = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = end == std::string_view::npos ? 0 : end + 1;
  return text.substr(begin, at - begin);
}

class LayoutWriter {
 public:
  LayoutWriter(std::string_view source, const std::vector<Piece>& pieces) : source_(source), pieces_(pieces) {}

  std::string run() {
    if (source_.starts_with(layout::kByteOrderMark)) out_ = layout::kByteOrderMark;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      white_space(i);
      text(pieces_[i]);
    }
    if (!pieces_.empty()) out_ += '\n';
    return place_comments();
  }

 private:
  // A comment behind code, which is written right behind it at first; or one below such a comment.
  struct Behind {
    size_t at;        // in `out_`
    size_t line;      // number of its line
    size_t code;      // width of the code
    size_t column;    // that it had
    size_t distance;  // likewise, from the code
  };

  void white_space(size_t at) {
    const Piece& piece = pieces_[at];
    const bool starts_line = at == 0 || piece.breaks > 0;
    if (starts_line) {
      out_.append(piece.breaks, '\n');
      line_ += piece.breaks;
      if (goes_on_behind(piece)) {
        behind_.push_back({out_.size(), line_, 0, behind_.back().column, SIZE_MAX});
      } else {
        out_.append(piece.indentation, ' ');
      }
    } else if (piece.is_comment) {
      behind_.push_back({out_.size(), line_, width_of(line_before(out_, out_.size())),
                         width_of(line_before(source_, piece.begin)), piece.begin - pieces_[at - 1].end});
    } else if (pieces_[at - 1].space_after && piece.space_before) {
      out_ += ' ';
    }
  }

  bool goes_on_behind(const Piece& piece) const {
    return piece.is_comment && !behind_.empty() && behind_.back().line + 1 == line_ &&
           behind_.back().column == width_of(line_before(source_, piece.begin));
  }

  // As it is written, but for Windows line ends, which mean the same in a string.
  void text(const Piece& piece) {
    for (uint32_t i = piece.begin; i < piece.end; ++i) {
      if (source_[i] == '\r' && i + 1 < piece.end && source_[i + 1] == '\n') continue;
      if (source_[i] == '\n') ++line_;
      out_ += source_[i];
    }
  }

  std::string place_comments() {
    if (behind_.empty()) return std::move(out_);
    std::string placed;
    placed.reserve(out_.size() + behind_.size() * 8);
    size_t copied = 0;
    for (size_t first = 0; first < behind_.size();) {
      const size_t last = end_of_group(first);
      const size_t column = column_of(first, last);
      for (; first < last; ++first) {
        placed.append(out_, copied, behind_[first].at - copied);
        placed.append(column - behind_[first].code, ' ');
        copied = behind_[first].at;
      }
    }
    return placed.append(out_, copied);
  }

  size_t end_of_group(size_t first) const {
    size_t last = first + 1;
    while (last < behind_.size() && behind_[last].line == behind_[last - 1].line + 1 &&
           behind_[last].column == behind_[first].column) {
      ++last;
    }
    return last;
  }

  size_t column_of(size_t first, size_t last) const {
    size_t longest = 0;
    size_t least = SIZE_MAX;
    for (size_t i = first; i < last; ++i) {
      longest = std::max(longest, behind_[i].code);
      least = std::min(least, behind_[i].distance);
    }
    const size_t nearest = longest + kCommentDistance;
    return least > kCommentDistance ? std::max(nearest, behind_[first].column) : nearest;
  }

  std::string_view source_;
  const std::vector<Piece>& pieces_;
  std::string out_;
  size_t line_ = 0;
  std::vector<Behind> behind_;
};

// ---- the check ----

std::vector<Piece> lexed_pieces(const SourcePtr& source) {
  Arena arena;
  std::vector<Diagnostic> reports;
  const TokenStream stream = Lexer(source, arena, reports).run();
  return layout::pieces_of(source->text(), stream.tokens);
}

// The next byte of a piece that counts, and steps behind it; -1 at the end.
int next_byte(std::string_view text, size_t& at) {
  if (text.substr(at).starts_with("\r\n")) ++at;
  return at < text.size() ? static_cast<unsigned char>(text[at++]) : -1;
}

std::string_view counted_text(const SourcePtr& source, const Piece& piece) {
  std::string_view text = source->text().substr(piece.begin, piece.end - piece.begin);
  while (piece.is_comment && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool same_piece(const SourcePtr& one, const Piece& a, const SourcePtr& other, const Piece& b) {
  if (a.kind != b.kind || a.is_comment != b.is_comment || a.newline_before != b.newline_before) return false;
  const std::string_view left = counted_text(one, a), right = counted_text(other, b);
  for (size_t i = 0, j = 0;;) {
    const int byte = next_byte(left, i);
    if (byte != next_byte(right, j)) return false;
    if (byte < 0) return true;
  }
}

// The parser sees kinds, texts and line breaks of tokens and nothing else, so what is equal here is the same tree. Gives the
// first of the pieces of `one` that differs from the other's, if any does.
std::optional<size_t> first_difference(const SourcePtr& one, const std::vector<Piece>& pieces, const SourcePtr& other) {
  const std::vector<Piece> theirs = lexed_pieces(other);
  const size_t both = std::min(pieces.size(), theirs.size());
  for (size_t i = 0; i < both; ++i) {
    if (!same_piece(one, pieces[i], other, theirs[i])) return i;
  }
  return pieces.size() == theirs.size() ? std::nullopt : std::optional(both);
}

void report_difference(const SourcePtr& source, Span span, Diagnostics& diagnostics) {
  diagnostics.error(source, ErrorCode::UnexpectedToken, span,
                    "internal error: the layout would change the program here, so the text is left as it is",
                    "this is a mistake in Posset, not in the text");
}

}  // namespace

bool same_program(const SourcePtr& one, const SourcePtr& other) {
  return !first_difference(one, lexed_pieces(one), other);
}

bool lay_out(const SourcePtr& source, Diagnostics& diagnostics, std::string& out) {
  parse(source, diagnostics);
  if (diagnostics.has_errors()) return false;
  std::vector<Piece> pieces = lexed_pieces(source);
  set_spaces(pieces);
  set_lines(pieces);
  out = LayoutWriter(source->text(), pieces).run();
  std::optional<size_t> differs = 0;
  if (out.size() <= kMostSource) differs = first_difference(source, pieces, std::make_shared<const Source>("", out));
  if (!differs) return true;
  const Piece at = *differs < pieces.size() ? pieces[*differs] : Piece{};
  report_difference(source, {at.begin, at.end}, diagnostics);
  return false;
}

}  // namespace posset::syntax
