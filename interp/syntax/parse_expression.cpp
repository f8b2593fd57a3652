// Operators, by precedence climbing over the table of operators.def. Tighter than all of these bind
// the postfix forms (parse_postfix.cpp).
//
// A tree of operators that lean left is as high as it has operators, so the loops here count
// (`grow`), and what recurses holds a Level.
#include <array>
#include <utility>

#include "interp/syntax/parser_internal.h"

namespace posset::syntax {

namespace {

using Kind = OperatorInfo::Kind;
constexpr size_t kTokenKinds = static_cast<size_t>(TokenKind::ColonEqual) + 1;

constexpr TokenKind token_kind(std::string_view written) {
#define KEYWORD(Name, spelling) \
  if (written == spelling) return TokenKind::Name;
#define PUNCTUATION(Name, spelling) \
  if (written == spelling) return TokenKind::Name;
#include "interp/syntax/tokens.def"
  return TokenKind::End;
}

constexpr auto kOperators = [] {
  std::array<OperatorInfo, kTokenKinds> table{};
  const auto row = [&](std::string_view written) -> OperatorInfo& {
    return table[static_cast<size_t>(token_kind(written))];
  };
#define BINARY_OP(Name, spelling, level, right) \
  row(spelling) = {.kind = Kind::Binary, .binary = BinaryOp::Name, .precedence = level};
#define LOGICAL_OP(Name, spelling, level)      \
  row(spelling) = {.kind = Kind::Logical,      \
                   .logical = LogicalOp::Name, \
                   .precedence = level,        \
                   .may_start_line = true};
#include "interp/syntax/operators.def"
  row("..") = {.kind = Kind::Range, .precedence = kRangePrecedence};
  row("..=") = {.kind = Kind::Range, .precedence = kRangePrecedence, .inclusive = true};
  row("|>") = {.kind = Kind::Pipe, .precedence = kPipePrecedence, .may_start_line = true};
  // What other languages write is reported and means what it was meant to.
  table[static_cast<size_t>(TokenKind::AmpersandAmpersand)] = row("and");
  table[static_cast<size_t>(TokenKind::PipePipe)] = row("or");
  table[static_cast<size_t>(TokenKind::EqualEqualEqual)] = row("==");
  table[static_cast<size_t>(TokenKind::BangEqualEqual)] = row("!=");
  return table;
}();

}  // namespace

const OperatorInfo& operator_info(TokenKind kind) { return kOperators[static_cast<size_t>(kind)]; }

Node* Parser::expression() { return at_lambda() ? lambda() : operators(kPipePrecedence); }

Node* Parser::operand_expression() { return operators(kPipePrecedence); }

Node* Parser::operators(int min_precedence) {
  const Measure measure(*this);
  const uint32_t begin = token().begin;
  Node* left = first_operand(min_precedence);
  for (const OperatorInfo* op = operator_here(); op && op->precedence >= min_precedence;
       op = operator_here()) {
    left = apply(begin, left, *op);
  }
  return left;
}

// The operator that goes on with the expression, or null where it ends.
const OperatorInfo* Parser::operator_here() {
  const OperatorInfo& info = operator_info(token().kind);
  if (info.kind == Kind::None) return nullptr;
  const bool starts_line = at_line_start() && !info.may_start_line;
  if (starts_line && at(TokenKind::Minus)) return nullptr;  // a new expression
  if (starts_line || is_foreign(token().kind)) complain_of_operator(starts_line);
  return &info;
}

// It is then taken for what it was meant to be, so that nothing else goes wrong.
void Parser::complain_of_operator(bool starts_line) {
  const Token& here = token();
  const std::string shown = "'" + std::string(text_of(here)) + "'";
  if (is_foreign(here.kind)) {
    complain(ErrorCode::UnexpectedToken, {here.begin, here.end},
             "found " + shown + ", which is no operator", std::string(foreign_hint(here.kind)));
  } else if (starts_line) {
    complain(ErrorCode::UnexpectedToken, {here.begin, here.end},
             "found " + shown + " at the start of a line", "end the line above with " + shown);
  }
}

Node* Parser::apply(uint32_t begin, Node* left, const OperatorInfo& op) {
  advance();
  if (op.kind == Kind::Pipe) return pipe(begin, left);
  Node* right = right_side(op);
  check_chain(begin, op);
  if (op.kind == Kind::Range) {
    auto* made = make<RangeLiteralNode>(begin);
    made->inclusive = op.inclusive;
    made->first = left;
    made->last = right;
    return made;
  }
  if (op.kind == Kind::Logical) {
    auto* made = make<LogicalNode>(begin);
    made->op = op.logical;
    made->left = left;
    made->right = right;
    return made;
  }
  auto* made = make<BinaryNode>(begin);
  made->op = op.binary;
  made->left = left;
  made->right = right;
  return made;
}

// Either way the operator is one level on top of both sides.
Node* Parser::right_side(const OperatorInfo& op) {
  if (op.kind == Kind::Logical && at_leave()) {
    grow();
    return leave();
  }
  Node* right = operators(op.precedence + 1);
  grow();
  return right;
}

Node* Parser::pipe(uint32_t begin, Node* left) {
  Node* target = operators(kPipePrecedence + 1);
  grow();
  return pipe_into(begin, left, target);
}

// `a < b < c` and `a..b..c` have no meaning.
void Parser::check_chain(uint32_t begin, const OperatorInfo& op) {
  const OperatorInfo& next = operator_info(token().kind);
  if (next.precedence != op.precedence || at_line_start()) return;
  if (op.precedence == kComparisonPrecedence) {
    complain(ErrorCode::ChainedComparison, {begin, token().end},
             "comparisons do not chain: found '" + std::string(text_of(token())) + "'",
             "write `a < b and b < c`");
  } else if (op.precedence == kRangePrecedence) {
    complain(ErrorCode::UnexpectedToken, {token().begin, token().end},
             "found '" + std::string(text_of(token())) + "': ranges do not chain",
             "a step is written range(a, b, step)");
  }
}

Node* Parser::first_operand(int min_precedence) {
  if (!at(TokenKind::Not)) return unary();
  if (min_precedence > kNotPrecedence) {
    complain(ErrorCode::UnexpectedToken, {token().begin, token().end},
             "found 'not', expected an operand",
             "`not` binds looser than this operator: put `not ...` in parentheses");
  }
  return not_expression();
}

Node* Parser::not_expression() {
  const uint32_t begin = advance().begin;
  const Level level(*this);
  Node* operand = operators(kNotPrecedence);
  auto* made = make<UnaryNode>(begin);
  made->op = UnaryOp::Not;
  made->operand = operand;
  return made;
}

Node* Parser::unary() {
  const Token& here = token();
  switch (here.kind) {
    case TokenKind::Await:
    case TokenKind::Spawn:
      return spawn_or_await();
    case TokenKind::Minus:
      if (Node* literal = negated_literal(here.begin)) return literal;
      break;
    case TokenKind::Bang:
      complain(ErrorCode::UnexpectedToken, {here.begin, here.end},
               "found '!', which is no operator", std::string(foreign_hint(here.kind)));
      break;
    case TokenKind::Tilde:
      break;
    default:
      return power();
  }
  const UnaryOp op = here.kind == TokenKind::Minus   ? UnaryOp::Neg
                     : here.kind == TokenKind::Tilde ? UnaryOp::BitNot
                                                     : UnaryOp::Not;
  const uint32_t begin = advance().begin;
  const Level level(*this);
  Node* operand = unary();
  auto* made = make<UnaryNode>(begin);
  made->op = op;
  made->operand = operand;
  return made;
}

// `-1` is one literal, unless something that binds tighter than the minus takes the 1.
Node* Parser::negated_literal(uint32_t begin) {
  const bool is_int = token(1).kind == TokenKind::Int;
  if (!is_int && token(1).kind != TokenKind::Float) return nullptr;
  const Token& behind = token(2);
  const bool same_line = !(lines_ && behind.newline_before);
  switch (behind.kind) {
    case TokenKind::StarStar:
      if (same_line) return nullptr;
      break;
    case TokenKind::Dot:
    case TokenKind::QuestionDot:
      return nullptr;
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
      if (!behind.newline_before) return nullptr;
      break;
    default:
      break;
  }
  advance();
  return is_int ? int_literal(begin, true) : float_literal(begin, true);
}

Node* Parser::spawn_or_await() {
  const Token& word = advance();
  const Level level(*this);
  Node* operand = unary();
  if (word.kind == TokenKind::Await) {
    auto* made = make<AwaitNode>(word.begin);
    made->task = operand;
    return made;
  }
  if (operand->kind != NodeKind::Call && operand->kind != NodeKind::MethodCall) {
    complain(ErrorCode::UnexpectedToken, operand->span,
             "found an expression, expected a call after `spawn`",
             "a task runs a call: `spawn f(x)`");
  }
  auto* made = make<SpawnNode>(word.begin);
  made->call = operand;
  return made;
}

Node* Parser::power() {
  const uint32_t begin = token().begin;
  Node* base = postfix();
  if (!on_line(TokenKind::StarStar)) return base;
  advance();
  grow();
  const Level level(*this);
  Node* exponent = unary();
  auto* made = make<BinaryNode>(begin);
  made->op = BinaryOp::Pow;
  made->left = base;
  made->right = exponent;
  return made;
}

}  // namespace posset::syntax
