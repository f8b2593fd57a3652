// `posset repl`: reads inputs (several lines when one is not finished), evaluates them in the session of one
// context, shows what they give. Commands start with a colon and are rows of one table. Line editing is in
// editor.h; without a terminal the lines are simply read.
#include <chrono>
#include <cstdio>
#include <memory>

#include "cli/editor.h"
#include "cli/host.h"
#include "cli/verbs.h"

namespace posset::cli {

namespace {

class Repl {
 public:
  explicit Repl(const CommandLine& line) : line_(line) { start(); }

  int loop();

 private:
  struct Command {
    const char* name;
    const char* argument;
    const char* help;
    void (Repl::*run)(const std::string& argument);
  };
  static const Command kCommands[];

  void start() {
    host_.reset();  // first, because its trace goes into the same file as the new one's
    host_ = std::make_unique<Host>(line_);
    inputs_ = 0;
  }
  bool read_input(Editor& editor, std::string& input);
  void enter(const std::string& input);
  bool evaluate(const std::string& text, posset_value& out);
  void show(posset_value value);
  void say(const std::string& text) { host_->output().write((text + "\n").data(), text.size() + 1); }
  void command(const std::string& text);
  void with_function(const std::string& name, posset_status (Repl::*what)(posset_value, std::string&));
  posset_status explain_one(posset_value function, std::string& text) {
    return posset_explain_function(host_->context(), function, append_text, &text);
  }
  posset_status why_one(posset_value function, std::string& text) {
    return posset_why_function(host_->context(), function, append_text, &text);
  }
  posset_status dump_one(posset_value function, std::string& text) {
    return posset_dump_function(host_->context(), function, POSSET_FORM_BYTECODE, append_text, &text);
  }

  void help(const std::string&);
  void doc(const std::string& name);
  void type(const std::string& expression);
  void tier(const std::string& name);
  void explain(const std::string& name) { with_function(name, &Repl::explain_one); }
  void why(const std::string& name) { with_function(name, &Repl::why_one); }
  void dump(const std::string& name) { with_function(name, &Repl::dump_one); }
  void time(const std::string& expression);
  void load(const std::string& file);
  void reset(const std::string&) { start(); }
  void quit(const std::string&) { quit_ = true; }

