// The tokens of a text as an editor gets them: kinds, comments, what is unfinished or wrong.
#include <set>

#include "fixture.h"

using posset::test::str;
using posset::test::text;

namespace {

constexpr const char* kKinds[] = {"key", "name", "num", "text", "comment", "op", "error"};

struct Listing {
  std::string_view source;
  std::string out;
  size_t end = 0;
};

posset_status list(void* data, const posset_token_info* token) {
  auto& listing = *static_cast<Listing*>(data);
  CHECK(listing.end <= token->begin);
  CHECK(token->begin < token->end);
  listing.end = token->end;
  if (!listing.out.empty()) listing.out += ' ';
  listing.out += kKinds[token->kind];
  listing.out += '(' + std::string(listing.source.substr(token->begin, token->end - token->begin)) + ')';
  return POSSET_OK;
}

std::string tokens(std::string_view source) {
  Listing listing{source, {}};
  const posset_status status = posset_each_token(text(source), list, &listing);
  return status == POSSET_OK ? listing.out : posset_status_text(status);
}

posset_status collect(void* data, posset_text name) {
  CHECK(static_cast<std::set<std::string>*>(data)->insert(str(name)).second);
  return POSSET_OK;
}

}  // namespace

TEST_CASE("tokens have their kinds") {
  CHECK(tokens("let x = -1.5e3 + f(0xff)") ==
        "key(let) name(x) op(=) op(-) num(1.5e3) op(+) name(f) op(() num(0xff) op())");
  CHECK(tokens("not nil |> 'raw'") == "key(not) key(nil) op(|>) text('raw')");
  CHECK(tokens("").empty());
  CHECK(tokens(" \t\r\n").empty());
}

TEST_CASE("comments are tokens of an editor") {
  CHECK(tokens("# one\n1 # two # three\n#") == "comment(# one) num(1) comment(# two # three) comment(#)");
  CHECK(tokens("\"a # b\" # c") == "text(\"a # b\") comment(# c)");
}

TEST_CASE("strings come with their interpolations in pieces") {
  CHECK(tokens(R"("a{x + 1:.2f}b{'c'}")") ==
        R"(text("a{) name(x) op(+) num(1) text(:.2f) text(}b{) text('c') text(}"))");
  CHECK(tokens("\"\"\"one\n# two\"\"\"") == "text(\"\"\"one\n# two\"\"\")");
}

TEST_CASE("strings without an end") {
  CHECK(tokens("1 + \"abc # d") == "num(1) op(+) text(\"abc # d)");
  CHECK(tokens("\"abc\nlet") == "text(\"abc) key(let)");
  CHECK(tokens("'abc\nlet") == "text('abc) key(let)");
  CHECK(tokens("\"a{x}b") == "text(\"a{) name(x) text(}b)");
  CHECK(tokens("\"a{x + ") == "text(\"a{) name(x) op(+)");
  CHECK(tokens("\"a{x:.2") == "text(\"a{) name(x) text(:.2)");
  CHECK(tokens("\"a{'b") == "text(\"a{) text('b)");
  CHECK(tokens("\"\"\"a\nb # c") == "text(\"\"\"a\nb # c)");
  CHECK(tokens("\"") == "text(\")");
}

TEST_CASE("what is no part of the language") {
  CHECK(tokens("a && b") == "name(a) error(&&) name(b)");
  CHECK(tokens("a @ b") == "name(a) error(@) name(b)");
  CHECK(tokens("1 \\ 2") == "num(1) error(\\) num(2)");
  CHECK(tokens("1\u00a02") == "num(1) error(\u00a0) num(2)");
  CHECK(tokens("12ab 017") == "num(12ab) num(017)");
  CHECK(tokens("\xEF\xBB\xBF" "1") == "num(1)");
  CHECK(tokens("a\xff") == posset_status_text(POSSET_INVALID));
  CHECK(tokens(std::string_view("a\0", 2)) == posset_status_text(POSSET_INVALID));
}

TEST_CASE("type is a keyword where it begins a declaration") {
  CHECK(tokens("type A = B") == "key(type) name(A) op(=) name(B)");
  CHECK(tokens("type(1)") == "name(type) op(() num(1) op())");
  CHECK(tokens("type\nA") == "name(type) name(A)");
  CHECK(tokens("type") == "name(type)");
}

TEST_CASE("a visitor of tokens can stop") {
  int seen = 0;
  auto stop = [](void* data, const posset_token_info*) {
    return ++*static_cast<int*>(data) == 2 ? POSSET_DONE : POSSET_OK;
  };
  CHECK(posset_each_token(text("a b c"), stop, &seen) == POSSET_OK);
  CHECK(seen == 2);
  auto fail = [](void*, const posset_token_info*) { return POSSET_FULL; };
  CHECK(posset_each_token(text("# a"), fail, nullptr) == POSSET_FULL);
  CHECK(posset_each_token(text("a"), nullptr, nullptr) == POSSET_MISUSE);
}

TEST_CASE("keywords are visited once each") {
  std::set<std::string> found;
  CHECK(posset_each_keyword(collect, &found) == POSSET_OK);
  for (const char* word : {"let", "spawn", "await", "nil", "type"}) CHECK(found.count(word) == 1);
  for (const std::string& word : found) CHECK(tokens(word + " a") == "key(" + word + ") name(a)");
  CHECK(posset_each_keyword(nullptr, nullptr) == POSSET_MISUSE);
}
