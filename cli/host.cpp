// See host.h.
#include "cli/host.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace posset::cli {

namespace {

// Leaks are looked for when the process ends in the ordinary way.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// The context Ctrl-C ends. A signal handler can only reach globals.
std::atomic<posset_context*> interruptible{nullptr};

void on_interrupt(int) {
  if (posset_context* context = interruptible.load()) posset_interrupt(context);
}

bool write_all(int file, const char* data, size_t size) {
  while (size > 0) {
    ssize_t written = ::write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

bool write_output(void* data, const char* text, size_t size) { return static_cast<Output*>(data)->write(text, size); }

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

// `import "lib/a"` in /x/main.posset means /x/lib/a.posset.
bool find_module(void*, posset_text from_key, posset_text path, posset_module_source* answer) {
  std::string name(path.data, path.size);
  if (name.size() < 7 || name.compare(name.size() - 7, 7, ".posset") != 0) name += ".posset";
  std::string file = name[0] == '/' ? name : folder_of(std::string(from_key.data ? from_key.data : "", from_key.size)) + name;
  std::string text, why;
  if (!read_source(file, text, why)) {
    posset_module_missing(answer, posset_text_n(why.data(), why.size()));
    return false;
  }
  std::string key = key_of(file);
  // Shown as the importing file was: relative to where the command was started, when below it.
  char here[PATH_MAX];
  std::string shown = key;
  if (getcwd(here, sizeof here)) {
    std::string prefix = std::string(here) + "/";
    if (key.compare(0, prefix.size(), prefix) == 0) shown = key.substr(prefix.size());
  }
  posset_module_found(answer, posset_text_n(key.data(), key.size()), posset_text_n(shown.data(), shown.size()),
                      posset_text_n(text.data(), text.size()));
  return true;
}

}  // namespace

std::string key_of(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) ? std::string(resolved) : path;
}

std::string rendered(posset_diagnostics* diagnostics, bool color) {
  std::string text;
  for (size_t i = 0; i < posset_diagnostics_count(diagnostics); ++i) {
    posset_diagnostics_render(diagnostics, i, color, append_text, &text);
  }
  posset_diagnostics_free(diagnostics);
  return text;
}

bool append_text(void* data, const char* text, size_t size) {
  static_cast<std::string*>(data)->append(text, size);
  return true;
}

bool read_source(const std::string& path, std::string& text, std::string& why) {
  int file = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) {
    why = "cannot read " + path + ": " + std::strerror(errno);
    return false;
  }
  bool ok = true;
  if (S_ISDIR(info.st_mode)) {
    why = "cannot read " + path + ": it is a directory";
    ok = false;
  }
  char block[65536];
  while (ok) {
    ssize_t got = read(file, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      why = "cannot read " + path + ": " + std::strerror(errno);
      ok = false;
    }
    if (got <= 0) break;
    text.append(block, static_cast<size_t>(got));
  }
  if (file != STDIN_FILENO) close(file);
  return ok;
}

// ---- output ----

Output::Output() : terminal_(isatty(STDOUT_FILENO) != 0) {}

bool Output::write(const char* text, size_t size) {
  constexpr size_t kBuffer = 64 * 1024;
  if (failed_) return false;
  buffer_.append(text, size);
  if (terminal_) note_line({text, size});
  // People see at once what is for them: a prompt, or how far something has come.
  if (buffer_.size() >= kBuffer || terminal_) return flush();
  return true;
}

void Output::note_line(std::string_view text) {
  constexpr size_t kMost = 1024;
  const size_t end = text.rfind('\n');
  if (end != std::string_view::npos) begun_.clear();
  begun_ += text.substr(end == std::string_view::npos ? 0 : end + 1);
  if (begun_.size() > kMost) begun_.erase(0, begun_.size() - kMost);
}

bool Output::flush() {
  if (!buffer_.empty() && !failed_) failed_ = !write_all(STDOUT_FILENO, buffer_.data(), buffer_.size());
  buffer_.clear();
  return !failed_;
}

void Output::finish_line() {
  if (!begun_.empty()) write("\n", 1);
}

// ---- progress ----

// One line on the terminal, from a second on, written anew each time and erased in the end; behind what the script has begun
// there, unless that leaves no room.
void show_progress(void* data, const posset_solve_progress* now) {
  constexpr double kLong = 1;
  constexpr size_t kRoom = 40;
  const std::string& begun = static_cast<const Output*>(data)->begun_line();
  if (now->seconds < kLong || begun.size() > kRoom) return;
  std::fprintf(stderr, "\r\x1b[K%s", begun.c_str());  // erases the line
  if (!now->ended) {
    const double rate = static_cast<double>(now->updates) / now->seconds * 1e-6;
    std::fprintf(stderr, "%s: ", now->what);
    if (std::isfinite(now->residual)) std::fprintf(stderr, "residual %.2g, ", now->residual);
    std::fprintf(stderr, "%.2f million updates a second, %.1f s", rate, now->seconds);
  }
  std::fflush(stderr);
}

// ---- host ----

