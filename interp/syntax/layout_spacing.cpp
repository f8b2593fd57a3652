// Where a space stands between two pieces of a line: where both want one. What a token wants is a row of a table, with
// two columns, since a few tokens mean two things: `-`, `&`, `..`, `(`, `[` and `{` are infix, a call, an index or a block where
// an operand ends before them, and a prefix, a literal or a pattern elsewhere. Only what `{` means after `=>` needs another look.
#include <array>

#include "interp/syntax/layout_pieces.h"

namespace posset::syntax::layout {

namespace {

constexpr size_t kSpacedKinds = static_cast<size_t>(TokenKind::ColonEqual) + 1;

struct Spaces {
  bool before, after;
};
constexpr Spaces kApart{true, true};    // a word, a binary operator, the braces of a block
constexpr Spaces kPrefix{true, false};  // -x, (x), [x], {x: 1}
constexpr Spaces kBehind{false, true};  // x, and what closes
constexpr Spaces kTight{false, false};  // a.b, a..b, f(x), xs[i]

struct SpacesRow {
  TokenKind kind;
  Spaces behind_operand;
  Spaces elsewhere;
};
// What has no row stands apart.
constexpr SpacesRow kSpacesRows[] = {
    {TokenKind::LeftParen, kTight, kPrefix},     // f(x), (x)
    {TokenKind::LeftBracket, kTight, kPrefix},   // xs[i], [x]
    {TokenKind::LeftBrace, kApart, kPrefix},     // if c { x }, {x: 1}
    {TokenKind::RightParen, kBehind, kBehind},
    {TokenKind::RightBracket, kBehind, kBehind},
    {TokenKind::RightBrace, kBehind, kBehind},   // of a record
    {TokenKind::Comma, kBehind, kBehind},
    {TokenKind::Semicolon, kBehind, kBehind},
    {TokenKind::Colon, kBehind, kBehind},
    {TokenKind::Question, kBehind, kBehind},     // int?
    {TokenKind::Dot, kTight, kTight},
    {TokenKind::QuestionDot, kTight, kTight},
    {TokenKind::DotDot, kTight, kPrefix},        // a..b, ..xs
    {TokenKind::DotDotEqual, kTight, kTight},
    {TokenKind::Minus, kApart, kPrefix},         // a - b, -a
    {TokenKind::Ampersand, kApart, kPrefix},     // a & b, f(&a)
    {TokenKind::Tilde, kPrefix, kPrefix},
};

constexpr auto kSpaces = [] {
  std::array<SpacesRow, kSpacedKinds> table{};
  for (SpacesRow& row : table) row = {TokenKind::End, kApart, kApart};
  for (const SpacesRow& row : kSpacesRows) table[static_cast<size_t>(row.kind)] = row;
  return table;
}();

// What an operand, a type or the head of a block ends with: a `{` behind it on its line opens a block.
constexpr TokenKind kOperandEnds[] = {
    TokenKind::Name,       TokenKind::Int,          TokenKind::Float,      TokenKind::String,
    TokenKind::True,       TokenKind::False,        TokenKind::Nil,        TokenKind::RightParen,
    TokenKind::RightBracket, TokenKind::RightBrace, TokenKind::Question,   TokenKind::Fn,
    TokenKind::Continue,   TokenKind::Else,         TokenKind::Do,         TokenKind::Try,
    TokenKind::Catch,
};

constexpr auto kEndsOperand = [] {
  std::array<bool, kSpacedKinds> table{};
  for (const TokenKind kind : kOperandEnds) table[static_cast<size_t>(kind)] = true;
  return table;
}();

class Spacer {
 public:
  explicit Spacer(std::vector<Piece>& pieces) : pieces_(pieces) {}

  void run() {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].is_comment) continue;
      set(i);
      is_field_ = previous_ == TokenKind::Dot || previous_ == TokenKind::QuestionDot;
      previous_ = pieces_[i].kind;
    }
  }

 private:
  void set(size_t at) {
    Piece& piece = pieces_[at];
    const bool operand = is_behind_operand(piece);
    const SpacesRow& row = kSpaces[static_cast<size_t>(piece.kind)];
    Spaces spaces = operand ? row.behind_operand : row.elsewhere;
    if (piece.kind == TokenKind::LeftBrace) {
      piece.opens_block = previous_ == TokenKind::FatArrow ? !starts_record(at) : operand;
      spaces = piece.opens_block ? row.behind_operand : row.elsewhere;
    }
    if (piece.is_open()) blocks_.push_back(piece.opens_block);
    if (piece.is_close()) {
      if (blocks_.back()) spaces = kApart;
      blocks_.pop_back();
    }
    // `--` is no operator, and must not look like one.
    const bool is_negation = piece.kind == TokenKind::Minus && !spaces.after;
    if (is_negation && was_negation_) pieces_[last_].space_after = true;
    was_negation_ = is_negation;
    last_ = at;
    piece.space_before = spaces.before;
    piece.space_after = spaces.after;
  }

  // Where lines count, one that starts with `-` or a bracket is an expression of its own.
  bool is_behind_operand(const Piece& piece) const {
    if (piece.newline_before && lines_count()) return false;
    return kEndsOperand[static_cast<size_t>(previous_)] || (is_field_ && is_keyword(previous_));
  }
  bool lines_count() const { return blocks_.empty() || blocks_.back(); }

  // After `=>`: Parser::arrow_starts_record.
  bool starts_record(size_t brace) const {
    const size_t first = next(brace);
    if (first == pieces_.size()) return false;
    const TokenKind kind = pieces_[first].kind;
    if (kind == TokenKind::DotDot) return true;
    const size_t second = next(first);
    const bool is_word = kind == TokenKind::Name || is_keyword(kind);
    return is_word && second < pieces_.size() && pieces_[second].kind == TokenKind::Colon;
  }
  size_t next(size_t at) const {
    do {
      ++at;
    } while (at < pieces_.size() && pieces_[at].is_comment);
    return at;
  }

  std::vector<Piece>& pieces_;
  std::vector<bool> blocks_;  // of the brackets around the place at hand: whether lines count in it
  size_t last_ = 0;            // the token before
  bool was_negation_ = false;  // it is a `-` before its operand
  TokenKind previous_ = TokenKind::End;
  bool is_field_ = false;  // `previous_` stands behind a dot, where any word is a name
};

}  // namespace

void set_spaces(std::vector<Piece>& pieces) { Spacer(pieces).run(); }

}  // namespace posset::syntax::layout
