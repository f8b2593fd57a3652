// Conversions of C++ containers: vectors, spans, maps, tuples and pairs, optionals. A part of posset.hpp, which is
// what to include.
//
// Containers are recognised by their members, so that this header draws in none of theirs: anything with
// `key_type`, `mapped_type` and `emplace` is a map, anything made of a pointer and a size a span.
//
//   vector<T>           list, copied; of doubles and int64_t in one go
//   span<const double>  list of floats, span<const int64_t> of ints; a script's list is seen where it stands: as an
//                       argument during the call, from Value::to as long as that Value is (View::Content). An argument that
//                       is stored otherwise, or has ints for doubles, is seen as an equal list that takes its place
//   map<K, V>           map, in the order of the container
//   tuple, pair         list of that many
//   optional<T>         T or nil
//
// Containers of string views are made into values, but not read from them: elements are looked at one at a time.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpp_value.hpp"

namespace posset {

namespace detail {

template <class T>
inline constexpr bool is_packed_number = std::is_same_v<T, double> || std::is_same_v<T, int64_t>;

inline bool packed(const posset_value& list, const double** data, uint64_t* count) {
  return posset_list_floats(list, data, count);
}
inline bool packed(const posset_value& list, const int64_t** data, uint64_t* count) {
  return posset_list_ints(list, data, count);
}
inline posset_status make_list(posset_context* context, const double* data, uint64_t count,
                               posset_value* out) {
  return posset_list_of_floats(context, data, count, out);
}
inline posset_status make_list(posset_context* context, const int64_t* data, uint64_t count,
                               posset_value* out) {
  return posset_list_of_ints(context, data, count, out);
}

// Gives up what was half made.
inline posset_status made_or_released(posset_status status, posset_value* out) {
  if (status != POSSET_OK) posset_release(std::exchange(*out, posset_nil()));
  return status;
}

template <class T>
posset_status push_item(posset_context* context, const T& item, posset_value* list) {
  posset_value made = posset_nil();
  const posset_status status = ConvertOf<T>::to(context, item, &made);
  return status == POSSET_OK ? posset_list_push(context, list, made) : status;
}

// The view of what holds several things.
template <class... T>
constexpr View widest_view() {
  View widest = View::None;
  ((widest = view_of<T> > widest ? view_of<T> : widest), ...);
  return widest;
}
// Of an element that is read from a variable that goes.
template <class T>
constexpr void expect_readable_element() {
  static_assert(view_of<T> != View::Place, "the bytes may stand inside the element: take a std::string");
}

template <class S>
concept SpanLike = requires {
  typename S::element_type;
  S::extent;
} && std::is_constructible_v<S, typename S::element_type*, size_t> &&
    is_packed_number<std::remove_const_t<typename S::element_type>>;

template <class M>
concept MapLike = requires(M m) {
  typename M::key_type;
  typename M::mapped_type;
  m.emplace(std::declval<typename M::key_type>(), std::declval<typename M::mapped_type>());
};

}  // namespace detail

template <class T>
struct Convert<std::vector<T>> {
  static constexpr const char* name = "list";
  static constexpr View view = detail::view_of<T>;
  static bool from(posset_context* context, const posset_value& v, std::vector<T>& out) {
    detail::expect_readable_element<T>();
    if (!posset_is(v, POSSET_LIST)) return false;
    if constexpr (detail::is_packed_number<T>) {
      const T* data = nullptr;
      uint64_t count = 0;
      if (detail::packed(v, &data, &count)) return out.assign(data, data + count), true;
    }
    out.clear();
    out.reserve(posset_list_size(v));
    for (uint64_t i = 0; i < posset_list_size(v); ++i) {
      posset_value item = posset_list_at(v, i);
      T element{};
      if (!detail::ConvertOf<T>::from(context, item, element)) return false;
      out.push_back(std::move(element));
    }
    return true;
  }
  static std::string expected(posset_context* context, const posset_value& v) {
    return posset_is(v, POSSET_LIST) ? "list of " + detail::name_of<T>(context) : name;
  }
  static bool find_misfit(posset_context* context, const posset_value& v, detail::Misfit& out) {
    const uint64_t count = posset_is(v, POSSET_LIST) ? posset_list_size(v) : 0;
    for (uint64_t i = 0; i < count; ++i)
      if (detail::is_misfit<T>(context, posset_list_at(v, i), posset_int(static_cast<int64_t>(i)), out)) return true;
    return false;
  }
  static posset_status to(posset_context* context, const std::vector<T>& items, posset_value* out) {
    if constexpr (detail::is_packed_number<T>)
      return detail::make_list(context, items.data(), items.size(), out);
    posset_status status = posset_list(context, items.size(), out);
    for (size_t i = 0; status == POSSET_OK && i < items.size(); ++i)
      status = detail::push_item<T>(context, items[i], out);
    return detail::made_or_released(status, out);
  }
};

template <detail::SpanLike S>
struct Convert<S> {
  using Item = std::remove_const_t<typename S::element_type>;
  static constexpr const char* name =
      std::is_same_v<Item, double> ? "list of floats" : "list of ints";
  static constexpr View view = View::Content;
  static bool from(posset_context*, const posset_value& v, S& out) {
    static_assert(std::is_const_v<typename S::element_type>, "a script's list is only read: span<const T>");
    const Item* data = nullptr;
    uint64_t count = 0;
    if (!posset_is(v, POSSET_LIST) || !detail::packed(v, &data, &count)) return false;
    out = S(data, static_cast<size_t>(count));
    return true;
  }
  // An argument that is stored otherwise is replaced; a Value, which others may see, is not.
  static std::string expected(posset_context*, const posset_value& v) {
    return std::string(name) + (posset_is(v, POSSET_LIST) ? " that is stored so (a std::vector takes any)" : "");
  }
  static bool find_misfit(posset_context*, const posset_value& v, detail::Misfit& out) {
    constexpr posset_kind kKind = std::is_same_v<Item, double> ? POSSET_FLOAT : POSSET_INT;
    const uint64_t count = posset_is(v, POSSET_LIST) ? posset_list_size(v) : 0;
    for (uint64_t i = 0; i < count; ++i) {
      const posset_value item = posset_list_at(v, i);
      if (posset_is(item, kKind)) continue;
      out = {item, true, posset_int(static_cast<int64_t>(i)), kKind == POSSET_FLOAT ? "float" : "int"};
      return true;
    }
    return false;
  }
  static posset_status to(posset_context* context, const S& items, posset_value* out) {
    return detail::make_list(context, items.data(), items.size(), out);
  }
};

template <detail::MapLike M>
struct Convert<M> {
  using Key = typename M::key_type;
  using Mapped = typename M::mapped_type;
  static constexpr const char* name = "map";
  static constexpr View view = detail::widest_view<Key, Mapped>();
  static bool from(posset_context* context, const posset_value& v, M& out) {
    detail::expect_readable_element<Key>();
    detail::expect_readable_element<Mapped>();
    if (!posset_is(v, POSSET_MAP)) return false;
    out = M();
    uint64_t at = 0;
    posset_value key, value;
    while (posset_map_next(v, &at, &key, &value)) {
      Key k{};
      Mapped m{};
      if (!detail::ConvertOf<Key>::from(context, key, k) || !detail::ConvertOf<Mapped>::from(context, value, m)) return false;
      out.emplace(std::move(k), std::move(m));
    }
    return true;
  }
  static std::string expected(posset_context* context, const posset_value& v) {
    return posset_is(v, POSSET_MAP) ? "map of " + detail::name_of<Key>(context) + " to " + detail::name_of<Mapped>(context) : name;
  }
  static bool find_misfit(posset_context* context, const posset_value& v, detail::Misfit& out) {
    uint64_t at = 0;
    posset_value key, value;
    while (posset_is(v, POSSET_MAP) && posset_map_next(v, &at, &key, &value)) {
      if (detail::is_misfit<Key>(context, key, posset_nil(), out) || detail::is_misfit<Mapped>(context, value, key, out)) return true;
    }
    return false;
  }
  static posset_status to(posset_context* context, const M& items, posset_value* out) {
    posset_status status = posset_map(context, items.size(), out);
    for (auto each = items.begin(); status == POSSET_OK && each != items.end(); ++each) {
      posset_value key = posset_nil(), value = posset_nil();
      status = detail::ConvertOf<Key>::to(context, each->first, &key);
      if (status == POSSET_OK) status = detail::ConvertOf<Mapped>::to(context, each->second, &value);
      if (status == POSSET_OK) {
        status = posset_map_set(context, out, key, value);
      } else {
        posset_release(key);
      }
    }
    return detail::made_or_released(status, out);
  }
};

template <class T>
struct Convert<std::optional<T>> {
  using ReadAs = std::decay_t<T>;
  static constexpr const char* name = detail::ConvertOf<T>::name;
  static constexpr View view = detail::view_of<T>;
  static bool from(posset_context* context, const posset_value& v, std::optional<T>& out) {
    out.reset();
    return posset_is_nil(v) || detail::ConvertOf<T>::from(context, v, out.emplace());
  }
  static posset_status to(posset_context* context, const std::optional<T>& item, posset_value* out) {
    *out = posset_nil();
    return item ? detail::ConvertOf<T>::to(context, *item, out) : POSSET_OK;
  }
};

template <class... T>
struct Convert<std::tuple<T...>> {
  static constexpr const char* name = "list";
  static constexpr View view = detail::widest_view<T...>();
  static bool from(posset_context* context, const posset_value& v, std::tuple<T...>& out) {
    if (!posset_is(v, POSSET_LIST) || posset_list_size(v) != sizeof...(T)) return false;
    return std::apply(
        [&](T&... item) {
          uint64_t i = 0;
          return (read(context, posset_list_at(v, i++), item) && ...);
        },
        out);
  }
  static std::string expected(posset_context*, const posset_value& v) {
    return posset_is(v, POSSET_LIST) ? "list of " + std::to_string(sizeof...(T)) : name;
  }
  static bool find_misfit(posset_context* context, const posset_value& v, detail::Misfit& out) {
    if (!posset_is(v, POSSET_LIST) || posset_list_size(v) != sizeof...(T)) return false;
    int64_t i = -1;
    return ((++i, detail::is_misfit<T>(context, posset_list_at(v, static_cast<uint64_t>(i)), posset_int(i), out)) || ...);
  }
  static posset_status to(posset_context* context, const std::tuple<T...>& items, posset_value* out) {
    posset_status status = posset_list(context, sizeof...(T), out);
    std::apply(
        [&](const T&... item) {
          ((status = status == POSSET_OK ? detail::push_item<T>(context, item, out) : status), ...);
        },
        items);
    return detail::made_or_released(status, out);
  }

