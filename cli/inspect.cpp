// `posset explain` (runs the script first) and `posset dump` (does not).
#include <cstdio>

#include "cli/host.h"
#include "cli/verbs.h"

namespace posset::cli {

namespace {

bool load(Host& host, posset_program** program, int& exit) {
  const CommandLine& line = host.line();
  std::string text, why;
  if (!read_source(line.file, text, why)) {
    host.print_error_text("posset: " + why + "\n");
    exit = kUsage;
    return false;
  }
  std::string key = key_of(line.file);
  posset_source source = posset_source_of(line.file.c_str(), posset_text_n(text.data(), text.size()));
  source.key = posset_text_n(key.data(), key.size());
  posset_diagnostics* diagnostics = nullptr;
  posset_status status = posset_load(host.context(), &source, program, &diagnostics);
  exit = host.finish(status, diagnostics);
  return status == POSSET_OK;
}

posset_text name_of(const CommandLine& line) {
  return line.arguments.empty() ? posset_text_of("") : posset_text_of(line.arguments[0].c_str());
}

// Writes what was found; a name that is not there is wrong usage.
int show(Host& host, posset_status status, const std::string& text) {
  if (status == POSSET_NOT_FOUND) {
    host.print_error_text("posset: no unit called '" + host.line().arguments[0] + "' in " + host.line().file + "\n");
    return kUsage;
  }
  host.output().write(text.data(), text.size());
  return host.finish(status, nullptr);
}

}  // namespace

int explain(const CommandLine& line) {
  Host host(line);
  if (host.status() != kDone) return host.status();
  posset_program* program = nullptr;
  int exit = kDone;
  if (!load(host, &program, exit)) return exit;
  exit = host.finish(posset_run(program, nullptr), nullptr);
  posset_runtime_settle(host.runtime());  // "being compiled" would be true of nothing but this moment
  std::string text;
  posset_status status = posset_explain_program(program, name_of(line), append_text, &text);
  int shown = show(host, status, text);
  posset_program_free(program);
  return exit != kDone ? exit : shown;
}

int dump(const CommandLine& line) {
  Host host(line);
  if (host.status() != kDone) return host.status();
  posset_program* program = nullptr;
  int exit = kDone;
  if (!load(host, &program, exit)) return exit;
  std::string text;
  posset_status status = posset_dump_program(program, line.form, name_of(line), append_text, &text);
  exit = show(host, status, text);
  posset_program_free(program);
  return exit;
}

}  // namespace posset::cli
