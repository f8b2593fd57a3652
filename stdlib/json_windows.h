// Reading long JSON texts in pieces that are short enough to look at limits and interruptions
// between them. simdjson reads a document whole and tells nobody how far it has come; so a long one
// is cut, and simdjson gets documents that look like it from where a piece begins: the containers
// that are open there, opened again; null in place of the members before; the piece; null in place
// of those that follow; and the brackets that close what is open. What has been put in is not told.
// So each piece is read and checked as it would be in its place.
//
// A piece ends at the last comma in a window. Where a window has none outside strings (a long
// string, many brackets, white space) the tokens up to the next one are read one by one, by JSON's
// grammar, each by simdjson; a string longer than a window in parts. That goes on until the comma,
// so the whole work is in proportion to the text.
//
// Results and what is refused are as if simdjson had read the text at once, and so is what it says
// is wrong: it looks at all strings of a text before anything else, so where a fault is found the
// rest is searched for one in a string. One thing differs: a number that is longer than a window is
// exact where simdjson, given more than 19 digits, counts an exponent of hundreds of thousands short.
//
// With a fault the sink may have been told of what stands before it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/simdjson/reader.h"

namespace posset::stdlib {

// What reading a long text needs beyond the sink. Each gives false to stop.
class JsonSurroundings {
 public:
  virtual ~JsonSurroundings() = default;
  virtual bool look(size_t bytes) = 0;  // after so many bytes that were looked at
  // A long string or key comes in parts; of so many bytes, 0: that is not known.
  virtual bool begin_string(size_t bytes) = 0;
  virtual bool add_to_string(std::string_view part) = 0;
  virtual bool end_string(bool is_key) = 0;
};

class JsonWindows {
 public:
  static constexpr size_t kWindow = 256 << 10;  // read in some hundred microseconds

  // All of it outlives this. Memory runs out as std::bad_alloc.
  JsonWindows(std::string_view text, const posset_json_reader& reader, const posset_json_sink& sink,
              JsonSurroundings& around, size_t window = kWindow);
  ~JsonWindows();
  JsonWindows(const JsonWindows&) = delete;
  JsonWindows& operator=(const JsonWindows&) = delete;

  // As posset_json_reader's `read`; once.
  const char* read();
  // After it has said what is wrong with the text: the byte from which on it is no JSON. That is where a string or another token
  // begins which is wrong or out of place. Where the text has several faults `read` may have told of another.
  size_t fault_offset();

  // What reading such a text takes, beside what the sink makes of it.
  static size_t memory(size_t text_size, size_t window = kWindow);
  // Bytes of the text that simdjson was given at once so far.
  size_t longest() const { return longest_; }

 private:
  // What may stand next.
  enum class Next { Value, First, Member, Colon, CommaOrEnd, Nothing };
  // Around a piece, and how many calls of the sink it makes.
  struct PutIn {
    std::string text{};
    size_t calls = 0;
  };
  const char* in_windows();
  const char* go_on();
  const char* find_ends();
  const char* hand_over(const PutIn& before, std::string_view text, const PutIn& after,
                        const posset_json_sink& sink);
  const char* earlier_fault();
  const char* batch();
  const char* piece(size_t size, const PutIn& before, const PutIn& after);
  size_t behind_last_comma(size_t end);
  bool follow_brackets(size_t& cut, std::string& open) const;
  static PutIn opened(std::string_view open);
  static PutIn closed(std::string_view open, bool is_member_due);
  const char* token();
  const char* value(char c);
  const char* close_container();
  void value_ended();
  const char* string(bool is_key);
  bool find_string_end(size_t& end, bool& is_plain);
  const char* long_string(size_t end, bool is_plain, bool is_key);
  size_t part_end(size_t from, size_t end) const;
  size_t escape_end(size_t at, size_t end) const;
  const char* scalar();
  const char* malformed(char c);
  const char* long_scalar(std::string_view text);
  template <class Test>
  bool pass(size_t& at, Test&& test);
  const char* fault(posset_json_fault fault) const { return reader_.message(fault); }

  const std::string_view text_;
  const posset_json_reader& reader_;
  const posset_json_sink& sink_;
  JsonSurroundings& around_;
  const size_t window_;
  void* parser_ = nullptr;
  size_t at_ = 0, end_ = 0;  // of what is yet to be read, without the white space at the end
  Next next_ = Next::Value;
  std::string open_;                // brackets, from outside
  std::string buffer_;              // what simdjson reads
  std::vector<uint64_t> brackets_;  // in the window, block by block
  size_t longest_ = 0;
  size_t refused_ = 0;  // bytes from at_ on that simdjson has read at once and found something wrong in; 0: it is what is at at_
};

}  // namespace posset::stdlib
