// Strings: short and long, ASCII and not, joining, indexing, hashing, building.
#include <thread>

#include "fixture.h"
#include "interp/value/milestones.h"

using namespace posset::interp;
using namespace posset::interp::test;

TEST_CASE("string: short ones live in the value, bit for bit") {
  World world;
  for (size_t n = 0; n <= 40; ++n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) text += static_cast<char>('a' + i % 26);
    Value v = world.text(text);
    CHECK(v->is_short_string() == (n <= kMaxShort));
    CHECK(bytes_of(v) == text);
    CHECK(string_length(v) == n);
    CHECK(is_ascii_string(v));
    CHECK(equal(v, world.text(text)));
    CHECK_FALSE(equal(v, world.text(text + "a")));
    for (size_t i = 0; i < n; ++i) CHECK(bytes_of(string_at(v, i)) == text.substr(i, 1));
  }
}

TEST_CASE("string: unused bytes of a short string are zero, wherever it stood") {
  char noise[64];
  std::memset(noise, 0xff, sizeof noise);
  for (size_t n = 0; n <= kMaxShort; ++n) {
    std::memset(noise + 10, 'q', n);
    Borrowed v = make_short({noise + 10, n});
    std::memset(noise + 10, 0xff, n);
    Borrowed w = make_short(std::string(n, 'q'));
    CHECK(v.word0 == w.word0);
    CHECK(v.word1 == w.word1);
  }
}

namespace {

void check_scalar(const Heap& heap, const Value& v, uint64_t index, size_t at, uint32_t scalar) {
  size_t offset = 0;
  CHECK(byte_offset(heap, v, index, offset));
  CHECK(offset == at);
  uint32_t there = 0;
  CHECK(scalar_at(heap, v, index, there));
  CHECK(there == scalar);
}

}  // namespace

TEST_CASE("string: scalars are counted, not bytes") {
  World world;
  for (std::string text :
       {"äöü", "aä€😀", "日本語のテキストです、長い", "plain text but then ä", "😀😀😀😀😀😀"}) {
    Value v = world.text(text);
    CHECK_FALSE(is_ascii_string(v));
    size_t at = 0;
    uint64_t count = 0;
    while (at < text.size()) {
      size_t from = at;
      uint32_t scalar = decode_scalar(text, at);
      check_scalar(world.heap, v, count, from, scalar);
      CHECK(bytes_of(string_at(world.heap, v, count)) == text.substr(from, at - from));
      if (at == text.size()) CHECK(bytes_of(string_back(v)) == text.substr(from));
      Borrowed made = make_scalar(scalar);
      CHECK(bytes_of(made) == text.substr(from, at - from));
      ++count;
    }
    CHECK(string_length(v) == count);
    CHECK(byte_offset(world.heap, v, count, at));
    CHECK(at == text.size());
  }
}

namespace {

// Scalars of all lengths, so that some stand across the borders of portions.
std::string mixed(size_t bytes) {
  std::string text;
  for (uint32_t i = 0; text.size() < bytes; ++i) {
    constexpr const char* kScalars[] = {"a", "ä", "€", "😀", "zz"};
    text += kScalars[i * i % 7 % 5];
  }
  return text;
}

}  // namespace

TEST_CASE("string: a long one that is not ASCII is counted when it is made, however it is made") {
  World world;
  const std::string text = mixed(kCounted + 1000), half = text.substr(0, text.size() / 2);
  const auto is_counted = [&](const Value& v, std::string_view bytes) {
    REQUIRE(v->is(Tag::Str));
    CHECK(v->as<Str>()->scalars == count_scalars(bytes));
    CHECK(bytes_of(v) == bytes);
  };
  is_counted(world.text(text), text);
  is_counted(concatenate(world.heap, world.text(text), world.text("more")), text + "more");
  is_counted(concatenate(world.heap, world.text(text), world.text("ä, and more than a word")), text + "ä, and more than a word");
  Value pieces = world.text("this is ASCII, and grows");
  std::string model(bytes_of(pieces));
  while (model.size() < kCounted + 100) {
    const std::string_view piece = model.size() < kCounted / 2 ? "just as long as that, and longer" : "ä";
    for (int i = 0; i < 1000; ++i) {
      pieces = concatenate(world.heap, std::move(pieces), world.text(piece));
      model += piece;
    }
  }
  is_counted(pieces, model);
  pieces = concatenate(world.heap, std::move(pieces), Value::copy(pieces));
  is_counted(pieces, model + model);
  StringBuilder builder(world.heap);
  for (int i = 0; i < 3; ++i) builder.append(text);
  is_counted(builder.finish(), text + text + text);
  CHECK(world.text(std::string(kCounted, 'a'))->as<Str>()->ascii());
}

