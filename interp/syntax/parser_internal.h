// The parser: recursive descent over the token array, one class, written by concern:
//
//   parser.cpp             tokens, errors, nesting, recovery, the entry points
//   parse_statement.cpp    blocks, let, assignment, leaving (return throw break continue)
//   parse_expression.cpp   operators
//   parse_postfix.cpp      calls, indexes, fields, chains, pipes
//   parse_literals.cpp     primary expressions, numbers, strings, lists, maps, records
//   parse_control.cpp      if while for match try do with, comprehensions
//   parse_function.cpp     fn, lambdas, parameters, what follows `=>`
//   parse_declaration.cpp  type, import, export; annotations
//   parse_pattern.cpp      patterns
//
// Errors. `fail` reports and throws; the innermost list of statements (or match arms) catches,
// skips the rest of the statement and goes on. After the first report inside a statement the parser
// is `quiet_` until the next one, so that one mistake makes one message. Reports are sorted at the
// end.
//
// Newlines. `lines_` says whether the innermost bracket lets a line break end things. Tests for "is
// this token next, on this line" go through `on_line`; closing brackets and what may start a line
// use `at`.
//
// Depth. Every production that can contain itself holds a `Level`. `nesting_` counts the levels
// around the place at hand, `highest_` measures what has been parsed: the highest of the parts
// since the enclosing measure began. Operators that lean left build height without recursion and
// add to `highest_` with `grow`. The sum never exceeds kMaxNesting, so neither the parser nor
// anyone who recurses over the tree can be driven deep; only chains of `else if` are unbounded, and
// they must be walked in a loop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interp/syntax/diagnostic.h"
#include "interp/syntax/parser.h"
#include "interp/syntax/token.h"

namespace posset::syntax {

// A statement that cannot be parsed further. Caught where statements are listed.
struct SyntaxPanic {};

// What the table of operators says of a token.
struct OperatorInfo {
  enum class Kind : uint8_t { None, Binary, Logical, Range, Pipe } kind = Kind::None;
  BinaryOp binary = BinaryOp::None;
  LogicalOp logical = LogicalOp::And;
  uint8_t precedence = 0;
  bool may_start_line = false;
  bool inclusive = false;  // Range
};
const OperatorInfo& operator_info(TokenKind kind);
// After these a line break never ends anything.
bool continues_after(TokenKind kind);

// Names of constructors do, and only they.
inline bool starts_with_capital(std::string_view name) {
  return !name.empty() && name[0] >= 'A' && name[0] <= 'Z';
}

inline constexpr int kPipePrecedence = 1;
inline constexpr int kCoalescePrecedence = 2;
inline constexpr int kNotPrecedence = 5;
inline constexpr int kComparisonPrecedence = 6;
inline constexpr int kRangePrecedence = 7;

class Parser {
 public:
  Parser(Module& module, TokenStream stream, std::vector<Diagnostic>& reports);
  void run();
  // The first mistake is that the source ends too early.
  bool wants_more() const { return wants_more_; }

 private:
  // ---- scopes of the parser's own state ----

  // One level of nesting.
  class Level {
   public:
    explicit Level(Parser& parser);
    ~Level();
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
    uint32_t outer_highest_;
  };
  // Measures the parts of one expression, apart from what stands beside it.
  class Measure {
   public:
    explicit Measure(Parser& parser) : parser_(parser), outer_(parser.highest_) {
      parser.highest_ = 0;
    }
    ~Measure() {
      if (outer_ > parser_.highest_) parser_.highest_ = outer_;
    }
    Measure(const Measure&) = delete;
    Measure& operator=(const Measure&) = delete;

   private:
    Parser& parser_;
    uint32_t outer_;
  };
  // The inside of a bracket: what a newline means there, and `=>` means lambdas again.
  enum class Newlines : uint8_t { Count, Ignored };
  class Inside {
   public:
    Inside(Parser& parser, uint32_t opening, Newlines newlines);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Parser& parser_;
    bool lines_;
    bool no_arrow_;
  };
  // A guard, an iterable, a condition: the first `=>` outside brackets ends it.
  class WithoutArrow {
   public:
    explicit WithoutArrow(Parser& parser) : parser_(parser), outer_(parser.no_arrow_) {
      parser.no_arrow_ = true;
    }
    ~WithoutArrow() { parser_.no_arrow_ = outer_; }
    WithoutArrow(const WithoutArrow&) = delete;
    WithoutArrow& operator=(const WithoutArrow&) = delete;

