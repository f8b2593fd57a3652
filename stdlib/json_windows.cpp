// Pieces and tokens of long JSON texts. See json_windows.h.
#include "stdlib/json_windows.h"

#include <algorithm>
#include <bit>
#include <new>

#include "stdlib/json_blocks.h"
#include "stdlib/json_number.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

constexpr char kStopped[] = "";
constexpr size_t kLongestEscape = 12;   // of two surrogates, which are read together
constexpr size_t kShortNumber = 64;     // longer whole numbers are none
constexpr size_t kMostPutIn = 8 << 10;  // for all that can be open
constexpr size_t kMemoryOfParser =
    16;  // for each byte: simdjson's tape, strings and index, and the text in buffer_

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool ends_scalar(char c) {
  return is_space(c) || c == '"' || c == ',' || c == ':' || c == '[' || c == ']' || c == '{' ||
         c == '}';
}
bool begins_number(char c) { return c == '-' || (c >= '0' && c <= '9'); }
char closing(char bracket) { return bracket == '[' ? ']' : '}'; }
bool is_opening(char c) { return c == '[' || c == '{'; }

bool begins_unicode_escape(std::string_view text, size_t at) { return text.substr(at, 2) == "\\u"; }
// Of at most four digits.
size_t hex_end(std::string_view text, size_t at) {
  const size_t most = std::min(text.size(), at + 4);
  while (at < most &&
         std::string_view("0123456789abcdefABCDEF").find(text[at]) != std::string_view::npos)
    ++at;
  return at;
}

// A fault of the text, not of the reading.
bool is_fault(const char* problem) {
  return problem && *problem && std::string_view(problem) != POSSET_JSON_NO_MEMORY;
}

}  // namespace

JsonWindows::JsonWindows(std::string_view text, const posset_json_reader& reader,
                         const posset_json_sink& sink, JsonSurroundings& around, size_t window)
    : text_(text), reader_(reader), sink_(sink), around_(around), window_(window) {}

JsonWindows::~JsonWindows() {
  if (parser_) reader_.close(parser_);
}

size_t JsonWindows::memory(size_t text_size, size_t window) {
  return text_size <= window ? text_size * kMemoryOfParser + 4096
                             : (window + kMostPutIn) * kMemoryOfParser;
}

const char* JsonWindows::read() {
  const bool is_short = text_.size() <= window_;
  parser_ = reader_.open(is_short ? text_.size() : window_ + kMostPutIn);
  if (!parser_) throw std::bad_alloc();
  if (is_short) return piece(text_.size(), {}, {});
  const char* problem = in_windows();
  if (!is_fault(problem)) return problem;
  const char* earlier = earlier_fault();
  return earlier ? earlier : problem;
}

// simdjson looks at the strings of a text, all of them, before anything else.
const char* JsonWindows::earlier_fault() {
  Blocks blocks;
  uint64_t controls = 0;
  for (size_t at = 0; at < text_.size();) {
    const size_t end = std::min(text_.size(), at + std::max(window_, kBlock));
    const size_t begin = at;
    for (; at < end; at += kBlock)
      controls |= blocks.next(text_.data() + at, text_.size() - at).controls;
    if (!around_.look(at - begin)) return kStopped;
  }
  if (blocks.is_inside()) return fault(POSSET_JSON_OPEN_STRING);
  return controls ? fault(POSSET_JSON_CONTROL_CHARACTER) : nullptr;
}

const char* JsonWindows::in_windows() {
  if (const char* problem = find_ends()) {
    at_ = end_;
    return problem;
  }
  return go_on();
}

const char* JsonWindows::go_on() {
  while (next_ != Next::Nothing) {
    const size_t begin = at_;
    if (next_ == Next::Member) {
      if (const char* problem = batch()) return problem;
      if (at_ > begin) continue;
    }
    if (const char* problem = token()) return problem;
  }
  return at_ == end_ ? nullptr : fault(POSSET_JSON_STRUCTURE);
}

// Moves on while the test holds, looking at limits; false: stopped.
template <class Test>
bool JsonWindows::pass(size_t& at, Test&& test) {
  size_t looked = at;
  for (; at < end_ && test(text_[at]); ++at) {
    if (at - looked < window_) continue;
    looked = at;
    if (!around_.look(window_)) return false;
  }
  return true;
}

