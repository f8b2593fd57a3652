// Writing traces: to a host, and into the file a runtime was made with. What the forms look like is in
// trace_text.cpp, trace_chrome.cpp and trace_html.cpp.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "interp/api/handles.h"
#include "interp/api/trace_view.h"

namespace posset::api {

static_assert(POSSET_TRACE_VERSION == sched::kTraceVersion);

namespace {

struct Ending {
  std::string_view text;
  posset_trace_format format;
};
constexpr Ending kEndings[] = {{".json", POSSET_TRACE_CHROME}, {".html", POSSET_TRACE_HTML}};

std::string made(posset_runtime& runtime, posset_trace_format format) {
  const TraceView view(runtime.state);
  switch (format) {
    case POSSET_TRACE_TEXT:
      return trace_text(view);
    case POSSET_TRACE_CHROME:
      return trace_chrome(view);
    case POSSET_TRACE_HTML:
      return trace_html(view);
  }
  return {};
}

bool write_descriptor(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

TraceFile::~TraceFile() {
  if (descriptor_ != STDERR_FILENO) close(descriptor_);
}

void TraceFile::write(posset_runtime& runtime) {
  std::string text;
  try {
    text = made(runtime, format_);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "posset: no memory to write the trace %s\n", path_.c_str());
    return;
  }
  // What cannot be emptied (a pipe) has nothing in it.
  if (descriptor_ != STDERR_FILENO && ftruncate(descriptor_, 0) != 0) errno = 0;
  if (!write_descriptor(descriptor_, text)) {
    std::fprintf(stderr, "posset: cannot write the trace %s: %s\n", path_.c_str(), std::strerror(errno));
  }
}

posset_status open_trace_file(const char* path, std::unique_ptr<TraceFile>& out) {
  const std::string_view name(path);
  if (name == "-") {
    out = std::make_unique<TraceFile>("-", POSSET_TRACE_TEXT, STDERR_FILENO);
    return POSSET_OK;
  }
  for (const Ending& ending : kEndings) {
    if (!name.ends_with(ending.text)) continue;
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return POSSET_NOT_FOUND;
    out = std::make_unique<TraceFile>(path, ending.format, descriptor);
    return POSSET_OK;
  }
  return POSSET_MISUSE;
}

}  // namespace posset::api

extern "C" posset_status posset_trace_write(posset_runtime* runtime, posset_trace_format format,
                                            posset_write write, void* data) {
  if (!runtime || !write || format < POSSET_TRACE_TEXT || format > POSSET_TRACE_HTML) return POSSET_MISUSE;
  if (!runtime->state.trace) return POSSET_NOT_FOUND;
  try {
    return posset::api::write_all(write, data, posset::api::made(*runtime, format));
  } catch (const std::bad_alloc&) {
    return POSSET_NO_MEMORY;
  }
}
