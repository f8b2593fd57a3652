// See editor.h. History lies in $XDG_STATE_HOME/posset/history, else ~/.posset_history.
//
// libedit has no hook for colours. It asks for a key when the screen shows the line, though, and lets its reader
// be replaced: ours paints the line over (highlight.h) and then has the original read.
#include "cli/editor.h"

#include <histedit.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <iostream>
#include <set>
#include <vector>

#include "cli/highlight.h"

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
  std::string before;  // the lines of the input that have been entered
  std::string file;
  bool highlight = false;
  bool cancelled = false;

  void open();
  void open_history();
  void paint();
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

// A window that is resized while a line is edited lays it out anew; libedit learns of it when the next begins.
bool is_resized(int columns, int rows) {
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  return is_known && (size.ws_col != columns || size.ws_row != rows);
}

// More keys are waiting, as when a text is pasted.
bool has_input() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

int read_key(EditLine* edit, wchar_t* key) {
  if (!has_input()) state_of(edit)->paint();
  el_wset(edit, EL_GETCFN, static_cast<el_rfunc_t>(EL_BUILTIN_GETCFN));
  const int count = el_wgetc(edit, key);
  el_wset(edit, EL_GETCFN, read_key);
  return count;
}

// Escapes mean nothing to a terminal nobody has named.
bool has_colors() {
  const char* terminal = std::getenv("TERM");
  return terminal && *terminal && std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

void Editor::State::paint() {
  int columns = 0, rows = 0;
  if (el_get(edit, EL_GETTC, "co", &columns, nullptr) != 0) return;
  if (el_get(edit, EL_GETTC, "li", &rows, nullptr) != 0 || is_resized(columns, rows)) return;
  const LineInfo* line = el_line(edit);
  TypedLine typed;
  typed.before = before;
  typed.text = {line->buffer, line->lastchar};
  typed.cursor = static_cast<size_t>(line->cursor - line->buffer);
  typed.prompt_width = static_cast<int>(prompt.size());
  typed.columns = columns;
  typed.rows = rows;
  const std::string made = painting(typed);
  std::fwrite(made.data(), 1, made.size(), stdout);
  std::fflush(stdout);
}

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
    posset_each_keyword(add_match, &matches);
  }
  return {matches.found.begin(), matches.found.end()};
}

void Editor::State::open() {
  // Sources are UTF-8, whatever the person's language; it only matters what letters and widths are.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  edit = el_init("posset", stdin, stdout, stderr);
  if (!edit) return;
  el_set(edit, EL_CLIENTDATA, this);
  el_set(edit, EL_PROMPT, show_prompt);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_SETTY, "-d", "-isig", nullptr);  // Ctrl-C is a key while a line is edited
  // The wide form keeps the pointers; the narrow one keeps copies that nobody frees.
  el_wset(edit, EL_ADDFN, L"posset-cancel", L"drop the line", cancel_line);
  el_wset(edit, EL_ADDFN, L"posset-complete", L"complete a name", complete);
  el_set(edit, EL_BIND, "^C", "posset-cancel", nullptr);
  el_set(edit, EL_BIND, "\t", "posset-complete", nullptr);
  el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  if (highlight) el_wset(edit, EL_GETCFN, read_key);
  open_history();
}

void Editor::State::open_history() {
  history = history_init();
  HistEvent event;
  ::history(history, &event, H_SETSIZE, kHistoryLines);
  ::history(history, &event, H_SETUNIQUE, 1);
  el_set(edit, EL_HIST, ::history, history);
  file = history_file();
  if (!file.empty()) ::history(history, &event, H_LOAD, file.c_str());
}

Editor::Editor(std::function<posset_context*()> context, std::function<posset_runtime*()> runtime, bool highlight)
    : state_(std::make_unique<State>()) {
  state_->context = std::move(context);
  state_->runtime = std::move(runtime);
  state_->highlight = highlight && has_colors();
  if (isatty(STDIN_FILENO)) state_->open();
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

Editor::Outcome Editor::read_line(const std::string& prompt, const std::string& before, std::string& out) {
  if (!state_->edit) return std::getline(std::cin, out) ? Outcome::Line : Outcome::End;
  state_->prompt = prompt;
  state_->before = before.empty() ? "" : before + "\n";
  state_->cancelled = false;
  el_resize(state_->edit);  // the window may have been while no line was edited
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
