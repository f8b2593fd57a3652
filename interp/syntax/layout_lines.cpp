// Which line breaks are written, and how far a line is indented. A bracket indents what is in it by one step more than the line
// it stands in, so several opened in one line count once, and what closes stands with the line that opened it; behind
// it, its line counts as that one. An element or statement that goes on in further lines indents those by one step more
// than the line it began in.
#include <algorithm>

#include "interp/syntax/layout_pieces.h"
#include "interp/syntax/parser_internal.h"

namespace posset::syntax::layout {

namespace {

constexpr uint32_t kIndentStep = 2;
// Brackets may nest 1000 deep: without a bound a hostile source would become 1000 times as long.
constexpr uint32_t kMostIndentation = 200;

// Where lines count, a line that starts so goes on with the one above; more do by the table of operators.
bool starts_continuation(TokenKind kind) {
  switch (kind) {
    case TokenKind::Dot:
    case TokenKind::QuestionDot:
    case TokenKind::Pipe:  // of a pattern or type declaration
    case TokenKind::Else:
    case TokenKind::Catch:
      return true;
    default:
      return operator_info(kind).may_start_line;
  }
}

// A line that starts so is where an `else` or `catch` of its blocks stands.
bool starts_chain(TokenKind kind) {
  return kind == TokenKind::If || kind == TokenKind::Try || kind == TokenKind::Else || kind == TokenKind::Catch ||
         kind == TokenKind::RightBrace;
}

class Liner {
 public:
  explicit Liner(std::vector<Piece>& pieces) : pieces_(pieces) {}

  void run() {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      set_breaks(i);
      if (pieces_[i].is_comment) continue;
      if (i == 0 || pieces_[i].newline_before) begin_line(i);
      pass(pieces_[i]);
    }
  }

 private:
  // The inside of a bracket, or the top level.
  struct Inside {
    uint32_t outside = 0;           // indentation of the line that opened it
    uint32_t inside = 0;            // of what it holds
    uint32_t element = 0;           // of the line in which the element or statement at hand began
    bool lines_count = true;
    bool at_element = true;         // the next piece begins one
    TokenKind line = TokenKind::End;  // what the line that opened it starts with
  };

  // One empty line is left of several, none at the start of the source or of a bracket, none before what closes.
  void set_breaks(size_t at) {
    Piece& piece = pieces_[at];
    const uint32_t most = at == 0 ? 0 : just_opened_ || piece.is_close() ? 1 : 2;
    if (piece.is_comment && piece.breaks > 0) just_opened_ = false;
    if (!piece.is_comment) just_opened_ = piece.is_open();
    piece.breaks = std::min(piece.breaks, most);
  }

  void begin_line(size_t at) {
    const Piece& piece = pieces_[at];
    indentation_ = std::min(indentation_of(piece), kMostIndentation);
    line_ = piece.kind;
    pieces_[at].indentation = indentation_;
    // Comments stand with the code below, or in the block that ends there.
    const uint32_t above = piece.is_close() ? std::min(open_.back().inside, kMostIndentation) : indentation_;
    for (size_t i = at; i > 0 && pieces_[i - 1].is_comment; --i) pieces_[i - 1].indentation = above;
  }

  uint32_t indentation_of(const Piece& piece) {
    Inside& here = open_.back();
    if (piece.is_close()) return here.outside;
    if (here.at_element) return here.inside;
    const bool goes_on_block = piece.kind == TokenKind::Else || piece.kind == TokenKind::Catch;
    if (goes_on_block && chain_stands_at_ != kNowhere) return chain_stands_at_;
    if (here.lines_count && !goes_on(piece)) {
      here.at_element = true;
      return here.inside;
    }
    return is_alternative(piece) ? here.element : here.element + kIndentStep;
  }

  // Of an arm of a `match`, whose body then stands further in than its patterns. Types are declared at the top level.
  bool is_alternative(const Piece& piece) const {
    return piece.kind == TokenKind::Pipe && open_.size() > 1 && open_.back().lines_count;
  }

  bool goes_on(const Piece& piece) const {
    return starts_continuation(piece.kind) || (!is_field_ && continues_after(previous_));
  }

  void pass(const Piece& piece) {
    if (piece.is_close()) {
      close(piece);
    } else {
      begin_element();
    }
    if (piece.kind == TokenKind::Comma || piece.kind == TokenKind::Semicolon) open_.back().at_element = true;
    if (piece.is_open()) {
      open_.push_back({.outside = indentation_, .inside = indentation_ + kIndentStep, .element = indentation_,
                       .lines_count = piece.opens_block, .line = line_});
    }
    is_field_ = previous_ == TokenKind::Dot || previous_ == TokenKind::QuestionDot;
    previous_ = piece.kind;
  }

  void begin_element() {
    Inside& here = open_.back();
    if (here.at_element) here.element = indentation_;
    here.at_element = false;
  }

  void close(const Piece& piece) {
    const Inside closed = open_.back();
    open_.pop_back();
    indentation_ = closed.outside;  // behind `xs] {` a block stands as if the list had been on one line
    const bool in_chain = piece.newline_before || starts_chain(closed.line);
    chain_stands_at_ = in_chain ? closed.outside : kNowhere;
  }

  static constexpr uint32_t kNowhere = UINT32_MAX;
  std::vector<Piece>& pieces_;
  std::vector<Inside> open_{Inside{}};
  uint32_t indentation_ = 0;            // of the line at hand, or of the one whose bracket was closed in it
  TokenKind line_ = TokenKind::End;     // what it starts with
  TokenKind previous_ = TokenKind::End;
  bool is_field_ = false;  // `previous_` stands behind a dot, where any word is a name
  bool just_opened_ = false;
  uint32_t chain_stands_at_ = kNowhere;  // an `else` or `catch` of the block that was closed last; nowhere: it goes on a line
};

}  // namespace

void set_lines(std::vector<Piece>& pieces) { Liner(pieces).run(); }

}  // namespace posset::syntax::layout
