// Patterns: of match arms, `let`, `for` and parameters. A capitalised name is a constructor
// everywhere here; where a plain name is always a binding (right after `let`, a parameter) the
// caller has seen to it.
#include <utility>

#include "interp/syntax/parser_internal.h"

namespace posset::syntax {

// With alternatives; a line may start with their `|`.
Node* Parser::pattern() {
  const uint32_t begin = token().begin;
  Node* first = single_pattern();
  if (!at(TokenKind::Pipe)) return first;
  std::vector<Node*> alternatives{first};
  while (at(TokenKind::Pipe)) {
    advance();
    alternatives.push_back(single_pattern());
  }
  auto* made = make<AlternativePatternNode>(begin);
  made->alternatives = module_.arena.list(alternatives);
  return made;
}

Node* Parser::single_pattern(const char* expected) {
  switch (token().kind) {
    case TokenKind::Name:
      return name_pattern();
    case TokenKind::LeftBracket:
      return list_pattern();
    case TokenKind::LeftBrace:
      return record_pattern();
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::Nil:
    case TokenKind::Minus:
      return literal_pattern();
    case TokenKind::StringHead:
      fail_expected("a pattern",
                    "a pattern holds no interpolation; compare in a guard: `s if s == ... =>`");
    case TokenKind::LeftParen:
      fail_expected("a pattern", "patterns need no parentheses; a list is written [a, b]");
    case TokenKind::DotDot:
      fail_expected("a pattern", "a rest stands in a list or at the end of a record");
    default:
      break;
  }
  fail_expected(expected, keyword_hint());
}

Node* Parser::literal_pattern() {
  const uint32_t begin = token().begin;
  Node* value = nullptr;
  if (at(TokenKind::Minus)) {
    const TokenKind number = token(1).kind;
    if (number != TokenKind::Int && number != TokenKind::Float) {
      advance();
      fail_expected("a number",
                    "patterns hold literals only; compute in a guard: `x if x == -y =>`");
    }
    advance();
    value = number == TokenKind::Int ? int_literal(begin, true) : float_literal(begin, true);
  } else {
    value = literal();
  }
  if (on_line(TokenKind::DotDot) || on_line(TokenKind::DotDotEqual)) {
    fail_expected("'=>'", "a range is tested in a guard: `n if n in 0..10 =>`");
  }
  auto* made = make<LiteralPatternNode>(begin);
  made->value = value;
  return made;
}

// `_`, a binding with or without a type, or a constructor.
Node* Parser::name_pattern() {
  const Token& name = advance();
  if (on_line(TokenKind::Dot)) {
    advance();
    const Text constructor = new_name("the name of a constructor");
    if (!starts_with_capital(constructor)) {
      fail(ErrorCode::UnexpectedToken, span_from(name.begin),
           "found '" + std::string(constructor) + "', expected the name of a constructor",
           "constructors begin with a capital letter; to assign to a field, leave out the `let`");
    }
    return constructor_pattern(name.begin, text_of(name), constructor);
  }
  if (starts_with_capital(text_of(name))) return constructor_pattern(name.begin, {}, text_of(name));
  if (at(TokenKind::LeftParen) && !token().newline_before) {
    fail(ErrorCode::UnexpectedToken, {token().begin, token().end},
         "found '(' after '" + std::string(text_of(name)) + "' in a pattern",
         "constructors begin with a capital letter; a function is declared with `fn`");
  }
  return named_pattern(name);
}

Node* Parser::named_pattern(const Token& name) {
  TypeExpr* annotation = optional_annotation();
  if (!annotation && text_of(name) == "_") return make<WildcardPatternNode>(name.begin);
  auto* made = make<BindingPatternNode>(name.begin);
  made->name = text_of(name);
  made->type = annotation;
  return made;
}

Node* Parser::constructor_pattern(uint32_t begin, Text module, Text name) {
  std::vector<Node*> arguments;
  const bool has_arguments = at(TokenKind::LeftParen) && !token().newline_before;
  if (has_arguments) {
    const Level level(*this);
    const uint32_t opening = position_;
    const Inside inside(*this, opening, Newlines::Ignored);
    advance();
    while (!at(TokenKind::RightParen)) {
      if (at(TokenKind::DotDot))
        fail_expected("a pattern", "write `_` for each field that does not matter");
      arguments.push_back(pattern());
      if (!accept(TokenKind::Comma)) break;
    }
    expect_close(TokenKind::RightParen, opening, "',' or ')'");
  }
  auto* made = make<ConstructorPatternNode>(begin);
  made->module = module;
  made->name = name;
  made->has_arguments = has_arguments;
  made->arguments = module_.arena.list(arguments);
  return made;
}

Node* Parser::list_pattern() {
  const Level level(*this);
  const uint32_t begin = token().begin;
  const uint32_t opening = position_;
  const Inside inside(*this, opening, Newlines::Ignored);
  advance();
  std::vector<Node*> items;
  bool has_rest = false;
  while (!at(TokenKind::RightBracket)) {
    Node* item = at(TokenKind::DotDot) ? rest_pattern() : pattern();
    const bool is_rest = item->kind == NodeKind::RestPattern;
    if (is_rest && has_rest) {
      complain(ErrorCode::BadPattern, item->span, "found a second rest in a list pattern",
               "one `..rest` takes all between the others");
    }
    has_rest = has_rest || is_rest;
    items.push_back(item);
    if (!accept(TokenKind::Comma)) break;
  }
  expect_close(TokenKind::RightBracket, opening, "',' or ']'");
  auto* made = make<ListPatternNode>(begin);
  made->items = module_.arena.list(items);
  return made;
}

Node* Parser::record_pattern() {
  const Level level(*this);
  const uint32_t begin = token().begin;
  const uint32_t opening = position_;
  const Inside inside(*this, opening, Newlines::Ignored);
  advance();
  std::vector<Node*> fields;
  while (!at(TokenKind::RightBrace)) {
    const bool is_rest = at(TokenKind::DotDot);
    fields.push_back(is_rest ? rest_pattern() : record_pattern_field());
    if (!accept(TokenKind::Comma)) break;
    if (is_rest && !at(TokenKind::RightBrace))
      fail_expected("'}'", "the rest stands last in a record pattern");
  }
  expect_close(TokenKind::RightBrace, opening, "',' or '}'");
  auto* made = make<RecordPatternNode>(begin);
  made->fields = module_.arena.list(fields);
  return made;
}

// `name`, or `name: pattern`. A keyword needs the pattern: it can name a field, not a variable.
Node* Parser::record_pattern_field() {
  const bool is_field =
      at(TokenKind::Name) || (is_keyword(token().kind) && token(1).kind == TokenKind::Colon);
  if (!is_field) {
    fail_expected("the name of a field",
                  is_keyword(token().kind)
                      ? "a field called like a word of the language needs a pattern: `{in: x}`"
                      : "");
  }
  const Token& name = advance();
  Node* inner = nullptr;
  if (accept(TokenKind::Colon)) {
    inner = pattern();
  } else {
    auto* same = make<BindingPatternNode>(name.begin);
    same->name = text_of(name);
    inner = same;
  }
  auto* made = make<RecordPatternFieldNode>(name.begin);
  made->name = text_of(name);
  made->pattern = inner;
  return made;
}

// `..name`, `..` or `.._`.
Node* Parser::rest_pattern() {
  const uint32_t begin = advance().begin;
  Text name;
  if (at(TokenKind::Name)) name = text_of(advance());
  if (name == "_") name = {};
  auto* made = make<RestPatternNode>(begin);
  made->name = name;
  return made;
}

}  // namespace posset::syntax
