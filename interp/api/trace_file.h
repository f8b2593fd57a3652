// The file a runtime writes its trace into when it ends (option trace_file). It is opened when the runtime
// is made, so that a mistake is found before the run and not after it, and emptied only when there is
// something to write.
#pragma once

#include <memory>
#include <string>

#include <posset/trace.h>

namespace posset::api {

class TraceFile {
 public:
  // Owns the descriptor.
  TraceFile(std::string path, posset_trace_format format, int descriptor)
      : path_(std::move(path)), format_(format), descriptor_(descriptor) {}
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // The runtime's threads have ended. Failures are said on standard error: there is nobody to tell.
  void write(posset_runtime& runtime);

 private:
  const std::string path_;
  const posset_trace_format format_;
  const int descriptor_;
};

// The form is that of the path's ending. POSSET_MISUSE: another ending; POSSET_NOT_FOUND: errno says why.
posset_status open_trace_file(const char* path, std::unique_ptr<TraceFile>& out);

}  // namespace posset::api