Host::Host(const CommandLine& line) : line_(line) {
  line_.runtime.trace_file = line_.trace_file.c_str();
  if (!line_.native_plugin.empty()) line_.runtime.native_plugin = line_.native_plugin.c_str();
  line_.runtime.native_watch = line_.native_watch.c_str();
  line_.runtime.native_passes = line_.native_passes.c_str();
  line_.runtime.cache_directory = line_.cache.c_str();
  posset_status status = posset_default_runtime(&line_.runtime, &runtime_);
  if (status != POSSET_OK) {
    // Only a trace file can be what is not found, and errno says why.
    const char* why = status == POSSET_NOT_FOUND ? std::strerror(errno) : posset_status_text(status);
    std::string what;
    if (status == POSSET_NOT_FOUND) what = "cannot write the trace " + line_.trace_file + ": ";
    // The command line has refused the others.
    if (status == POSSET_NOT_BUILT) what = "--force-tier " + std::to_string(line_.runtime.forced_tier) + ": ";
    std::fprintf(stderr, "posset: %s%s\n", what.c_str(), why);
    status_ = kUsage;
    return;
  }
  line_.context.read_directory = line_.read_directory.empty() ? nullptr : line_.read_directory.c_str();
  line_.context.write_directory = line_.write_directory.empty() ? nullptr : line_.write_directory.c_str();
  status = posset_context_create(runtime_, &line_.context, &context_);
  if (status != POSSET_OK) {
    std::fprintf(stderr, "posset: %s\n", posset_status_text(status));
    status_ = kUsage;
    return;
  }
  posset_context_set_output(context_, write_output, &output_);
  if (isatty(STDERR_FILENO)) posset_context_set_progress(context_, show_progress, &output_);
  posset_context_set_loader(context_, find_module, nullptr);
  set_arguments(line_.arguments);
  interruptible.store(context_);
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a closed output is an error of the script, not the end of the process
}

int Host::leave(int status) {
  end();
  if (!line_.trace_file.empty() || !line_.native_watch.empty() || kSanitized) return status;
  posset_context_release(context_);  // closes what the script has left open
  std::fflush(nullptr);
  std::_Exit(status);
}

Host::~Host() {
  end();
  interruptible.store(nullptr);
  if (context_) posset_context_release(context_);
  if (runtime_) posset_runtime_release(runtime_);
}

void Host::set_arguments(const std::vector<std::string>& arguments) {
  posset_value list;
  if (posset_list(context_, arguments.size(), &list) != POSSET_OK) return;
  for (const std::string& argument : arguments) {
    posset_value text;
    if (posset_string_lossy(context_, posset_text_n(argument.data(), argument.size()), &text) == POSSET_OK) {
      posset_list_push(context_, &list, text);
    }
  }
  posset_set_global(context_, posset_text_of("args"), list);
}

void Host::print_error_text(const std::string& text) {
  output_.finish_line();
  output_.flush();
  write_all(STDERR_FILENO, text.data(), text.size());
}

void Host::report(posset_diagnostics* diagnostics) {
  const std::string text = rendered(diagnostics, line_.color);
  if (!text.empty()) print_error_text(text);
}

int Host::report_error() {
  posset_error* error = posset_take_error(context_);
  if (!error) return kScriptError;
  posset_error_info info;
  info.size = sizeof info;
  posset_error_get(error, &info);
  std::string text;
  posset_error_render(error, line_.color, append_text, &text);
  print_error_text(text);
  int status = info.is_interrupt ? kInterrupted : info.is_limit ? kLimit : kScriptError;
  posset_error_free(error);
  return status;
}

int Host::finish(posset_status status, posset_diagnostics* diagnostics) {
  if (diagnostics) report(diagnostics);
  switch (status) {
    case POSSET_OK:
      if (output_.flush()) return kDone;
      print_error_text("posset: cannot write to the output\n");
      return kScriptError;
    case POSSET_INVALID: return kInvalidSource;
    case POSSET_RAISED: return report_error();
    default: print_error_text(std::string("posset: ") + posset_status_text(status) + "\n"); return kScriptError;
  }
}

void Host::end() {
  if (ended_ || !context_) return;
  ended_ = true;
  output_.flush();
  // Counting what is left takes apart what the process is about to drop anyway.
  if (line_.stats) print_stats();
}

void Host::print_stats() {
  posset_statistics before, after;
  before.size = after.size = sizeof before;
  posset_context_statistics(context_, &before);
  posset_context_finish(context_);
  posset_context_statistics(context_, &after);
  std::string text;
  auto add = [&](const char* name, uint64_t value) {
    text += std::string("stats: ") + name + " " + std::to_string(value) + "\n";
  };
  add("steps", before.steps);
  add("allocations", before.allocations);
  add("copies", before.copies);
  add("copied_bytes", before.copied_bytes);
  add("peak_bytes", before.peak_bytes);
  add("output_bytes", before.output_bytes);
  add("cycle_collections", after.cycle_collections);
  add("modules", before.modules);
  add("units", before.units);
  for (int tier = 1; tier <= 3; ++tier) {
    const std::string end = "_tier" + std::to_string(tier);
    add(("compiled" + end).c_str(), before.compiled[tier]);
    add(("code_bytes" + end).c_str(), before.code_bytes[tier]);
  }
  add("cache_hits", before.cache_hits);
  add("cache_misses", before.cache_misses);
  add("live_objects", after.live_objects);
  print_error_text(text);
}

}  // namespace posset::cli
