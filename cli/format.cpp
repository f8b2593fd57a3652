// `posset fmt`: the one layout, which the library gives (posset/layout.h); here is what becomes of it. A file is never half
// written: the new text goes into a file beside it, which then takes its name. Links are followed and permissions kept; other
// names of the same file (hard links) keep the old text. With --check nothing is written.
#include <posset/layout.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/host.h"
#include "cli/verbs.h"

namespace posset::cli {

namespace {

// A file beside another, gone again unless it has taken the other's name.
class FileBeside {
 public:
  explicit FileBeside(const std::string& target) : target_(target) {
    name_ = target.substr(0, target.rfind('/') + 1) + ".posset-fmt-XXXXXX";
    file_ = mkstemp(name_.data());
  }
  ~FileBeside() {
    if (file_ < 0) return;
    close(file_);
    if (!renamed_) unlink(name_.c_str());
  }
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;

  // False with errno.
  bool take_place(const std::string& text, const struct stat& like) {
    if (file_ < 0 || !write_whole(text)) return false;
    // Not everybody may give a file away; the one who may not owns it then, as with an editor. First, for it clears bits of the mode.
    const bool given = fchown(file_, like.st_uid, like.st_gid) == 0 || fchown(file_, static_cast<uid_t>(-1), like.st_gid) == 0;
    const mode_t mode = like.st_mode & (given ? 07777U : 0777U);
    if (fchmod(file_, mode) != 0 || fsync(file_) != 0) return false;
    renamed_ = rename(name_.c_str(), target_.c_str()) == 0;
    return renamed_;
  }

 private:
  bool write_whole(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const ssize_t done = write(file_, text.data() + at, text.size() - at);
      if (done < 0 && errno != EINTR) return false;
      at += done < 0 ? 0 : static_cast<size_t>(done);
    }
    return true;
  }

  std::string target_;
  std::string name_;
  int file_ = -1;
  bool renamed_ = false;
};

int cannot_write(const std::string& path, const char* why) {
  std::fprintf(stderr, "posset: cannot write %s: %s\n", path.c_str(), why);
  return kUsage;
}

int rewrite(const std::string& path, const std::string& text) {
  const std::string target = key_of(path);
  struct stat info;
  if (stat(target.c_str(), &info) != 0 || access(target.c_str(), W_OK) != 0) return cannot_write(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return cannot_write(path, "it is no regular file");
  FileBeside beside(target);
  return beside.take_place(text, info) ? kDone : cannot_write(path, std::strerror(errno));
}

int print_layout(const std::string& text) {
  const bool done = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!done) std::fputs("posset: cannot write to the output\n", stderr);
  return done ? kDone : kScriptError;
}

int format_file(const CommandLine& line, const std::string& file) {
  std::string text, made, why;
  if (!read_source(file, text, why)) {
    std::fprintf(stderr, "posset: %s\n", why.c_str());
    return kUsage;
  }
  const std::string name = file == "-" ? "<stdin>" : file;
  const posset_source source = posset_source_of(name.c_str(), posset_text_n(text.data(), text.size()));
  posset_diagnostics* diagnostics = nullptr;
  const posset_status status = posset_format_source(&source, append_text, &made, &diagnostics);
  std::fputs(rendered(diagnostics, line.color).c_str(), stderr);
  if (status == POSSET_INVALID) return kInvalidSource;
  if (status != POSSET_OK) {
    std::fprintf(stderr, "posset: %s: %s\n", name.c_str(), posset_status_text(status));
    return kScriptError;
  }
  if (line.only_check) {
    if (made != text) std::fprintf(stderr, "%s\n", name.c_str());
    return made == text ? kDone : kScriptError;
  }
  if (file == "-") return print_layout(made);
  return made == text ? kDone : rewrite(file, made);
}

}  // namespace

// What is wrong with one file is no reason to leave the others. One that cannot be read or written says most, as with check.
int format(const CommandLine& line) {
  std::vector<std::string> files = line.arguments;
  files.insert(files.begin(), line.file);
  bool is_missing = false;
  int worst = kDone;
  for (const std::string& file : files) {
    const int status = format_file(line, file);
    is_missing = is_missing || status == kUsage;
    worst = std::max(worst, status);
  }
  return is_missing ? static_cast<int>(kUsage) : worst;
}

}  // namespace posset::cli
