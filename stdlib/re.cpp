// The module re: regular expressions by RE2, so every match takes time linear in the text. Compiled patterns
// are kept per context, at most kPatterns of them. How a text is searched is in re_matches.h.
#include <algorithm>
#include <list>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "stdlib/aside.h"
#include "stdlib/modules.h"
#include "stdlib/re_matches.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

constexpr size_t kPatterns = 64;
constexpr size_t kLongestPattern = 256 << 10;  // bytes

// Most recently used first. Who searches keeps the pattern: other tasks may use others meanwhile.
using Pattern = std::shared_ptr<const Expression>;
struct Cache {
  std::list<Pattern> patterns;
  Aside aside;
};
const char kCacheKey = 0;

Cache& cache_of(posset_context* context) {
  if (void* data = posset_get_data(context, &kCacheKey)) return *static_cast<Cache*>(data);
  auto made = std::make_unique<Cache>();
  const auto drop = [](void* data) { delete static_cast<Cache*>(data); };
  if (posset_set_data(context, &kCacheKey, made.get(), drop) != POSSET_OK) throw std::bad_alloc();
  return *made.release();
}

// The least recently used pattern that nobody uses, neither another task nor a thread that is not waited for. False: there is none.
bool drop_one(posset_context* context) {
  auto& patterns = cache_of(context).patterns;
  for (auto it = patterns.end(); it != patterns.begin();) {
    if ((--it)->use_count() > 1) continue;
    posset_discharge_memory(context, (*it)->memory());
    patterns.erase(it);
    return true;
  }
  return false;
}

// Takes the error that there is no memory. An interruption that came instead comes again, and so does a time limit.
posset_status take_lack(posset_context* context) {
  posset_error* error = posset_take_error(context);
  posset_error_info info = {};
  info.size = sizeof info;
  if (posset_error_get(error, &info) == POSSET_OK && info.is_interrupt) posset_interrupt(context);
  posset_error_free(error);
  return posset_poll(context);
}

// Counts memory; where there is no more, other patterns go.
posset_status reserve(posset_context* context, size_t bytes) {
  posset_status status = POSSET_OK;
  while ((status = posset_charge_memory(context, bytes)) == POSSET_RAISED && drop_one(context)) POSSET_TRY(take_lack(context));
  return status;
}

// Memory that is given back unless it is kept.
struct Charged {
  explicit Charged(posset_context* of) : context(of) {}
  ~Charged() { posset_discharge_memory(context, bytes); }
  Charged(const Charged&) = delete;
  Charged& operator=(const Charged&) = delete;
  void keep() { bytes = 0; }
  posset_context* const context;
  size_t bytes = 0;
};

posset_status compile(posset_context* context, std::string_view source, size_t memory, Pattern& out) {
  if (!is_slow_to_compile(source)) {
    out = std::make_shared<const Expression>(source, memory);
    return POSSET_OK;
  }
  const auto place = std::make_shared<Pattern>();
  POSSET_TRY(cache_of(context).aside.run(context, [place, memory, source = std::string(source)] {
    *place = std::make_shared<const Expression>(source, memory);
  }));
  out = *place;
  return POSSET_OK;
}

// With as much memory as it wants, which is known when it has been compiled with a little.
posset_status compile_within(Charged& charged, std::string_view source, Pattern& out) {
  for (size_t wanted = Expression::kLeastMemory; wanted > charged.bytes; wanted = Expression::wanted_memory(*out)) {
    POSSET_TRY(reserve(charged.context, wanted - charged.bytes));
    charged.bytes = wanted;
    POSSET_TRY(compile(charged.context, source, wanted, out));
  }
  return POSSET_OK;
}

