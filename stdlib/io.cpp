// The module io: files below the folders the host has granted (POSSET_GRANT_READ, _WRITE), and standard input.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <vector>

#include "stdlib/line.h"
#include "stdlib/modules.h"
#include "stdlib/ready.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

posset_status failed(posset_call* call, const char* what, const std::string& path) {
  return posset_raisef(call->context, POSSET_ERROR_HostError, "cannot %s %s: %s", what, path.c_str(),
                       std::strerror(errno));
}

// Argument i as a path that is granted for `grant`; a NUL byte cannot be part of one. What is longer than the system takes is not even
// copied.
posset_status want_path(posset_call* call, uint32_t i, uint32_t grant, std::string& out) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, i, &text));
  if (text.size >= PATH_MAX) return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of("is too long for a path"));
  out = std::string(view_of(text));
  if (out.find('\0') != std::string::npos) {
    return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of("holds a NUL character"));
  }
  return posset_require_grant(call->context, grant, text);
}

class File {
 public:
  File(const std::string& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// Reads to the end; false with errno. Memory is charged as it grows.
posset_status read_all(posset_call* call, int file, const std::string& path, std::string& out, size_t& charged) {
  char block[65536];
  for (;;) {
    POSSET_TRY(wait_until_readable(call, file));
    ssize_t got = read(file, block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return failed(call, "read", path);
    if (got == 0) return POSSET_OK;
    POSSET_TRY(posset_charge_memory(call->context, static_cast<size_t>(got)));
    charged += static_cast<size_t>(got);
    POSSET_TRY(posset_charge_bytes(call->context, static_cast<uint64_t>(got)));
    out.append(block, static_cast<size_t>(got));
  }
}

posset_status give_text(posset_call* call, const std::string& text) {
  posset_value value;
  POSSET_TRY(posset_string_lossy(call->context, text_of(text), &value));
  return posset_return(call, value);
}

posset_status read_file(posset_call* call) {
  std::string path, text;
  POSSET_TRY(want_path(call, 0, POSSET_GRANT_READ, path));
  File file(path, O_RDONLY | O_NONBLOCK);  // nobody may have opened the other end of a pipe
  struct stat info;
  if (file.number() < 0 || fstat(file.number(), &info) != 0) return failed(call, "read", path);
  errno = EISDIR;
  if (S_ISDIR(info.st_mode)) return failed(call, "read", path);
  size_t charged = 0;
  posset_status status = read_all(call, file.number(), path, text, charged);
  if (status == POSSET_OK) status = give_text(call, text);
  posset_discharge_memory(call->context, charged);
  return status;
}

posset_status write_with(posset_call* call, int flags) {
  std::string path;
  posset_text text;
  POSSET_TRY(want_path(call, 0, POSSET_GRANT_WRITE, path));
  POSSET_TRY(posset_want_string(call, 1, &text));
  POSSET_TRY(posset_charge_bytes(call->context, text.size));
  File file(path, O_WRONLY | O_CREAT | flags);
  if (file.number() < 0) return failed(call, "write", path);
  std::string_view left = view_of(text);
  while (!left.empty()) {
    // Between two looks at the limits; but what is appended stays together, whatever other tasks append meanwhile.
    const size_t at_once = flags & O_APPEND ? left.size() : size_t{256} << 10;
    ssize_t written = write(file.number(), left.data(), std::min(left.size(), at_once));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(call, "write", path);
    left.remove_prefix(static_cast<size_t>(written));
    if (!left.empty()) POSSET_TRY(posset_poll(call->context));
  }
  return POSSET_OK;
}
posset_status write_file(posset_call* call) { return write_with(call, O_TRUNC); }
posset_status append_file(posset_call* call) { return write_with(call, O_APPEND); }

posset_status exists(posset_call* call) {
  std::string path;
  POSSET_TRY(want_path(call, 0, POSSET_GRANT_READ, path));
  struct stat info;
  return posset_return(call, posset_bool(stat(path.c_str(), &info) == 0));
}

posset_status list_folder(posset_call* call) {
  std::string path;
  POSSET_TRY(want_path(call, 0, POSSET_GRANT_READ, path));
  DIR* folder = opendir(path.c_str());
  if (!folder) return failed(call, "list", path);
  std::vector<std::string> names;
  while (dirent* entry = readdir(folder)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  POSSET_TRY(posset_charge_elements(call->context, names.size()));
  Owned list;
  POSSET_TRY(posset_list(call->context, names.size(), list.place()));
  for (const std::string& name : names) {
    posset_value value;
    POSSET_TRY(posset_string_lossy(call->context, text_of(name), &value));
    POSSET_TRY(posset_list_push(call->context, list.place(), value));
  }
  return give(call, list);
}

posset_status remove_file(posset_call* call) {
  std::string path;
  POSSET_TRY(want_path(call, 0, POSSET_GRANT_WRITE, path));
  return unlink(path.c_str()) == 0 ? POSSET_OK : failed(call, "remove", path);
}

// What a context keeps for reading lines.
posset_status want_line_taker(posset_context* context, LineTaker*& out) {
  static const char kKey = 0;
  out = static_cast<LineTaker*>(posset_get_data(context, &kKey));
  if (out) return POSSET_OK;
  auto made = std::make_unique<LineTaker>();
  const auto drop = [](void* data) { delete static_cast<LineTaker*>(data); };
  POSSET_TRY(posset_set_data(context, &kKey, made.get(), drop));
  out = made.release();
  return POSSET_OK;
}

// One line of standard input without its break; nil at the end.
posset_status read_line(posset_call* call) {
  POSSET_TRY(posset_require_grant(call->context, POSSET_GRANT_INPUT, text_of("")));
  LineTaker* taker;
  POSSET_TRY(want_line_taker(call->context, taker));
  std::string line;
  bool any;
  POSSET_TRY(taker->take(call, STDIN_FILENO, line, any));
  if (!any) return POSSET_OK;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return give_text(call, line);
}

posset_status read_input(posset_call* call) {
  POSSET_TRY(posset_require_grant(call->context, POSSET_GRANT_INPUT, text_of("")));
  std::string text;
  size_t charged = 0;
  posset_status status = read_all(call, STDIN_FILENO, "standard input", text, charged);
  if (status == POSSET_OK) status = give_text(call, text);
  posset_discharge_memory(call->context, charged);
  return status;
}

constexpr posset_function_row kRows[] = {
    impure_row("read", "read(path)", "The text of a file; bytes that are not UTF-8 become U+FFFD.", 1, 1, read_file),
    impure_row("write", "write(path, text)", "Writes a file anew.", 2, 2, write_file),
    impure_row("append", "append(path, text)", "Writes at the end of a file.", 2, 2, append_file),
    impure_row("exists", "exists(path)", "Is there a file or folder?", 1, 1, exists),
    impure_row("list", "list(path)", "The names in a folder, sorted.", 1, 1, list_folder),
    impure_row("remove", "remove(path)", "Removes a file.", 1, 1, remove_file),
    impure_row("read_line", "read_line()", "The next line of standard input, nil at its end.", 0, 0, read_line),
    impure_row("read_input", "read_input()", "All of standard input.", 0, 0, read_input),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_io(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "io", posset::stdlib::kRows);
}
