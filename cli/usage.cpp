// See usage.h.
#include "cli/usage.h"

namespace posset::cli {

namespace {

struct Call {
  Verb verb;
  const char* name;
  const char* operands;
  const char* what;  // a line or more; empty: the name says it
};

constexpr Call kCalls[] = {
    {Verb::Run, "", "FILE [ARG...]", "run a script (- reads standard input)"},
    {Verb::Run, "run", "[OPTIONS] FILE [ARG...]", ""},
    {Verb::Eval, "eval", "[OPTIONS] 'EXPR'", "evaluate, print the value unless it is nil"},
    {Verb::Repl, "repl", "[OPTIONS]", "read, evaluate, print; also `posset` alone on a terminal"},
    {Verb::Check, "check", "[--json] FILE...", "parse and resolve only"},
    {Verb::Fmt, "fmt", "[--check] FILE...", "give files the one layout (- from standard input to output)"},
    {Verb::Explain, "explain", "[OPTIONS] FILE [NAME] [-- ARG...]", "run, then say of each unit what it is and why"},
    {Verb::Why, "why", "[REASON]", "what a reason means that explain or why gives"},
    {Verb::Why, "why", "[OPTIONS] NAME FILE [-- ARG...]",
     "run, then say why the units of that name are not in a higher tier;\nFILE may be a trace (.json) of a run"},
    {Verb::Dump, "dump", "--tree|--bytecode|--ir|--asm [--run] [OPTIONS] FILE [NAME] [-- ARG...]", ""},
    {Verb::Trace, "trace", "diff A B", "compare two traces written by --trace FILE.json by what happened"},
    {Verb::Doc, "doc", "[NAME]", "the standard library, a module (math) or a function (math.sin)"},
};

constexpr const char* kMore =
    "posset --version\n\n"
    "Exit status: 0 done, 1 error in the script (of fmt --check: a file would change), 2 usage,\n"
    "3 the source does not parse or resolve, 4 a limit was exceeded, 130 interrupted.\n"
    "`posset VERB --help` lists the options.\n";

constexpr size_t kColumn = 34;  // where it says what a call does

std::string spelled(const Call& call) {
  return std::string("posset ") + call.name + (*call.name ? " " : "") + call.operands;
}

// Further lines stand under the first, and all of them under a call that needs the line for itself.
std::string explained(const Call& call) {
  std::string text = spelled(call);
  const bool fits = text.size() < kColumn;
  if (*call.what) text += fits ? std::string(kColumn - text.size(), ' ') : "\n" + std::string(kColumn, ' ');
  for (const char* at = call.what; *at; ++at) {
    text += *at;
    if (*at == '\n') text += std::string(kColumn, ' ');
  }
  return text + "\n";
}

}  // namespace

std::optional<Verb> verb_named(std::string_view name) {
  for (const Call& each : kCalls) {
    if (*each.name && name == each.name) return each.verb;
  }
  return std::nullopt;
}

std::string usage_of_all() {
  std::string all;
  for (const Call& each : kCalls) all += explained(each);
  return all + kMore;
}

std::string usage_of(Verb verb) {
  std::string all;
  for (const Call& each : kCalls) {
    if (each.verb == verb && *each.name) all += (all.empty() ? "Usage: " : "       ") + spelled(each) + "\n";
  }
  return all;
}

}  // namespace posset::cli
