// The one layout of a source (`posset fmt`; the rules as a user reads them are in docs/layout.md). The author's tokens,
// comments and line breaks stay, since a line break means something; white space is given by the tokens alone, so that a
// source has one layout however it was typed. Two things of the author's remain beside line breaks: one empty line where there
// are some, and the column of comments that stand well behind their code.
//
// The work is linear in the tokens and done in loops, never by recursion:
//
//   layout_pieces.cpp   the source as pieces: tokens, comments, whole strings
//   layout_spacing.cpp  a table of tokens: where a space stands
//   layout_lines.cpp    empty lines and indentation
//   layout.cpp          writing, comments behind code, the check
#pragma once

#include <string>

#include "interp/syntax/diagnostic.h"

namespace posset::syntax {

// False, with an error among the diagnostics: the source does not parse, or its layout would be another program, which is a
// mistake in here. `out` is then of no use.
bool lay_out(const SourcePtr& source, Diagnostics& diagnostics, std::string& out);

// Whether two sources are the same tokens and comments in the same lines, so that the parser cannot tell them apart. Blanks at
// the end of comments and the spelling of line ends do not count. Both must be valid UTF-8 without NUL bytes.
bool same_program(const SourcePtr& one, const SourcePtr& other);

}  // namespace posset::syntax
