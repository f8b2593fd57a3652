// See explain_forks.h.
#include "interp/syntax/explain_forks.h"

#include "interp/syntax/resolver.h"
#include "interp/syntax/utf8.h"

namespace posset::syntax {

namespace {

// The source of an expression on one line, without its end if it is long.
std::string excerpt(const Source& source, Span span) {
  constexpr size_t kLongest = 40;
  std::string line;
  for (const char c : source.text().substr(span.begin, span.end - span.begin)) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  const std::string_view shown = clip(line, kLongest);
  return "`" + std::string(shown) + (shown.size() < line.size() ? "..." : "") + "`";
}

std::string place_and_text(const Source& source, Span span) {
  const Position at = source.position(span.begin);
  return std::to_string(at.line) + ":" + std::to_string(at.column) + " " + excerpt(source, span);
}

std::string pair(const FunctionDecl& function, Span right, Span left) {
  const Source& source = *function.module->source;
  return place_and_text(source, right) + " beside " + place_and_text(source, left);
}

std::string because(Reason reason, const std::string& details) {
  return std::string(": ") + text_of(reason) + (details.empty() ? "" : ": " + details) + " [" +
         name_of(reason) + "]";
}

Text name_of(const Given& given, const FunctionDecl& function) {
  if (given.from == Given::From::Captured) return function.captures[given.index].name;
  const bool parameter = given.index < function.parameters.size();
  return parameter ? function.parameters[given.index].name : Text();
}

std::string names_of(const std::vector<Given>& given, const FunctionDecl& function) {
  std::string names;
  for (const Given& each : given) {
    const Text name = name_of(each, function);
    names += names.empty() ? "" : ", ";
    names += name.empty() ? "a variable" : "'" + std::string(name) + "'";
  }
  return names;
}

std::string provided(const FunctionDecl& function, const std::vector<Given>& given) {
  const std::string names = names_of(given, function);
  return names.empty() ? names : ", where " + names + (given.size() > 1 ? " are pure" : " is pure");
}

std::string provided(const FunctionDecl& function, const DividedSite& site) {
  std::string text = site.sequences ? " over a list or range" : "";
  if (!site.unknown) return text + provided(function, site.given);
  const std::string names = names_of(site.given, function);
  return text + ", where " + (names.empty() ? "the function given" : names) + " is pure and may take long";
}

// One line for each loop or built-in that does the same for every element.
ForkLine explain_divided(const FunctionDecl& function, const DividedSite& site, Reason off) {
  const std::string text = place_and_text(*function.module->source, site.span);
  if (site.reason != Reason::none) {
    const std::string why = site.effect.what.empty() ? std::string() : explain_step(site.effect);
    return {site.reason, "not divided: " + text + because(site.reason, why)};
  }
  const std::string divided = "divided: " + text + provided(function, site);
  return {off, off == Reason::none ? divided : divided + because(off, {})};
}

}  // namespace

std::vector<ForkLine> explain_forks(const FunctionDecl& function, bool forks) {
  std::vector<ForkLine> lines;
  const Reason off = forks ? Reason::none : Reason::fork_off;
  for (const ForkPoint& each : function.forks) {
    const std::string text = "fork: " + pair(function, each.span, each.left) + provided(function, each.given);
    lines.push_back({off, forks ? text : text + because(off, {})});
  }
  for (const ForkRefusal& each : function.unforked) {
    const std::string why = each.effect.what.empty() ? std::string() : explain_step(each.effect);
    lines.push_back({each.reason, "no fork: " + pair(function, each.span, each.left) +
                                      because(each.reason, why)});
  }
  for (const DividedSite& each : function.divided) lines.push_back(explain_divided(function, each, off));
  return lines;
}

}  // namespace posset::syntax
