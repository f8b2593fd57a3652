// The files of the code cache. See code_cache.h.
#include "interp/runtime/code_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

namespace posset::interp {

namespace {

constexpr char kMagic[8] = {'p', 'o', 's', 's', 'e', 't', 'n', 'c'};
constexpr uint32_t kFormat = 1;
constexpr std::string_view kEnding = ".native";
constexpr size_t kNameDigits = 32;
// What a process that ended in the middle of writing has left behind is this old.
constexpr time_t kAbandonedSeconds = 3600;
// No unit's code is this large; a size beyond it is damage.
constexpr uint64_t kLargestPayload = uint64_t{1} << 28;

struct Header {
  char magic[8];
  uint32_t format;
  uint32_t version;  // CodeCache::Version
  uint64_t size;     // of the payload
  Digest key;
  Digest maker;
  Digest checksum;   // of what stands above and the payload
};
static_assert(sizeof(Header) == 72);
constexpr size_t kChecked = offsetof(Header, checksum);

Digest checksum_of(const Header& header, std::string_view payload) {
  const Digest parts[] = {digest_of({reinterpret_cast<const char*>(&header), kChecked}), digest_of(payload)};
  return digest_of({reinterpret_cast<const char*>(parts), sizeof parts});
}

Header header_of(const Digest& key, const Digest& maker, std::string_view payload, CodeCache::Version version) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.version = static_cast<uint32_t>(version);
  header.size = payload.size();
  header.key = key;
  header.maker = maker;
  header.checksum = checksum_of(header, payload);
  return header;
}

std::string name_of(const Digest& key) {
  char digits[kNameDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return std::string(digits).append(kEnding);
}

bool is_name(std::string_view name) {
  return name.size() == kNameDigits + kEnding.size() && name.ends_with(kEnding) &&
         name.find_first_not_of("0123456789abcdef") == kNameDigits;
}

bool is_temporary(std::string_view name) { return name.starts_with(".") && name.ends_with(".tmp"); }

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  bool close() {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

// Belongs to the user, and nobody else may change it.
bool is_private(const struct stat& status) {
  return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// ---- directories ----

// As `mkdir -p`; whether it is there now, opening it tells.
void make_directories(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    mkdir(path.substr(0, end).c_str(), 0700);
  }
  mkdir(path.c_str(), 0700);
}

int open_directory(std::string path, Reason& reason) {
  // Behind a slash a link would be followed.
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int folder = open(path.c_str(), kFlags);
  if (folder < 0 && errno == ENOENT) {
    make_directories(path);
    folder = open(path.c_str(), kFlags);
  }
  if (folder < 0) {
    // A link, or no directory.
    reason = errno == ELOOP || errno == ENOTDIR ? Reason::cache_unsafe : Reason::cache_unavailable;
    return -1;
  }
  struct stat status;
  if (fstat(folder, &status) == 0 && is_private(status)) return folder;
  reason = Reason::cache_unsafe;
  ::close(folder);
  return -1;
}

// Visits (name, status) of every file of the cache's and of every temporary one.
template <class Visit>
void for_each_file(int folder, Visit&& visit) {
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = again < 0 ? nullptr : fdopendir(again);
  if (!listing) {
    if (again >= 0) ::close(again);
    return;
  }
  while (const dirent* each = readdir(listing)) {
    const std::string name = each->d_name;
    struct stat status;
    if (!is_name(name) && !is_temporary(name)) continue;
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) visit(name, status);
  }
  closedir(listing);
}

// ---- the bound ----

// How far below the limit eviction goes, so that the next one is not due at once.
constexpr uint64_t below(uint64_t limit) { return limit / 4 * 3; }

// Removes what was used longest ago until what is left is small enough; gives its size.
uint64_t evict_files(int folder, uint64_t limit) {
  struct Candidate {
    timespec used;
    uint64_t bytes;
    std::string name;
  };
  std::vector<Candidate> all;
  uint64_t bytes = 0;
  const time_t now = time(nullptr);
  for_each_file(folder, [&](const std::string& name, const struct stat& status) {
    if (is_temporary(name)) {
      if (status.st_mtim.tv_sec < now - kAbandonedSeconds) unlinkat(folder, name.c_str(), 0);
      return;
    }
    bytes += static_cast<uint64_t>(status.st_size);
    all.push_back({status.st_mtim, static_cast<uint64_t>(status.st_size), name});
  });
  if (bytes <= limit) return bytes;
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
  });
  for (const Candidate& each : all) {
    if (bytes <= below(limit)) break;
    if (unlinkat(folder, each.name.c_str(), 0) == 0) bytes -= each.bytes;
  }
  return bytes;
}

// ---- one file ----

