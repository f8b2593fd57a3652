// The verbs of the command; each gives the exit status.
#pragma once

#include "cli/command_line.h"

namespace posset::cli {

int run(const CommandLine& line);      // run.cpp
int evaluate(const CommandLine& line); // run.cpp
int check(const CommandLine& line);    // check.cpp
int explain(const CommandLine& line);  // inspect.cpp
int why(const CommandLine& line);      // inspect.cpp
int dump(const CommandLine& line);     // inspect.cpp
int trace_diff(const CommandLine& line);    // trace_files.cpp
int why_in_trace(const CommandLine& line);  // trace_files.cpp
int doc(const CommandLine& line);      // doc.cpp
int repl(const CommandLine& line);     // repl.cpp

// What `:doc NAME` and `posset doc NAME` show, without the last line break (doc.cpp).
std::string describe_builtin(const posset_builtin_info& info);

}  // namespace posset::cli
