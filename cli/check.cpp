// `posset check`: all diagnostics of files, for people or (--json) for editors. Nothing runs.
#include <algorithm>
#include <cstdio>

#include "cli/host.h"
#include "cli/verbs.h"

namespace posset::cli {

namespace {

std::string quoted(posset_text text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size; ++i) {
    char c = text.data[i];
    char code[8];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void add_json(const posset_diagnostics* diagnostics, std::string& out) {
  for (size_t i = 0; i < posset_diagnostics_count(diagnostics); ++i) {
    posset_diagnostic d;
    d.size = sizeof d;
    if (posset_diagnostics_get(diagnostics, i, &d) != POSSET_OK) continue;
    if (out.size() > 1) out += ",";
    out += "\n  {\"file\": " + quoted(d.file) + ", \"line\": " + std::to_string(d.line) +
           ", \"column\": " + std::to_string(d.column) + ", \"end_line\": " + std::to_string(d.end_line) +
           ", \"end_column\": " + std::to_string(d.end_column) + ", \"severity\": " +
           (d.severity == POSSET_SEVERITY_ERROR ? "\"error\"" : "\"warning\"") + ", \"code\": \"" + d.code_name +
           "\", \"message\": " + quoted(d.message) + ", \"hint\": " + quoted(d.hint) + "}";
  }
}

}  // namespace

int check(const CommandLine& line) {
  std::vector<std::string> files = line.arguments;
  files.insert(files.begin(), line.file);
  std::string json = "[";
  int worst = kDone;
  bool is_missing = false;
  for (const std::string& file : files) {
    std::string text, why;
    if (!read_source(file, text, why)) {
      std::fprintf(stderr, "posset: %s\n", why.c_str());  // the others are checked nevertheless
      is_missing = true;
      continue;
    }
    CommandLine alone = line;
    Host host(alone);
    if (host.status() != kDone) return host.status();
    std::string key = key_of(file);
    posset_source source = posset_source_of(file.c_str(), posset_text_n(text.data(), text.size()));
    source.key = posset_text_n(key.data(), key.size());
    posset_diagnostics* diagnostics = nullptr;
    const posset_status status = posset_load(host.context(), &source, nullptr, &diagnostics);
    if (status == POSSET_INVALID) worst = std::max<int>(worst, kInvalidSource);
    if (status == POSSET_RAISED) worst = std::max(worst, host.finish(status, nullptr));  // a limit
    if (line.json) {
      add_json(diagnostics, json);
      posset_diagnostics_free(diagnostics);
    } else {
      host.report(diagnostics);
    }
  }
  if (line.json) std::printf("%s\n]\n", json.c_str());
  return is_missing ? static_cast<int>(kUsage) : worst;
}

}  // namespace posset::cli
