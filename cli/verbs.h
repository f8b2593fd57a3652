// The verbs of the command; each gives the exit status.
#pragma once

#include "cli/command_line.h"

namespace posset::cli {

int run(const CommandLine& line);      // run.cpp
int evaluate(const CommandLine& line); // run.cpp
int check(const CommandLine& line);    // check.cpp
int explain(const CommandLine& line);  // inspect.cpp
int dump(const CommandLine& line);     // inspect.cpp
int repl(const CommandLine& line);     // repl.cpp

}  // namespace posset::cli
