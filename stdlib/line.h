// One line taken from a file that others read, too: processes that a script starts have the same standard input, and so has whatever
// runs after it. What stands behind the line stays for them; still it is not read byte by byte, where the kind of file lets one look
// at what comes without taking it.
#pragma once

#include <posset/posset.h>
#include <sys/types.h>

#include <string>

namespace posset::stdlib {

class LineTaker {
 public:
  LineTaker() = default;
  ~LineTaker();
  LineTaker(const LineTaker&) = delete;
  LineTaker& operator=(const LineTaker&) = delete;

  // The next line, without its break. `any`: there was one, else the file is at its end, or cannot be read. Anything but POSSET_OK: a
  // limit or an interruption.
  posset_status take(posset_call* call, int file, std::string& line, bool& any);

 private:
  enum class Kind { Places, Pipe, Socket, Other };  // Places: read wherever one likes
  static Kind kind_of(int file);
  ssize_t see(int file, Kind kind, char* bytes, size_t size);
  ssize_t see_in_pipe(int file, char* bytes, size_t size);
  static bool take_seen(int file, Kind kind, char* bytes, size_t size);

  int copies_[2] = {-1, -1};  // a pipe that gets copies of what stands in another, empty in between
};

}  // namespace posset::stdlib
