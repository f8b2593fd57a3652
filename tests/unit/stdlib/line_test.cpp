// Lines taken one by one from files of all kinds: what is behind a line stays in the file. `io.read_line` read byte by byte so that it
// would, a call of the system for each.
#include "stdlib/line.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include <doctest/doctest.h>

#include "../api/fixture.h"

using posset::stdlib::LineTaker;
using posset::test::World;

namespace {

// What a function of the test takes lines from, and one by one what it took.
struct Bench {
  LineTaker taker;
  int file = -1;
  std::string line;
  bool any = false;
};

posset_status take(posset_call* call) {
  auto& bench = *static_cast<Bench*>(call->data);
  bench.line.clear();
  return bench.taker.take(call, bench.file, bench.line, bench.any);
}

void define(World& w, Bench& bench) {
  const posset_function_row row = {"take", "take()", "", 0, 0, 0, 0, false, take, &bench};
  REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
}

std::string rest_of(int file) {
  std::string rest;
  char block[1000];
  for (ssize_t got; (got = read(file, block, sizeof block)) > 0;) rest.append(block, static_cast<size_t>(got));
  return rest;
}

const std::string kLong(50'000, 'x'), kText = "first\n\n" + kLong + "\r\nthird\nlast, without a break";

// A file from which `kText` can be read, and then its end is met.
int regular_file() {
  const int file = memfd_create("line_test", MFD_CLOEXEC);
  REQUIRE(file >= 0);
  REQUIRE(write(file, kText.data(), kText.size()) == static_cast<ssize_t>(kText.size()));
  REQUIRE(lseek(file, 0, SEEK_SET) == 0);
  return file;
}
int written(const int ends[2]) {
  REQUIRE(write(ends[1], kText.data(), kText.size()) == static_cast<ssize_t>(kText.size()));
  close(ends[1]);
  return ends[0];
}
int pipe_end() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  return written(ends);
}
int socket_end() {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  return written(ends);
}

}  // namespace

TEST_CASE("lines are taken one by one, to the end") {
  for (int (*open)() : {regular_file, pipe_end, socket_end}) {
    World w;
    Bench bench;
    define(w, bench);
    bench.file = open();
    const std::string lines[] = {"first", "", kLong + "\r", "third", "last, without a break"};
    for (const std::string& expected : lines) {
      CHECK(w.show("take()\n7") == "7");
      CHECK(bench.any);
      CHECK(bench.line == expected);
    }
    CHECK(w.show("take()\n7") == "7");
    CHECK(!bench.any);
    CHECK(bench.line.empty());
    close(bench.file);
  }
}

TEST_CASE("what is behind a line that was taken is there for whoever reads next") {
  for (int (*open)() : {regular_file, pipe_end, socket_end}) {
    for (int lines = 0; lines < 4; ++lines) {
      World w;
      Bench bench;
      define(w, bench);
      bench.file = open();
      size_t behind = 0;
      for (int i = 0; i < lines; ++i) {
        CHECK(w.show("take()\n7") == "7");
        behind = kText.find('\n', behind) + 1;
      }
      CHECK(rest_of(bench.file) == kText.substr(behind));
      CHECK(w.show("take()\n7") == "7");
      CHECK(!bench.any);
      close(bench.file);
    }
  }
}

TEST_CASE("a file that tells nothing without giving it is read byte by byte, and one that cannot be read has no lines") {
  World w;
  Bench bench;
  define(w, bench);
  bench.file = open("/dev/null", O_RDONLY);
  CHECK(w.show("take()\n7") == "7");
  CHECK(!bench.any);
  close(bench.file);
  CHECK(w.show("take()\n7") == "7");
  CHECK(!bench.any);
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return;
  bench.file = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(write(terminal, "one\ntwo\n", 8) == 8);
  for (const char* expected : {"one", "two"}) {
    CHECK(w.show("take()\n7") == "7");
    CHECK(bench.line == expected);
  }
  close(bench.file);
  close(terminal);
}
