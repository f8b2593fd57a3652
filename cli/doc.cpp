// `posset doc`: the standard library from the table it is registered with, the same that `:doc` of the REPL
// reads. Without a name it writes all of it as Markdown, which is docs/stdlib.md.
#include <cstdio>

#include "cli/host.h"
#include "cli/verbs.h"

namespace posset::cli {

namespace {

constexpr const char* kOpening =
    "# The standard library\n"
    "\n"
    "Written by `./dev docs` from the table the functions are registered with, which `:doc NAME` in the REPL\n"
    "and `posset doc NAME` show too. `&` marks an argument the function changes, `..` any number of arguments,\n"
    "`= x` the value of an argument left out. A function that takes functions is as pure as those it is given;\n"
    "an empty column *pure* means that calling it is never pure.\n"
    "\n"
    "## Always in scope\n";

std::string string_of(posset_text text) { return std::string(text.data ? text.data : "", text.size); }

// As a cell of a table: `|` would end it, `<` begin a tag.
std::string cell_of(posset_text text) {
  std::string cell;
  for (char c : string_of(text)) {
    if (c == '|') cell += '\\';
    if (c == '<') {
      cell += "&lt;";
    } else {
      cell += c;
    }
  }
  return cell;
}

struct Page {
  std::string text = kOpening;
  std::string module;
  bool is_first = true;
};

posset_status add_row(void* data, const posset_builtin_info* info) {
  auto& page = *static_cast<Page*>(data);
  std::string module = string_of(info->module);
  if (module != page.module) page.text += "\n## Module `" + module + "`\n\n`import \"" + module + "\"`\n";
  if (module != page.module || page.is_first) page.text += "\n| | pure | |\n| --- | --- | --- |\n";
  page.module = module;
  page.is_first = false;
  page.text += "| `" + string_of(info->signature) + "` | " + (info->pure ? "yes" : "") + " | " + cell_of(info->doc) + " |\n";
  return POSSET_OK;
}

}  // namespace

std::string describe_builtin(const posset_builtin_info& info) {
  return string_of(info.signature) + (info.pure ? "" : "   (not pure)") + "\n  " + string_of(info.doc);
}

int doc(const CommandLine& line) {
  Host host(line);
  if (host.status() != kDone) return host.status();
  std::string text;
  if (line.file.empty()) {
    Page page;
    posset_each_builtin(host.runtime(), add_row, &page);
    text = page.text;
  } else {
    posset_builtin_info info;
    if (posset_find_builtin(host.runtime(), posset_text_n(line.file.data(), line.file.size()), &info) != POSSET_OK) {
      std::fprintf(stderr, "posset: the standard library has no '%s'\n", line.file.c_str());
      return kUsage;
    }
    text = describe_builtin(info) + "\n";
  }
  host.output().write(text.data(), text.size());
  return host.finish(POSSET_OK, nullptr);
}

}  // namespace posset::cli
