// Declarations of modules: type, import, export; and type annotations.
//
// Only what stands at the top level enters Module::types and Module::imports. In a block the node
// is made all the same, and the resolver says that it is misplaced.
#include <utility>

#include "interp/syntax/parser_internal.h"
#include "interp/syntax/type_names.h"

namespace posset::syntax {

namespace {

struct TypeName {
  std::string_view name;
  TypeKind kind;
};
constexpr TypeName kTypeNames[] = {
    {"nil", TypeKind::Nil},     {"bool", TypeKind::Bool},     {"int", TypeKind::Int},
    {"float", TypeKind::Float}, {"str", TypeKind::Str},       {"num", TypeKind::Num},
    {"list", TypeKind::List},   {"map", TypeKind::Map},       {"record", TypeKind::Record},
    {"fn", TypeKind::Fn},       {"range", TypeKind::Range},   {"any", TypeKind::Any},
    {"task", TypeKind::Task},   {"chan", TypeKind::Chan},     {"ref", TypeKind::Ref},
    {"error", TypeKind::Error}, {"module", TypeKind::Module},
};

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (text.empty() || !is_letter(text[0])) return false;
  for (const char c : text) {
    if (!is_letter(c) && (c < '0' || c > '9')) return false;
  }
  return true;
}

bool is_keyword_text(std::string_view text) {
#define KEYWORD(Name, spelling) \
  if (text == spelling) return true;
#include "interp/syntax/tokens.def"
  return false;
}

}  // namespace

// A name that is being given, on this line.
Text Parser::new_name(const char* what) {
  const bool is_word = on_line(TokenKind::Name) && text_of(token()) != "_";
  if (!is_word) {
    fail_expected(what, at_line_start() ? "" : keyword_hint());
  }
  return text_of(advance());
}

Node* Parser::export_statement() {
  advance();
  same_line("'fn', 'let' or 'type'");
  const uint32_t begin = previous().begin;
  if (at(TokenKind::Fn) || at(TokenKind::Pure)) return fn_statement(true);
  if (at_type_declaration()) return type_declaration(true);
  if (!at(TokenKind::Let)) {
    fail_expected("'fn', 'let' or 'type'",
                  at(TokenKind::Var)
                      ? "a `var` belongs to its module; export a `fn` that reads it, or a `let`"
                      : "`export` stands before the declaration itself");
  }
  Node* declared = let_statement();
  auto* made = make<ExportedLetNode>(begin);
  made->let = declared;
  return made;
}

// ---- types ----

bool Parser::at_type_declaration() const {
  if (!at(TokenKind::Name) || text_of(token()) != kTypeWord) return false;
  return token(1).kind == TokenKind::Name && !(lines_ && token(1).newline_before);
}

// `type Shape = Circle(r) | Dot`; lines may start with the `|`.
Node* Parser::type_declaration(bool exported) {
  const uint32_t begin = exported ? previous().begin : token().begin;
  advance();
  const Token& name = token();
  module_.arena.count(sizeof(TypeDecl));
  auto owned = std::make_unique<TypeDecl>();
  owned->name = new_name("the name of the type");
  owned->span = {name.begin, name.end};
  if (type_kind(owned->name) != TypeKind::Declared) {
    complain(ErrorCode::UnexpectedToken, owned->span, "'" + std::string(owned->name) + "' is a type of the language",
             "an annotation could not name this one; take another name");
  }
  owned->module = &module_;
  owned->exported = exported;
  expect(TokenKind::Equal, "'='",
         "a type is declared with its constructors: `type Shape = Circle(r) | Dot`");
  if (at(TokenKind::Pipe)) advance();
  do {
    module_.arena.count(sizeof(ConstructorDecl));
    owned->constructors.push_back(constructor());
    if (!at(TokenKind::Pipe)) break;
    advance();
  } while (true);
  auto* made = make<TypeDeclarationNode>(begin);
  made->type = owned.get();
  made->exported = exported;
  if (open_.empty() && function_ == module_.top) {
    owned->index = static_cast<uint32_t>(module_.types.size());
    module_.types.push_back(owned.get());
  }
  module_.owned_types.push_back(std::move(owned));
  return made;
}

ConstructorDecl Parser::constructor() {
  const Token& name = token();
  ConstructorDecl made;
  if (!at(TokenKind::Name) || text_of(name) == "_")
    fail_expected("a constructor",
                  "a type is declared with its constructors: `type Shape = Circle(r) | Dot`");
  made.name = text_of(advance());
  if (!starts_with_capital(made.name)) {
    complain(ErrorCode::UnexpectedToken, {name.begin, name.end},
             "the constructor '" + std::string(made.name) + "' must begin with a capital letter",
             "patterns tell constructors from names by it");
  }
  if (at(TokenKind::LeftParen) && !token().newline_before) {
    const uint32_t opening = position_;
    const Inside inside(*this, opening, Newlines::Ignored);
    advance();
    do {
      const Token& field = token();
      Parameter one;
      one.name = new_name("the name of a field");
      one.span = {field.begin, field.end};
      one.slot = static_cast<uint32_t>(made.fields.size());
      one.type = optional_annotation();
      module_.arena.count(sizeof(Parameter));
      made.fields.push_back(one);
    } while (accept(TokenKind::Comma) && !at(TokenKind::RightParen));
    if (at(TokenKind::Equal)) fail_expected("',' or ')'", "fields have no defaults");
    expect_close(TokenKind::RightParen, opening, "',' or ')'");
  }
  made.span = span_from(name.begin);
  return made;
}

