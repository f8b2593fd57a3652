// Host types in the C++ layer: a class becomes a type of scripts. A part of posset.hpp, which is what to include;
// host.h says what holds of types, properties, methods and the end of objects.
//
//   posset::Type<Player> type("Player", "Somebody who plays.");
//   type.property("health", &Player::health)                             // a member: read and stored
//       .property("name", [](const Player& p) { return p.name(); })      // a function: read only
//       .property("x", &Player::x, &Player::set_x)                       // two: read and stored
//       .property("id", posset::pure(&Player::id))                       // never changes: a `pure fn` may read it
//       .method("move", &Player::move)
//       .label([](const Player& p) { return p.name(); });                // <Player ann>
//   runtime.define(std::move(type));                                     // before the first context
//
//   context.set("player", std::make_shared<Player>("ann"));              // shared with the scripts
//   posset::Loan loan = context.lend(player);                            // the host's own, until the loan ends
//
// Lambdas for scripts take objects as `Player&` or `Player*` and give them as shared_ptr or unique_ptr. The host gets those of scripts
// back as Handle<Player>, or as `Player*` of a Value that it keeps, and passes its own to script functions as `Player&`.
//
// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>  // nanosleep: <thread> takes longer to compile than all the rest

#include <concepts>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpp_define.hpp"
#include "cpp_error.hpp"
#include "cpp_suspend.hpp"
#include "cpp_value.hpp"
#include "posset.h"

namespace posset {

namespace detail {

// `function` of an object, be it a member or something callable with one.
template <class T, class F, class... Args>
decltype(auto) apply_to(F& function, T& object, Args&&... args) {
  if constexpr (std::is_member_object_pointer_v<F>) {
    return (object.*function);
  } else if constexpr (std::is_member_function_pointer_v<F>) {
    return (object.*function)(std::forward<Args>(args)...);
  } else {
    return function(object, std::forward<Args>(args)...);
  }
}

// The result of a method that gives the object it was called on, to be called again: `a.add(1).add(2)`.
template <class T, class Given>
posset_status give_itself(posset_call* call, Given* given) {
  static_assert(std::is_base_of_v<std::remove_cv_t<Given>, T>,
                "a method gives references to its own object only: give others as std::shared_ptr or posset::Handle");
  if (static_cast<Given*>(static_cast<T*>(call->self)) != given)
    return raise_host_error(call->context, "the method gives a reference to another object than its own");
  call->result = posset_retain(call->self_value);
  return POSSET_OK;
}

// The entries of members of T: `call->data` is the function.
template <class T, class F>
struct MemberEntry {
  static posset_status get(posset_call* call) noexcept {
    return guarded(call->context, [&] {
      F& function = *static_cast<F*>(call->data);
      using Result = std::decay_t<decltype(apply_to(function, *static_cast<T*>(call->self)))>;
      return ConvertOf<Result>::to(call->context, apply_to(function, *static_cast<T*>(call->self)), &call->result);
    });
  }
  static posset_status method(posset_call* call) noexcept {
    using Result = typename Signature<F>::Result;
    return guarded(call->context, [&] {
      if constexpr (std::is_lvalue_reference_v<Result> && is_host_class<std::decay_t<Result>>) {
        std::remove_reference_t<Result>* given = nullptr;
        const posset_status status =
            run<void>(call, [&](auto&&... args) { given = &apply(call, std::forward<decltype(args)>(args)...); });
        return status == POSSET_OK ? give_itself<T>(call, given) : status;
      } else {
        return run<Result>(call, [&](auto&&... args) -> decltype(auto) { return apply(call, std::forward<decltype(args)>(args)...); });
      }
    });
  }

