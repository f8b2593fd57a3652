// Compiled code kept between runs: files in a directory, each the payload of one key. What is in a payload is its
// writer's business (jit/entry.h); what a key is taken of as well (native_cache.h).
//
// A payload is machine code that will run, so nothing is read from where anybody but the user could have written:
// the directory must be the user's and writable by nobody else, and be no link; files are opened relative to the
// directory that was looked at, not followed where they are links, and must be the user's too. A payload comes back as
// it was kept or not at all: the header says what it is, for whom and how long, and the checksum covers both. A file
// is written beside its place and renamed, so that another process sees all of it or nothing.
//
// The files together stay below a limit: beyond it those go first that were used longest ago. Files of other
// names are nobody's business here and are left alone.
//
// Nothing is touched before the first call of `find` or `keep`. Any thread; several processes may share a directory.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "interp/syntax/reasons.h"
#include "sched/base/thread_safety.h"

namespace posset::interp {

using syntax::Reason;

// 128 bits (XXH3).
struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};
Digest digest_of(std::string_view bytes);

class CodeCache {
 public:
  // `directory` empty: off. It is made when it is needed, for the user alone, and so is what is missing above it.
  CodeCache(std::string directory, uint64_t limit_bytes) : directory_(std::move(directory)), limit_(limit_bytes) {}
  ~CodeCache();
  CodeCache(const CodeCache&) = delete;
  CodeCache& operator=(const CodeCache&) = delete;

  bool is_on() const { return !directory_.empty(); }

  // The payload kept under a key by a maker of that identity. False: there is none, or, with `reason` set, what is
  // there is no good.
  bool find(const Digest& key, const Digest& maker, std::string& payload, Reason& reason);

  // Keeps a payload. Of two versions of one key the later counts, except that one made anew (because an earlier one
  // did not fit what ran) is replaced only by another such, or when it has been found to be no good (`replace`).
  enum class Version : uint8_t { First, Anew };
  Reason keep(const Digest& key, const Digest& maker, std::string_view payload, Version version, bool replace);

  // How often `find` gave a payload, and how often it did not.
  uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  int folder(Reason& reason) POSSET_EXCLUDES(mutex_);  // -1: with `reason`
  void account(int folder, uint64_t bytes) POSSET_EXCLUDES(mutex_);

  const std::string directory_;
  const uint64_t limit_;
  sched::Mutex mutex_;
  bool opened_ POSSET_GUARDED_BY(mutex_) = false;
  int folder_ POSSET_GUARDED_BY(mutex_) = -1;
  Reason refusal_ POSSET_GUARDED_BY(mutex_) = Reason::none;  // why the directory is not used
  bool counted_ POSSET_GUARDED_BY(mutex_) = false;
  uint64_t bytes_ POSSET_GUARDED_BY(mutex_) = 0;  // as far as is known: other processes write too
  std::atomic<uint64_t> hits_{0}, misses_{0};
};

}  // namespace posset::interp
