// What binds tightest: calls, indexes, fields, method calls, and the chains they make; arguments;
// and the right side of `|>`, which becomes one of these.
#include <utility>

#include "interp/syntax/parser_internal.h"

namespace posset::syntax {

Node* Parser::postfix() {
  const Measure measure(*this);
  const uint32_t begin = token().begin;
  Node* made = primary();
  bool optional = false;
  for (;;) {
    const bool same_line = !token().newline_before;
    if (at(TokenKind::Dot) || at(TokenKind::QuestionDot)) {  // also at the start of a line
      const bool may_be_nil = at(TokenKind::QuestionDot);
      made = member(begin, made, may_be_nil);
      optional = optional || may_be_nil;
    } else if (at(TokenKind::LeftParen) && same_line) {
      made = call(begin, made);
    } else if (at(TokenKind::LeftBracket) && same_line) {
      made = index(begin, made);
    } else {
      break;
    }
  }
  if (!optional) return made;
  auto* whole = make<OptionalChainNode>(begin);
  whole->chain = made;
  return whole;
}

Node* Parser::call(uint32_t begin, Node* callee) {
  grow();
  const NodeList given = arguments();
  auto* made = make<CallNode>(begin);
  made->callee = callee;
  made->arguments = given;
  return made;
}

// `x[i]`, and `m[k, default]`.
Node* Parser::index(uint32_t begin, Node* base) {
  grow();
  const Level level(*this);
  const uint32_t opening = position_;
  Node* at_index = nullptr;
  Node* fallback = nullptr;
  {
    const Inside inside(*this, opening, Newlines::Ignored);
    advance();
    if (at(TokenKind::RightBracket)) fail_expected("an index", "the last element is last(xs)");
    at_index = expression();
    if (accept(TokenKind::Comma)) fallback = expression();
    if (at(TokenKind::Colon)) fail_expected("']'", "a slice is written xs[1..3]");
    expect_close(TokenKind::RightBracket, opening, fallback ? "']'" : "',' or ']'");
  }
  auto* made = make<IndexNode>(begin);
  made->base = base;
  made->index = at_index;
  made->fallback = fallback;
  return made;
}

// `x.f` and `x.f(a)`; any word may follow the dot.
Node* Parser::member(uint32_t begin, Node* receiver, bool optional) {
  advance();
  grow();
  const bool is_word = at(TokenKind::Name) || is_keyword(token().kind);
  if (!is_word || at_line_start()) {
    fail_expected("the name of a field", at(TokenKind::Int) || at(TokenKind::LeftBracket)
                                             ? "elements are written xs[0]"
                                             : "");
  }
  const Token& name = advance();
  if (at(TokenKind::LeftParen) && !token().newline_before) {
    const NodeList given = arguments();
    auto* made = make<MethodCallNode>(begin);
    made->receiver = receiver;
    made->name = text_of(name);
    made->arguments = given;
    made->optional = optional;
    made->name_span = {name.begin, name.end};
    return made;
  }
  auto* made = make<FieldNode>(begin);
  made->base = receiver;
  made->name = text_of(name);
  made->optional = optional;
  return made;
}

// ---- arguments ----

NodeList Parser::arguments() {
  const Level level(*this);
  const uint32_t opening = position_;
  const Inside inside(*this, opening, Newlines::Ignored);
  advance();
  std::vector<Node*> given;
  while (!at(TokenKind::RightParen)) {
    given.push_back(argument());
    if (!accept(TokenKind::Comma)) break;
  }
  if (at(TokenKind::Equal) || at(TokenKind::Colon)) {
    fail_expected("',' or ')'", at(TokenKind::Equal)
                                    ? "to compare, write ==; arguments are given by position"
                                    : "arguments are given by position");
  }
  expect_close(TokenKind::RightParen, opening, "',' or ')'");
  return module_.arena.list(given);
}

Node* Parser::argument() {
  const uint32_t begin = token().begin;
  if (at(TokenKind::Ampersand)) return inout_argument(begin);
  const bool is_spread = accept(TokenKind::DotDot);
  Node* value = expression();
  auto* made = make<ArgumentNode>(begin);
  made->value = value;
  made->spread = is_spread;
  return made;
}

Node* Parser::inout_argument(uint32_t begin) {
  advance();
  Node* place = place_operand();
  auto* made = make<ArgumentNode>(begin);
  made->value = place;
  made->inout = true;
  return made;
}

// What follows a `&`.
Node* Parser::place_operand() {
  Node* place = postfix();
  if (is_place(place)) return place;
  complain(ErrorCode::BadInout, place->span,
           "`&` must be followed by a place: a variable, or a field or element of one",
           "put the value into a `var` first");
  return module_.arena.node<MalformedNode>(place->span);
}

// ---- pipes ----

namespace {

NodeList with_first(Arena& arena, Node* value, NodeList arguments) {
  auto* first = arena.node<ArgumentNode>(value->span);
  first->value = value;
  std::vector<Node*> all{first};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return arena.list(all);
}

}  // namespace

// `x |> f(a)` is f(x, a); `x |> r.f(a)` is r.f(x, a); anything else is called with x alone.
// Parentheses make a whole of the right side: `x |> (f(a))` calls what f(a) gives.
Node* Parser::pipe_into(uint32_t begin, Node* value, Node* target) {
  Arena& arena = module_.arena;
  const Span span = span_from(begin);
  if (!target->parenthesised) {
    if (auto* call = as<CallNode>(target)) {
      call->arguments = with_first(arena, value, call->arguments);
      call->form = CallForm::Piped;
      call->span = span;
      return call;
    }
    if (auto* method = as<MethodCallNode>(target)) {
      method->arguments = with_first(arena, value, method->arguments);
      method->span = span;
      return method;
    }
    if (auto* field = as<FieldNode>(target)) {
      auto* method = arena.node<MethodCallNode>(span);
      method->receiver = field->base;
      method->name = field->name;
      method->arguments = with_first(arena, value, {});
      method->optional = field->optional;
      method->name_span = {field->span.end - static_cast<uint32_t>(field->name.size()),
                           field->span.end};
      return method;
    }
    if (auto* chain = as<OptionalChainNode>(target);
        chain && chain->chain->kind != NodeKind::Index) {
      chain->chain = pipe_into(begin, value, chain->chain);
      chain->span = span;
      return chain;
    }
  }
  auto* made = arena.node<CallNode>(span);
  made->callee = target;
  made->arguments = with_first(arena, value, {});
  made->form = CallForm::Piped;
  return made;
}

}  // namespace posset::syntax
