// Messages and their ring: what is moved, copied, boxed, destroyed, and that each happens once.
#include "sched/graph/message.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sched/graph/ring.h"

using namespace posset::sched::graph;

namespace {

// Counts itself.
template <size_t Bytes>
struct Counted {
  explicit Counted(int v) : value(v) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive, ++copies; }
  Counted(Counted&& other) noexcept : value(other.value) { ++alive; }
  ~Counted() { --alive; }
  int value;
  char padding[Bytes] = {};
  static inline int alive = 0;
  static inline int copies = 0;
};
using Small = Counted<1>;
using Big = Counted<100>;

// A reference counted value of 16 bytes, as a language has them.
struct Value {
  explicit Value(int* c) : count(c) { ++*count; }
  Value(const Value& other) : tag(other.tag), count(other.count) { ++*count; }
  Value(Value&& other) noexcept : tag(other.tag), count(std::exchange(other.count, nullptr)) {}
  ~Value() {
    if (count) --*count;
  }
  int64_t tag = 7;
  int* count;
};
static_assert(sizeof(Value) == 16);

}  // namespace

namespace posset::sched::graph {
template <>
inline constexpr bool kMovesAsBytes<Value> = true;
}

TEST_CASE("graph message: what a host sends most lies in the message itself") {
  static_assert(sizeof(Message) == 40);
  CHECK(kFitsInMessage<int>);
  CHECK(kFitsInMessage<std::string>);
  CHECK(kFitsInMessage<std::vector<int>>);
  CHECK(kFitsInMessage<std::shared_ptr<int>>);
  CHECK(kFitsInMessage<Value>);
  CHECK_FALSE(kFitsInMessage<Big>);
}

TEST_CASE_TEMPLATE("graph message: an object is destroyed once, however it travels", T, Small, Big) {
  T::alive = T::copies = 0;
  {
    Message one = Message::of<T>(T(5));
    CHECK(T::alive == 1);
    Message two = std::move(one);
    CHECK(one.empty());
    CHECK(two.is<T>());
    CHECK(two.get<T>().value == 5);
    Message three;
    three = std::move(two);
    three = three.copy();
    CHECK(T::alive == 1);
    CHECK(T::copies == 1);
    CHECK(three.take<T>().value == 5);
    CHECK(three.empty());
    CHECK(T::alive == 0);
    Message four = Message::of<T>(T(6));
  }
  CHECK(T::alive == 0);
}

TEST_CASE("graph message: a value that moves as bytes keeps its count") {
  int count = 0;
  {
    Message message = Message::of<Value>(Value(&count));
    CHECK(count == 1);
    Message moved = std::move(message);
    Message copy = moved.copy();
    CHECK(count == 2);
    CHECK(copy.get<Value>().tag == 7);
  }
  CHECK(count == 0);
}

TEST_CASE("graph message: types have identities and names, and some cannot be copied") {
  CHECK(type_tag<int>() != type_tag<unsigned>());
  CHECK(type_name(type_tag<int>()) == "int");
  CHECK(type_name(kAnyType) == "anything");
  CHECK_FALSE(static_cast<bool>(type_tag<std::unique_ptr<int>>()->copy));
  CHECK(static_cast<bool>(type_tag<std::string>()->copy));
  Message text = Message::of<std::string>("a text that is too long for the short form of strings");
  Message other = std::move(text);
  CHECK(other.get<std::string>() == "a text that is too long for the short form of strings");
}

TEST_CASE("graph ring: first in, first out, across its end and while it grows") {
  MessageRing ring;
  int next_in = 0, next_out = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < round % 13; ++i) ring.push(Message::of<int>(next_in++));
    for (int i = 0; i < round % 11 && !ring.empty(); ++i) CHECK(ring.pop().get<int>() == next_out++);
  }
  CHECK(static_cast<int>(ring.size()) == next_in - next_out);
  if (!ring.empty()) CHECK(ring.back().get<int>() == next_in - 1);
  while (!ring.empty()) CHECK(ring.pop().get<int>() == next_out++);
  CHECK(next_out == next_in);
}

TEST_CASE("graph ring: clearing destroys what is in it") {
  Small::alive = 0;
  MessageRing ring;
  for (int i = 0; i < 20; ++i) ring.push(Message::of<Small>(Small(i)));
  CHECK(Small::alive == 20);
  ring.clear();
  CHECK(Small::alive == 0);
  CHECK(ring.empty());
}
