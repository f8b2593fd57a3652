// What every verb that runs something needs: a runtime and a context with the command's options, its output,
// its module loader, Ctrl-C, and reports on standard error. One per process run.
#pragma once

#include <posset/posset.h>

#include <string>
#include <string_view>

#include "cli/command_line.h"

namespace posset::cli {

// Standard output with a buffer, so that many small prints cost few system calls. Flushed at the end, before
// anything goes to standard error, and per line on a terminal.
class Output {
 public:
  Output();
  bool write(const char* text, size_t size);
  bool flush();
  // On a terminal: ends a line that was begun, so that what comes next starts a line of its own.
  void finish_line();
  // What stands on the terminal's last line: the last of what was written behind the last line break.
  const std::string& begun_line() const { return begun_; }

 private:
  void note_line(std::string_view text);

  std::string buffer_;
  bool terminal_;
  std::string begun_;  // empty where there is no terminal
  bool failed_ = false;
};

class Host {
 public:
  explicit Host(const CommandLine& line);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Not kDone: it could not be set up, which has been said.
  int status() const { return status_; }
  posset_context* context() const { return context_; }
  posset_runtime* runtime() const { return runtime_; }
  Output& output() { return output_; }
  const CommandLine& line() const { return line_; }

  void set_arguments(const std::vector<std::string>& arguments);
  // Prints and frees.
  void report(posset_diagnostics* diagnostics);
  // Takes the pending error, prints it, gives the exit status it means.
  int report_error();
  // The exit status of a load or run, everything reported.
  int finish(posset_status status, posset_diagnostics* diagnostics);
  // Ends the context and prints the counters when they are wanted.
  void end();
  // The last thing a run does. Ends the process at once, unless somebody wants to hear of the runtime's end: a
  // compilation in the background takes tens of milliseconds, serves nobody any more, and would be waited for.
  int leave(int status);
  void print_error_text(const std::string& text);

 private:
  void print_stats();
  CommandLine line_;
  posset_runtime* runtime_ = nullptr;
  posset_context* context_ = nullptr;
  Output output_;
  int status_ = kDone;
  bool ended_ = false;
};

// Reads a file, or standard input for "-". False with `why`.
bool read_source(const std::string& path, std::string& text, std::string& why);
// All diagnostics as text; frees them, if there are any.
std::string rendered(posset_diagnostics* diagnostics, bool color);
// Appends pieces to a std::string; `data` points to it.
bool append_text(void* data, const char* text, size_t size);
std::string key_of(const std::string& path);

}  // namespace posset::cli
