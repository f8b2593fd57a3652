// Control flow: if while for match try do with, and comprehensions. Each is an expression, and each
// is one level of nesting however many blocks it has.
#include <utility>

#include "interp/syntax/parser_internal.h"

namespace posset::syntax {

// These words take what follows from their own line.
void Parser::same_line(const char* expected) {
  if (at_line_start()) {
    fail(ErrorCode::UnexpectedToken, {previous().end, previous().end},
         std::string("found the end of the line, expected ") + expected,
         "it stands on the line of `" + std::string(text_of(previous())) + "`");
  }
}

// A chain of `else if` may be as long as it likes, so it is read in a loop; its nodes nest all the
// same.
Node* Parser::if_expression() {
  const Level level(*this);
  std::vector<IfNode*> chain;
  Node* otherwise = nullptr;
  do {
    const uint32_t begin = advance().begin;
    Node* test = condition("an expression");
    Node* branch = block("'{'");
    auto* made = make<IfNode>(begin);
    made->condition = test;
    made->then_branch = branch;
    if (!chain.empty()) chain.back()->else_branch = made;
    chain.push_back(made);
    if (!at(TokenKind::Else)) break;
    advance();
    if (on_line(TokenKind::If)) continue;
    otherwise = block("'{' or 'if'");
  } while (!otherwise);
  if (otherwise) chain.back()->else_branch = otherwise;
  for (IfNode* each : chain) each->span.end = previous().end;
  return chain.front();
}

// Of `if` and `while`: up to the brace.
Node* Parser::condition(const char* expected) {
  same_line(expected);
  Node* made = operand_expression();
  if (on_line(TokenKind::Equal)) fail_expected("'{'", "to compare, write ==");
  if (on_line(TokenKind::Colon)) fail_expected("'{'", "blocks stand in braces");
  return made;
}

Node* Parser::while_expression() {
  const Level level(*this);
  const uint32_t begin = advance().begin;
  Node* test = condition("a condition");
  Node* body = block("'{'");
  auto* made = make<WhileNode>(begin);
  made->condition = test;
  made->body = body;
  return made;
}

Node* Parser::for_expression() {
  const Level level(*this);
  const uint32_t begin = advance().begin;
  same_line("a name");
  if (at(TokenKind::LeftParen))
    fail_expected("a name or a pattern",
                  "a loop is written `for x in xs { ... }`, over numbers `for i in 0..n`");
  Node* variable = single_pattern("a name or a pattern");
  if (on_line(TokenKind::Comma))
    fail_expected("'in'", "pairs are taken apart with brackets: `for [k, v] in m`");
  expect(TokenKind::In, "'in'",
         "a loop is written `for x in xs { ... }`, over numbers `for i in 0..n`");
  Node* iterable = operand_expression();
  Node* body = block("'{'");
  auto* made = make<ForNode>(begin);
  made->iterable = iterable;
  made->pattern = variable;
  made->body = body;
  return made;
}

// `[for x in xs if c => e]`, at the `for`.
Node* Parser::comprehension(uint32_t begin, uint32_t opening) {
  advance();
  Node* variable = single_pattern();
  expect(TokenKind::In, "'in'");
  Node* iterable = nullptr;
  Node* test = nullptr;
  {
    const WithoutArrow without_arrow(*this);
    iterable = operand_expression();
    if (accept(TokenKind::If)) test = operand_expression();
  }
  const bool has_more = at(TokenKind::If) || at(TokenKind::For);
  expect(TokenKind::FatArrow, "'=>'",
         has_more ? "a comprehension has one `for` and at most one `if`; nest another in its body"
                  : "");
  Node* body = arrow_body(Body::Element);
  if (at(TokenKind::Comma)) fail_expected("']'", "a comprehension stands alone in its brackets");
  expect_close(TokenKind::RightBracket, opening, "']'");
  auto* made = make<ComprehensionNode>(begin);
  made->iterable = iterable;
  made->pattern = variable;
  made->condition = test;
  made->body = body;
  return made;
}

// ---- match ----

Node* Parser::match_expression() {
  const Level level(*this);
  const uint32_t begin = advance().begin;
  same_line("a value");
  Node* subject = operand_expression();
  check_block_start("'{'");
  const uint32_t opening = position_;
  std::vector<Node*> arms;
  {
    const Inside inside(*this, opening, Newlines::Count);
    advance();
    while (!at(TokenKind::End) && !is_closing(token().kind)) {
      if (at(TokenKind::Semicolon)) {
        advance();
        continue;
      }
      if (is_bracket_failure() || at(TokenKind::StringMiddle)) break;
      arms.push_back(statement_or_malformed(true));
      // Not closed and not an arm: what follows is code behind the match.
      const bool lost =
          arms.back()->kind == NodeKind::Malformed && tokens_[opening].value == kNoMatch;
      if (lost) throw SyntaxPanic{};
    }
    expect_close(TokenKind::RightBrace, opening, "a pattern or '}'");
  }
  auto* made = make<MatchNode>(begin);
  made->subject = subject;
  made->arms = module_.arena.list(arms);
  return made;
}

Node* Parser::match_arm() {
  const uint32_t begin = token().begin;
  Node* matched = pattern();
  Node* guard = nullptr;
  if (on_line(TokenKind::If)) {
    advance();
    const WithoutArrow without_arrow(*this);
    guard = operand_expression();
  }
  const bool is_other_arrow =
      on_line(TokenKind::Arrow) || on_line(TokenKind::Colon) || on_line(TokenKind::Equal);
  expect(TokenKind::FatArrow, guard ? "'=>'" : "'=>' or 'if'",
         is_other_arrow ? "an arm is written `pattern => value`" : "");
  Node* body = arrow_body(Body::Arm);
  auto* made = make<MatchArmNode>(begin);
  made->pattern = matched;
  made->guard = guard;
  made->body = body;
  return made;
}

void Parser::end_arm() {
  if (accept(TokenKind::Comma) || accept(TokenKind::Semicolon)) return;
  if (at(TokenKind::End) || at(TokenKind::RightBrace)) return;
  if (at_line_start() && !is_assignment(token().kind)) return;
  fail_expected("the end of the line, ',' or '}'");
}

// ---- try, do, with ----

Node* Parser::try_expression() {
  const Level level(*this);
  const uint32_t begin = advance().begin;
  Node* body = block("'{'");
  if (!at(TokenKind::Catch)) {
    if (at(TokenKind::End) && reports_.empty())
      wants_more_ = true;  // it may stand on the next line
    fail_expected("'catch'", "every `try` has a `catch`: `try { ... } catch e { ... }`");
  }
  advance();
  Node* name = catch_name();
  Node* handler = block(name ? "'{'" : "a name or '{'");
  auto* made = make<TryNode>(begin);
  made->body = body;
  made->pattern = name;
  made->handler = handler;
  return made;
}

// Null when it is left out.
Node* Parser::catch_name() {
  if (on_line(TokenKind::LeftParen))
    fail_expected("a name or '{'", "the name stands alone: `catch e { ... }`");
  if (!on_line(TokenKind::Name)) return nullptr;
  const Token& written = advance();
  if (text_of(written) == "_") return nullptr;
  auto* made = make<BindingPatternNode>(written.begin);
  made->name = text_of(written);
  return made;
}

Node* Parser::do_expression() {
  const Level level(*this);
  const uint32_t begin = advance().begin;
  BlockNode* made = block("'{'");
  made->span.begin = begin;
  return made;
}

Node* Parser::with_expression() {
  const Level level(*this);
  const uint32_t begin = advance().begin;
  const uint32_t name_begin = token().begin;
  const Text name = new_name("a name");
  auto* variable = make<BindingPatternNode>(name_begin);
  variable->name = name;
  expect(TokenKind::Equal, "'='", "a place is lent with `with t = &place { ... }`");
  if (!at(TokenKind::Ampersand))
    fail_expected("'&'", "a place is lent with `with t = &place { ... }`");
  advance();
  Node* place = place_operand();
  Node* body = block("'{'");
  auto* made = make<WithNode>(begin);
  made->place = place;
  made->pattern = variable;
  made->body = body;
  return made;
}

}  // namespace posset::syntax
