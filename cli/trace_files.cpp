// What reads recorded traces: `posset trace diff A B`, which compares two runs by logical order, and `posset why
// NAME TRACE.json`. Both are scripts (trace_scripts.h), run without limits in a context that is granted nothing.
#include <cstdio>

#include "cli/host.h"
#include "cli/trace_scripts.h"
#include "cli/verbs.h"

namespace posset::cli {

namespace {

posset_text whole(const std::string& text) { return posset_text_n(text.data(), text.size()); }

bool set_global(Host& host, const char* global, posset_value value) {
  return posset_set_global(host.context(), posset_text_of(global), value) == POSSET_OK;
}

// A list of lossy strings.
bool make_texts(Host& host, const std::vector<std::string>& texts, posset_value* list) {
  if (posset_list(host.context(), texts.size(), list) != POSSET_OK) return false;
  for (const std::string& each : texts) {
    posset_value text;
    if (posset_string_lossy(host.context(), whole(each), &text) != POSSET_OK) return false;
    if (posset_list_push(host.context(), list, text) != POSSET_OK) return false;
  }
  return true;
}

bool set_texts(Host& host, const char* global, const std::vector<std::string>& texts) {
  posset_value list;
  return make_texts(host, texts, &list) && set_global(host, global, list);
}

// The globals `texts` and `files`. False: it was said why.
bool set_files(Host& host, const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  for (const std::string& path : paths) {
    std::string why;
    if (!read_source(path, texts.emplace_back(), why)) {
      host.print_error_text("posset: " + why + "\n");
      return false;
    }
    if (!posset_is_utf8(whole(texts.back()))) {
      host.print_error_text("posset: " + path + ": not a trace of posset\n");
      return false;
    }
  }
  return set_texts(host, "texts", texts) && set_texts(host, "files", paths);
}

posset_status add_page(void* data, const posset_reason_info* info) {
  auto& pages = *static_cast<std::vector<std::vector<std::string>>*>(data);
  pages.push_back({std::string(info->name.data, info->name.size), std::string(info->page.data, info->page.size)});
  return POSSET_OK;
}

bool set_pages(Host& host) {
  std::vector<std::vector<std::string>> pages;
  posset_each_reason(add_page, &pages);
  posset_value list;
  if (posset_list(host.context(), pages.size(), &list) != POSSET_OK) return false;
  for (const auto& page : pages) {
    posset_value pair;
    if (!make_texts(host, page, &pair) || posset_list_push(host.context(), &list, pair) != POSSET_OK) return false;
  }
  return set_global(host, "pages", list);
}

std::string taken_message(Host& host) {
  posset_error* error = posset_take_error(host.context());
  if (!error) return "it cannot be read";
  posset_error_info info;
  info.size = sizeof info;
  posset_error_get(error, &info);
  std::string message(info.message.data, info.message.size);
  posset_error_free(error);
  return message;
}

// Gives the script's value; false: it was said what went wrong.
bool run_script(Host& host, const std::string& script, posset_value* value) {
  posset_source source = posset_source_of("<trace>", whole(script));
  posset_program* program = nullptr;
  posset_diagnostics* diagnostics = nullptr;
  posset_status status = posset_load(host.context(), &source, &program, &diagnostics);
  if (diagnostics) host.report(diagnostics);
  if (status == POSSET_OK) status = posset_run(program, value);
  posset_program_free(program);
  if (status != POSSET_OK) host.print_error_text("posset: " + taken_message(host) + "\n");
  return status == POSSET_OK && host.finish(POSSET_OK, nullptr) == kDone;
}

}  // namespace

int trace_diff(const CommandLine& line) {
  Host host(line);
  if (host.status() != kDone) return host.status();
  if (!set_files(host, {line.arguments[0], line.arguments[1]})) return kUsage;
  posset_value value = posset_nil();
  if (!run_script(host, trace_diff_script(), &value)) return kUsage;
  const bool same = posset_is_int(value) && posset_as_int(value) == 0;
  posset_release(value);
  return same ? kDone : kScriptError;
}

int why_in_trace(const CommandLine& line) {
  Host host(line);
  if (host.status() != kDone) return host.status();
  const std::string& name = line.unit;
  posset_value unit;
  if (!set_files(host, {line.file}) || !set_pages(host)) return kUsage;
  if (posset_string_lossy(host.context(), whole(name), &unit) != POSSET_OK || !set_global(host, "unit", unit)) {
    return kUsage;
  }
  posset_value value = posset_nil();
  if (!run_script(host, trace_why_script(), &value)) return kUsage;
  if (!posset_is_nil(value)) return kDone;
  host.print_error_text("posset: no unit called '" + name + "' in " + line.file + "\n");
  return kUsage;
}

}  // namespace posset::cli
