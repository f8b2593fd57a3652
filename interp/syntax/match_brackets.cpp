// Which bracket closes which. Done once over all tokens: the parser uses it to tell a lambda from a
// parenthesis without searching, to report the bracket that is not closed instead of the place
// where that came to light, and to skip a broken statement as a whole.
//
// A closing bracket closes the innermost one of its kind; those left open in between are the
// mistake. A word that only starts statements, at the start of a line, ends all `(` and `[` around
// it. When braces do not balance, a second pass lets `}` at the start of a line close the `{` of a
// line indented equally.
#include "interp/syntax/token.h"

namespace posset::syntax {

namespace {

TokenKind opening_of(TokenKind closing) {
  if (closing == TokenKind::RightParen) return TokenKind::LeftParen;
  if (closing == TokenKind::RightBracket) return TokenKind::LeftBracket;
  if (closing == TokenKind::RightBrace) return TokenKind::LeftBrace;
  return TokenKind::StringHead;
}

class Matcher {
 public:
  Matcher(std::vector<Token>& tokens, std::string_view source, Arena& arena, bool by_indentation)
      : tokens_(tokens), source_(source), arena_(arena), by_indentation_(by_indentation) {}

  // True when everything had its partner.
  bool run() {
    for (uint32_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      arena_.tick();
      if (token.newline_before) note_line(token);
      if (is_opening(token.kind)) {
        open(i);
      } else if (is_closing(token.kind)) {
        close(i);
      } else if (token.kind == TokenKind::StringMiddle) {
        drop_down_to(find_open(TokenKind::StringHead));
      } else if (token.kind == TokenKind::Broken) {
        drop_strings(token.value);
      } else if (token.newline_before && starts_statement_only(token.kind) && !is_field(i)) {
        drop_unclosed();
      }
    }
    return balanced_ && open_.empty();
  }

 private:
  struct Open {
    TokenKind kind;
    uint32_t token;
    uint32_t indentation;  // of its line
  };
  // Per string level, because no bracket outside a string is closed inside it: how many of each
  // kind are open. Keeps a search that must fail from walking over millions of other brackets.
  struct Counts {
    uint32_t of[3] = {0, 0, 0};
  };

  static size_t kind_index(TokenKind kind) {
    return kind == TokenKind::LeftParen ? 0 : kind == TokenKind::LeftBracket ? 1 : 2;
  }

  void note_line(const Token& token) {
    size_t at = token.begin;
    while (at > 0 && (source_[at - 1] == ' ' || source_[at - 1] == '\t')) --at;
    indentation_ = static_cast<uint32_t>(token.begin - at);
  }

  void open(uint32_t at) {
    Token& token = tokens_[at];
    open_.push_back({token.kind, at, indentation_});
    if (token.kind == TokenKind::StringHead) {
      counts_.emplace_back();
      return;
    }
    token.value = kNoMatch;
    ++counts_.back().of[kind_index(token.kind)];
  }

  void pop() {
    const TokenKind kind = open_.back().kind;
    open_.pop_back();
    if (kind == TokenKind::StringHead) {
      counts_.pop_back();
    } else {
      --counts_.back().of[kind_index(kind)];
    }
  }

  // How many brackets are open up to the innermost of this kind, that one included; 0 when there is
  // none.
  size_t find_open(TokenKind kind) const {
    const bool is_string = kind == TokenKind::StringHead;
    if (is_string ? counts_.size() == 1 : counts_.back().of[kind_index(kind)] == 0) return 0;
    size_t at = open_.size();
    while (open_[at - 1].kind != kind) --at;
    return at;
  }

  // Leaves `size` brackets open; those above are not closed.
  void drop_down_to(size_t size) {
    if (size < open_.size()) balanced_ = false;
    while (open_.size() > size) pop();
  }

  void drop_strings(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) drop_down_to(find_open(TokenKind::StringHead) - 1);
  }

  // Behind a dot any word is a name.
  bool is_field(uint32_t at) const {
    const TokenKind before = at == 0 ? TokenKind::End : tokens_[at - 1].kind;
    return before == TokenKind::Dot || before == TokenKind::QuestionDot;
  }

  void drop_unclosed() {
    while (!open_.empty()) {
      const TokenKind kind = open_.back().kind;
      if (kind != TokenKind::LeftParen && kind != TokenKind::LeftBracket) return;
      drop_down_to(open_.size() - 1);
    }
  }

  // The `{` a `}` at the start of a line belongs to by its looks, or `nearest`.
  size_t equally_indented(const Token& closing, size_t nearest) const {
    if (!by_indentation_ || !closing.newline_before) return nearest;
    const size_t last = nearest > kFarthest ? nearest - kFarthest : 0;
    for (size_t at = nearest; at > last; --at) {
      const Open& each = open_[at - 1];
      if (each.kind == TokenKind::StringHead) break;
      if (each.kind == TokenKind::LeftBrace && each.indentation == indentation_) return at;
    }
    return nearest;
  }

  void close(uint32_t at) {
    Token& token = tokens_[at];
    const bool is_string = token.kind == TokenKind::StringTail;
    if (!is_string) token.value = kNoMatch;
    size_t found = find_open(opening_of(token.kind));
    if (found == 0) {
      balanced_ = false;
      return;
    }
    if (token.kind == TokenKind::RightBrace) found = equally_indented(token, found);
    drop_down_to(found);
    if (!is_string) {
      token.value = open_.back().token;
      tokens_[token.value].value = at;
    }
    pop();
  }

  static constexpr size_t kFarthest = 200;  // keeps the second pass linear whatever the source
  std::vector<Token>& tokens_;
  std::string_view source_;
  Arena& arena_;
  bool by_indentation_;
  bool balanced_ = true;
  uint32_t indentation_ = 0;  // of the line of the token at hand
  std::vector<Open> open_;
  std::vector<Counts> counts_{Counts{}};
};

}  // namespace

void match_brackets(std::vector<Token>& tokens, std::string_view source, Arena& arena) {
  if (!Matcher(tokens, source, arena, false).run()) Matcher(tokens, source, arena, true).run();
}

}  // namespace posset::syntax