posset_status want_pattern(posset_call* call, uint32_t i, Pattern& out) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, i, &text));
  auto& patterns = cache_of(call->context).patterns;
  for (auto it = patterns.begin(); it != patterns.end(); ++it) {
    if ((*it)->whole().pattern() != view_of(text)) continue;
    patterns.splice(patterns.begin(), patterns, it);
    out = patterns.front();
    return POSSET_OK;
  }
  if (text.size > kLongestPattern) {
    return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of("is too long: a pattern has at most 262144 bytes"));
  }
  POSSET_TRY(posset_charge_bytes(call->context, text.size * 64));
  Pattern made;
  Charged charged(call->context);
  POSSET_TRY(compile_within(charged, view_of(text), made));
  if (!made->whole().ok()) {
    std::string problem = "is no regular expression: " + made->whole().error();
    return posset_raise_argument(call, POSSET_ERROR_BadArgument, i, text_of(problem));
  }
  patterns.push_front(made);
  charged.keep();
  out = std::move(made);
  if (patterns.size() > kPatterns) drop_one(call->context);
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

// A search in a call.
class Within : public Surroundings {
 public:
  explicit Within(posset_call* call) : call_(call) {}
  posset_status look() override { return posset_poll(call_->context); }
  posset_status take(size_t bytes) override { return reserve(call_->context, bytes); }
  void give_back(size_t bytes) override { posset_discharge_memory(call_->context, bytes); }
  posset_status refuse() override {
    return posset_raise_argument(call_, POSSET_ERROR_BadArgument, 1,
                                 text_of("is too large for a match as long as the one that begins here"));
  }
  posset_status aside(std::function<void()> work) override {
    return cache_of(call_->context).aside.run(call_->context, std::move(work));
  }

 private:
  posset_call* const call_;
};

// The first match alone; with `groups` 0 only whether there is one.
posset_status first_match(posset_call* call, const Search& search, int groups, Match& out, bool& found) {
  Within within(call);
  return Matches(search.text, search.pattern, within).next(0, groups, out, found);
}

// What finding a match costs whatever its length, in bytes that are charged: one step.
constexpr uint64_t kBytesOfMatch = 64;

// Calls visit(match) for every match, from left to right.
template <class Visit>
posset_status each_match(posset_call* call, const Search& search, Visit&& visit, int groups = 1) {
  Pace pace(call->context);
  Within within(call);
  Matches matches(search.text, search.pattern, within);
  Match match;
  for (size_t from = 0; from <= search.text.size();) {
    bool found = false;
    POSSET_TRY(matches.next(from, groups, match, found));
    if (!found) break;
    POSSET_TRY(visit(match));
    POSSET_TRY(posset_charge_bytes(call->context, kBytesOfMatch + match.end - match.begin));
    POSSET_TRY(pace.go(2 * Pace::kValue + match.end - from));
    from = behind(search.text, match);
  }
  return POSSET_OK;
}

// A piece of the text; a long one is copied in parts.
posset_status make_text(posset_call* call, std::string_view text, posset_value& out) {
  if (text.size() <= kLongText) return posset_string(call->context, text_of(text), &out);
  Buffer buffer(call->context);
  Pace pace(call->context);
  buffer.reserve(text.size());
  POSSET_TRY(buffer.append(text, pace));
  return buffer.finish(out);
}

posset_status push_text(posset_call* call, Owned& list, std::string_view text) {
  posset_value value;
  POSSET_TRY(make_text(call, text, value));
  return posset_list_push(call->context, list.place(), value);
}

posset_status test(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  Match match;
  bool found = false;
  POSSET_TRY(first_match(call, search, 0, match, found));
  return posset_return(call, posset_bool(found));
}

posset_status find(posset_call* call) {
  Search search;
  POSSET_TRY(want_search(call, search));
  Match match;
  bool found = false;
  POSSET_TRY(first_match(call, search, 1, match, found));
  if (!found) return POSSET_OK;
  Owned result;
  POSSET_TRY(make_text(call, search.text.substr(match.begin, match.end - match.begin), *result.place()));
  return give(call, result);
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
  if (!search.pattern->whole().CheckRewriteString(rewrite, &problem)) {
    return posset_raise_argument(call, POSSET_ERROR_BadArgument, 2, text_of(problem));
  }
  const std::string_view text = search.text;
  Buffer out(call->context);
  Pace pace(call->context);
  size_t done = 0;
  bool matched = false;
  const posset_status status = each_match(call, search, [&](const Match& match) {
    if (matched && match.begin == match.end && match.begin == done) return POSSET_OK;  // as RE2's own: none right behind another
    if (!std::exchange(matched, true)) out.reserve(text.size());
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
