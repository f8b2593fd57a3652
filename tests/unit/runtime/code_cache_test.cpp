// The code cache's files: what is kept comes back as it was or not at all, and only from where nobody else could have
// written it.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "../scratch.h"
#include "interp/runtime/code_cache.h"

using posset::interp::CodeCache;
using posset::interp::Digest;
using posset::interp::digest_of;
using posset::interp::Reason;
using Version = posset::interp::CodeCache::Version;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMuch = 1 << 20;
const Digest kMaker{1, 2};
const Digest kKey{3, 4};

// A place for a cache's directory, which is not there yet.
struct Scratch : posset::test::ScratchFolder {
  std::string folder() const { return path / "below" / "cache"; }
  // The files kept there.
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& each : fs::directory_iterator(folder())) found.push_back(each.path());
    return found;
  }
};

std::string found(CodeCache& cache, const Digest& key = kKey, const Digest& maker = kMaker) {
  std::string payload;
  Reason reason = Reason::none;
  if (cache.find(key, maker, payload, reason)) return payload;
  return reason == Reason::none ? "nothing" : name_of(reason);
}

std::string kept(CodeCache& cache, std::string_view payload, const Digest& key = kKey, Version version = Version::First,
                 bool replace = false) {
  const Reason reason = cache.keep(key, kMaker, payload, version, replace);
  return reason == Reason::none ? "" : name_of(reason);
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

}  // namespace

TEST_CASE("code cache: what is kept is found by whoever opens the directory, under its key alone") {
  Scratch scratch;
  {
    CodeCache cache(scratch.folder(), kMuch);
    CHECK_FALSE(fs::exists(scratch.folder()));  // nothing is touched before it is used
    CHECK(found(cache) == "nothing");
    CHECK(kept(cache, "code") == "");
    CHECK(kept(cache, "", Digest{3, 5}) == "");
  }
  CodeCache cache(scratch.folder() + "/", kMuch);
  CHECK(found(cache) == "code");
  CHECK(found(cache, Digest{3, 5}) == "");
  CHECK(found(cache, Digest{4, 4}) == "nothing");
  CHECK(cache.hits() == 2);
  CHECK(cache.misses() == 1);
  CHECK(scratch.files().size() == 2);
  CHECK((fs::status(scratch.folder()).permissions() & fs::perms::all) == fs::perms::owner_all);
}

TEST_CASE("code cache: a file with any byte changed, or cut off anywhere, is not used and says why") {
  Scratch scratch;
  CodeCache cache(scratch.folder(), kMuch);
  REQUIRE(kept(cache, "the code of a unit") == "");
  const fs::path file = scratch.files().at(0);
  const std::string whole = text_of(file);
  for (size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    write(file, changed);
    const std::string said = found(cache);
    CHECK((said == "cache_corrupt" || said == "cache_foreign"));
    write(file, whole.substr(0, at));
    CHECK(found(cache) == "cache_corrupt");
  }
  write(file, whole + "x");
  CHECK(found(cache) == "cache_corrupt");
  write(file, whole);
  CHECK(found(cache) == "the code of a unit");
}

TEST_CASE("code cache: what another maker left under the name is foreign, and replaced") {
  Scratch scratch;
  CodeCache cache(scratch.folder(), kMuch);
  REQUIRE(kept(cache, "theirs") == "");
  CHECK(found(cache, kKey, Digest{7, 7}) == "cache_foreign");
  const fs::path other = scratch.files().at(0).parent_path() / "00000000000000090000000000000008.native";
  fs::copy_file(scratch.files().at(0), other);
  CHECK(found(cache, Digest{8, 9}) == "cache_foreign");
  CHECK(kept(cache, "ours", Digest{8, 9}) == "");
  CHECK(found(cache, Digest{8, 9}) == "ours");
}

TEST_CASE("code cache: what was made anew is not replaced by a first version, unless it is no good") {
  Scratch scratch;
  CodeCache cache(scratch.folder(), kMuch);
  CHECK(kept(cache, "first") == "");
  CHECK(kept(cache, "second") == "");
  CHECK(found(cache) == "second");
  CHECK(kept(cache, "general", kKey, Version::Anew) == "");
  CHECK(kept(cache, "narrow") == "");
  CHECK(found(cache) == "general");
  CHECK(kept(cache, "more general", kKey, Version::Anew) == "");
  CHECK(found(cache) == "more general");
  CHECK(kept(cache, "of other code", kKey, Version::First, true) == "");
  CHECK(found(cache) == "of other code");
}

