// The module re: regular expressions by RE2, so every match takes time linear in the text. Compiled patterns
// are kept per context, at most kPatterns of them.
#include <re2/re2.h>

#include <list>
#include <memory>

#include "stdlib/modules.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

constexpr size_t kPatterns = 64;
constexpr size_t kPatternMemory = 8 << 20;  // bytes RE2 may use for one pattern

// Most recently used first.
struct Cache {
  std::list<std::unique_ptr<RE2>> patterns;
};
const char kCacheKey = 0;

Cache& cache_of(posset_context* context) {
  if (void* data = posset_get_data(context, &kCacheKey)) return *static_cast<Cache*>(data);
  auto* cache = new Cache();
  posset_set_data(context, &kCacheKey, cache, [](void* data) { delete static_cast<Cache*>(data); });
  return *cache;
}

posset_status want_pattern(posset_call* call, uint32_t i, const RE2*& out) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, i, &text));
  auto& patterns = cache_of(call->context).patterns;
  for (auto it = patterns.begin(); it != patterns.end(); ++it) {
    if ((*it)->pattern() != view_of(text)) continue;
    patterns.splice(patterns.begin(), patterns, it);
    out = patterns.front().get();
    return POSSET_OK;
  }
  POSSET_TRY(posset_charge_bytes(call->context, text.size * 64));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  auto made = std::make_unique<RE2>(re2::StringPiece(text.data ? text.data : "", text.size), options);
  if (!made->ok()) {
    std::string problem = "is no regular expression: " + made->error();
    return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of(problem));
  }
  patterns.push_front(std::move(made));
  if (patterns.size() > kPatterns) patterns.pop_back();
  out = patterns.front().get();
  return POSSET_OK;
}

struct Search {
  std::string_view text;
  const RE2* pattern = nullptr;
};

posset_status want_search(posset_call* call, Search& out) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, 0, &text));
  out.text = view_of(text);
  POSSET_TRY(want_pattern(call, 1, out.pattern));
  return posset_charge_bytes(call->context, out.text.size());
}

// The first match at or after `from`; false when there is none.
bool match_from(const Search& search, size_t from, size_t& begin, size_t& end) {
  re2::StringPiece whole(search.text.data(), search.text.size()), found;
  if (!search.pattern->Match(whole, from, whole.size(), RE2::UNANCHORED, &found, 1)) return false;
  begin = static_cast<size_t>(found.data() - whole.data());
  end = begin + found.size();
  return true;
}

// Behind an empty match the search goes on one character further.
size_t after(std::string_view text, size_t begin, size_t end) {
  if (end > begin) return end;
  size_t next = end + 1;
  while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80) ++next;
  return next;
}

// Calls visit(begin, end) for every match, from left to right.
template <class Visit>
posset_status each_match(posset_call* call, const Search& search, Visit&& visit) {
  size_t from = 0, begin, end;
  while (from <= search.text.size() && match_from(search, from, begin, end)) {
    POSSET_TRY(visit(begin, end));
    POSSET_TRY(posset_charge_bytes(call->context, 16 + end - begin));
    from = after(search.text, begin, end);
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
  size_t begin, end;
  return posset_return(call, posset_bool(match_from(search, 0, begin, end)));
}

posset_status find(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  size_t begin, end;
  if (!match_from(search, 0, begin, end)) return POSSET_OK;
  return posset_return_string(call, text_of(search.text.substr(begin, end - begin)));
}

posset_status find_all(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  Owned list;
  POSSET_TRY(posset_list(call->context, 0, list.place()));
  POSSET_TRY(each_match(call, search, [&](size_t begin, size_t end) {
    return push_text(call, list, search.text.substr(begin, end - begin));
  }));
  return give(call, list);
}

// In the replacement \1 to \9 stand for groups and \0 for the whole match.
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
  std::string out(search.text);
  size_t matches = 0;
  POSSET_TRY(each_match(call, search, [&](size_t, size_t) { return ++matches, POSSET_OK; }));
  size_t most = search.text.size() + matches * (with.size + search.text.size() / 8 + 16);
  POSSET_TRY(posset_charge_memory(call->context, most));
  RE2::GlobalReplace(&out, *search.pattern, rewrite);
  posset_status status = posset_return_string(call, text_of(out));
  posset_discharge_memory(call->context, most);
  return status;
}

posset_status split(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  Owned list;
  POSSET_TRY(posset_list(call->context, 0, list.place()));
  size_t last = 0;
  POSSET_TRY(each_match(call, search, [&](size_t begin, size_t end) {
    if (end == begin) return POSSET_OK;  // an empty match separates nothing
    posset_status status = push_text(call, list, search.text.substr(last, begin - last));
    last = end;
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
