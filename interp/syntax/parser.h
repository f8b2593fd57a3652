// Source to tree. The parser recovers at statement boundaries, so that several mistakes are reported in
// one run; a tree with reported errors is only good for further diagnostics. Depth is bounded
// (kMaxNesting) and every recursive step is guarded, whatever the input.
#pragma once

#include <memory>

#include "interp/syntax/ast.h"
#include "interp/syntax/diagnostic.h"

namespace posset::syntax {

constexpr int kMaxNesting = 1000;  // language.md section 1: more is "nested too deeply"

// Never null. `top->body` is a Block of the statements. The tree is counted by `meter` as long as it lives, and may be
// stopped by it (meter.h).
std::shared_ptr<Module> parse(SourcePtr source, Diagnostics& diagnostics, std::shared_ptr<Meter> meter = nullptr);

// For the REPL: does the text end inside something (a bracket, a block, after an operator), so that more
// lines should be asked for?
bool is_incomplete(std::string_view text);

// Parses one format specification ("08.3f"); false when it is wrong.
bool parse_format_spec(std::string_view text, FormatSpec& out);

// The tree as indented text, one node a line, for `posset dump --tree`. Notes are printed when resolved.
std::string print_tree(const FunctionDecl& function);
std::string print_tree(const Module& module);

}  // namespace posset::syntax
