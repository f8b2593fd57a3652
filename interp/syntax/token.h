// Tokens: what the lexer makes of a source and the parser reads. They stand in one array, so that
// the parser can look ahead without bound (is this `(` the start of a lambda?), and stay small,
// because a large source has one for every few bytes.
//
// A string with interpolations is several tokens: StringHead, the tokens of the first expression,
// optionally Format, then StringMiddle, ..., StringTail. Where a mistake left nothing to build a
// token of there is a Broken one: it has been reported, and the parser gives up the statement
// silently.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "interp/syntax/ast.h"

namespace posset::syntax {

enum class TokenKind : uint8_t {
  End,
  Broken,
  Name,
  Int,
  Float,
  String,
  StringHead,
  StringMiddle,
  StringTail,
  Format,
#define KEYWORD(Name, spelling) Name,
#define PUNCTUATION(Name, spelling) Name,
#define FOREIGN(Name, spelling, hint) Name,
#include "interp/syntax/tokens.def"
};

inline constexpr uint32_t kNoMatch = UINT32_MAX;

// Of the smallest int, which no literal without a minus is.
inline constexpr uint64_t kMinMagnitude = uint64_t{1} << 63;

struct Token {
  TokenKind kind = TokenKind::End;
  bool newline_before = false;  // a line break between the token before and this one
  uint32_t begin = 0;
  uint32_t end = 0;
  // Brackets: the token they match, or kNoMatch. Strings and formats: place in TokenStream::texts.
  // Numbers: place in TokenStream::numbers. Broken: how many StringHeads stay without their
  // StringTail.
  uint32_t value = kNoMatch;
};

union Number {
  uint64_t magnitude;  // Int: at most 2^63, and 2^63 only right after a minus
  double real;         // Float
};

struct TokenStream {
  std::vector<Token> tokens;  // the last is End
  std::vector<Text> texts;    // what the strings stand for, escapes and indentation done
  std::vector<Number> numbers;
  bool open_string = false;  // the source ends inside a `"""` string
};

// The spelling of a keyword or punctuation; empty for the other kinds.
std::string_view spelling(TokenKind kind);
// Begins a type declaration where a name follows on its line; elsewhere it is one itself.
inline constexpr std::string_view kTypeWord = "type";
// What to write instead of a FOREIGN token; empty for the other kinds.
std::string_view foreign_hint(TokenKind kind);
// What to write instead of a word of another language that starts a statement; empty for other
// words.
std::string_view foreign_word_hint(std::string_view word);

constexpr bool is_keyword(TokenKind kind) {
  return kind >= TokenKind::Let && kind <= TokenKind::Nil;
}
constexpr bool is_foreign(TokenKind kind) { return kind >= TokenKind::AmpersandAmpersand; }
constexpr bool is_assignment(TokenKind kind) {
  return kind >= TokenKind::Equal && kind <= TokenKind::QuestionQuestionEqual;
}
constexpr bool is_opening(TokenKind kind) {
  return kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket ||
         kind == TokenKind::LeftBrace || kind == TokenKind::StringHead;
}
constexpr bool is_closing(TokenKind kind) {
  return kind == TokenKind::RightParen || kind == TokenKind::RightBracket ||
         kind == TokenKind::RightBrace || kind == TokenKind::StringTail;
}

// Words that stand at the start of a statement and nowhere else. (`return` and its kind may also be
// the right side of `or`.)
constexpr bool starts_statement_only(TokenKind kind) {
  return kind == TokenKind::Let || kind == TokenKind::Var || kind == TokenKind::Import ||
         kind == TokenKind::Export || kind == TokenKind::Fn || kind == TokenKind::Pure;
}

// Fills in Token::value of all brackets. When they do not balance, the indentation decides which
// `{` is the one that lacks its `}`.
void match_brackets(std::vector<Token>& tokens, std::string_view source, Arena& arena);

}  // namespace posset::syntax