// simdjson refuses a container with another bracket at the end of the text before it looks inside.
const char* JsonWindows::find_ends() {
  end_ = text_.size();
  if (!pass(at_, is_space)) return kStopped;
  if (at_ == end_) return fault(POSSET_JSON_EMPTY);
  for (size_t looked = end_; is_space(text_[end_ - 1]); --end_) {
    if (looked - end_ < window_) continue;
    looked = end_;
    if (!around_.look(window_)) return kStopped;
  }
  if (is_opening(text_[at_]) && text_[end_ - 1] != closing(text_[at_]))
    return fault(POSSET_JSON_STRUCTURE);
  return nullptr;
}

// A document of what stands between; nothing is told of what is put in around it.
const char* JsonWindows::hand_over(const PutIn& before, std::string_view text, const PutIn& after,
                                   const posset_json_sink& sink) {
  buffer_.assign(before.text).append(text).append(after.text);
  const size_t size = buffer_.size();
  buffer_.append(POSSET_JSON_PADDING, ' ');
  longest_ = std::max(longest_, text.size());
  return reader_.read(parser_, buffer_.data(), size, before.calls, after.calls, &sink);
}

// The next bytes, which are more than a token.
const char* JsonWindows::piece(size_t size, const PutIn& before, const PutIn& after) {
  const char* problem = hand_over(before, text_.substr(at_, size), after, sink_);
  if (problem) refused_ = size;
  return problem;
}

// ---- where the fault is ----

namespace {

constexpr posset_json_sink kQuiet = {
    .data = nullptr,
    .null = [](void*) { return true; },
    .boolean = [](void*, bool) { return true; },
    .integer = [](void*, int64_t) { return true; },
    .number = [](void*, double) { return true; },
    .string = [](void*, const char*, size_t) { return true; },
    .key = [](void*, const char*, size_t) { return true; },
    .begin = [](void*, bool) { return true; },
    .end = [](void*) { return true; },
};

class QuietSurroundings final : public JsonSurroundings {
 public:
  explicit QuietSurroundings(JsonSurroundings& around) : around_(around) {}
  bool look(size_t bytes) override { return around_.look(bytes); }
  bool begin_string(size_t) override { return true; }
  bool add_to_string(std::string_view) override { return true; }
  bool end_string(bool) override { return true; }

 private:
  JsonSurroundings& around_;
};

}  // namespace

// What was refused is read once more, in windows so narrow that each token is read by itself.
size_t JsonWindows::fault_offset() {
  if (refused_ == 0) return at_;
  QuietSurroundings quiet(around_);
  JsonWindows narrow(text_.substr(0, at_ + refused_), reader_, kQuiet, quiet, 1);
  narrow.parser_ = reader_.open(kShortNumber);  // it grows where it must
  if (!narrow.parser_) throw std::bad_alloc();
  narrow.at_ = at_;
  narrow.next_ = next_;
  narrow.open_ = open_;
  narrow.end_ = narrow.text_.size();
  while (narrow.end_ > at_ && is_space(text_[narrow.end_ - 1])) --narrow.end_;
  narrow.go_on();
  size_t at = narrow.at_;
  while (at < narrow.end_ && is_space(text_[at])) ++at;
  return at;
}

// ---- up to the last comma of a window ----

// Reads nothing where there is no comma. Then the next member begins behind the window, and it is
// not looked at again.
const char* JsonWindows::batch() {
  const size_t window_end = std::min(end_, at_ + window_);
  size_t cut = behind_last_comma(window_end);
  if (!around_.look(window_end - at_)) return kStopped;
  if (cut == at_) return nullptr;
  std::string open = open_;
  const bool is_sound = follow_brackets(cut, open);
  const PutIn after = closed(open, is_sound && !open.empty());
  if (const char* problem = piece(cut - at_, opened(open_), after)) return problem;
  if (!is_sound) return fault(POSSET_JSON_STRUCTURE);
  open_ = std::move(open);
  at_ = cut;
  next_ = open_.empty() ? Next::Nothing : Next::Member;
  return nullptr;
}

// at_ where there is none before `end`.
size_t JsonWindows::behind_last_comma(size_t end) {
  Blocks blocks;
  size_t out = at_;
  brackets_.clear();
  for (size_t at = at_; at < end; at += kBlock) {
    const Block block = blocks.next(text_.data() + at, end - at);
    brackets_.push_back(block.brackets);
    if (block.commas) out = at + static_cast<size_t>(std::bit_width(block.commas));
  }
  return out;
}

