// Where one text stands in another: short and long parts against memmem, and the end by an interruption.
#include <cstring>
#include <random>
#include <string>

#include "interp/runtime/text_search.h"
#include "world.h"

using namespace posset::interp;

namespace {

size_t found(World& w, std::string_view text, std::string_view part, size_t from = 0) {
  size_t at = 0;
  REQUIRE(find_text(w.context, text, part, from, at));
  return at;
}

size_t oracle(std::string_view text, std::string_view part, size_t from = 0) {
  const void* at = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return at ? static_cast<size_t>(static_cast<const char*>(at) - text.data()) : std::string_view::npos;
}

std::string repeated(std::string_view word, size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += word;
  out.resize(bytes);
  return out;
}

}  // namespace

TEST_CASE("text search: a part that lies across two portions of the text is found") {
  World w;
  std::string text(3 << 20, 'x');
  for (size_t at : {size_t{0}, size_t{1 << 20} - 3, size_t{1 << 20}, size_t{(2 << 20)} - 1, text.size() - 6}) {
    std::string with = text;
    with.replace(at, 6, "needle");
    CHECK(found(w, with, "needle") == at);
    CHECK(found(w, with, "needle", at) == at);
    CHECK(found(w, with, "needle", at + 1) == std::string_view::npos);
  }
  CHECK(found(w, "ab", "abc") == std::string_view::npos);
  CHECK(found(w, "", "a") == std::string_view::npos);
}

TEST_CASE("text search: long parts, periodic and not, are found where memmem finds them") {
  World w;
  std::mt19937_64 random(7);
  const char* words[] = {"a", "ab", "aab", "abaab", "abcabcabd", "aaaaaaaaab"};
  int hits = 0;
  for (int round = 0; round < 120; ++round) {
    const std::string_view word = words[random() % 6], other = words[random() % 6];
    std::string part = repeated(word, (256 << 10) + 1 + random() % 100000);
    if (random() % 2) part[random() % part.size()] = random() % 2 ? 'a' : 'c';
    std::string text = repeated(random() % 2 ? word : other, random() % 400000);
    if (random() % 4) text += part.substr(0, part.size() - random() % 3);
    if (random() % 2) text[random() % text.size()] = 'b';
    text += repeated(word, random() % 600000);
    const size_t from = random() % 3 ? 0 : random() % (text.size() + 1);
    const size_t expected = oracle(text, part, from);
    hits += expected != std::string_view::npos;
    CHECK(found(w, text, part, from) == expected);
  }
  CHECK(hits > 20);
  CHECK(hits < 110);
}

TEST_CASE("text search: random long parts of two letters") {
  World w;
  std::mt19937_64 random(8);
  for (int round = 0; round < 40; ++round) {
    std::string text(700'000, 'a');
    for (char& c : text) c = "ab"[random() % 2];
    const size_t begin = random() % 400'000, size = (256 << 10) + 1 + random() % 1000;
    std::string part = text.substr(begin, size);
    if (round % 3 == 0) part.back() = 'c';
    CHECK(found(w, text, part) == oracle(text, part));
  }
}

TEST_CASE("text search: an interruption ends it") {
  for (const size_t part_size : {size_t{10}, size_t{1 << 20}}) {
    World w;
    const std::string text = repeated("ab", 8 << 20), part = repeated("ab", part_size - 1) + "c";
    w.context.interrupt();
    size_t at = 0;
    CHECK_FALSE(find_text(w.context, text, part, 0, at));
    REQUIRE(w.context.limit_pending());
    CHECK(w.context.pending_code() == ErrorCode::Interrupted);
    w.context.take_error();
  }
}