TEST_CASE("string: scalars of a long one, from portion to portion") {
  World world;
  const std::string text = mixed(3 * kCounted + 77);
  const Value v = world.text(text);
  uint64_t index = 0;
  for (size_t at = 0; at < text.size(); ++index) {
    const size_t from = at;
    const uint32_t scalar = decode_scalar(text, at);
    const bool is_near_a_border = (from + 8) % kCounted < 16;
    if (!is_near_a_border && index % 50021 != 0) continue;
    check_scalar(world.heap, v, index, from, scalar);
    CHECK(bytes_of(substring(world.heap, v, index, string_length(v))) == text.substr(from));
    if (index > 0) CHECK(bytes_of(substring(world.heap, v, 1, index + 1)) == text.substr(1, at - 1));  // "a" is the first
  }
  CHECK(index == string_length(v));
}

namespace {

// Every scalar is where it is in the bytes, in whatever order they are asked for.
void check_each_scalar(const Heap& heap, const Value& v) {
  const std::string text(bytes_of(v));
  std::vector<size_t> offsets;
  for (size_t at = 0; at < text.size(); decode_scalar(text, at)) offsets.push_back(at);
  offsets.push_back(text.size());
  REQUIRE(string_length(v) == offsets.size() - 1);
  for (size_t i = 0; i < offsets.size(); ++i) {
    const size_t index = i * 7919 % offsets.size();
    size_t offset = 0;
    REQUIRE(byte_offset(heap, v, index, offset));
    REQUIRE(offset == offsets[index]);
  }
}

bool has_milestones(const Value& v) { return v->is(Tag::Str) && v->as<Str>()->flags & Str::kMilestones; }

}  // namespace

// An index into a text that is not ASCII took a walk up to there each time.
TEST_CASE("string: a long one that is not ASCII has milestones, however it is made, and they are right") {
  World world;
  Heap& heap = world.heap;
  for (size_t size = 200; size < 1500; size += size / 9) {
    const std::string text = mixed(size);
    const Value v = world.text(text);
    if (size >= 256) CHECK(has_milestones(v));
    check_each_scalar(heap, v);
    const Value joined = concatenate(heap, Value::copy(v), v);
    CHECK(has_milestones(joined));
    check_each_scalar(heap, joined);
    StringBuilder builder(heap);
    for (int i = 0; i < 3; ++i) builder.append(text);
    const Value built = builder.finish();
    CHECK(has_milestones(built));
    check_each_scalar(heap, built);
    check_each_scalar(heap, substring(heap, built, 1, string_length(built) - 1));
  }
  CHECK_FALSE(has_milestones(world.text(std::string(5000, 'a'))));
}

TEST_CASE("string: milestones hold while the text grows where it is, and none is lost to what is appended") {
  World world;
  Heap& heap = world.heap;
  for (const std::string piece : {"ä", "a", "€uro, more than a word", "plain, and more than a word"}) {
    for (size_t ascii : {0, 5, 250, 300, 1000, 5000}) {
      Value v = world.text(std::string(ascii, '.') + "a text of more than a word");
      v = concatenate(heap, std::move(v), world.text("ü"));
      if (ascii >= 250) CHECK(has_milestones(v));
      for (int i = 0; i < 3000; ++i) {
        v = concatenate(heap, std::move(v), world.text(piece));
        uint32_t scalar;
        if (i % 3 == 0) REQUIRE(scalar_at(heap, v, string_length(v) - 1, scalar));
        if (i % 500 == 0) check_each_scalar(heap, v);
      }
      CHECK(has_milestones(v));
      check_each_scalar(heap, v);
    }
  }
}

