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

std::string describe_builtin(const posset_builtin_info& info) {
  return string_of(info.signature) + (info.pure ? "" : "   (not pure)") + "\n  " + string_of(info.doc);
}

// The functions of one module, as text.
struct Listing {
  std::string module, text;
};

posset_status add_of_module(void* data, const posset_builtin_info* info) {
  auto& listing = *static_cast<Listing*>(data);
  if (string_of(info->module) == listing.module) listing.text += (listing.text.empty() ? "" : "\n") + describe_builtin(*info);
  return POSSET_OK;
}

}  // namespace

std::string describe(posset_runtime* runtime, const std::string& name) {
  posset_builtin_info info;
  if (posset_find_builtin(runtime, posset_text_n(name.data(), name.size()), &info) == POSSET_OK) {
    return describe_builtin(info);
  }
  Listing listing{name, {}};
  if (!name.empty()) posset_each_builtin(runtime, add_of_module, &listing);
  return listing.text;
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
    text = describe(host.runtime(), line.file);
    if (text.empty()) {
      std::fprintf(stderr, "posset: the standard library has no '%s'\n", line.file.c_str());
      return kUsage;
    }
    text += "\n";
  }
  host.output().write(text.data(), text.size());
  return host.finish(POSSET_OK, nullptr);
}

}  // namespace posset::cli