 private:
  template <class Item>
  static bool read(posset_context* context, posset_value v, Item& out) {
    detail::expect_readable_element<Item>();
    return detail::ConvertOf<Item>::from(context, v, out);
  }
};

template <class A, class B>
struct Convert<std::pair<A, B>> {
  using ReadAs = std::tuple<A, B>;
  static constexpr const char* name = "list";
  static constexpr View view = detail::widest_view<A, B>();
  static bool from(posset_context* context, const posset_value& v, std::pair<A, B>& out) {
    std::tuple<A, B> both;
    if (!Convert<std::tuple<A, B>>::from(context, v, both)) return false;
    out = {std::move(std::get<0>(both)), std::move(std::get<1>(both))};
    return true;
  }
  static posset_status to(posset_context* context, const std::pair<A, B>& both, posset_value* out) {
    return Convert<std::tuple<A, B>>::to(context, std::tuple<A, B>(both.first, both.second), out);
  }
};

// A function that a host function is given, to be kept or called. An empty one is none, and raises; nil is given as nullptr or
// an empty std::optional.
template <class R, class... Args>
struct Convert<Function<R(Args...)>> {
  static constexpr const char* name = "fn";
  static bool from(posset_context* context, const posset_value& v, Function<R(Args...)>& out) {
    if (!posset_is_callable(v)) return false;
    out = Function<R(Args...)>(Value::copy(context, v));
    return true;
  }
  static posset_status to(posset_context* context, const Function<R(Args...)>& function, posset_value* out) {
    if (!function.value().context())
      return posset_raise(context, POSSET_ERROR_HostError, posset_text_of("the host gives an empty posset::Function"));
    return Convert<Value>::to(context, function.value(), out);
  }
};

}  // namespace posset
