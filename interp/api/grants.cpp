// Grants: what a context may touch outside. The library's io, os and time ask here before they do
// anything. A file is inside a granted directory when it is after symbolic links and `..` were
// followed, as far as the path exists.
#include <filesystem>

#include "interp/api/handles.h"

namespace {

namespace fs = std::filesystem;
using posset::api::view;

// False also for a symbolic link to nothing: opening it for writing would make what it points to.
bool resolve(const std::string& path, fs::path& resolved) {
  std::error_code error;
  resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  return !error && !fs::is_symlink(fs::symlink_status(resolved, error));
}

bool is_inside(const std::string& directory, std::string_view path) {
  if (directory.empty()) return true;
  if (path.find('\0') != std::string_view::npos) return false;
  fs::path root, file;
  if (!resolve(directory, root) || !resolve(std::string(path), file)) return false;
  if (!root.has_filename()) root = root.parent_path();  // "/srv/" is "/srv"
  auto [end, ignored] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  return end == root.end();
}

const char* name_of(uint32_t what) {
  switch (what) {
    case POSSET_GRANT_READ:
      return "reading files";
    case POSSET_GRANT_WRITE:
      return "writing files";
    case POSSET_GRANT_ENV:
      return "reading the environment";
    case POSSET_GRANT_CLOCK:
      return "reading clocks and the system's randomness";
    case POSSET_GRANT_INPUT:
      return "reading standard input";
    case POSSET_GRANT_RUN:
      return "starting processes";
    default:
      return "this";
  }
}

// "reading files is not granted", "reading /etc/passwd is not granted (only below /srv)"
std::string refusal(const posset_context& context, uint32_t what, std::string_view path) {
  const std::string& directory =
      what == POSSET_GRANT_WRITE ? context.write_directory : context.read_directory;
  if (!(context.grants & what)) return std::string(name_of(what)) + " is not granted by the host";
  std::string verb = what == POSSET_GRANT_WRITE ? "writing " : "reading ";
  return verb + std::string(path) + " is not granted by the host, only files below " + directory;
}

bool granted(const posset_context& context, uint32_t what, std::string_view path) {
  if (what == POSSET_GRANT_INPUT && (context.grants & POSSET_GRANT_READ) && context.read_directory.empty()) return true;
  if ((context.grants & what) != what) return false;
  if (what == POSSET_GRANT_READ) return is_inside(context.read_directory, path);
  if (what == POSSET_GRANT_WRITE) return is_inside(context.write_directory, path);
  return true;
}

}  // namespace

extern "C" {

bool posset_granted(posset_context* context, uint32_t what, posset_text path) {
  posset::api::Entry entry(context);
  return !entry.failed() && granted(*context, what, view(path));
}

posset_status posset_require_grant(posset_context* context, uint32_t what, posset_text path) {
  posset::api::Evaluation evaluation(context);
  if (evaluation.failed()) return evaluation.status();
  if (granted(*context, what, view(path))) return POSSET_OK;
  context->raise(posset::interp::ErrorCode::NotGranted, refusal(*context, what, view(path)));
  return POSSET_RAISED;
}

}  // extern "C"
