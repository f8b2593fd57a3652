// See editor.h. History lies in $XDG_STATE_HOME/posset/history, else ~/.posset_history.
#include "cli/editor.h"

#include <histedit.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <iostream>
#include <set>
#include <vector>

namespace posset::cli {

namespace {

constexpr int kHistoryLines = 2000;

std::string history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state && *state) {
    std::string folder = std::string(state) + "/posset";
    mkdir(state, 0700);
    mkdir(folder.c_str(), 0700);
    return folder + "/history";
  }
  return home ? std::string(home) + "/.posset_history" : std::string();
}

const char* const kKeywords[] = {"let",   "var",    "fn",    "pure",  "inout", "with",   "if",     "else",
                                 "while", "for",    "in",    "break", "continue", "return", "match",
                                 "try",   "catch",  "throw", "import", "export", "from",  "as",     "do",
                                 "and",   "or",     "not",   "true",  "false", "nil",    "type"};

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':';
}

}  // namespace

struct Editor::State {
  std::function<posset_context*()> context;
  std::function<posset_runtime*()> runtime;
  EditLine* edit = nullptr;
  History* history = nullptr;
  std::string prompt;
  std::string file;
  bool cancelled = false;

  std::vector<std::string> candidates(const std::string& word);
};

namespace {

struct Matches {
  std::string prefix;
  std::string before;  // what candidates get in front: "point."
  std::set<std::string> found;
};

posset_status add_match(void* data, posset_text name) {
  auto* matches = static_cast<Matches*>(data);
  std::string text(name.data, name.size);
  if (text.compare(0, matches->prefix.size(), matches->prefix) == 0) matches->found.insert(matches->before + text);
  return POSSET_OK;
}

posset_status add_builtin(void* data, const posset_builtin_info* info) {
  return info->module.size == 0 ? add_match(data, info->name) : POSSET_OK;
}

Editor::State* state_of(EditLine* edit) {
  Editor::State* state = nullptr;
  el_get(edit, EL_CLIENTDATA, &state);
  return state;
}

char* show_prompt(EditLine* edit) { return state_of(edit)->prompt.data(); }

unsigned char cancel_line(EditLine* edit, wint_t) {
  state_of(edit)->cancelled = true;
  return CC_NEWLINE;
}

unsigned char complete(EditLine* edit, wint_t) {
  const LineInfo* line = el_line(edit);
  const char* from = line->cursor;
  while (from > line->buffer && is_name_character(from[-1])) --from;
  std::string word(from, line->cursor);
  std::vector<std::string> found = state_of(edit)->candidates(word);
  if (found.empty()) return CC_REFRESH_BEEP;
  std::string common = found[0];
  for (const std::string& each : found) {
    size_t n = 0;
    while (n < common.size() && n < each.size() && common[n] == each[n]) ++n;
    common.resize(n);
  }
  if (common.size() > word.size()) {
    el_insertstr(edit, common.c_str() + word.size());
    return CC_REFRESH;
  }
  if (found.size() == 1) return CC_REFRESH;
  std::string list = "\n";
  for (const std::string& each : found) list += each + "  ";
  list += "\n";
  [[maybe_unused]] ssize_t written = write(STDOUT_FILENO, list.data(), list.size());
  return CC_REDISPLAY;
}

}  // namespace

std::vector<std::string> Editor::State::candidates(const std::string& word) {
  Matches matches;
  size_t dot = word.rfind('.');
  if (dot != std::string::npos) {
    matches.before = word.substr(0, dot + 1);
    matches.prefix = word.substr(dot + 1);
    posset_session_each_member(context(), posset_text_n(word.data(), dot), add_match, &matches);
  } else if (!word.empty()) {
    matches.prefix = word;
    posset_session_each_name(context(), add_match, &matches);
    posset_each_builtin(runtime(), add_builtin, &matches);
    for (const char* keyword : kKeywords) add_match(&matches, posset_text_of(keyword));
  }
  return {matches.found.begin(), matches.found.end()};
}

Editor::Editor(std::function<posset_context*()> context, std::function<posset_runtime*()> runtime)
    : state_(std::make_unique<State>()) {
  state_->context = std::move(context);
  state_->runtime = std::move(runtime);
  if (!isatty(STDIN_FILENO)) return;
  state_->edit = el_init("posset", stdin, stdout, stderr);
  if (!state_->edit) return;
  EditLine* edit = state_->edit;
  el_set(edit, EL_CLIENTDATA, state_.get());
  el_set(edit, EL_PROMPT, show_prompt);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_SETTY, "-d", "-isig", nullptr);  // Ctrl-C is a key while a line is edited
  // The wide form keeps the pointers; the narrow one keeps copies that nobody frees.
  el_wset(edit, EL_ADDFN, L"posset-cancel", L"drop the line", cancel_line);
  el_wset(edit, EL_ADDFN, L"posset-complete", L"complete a name", complete);
  el_set(edit, EL_BIND, "^C", "posset-cancel", nullptr);
  el_set(edit, EL_BIND, "\t", "posset-complete", nullptr);
  el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  state_->history = history_init();
  HistEvent event;
  history(state_->history, &event, H_SETSIZE, kHistoryLines);
  history(state_->history, &event, H_SETUNIQUE, 1);
  el_set(edit, EL_HIST, history, state_->history);
  state_->file = history_file();
  if (!state_->file.empty()) history(state_->history, &event, H_LOAD, state_->file.c_str());
}

Editor::~Editor() {
  if (!state_->edit) return;
  HistEvent event;
  if (!state_->file.empty()) {
    mode_t mask = umask(0077);
    history(state_->history, &event, H_SAVE, state_->file.c_str());
    umask(mask);
  }
  history_end(state_->history);
  el_end(state_->edit);
}

bool Editor::interactive() const { return state_->edit != nullptr; }

Editor::Outcome Editor::read_line(const std::string& prompt, std::string& out) {
  if (!state_->edit) return std::getline(std::cin, out) ? Outcome::Line : Outcome::End;
  state_->prompt = prompt;
  state_->cancelled = false;
  int count = 0;
  const char* line = el_gets(state_->edit, &count);
  if (state_->cancelled) return Outcome::Cancelled;
  if (!line || count <= 0) return Outcome::End;
  out.assign(line, static_cast<size_t>(count));
  while (!out.empty() && (out.back() == '\n' || out.back() == '\r')) out.pop_back();
  return Outcome::Line;
}

void Editor::remember(const std::string& input) {
  if (!state_->edit) return;
  HistEvent event;
  history(state_->history, &event, H_ENTER, input.c_str());
}

}  // namespace posset::cli
