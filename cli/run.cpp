// `posset run` and `posset eval`: load a source, run it, turn what happened into an exit status.
#include "cli/host.h"
#include "cli/verbs.h"

namespace posset::cli {

namespace {

// A view of all three, which must outlive it.
posset_source source_of(const char* name, const std::string& key, const std::string& text) {
  posset_source source = posset_source_of(name, posset_text_n(text.data(), text.size()));
  source.key = posset_text_n(key.data(), key.size());
  return source;
}

}  // namespace

int run(const CommandLine& line) {
  std::string text, why;
  if (!read_source(line.file, text, why)) {
    std::fprintf(stderr, "posset: %s\n", why.c_str());
    return kUsage;
  }
  Host host(line);
  if (host.status() != kDone) return host.status();
  std::string key = line.file == "-" ? std::string() : key_of(line.file);
  posset_source source = source_of(line.file == "-" ? "<stdin>" : line.file.c_str(), key, text);
  posset_program* program = nullptr;
  posset_diagnostics* diagnostics = nullptr;
  posset_status status = posset_load(host.context(), &source, &program, &diagnostics);
  if (diagnostics) host.report(diagnostics);
  if (status == POSSET_OK) status = posset_run(program, nullptr);
  int exit = host.finish(status, nullptr);
  posset_program_free(program);
  return host.leave(exit);
}

int evaluate(const CommandLine& line) {
  Host host(line);
  if (host.status() != kDone) return host.status();
  posset_value value = posset_nil();
  posset_diagnostics* diagnostics = nullptr;
  posset_status status =
      posset_eval(host.context(), posset_text_n(line.file.data(), line.file.size()), &value, &diagnostics);
  if (status == POSSET_OK && !posset_is_nil(value)) {
    std::string text;
    status = posset_print(host.context(), value, false, append_text, &text);
    text += "\n";
    if (status == POSSET_OK) host.output().write(text.data(), text.size());
  }
  posset_release(value);
  return host.leave(host.finish(status, diagnostics));
}

}  // namespace posset::cli