TEST_CASE("string: milestones are made once, as far as somebody has looked, and go on being there as the text grows") {
  World world;
  Value v = world.text(mixed(10'000));
  const auto made_by = [&](uint64_t index) {
    size_t offset;
    REQUIRE(byte_offset(world.heap, v, index, offset));
    return milestones_made(v->as<Str>());
  };
  CHECK(milestones_made(v->as<Str>()) == 0);
  CHECK(made_by(63) == 0);
  CHECK(made_by(64) == 1);
  CHECK(made_by(1000) == 15);
  CHECK(made_by(100) == 15);
  v = concatenate(world.heap, std::move(v), world.text("ä piece, for which it has to move"));
  made_by(2000);
  v = concatenate(world.heap, std::move(v), world.text("ä piece, for which there is room"));
  CHECK(milestones_made(v->as<Str>()) == 31);
  CHECK(made_by(string_length(v)) == string_length(v) / 64);
}

// `s += "ä"` with `len(s)` in a loop counted the whole text each time.
TEST_CASE("string: the length of one that is not ASCII stays known as it grows, once it has been asked for") {
  World world;
  std::string model = mixed(1000);
  Value v = world.text(model);
  CHECK(v->as<Str>()->scalars == Str::kUncounted);
  string_length(v);
  for (const std::string piece : {"ä", "aä", "€uro, more than a word", "plain", "plain, and more than a word"}) {
    for (int i = 0; i < 100; ++i) {
      v = concatenate(world.heap, std::move(v), world.text(piece));
      model += piece;
      CHECK(v->as<Str>()->scalars == count_scalars(model));
    }
  }
}

TEST_CASE("string: several threads find scalars of a shared one at the same time") {
  World world;
  const std::string text = mixed(200'000);
  const Value v = world.text(text);
  share(v);
  std::vector<size_t> offsets;
  for (size_t at = 0; at < text.size(); decode_scalar(text, at)) offsets.push_back(at);
  std::atomic<int> wrong = 0;
  const auto look = [&](size_t stride) {
    for (size_t i = 0; i < offsets.size(); ++i) {
      const size_t index = i * stride % offsets.size();
      size_t offset = 0;
      if (!byte_offset(world.heap, v, index, offset) || offset != offsets[index]) ++wrong;
    }
  };
  std::thread forward(look, 1), here_and_there(look, 7919);
  look(127);
  forward.join();
  here_and_there.join();
  CHECK(wrong == 0);
}

TEST_CASE("string: one without room for milestones is walked") {
  World world;
  const std::string text = mixed(3000);
  Value v = world.text(text);
  v->as<Str>()->flags &= static_cast<uint8_t>(~Str::kMilestones);
  check_each_scalar(world.heap, v);
}

TEST_CASE("string: substrings by scalars") {
  World world;
  std::string text;
  for (int i = 0; i < 50; ++i) text += i % 3 == 0 ? "ä" : i % 3 == 1 ? "x" : "😀";
  Value v = world.text(text);
  for (uint64_t from = 0; from <= 50; from += 7) {
    for (uint64_t to = from; to <= 50; to += 5) {
      size_t begin = offset_of_scalar(text, from), end = offset_of_scalar(text, to);
      CHECK(bytes_of(substring(world.heap, v, from, to)) == text.substr(begin, end - begin));
    }
  }
  Value whole = substring(world.heap, v, 0, 50);
  CHECK(whole->object() == v->object());
}

TEST_CASE("string: concatenation extends a unique left string in place") {
  World world;
  std::string expected;
  Value s = world.text("");
  for (int i = 0; i < 10000; ++i) {
    std::string piece = i % 100 == 0 ? "ä" : std::string(1, static_cast<char>('a' + i % 26));
    s = concatenate(world.heap, std::move(s), world.text(piece));
    expected += piece;
  }
  CHECK(bytes_of(s) == expected);
  CHECK(string_length(s) == 10000);
  CHECK_FALSE(is_ascii_string(s));
  CHECK(world.heap.stats().allocations < 100);
  Value kept = Value::copy(s);
  Value longer = concatenate(world.heap, std::move(s), world.text("!"));
  CHECK(bytes_of(kept) == expected);
  CHECK(bytes_of(longer) == expected + "!");
}

TEST_CASE("string: concatenation of a string with itself") {
  World world;
  Value s = world.text("abcdefghijklmnopqrst");
  Borrowed view = s.view();
  Value doubled = concatenate(world.heap, Value::copy(s), view);
  CHECK(bytes_of(doubled) == "abcdefghijklmnopqrstabcdefghijklmnopqrst");
  // The caller may hand over the only reference and still name it on the right.
  Value same = concatenate(world.heap, std::move(s), view);
  CHECK(bytes_of(same) == "abcdefghijklmnopqrstabcdefghijklmnopqrst");
}

TEST_CASE("string: pieces around the short limit") {
  World world;
  for (size_t a = 0; a <= 20; ++a) {
    for (size_t b = 0; b <= 20; ++b) {
      Value joined =
          concatenate(world.heap, world.text(std::string(a, 'a')), world.text(std::string(b, 'b')));
      CHECK(joined->is_short_string() == (a + b <= kMaxShort));
      CHECK(bytes_of(joined) == std::string(a, 'a') + std::string(b, 'b'));
      CHECK(equal(joined, world.text(std::string(a, 'a') + std::string(b, 'b'))));
    }
  }
}

TEST_CASE("string: hashes agree with equality and survive in-place growth") {
  World world;
  Value s = world.text("0123456789abcdef");
  uint64_t before = string_hash(s);
  CHECK(before == string_hash(world.text("0123456789abcdef")));
  s = concatenate(world.heap, std::move(s), world.text("x"));
  CHECK(string_hash(s) != before);
  CHECK(string_hash(s) == string_hash(world.text("0123456789abcdefx")));
  for (size_t n = 15; n < 80; ++n) {
    std::string text(n, 'z');
    for (size_t i = 0; i < n; ++i) {
      std::string other = text;
      other[i] = 'y';
      CHECK(string_hash(world.text(text)) != string_hash(world.text(other)));
    }
  }
}

TEST_CASE("string: validity of UTF-8") {
  CHECK(is_valid_utf8(""));
  CHECK(is_valid_utf8("plain ascii, longer than eight bytes"));
  CHECK(is_valid_utf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"));
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "abcdefgh\xff", "\xf0\x9f\x98", "\xe2\x82x"}) {
    CHECK_FALSE(is_valid_utf8(bad));
  }
}

TEST_CASE("string: lossy making replaces each broken piece by U+FFFD") {
  World world;
  CHECK(bytes_of(make_string_lossy(world.heap, "ok")) == "ok");
  CHECK(bytes_of(make_string_lossy(world.heap, "a\xff\xfe b")) == "a\xef\xbf\xbd\xef\xbf\xbd b");
  CHECK(bytes_of(make_string_lossy(world.heap, "\xf0\x9f\x98z")) == "\xef\xbf\xbdz");
  CHECK(bytes_of(make_string_lossy(world.heap, "\xed\xa0\x80")) ==
        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("string: every scalar encodes to what decodes to it") {
  for (uint32_t scalar = 0; scalar < 0x110000; scalar += scalar < 0x3000 ? 1 : 251) {
    if (scalar >= 0xd800 && scalar < 0xe000) continue;
    char bytes[4];
    size_t n = encode_scalar(scalar, bytes);
    CHECK(is_valid_utf8({bytes, n}));
    size_t at = 0;
    CHECK(decode_scalar({bytes, n}, at) == scalar);
    CHECK(at == n);
  }
}

TEST_CASE("builder: text of any size") {
  World world;
  for (size_t n : {0, 1, 14, 15, 255, 256, 257, 5000, 100000}) {
    StringBuilder out(world.heap);
    std::string expected;
    while (expected.size() + 3 <= n) {
      out.append("abc");
      expected += "abc";
    }
    while (expected.size() < n) {
      out.append('x');
      expected += 'x';
    }
    CHECK(out.view() == expected);
    Value v = out.finish();
    CHECK(bytes_of(v) == expected);
    CHECK(is_ascii_string(v));
    CHECK(out.view().empty() == (n > 256 || n == 0));
  }
  StringBuilder out(world.heap);
  out.append(1000, '-');
  out.append(std::string_view());
  CHECK(out.view() == std::string(1000, '-'));
}

TEST_CASE("builder: short strings of every size, at every distance from the end of what there is room for") {
  World world;
  const std::string_view text = "14 bytes, \xc3\xa4\xc3\xb6";
  REQUIRE(text.size() == kMaxShort);
  for (size_t before = 220; before <= 260; ++before) {
    for (size_t size = 0; size <= kMaxShort; ++size) {
      StringBuilder out(world.heap);
      out.append(before, '-');
      out.append_short(make_short(text.substr(0, size)));
      out.append_short(make_short("|"));
      CHECK(out.view() == std::string(before, '-').append(text.substr(0, size)) + "|");
    }
  }
}

TEST_CASE("builder: stops for good when memory runs out") {
  World world;
  world.heap.set_limit_bytes(10000);
  StringBuilder out(world.heap);
  for (int i = 0; i < 100000; ++i) out.append("0123456789");
  CHECK(out.failed());
  CHECK(out.view().size() < 10000);
  out.append('x');
  CHECK(out.finish().failed());
}

TEST_CASE("string: failing allocations leak nothing") {
  World world;
  std::string text(3000, 'x');
  fail_each_allocation(world, [&] { return !make_string(world.heap, text).failed(); });
  fail_each_allocation(world, [&] { return !make_string(world.heap, mixed(3000)).failed(); });
  Value shared = world.text("a long string that is shared");
  fail_each_allocation(world, [&] {
    Value joined = concatenate(world.heap, Value::copy(shared), world.text("short"));
    CHECK(bytes_of(shared) == "a long string that is shared");
    return !joined.failed();
  });
  fail_each_allocation(world, [&] {
    StringBuilder out(world.heap);
    for (int i = 0; i < 500; ++i) out.append("12345678");
    return !out.finish().failed();
  });
}
