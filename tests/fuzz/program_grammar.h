// The grammar of the program generator as tables: what an expression of each type, a statement and
// a place may look like. A type is a letter:
//
//   i int   f float   b bool   s str   r range   L [int]   S [str]   N [[int]]
//   M map str -> int   D map str -> [int]   R {x: int, name: str, items: [int]}
//   P {n: int, w: float, tag: any}   B list of P   Q {body: P, bodies: [P]}   X {x: float, y: float, n: int}
//   V Shape   T Tree   F function int -> int   C ref of int   E error   W [float]   G [bool]   a any of them
//   v a statement   t the type that is wanted (in a statement: one for the whole statement)
//   h a statement of a program that gets hot, m what such a module begins with, d the calls of a function of it, g a function
//     of its own with calls
//   I J K plain forms of int, float and bool there, without calls and control flow, and e a short statement
//
// A text is Posset with markers, which program_generator.cpp replaces:
//
//   $i        an expression of type i; so for every type
//   $.i       a variable of that type, or a literal
//   $=i $~i   a new name, constant or variable, unknown until the next $|
//   $1 .. $6  the first, second, .. new name of this text
//   $-i       a variable that can be assigned
//   $&i       a place without defaults
//   $^i       a place that may have defaults; its root stays out of use up to the next $}
//   $;i       the same, and its root may be used
//   $#i       a block in braces that ends in an expression; $#v has only statements
//   $*v       a block that is the body of a loop
//   ${ $}     the scope of names that end with it
//   $< $>     the same, for a function within the function; $! $> for one that is declared
//   $@        from here to $} a break is fine
//   $(        a call of a declared function; $) a declaration of one
//   $k $q     a small int; a key
//   $n        how often a loop runs: the more often, the fewer loops are around it
//   $p $u $c  an operator: of ints, of floats, a comparison; $o an assignment
//
// and before everything: % only in a loop; ^ only in a function; ' on one line, being in a string.
#pragma once

#include <vector>

namespace posset::fuzz {

struct Production {
  char type;
  int weight;
  const char* text;
};

// How a part of a variable is written; `root` is the variable's type, `type` the part's.
struct PlaceForm {
  char root;
  char type;
  const char* suffix;
  bool has_default;
};

extern const char kTypes[];  // all but a, v and t
extern const std::vector<Production> kProductions;
extern const std::vector<Production> kHotProductions;  // of h, m, d, g, I, J, K and e
extern const std::vector<PlaceForm> kPlaceForms;

// Stands before every program: what the productions take for granted.
extern const char kPrelude[];

}  // namespace posset::fuzz
