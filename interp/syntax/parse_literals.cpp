// Primary expressions: literals, names, parentheses, strings with interpolations, lists, maps,
// records.
#include <utility>

#include "interp/syntax/parser_internal.h"

namespace posset::syntax {

namespace {

constexpr const char* kRecordHint = "a `{` here starts a record; a block is written `do { ... }`";

}  // namespace

Node* Parser::primary() {
  if (at_lambda()) {
    complain(ErrorCode::MisplacedLambda, {token().begin, token().end},
             "found a lambda, expected an operand", "put the lambda in parentheses: `(x => ...)`");
    return lambda();
  }
  switch (token().kind) {
    case TokenKind::Name:
      return name();
    case TokenKind::LeftParen:
      return parenthesised();
    case TokenKind::LeftBracket:
      return list_or_map();
    case TokenKind::LeftBrace:
      return record();
    case TokenKind::StringHead:
      return interpolation();
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::Nil:
      return literal();
    case TokenKind::If:
      return if_expression();
    case TokenKind::While:
      return while_expression();
    case TokenKind::For:
      return for_expression();
    case TokenKind::Match:
      return match_expression();
    case TokenKind::Try:
      return try_expression();
    case TokenKind::Do:
      return do_expression();
    case TokenKind::With:
      return with_expression();
    case TokenKind::Fn:
      return anonymous_fn();
    default:
      fail_primary();
  }
}

void Parser::fail_primary() {
  const Token& here = token();
  const std::string word(text_of(here));
  switch (here.kind) {
    case TokenKind::Let:
    case TokenKind::Var:
    case TokenKind::Import:
    case TokenKind::Export:
    case TokenKind::Pure:
      if (is_bracket_failure()) break;
      fail(ErrorCode::MisplacedStatement, {here.begin, here.end},
           "found '" + word + "', expected an expression",
           "`" + word + "` is a statement; a block of statements is written `do { ... }`");
    case TokenKind::Return:
    case TokenKind::Throw:
    case TokenKind::Break:
    case TokenKind::Continue:
      if (is_bracket_failure()) break;
      fail(ErrorCode::MisplacedStatement, {here.begin, here.end},
           "found '" + word + "', expected an expression",
           "`" + word + "` is a statement, a body, or the right side of `??`, `and`, `or`");
    default:
      break;
  }
  const bool is_open_range =
      position_ > 1 && !is_opening(tokens_[position_ - 2].kind) &&
      tokens_[position_ - 2].kind != TokenKind::Comma &&
      (previous().kind == TokenKind::DotDot || previous().kind == TokenKind::DotDotEqual);
  fail_expected("an expression", is_open_range ? "a range has two ends: xs[1..len(xs)]" : "");
}

// ---- literals and names ----

Node* Parser::literal() {
  const uint32_t begin = token().begin;
  switch (token().kind) {
    case TokenKind::Int:
      return int_literal(begin, false);
    case TokenKind::Float:
      return float_literal(begin, false);
    case TokenKind::String: {
      const Token& string = advance();
      auto* made = make<StringLiteralNode>(begin);
      made->value = stream_.texts[string.value];
      return made;
    }
    case TokenKind::True:
    case TokenKind::False: {
      const bool value = advance().kind == TokenKind::True;
      auto* made = make<BoolLiteralNode>(begin);
      made->value = value;
      return made;
    }
    default:
      advance();
      return make<NilLiteralNode>(begin);
  }
}

Node* Parser::int_literal(uint32_t begin, bool negative) {
  const Token& written = advance();
  uint64_t magnitude = stream_.numbers[written.value].magnitude;
  if (magnitude == kMinMagnitude && !negative) {
    complain(ErrorCode::BadNumber, {written.begin, written.end}, "the int literal is out of range",
             "the largest int is 9223372036854775807; -9223372036854775808 is written with the "
             "sign right before it");
  }
  if (negative) magnitude = 0 - magnitude;
  auto* made = make<IntLiteralNode>(begin);
  made->value = static_cast<int64_t>(magnitude);
  return made;
}

Node* Parser::float_literal(uint32_t begin, bool negative) {
  const double value = stream_.numbers[advance().value].real;
  auto* made = make<FloatLiteralNode>(begin);
  made->value = negative ? -value : value;
  return made;
}

Node* Parser::name() {
  const Token& written = advance();
  auto* made = make<NameNode>(written.begin);
  made->name = text_of(written);
  return made;
}

Node* Parser::parenthesised() {
  const Level level(*this);
  const uint32_t opening = position_;
  const Inside inside(*this, opening, Newlines::Ignored);
  advance();
  if (at(TokenKind::RightParen))
    fail_expected("an expression",
                  "nothing is written nil; a lambda without parameters `() => ...`");
  Node* made = expression();
  if (at(TokenKind::Comma))
    fail_expected("')'", "a list is written [a, b]; the parameters of a lambda are followed by =>");
  expect_close(TokenKind::RightParen, opening, "')'");
  made->parenthesised = true;
  return made;
}

// ---- strings with interpolations ----

Node* Parser::interpolation() {
  const Level level(*this);
  const uint32_t begin = token().begin;
  const Inside inside(*this, position_, Newlines::Ignored);
  std::vector<Node*> parts;
  for (;;) {
    const Token& text = advance();
    if (!stream_.texts[text.value].empty()) {
      auto* part = module_.arena.node<StringLiteralNode>({text.begin, text.end});
      part->value = stream_.texts[text.value];
      parts.push_back(part);
    }
    if (text.kind == TokenKind::StringTail) break;
    parts.push_back(interpolated(text));
  }
  auto* made = make<InterpolationNode>(begin);
  made->parts = module_.arena.list(parts);
  return made;
}

// One `{expr:format}`; `before` is the text that ends with its brace.
Node* Parser::interpolated(const Token& before) {
  const bool is_empty =
      at(TokenKind::StringMiddle) || at(TokenKind::StringTail) || at(TokenKind::Format);
  if (is_empty) {
    fail(ErrorCode::UnexpectedToken, {before.end - 1, token().begin + 1},
         "found an interpolation without an expression, expected one between '{' and '}'",
         "a brace in a text is written \\{, or the text in '...'");
  }
  const uint32_t begin = token().begin;
  Node* value = expression();
  FormatSpec spec;
  if (at(TokenKind::Format)) {
    const Token& format = advance();
    const Text written = stream_.texts[format.value];
    if (!parse_format_spec(written, spec)) {
      complain(ErrorCode::BadFormat, {format.begin, format.end},
               "the format '" + std::string(written.substr(0, 40)) + "' is malformed",
               "a format is [[fill]< > ^][+][0][width][.precision][d x X b o f e g % s]");
    }
    spec.present = true;
  }
  auto* made = make<FormatPartNode>(begin);
  made->value = value;
  made->spec = spec;
  if (!at(TokenKind::StringMiddle) && !at(TokenKind::StringTail)) fail_expected("'}' or ':'");
  return made;
}

// ---- lists and maps ----

Node* Parser::list_or_map() {
  const Level level(*this);
  const uint32_t begin = token().begin;
  const uint32_t opening = position_;
  const Inside inside(*this, opening, Newlines::Ignored);
  advance();
  if (at(TokenKind::For)) return comprehension(begin, opening);
  if (at(TokenKind::Colon) && token(1).kind == TokenKind::RightBracket) {
    advance();
    advance();
    return make<MapLiteralNode>(begin);
  }
  std::vector<Node*> items;
  while (!at(TokenKind::RightBracket)) {
    items.push_back(list_item());
    if (at(TokenKind::Colon) && items.size() == 1) return map_rest(begin, opening, items.front());
    if (!accept(TokenKind::Comma)) break;
  }
  if (at(TokenKind::Colon))
    fail_expected("',' or ']'", "every entry of a map has a key, none of a list has");
  if (at(TokenKind::For))
    fail_expected("',' or ']'", "a comprehension is written [for x in xs => x * 2]");
  expect_close(TokenKind::RightBracket, opening, "',' or ']'");
  auto* made = make<ListLiteralNode>(begin);
  made->items = module_.arena.list(items);
  return made;
}

Node* Parser::list_item() { return at(TokenKind::DotDot) ? spread() : expression(); }

Node* Parser::spread() {
  const uint32_t begin = advance().begin;
  Node* value = expression();
  auto* made = make<SpreadNode>(begin);
  made->value = value;
  return made;
}

// At the colon behind the first key.
Node* Parser::map_rest(uint32_t begin, uint32_t opening, Node* first_key) {
  std::vector<Node*> entries;
  Node* key = first_key;
  uint32_t key_begin = tokens_[opening + 1].begin;
  for (;;) {
    expect(TokenKind::Colon, "':'", "every entry of a map is `key: value`");
    Node* value = expression();
    auto* entry = make<MapEntryNode>(key_begin);
    entry->key = key;
    entry->value = value;
    entries.push_back(entry);
    if (!accept(TokenKind::Comma) || at(TokenKind::RightBracket)) break;
    if (at(TokenKind::DotDot))
      fail_expected("a key", "maps are joined with `merge` of the module maps");
    key_begin = token().begin;
    key = expression();
  }
  expect_close(TokenKind::RightBracket, opening, "',' or ']'");
  auto* made = make<MapLiteralNode>(begin);
  made->entries = module_.arena.list(entries);
  return made;
}

// ---- records ----

Node* Parser::record() {
  const Level level(*this);
  const uint32_t begin = token().begin;
  const uint32_t opening = position_;
  const Inside inside(*this, opening, Newlines::Ignored);
  advance();
  std::vector<Node*> fields;
  while (!at(TokenKind::RightBrace)) {
    fields.push_back(record_field());
    if (!accept(TokenKind::Comma)) break;
  }
  const bool closes = at(TokenKind::RightBrace) || is_bracket_failure();
  if (!closes) {
    const bool is_block = position_ == opening + 2;  // `{ x + 1 }`: only a name was read
    fail_expected("',' or '}'", at(TokenKind::Equal)
                                    ? "a field of a record is written `name: value`"
                                : is_block ? kRecordHint
                                           : "");
  }
  expect_close(TokenKind::RightBrace, opening, "',' or '}'");
  auto* made = make<RecordLiteralNode>(begin);
  made->fields = module_.arena.list(fields);
  return made;
}

Node* Parser::record_field() {
  if (at(TokenKind::DotDot)) return spread();
  const bool is_word = at(TokenKind::Name) || is_keyword(token().kind);
  const bool is_field = is_word && (at(TokenKind::Name) || token(1).kind == TokenKind::Colon);
  if (!is_field) {
    const bool is_string = at(TokenKind::String) || at(TokenKind::StringHead);
    fail_expected("the name of a field",
                  is_string ? "a map is written [\"key\": value]" : kRecordHint);
  }
  const Token& written = advance();
  Node* value = nullptr;
  if (accept(TokenKind::Colon)) {
    value = expression();
  } else {
    auto* same = make<NameNode>(written.begin);
    same->name = text_of(written);
    value = same;
  }
  auto* made = make<RecordFieldNode>(written.begin);
  made->name = text_of(written);
  made->value = value;
  return made;
}

}  // namespace posset::syntax
