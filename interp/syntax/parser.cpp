// The parser's core: tokens, errors, nesting and recovery, and the entry points. The grammar is in
// the parse_*.cpp files.
#include <algorithm>
#include <numeric>
#include <utility>

#include "interp/syntax/lexer.h"
#include "interp/syntax/parser_internal.h"
#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

bool is_operand_end(TokenKind kind) {
  switch (kind) {
    case TokenKind::Name:
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::StringTail:
    case TokenKind::RightParen:
    case TokenKind::RightBracket:
    case TokenKind::RightBrace:
      return true;
    default:
      return false;
  }
}

// What a line may not start with although it could go on there.
bool cannot_start_line(TokenKind kind) {
  if (kind == TokenKind::Minus) return false;
  return is_assignment(kind) || kind == TokenKind::FatArrow || kind == TokenKind::Arrow ||
         (operator_info(kind).kind != OperatorInfo::Kind::None &&
          !operator_info(kind).may_start_line);
}

std::string quote(std::string_view text) { return "'" + std::string(clip(text, 40)) + "'"; }

TokenKind closing_of(TokenKind opening) {
  if (opening == TokenKind::LeftParen) return TokenKind::RightParen;
  return opening == TokenKind::LeftBracket ? TokenKind::RightBracket : TokenKind::RightBrace;
}

}  // namespace

bool continues_after(TokenKind kind) {
  switch (kind) {
    case TokenKind::Comma:
    case TokenKind::FatArrow:
    case TokenKind::Arrow:
    case TokenKind::Colon:
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
    case TokenKind::StringHead:
    case TokenKind::StringMiddle:
    case TokenKind::Not:
    case TokenKind::Tilde:
    case TokenKind::Await:
    case TokenKind::Spawn:
      return true;
    default:
      return is_assignment(kind) || operator_info(kind).kind != OperatorInfo::Kind::None;
  }
}

Parser::Parser(Module& module, TokenStream stream, std::vector<Diagnostic>& reports)
    : module_(module),
      source_(module.source),
      source_text_(module.source->text()),
      stream_(std::move(stream)),
      tokens_(stream_.tokens),
      reports_(reports) {}

void Parser::run() {
  FunctionDecl* top = module_.new_function();
  top->is_top_level = true;
  top->span = {0, static_cast<uint32_t>(source_text_.size())};
  module_.top = top;
  function_ = top;
  std::vector<Node*> body;
  try {
    statements(body, kNoMatch);
  } catch (const SyntaxPanic&) {
    // The parser gave up. What was built so far may be anything; nobody is to walk it.
    body.clear();
    module_.types.clear();
    module_.imports.clear();
  }
  auto* block = module_.arena.node<BlockNode>(top->span);
  block->statements = module_.arena.list(body);
  top->body = block;
}

// ---- tokens ----

const Token& Parser::token(uint32_t ahead) const {
  const size_t last = tokens_.size() - 1;
  return tokens_[std::min<size_t>(position_ + size_t{ahead}, last)];
}

Text Parser::text_of(const Token& token) const {
  return source_text_.substr(token.begin, token.end - token.begin);
}

const Token& Parser::advance() {
  const Token& taken = token();
  if (taken.kind != TokenKind::End) ++position_;
  return taken;
}

bool Parser::accept(TokenKind kind) {
  if (!on_line(kind)) return false;
  advance();
  return true;
}

void Parser::expect(TokenKind kind, const char* expected, const char* hint) {
  if (!accept(kind)) fail_expected(expected, hint);
}

void Parser::expect_close(TokenKind kind, uint32_t opening, const char* expected) {
  if (at(kind) && tokens_[opening].value == position_) {
    advance();
    return;
  }
  const bool is_open = !at(TokenKind::Broken) && tokens_[opening].value == kNoMatch;
  if (at(kind) || is_open) fail_open_bracket();
  fail_expected(expected);
}

const Token* Parser::after_bracket(uint32_t ahead) const {
  const uint32_t closing = token(ahead).value;
  return closing == kNoMatch ? nullptr : &tokens_[closing + 1];
}