   private:
    Parser& parser_;
    bool outer_;
  };
  // The function whose body is being parsed.
  class InFunction {
   public:
    InFunction(Parser& parser, FunctionDecl* function) : parser_(parser), outer_(parser.function_) {
      parser.function_ = function;
    }
    ~InFunction() { parser_.function_ = outer_; }
    InFunction(const InFunction&) = delete;
    InFunction& operator=(const InFunction&) = delete;

   private:
    Parser& parser_;
    FunctionDecl* outer_;
  };

  // ---- parser.cpp: tokens ----
  const Token& token(uint32_t ahead = 0) const;
  const Token& previous() const { return tokens_[position_ == 0 ? 0 : position_ - 1]; }
  Text text_of(const Token& token) const;
  bool at(TokenKind kind) const { return token().kind == kind; }
  // A line break that counts stands before this token; the first of a statement has it behind
  // itself.
  bool at_line_start() const {
    return lines_ && token().newline_before && position_ != statement_start_;
  }
  bool on_line(TokenKind kind) const { return at(kind) && !at_line_start(); }
  const Token& advance();
  bool accept(TokenKind kind);  // if it is `on_line`
  void expect(TokenKind kind, const char* expected, const char* hint = "");
  void expect_close(TokenKind kind, uint32_t opening, const char* expected);
  Span span_from(uint32_t begin) const { return {begin, previous().end}; }
  // The token behind the bracket that closes the one at hand; null when nothing does.
  const Token* after_bracket(uint32_t ahead = 0) const;

  // ---- parser.cpp: errors ----
  [[noreturn]] void fail(ErrorCode code, Span span, std::string message, std::string hint = {});
  [[noreturn]] void fail_expected(const char* expected, std::string_view hint = {});
  // Where a name is expected: a keyword is none.
  const char* keyword_hint() const;
  void complain(ErrorCode code, Span span, std::string message, std::string hint = {});
  std::string found() const;
  std::string found_token() const;
  Span found_span() const;
  std::string_view hint_for_found() const;
  bool is_bracket_failure() const;
  void note_end();
  [[noreturn]] void fail_open_bracket();
  [[noreturn]] void fail_line_start();
  [[noreturn]] void give_up();
  void grow();
  [[noreturn]] void too_deep();
  void skip_statement(uint32_t start);
  uint32_t line_of(uint32_t offset) const;
  Node* malformed(uint32_t begin);

  // ---- parse_statement.cpp ----
  void statements(std::vector<Node*>& out, uint32_t opening);
  void skip_stray_closings();
  Node* statement_or_malformed(bool arm);
  Node* statement();
  void end_statement();
  void check_block_start(const char* expected);
  BlockNode* block(const char* expected);
  Node* let_statement();
  Node* binding_of_let();
  Node* expression_or_assignment();
  Node* assignment(uint32_t begin, Node* place);
  Node* checked_place(Node* place);
  Node* destructuring_assignment();
  Node* place_list();
  Node* place_item();
  Node* place_or_wildcard();
  bool at_destructuring() const;
  bool at_leave() const;
  Node* leave();
  bool starts_expression() const;

  // ---- parse_expression.cpp ----
  Node* expression();
  Node* operand_expression();  // a condition, a subject: no bare lambda
  Node* operators(int min_precedence);
  const OperatorInfo* operator_here();
  void complain_of_operator(bool starts_line);
  Node* apply(uint32_t begin, Node* left, const OperatorInfo& op);
  Node* right_side(const OperatorInfo& op);
  Node* pipe(uint32_t begin, Node* left);
  void check_chain(uint32_t begin, const OperatorInfo& op);
  Node* first_operand(int min_precedence);
  Node* not_expression();
  Node* unary();
  Node* negated_literal(uint32_t begin);
  Node* spawn_or_await();
  Node* power();

