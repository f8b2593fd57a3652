// Parsing by CLI11. See command_line.h. Values are checked here.
#include "cli/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "cli/usage.h"

namespace posset::cli {

namespace {

struct Flags {
  std::string thresholds, allow = "clock", color = "auto", trace, cache;
  bool has_cache = false, no_cache = false;
  bool tree = false, bytecode = false, ir = false, assembly = false;
};

struct OptionText {
  const char* help = "";
  const char* environment = "";
};

OptionText text_of(std::string_view flag) {
#define RUNTIME_OPTION(field, name, type, fallback, variable, value, help) \
  if (flag == name) return {help, variable};
#define CONTEXT_OPTION RUNTIME_OPTION
#include <posset/options.def>
#undef RUNTIME_OPTION
#undef CONTEXT_OPTION
  return {};
}

// An option of the table, with its help and the environment variable that stands in for it.
template <class T>
CLI::Option* add_row(CLI::App& app, const char* flag, T& out) {
  OptionText text = text_of(flag);
  return app.add_option(std::string("--") + flag, out, text.help)->envname(text.environment);
}

// CLI11's own checks tell the bounds of a type, one of them with 309 digits.
CLI::Validator positive(const char* what, bool (*holds)(posset_text)) {
  return CLI::Validator([=](std::string& text) {
    if (holds(posset_text_n(text.data(), text.size()))) return std::string();
    return std::string("takes ") + what + " above 0, got '" + text + "'";
  }, "above 0");
}

bool is_positive_count(posset_text text) {
  int64_t value = 0;
  return posset_parse_int(text, &value) && value > 0;
}

bool is_positive_time(posset_text text) {
  double value = 0;
  return posset_parse_float(text, &value) && value > 0 && std::isfinite(value);
}

// Where 0 cannot be given, what it would mean is a host's to read (options.def).
template <class T>
CLI::Option* add_positive_row(CLI::App& app, const char* flag, T& out) {
  CLI::Option* option = add_row(app, flag, out);
  const std::string help = option->get_description();
  return option->description(help.substr(0, help.find("; 0:")));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool set_thresholds(const std::string& text, posset_runtime_options& options) {
  if (text.empty()) return true;
  uint32_t* fields[] = {&options.tier1_after, &options.tier2_after, &options.tier3_after};
  std::vector<std::string> parts = split(text);
  if (parts.size() != 3) return false;
  for (size_t i = 0; i < 3; ++i) {
    int64_t value = 0;
    if (!posset_parse_int(posset_text_of(parts[i].c_str()), &value) || value < 0 || value > UINT32_MAX) return false;
    *fields[i] = static_cast<uint32_t>(value);
  }
  return true;
}

void add_evaluation_options(CLI::App& app, CommandLine& line, Flags& flags) {
  const CLI::Validator count = positive("a whole number", is_positive_count);
  add_row(app, "tier", line.runtime.max_tier)->check(CLI::Range(0, 3));
  add_row(app, "force-tier", line.runtime.forced_tier)->check(CLI::Range(-1, 3));
  add_row(app, "thresholds", flags.thresholds)->check([&line](const std::string& text) {
    return set_thresholds(text, line.runtime) ? std::string() : std::string("takes three counts: A,B,C");
  });
  add_positive_row(app, "workers", line.runtime.workers)->check(CLI::Range(1U, 4096U));
  add_positive_row(app, "quantum", line.runtime.quantum_us)->check(CLI::Range(1U, 10000000U));
  add_positive_row(app, "cabal-limit", line.runtime.cabal_limit)->check(CLI::Range(1U, 4096U));
  add_row(app, "code-limit", line.runtime.code_limit);
  add_row(app, "native-plugin", line.native_plugin);
  add_row(app, "native-passes", line.native_passes)->check(CLI::IsMember({"quick", "light", "full"}));
  add_row(app, "exit-stress", line.runtime.exit_stress);
  add_row(app, "native-watch", line.native_watch)->check(CLI::IsMember({"", "perf", "gdb", "perf,gdb", "gdb,perf"}));
  add_row(app, "trace", flags.trace);
  add_row(app, "trace-events", line.runtime.trace_events);
  add_positive_row(app, "memory-limit", line.context.memory_limit)->check(count);
  add_positive_row(app, "time-limit", line.context.time_limit_seconds)->check(positive("a number", is_positive_time));
  add_positive_row(app, "step-limit", line.context.step_limit)->check(count);
  add_positive_row(app, "stack-limit", line.context.stack_limit)->check(count);
  add_row(app, "cache", flags.cache)->each([&](const std::string&) { flags.has_cache = true; });
  add_row(app, "cache-limit", line.runtime.cache_limit);
  app.add_flag("--no-cache", flags.no_cache, "keep no native code between runs");
  app.add_flag("--stats", line.stats, "counters at the end, on standard error");
  app.add_option("--allow", flags.allow, "grants: read[=DIR], write[=DIR], input, env, clock, run, all, none");
}

// As a table of options with the words for what they take, and without the bounds of types.
class Layout final : public CLI::Formatter {
 public:
  explicit Layout(Verb verb) : verb_(verb) {}
  std::string make_usage(const CLI::App*, std::string) const override { return usage_of(verb_); }
  std::string make_description(const CLI::App*) const override { return {}; }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    const bool is_count = type.starts_with("INT") || type.starts_with("UINT");
    std::string opts = is_count ? " N" : type.starts_with("FLOAT") ? " SECONDS" : type.starts_with("TEXT") ? " TEXT" : "";
    if (!option->get_envname().empty()) opts += " ($" + option->get_envname() + ")";
    return opts;
  }

 private:
  Verb verb_;
};

int usage(const std::string& problem) {
  std::fprintf(stderr, "posset: %s\nTry 'posset --help'.\n", problem.c_str());
  return kUsage;
}

// -1: fine. A directory without a name, of a variable that is not set, would be all.
int set_grants(const std::string& text, CommandLine& line) {
  static const std::map<std::string, uint32_t> kGrants = {
      {"read", POSSET_GRANT_READ},   {"write", POSSET_GRANT_WRITE}, {"env", POSSET_GRANT_ENV},
      {"clock", POSSET_GRANT_CLOCK}, {"run", POSSET_GRANT_RUN},     {"input", POSSET_GRANT_INPUT},
      {"all", POSSET_GRANT_ALL},     {"none", 0},                   {"", 0},
  };
  for (const std::string& part : split(text)) {
    size_t equals = part.find('=');
    std::string name = part.substr(0, equals);
    auto grant = kGrants.find(name);
    if (grant == kGrants.end() || (equals != std::string::npos && name != "read" && name != "write")) {
      return usage("--allow: unknown grant '" + part + "'");
    }
    line.context.grants |= grant->second;
    if (equals == std::string::npos) continue;
    std::string& directory = name == "read" ? line.read_directory : line.write_directory;
    if (!directory.empty()) return usage("--allow: '" + name + "=' stands there twice");
    directory = part.substr(equals + 1);
    if (directory.empty()) return usage("--allow: '" + name + "=' names no directory");
  }
  // Clocks are granted unless the list says none: they harm nobody (cli.md: the default is `clock`).
  if (text != "none") line.context.grants |= POSSET_GRANT_CLOCK;
  return -1;
}

bool is_trace_file(const std::string& path) {
  auto ends = [&](std::string_view end) { return std::string_view(path).ends_with(end); };
  return path == "-" || ends(".json") || ends(".html");
}

// Whether a file gets colours, by --color. `auto` is for people: a terminal, and nobody has asked for none.
bool wants_color(const std::string& flag, int file) {
  const char* no_color = std::getenv("NO_COLOR");
  return flag == "always" || (flag == "auto" && isatty(file) && !(no_color && *no_color));
}

// Where native code is kept unless an option says otherwise: the user's cache directory, as the XDG base directory
// specification has it. Empty: nowhere, which the variable that stands in for the option can say too.
std::string default_cache() {
  if (std::getenv("POSSET_CACHE")) return {};  // empty, or it would have been taken for the option
  for (const auto& [variable, below] : {std::pair("XDG_CACHE_HOME", "/posset"), std::pair("HOME", "/.cache/posset")}) {
    const char* base = std::getenv(variable);
    if (base && *base == '/') return std::string(base) + below;
  }
  return {};
}

// Checks what CLI11 cannot. -1: fine.
int finish_options(const Flags& flags, CommandLine& line) {
  if (const int wrong = set_grants(flags.allow, line); wrong >= 0) return wrong;
  if (flags.color != "auto" && flags.color != "always" && flags.color != "never") {
    return usage("--color takes auto, always or never");
  }
  line.color = wants_color(flags.color, STDERR_FILENO);
  line.highlight = wants_color(flags.color, STDOUT_FILENO);
  line.trace_file = flags.trace;
  if (!flags.trace.empty() && !is_trace_file(flags.trace)) {
    return usage("--trace takes a FILE that ends in .json or .html, or - for standard error");
  }
  if (!flags.no_cache) line.cache = flags.has_cache ? flags.cache : default_cache();
  return -1;
}

int choose_form(const Flags& flags, CommandLine& line) {
  int chosen = flags.tree + flags.bytecode + flags.ir + flags.assembly;
  if (chosen != 1) return usage("dump takes one of --tree, --bytecode, --ir, --asm");
  line.form = flags.tree       ? POSSET_FORM_TREE
              : flags.bytecode ? POSSET_FORM_BYTECODE
              : flags.ir       ? POSSET_FORM_IR
                               : POSSET_FORM_ASM;
  return -1;
}

// `why NAME FILE`; as explain has them the other way round, the one that is a file is the file.
int choose_why(CommandLine& line, const std::vector<std::string>& rest) {
  if (rest.size() > 2) return usage("why takes a REASON, or a NAME and a FILE");
  if (rest.size() < 2) return -1;
  const bool name_first = access(rest[0].c_str(), F_OK) != 0 || access(rest[1].c_str(), F_OK) == 0;
  line.file = rest[name_first ? 1 : 0];
  line.unit = rest[name_first ? 0 : 1];
  return -1;
}

// `FILE [NAME] [-- ARG...]`, and for why the other way round.
int choose_unit(CommandLine& line, std::vector<std::string> rest) {
  const auto end = std::find(rest.begin(), rest.end(), "--");
  line.arguments.assign(end == rest.end() ? end : end + 1, rest.end());
  rest.erase(end, rest.end());
  if (line.verb == Verb::Why) return choose_why(line, rest);
  if (rest.empty() || rest.size() > 2) return usage("a FILE, and at most one NAME; arguments of the script stand behind --");
  if (rest.size() == 2) line.unit = rest[1];
  return -1;
}

int check_operands(CommandLine& line, std::vector<std::string> rest) {
  if (!rest.empty()) {
    line.file = rest.front();
    line.arguments.assign(rest.begin() + 1, rest.end());
  }
  switch (line.verb) {
    case Verb::Repl:
      if (!rest.empty()) return usage("repl takes no file");
      return -1;
    case Verb::Eval:
      if (rest.size() != 1) return usage("eval takes one expression");
      return -1;
    case Verb::Trace:
      if (rest.size() != 3 || rest[0] != "diff") return usage("trace takes diff and two files: posset trace diff A B");
      return -1;
    case Verb::Doc:
      if (rest.size() > 1) return usage("doc takes at most one NAME");
      return -1;
    case Verb::Run:
    case Verb::Check:
    case Verb::Fmt:
      if (rest.empty()) return usage("no FILE given");
      return -1;
    case Verb::Explain:
    case Verb::Why:
    case Verb::Dump: return choose_unit(line, std::move(rest));
  }
  return -1;
}

// Options end at the first word that is none; `-` is a file, and for eval `-x + 1` an expression: all options
// but `-h` begin with two dashes.
size_t first_operand(const CLI::App& app, const std::vector<std::string>& words, Verb verb) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return i + 1;
    if (word.size() < 2 || word[0] != '-') return i;
    if (verb == Verb::Eval && word[1] != '-' && word != "-h") return i;
    const CLI::Option* option = app.get_option_no_throw(word.substr(0, word.find('=')));
    if (option && option->get_expected_max() > 0 && word.find('=') == std::string::npos) ++i;
  }
  return words.size();
}