 private:
  template <class... Args>
  static decltype(auto) apply(posset_call* call, Args&&... args) {
    return apply_to(*static_cast<F*>(call->data), *static_cast<T*>(call->self), std::forward<Args>(args)...);
  }
  template <class Result, class Invoke>
  static posset_status run(posset_call* call, Invoke&& invoke) {
    using List = typename MethodArguments<F>::List;
    return call_with<Result>(call, List(), std::make_index_sequence<List::size>(), invoke);
  }
};
// Of a data member; Member is `M T::*`, or `M Base::*` of a base of T, which stays as it is: how to get to the base is no part of it.
template <class T, class Member>
struct StoreEntry {
  using M = std::remove_reference_t<decltype(std::declval<T&>().*std::declval<Member&>())>;
  static_assert(view_of<M> == View::None,
                "a member that scripts store into would be a view of an argument: make it a std::string or std::vector, "
                "or give the property a setter");
  static posset_status set(posset_call* call) noexcept {
    return guarded(call->context, [&] {
      ReadArgument<M> value;
      const posset_status status = value.read(call, 0);
      if (status == POSSET_OK) apply_to(*static_cast<Member*>(call->data), *static_cast<T*>(call->self)) = value.get();
      return status;
    });
  }
};

// The pair of functions of a property has one `data`.
template <class T, class G, class S>
struct AccessorPair {
  G getter;
  S setter;
  static posset_status get(posset_call* call) noexcept {
    posset_call inner = *call;
    inner.data = &static_cast<AccessorPair*>(call->data)->getter;
    return forward(call, inner, MemberEntry<T, G>::get);
  }
  static posset_status set(posset_call* call) noexcept {
    return guarded(call->context, [&] {
      S& function = static_cast<AccessorPair*>(call->data)->setter;
      using List = typename MethodArguments<S>::List;
      static_assert(List::size == 1, "a setter takes the object and the new value");
      auto invoke = [&](auto&& value) {
        (void)apply_to(function, *static_cast<T*>(call->self), std::forward<decltype(value)>(value));
      };
      return call_with<void>(call, List(), std::make_index_sequence<1>(), invoke);
    });
  }

 private:
  static posset_status forward(posset_call* call, posset_call& inner, posset_function entry) {
    const posset_status status = entry(&inner);
    call->result = inner.result;
    return status;
  }
};

struct Kept {
  virtual ~Kept() = default;
};
template <class T>
struct KeptOf final : Kept {
  explicit KeptOf(T given) : kept(std::move(given)) {}
  T kept;
};

}  // namespace detail

// A description of how scripts see a class. Give it to Runtime::define.
template <class T>
class Type {
  static_assert(is_host_type<T>, "a class that looks like a container is a host type when posset::is_host_type says so");

 public:
  explicit Type(std::string name, std::string doc = "") : name_(std::move(name)), doc_(std::move(doc)) {}

  // A data member, or a function of the object. Wrapped in posset::pure it is read only and never changes.
  template <class Given>
  Type& property(const char* name, Given getter, const char* doc = "") {
    using Unwrapped = detail::Unwrapped<Given>;
    using G = typename Unwrapped::Function;
    posset_property_row row = {};
    row.name = keep_text(name);
    row.doc = keep_text(doc);
    row.get = detail::MemberEntry<T, G>::get;
    row.pure = Unwrapped::is_pure;
    if constexpr (std::is_member_object_pointer_v<G> && !Unwrapped::is_pure) {
      using M = std::remove_reference_t<decltype(std::declval<T&>().*getter)>;
      if constexpr (!std::is_const_v<M>) row.set = detail::StoreEntry<T, G>::set;
    }
    row.data = keep(std::move(Unwrapped::of(getter)));
    properties_.push_back(row);
    return *this;
  }
  template <class G, class S>
    requires(!std::is_convertible_v<S, const char*>)
  Type& property(const char* name, G getter, S setter, const char* doc = "") {
    static_assert(!detail::Unwrapped<G>::is_pure && !detail::Unwrapped<S>::is_pure,
                  "a property that can be stored to changes: it cannot be pure");
    using Pair = detail::AccessorPair<T, G, S>;
    posset_property_row row = {};
    row.name = keep_text(name);
    row.doc = keep_text(doc);
    row.get = Pair::get;
    row.set = Pair::set;
    row.data = keep(Pair{std::move(getter), std::move(setter)});
    properties_.push_back(row);
    return *this;
  }
  // A member function, or a function whose first parameter is a T&; it may be wrapped in posset::pure and posset::may_yield.
  template <class Given>
  Type& method(const char* name, Given function, const char* doc = "") {
    using Unwrapped = detail::Unwrapped<Given>;
    using F = typename Unwrapped::Function;
    using Arguments = typename detail::MethodArguments<F>::List;
    return add_method<Arguments, Given>(name, std::move(Unwrapped::of(function)), doc, detail::MemberEntry<T, F>::method);
  }
  // One whose calls end later: a function of a Completion, a T&, and the arguments.
  template <class F>
  Type& method(const char* name, Suspending<F> function, const char* doc = "") {
    using Entry = detail::SuspendingMethod<T, F>;
    return add_method<typename Entry::Arguments, F>(name, std::move(function.function), doc, Entry::entry);
  }
  // What is printed behind the name; a lambda without captures that gives a text.
  template <class F>
  Type& label(F) {
    static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>, "a label captures nothing");
    label_ = [](const void* object, char* out, size_t capacity) noexcept -> size_t {
      try {
        const auto text = F()(*static_cast<const T*>(object));
        const std::string_view view(text);
        const size_t size = view.size() < capacity ? view.size() : capacity;
        std::memcpy(out, view.data(), size);
        return size;
      } catch (...) {
        return 0;
      }
    };
    return *this;
  }