// `open` becomes what is open at the cut. A cut behind the end of the document, or behind a bracket
// that cannot stand where it is, moves there; false for the latter, which simdjson is to find, or a
// fault before it.
bool JsonWindows::follow_brackets(size_t& cut, std::string& open) const {
  size_t begin = at_;
  for (uint64_t block : brackets_) {
    for (; block; block &= block - 1) {
      const size_t at = begin + static_cast<size_t>(std::countr_zero(block));
      if (at >= cut) return true;
      const char bracket = text_[at];
      bool is_sound = true;
      if (is_opening(bracket)) {
        open += bracket;
        is_sound = open.size() <= POSSET_JSON_MOST_OPEN + 1;
      } else {
        is_sound = bracket == closing(open.back());
        if (is_sound) open.pop_back();
      }
      if (is_sound && !open.empty()) continue;
      cut = at + 1;
      return is_sound;
    }
    begin += kBlock;
  }
  return true;
}

// Opens what is open, up to where a further member is due.
JsonWindows::PutIn JsonWindows::opened(std::string_view open) {
  PutIn out;
  for (const char bracket : open) {
    out.text += bracket == '{' ? "{\"\":" : "[";
    out.calls += bracket == '{' ? 2 : 1;
  }
  if (!open.empty()) out.text += "null,", ++out.calls;
  return out;
}

// Closes it, after a further member where one is due.
JsonWindows::PutIn JsonWindows::closed(std::string_view open, bool is_member_due) {
  PutIn out;
  if (is_member_due) {
    out.text = open.back() == '{' ? "\"\":null" : "null";
    out.calls = open.back() == '{' ? 2 : 1;
  }
  for (; !open.empty(); open.remove_suffix(1), ++out.calls) out.text += closing(open.back());
  return out;
}

// ---- token by token ----

const char* JsonWindows::token() {
  if (!pass(at_, is_space)) return kStopped;
  if (at_ == end_) return fault(POSSET_JSON_STRUCTURE);
  const char c = text_[at_];
  switch (next_) {
    case Next::First:
      if (c == closing(open_.back())) return close_container();
      if (open_.size() > POSSET_JSON_MOST_OPEN) return fault(POSSET_JSON_DEPTH);
      [[fallthrough]];
    case Next::Member:
      if (open_.back() == '{') return c == '"' ? string(true) : fault(POSSET_JSON_STRUCTURE);
      [[fallthrough]];
    case Next::Value:
      return value(c);
    case Next::Colon:
      if (c != ':') break;
      ++at_;
      next_ = Next::Value;
      return nullptr;
    case Next::CommaOrEnd:
      if (c == closing(open_.back())) return close_container();
      if (c != ',') break;
      ++at_;
      next_ = Next::Member;
      return nullptr;
    case Next::Nothing:
      break;
  }
  return fault(POSSET_JSON_STRUCTURE);
}

const char* JsonWindows::value(char c) {
  if (c == '"') return string(false);
  if (!is_opening(c)) return scalar();
  open_ += c;
  ++at_;
  next_ = Next::First;
  return sink_.begin(sink_.data, c == '{') ? nullptr : kStopped;
}

const char* JsonWindows::close_container() {
  open_.pop_back();
  ++at_;
  value_ended();
  return sink_.end(sink_.data) ? nullptr : kStopped;
}

void JsonWindows::value_ended() { next_ = open_.empty() ? Next::Nothing : Next::CommaOrEnd; }

const char* JsonWindows::string(bool is_key) {
  size_t end = 0;
  bool is_plain = true;
  if (!find_string_end(end, is_plain)) return kStopped;
  if (end == end_) return fault(POSSET_JSON_OPEN_STRING);
  const std::string_view token = text_.substr(at_, end + 1 - at_);
  const char* problem = nullptr;
  if (token.size() > window_) {
    problem = long_string(end, is_plain, is_key);
  } else if (is_key) {
    problem = hand_over({"{", 1}, token, {":null}", 2}, sink_);
  } else {
    problem = hand_over({"[", 1}, token, {"]", 1}, sink_);
  }
  if (problem) return problem;
  at_ = end + 1;
  is_key ? void(next_ = Next::Colon) : value_ended();
  return nullptr;
}