// What is wrong with an option that nobody gave stands in the variable that stands in for it.
std::string blamed(const CLI::App& app, const std::vector<std::string>& words, const std::string& problem) {
  const std::string name = problem.substr(0, problem.find(':'));
  const CLI::Option* option = app.get_option_no_throw(name);
  const bool is_given = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == name || word.starts_with(name + "=");
  });
  if (!option || is_given || option->get_envname().empty()) return problem;
  return option->get_envname() + problem.substr(name.size());
}

int parse_words(CommandLine& line, std::vector<std::string> words) {
  Flags flags;
  CLI::App app;
  app.formatter(std::make_shared<Layout>(line.verb));
  if (line.verb != Verb::Check && line.verb != Verb::Trace && line.verb != Verb::Doc && line.verb != Verb::Fmt) {
    add_evaluation_options(app, line, flags);
  }
  app.add_option("--color", flags.color, "colours in diagnostics and in what is typed: auto, always, never");
  if (line.verb == Verb::Check) app.add_flag("--json", line.json, "diagnostics as JSON on standard output");
  if (line.verb == Verb::Fmt) {
    app.add_flag("--check", line.only_check, "change nothing; name the files that would change, with exit status 1");
  }
  if (line.verb == Verb::Dump) {
    app.add_flag("--run", line.runs_first, "run the script first: of what has become hot, the code of the highest tier");
    app.add_flag("--tree", flags.tree, "the resolved tree");
    app.add_flag("--bytecode", flags.bytecode, "tier 1");
    app.add_flag("--ir", flags.ir, "native tiers: intermediate code");
    app.add_flag("--asm", flags.assembly, "native tiers: machine code");
  }
  size_t operands = first_operand(app, words, line.verb);
  std::vector<std::string> options(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(operands, words.size())));
  if (!options.empty() && options.back() == "--") options.pop_back();
  const std::vector<std::string> given = options;
  std::reverse(options.begin(), options.end());  // CLI11 takes them last first, and takes them away
  try {
    app.parse(options);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kDone;
  } catch (const CLI::ParseError& problem) {
    return usage(blamed(app, given, problem.what()));
  }
  if (int status = finish_options(flags, line); status >= 0) return status;
  if (line.verb == Verb::Dump) {
    if (int status = choose_form(flags, line); status >= 0) return status;
  }
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(operands, words.size())));
  return check_operands(line, std::move(words));
}

}  // namespace

int parse_command_line(int argc, char** argv, CommandLine& out) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    if (!isatty(STDIN_FILENO)) {
      out.file = "-";
      return parse_words(out, {"-"});
    }
    out.verb = Verb::Repl;
    return parse_words(out, {});
  }
  if (words[0] == "--help" || words[0] == "-h") {
    std::fputs(usage_of_all().c_str(), stdout);
    return kDone;
  }
  if (words[0] == "--version") {
    std::printf("posset %s\n", posset_version());
    return kDone;
  }
  if (const std::optional<Verb> verb = verb_named(words[0])) {
    out.verb = *verb;
    words.erase(words.begin());
  }
  return parse_words(out, std::move(words));
}

}  // namespace posset::cli