  CommandLine line_;
  std::unique_ptr<Host> host_;
  int inputs_ = 0;
  bool quit_ = false;
};

const Repl::Command Repl::kCommands[] = {
    {"help", "", "this list", &Repl::help},
    {"doc", "NAME", "what a function does, or those of a module: :doc len, :doc math", &Repl::doc},
    {"type", "EXPR", "the type of an expression's value", &Repl::type},
    {"tier", "NAME", "the tier a function runs in", &Repl::tier},
    {"explain", "NAME", "pure or why not, tier and why not higher, types seen", &Repl::explain},
    {"why", "NAME", "why a function is in no higher tier, and what that means", &Repl::why},
    {"dump", "NAME", "a function's bytecode", &Repl::dump},
    {"time", "EXPR", "how long an expression takes", &Repl::time},
    {"load", "FILE", "evaluate a file in this session", &Repl::load},
    {"reset", "", "forget everything", &Repl::reset},
    {"quit", "", "leave (Ctrl-D does too)", &Repl::quit},
};

std::string trimmed(const std::string& text) {
  size_t from = text.find_first_not_of(" \t\n");
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t\n") - from + 1);
}

posset_text text_of(const std::string& text) { return posset_text_n(text.data(), text.size()); }

// ---- evaluating ----

bool Repl::evaluate(const std::string& text, posset_value& out) {
  std::string name = "<input " + std::to_string(++inputs_) + ">";
  posset_diagnostics* diagnostics = nullptr;
  posset_status status = posset_session_eval(host_->context(), text_of(name), text_of(text), &out, &diagnostics);
  return host_->finish(status, diagnostics) == kDone;
}

void Repl::show(posset_value value) {
  if (posset_is_nil(value)) return;
  std::string text;
  if (posset_print(host_->context(), value, true, append_text, &text) == POSSET_OK) {
    say(text);
  } else {
    host_->report_error();
  }
}

void Repl::enter(const std::string& input) {
  posset_value value = posset_nil();
  if (evaluate(input, value)) show(value);
  posset_release(value);
}

// ---- commands ----

void Repl::command(const std::string& text) {
  size_t blank = text.find_first_of(" \t");
  std::string name = text.substr(1, blank == std::string::npos ? std::string::npos : blank - 1);
  std::string argument = blank == std::string::npos ? "" : trimmed(text.substr(blank));
  for (const Command& each : kCommands) {
    if (name != each.name) continue;
    if (*each.argument && argument.empty()) return say(":" + name + " takes " + each.argument);
    return (this->*each.run)(argument);
  }
  say("no command :" + name + "; :help lists them");
}

void Repl::help(const std::string&) {
  for (const Command& each : kCommands) {
    std::string head = std::string(":") + each.name + " " + each.argument;
    say(head + std::string(head.size() < 16 ? 16 - head.size() : 1, ' ') + each.help);
  }
}

void Repl::doc(const std::string& name) {
  std::string text = describe(host_->runtime(), name);
  if (!text.empty()) return say(text);
  posset_value value;
  if (posset_session_get(host_->context(), text_of(name), &value) == POSSET_OK) {
    if (posset_explain_function(host_->context(), value, append_text, &text) == POSSET_OK) {
      say(text);
    } else {
      say("nothing is known about '" + name + "'");
    }
    posset_release(value);
  } else {
    say("'" + name + "' is not defined");
  }
}

void Repl::type(const std::string& expression) {
  posset_value value = posset_nil();
  if (evaluate(expression, value)) {
    posset_text text = posset_type_name(host_->context(), value);
    say(std::string(text.data, text.size));
  }
  posset_release(value);
}

void Repl::with_function(const std::string& name, posset_status (Repl::*what)(posset_value, std::string&)) {
  posset_value value;
  if (posset_session_get(host_->context(), text_of(name), &value) != POSSET_OK) {
    return say("'" + name + "' is not defined");
  }
  std::string text;
  posset_status status = (this->*what)(value, text);
  posset_release(value);
  if (status == POSSET_OK) {
    say(trimmed(text));
  } else if (status == POSSET_RAISED) {
    host_->report_error();
  } else {
    say("'" + name + "': " + posset_status_text(status));
  }
}

void Repl::tier(const std::string& name) {
  posset_value value;
  if (posset_session_get(host_->context(), text_of(name), &value) != POSSET_OK) {
    return say("'" + name + "' is not defined");
  }
  int tier = posset_function_tier(host_->context(), value);
  if (tier < 0) {
    say("'" + name + "' is not a function of the script");
  } else {
    say(name + ": tier " + std::to_string(tier) + ", executed " +
        std::to_string(posset_function_executions(host_->context(), value)) + " times");
  }
  posset_release(value);
}

void Repl::time(const std::string& expression) {
  auto start = std::chrono::steady_clock::now();
  posset_value value = posset_nil();
  bool ok = evaluate(expression, value);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (ok) show(value);
  posset_release(value);
  char text[64];
  std::snprintf(text, sizeof text, "%.6f s", seconds);
  say(text);
}

void Repl::load(const std::string& file) {
  std::string text, why;
  if (!read_source(file, text, why)) return say(why);
  posset_value value = posset_nil();
  posset_diagnostics* diagnostics = nullptr;
  posset_status status =
      posset_session_eval(host_->context(), text_of(file), text_of(text), &value, &diagnostics);
  posset_release(value);
  host_->finish(status, diagnostics);
}

// ---- the loop ----

// One input, with the lines it takes to finish it. False: the end.
bool Repl::read_input(Editor& editor, std::string& input) {
  input.clear();
  for (;;) {
    std::string next;
    host_->output().finish_line();
    switch (editor.read_line(input.empty() ? "> " : ". ", input, next)) {
      case Editor::Outcome::End: return !trimmed(input).empty();
      case Editor::Outcome::Cancelled: input.clear(); continue;
      case Editor::Outcome::Line: break;
    }
    input += (input.empty() ? "" : "\n") + next;
    bool is_command = trimmed(input).substr(0, 1) == ":";
    if (is_command || !posset_is_incomplete(text_of(input))) return true;
  }
}

int Repl::loop() {
  if (host_->status() != kDone) return host_->status();
  Editor editor([this] { return host_->context(); }, [this] { return host_->runtime(); }, line_.highlight);
  if (editor.interactive()) say(std::string("posset ") + posset_version() + "; :help lists the commands");
  std::string input;
  while (!quit_) {
    host_->output().flush();
    if (!read_input(editor, input)) break;
    std::string text = trimmed(input);
    if (text.empty()) continue;
    editor.remember(input);
    if (text[0] == ':') {
      command(text);
    } else {
      enter(input);
    }
  }
  host_->output().flush();
  return kDone;
}

}  // namespace

int repl(const CommandLine& line) { return Repl(line).loop(); }

}  // namespace posset::cli