// ---- errors ----

void Parser::complain(ErrorCode code, Span span, std::string message, std::string hint) {
  if (quiet_ || gave_up_) return;
  quiet_ = true;
  reports_.push_back({Severity::Error, code, source_, span, std::move(message), std::move(hint)});
  if (++errors_ >= Diagnostics::kMaxDiagnostics) give_up();
}

void Parser::fail(ErrorCode code, Span span, std::string message, std::string hint) {
  complain(code, span, std::move(message), std::move(hint));
  quiet_ = true;
  throw SyntaxPanic{};
}

void Parser::fail_expected(const char* expected, std::string_view hint) {
  if (at(TokenKind::Broken)) {  // reported by the lexer
    quiet_ = true;
    throw SyntaxPanic{};
  }
  if (at_line_start() && cannot_start_line(token().kind) && !continues_after(previous().kind)) {
    fail_line_start();
  }
  if (is_bracket_failure()) fail_open_bracket();
  note_end();
  if (hint.empty()) hint = hint_for_found();
  fail(ErrorCode::UnexpectedToken, found_span(), "found " + found() + ", expected " + expected,
       std::string(hint));
}

const char* Parser::keyword_hint() const {
  return is_keyword(token().kind) ? "this word has a meaning of its own and is no name" : "";
}

// Whether the bracket around this place lacks its partner, and this is where that shows.
bool Parser::is_bracket_failure() const {
  if (open_.empty()) return false;
  const Token& opening = tokens_[open_.back()];
  if (opening.kind == TokenKind::StringHead || opening.value != kNoMatch) return false;
  if (at(TokenKind::End) || is_closing(token().kind)) return true;
  // Where lines count, a new line is nothing strange, unless it starts with what cannot stand here.
  return token().newline_before && (!lines_ || starts_statement_only(token().kind));
}

void Parser::fail_open_bracket() {
  note_end();
  const Token& opening = tokens_[open_.back()];
  if (last_unclosed_ == open_.back()) quiet_ = true;
  last_unclosed_ = open_.back();
  const std::string where = at(TokenKind::End) ? "the source ends" : "found " + found_token();
  const uint32_t line = line_of(at(TokenKind::End) ? found_span().begin : token().begin);
  fail(ErrorCode::NotClosed, {opening.begin, opening.end},
       quote(text_of(opening)) + " is not closed: " + where + " in line " + std::to_string(line),
       "expected " + quote(spelling(closing_of(opening.kind))));
}

void Parser::fail_line_start() {
  const Token& found = advance();  // its line goes with the statement
  fail(ErrorCode::UnexpectedToken, {found.begin, found.end},
       "found " + quote(text_of(found)) + " at the start of a line",
       "end the line above with " + quote(text_of(found)));
}

// An error at the end of the source: says it once, and whether more lines could mend it.
void Parser::note_end() {
  if (!at(TokenKind::End)) return;
  if (reports_.empty() && (!open_.empty() || continues_after(previous().kind))) wants_more_ = true;
  if (end_reported_) quiet_ = true;
  end_reported_ = true;
}

std::string Parser::found() const {
  if (at(TokenKind::End)) return "the end of the source";
  if (at_line_start() && !continues_after(previous().kind)) return "the end of the line";
  return found_token();
}

std::string Parser::found_token() const {
  switch (token().kind) {
    case TokenKind::String:
    case TokenKind::StringHead:
      return "a string";
    case TokenKind::StringMiddle:
    case TokenKind::StringTail:
      return "the '}' of the interpolation";
    case TokenKind::Format:
      return "the ':' of a format";
    default:
      return quote(text_of(token()));
  }
}

Span Parser::found_span() const {
  const Token& found = token();
  const bool behind = at(TokenKind::End) || (at_line_start() && !continues_after(previous().kind));
  if (!behind || position_ == 0) return {found.begin, found.end};
  return {previous().end, previous().end};
}

