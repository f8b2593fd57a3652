// What is known of tokens without looking at a source: spellings and hints, from the table.
#include "interp/syntax/token.h"

#include <array>

namespace posset::syntax {

std::string_view spelling(TokenKind kind) {
  switch (kind) {
#define KEYWORD(Name, spelling) \
  case TokenKind::Name:         \
    return spelling;
#define PUNCTUATION(Name, spelling) \
  case TokenKind::Name:             \
    return spelling;
#define FOREIGN(Name, spelling, hint) \
  case TokenKind::Name:               \
    return spelling;
#include "interp/syntax/tokens.def"
    case TokenKind::End:
    case TokenKind::Broken:
    case TokenKind::Name:
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::StringHead:
    case TokenKind::StringMiddle:
    case TokenKind::StringTail:
    case TokenKind::Format:
      break;
  }
  return {};
}

std::string_view foreign_hint(TokenKind kind) {
  switch (kind) {
#define FOREIGN(Name, spelling, hint) \
  case TokenKind::Name:               \
    return hint;
#include "interp/syntax/tokens.def"
    default:
      return {};  // not a switch over the whole table: all other tokens are Posset's own
  }
}

std::string_view foreign_word_hint(std::string_view word) {
  struct Row {
    std::string_view word;
    std::string_view hint;
  };
  static constexpr std::array kRows = {
      Row{"def", "a function is written `fn name(a, b) { ... }`"},
      Row{"function", "a function is written `fn name(a, b) { ... }`"},
      Row{"func", "a function is written `fn name(a, b) { ... }`"},
      Row{"fun", "a function is written `fn name(a, b) { ... }`"},
      Row{"lambda", "a lambda is written `x => x + 1`"},
      Row{"const", "write `let`: it is never reassigned"},
      Row{"final", "write `let`: it is never reassigned"},
      Row{"val", "write `let`: it is never reassigned"},
      Row{"auto", "write `let`, or `var` for a name that changes"},
      Row{"local", "write `let`, or `var` for a name that changes"},
      Row{"int", "a type stands behind the name: `let n: int = 1`"},
      Row{"float", "a type stands behind the name: `let x: float = 1.0`"},
      Row{"str", "a type stands behind the name: `let s: str = \"\"`"},
      Row{"bool", "a type stands behind the name: `let b: bool = true`"},
      Row{"string", "a type stands behind the name: `let s: str = \"\"`"},
      Row{"class",
          "records hold data, and a `type` declares variants: `type Shape = Circle(r) | Dot`"},
      Row{"struct",
          "records hold data, and a `type` declares variants: `type Shape = Circle(r) | Dot`"},
      Row{"enum", "write `type Shape = Circle(r) | Dot`"},
      Row{"switch", "write `match value { 1 => ..., _ => ... }`"},
      Row{"case", "an arm of a `match` is written `pattern => value`"},
      Row{"elif", "write `else if`"},
      Row{"elsif", "write `else if`"},
      Row{"elseif", "write `else if`"},
      Row{"unless", "write `if not ... { }`"},
      Row{"until", "write `while not ... { }`"},
      Row{"loop", "write `while true { }`"},
      Row{"foreach", "write `for x in xs { }`"},
      Row{"raise", "write `throw`"},
      Row{"except", "write `catch e { ... }`"},
      Row{"finally",
          "there is no `finally`; what a `with` or `inout` lends is written back by itself"},
      Row{"echo", "write `println(...)`"},
      Row{"puts", "write `println(...)`"},
      Row{"print", "a call needs parentheses: `print(...)`"},
      Row{"println", "a call needs parentheses: `println(...)`"},
      Row{"assert", "a call needs parentheses: `assert(...)`"},
      Row{"new", "constructors are called like functions: `Circle(2.0)`"},
      Row{"async", "every function may run as a task: `spawn f(x)`"},
      Row{"yield", "a generator is written `gen(emit => ...)`"},
      Row{"then", "the branches of an `if` are blocks: `if a { b } else { c }`"},
      Row{"is", "write `==`, or match by type: `match x { s: str => ... }`"},
      Row{"instanceof", "match by type: `match x { s: str => ... }`"},
      Row{"xor", "write `!=`"},
      Row{"mod", "write `%`"},
      Row{"div", "write `//`"},
  };
  for (const Row& row : kRows) {
    if (row.word == word) return row.hint;
  }
  return {};
}

}  // namespace posset::syntax