// ---- import ----

Node* Parser::import_statement() {
  const uint32_t begin = advance().begin;
  same_line("a path");
  module_.arena.count(sizeof(ImportDecl));
  auto owned = std::make_unique<ImportDecl>();
  const bool has_list = at(TokenKind::LeftBrace);
  if (has_list) {
    import_names(*owned);
    expect(TokenKind::From, "'from'", "names are imported with `import {a, b} from \"path\"`");
  }
  owned->path = import_path(*owned);
  if (!has_list) owned->alias = accept(TokenKind::As) ? new_name("a name") : default_alias(*owned);
  owned->span = span_from(begin);
  auto* made = make<ImportNode>(begin);
  made->import = owned.get();
  if (open_.empty() && function_ == module_.top) module_.imports.push_back(owned.get());
  module_.owned_imports.push_back(std::move(owned));
  return made;
}

void Parser::import_names(ImportDecl& decl) {
  const uint32_t opening = position_;
  const Inside inside(*this, opening, Newlines::Ignored);
  advance();
  do {
    if (at(TokenKind::RightBrace) && !decl.names.empty()) break;
    const uint32_t begin = token().begin;
    ImportName one;
    one.name = new_name("a name");
    one.alias = one.name;
    if (accept(TokenKind::As)) {
      if (at(TokenKind::Name) && text_of(token()) == "_") {
        fail(ErrorCode::UnexpectedToken, {token().begin, token().end},
             "found '_', expected a name for '" + std::string(one.name) + "'",
             "leave out what is not used");
      }
      one.alias = new_name("a name");
    }
    one.span = span_from(begin);
    module_.arena.count(sizeof(ImportName));
    decl.names.push_back(one);
  } while (accept(TokenKind::Comma));
  expect_close(TokenKind::RightBrace, opening, "',' or '}'");
}

Text Parser::import_path(ImportDecl& decl) {
  if (!on_line(TokenKind::String)) {
    const char* hint =
        at(TokenKind::StringHead)
            ? "a path holds no interpolation: what is imported is known before anything runs"
            : "write import \"name\", or import {a, b} from \"name\"";
    fail_expected("a path in quotes", hint);
  }
  const Token& path = advance();
  decl.path_span = {path.begin, path.end};
  return stream_.texts[path.value];
}

// The last part of the path, when it can be a name.
Text Parser::default_alias(const ImportDecl& decl) {
  const size_t slash = decl.path.rfind('/');
  const Text last = slash == Text::npos ? decl.path : decl.path.substr(slash + 1);
  if (is_identifier(last) && last != "_" && !is_keyword_text(last)) return last;
  const bool has_extension = last.ends_with(".posset");
  complain(ErrorCode::UnexpectedToken, decl.path_span,
           "the end of the path is no name to bind the module to, expected `as name`",
           has_extension ? "leave out .posset: it is added" : "write import \"path\" as name");
  return "_";
}

// ---- annotations ----

TypeKind type_kind(std::string_view name) {
  for (const TypeName& each : kTypeNames) {
    if (each.name == name) return each.kind;
  }
  return TypeKind::Declared;
}

TypeExpr* Parser::optional_annotation() { return accept(TokenKind::Colon) ? type() : nullptr; }

TypeExpr* Parser::type() {
  const uint32_t begin = token().begin;
  TypeExpr* made = plain_type();
  if (!accept(TokenKind::Question)) return made;
  auto* optional = module_.arena.make<TypeExpr>();
  optional->kind = TypeKind::Optional;
  optional->element = made;
  optional->span = span_from(begin);
  return optional;
}

TypeExpr* Parser::plain_type() {
  const uint32_t begin = token().begin;
  auto* made = module_.arena.make<TypeExpr>();
  if (at(TokenKind::LeftBracket)) {
    const Level level(*this);
    const uint32_t opening = position_;
    const Inside inside(*this, opening, Newlines::Ignored);
    advance();
    made->kind = TypeKind::ListOf;
    made->element = type();
    expect_close(TokenKind::RightBracket, opening, "']'");
    made->span = span_from(begin);
    return made;
  }
  if (!at(TokenKind::Name) && !at(TokenKind::Nil) && !at(TokenKind::Fn)) {
    fail_expected("a type",
                  "types are nil bool int float num str list map record fn range any, [int], a "
                  "declared type, and T?");
  }
  made->name = text_of(advance());
  if (accept(TokenKind::Dot)) {
    made->module = made->name;
    made->name = new_name("the name of a type");
    made->kind = TypeKind::Declared;
  } else {
    made->kind = type_kind(made->name);
  }
  made->span = span_from(begin);
  return made;
}

}  // namespace posset::syntax