std::string_view Parser::hint_for_found() const {
  const Token& found = token();
  if (at_line_start() && !continues_after(previous().kind)) return {};
  if (is_foreign(found.kind)) return foreign_hint(found.kind);
  const bool after_operand = position_ > 0 && is_operand_end(previous().kind);
  const bool after_name = after_operand && previous().kind == TokenKind::Name;
  // `def f(x)`, `raise x`: the word before is what is wrong; `} elif`, `x is y`: this one.
  const std::string_view before =
      after_name ? foreign_word_hint(text_of(previous())) : std::string_view();
  if (!before.empty()) return before;
  if (found.kind == TokenKind::Name && after_operand) {
    const std::string_view hint = foreign_word_hint(text_of(found));
    // A call that has its parentheses, and is in the line of something else.
    const bool is_call = token(1).kind == TokenKind::LeftParen && (hint.empty() ? !after_name : hint.starts_with("a call"));
    return is_call ? "a statement has a line of its own, or `;` stands before it" : hint;
  }
  switch (found.kind) {
    case TokenKind::Question:
      return "a choice is written `if a { b } else { c }`";
    case TokenKind::Equal:
      return "an assignment is a statement and has no value; to compare, write ==";
    case TokenKind::Not:
      if (token(1).kind == TokenKind::In) return "write `not (x in xs)`";
      return after_operand ? "" : "put `not ...` in parentheses";
    case TokenKind::FatArrow:
      return after_operand ? "the parameters of a lambda stand in parentheses: `(a, b) => a + b`"
                           : "";
    case TokenKind::Ampersand:
      return "`&` marks an inout argument, and stands only before a whole argument";
    case TokenKind::DotDot:
      return "a spread stands at the start of an element, argument or field; a range has two ends";
    case TokenKind::Colon:
      return after_operand ? "a block stands in braces; a map is written [key: value]" : "";
    case TokenKind::Plus:
      return after_operand ? "" : "there is no unary +";
    case TokenKind::Dot:
      return token(1).kind == TokenKind::Int ? "a float has a digit before the dot: 0.5" : "";
    case TokenKind::Else:
      return "`else` follows the block of an `if`";
    case TokenKind::Catch:
      return "`catch` follows the block of a `try`";
    case TokenKind::From:
      return "names are imported with `import {a, b} from \"path\"`";
    default:
      return {};
  }
}

uint32_t Parser::line_of(uint32_t offset) const { return source_->position(offset).line; }

// ---- nesting ----

Parser::Level::Level(Parser& parser) : parser_(parser), outer_highest_(parser.highest_) {
  if (parser.nesting_ >= static_cast<uint32_t>(kMaxNesting)) parser.too_deep();
  ++parser.nesting_;
  parser.highest_ = 0;
}

Parser::Level::~Level() {
  --parser_.nesting_;
  parser_.highest_ = std::max(outer_highest_, parser_.highest_ + 1);
}

Parser::Inside::Inside(Parser& parser, uint32_t opening, Newlines newlines)
    : parser_(parser), lines_(parser.lines_), no_arrow_(parser.no_arrow_) {
  parser.open_.push_back(opening);
  parser.lines_ = newlines == Newlines::Count;
  parser.no_arrow_ = false;
}

Parser::Inside::~Inside() {
  parser_.open_.pop_back();
  parser_.lines_ = lines_;
  parser_.no_arrow_ = no_arrow_;
}

// One more operator on top of what was measured.
void Parser::grow() {
  ++highest_;
  if (nesting_ + highest_ > static_cast<uint32_t>(kMaxNesting)) too_deep();
}

void Parser::too_deep() {
  quiet_ = false;
  const Token& here = position_ > 0 && at(TokenKind::End) ? previous() : token();
  complain(ErrorCode::NestedTooDeeply, {here.begin, here.end},
           "nested too deeply: brackets, blocks and operators may nest " +
               std::to_string(kMaxNesting) + " levels deep",
           "name a part of it with `let`");
  give_up();
}

