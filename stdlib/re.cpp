// The module re: regular expressions by RE2, so every match takes time linear in the text. Compiled patterns
// are kept per context, at most kPatterns of them.
#include <re2/re2.h>

#include <algorithm>
#include <list>
#include <memory>
#include <string>

#include "stdlib/modules.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

constexpr size_t kPatterns = 64;
constexpr size_t kPatternMemory = 8 << 20;  // bytes RE2 may use for one pattern
constexpr size_t kLongestPattern = 256 << 10;  // bytes; RE2 compiles without looking at limits, some 100 to 200 ns for each

// Most recently used first. Who searches keeps the pattern: other tasks may use others meanwhile.
using Pattern = std::shared_ptr<const RE2>;
struct Cache {
  std::list<Pattern> patterns;
};
const char kCacheKey = 0;

Cache& cache_of(posset_context* context) {
  if (void* data = posset_get_data(context, &kCacheKey)) return *static_cast<Cache*>(data);
  auto* cache = new Cache();
  posset_set_data(context, &kCacheKey, cache, [](void* data) { delete static_cast<Cache*>(data); });
  return *cache;
}

posset_status want_pattern(posset_call* call, uint32_t i, Pattern& out) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, i, &text));
  auto& patterns = cache_of(call->context).patterns;
  for (auto it = patterns.begin(); it != patterns.end(); ++it) {
    if ((*it)->pattern() != view_of(text)) continue;
    patterns.splice(patterns.begin(), patterns, it);
    out = patterns.front();
    return POSSET_OK;
  }
  if (text.size > kLongestPattern) {
    return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of("is too long: a pattern has at most 262144 bytes"));
  }
  POSSET_TRY(posset_charge_bytes(call->context, text.size * 64));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  Pattern made = std::make_shared<const RE2>(re2::StringPiece(text.data ? text.data : "", text.size), options);
  if (!made->ok()) {
    std::string problem = "is no regular expression: " + made->error();
    return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of(problem));
  }
  patterns.push_front(std::move(made));
  if (patterns.size() > kPatterns) patterns.pop_back();
  out = patterns.front();
  return POSSET_OK;
}

struct Search {
  std::string_view text;
  Pattern pattern;
};

posset_status want_search(posset_call* call, Search& out) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, 0, &text));
  out.text = view_of(text);
  POSSET_TRY(want_pattern(call, 1, out.pattern));
  return posset_charge_bytes(call->context, out.text.size());
}

// The match and its groups, as many as one asks for: those of a replacement are \0 to \9.
struct Match {
  static constexpr int kMost = 10;
  re2::StringPiece groups[kMost];
  size_t begin = 0, end = 0;
};

// The first match at or after `from`; false when there is none.
bool match_from(const Search& search, size_t from, Match& out, int groups = 1) {
  const re2::StringPiece whole(search.text.data(), search.text.size());
  if (!search.pattern->Match(whole, from, whole.size(), RE2::UNANCHORED, out.groups, groups)) return false;
  out.begin = static_cast<size_t>(out.groups[0].data() - whole.data());
  out.end = out.begin + out.groups[0].size();
  return true;
}

// Behind an empty match the search goes on one character further.
size_t after(std::string_view text, size_t begin, size_t end) {
  if (end > begin) return end;
  size_t next = end + 1;
  while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
  return next;
}

// Calls visit(match) for every match, from left to right.
template <class Visit>
posset_status each_match(posset_call* call, const Search& search, Visit&& visit, int groups = 1) {
  Pace pace(call->context);
  Match match;
  for (size_t from = 0; from <= search.text.size() && match_from(search, from, match, groups);) {
    POSSET_TRY(visit(match));
    POSSET_TRY(posset_charge_bytes(call->context, 16 + match.end - match.begin));
    POSSET_TRY(pace.go(2 * Pace::kValue + match.end - from));
    from = after(search.text, match.begin, match.end);
  }
  return POSSET_OK;
}

