// The verbs of the command; each gives the exit status.
#pragma once

#include "cli/command_line.h"

namespace posset::cli {

int run(const CommandLine& line);      // run.cpp
int evaluate(const CommandLine& line); // run.cpp
int check(const CommandLine& line);    // check.cpp
int format(const CommandLine& line);   // format.cpp
int explain(const CommandLine& line);  // inspect.cpp
int why(const CommandLine& line);      // inspect.cpp
int dump(const CommandLine& line);     // inspect.cpp
int trace_diff(const CommandLine& line);    // trace_files.cpp
int why_in_trace(const CommandLine& line);  // trace_files.cpp
int doc(const CommandLine& line);      // doc.cpp
int repl(const CommandLine& line);     // repl.cpp

// What `:doc NAME` and `posset doc NAME` show of a function or module of the library, without the last line break; empty: it
// has none of that name (doc.cpp).
std::string describe(posset_runtime* runtime, const std::string& name);

}  // namespace posset::cli
