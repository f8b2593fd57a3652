// Functions: `fn` statements, lambdas, parameters, and what may follow `=>`.
#include <utility>

#include "interp/syntax/parser_internal.h"

namespace posset::syntax {

namespace {

constexpr size_t kMaxParameters = 64;  // FunctionDecl::inout_mask has a bit for each

}  // namespace

// At `fn` or `pure`; behind `export` when exported.
Node* Parser::fn_statement(bool exported) {
  const Level level(*this);
  const uint32_t begin = exported ? previous().begin : token().begin;
  const bool is_pure = accept(TokenKind::Pure);
  expect(TokenKind::Fn, "'fn'", "`pure` stands before `fn`");
  FunctionDecl* decl = module_.new_function();
  decl->parent = function_;
  decl->declared_pure = is_pure;
  const Token& name = token();
  decl->name = new_name("the name of the function");
  decl->name_span = {name.begin, name.end};
  function_rest(*decl);
  decl->span = span_from(begin);
  auto* made = make<FunctionStatementNode>(begin);
  made->function = decl;
  made->exported = exported;
  return made;
}

// `fn (x) { ... }` is what other languages write for a lambda. It is reported once, and read as
// one.
Node* Parser::anonymous_fn() {
  const Token& word = token();
  if (token(1).kind == TokenKind::Name) {
    fail(ErrorCode::MisplacedStatement, {word.begin, word.end},
         "found 'fn', expected an expression",
         "`fn` is a statement; a function in an expression is a lambda: `(a, b) => a + b`");
  }
  if (!fn_value_reported_) {
    complain(ErrorCode::UnexpectedToken, {word.begin, word.end},
             "found 'fn', expected an expression",
             "a function in an expression is a lambda: `(a, b) => a + b`");
  }
  fn_value_reported_ = true;
  quiet_ = true;
  const Level level(*this);
  advance();
  FunctionDecl* decl = module_.new_function();
  decl->parent = function_;
  decl->is_lambda = true;
  function_rest(*decl);
  decl->span = span_from(word.begin);
  auto* made = make<LambdaNode>(word.begin);
  made->function = decl;
  return made;
}

// Parameters, result and body.
void Parser::function_rest(FunctionDecl& decl) {
  const InFunction in_function(*this, &decl);
  if (!on_line(TokenKind::LeftParen) || token().newline_before) {
    fail_expected("'('", "a function without parameters is written `fn name() { ... }`");
  }
  parameters(decl);
  if (accept(TokenKind::Arrow)) decl.result = type();
  if (on_line(TokenKind::Colon))
    fail_expected("'{' or '=>'", "the type of the result follows `->`");
  if (on_line(TokenKind::Equal))
    fail_expected("'{' or '=>'", "a body that is one expression follows `=>`");
  decl.body = accept(TokenKind::FatArrow) ? arrow_body(Body::Function) : block("'{' or '=>'");
}

// ---- lambdas ----

bool Parser::at_lambda() const {
  if (no_arrow_) return false;
  const Token* behind = nullptr;
  if (at(TokenKind::Name)) {
    behind = &token(1);
  } else if (at(TokenKind::LeftParen)) {
    behind = after_bracket();
  }
  return behind && behind->kind == TokenKind::FatArrow && !(lines_ && behind->newline_before);
}

Node* Parser::lambda() {
  const Level level(*this);
  const uint32_t begin = token().begin;
  FunctionDecl* decl = module_.new_function();
  decl->parent = function_;
  decl->is_lambda = true;
  {
    const InFunction in_function(*this, decl);
    if (at(TokenKind::LeftParen)) {
      parameters(*decl);
    } else {
      Parameter only;
      parameter_name(only);
      decl->parameters.push_back(only);
      check_parameters(*decl);
    }
    expect(TokenKind::FatArrow, "'=>'");
    decl->body = arrow_body(Body::Lambda);
  }
  decl->span = span_from(begin);
  decl->name_span = decl->span;
  auto* made = make<LambdaNode>(begin);
  made->function = decl;
  return made;
}

// ---- parameters ----

void Parser::parameters(FunctionDecl& decl) {
  const uint32_t opening = position_;
  {
    const Inside inside(*this, opening, Newlines::Ignored);
    advance();
    while (!at(TokenKind::RightParen)) {
      module_.arena.count(sizeof(Parameter));
      decl.parameters.push_back(parameter());
      if (!accept(TokenKind::Comma)) break;
    }
    expect_close(TokenKind::RightParen, opening, "',' or ')'");
  }
  check_parameters(decl);
}

Parameter Parser::parameter() {
  Parameter made;
  const uint32_t begin = token().begin;
  made.inout = accept(TokenKind::Inout);
  made.rest = !made.inout && accept(TokenKind::DotDot);
  if (at(TokenKind::Ampersand))
    fail_expected("a parameter",
                  "an inout parameter is written `inout xs`, and marked with & at the call");
  parameter_name(made);
  made.type = optional_annotation();
  if (at(TokenKind::Equal)) {
    if (made.inout || made.rest)
      fail_expected("',' or ')'", "an inout or rest parameter has no default");
    advance();
    made.fallback = expression();
  }
  if (made.pattern) made.span = span_from(begin);
  if ((made.inout || made.rest) && made.pattern &&
      made.pattern->kind != NodeKind::WildcardPattern) {
    fail(ErrorCode::UnexpectedToken, made.pattern->span, "found a pattern, expected a name",
         "take it apart in the body with `let`");
  }
  return made;
}

// A name, or a pattern in its place. `_` is a pattern: it binds nothing.
void Parser::parameter_name(Parameter& made) {
  const bool is_name = at(TokenKind::Name) && token(1).kind != TokenKind::LeftParen &&
                       token(1).kind != TokenKind::Dot;
  const bool is_wildcard = is_name && text_of(token()) == "_";
  if (is_name && !is_wildcard) {
    const Token& name = advance();
    made.name = text_of(name);
    made.span = {name.begin, name.end};
    return;
  }
  const bool is_pattern =
      is_wildcard || at(TokenKind::Name) || at(TokenKind::LeftBracket) || at(TokenKind::LeftBrace);
  if (!is_pattern) fail_expected("a parameter", keyword_hint());
  if (is_wildcard) {
    const uint32_t begin = advance().begin;
    made.pattern = make<WildcardPatternNode>(begin);
  } else {
    made.pattern = single_pattern();
  }
  made.span = made.pattern->span;
}

void Parser::check_parameters(FunctionDecl& decl) {
  decl.required = 0;
  bool has_default = false;
  for (size_t i = 0; i < decl.parameters.size(); ++i) {
    Parameter& each = decl.parameters[i];
    each.slot = static_cast<uint32_t>(i);
    if (decl.has_rest) {
      complain(ErrorCode::UnexpectedToken, each.span, "found a parameter after the rest parameter",
               "`..rest` stands last");
    }
    if (has_default && !each.fallback && !each.rest) {
      complain(ErrorCode::UnexpectedToken, each.span,
               "found a parameter without a default after one with a default",
               "parameters with defaults stand last");
    }
    has_default = has_default || each.fallback;
    decl.has_rest = decl.has_rest || each.rest;
    if (!each.fallback && !each.rest) ++decl.required;
    if (each.inout && i < kMaxParameters) decl.inout_mask |= uint64_t{1} << i;
  }
  if (decl.parameters.size() > kMaxParameters) {
    complain(ErrorCode::UnexpectedToken, decl.parameters[kMaxParameters].span,
             "found a function with more than 64 parameters", "pass a list or a record");
  }
}

// ---- bodies ----

// What follows `=>`. Only a lambda and an arm may be an assignment.
Node* Parser::arrow_body(Body kind) {
  if (at_leave()) return leave();
  if (at(TokenKind::LeftBrace) && !arrow_starts_record()) {
    const bool is_short_record =
        token(1).kind == TokenKind::Name && token(2).kind == TokenKind::Comma;
    return is_short_record ? short_record_body() : block("'{'");
  }
  const bool may_assign = kind == Body::Lambda || kind == Body::Arm;
  return may_assign ? expression_or_assignment() : expression();
}

// After `=>`, `{ name:` and `{ ..` start a record, everything else a block.
bool Parser::arrow_starts_record() const {
  const TokenKind first = token(1).kind;
  if (first == TokenKind::DotDot) return true;
  return (first == TokenKind::Name || is_keyword(first)) && token(2).kind == TokenKind::Colon;
}

// `=> {x, y}`: a block by the rule, surely meant as a record.
Node* Parser::short_record_body() {
  const uint32_t closing = token().value;
  constexpr uint32_t kLongest = 60;
  const uint32_t begin = token().begin;
  std::string shown = "{x, y}";
  if (closing != kNoMatch && tokens_[closing].end - begin <= kLongest) {
    shown = source_text_.substr(begin, tokens_[closing].end - begin);
  }
  complain(ErrorCode::UnexpectedToken, {begin, begin + 1},
           "a '{' after => starts a block; for a record, write (" + shown + ")",
           "put the record in parentheses");
  return expression();
}

}  // namespace posset::syntax
