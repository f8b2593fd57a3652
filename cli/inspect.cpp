// `posset explain` and `posset why` (run the script first) and `posset dump` (where it is told to); the pages of reasons.
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
  return posset_text_of(line.unit.c_str());
}

// Writes what was found; a name that is not there is wrong usage.
int show(Host& host, posset_status status, const std::string& text) {
  if (status == POSSET_NOT_FOUND) {
    host.print_error_text("posset: no unit called '" + host.line().unit + "' in " + host.line().file + "\n");
    return kUsage;
  }
  if (status == POSSET_NOT_BUILT) {
    host.print_error_text("posset: this form: not built yet\n");
    return kUsage;
  }
  host.output().write(text.data(), text.size());
  return host.finish(status, nullptr);
}

// tell(program, name, posset_write, data) says it.
template <class Tell>
int load_and_tell(const CommandLine& line, bool runs, Tell&& tell) {
  Host host(line);
  if (host.status() != kDone) return host.status();
  posset_program* program = nullptr;
  int exit = kDone;
  if (!load(host, &program, exit)) return exit;
  if (runs) {
    exit = host.finish(posset_run(program, nullptr), nullptr);
    posset_runtime_settle(host.runtime());  // "being compiled" would be true of nothing but this moment
  }
  std::string text;
  posset_status status = tell(program, name_of(line), append_text, &text);
  int shown = show(host, status, text);
  posset_program_free(program);
  return exit != kDone ? exit : shown;
}

constexpr uint32_t kTracedForWhy = 1 << 14;

std::string string_of(posset_text text) { return std::string(text.data, text.size); }

// All reasons on a line each, or the page of one.
struct Pages {
  std::string wanted;  // empty: all
  std::string text;
};

posset_status add_page(void* data, const posset_reason_info* info) {
  auto& pages = *static_cast<Pages*>(data);
  const std::string name = string_of(info->name);
  if (pages.wanted.empty()) {
    pages.text += name + std::string(name.size() < 22 ? 22 - name.size() : 1, ' ') + string_of(info->text) + "\n";
  } else if (pages.wanted == name) {
    pages.text = name + ": " + string_of(info->text) + "\n\n" + string_of(info->page) + "\n";
    return POSSET_DONE;
  }
  return POSSET_OK;
}

}  // namespace

int explain(const CommandLine& line) { return load_and_tell(line, true, posset_explain_program); }

int why(const CommandLine& line) {
  if (!line.unit.empty()) {
    if (line.file.ends_with(".json")) return why_in_trace(line);
    CommandLine traced = line;  // what has left native code is in the trace only
    if (traced.runtime.trace_events == 0) traced.runtime.trace_events = kTracedForWhy;
    return load_and_tell(traced, true, posset_why_program);
  }
  Pages pages{line.file, {}};
  posset_each_reason(add_page, &pages);
  if (pages.text.empty()) {
    std::fprintf(stderr, "posset: there is no reason called '%s'; `posset why` lists them, `posset why NAME FILE`\n"
                 "runs a file and is about its units of that name\n", line.file.c_str());
    return kUsage;
  }
  return std::fputs(pages.text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? kDone : kScriptError;
}

int dump(const CommandLine& line) {
  return load_and_tell(line, line.runs_first, [&](posset_program* program, posset_text name, posset_write write, void* data) {
    return posset_dump_program(program, line.form, name, write, data);
  });
}

}  // namespace posset::cli