bool read_all(int file, char* to, size_t size) {
  while (size > 0) {
    const ssize_t got = read(file, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

Reason check_header(const Header& header, const Digest& key, const Digest& maker) {
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return Reason::cache_corrupt;
  if (header.format != kFormat || header.key != key || header.maker != maker) return Reason::cache_foreign;
  return header.size > kLargestPayload ? Reason::cache_corrupt : Reason::none;
}

// What there is of a key; with a reason it is no good.
struct Kept {
  bool found = false;
  Reason reason = Reason::none;
  Header header{};
  std::string payload;
};

void read_file(int descriptor, const Digest& key, const Digest& maker, Kept& kept) {
  struct stat status;
  const bool known = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  kept.reason = known && is_private(status) ? Reason::cache_corrupt : Reason::cache_unsafe;
  if (kept.reason == Reason::cache_unsafe || !read_all(descriptor, reinterpret_cast<char*>(&kept.header), sizeof(Header))) return;
  kept.reason = check_header(kept.header, key, maker);
  if (kept.reason != Reason::none) return;
  kept.reason = Reason::cache_corrupt;
  if (static_cast<uint64_t>(status.st_size) != sizeof(Header) + kept.header.size) return;
  kept.payload.resize(kept.header.size);
  if (!read_all(descriptor, kept.payload.data(), kept.payload.size())) return;
  if (checksum_of(kept.header, kept.payload) == kept.header.checksum) kept.reason = Reason::none;
}

Kept read_kept(int folder, const Digest& key, const Digest& maker) {
  Kept kept;
  const File file(openat(folder, name_of(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    kept.found = errno != ENOENT;
    kept.reason = !kept.found ? Reason::none : errno == ELOOP ? Reason::cache_unsafe : Reason::cache_unavailable;
    return kept;
  }
  kept.found = true;
  read_file(file.get(), key, maker, kept);
  if (kept.reason == Reason::none) futimens(file.get(), nullptr);  // used now, which eviction goes by
  return kept;
}

// One name for each file being written, in all processes.
std::string temporary_name() {
  static std::atomic<uint64_t> files{0};
  return "." + std::to_string(getpid()) + "." + std::to_string(files.fetch_add(1, std::memory_order_relaxed)) + ".tmp";
}

bool write_file(int folder, const std::string& name, const Header& header, std::string_view payload) {
  const std::string temporary = temporary_name();
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  File file(openat(folder, temporary.c_str(), kFlags, 0600));
  if (!file) return false;
  const bool written = write_all(file.get(), {reinterpret_cast<const char*>(&header), sizeof header}) &&
                       write_all(file.get(), payload) && file.close();
  if (written && renameat(folder, temporary.c_str(), folder, name.c_str()) == 0) return true;
  unlinkat(folder, temporary.c_str(), 0);
  return false;
}

}  // namespace

Digest digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.low = hash.low64, .high = hash.high64};
}

CodeCache::~CodeCache() {
  if (folder_ >= 0) ::close(folder_);
}

int CodeCache::folder(Reason& reason) {
  sched::MutexLock lock(mutex_);
  if (!opened_) folder_ = open_directory(directory_, refusal_);
  opened_ = true;
  if (folder_ < 0) reason = refusal_;
  return folder_;
}

bool CodeCache::find(const Digest& key, const Digest& maker, std::string& payload, Reason& reason) {
  reason = Reason::none;
  const int from = folder(reason);
  if (from >= 0) {
    Kept kept = read_kept(from, key, maker);
    reason = kept.reason;
    if (kept.found && reason == Reason::none) {
      hits_.fetch_add(1, std::memory_order_relaxed);
      payload = std::move(kept.payload);
      return true;
    }
  }
  misses_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

Reason CodeCache::keep(const Digest& key, const Digest& maker, std::string_view payload, Version version, bool replace) {
  Reason reason = Reason::none;
  const int to = folder(reason);
  if (to < 0) return reason;
  if (version == Version::First && !replace) {
    const Kept before = read_kept(to, key, maker);
    const auto anew = static_cast<uint32_t>(Version::Anew);
    if (before.found && before.reason == Reason::none && before.header.version == anew) return Reason::none;
  }
  if (!write_file(to, name_of(key), header_of(key, maker, payload, version), payload)) return Reason::cache_unwritable;
  account(to, sizeof(Header) + payload.size());
  return Reason::none;
}

void CodeCache::account(int folder, uint64_t bytes) {
  sched::MutexLock lock(mutex_);
  bytes_ += bytes;
  if (counted_ && bytes_ <= limit_) return;
  counted_ = true;
  bytes_ = evict_files(folder, limit_);
}

}  // namespace posset::interp
