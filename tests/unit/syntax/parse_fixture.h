// What the parser's tests share: parsing a text, its tree on one line, its diagnostics in short.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "interp/syntax/parser.h"

namespace posset::syntax::parse_test {

struct Parsed {
  std::shared_ptr<Module> module;
  Diagnostics diagnostics;

  // One line a diagnostic: "LINE:COL CODE MESSAGE [HINT]".
  std::string errors() const {
    std::string out;
    for (const Diagnostic& each : diagnostics.all()) {
      const Position at = each.source->position(each.span.begin);
      out += std::to_string(at.line) + ":" + std::to_string(at.column) + " " + name_of(each.code) +
             " " + each.message;
      if (!each.hint.empty()) out += " [" + each.hint + "]";
      out += '\n';
    }
    return out;
  }
  // The statements at the top level.
  const NodeList& statements() const {
    return static_cast<BlockNode*>(module->top->body)->statements;
  }
};

inline Parsed parse_text(std::string_view text) {
  Parsed parsed;
  parsed.module =
      parse(std::make_shared<Source>("test.posset", std::string(text)), parsed.diagnostics);
  return parsed;
}

// The text of print_tree from line `at` on as nested parentheses, without the fields' names:
// "Binary + (Name a, IntLiteral 1)".
inline std::string fold_tree(const std::vector<std::string>& lines, size_t& at) {
  const auto depth = [&](size_t line) { return lines[line].find_first_not_of(' '); };
  const size_t own = depth(at);
  std::string out = lines[at].substr(own);
  const size_t label = out.find(": ");
  const bool is_label = label != std::string::npos && out.find_first_of(" (\"") > label;
  if (is_label) out = out.substr(label + 2);
  ++at;
  std::string children;
  while (at < lines.size() && depth(at) > own) {
    if (!children.empty()) children += ", ";
    children += fold_tree(lines, at);
  }
  return children.empty() ? out : out + " (" + children + ")";
}

// The tree of a text without mistakes: its statements, separated by "; ".
inline std::string tree(std::string_view text) {
  const Parsed parsed = parse_text(text);
  if (parsed.diagnostics.has_errors()) return parsed.errors();
  std::vector<std::string> lines;
  std::string printed = print_tree(*parsed.module);
  for (size_t begin = 0; begin < printed.size();) {
    const size_t end = printed.find('\n', begin);
    lines.push_back(printed.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string out;
  for (size_t at = 2; at < lines.size();) {  // behind the top level and its block
    if (!out.empty()) out += "; ";
    out += fold_tree(lines, at);
  }
  return out;
}

// The diagnostics, or "" when there are none.
inline std::string errors(std::string_view text) { return parse_text(text).errors(); }

inline bool accepts(std::string_view text) { return errors(text).empty(); }

}  // namespace posset::syntax::parse_test
