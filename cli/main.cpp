// The `posset` command: chooses the verb. What each does stands in a file of its own.
#include "cli/verbs.h"

int main(int argc, char** argv) {
  using namespace posset::cli;
  CommandLine line;
  int status = parse_command_line(argc, argv, line);
  if (status >= 0) return status;
  switch (line.verb) {
    case Verb::Run: return run(line);
    case Verb::Eval: return evaluate(line);
    case Verb::Repl: return repl(line);
    case Verb::Check: return check(line);
    case Verb::Explain: return explain(line);
    case Verb::Why: return why(line);
    case Verb::Dump: return dump(line);
    case Verb::Trace: return trace_diff(line);
    case Verb::Doc: return doc(line);
    case Verb::Fmt: return format(line);
  }
  return kUsage;
}
