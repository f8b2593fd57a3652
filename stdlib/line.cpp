// See line.h. What is seen: of a regular file by reading it in a place, of a pipe by duplicating what stands in it, of a socket by
// peeking. A terminal gives a line at a time anyway, to a reader that takes its bytes one by one, too.
#include "stdlib/line.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "stdlib/ready.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

constexpr size_t kFirstLook = 256, kLongestLook = 16384;  // most lines are short, and what is behind them is seen in vain
constexpr size_t kCharged = 4096;

bool is_to_try_again(ssize_t got) { return got < 0 && (errno == EINTR || errno == EAGAIN); }

}  // namespace

LineTaker::~LineTaker() {
  for (const int end : copies_) {
    if (end >= 0) close(end);
  }
}

LineTaker::Kind LineTaker::kind_of(int file) {
  struct stat info;
  if (fstat(file, &info) != 0) return Kind::Other;
  if (S_ISREG(info.st_mode)) return Kind::Places;
  return S_ISFIFO(info.st_mode) ? Kind::Pipe : S_ISSOCK(info.st_mode) ? Kind::Socket : Kind::Other;
}

ssize_t LineTaker::see_in_pipe(int file, char* bytes, size_t size) {
  if (copies_[0] < 0 && pipe2(copies_, O_CLOEXEC) != 0) return -1;
  const ssize_t copied = tee(file, copies_[1], size, SPLICE_F_NONBLOCK);
  return copied <= 0 ? copied : read(copies_[0], bytes, static_cast<size_t>(copied));
}

// What comes next, at least one byte, without taking it; 0: the end. With Kind::Other one byte, which is taken.
ssize_t LineTaker::see(int file, Kind kind, char* bytes, size_t size) {
  switch (kind) {
    case Kind::Places: return pread(file, bytes, size, lseek(file, 0, SEEK_CUR));
    case Kind::Pipe: return see_in_pipe(file, bytes, size);
    case Kind::Socket: return recv(file, bytes, size, MSG_PEEK | MSG_DONTWAIT);
    case Kind::Other: break;
  }
  return read(file, bytes, 1);
}

// So many bytes of what was seen.
bool LineTaker::take_seen(int file, Kind kind, char* bytes, size_t size) {
  if (kind == Kind::Other) return true;
  if (kind == Kind::Places) return lseek(file, static_cast<off_t>(size), SEEK_CUR) >= 0;
  while (size > 0) {
    const ssize_t got = read(file, bytes, size);
    if (is_to_try_again(got)) continue;
    if (got <= 0) return false;  // somebody else has taken it
    size -= static_cast<size_t>(got);
  }
  return true;
}

posset_status LineTaker::take(posset_call* call, int file, std::string& line, bool& any) {
  any = false;
  Kind kind = kind_of(file);
  char bytes[kLongestLook];
  for (size_t size = kFirstLook;; size = std::min(4 * size, kLongestLook)) {
    if (kind != Kind::Places) POSSET_TRY(wait_until_readable(call, file));
    const ssize_t got = see(file, kind, bytes, size);
    if (is_to_try_again(got)) continue;
    if (got < 0 && kind != Kind::Other) {  // no more files may be open, or the file is of a kind that does not tell
      kind = Kind::Other;
      continue;
    }
    if (got <= 0) return POSSET_OK;
    any = true;
    const std::string_view seen(bytes, static_cast<size_t>(got));
    const size_t part = std::min(seen.find('\n'), seen.size());
    const bool is_whole = part < seen.size();
    const size_t before = line.size();
    line.append(seen.substr(0, part));
    if (!take_seen(file, kind, bytes, part + (is_whole ? 1 : 0)) || is_whole) return POSSET_OK;
    POSSET_TRY(posset_charge_bytes(call->context, (line.size() / kCharged - before / kCharged) * kCharged));
  }
}

}  // namespace posset::stdlib