  // Throws Misuse.
  void add_to(posset_runtime* runtime) && {
    posset_type_row row = posset_type_of(name_.c_str());
    row.doc = doc_.c_str();
    row.key = detail::type_key<T>();
    row.properties = properties_.data();
    row.property_count = properties_.size();
    row.methods = methods_.data();
    row.method_count = methods_.size();
    row.label = label_;
    row.data = new AllKept(std::move(kept_));
    row.drop = [](void* data) { delete static_cast<AllKept*>(data); };
    const posset_status status = posset_register_type(runtime, &row, nullptr);
    if (status != POSSET_OK) throw Misuse(status, "type " + name_);
  }

 private:
  using AllKept = std::vector<detail::Owner<detail::Kept, detail::Delete>>;

  template <class Arguments, class Given, class F>
  Type& add_method(const char* name, F function, const char* doc, posset_function entry) {
    posset_function_row row = {};
    detail::describe_arguments<Arguments>(row, keep_text(name), *keep(std::string()));
    row.doc = keep_text(doc);
    row.function = entry;
    detail::mark_row<Given>(row);
    row.data = keep(std::move(function));
    methods_.push_back(row);
    return *this;
  }

  // Until the runtime ends.
  template <class K>
  K* keep(K given) {
    kept_.emplace_back();  // a place first: without one nobody would own it
    auto* made = new detail::KeptOf<K>(std::move(given));
    kept_.back().reset(made);
    return &made->kept;
  }
  const char* keep_text(std::string text) { return keep(std::move(text))->c_str(); }

  std::string name_, doc_;
  std::vector<posset_property_row> properties_;
  std::vector<posset_function_row> methods_;
  AllKept kept_;
  size_t (*label_)(const void*, char*, size_t) = nullptr;
};

namespace detail {

// A handle of `object` for scripts; `owner` (a smart pointer) goes when the last of them has gone.
template <class T, class Owner>
posset_status make_object(posset_context* context, T* object, Owner owner, posset_value* out) {
  if (!object) {
    *out = posset_nil();
    return POSSET_OK;
  }
  const posset_type* type = nullptr;
  const posset_status status = posset_find_type(posset_context_runtime(context), type_key<T>(), &type);
  if (status != POSSET_OK) return status;
  posset_object made = posset_object_of(object);
  made.bytes = sizeof(T);
  made.data = new Owner(std::move(owner));
  made.drop = [](void* data) { delete static_cast<Owner*>(data); };
  return posset_host(context, type, &made, out);
}

template <class T>
posset_status make_lent(posset_context* context, T* object, posset_value* out) {
  return make_object(context, object, nullptr, out);
}

// Closes a handle, as soon as nothing runs in its context on another thread.
inline void end_loan(posset_context* context, posset_value handle) noexcept {
  constexpr long kLongestNap = 2'000'000;  // nanoseconds: what an end that had to wait may come too late
  timespec nap = {0, 20'000};
  while (posset_host_close(context, handle) == POSSET_BUSY) {
    nanosleep(&nap, nullptr);
    nap.tv_nsec = nap.tv_nsec < kLongestNap / 2 ? 2 * nap.tv_nsec : kLongestNap;
  }
}

// A shared_ptr or unique_ptr to an object: anything that points to one and gives it up in the end.
template <class P>
concept OwningPointer = requires(const P& pointer) {
  typename P::element_type;
  { pointer.get() } -> std::convertible_to<typename P::element_type*>;
} && is_host_class<typename P::element_type>;

}  // namespace detail

template <detail::OwningPointer P>
struct Convert<P> {
  static constexpr const char* name = "object of the host";
  static bool from(posset_context*, const posset_value&, P&) {
    static_assert(!detail::OwningPointer<P>, "a script's handle does not tell who owns the object: take a posset::Handle");
    return false;
  }
  static posset_status to(posset_context* context, P object, posset_value* out) {
    auto* pointer = object.get();
    return detail::make_object(context, pointer, std::move(object), out);
  }
};

// A handle that a script has given, kept by the host: the object stays as long as this does, unless it was lent, or closed by the
// host. It must not outlive its context.
template <class T>
class Handle {
 public:
  Handle() = default;  // of nothing, which for scripts is nil
  explicit Handle(Value value) : value_(std::move(value)) {}
  // Null when there is none, or the handle is closed.
  T* get() const { return detail::object_in<std::remove_cv_t<T>>(value_.raw()); }
  explicit operator bool() const { return get() != nullptr; }
  // Throw Error when the handle is closed, and Misuse when it is of nothing.
  T& operator*() const { return *open(); }
  T* operator->() const { return open(); }
  const Value& value() const { return value_; }

