// The tokens of a text, for editors: those of the lexer, and what it leaves out between them. That
// is white space, comments, characters it has reported and stepped over, and the beginning of a
// string it found no end of: such a string leaves an empty Broken token where it was given up.
#include <algorithm>
#include <array>

#include "interp/api/handles.h"
#include "interp/syntax/lexer.h"
#include "interp/syntax/utf8.h"

using posset::api::goes_on;
using posset::api::text;
using posset::api::view;
using posset::syntax::Token;
using posset::syntax::TokenKind;

namespace {

constexpr std::array kKeywords = {
#define KEYWORD(Name, spelling) std::string_view(spelling),
#include "interp/syntax/tokens.def"
    posset::syntax::kTypeWord,
};

posset_token_kind kind_of(TokenKind kind) {
  switch (kind) {
#define KEYWORD(Name, spelling) \
  case TokenKind::Name:         \
    return POSSET_TOKEN_KEYWORD;
#define PUNCTUATION(Name, spelling) \
  case TokenKind::Name:             \
    return POSSET_TOKEN_PUNCTUATION;
#define FOREIGN(Name, spelling, hint) \
  case TokenKind::Name:               \
    return POSSET_TOKEN_ERROR;
#include "interp/syntax/tokens.def"
    case TokenKind::Name:
      return POSSET_TOKEN_NAME;
    case TokenKind::Int:
    case TokenKind::Float:
      return POSSET_TOKEN_NUMBER;
    case TokenKind::String:
    case TokenKind::StringHead:
    case TokenKind::StringMiddle:
    case TokenKind::StringTail:
    case TokenKind::Format:
      return POSSET_TOKEN_TEXT;
    case TokenKind::End:
    case TokenKind::Broken:
      break;
  }
  return POSSET_TOKEN_ERROR;
}

// One enumeration. The functions give false when the visitor has had enough.
class TokenWalk {
 public:
  TokenWalk(std::string_view source, posset_visit_token visit, void* data)
      : source_(source), visit_(visit), data_(data) {}

  posset_status run(const std::vector<Token>& tokens) {
    size_t end = source_.starts_with("\xEF\xBB\xBF") ? 3 : 0;  // a mark the lexer ignores
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (!between(end, token.begin) || !give(kind_at(tokens, i), token.begin, token.end)) break;
      end = token.end;
    }
    return result_;
  }

 private:
  posset_token_kind kind_at(const std::vector<Token>& tokens, size_t i) const {
    const Token& token = tokens[i];
    const std::string_view spelt = source_.substr(token.begin, token.end - token.begin);
    if (token.kind == TokenKind::Broken && spelt.starts_with('\'')) return POSSET_TOKEN_TEXT;
    const bool is_type_word = token.kind == TokenKind::Name && spelt == posset::syntax::kTypeWord;
    if (!is_type_word) return kind_of(token.kind);
    const Token& next = tokens[i + 1];  // there is one: the last is End
    const bool declares = next.kind == TokenKind::Name && !next.newline_before;
    return declares ? POSSET_TOKEN_KEYWORD : POSSET_TOKEN_NAME;
  }

  bool between(size_t at, size_t end) {
    while (at < end) {
      const char c = source_[at];
      size_t next = at + 1;
      if (c == '#') {
        next = std::min(source_.find('\n', at), end);
        if (!give(POSSET_TOKEN_COMMENT, at, next)) return false;
      } else if (c == '"' || c == '\'' || c == '}' || c == ':') {
        return give(POSSET_TOKEN_TEXT, at, end);  // the string that has no end
      } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
        next = at + posset::syntax::decode_utf8(source_, at).length;
        if (!give(POSSET_TOKEN_ERROR, at, next)) return false;
      }
      at = next;
    }
    return true;
  }

  bool give(posset_token_kind kind, size_t begin, size_t end) {
    if (begin == end) return true;
    const posset_token_info info = {kind, begin, end};
    return goes_on(visit_(data_, &info), result_);
  }

  std::string_view source_;
  posset_visit_token visit_;
  void* data_;
  posset_status result_ = POSSET_OK;
};

}  // namespace

extern "C" {

posset_status posset_each_token(posset_text given, posset_visit_token visit, void* data) {
  if (!visit || given.size > posset::api::kMaxSource) return POSSET_MISUSE;
  const auto source = std::make_shared<const posset::syntax::Source>("", std::string(view(given)));
  std::vector<posset::syntax::Diagnostic> reports;
  if (!check_encoding(source, reports)) return POSSET_INVALID;
  posset::syntax::Arena arena;
  const auto stream = posset::syntax::Lexer(source, arena, reports).run();
  return TokenWalk(source->text(), visit, data).run(stream.tokens);
}

posset_status posset_each_keyword(posset_visit_name visit, void* data) {
  if (!visit) return POSSET_MISUSE;
  posset_status result = POSSET_OK;
  for (std::string_view keyword : kKeywords) {
    if (!goes_on(visit(data, text(keyword)), result)) break;
  }
  return result;
}

}  // extern "C"
