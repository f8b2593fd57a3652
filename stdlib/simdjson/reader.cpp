// Walks a document that simdjson has parsed, on simdjson's tape (doc/tape.md there): a word for
// each bracket, key and value, and one more for a number. What is to be left out at the beginning
// and the end is so many words, as there is no number among it. Nothing here throws, as nothing in
// simdjson does: a program with an unwinder of its own (-static-libgcc) exports an operator new
// whose exceptions cannot pass through what uses libstdc++.so. See reader.h.
#include "stdlib/simdjson/reader.h"

#include <cstring>
#include <new>
#include <simdjson.h>

static_assert(POSSET_JSON_PADDING >= simdjson::SIMDJSON_PADDING);
static_assert(POSSET_JSON_MOST_OPEN + 1 == simdjson::DEFAULT_MAX_DEPTH);

namespace {

class Walk {
 public:
  Walk(const simdjson::dom::document& document, const posset_json_sink& sink)
      : tape_(document.tape.get()), strings_(document.string_buf.get()), sink_(sink) {}

  bool go(size_t before, size_t after) {
    const size_t end = payload(tape_[0]) - 1 -
                       after;  // the first word says where the words end, the last one is its like
    for (at_ = 1; at_ <= before && at_ < end; ++at_) follow(type(tape_[at_]));
    for (; at_ < end; ++at_) {
      if (!tell(type(tape_[at_]))) return false;
    }
    return true;
  }

 private:
  static uint64_t payload(uint64_t word) { return word & 0xff'ffff'ffff'ffff; }
  static char type(uint64_t word) { return static_cast<char>(word >> 56); }

  // Keys have the type of strings: where one is due is known from what has been passed.
  void follow(char type) {
    if (type == '[' || type == '{') is_object_[++depth_] = type == '{';
    if (type == ']' || type == '}') --depth_;
    is_key_next_ = is_object_[depth_] && !(type == '"' && is_key_next_);
  }
  bool tell(char type) {
    const bool is_key = is_key_next_;
    const uint64_t word = tape_[at_];
    follow(type);
    switch (type) {
      case 'n':
        return sink_.null(sink_.data);
      case 't':
        return sink_.boolean(sink_.data, true);
      case 'f':
        return sink_.boolean(sink_.data, false);
      case 'l':
        return sink_.integer(sink_.data, next<int64_t>());
      case 'u':
        return sink_.number(sink_.data, static_cast<double>(next<uint64_t>()));
      case 'd':
        return sink_.number(sink_.data, next<double>());
      case '"':
        return tell_string(is_key ? sink_.key : sink_.string, strings_ + payload(word));
      case '[':
        return sink_.begin(sink_.data, false);
      case '{':
        return sink_.begin(sink_.data, true);
      default:
        return sink_.end(sink_.data);
    }
  }
  template <class Number>
  Number next() {
    Number out;
    std::memcpy(&out, &tape_[++at_], sizeof out);
    return out;
  }
  bool tell_string(bool (*to)(void*, const char*, size_t), const uint8_t* string) {
    uint32_t size;
    std::memcpy(&size, string, sizeof size);
    return to(sink_.data, reinterpret_cast<const char*>(string) + sizeof size, size);
  }

  const uint64_t* const tape_;
  const uint8_t* const strings_;
  const posset_json_sink sink_;
  size_t at_ = 1, depth_ = 0;
  bool is_key_next_ = false;
  bool is_object_[POSSET_JSON_MOST_OPEN + 2] =
      {};  // by depth; nothing is open at 0, and an empty one may be the deepest
};

void* open(size_t capacity) {
  auto* parser = new (std::nothrow) simdjson::dom::parser;
  if (parser && parser->allocate(capacity) == simdjson::SUCCESS &&
      parser->doc.allocate(capacity) == simdjson::SUCCESS)
    return parser;
  delete parser;
  return nullptr;
}

void close(void* parser) { delete static_cast<simdjson::dom::parser*>(parser); }

const char* read(void* opened, const char* text, size_t size, size_t before, size_t after,
                 const posset_json_sink* sink) {
  auto& parser = *static_cast<simdjson::dom::parser*>(opened);
  const simdjson::error_code problem = parser.parse(text, size, false).error();
  if (problem == simdjson::MEMALLOC) return POSSET_JSON_NO_MEMORY;
  if (problem) return simdjson::error_message(problem);
  return Walk(parser.doc, *sink).go(before, after) ? nullptr : "";
}

const char* message(posset_json_fault fault) {
  switch (fault) {
    case POSSET_JSON_STRUCTURE:
      return simdjson::error_message(simdjson::TAPE_ERROR);
    case POSSET_JSON_DEPTH:
      return simdjson::error_message(simdjson::DEPTH_ERROR);
    case POSSET_JSON_NUMBER:
      return simdjson::error_message(simdjson::NUMBER_ERROR);
    case POSSET_JSON_EMPTY:
      return simdjson::error_message(simdjson::EMPTY);
    case POSSET_JSON_OPEN_STRING:
      return simdjson::error_message(simdjson::UNCLOSED_STRING);
    case POSSET_JSON_CONTROL_CHARACTER:
      return simdjson::error_message(simdjson::UNESCAPED_CHARS);
  }
  return "";
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const posset_json_reader posset_json_functions = {open, close, read, message};