// The quote that ends the string at at_; end_: there is none. It is plain where nothing in it is
// escaped. False: stopped.
bool JsonWindows::find_string_end(size_t& end, bool& is_plain) {
  Blocks blocks;
  size_t looked = at_;
  for (size_t at = at_ + 1; at < end_; at += kBlock) {
    const Block block = blocks.next(text_.data() + at, end_ - at);
    if (block.backslashes) is_plain = false;
    if (block.quotes) {
      end = at + static_cast<size_t>(std::countr_zero(block.quotes));
      return true;
    }
    if (at - looked < window_) continue;
    if (!around_.look(at - looked)) return false;
    looked = at;
  }
  end = end_;
  return true;
}

const char* JsonWindows::long_string(size_t end, bool is_plain, bool is_key) {
  posset_json_sink part = {};
  part.data = &around_;
  part.string = [](void* around, const char* text, size_t size) {
    return static_cast<JsonSurroundings*>(around)->add_to_string({text, size});
  };
  size_t from = at_ + 1;
  if (!around_.begin_string(is_plain ? end - from : 0)) return kStopped;
  while (from < end) {
    const size_t next = part_end(from, end);
    if (const char* problem =
            hand_over({"[\"", 1}, text_.substr(from, next - from), {"\"]", 1}, part))
      return problem;
    if (!around_.look(next - from)) return kStopped;
    from = next;
  }
  return around_.end_string(is_key) ? nullptr : kStopped;
}

// Where the part of a string that begins at `from` can end: not within a character, nor within an
// escape.
size_t JsonWindows::part_end(size_t from, size_t end) const {
  const size_t limit = std::min(end, from + std::max(window_, kLongestEscape));
  for (size_t at = from; at < limit;) {
    const size_t escape =
        text_[at] == '\\' ? at : std::min(limit, text_.substr(0, limit).find('\\', at));
    if (escape == limit) {
      size_t out = limit;
      while (limit < end && limit - out < 3 && out > at && continues_scalar(text_[out])) --out;
      return out;
    }
    at = escape_end(escape, end);
    if (at > limit) return escape;
  }
  return limit;
}

// Behind the escape at `at`, or as much of it as is sound.
size_t JsonWindows::escape_end(size_t at, size_t end) const {
  const std::string_view text = text_.substr(0, end);
  if (!begins_unicode_escape(text, at)) {
    size_t out = std::min(end, at + 2);
    while (out < std::min(end, at + 5) && continues_scalar(text[out])) ++out;
    return out;
  }
  const size_t first_end = hex_end(text, at + 2);
  const bool is_high_surrogate =
      first_end == at + 6 && (text[at + 2] | 0x20) == 'd' &&
      std::string_view("89abAB").find(text[at + 3]) != std::string_view::npos;
  if (is_high_surrogate && begins_unicode_escape(text, first_end))
    return hex_end(text, first_end + 2);
  return first_end;
}

// A number or a word. A string directly behind it is part of it for simdjson.
const char* JsonWindows::scalar() {
  size_t end = at_;
  if (!pass(end, [](char c) { return !ends_scalar(c); })) return kStopped;
  const std::string_view text = text_.substr(at_, end - at_);
  if (text.empty()) return fault(POSSET_JSON_STRUCTURE);
  const char* problem = nullptr;
  if (end < end_ && text_[end] == '"') {
    problem = malformed(text[0]);
  } else if (text.size() > std::max(window_, kShortNumber)) {
    problem = long_scalar(text);
  } else {
    problem = hand_over({"[", 1}, text, {"]", 1}, sink_);
  }
  if (problem) return problem;
  at_ = end;
  value_ended();
  return nullptr;
}

// What is wrong with a scalar that begins so, if something is.
const char* JsonWindows::malformed(char c) {
  if (begins_number(c)) return fault(POSSET_JSON_NUMBER);
  if (c != 't' && c != 'f' && c != 'n') return fault(POSSET_JSON_STRUCTURE);
  return hand_over({"[", 1}, std::string(2, c), {"]", 1}, sink_);
}

const char* JsonWindows::long_scalar(std::string_view text) {
  if (!begins_number(text[0])) return malformed(text[0]);
  std::string shorter;
  switch (shorten_number(
      text, window_, [this](size_t bytes) { return around_.look(bytes); }, shorter)) {
    case LongNumber::Shortened:
      return hand_over({"[", 1}, shorter, {"]", 1}, sink_);
    case LongNumber::NoNumber:
      return fault(POSSET_JSON_NUMBER);
    case LongNumber::Stopped:
      return kStopped;
  }
  return kStopped;
}

}  // namespace posset::stdlib
