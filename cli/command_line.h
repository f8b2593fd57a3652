// The command line as data: verb, options, file, arguments. Parsing is by CLI11; defaults, help and environment
// variables of the options come from the table of the public API (posset/options.def). Options stand between the verb and the file;
// everything behind the file belongs to the script. Where a NAME may stand there, that is what is behind `--`.
#pragma once

#include <posset/posset.h>

#include <string>
#include <vector>

namespace posset::cli {

enum class Verb { Run, Eval, Repl, Check, Explain, Why, Dump, Trace, Doc, Fmt };

struct CommandLine {
  Verb verb = Verb::Run;
  posset_runtime_options runtime = posset_runtime_defaults();
  posset_context_options context = posset_context_defaults();
  std::string read_directory;
  std::string write_directory;
  std::string trace_file;  // empty: none
  std::string native_plugin;  // empty: the default
  std::string native_watch;
  std::string native_passes = "full";
  std::string cache;       // empty: nothing is kept
  bool stats = false;
  bool color = false;      // diagnostics, on standard error
  bool highlight = false;  // repl: what is typed, on standard output
  bool json = false;                        // check
  bool only_check = false;                  // fmt
  posset_form form = POSSET_FORM_BYTECODE;  // dump
  bool runs_first = false;                  // dump
  std::string file;                         // or the expression of eval, the NAME of doc, the REASON of why; empty: none
  std::string unit;                         // the NAME of explain, dump and why; empty: none
  std::vector<std::string> arguments;       // of the script; further files of check, fmt and trace
};

// Exit statuses of the command (cli.md).
enum Exit { kDone = 0, kScriptError = 1, kUsage = 2, kInvalidSource = 3, kLimit = 4, kInterrupted = 130 };

// -1: go on; else the exit status to end with (help was shown, or the usage was wrong).
int parse_command_line(int argc, char** argv, CommandLine& out);

}  // namespace posset::cli
