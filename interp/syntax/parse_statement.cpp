// Lists of statements, with recovery; `let` and `var`; assignment and places; what leaves a block.
#include <utility>

#include "interp/syntax/parser_internal.h"

namespace posset::syntax {

namespace {

AssignOp assign_op(TokenKind kind) {
  const std::string_view written = spelling(kind);
#define ASSIGN_OP(Name, spelling, binary) \
  if (written == spelling) return AssignOp::Name;
#include "interp/syntax/operators.def"
  return AssignOp::Set;
}

const char* describe_target(const Node* node) {
  switch (node->kind) {
    case NodeKind::Call:
    case NodeKind::MethodCall:
      return "the result of a call";
    case NodeKind::OptionalChain:
      return "a field behind `?.`";
    case NodeKind::NilLiteral:
    case NodeKind::BoolLiteral:
    case NodeKind::IntLiteral:
    case NodeKind::FloatLiteral:
    case NodeKind::StringLiteral:
    case NodeKind::Interpolation:
      return "a literal";
    case NodeKind::RecordLiteral:
      return "a record";
    case NodeKind::ListLiteral:
      return "a list with anything but =";
    default:
      return "this expression";
  }
}

}  // namespace

// ---- lists of statements ----

// Up to the end of the block that `opening` (a token) opens, or of the source.
void Parser::statements(std::vector<Node*>& out, uint32_t opening) {
  while (!at(TokenKind::End)) {
    if (at(TokenKind::Semicolon)) {
      advance();
      continue;
    }
    const Token& next = token();
    if (is_closing(next.kind) || next.kind == TokenKind::StringMiddle) {
      const bool is_string =
          next.kind == TokenKind::StringTail || next.kind == TokenKind::StringMiddle;
      const bool is_ours = opening != kNoMatch && (is_string || next.value <= opening);
      if (is_ours) return;  // the end of this block, or of something around it
      skip_stray_closings();
      continue;
    }
    out.push_back(statement_or_malformed(false));
  }
}

// Closing brackets that close nothing; a row of them is one mistake.
void Parser::skip_stray_closings() {
  const Token& first = token();
  const bool was_quiet = std::exchange(quiet_, false);
  complain(ErrorCode::UnexpectedToken, {first.begin, first.end},
           "found '" + std::string(text_of(first)) + "', but no bracket is open that it closes",
           "delete it, or open the bracket it belongs to");
  while (is_closing(token().kind) && token().value == kNoMatch) advance();
  if (&token() == &first) advance();
  quiet_ = was_quiet;
}

// Catches what goes wrong in a statement or match arm.
Node* Parser::statement_or_malformed(bool arm) {
  const uint32_t start = position_;
  statement_start_ = start;
  const uint32_t begin = token().begin;
  const bool was_quiet = std::exchange(quiet_, false);
  Node* made = nullptr;
  try {
    made = arm ? match_arm() : statement();
    arm ? end_arm() : end_statement();
  } catch (const SyntaxPanic&) {
    if (gave_up_) throw;
    skip_statement(start);
    if (position_ == start) advance();
    made = malformed(begin);
  }
  quiet_ = was_quiet;
  return made;
}

Node* Parser::statement() {
  switch (token().kind) {
    case TokenKind::Let:
    case TokenKind::Var:
      return let_statement();
    case TokenKind::Pure:
      return fn_statement(false);
    case TokenKind::Fn:
      // Without a name it is no statement, but somebody's idea of a lambda.
      if (token(1).kind == TokenKind::LeftParen) break;
      return fn_statement(false);
    case TokenKind::Import:
      return import_statement();
    case TokenKind::Export:
      return export_statement();
    default:
      break;
  }
  if (at_type_declaration()) return type_declaration(false);
  if (at_leave()) return leave();
  return expression_or_assignment();
}

void Parser::end_statement() {
  if (accept(TokenKind::Semicolon)) return;
  if (at(TokenKind::End) || at(TokenKind::RightBrace)) return;
  // Any other token may start the next line, unless it shows that the line above was to go on.
  const bool is_new_line = at_line_start() && !is_assignment(token().kind) &&
                           !at(TokenKind::FatArrow) && !at(TokenKind::Arrow);
  if (is_new_line) return;
  fail_expected("the end of the line");
}

void Parser::check_block_start(const char* expected) {
  if (at(TokenKind::LeftBrace) && token().newline_before) {
    // What is meant is clear, so it is read as if it stood where it should.
    complain(ErrorCode::UnexpectedToken, {previous().end, previous().end},
             std::string("found the end of the line, expected ") + expected,
             "the `{` of a block stands on the line of what it follows");
    return;
  }
  if (!at(TokenKind::LeftBrace)) fail_expected(expected);
}

BlockNode* Parser::block(const char* expected) {
  check_block_start(expected);
  const uint32_t begin = token().begin;
  const uint32_t opening = position_;
  std::vector<Node*> body;
  {
    const Inside inside(*this, opening, Newlines::Count);
    advance();
    statements(body, opening);
    expect_close(TokenKind::RightBrace, opening, "a statement or '}'");
  }
  auto* made = make<BlockNode>(begin);
  made->statements = module_.arena.list(body);
  return made;
}

// ---- let ----

Node* Parser::let_statement() {
  const uint32_t begin = token().begin;
  const bool is_var = at(TokenKind::Var);
  advance();
  same_line("a name");
  Node* pattern = binding_of_let();
  TypeExpr* annotation = optional_annotation();
  if (!on_line(TokenKind::Equal) && on_line(TokenKind::Comma)) {
    fail_expected("'='", "take several values apart with brackets: `let [a, b] = ...`");
  }
  expect(TokenKind::Equal, "'='",
         at(TokenKind::End) || at_line_start() ? "every name gets a value, if only nil" : "");
  Node* value = expression();
  auto* made = make<LetNode>(begin);
  made->value = value;
  made->pattern = pattern;
  made->type = annotation;
  made->is_var = is_var;
  return made;
}

// A name right after `let` is bound, capital or not; anything else is a pattern.
Node* Parser::binding_of_let() {
  const bool is_name = at(TokenKind::Name) && token(1).kind != TokenKind::LeftParen &&
                       token(1).kind != TokenKind::Dot;
  if (!is_name) {
    if (at(TokenKind::LeftParen))
      fail_expected("a name or a pattern", "take values apart with brackets: `let [a, b] = ...`");
    return single_pattern("a name or a pattern");
  }
  const Token& name = advance();
  if (text_of(name) == "_") return make<WildcardPatternNode>(name.begin);
  auto* made = make<BindingPatternNode>(name.begin);
  made->name = text_of(name);
  return made;
}

// ---- assignment ----

// A statement, lambda body or match arm.
Node* Parser::expression_or_assignment() {
  if (at_destructuring()) return destructuring_assignment();
  const uint32_t begin = token().begin;
  Node* made = expression();
  const bool is_target = is_assignment(token().kind) && !at_line_start();
  return is_target ? assignment(begin, made) : made;
}

Node* Parser::assignment(uint32_t begin, Node* place) {
  const AssignOp op = assign_op(advance().kind);
  Node* target = checked_place(place);
  Node* value = expression();
  auto* made = make<AssignNode>(begin);
  made->op = op;
  made->place = target;
  made->value = value;
  return made;
}

bool Parser::is_place(const Node* node) const {
  for (;;) {
    if (node->kind == NodeKind::Name || node->kind == NodeKind::Malformed) return true;
    if (const auto* field = as<FieldNode>(node); field && !field->optional) {
      node = field->base;
    } else if (const auto* index = as<IndexNode>(node)) {
      node = index->base;
    } else {
      return false;
    }
  }
}

Node* Parser::checked_place(Node* place) {
  if (is_place(place)) return place;
  complain(ErrorCode::CannotAssign, place->span,
           std::string("cannot assign to ") + describe_target(place),
           place->kind == NodeKind::RecordLiteral
               ? "take records apart with `let {x, y} = ...`"
               : "a place is a variable followed by fields and indexes");
  return module_.arena.node<MalformedNode>(place->span);
}

// `[a, b] = ...`: known by the `=` behind the bracket.
bool Parser::at_destructuring() const {
  if (!at(TokenKind::LeftBracket)) return false;
  const Token* behind = after_bracket();
  return behind && behind->kind == TokenKind::Equal && !(lines_ && behind->newline_before);
}

Node* Parser::destructuring_assignment() {
  const uint32_t begin = token().begin;
  Node* target = place_list();
  expect(TokenKind::Equal, "'='");
  Node* value = expression();
  auto* made = make<DestructuringAssignNode>(begin);
  made->value = value;
  made->target = target;
  return made;
}

Node* Parser::place_list() {
  const Level level(*this);
  const uint32_t begin = token().begin;
  const uint32_t opening = position_;
  std::vector<Node*> items;
  {
    const Inside inside(*this, opening, Newlines::Ignored);
    advance();
    while (!at(TokenKind::RightBracket)) {
      items.push_back(place_item());
      if (!accept(TokenKind::Comma)) break;
    }
    expect_close(TokenKind::RightBracket, opening, "',' or ']'");
  }
  auto* made = make<PlaceListNode>(begin);
  made->items = module_.arena.list(items);
  return made;
}

// A nested list, `..rest`, or what `place_or_wildcard` reads.
Node* Parser::place_item() {
  if (at(TokenKind::LeftBracket)) return place_list();
  if (!at(TokenKind::DotDot)) return place_or_wildcard();
  const uint32_t begin = advance().begin;
  const bool is_bare = at(TokenKind::Comma) || at(TokenKind::RightBracket);
  Node* rest = is_bare ? make<WildcardPatternNode>(begin) : place_or_wildcard();
  auto* made = make<SpreadNode>(begin);
  made->value = rest;
  return made;
}

Node* Parser::place_or_wildcard() {
  const bool is_wildcard = at(TokenKind::Name) && text_of(token()) == "_";
  if (!is_wildcard) return checked_place(postfix());
  const uint32_t begin = advance().begin;
  return make<WildcardPatternNode>(begin);
}

// ---- return, throw, break, continue ----

bool Parser::at_leave() const {
  return at(TokenKind::Return) || at(TokenKind::Throw) || at(TokenKind::Break) ||
         at(TokenKind::Continue);
}

bool Parser::starts_expression() const {
  if (at_line_start()) return false;
  switch (token().kind) {
    case TokenKind::Name:
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::StringHead:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::Nil:
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
    case TokenKind::Minus:
    case TokenKind::Tilde:
    case TokenKind::Not:
    case TokenKind::Bang:
    case TokenKind::Await:
    case TokenKind::Spawn:
    case TokenKind::If:
    case TokenKind::While:
    case TokenKind::For:
    case TokenKind::Match:
    case TokenKind::Try:
    case TokenKind::Do:
    case TokenKind::With:
    case TokenKind::Fn:
      return true;
    default:
      return false;
  }
}

Node* Parser::leave() {
  const Level level(*this);
  const Token& word = advance();
  if (word.kind == TokenKind::Continue) return make<ContinueNode>(word.begin);
  if (word.kind == TokenKind::Throw && !starts_expression()) {
    fail_expected("the value to throw",
                  "to throw an error again, catch it by name: `catch e { throw e }`");
  }
  Node* value = starts_expression() ? expression() : nullptr;
  if (word.kind == TokenKind::Throw) {
    auto* made = make<ThrowNode>(word.begin);
    made->value = value;
    return made;
  }
  if (word.kind == TokenKind::Return) {
    auto* made = make<ReturnNode>(word.begin);
    made->value = value;
    return made;
  }
  auto* made = make<BreakNode>(word.begin);
  made->value = value;
  return made;
}

}  // namespace posset::syntax