TEST_CASE("code cache: threads and processes may use a directory at once") {
  Scratch scratch;
  CodeCache one(scratch.folder(), 4000), other(scratch.folder(), 4000);
  std::atomic<int> wrong{0};
  auto use = [&](CodeCache& cache, uint64_t first) {
    for (uint64_t n = first; n < first + 200; ++n) {
      const Digest key{n % 8, 0};
      const std::string payload(100 + n % 8, 'c');
      if (!kept(cache, payload, key).empty()) ++wrong;
      const std::string said = found(cache, key);
      if (said != "nothing" && said != payload) ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (uint64_t n = 0; n < 4; ++n) threads.emplace_back([&, n] { use(n % 2 ? one : other, n); });
  }
  CHECK(wrong == 0);
  for (const fs::path& file : scratch.files()) CHECK(file.extension() == ".native");
}

TEST_CASE("code cache: a directory or file that others can write, or a link, is not used") {
  Scratch scratch;
  const auto said = [&](const std::string& folder) {
    CodeCache cache(folder, kMuch);
    const std::string wrote = kept(cache, "code");
    CHECK(found(cache) == (wrote.empty() ? "code" : wrote));
    return wrote;
  };
  fs::create_directories(scratch.folder());
  CHECK(said(scratch.folder()) == "");
  const fs::path link = scratch.path / "link";
  fs::create_symlink(scratch.folder(), link);
  CHECK(said(link) == "cache_unsafe");
  CHECK(said(link.string() + "/") == "cache_unsafe");
  write(scratch.path / "file", "");
  CHECK(said(scratch.path / "file") == "cache_unsafe");
  for (mode_t mode : {0770, 0707}) {
    chmod(scratch.folder().c_str(), mode);
    CHECK(said(scratch.folder()) == "cache_unsafe");
  }
  chmod(scratch.folder().c_str(), 0700);
  const fs::path file = scratch.files().at(0);
  chmod(file.c_str(), 0620);
  CodeCache cache(scratch.folder(), kMuch);
  CHECK(found(cache) == "cache_unsafe");
  fs::rename(file, scratch.path / "elsewhere");
  fs::create_symlink(scratch.path / "elsewhere", file);
  CHECK(found(cache) == "cache_unsafe");
  CHECK(kept(cache, "new") == "");  // takes the link's place, and not the place it leads to
  CHECK(found(cache) == "new");
}

TEST_CASE("code cache: a directory of somebody else's is not used") {
  if (geteuid() != 0) return;  // only root can make one
  Scratch scratch;
  fs::create_directories(scratch.folder());
  REQUIRE(chown(scratch.folder().c_str(), 12345, 12345) == 0);
  CodeCache cache(scratch.folder(), kMuch);
  CHECK(found(cache) == "cache_unsafe");
  CHECK(kept(cache, "code") == "cache_unsafe");
}

TEST_CASE("code cache: a directory that cannot be made is unavailable") {
  CodeCache cache("/proc/self/fdinfo/no/such", kMuch);
  CHECK(found(cache) == "cache_unavailable");
  CHECK(kept(cache, "code") == "cache_unavailable");
}

TEST_CASE("code cache: beyond its limit goes what was used longest ago, and nothing of anybody else's") {
  Scratch scratch;
  fs::create_directories(scratch.folder());
  const fs::path foreign = fs::path(scratch.folder()) / "notes.txt";
  write(foreign, std::string(5000, 'x'));
  CodeCache cache(scratch.folder(), 4000);
  const std::string payload(900, 'c');
  for (uint64_t n = 0; n < 4; ++n) {
    REQUIRE(kept(cache, payload, Digest{n, 0}) == "");
    // Files of one moment have no order among them.
    timespec times[] = {{1000 + static_cast<time_t>(n), 0}, {1000 + static_cast<time_t>(n), 0}};
    char name[128];
    std::snprintf(name, sizeof name, "%s/%016x%016llx.native", scratch.folder().c_str(), 0, static_cast<unsigned long long>(n));
    REQUIRE(utimensat(AT_FDCWD, name, times, 0) == 0);
  }
  CHECK(found(cache, Digest{0, 0}) == payload);  // used just now
  REQUIRE(kept(cache, payload, Digest{4, 0}) == "");
  CHECK(found(cache, Digest{1, 0}) == "nothing");
  CHECK(found(cache, Digest{2, 0}) == "nothing");
  CHECK(found(cache, Digest{0, 0}) == payload);
  CHECK(found(cache, Digest{4, 0}) == payload);
  CHECK(fs::exists(foreign));
}