// Ends everything: the rest of the source is not looked at.
void Parser::give_up() {
  gave_up_ = true;
  position_ = static_cast<uint32_t>(tokens_.size() - 1);
  throw SyntaxPanic{};
}

// ---- recovery ----

// From somewhere inside the statement that began at token `start` to where the next one may start.
void Parser::skip_statement(uint32_t start) {
  uint32_t strings = 0;  // open in this statement
  for (uint32_t i = start; i < position_; ++i) {
    const Token& each = tokens_[i];
    if (each.kind == TokenKind::StringHead) ++strings;
    if (each.kind == TokenKind::StringTail && strings > 0) --strings;
    const bool is_group =
        is_opening(each.kind) && each.kind != TokenKind::StringHead && each.value != kNoMatch;
    if (!is_group) continue;
    if (each.value >= position_)
      position_ = each.value + 1;  // the statement ends behind its brackets
    i = each.value;
  }
  const uint32_t block =
      open_.empty() ? 0 : open_.back() + 1;  // what matches before this is not ours
  while (!at(TokenKind::End)) {
    const Token& each = token();
    if (strings == 0 && position_ > start && (each.newline_before || at(TokenKind::Semicolon)))
      return;
    if (each.kind == TokenKind::StringHead) ++strings;
    if (each.kind == TokenKind::StringMiddle && strings == 0) return;
    if (each.kind == TokenKind::StringTail && strings-- == 0) return;
    if (each.kind == TokenKind::Broken) strings = 0;
    const bool is_bracket = (is_opening(each.kind) || is_closing(each.kind)) &&
                            each.kind != TokenKind::StringHead &&
                            each.kind != TokenKind::StringTail && each.value != kNoMatch;
    if (is_bracket && is_closing(each.kind) && each.value < block) return;
    position_ = is_bracket && is_opening(each.kind) ? each.value + 1 : position_ + 1;
  }
}

Node* Parser::malformed(uint32_t begin) {
  return module_.arena.node<MalformedNode>({begin, std::max(begin, previous().end)});
}

// ---- entry points ----

namespace {

// `wants_more`: the source is only the beginning of a program, see `is_incomplete`.
std::shared_ptr<Module> parse_source(SourcePtr source, std::shared_ptr<Meter> meter,
                                     std::vector<Diagnostic>& reports, bool& wants_more) {
  auto module = std::make_shared<Module>();
  module->source = std::move(source);
  module->arena.set_meter(std::move(meter));
  module->arena.count(module->source->bytes());
  TokenStream stream;
  if (check_encoding(module->source, reports)) {
    stream = Lexer(module->source, module->arena, reports).run();
  } else {
    stream.tokens.push_back({});
  }
  const bool only_open_string = stream.open_string && reports.size() == 1;
  const size_t token_bytes = Lexer::counted_bytes(stream);
  {
    Parser parser(*module, std::move(stream), reports);
    parser.run();
    wants_more = parser.wants_more();
  }
  module->arena.discount(token_bytes);
  wants_more = wants_more || (only_open_string && reports.size() == 1);
  return module;
}

// The lexer has been through the whole source before the parser began.
std::vector<size_t> in_order_of_source(const std::vector<Diagnostic>& reports) {
  std::vector<size_t> order(reports.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return reports[a].span.begin != reports[b].span.begin
               ? reports[a].span.begin < reports[b].span.begin
               : a < b;
  });
  return order;
}

}  // namespace

std::shared_ptr<Module> parse(SourcePtr source, Diagnostics& diagnostics, std::shared_ptr<Meter> meter) {
  std::vector<Diagnostic> reports;
  bool wants_more = false;
  auto module = parse_source(std::move(source), std::move(meter), reports, wants_more);
  for (const size_t each : in_order_of_source(reports))
    diagnostics.report(std::move(reports[each]));
  return module;
}

bool is_incomplete(std::string_view text) {
  std::vector<Diagnostic> reports;
  bool wants_more = false;
  parse_source(std::make_shared<Source>("", std::string(text)), nullptr, reports, wants_more);
  return wants_more;
}

}  // namespace posset::syntax