  // ---- parse_postfix.cpp ----
  Node* postfix();
  Node* call(uint32_t begin, Node* callee);
  Node* index(uint32_t begin, Node* base);
  Node* member(uint32_t begin, Node* receiver, bool optional);
  NodeList arguments();
  Node* argument();
  Node* inout_argument(uint32_t begin);
  Node* place_operand();
  Node* pipe_into(uint32_t begin, Node* value, Node* target);
  bool is_place(const Node* node) const;

  // ---- parse_literals.cpp ----
  Node* primary();
  [[noreturn]] void fail_primary();
  Node* literal();
  Node* int_literal(uint32_t begin, bool negative);
  Node* float_literal(uint32_t begin, bool negative);
  Node* name();
  Node* parenthesised();
  Node* interpolation();
  Node* interpolated(const Token& before);
  Node* list_or_map();
  Node* list_item();
  Node* map_rest(uint32_t begin, uint32_t opening, Node* first_key);
  Node* spread();
  Node* record();
  Node* record_field();

  // ---- parse_control.cpp ----
  Node* if_expression();
  Node* condition(const char* word);
  Node* while_expression();
  Node* for_expression();
  Node* match_expression();
  Node* match_arm();
  void end_arm();
  Node* try_expression();
  Node* catch_name();
  Node* do_expression();
  Node* with_expression();
  Node* comprehension(uint32_t begin, uint32_t opening);
  void same_line(const char* expected);

  // ---- parse_function.cpp ----
  Node* fn_statement(bool exported);
  Node* anonymous_fn();
  void function_rest(FunctionDecl& decl);
  Node* lambda();
  bool at_lambda() const;
  void parameters(FunctionDecl& decl);
  Parameter parameter();
  void parameter_name(Parameter& made);
  void check_parameters(FunctionDecl& decl);
  enum class Body : uint8_t { Lambda, Arm, Function, Element };
  Node* arrow_body(Body kind);
  bool arrow_starts_record() const;
  Node* short_record_body();

  // ---- parse_declaration.cpp ----
  Node* export_statement();
  bool at_type_declaration() const;
  Node* type_declaration(bool exported);
  ConstructorDecl constructor();
  Node* import_statement();
  void import_names(ImportDecl& decl);
  Text import_path(ImportDecl& decl);
  Text default_alias(const ImportDecl& decl);
  Text new_name(const char* what);
  TypeExpr* type();
  TypeExpr* plain_type();
  TypeExpr* optional_annotation();

  // ---- parse_pattern.cpp ----
  Node* pattern();
  Node* single_pattern(const char* expected = "a pattern");
  Node* name_pattern();
  Node* named_pattern(const Token& name);
  Node* constructor_pattern(uint32_t begin, Text module, Text name);
  Node* literal_pattern();
  Node* list_pattern();
  Node* record_pattern();
  Node* record_pattern_field();
  Node* rest_pattern();

  template <class T>
  T* make(uint32_t begin) {
    return module_.arena.node<T>(span_from(begin));
  }

  Module& module_;
  SourcePtr source_;
  std::string_view source_text_;
  TokenStream stream_;
  const std::vector<Token>& tokens_;
  std::vector<Diagnostic>& reports_;
  FunctionDecl* function_ = nullptr;
  uint32_t position_ = 0;
  uint32_t statement_start_ = 0;
  std::vector<uint32_t> open_;  // the brackets around the place at hand, as tokens
  uint32_t nesting_ = 0;
  uint32_t highest_ = 0;
  bool lines_ = true;
  bool no_arrow_ = false;
  bool quiet_ = false;         // this statement has been reported
  bool gave_up_ = false;       // nothing more is to be reported or built
  bool end_reported_ = false;  // one message about the end of the source is enough
  bool wants_more_ = false;
  bool fn_value_reported_ = false;
  uint32_t last_unclosed_ = kNoMatch;  // the bracket last reported as not closed
  size_t errors_ = 0;
};

}  // namespace posset::syntax