posset_status push_text(posset_call* call, Owned& list, std::string_view text) {
  posset_value value;
  POSSET_TRY(posset_string(call->context, text_of(text), &value));
  return posset_list_push(call->context, list.place(), value);
}

posset_status test(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  Match match;
  return posset_return(call, posset_bool(match_from(search, 0, match)));
}

posset_status find(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  Match match;
  if (!match_from(search, 0, match)) return POSSET_OK;
  return posset_return_string(call, text_of(search.text.substr(match.begin, match.end - match.begin)));
}

posset_status find_all(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  Owned list;
  POSSET_TRY(posset_list(call->context, 0, list.place()));
  POSSET_TRY(each_match(call, search, [&](const Match& match) {
    return push_text(call, list, search.text.substr(match.begin, match.end - match.begin));
  }));
  return give(call, list);
}

// Appends a replacement, which has been checked: \1 to \9 stand for groups and \0 for the whole match.
posset_status append_rewritten(Buffer& out, Pace& pace, std::string_view with, const Match& match) {
  for (size_t at = 0; at < with.size() && !out.failed();) {
    const size_t escape = std::min(with.find('\\', at), with.size());
    POSSET_TRY(out.append(with.substr(at, escape - at), pace));
    if (escape == with.size()) break;
    const char c = with[escape + 1];
    const re2::StringPiece group = c == '\\' ? re2::StringPiece("\\", 1) : match.groups[c - '0'];
    POSSET_TRY(out.append({group.data() ? group.data() : "", group.size()}, pace));
    POSSET_TRY(pace.go(Pace::kValue));
    at = escape + 2;
  }
  return POSSET_OK;
}

posset_status replace(posset_call* call) {
  Search search;
  posset_text with;
  POSSET_TRY(want_search(call, search));
  POSSET_TRY(posset_want_string(call, 2, &with));
  std::string problem;
  re2::StringPiece rewrite(with.data ? with.data : "", with.size);
  if (!search.pattern->CheckRewriteString(rewrite, &problem)) {
    return posset_raise_argument(call, POSSET_ERROR_BadArgument, 2, text_of(problem));
  }
  const std::string_view text = search.text;
  Buffer out(call->context);
  Pace pace(call->context);
  size_t done = 0;
  bool matched = false;
  const posset_status status = each_match(call, search, [&](const Match& match) {
    if (matched && match.begin == match.end && match.begin == done) return POSSET_OK;  // as RE2's own: none right behind another
    matched = true;
    POSSET_TRY(out.append(text.substr(done, match.begin - done), pace));
    done = match.end;
    POSSET_TRY(append_rewritten(out, pace, view_of(with), match));
    return out.failed() ? posset_poll(call->context) : POSSET_OK;
  }, 1 + RE2::MaxSubmatch(rewrite));
  POSSET_TRY(status);
  POSSET_TRY(out.append(text.substr(done), pace));
  return out.finish(call);
}

posset_status split(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  Owned list;
  POSSET_TRY(posset_list(call->context, 0, list.place()));
  size_t last = 0;
  POSSET_TRY(each_match(call, search, [&](const Match& match) {
    if (match.end == match.begin) return POSSET_OK;  // an empty match separates nothing
    posset_status status = push_text(call, list, search.text.substr(last, match.begin - last));
    last = match.end;
    return status;
  }));
  POSSET_TRY(push_text(call, list, search.text.substr(last)));
  return give(call, list);
}

constexpr posset_function_row kRows[] = {
    pure_row("test", "test(s, pattern)", "Does the pattern (RE2 syntax) match somewhere in s?", 2, 2, test),
    pure_row("find", "find(s, pattern)", "The text of the first match, nil when there is none.", 2, 2, find),
    pure_row("find_all", "find_all(s, pattern)", "The texts of all matches, from left to right.", 2, 2, find_all),
    pure_row("replace", "replace(s, pattern, with)", "s with all matches replaced; \\1 to \\9 stand for groups, \\0 for the match.",
             3, 3, replace),
    pure_row("split", "split(s, pattern)", "The pieces of s between the matches.", 2, 2, split),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_re(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "re", posset::stdlib::kRows);
}
