// What travels through a graph: any C++ object, erased to 40 bytes. What fits into 32 bytes and moves without
// throwing lies in the message itself (a script's value, a string, a shared pointer, most records); anything
// bigger lies in a box of its own, one allocation for each message, and a host that minds sends a pointer into a
// pool instead. An erased type rather than a template parameter: one graph carries different types on different
// edges, script values beside objects of the host, and the scheduler is compiled once.
//
// A message is moved, never copied behind the sender's back; `copy` is for fan-out. The type tag is the identity of
// the C++ type within one program; ports compare tags when they are connected. Types that may be moved as plain
// bytes (`kMovesAsBytes`) cost a copy of 32 bytes for each hop and no call.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace posset::sched::graph {

// Whether an object may be moved by copying its bytes and forgetting the original. True of what holds no pointer into
// itself; a type that is not trivially copyable has to say so by a specialisation.
template <class T>
inline constexpr bool kMovesAsBytes = std::is_trivially_copyable_v<T>;

struct MessageType {
  const std::type_info* info;
  void (*move)(void* to, void* from) noexcept;  // leaves nothing at `from`; null: bytes will do
  void (*destroy)(void* at) noexcept;           // null: nothing to do
  void (*copy)(void* to, const void* from);     // null: the type cannot be copied
};

using TypeTag = const MessageType*;
constexpr TypeTag kAnyType = nullptr;  // of a port that takes everything

// As people write it; for error messages.
std::string type_name(TypeTag type);

class Message {
 public:
  static constexpr size_t kRoom = 32;

  Message() = default;
  Message(Message&& other) noexcept { take_over(other); }
  Message& operator=(Message&& other) noexcept {
    if (this != &other) {
      reset();
      take_over(other);
    }
    return *this;
  }
  ~Message() { reset(); }

  template <class T>
  static Message of(T value);

  bool empty() const { return type_ == nullptr; }
  TypeTag type() const { return type_; }
  template <class T>
  bool is() const;

  // The object; the message must be of that type.
  template <class T>
  T& get();
  template <class T>
  const T& get() const {
    return const_cast<Message*>(this)->get<T>();
  }
  // Moves the object out; the message is empty afterwards.
  template <class T>
  T take() {
    T value = std::move(get<T>());
    reset();
    return value;
  }

  // The type must be one that can be copied. May throw what the copy throws.
  Message copy() const {
    Message made;
    if (!type_) return made;
    assert(type_->copy);
    type_->copy(made.room_, room_);
    made.type_ = type_;
    return made;
  }

  void reset() {
    if (type_ && type_->destroy) type_->destroy(room_);
    type_ = nullptr;
  }

 private:
  void take_over(Message& other) noexcept {
    type_ = other.type_;
    if (!type_) return;
    if (type_->move) {
      type_->move(room_, other.room_);
    } else {
      std::memcpy(room_, other.room_, kRoom);
    }
    other.type_ = nullptr;
  }

  TypeTag type_ = nullptr;
  alignas(8) std::byte room_[kRoom];
};

// ---- how a type is treated ----

template <class T>
inline constexpr bool kFitsInMessage =
    sizeof(T) <= Message::kRoom && alignof(T) <= 8 && std::is_nothrow_move_constructible_v<T>;

namespace detail {

template <class T>
struct InPlace {
  static T* at(void* room) { return std::launder(static_cast<T*>(room)); }
  static void put(void* room, T&& value) { new (room) T(std::move(value)); }
  static void move(void* to, void* from) noexcept {
    new (to) T(std::move(*at(from)));
    at(from)->~T();
  }
  static void destroy(void* room) noexcept { at(room)->~T(); }
  static void copy(void* to, const void* from) { new (to) T(*at(const_cast<void*>(from))); }
  static constexpr bool kBytes = kMovesAsBytes<T>;
  static constexpr bool kNothingToDestroy = std::is_trivially_destructible_v<T>;
};

template <class T>
struct Boxed {
  static T* at(void* room) { return *std::launder(static_cast<T**>(room)); }
  static void put(void* room, T&& value) { new (room) T*(new T(std::move(value))); }
  static void move(void* to, void* from) noexcept { new (to) T*(at(from)); }
  static void destroy(void* room) noexcept { delete at(room); }
  static void copy(void* to, const void* from) { new (to) T*(new T(*at(const_cast<void*>(from)))); }
  static constexpr bool kBytes = true;
  static constexpr bool kNothingToDestroy = false;
};

template <class T>
using Storage = std::conditional_t<kFitsInMessage<T>, InPlace<T>, Boxed<T>>;

template <class T>
constexpr auto copy_of() -> void (*)(void*, const void*) {
  if constexpr (std::is_copy_constructible_v<T>) {
    return &Storage<T>::copy;
  } else {
    return nullptr;
  }
}

template <class T>
inline constexpr MessageType kType{
    &typeid(T),
    Storage<T>::kBytes ? nullptr : &Storage<T>::move,
    Storage<T>::kNothingToDestroy ? nullptr : &Storage<T>::destroy,
    copy_of<T>(),
};

}  // namespace detail

template <class T>
constexpr TypeTag type_tag() {
  return &detail::kType<T>;
}

template <class T>
Message Message::of(T value) {
  Message made;
  detail::Storage<T>::put(made.room_, std::move(value));
  made.type_ = type_tag<T>();
  return made;
}

template <class T>
bool Message::is() const {
  return type_ == type_tag<T>();
}

template <class T>
T& Message::get() {
  assert(is<T>());
  return *detail::Storage<T>::at(room_);
}

}  // namespace posset::sched::graph