 private:
  T* open() const {
    T* const object = get();
    if (!object) throw_closed();
    return object;
  }
  [[noreturn]] void throw_closed() const {
    if (posset_context* const context = value_.context()) {
      const std::string text = "this " + detail::type_name_in<std::remove_cv_t<T>>(context) + " is closed";
      if (!value_.is_nil()) detail::check(context, posset_raise(context, POSSET_ERROR_HostError, to_text(text)), "handle");
    }
    throw Misuse(POSSET_MISUSE, "a handle of nothing");
  }

  Value value_;
};

template <class T>
struct Convert<Handle<T>> {
  static constexpr const char* name = "object of the host";
  static std::string name_in(posset_context* context) { return detail::type_name_in<std::remove_cv_t<T>>(context); }
  static bool from(posset_context* context, const posset_value& v, Handle<T>& out) {
    out = Handle<T>(Value::copy(context, v));
    return posset_is_nil(v) || out.get() != nullptr;
  }
  static posset_status to(posset_context* context, const Handle<T>& handle, posset_value* out) {
    return Convert<Value>::to(context, handle.value(), out);
  }
};

// An object as it stands; null for nil. Good as long as some Value or script has a handle of it that is open.
template <class T>
  requires detail::is_host_class<std::remove_cv_t<T>>
struct Convert<T*> {
  static constexpr const char* name = "object of the host";
  static constexpr View view = View::Content;
  static std::string name_in(posset_context* context) { return detail::type_name_in<std::remove_cv_t<T>>(context); }
  static bool from(posset_context*, const posset_value& v, T*& out) {
    out = detail::object_in<std::remove_cv_t<T>>(v);
    return out != nullptr || posset_is_nil(v);
  }
  static posset_status to(posset_context*, const T*, posset_value*) {
    static_assert(!detail::is_host_class<std::remove_cv_t<T>>,
                  "a pointer does not tell who owns the object: give a std::shared_ptr, std::unique_ptr or posset::Handle, or lend it");
    return POSSET_MISUSE;
  }
};

// An object of the host's own that scripts may use as long as this exists; afterwards their handles are closed. It
// must not outlive its context, nor the object it.
//
// While the context evaluates on another thread, or waits for one (submit.h), the object may be in use there: the end of the
// loan waits for the end of that. Who does not want to wait ends it before, by Future::cancel or Context::interrupt; and what
// the evaluation waits for, a call to be completed by this thread, must not come after the loan. As with a future, a host
// function must not wait so for another context of its runtime.
class [[nodiscard]] Loan {
 public:
  explicit Loan(Value value) : value_(std::move(value)) {}
  Loan(Loan&&) = default;
  Loan& operator=(Loan&& other) noexcept {
    close();
    value_ = std::move(other.value_);
    return *this;
  }
  ~Loan() { close(); }
  const Value& value() const { return value_; }
  // The end of the loan, before that of this.
  void close() noexcept {
    if (!value_.is_nil()) detail::end_loan(value_.context(), value_.raw());
    value_ = Value();
  }

 private:
  Value value_;
};

}  // namespace posset
