// What native work costs, and what happens when memory runs out while it is done.
//
// The scheme of steps. A function entry or a loop iteration of a script is one step. C++ loops
// charge by the size of what they walk, the same in every tier and on every path (fast or general):
//   one step per 16 elements, one step per 64 bytes of text, fractions dropped;
//   a built-in that calls a script function for every element charges nothing more: the calls do; where it calls
//   another built-in, map and its kin (callback_loop.h) charge one step for each, as a loop would;
//   comparing, hashing or printing a container: one step per 16 values inside (`charge_weight`),
//   before it is done; growing a list or string at its end (`+`, `push`, `extend`) charges what is
//   added, never what was there, because whether the old part is copied depends on counts no script
//   can see. Large copies of that kind look at the clock instead (`look_up`).
// Work is charged in portions, so that limits are looked at in the middle of a long one.
#pragma once

#include <algorithm>
#include <utility>

#include "interp/runtime/context.h"
#include "interp/value/compare.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/patience.h"

namespace posset::interp {

constexpr uint64_t kElementsPerStep = 16;
constexpr uint64_t kBytesPerStep = 64;
// How much a tight loop does between two looks at the limits: about 10 us.
constexpr uint64_t kPortion = 16384;
// More elements than any memory holds; what is asked for beyond fails without being tried.
constexpr uint64_t kMaxElements = uint64_t{1} << 40;

inline bool charge_elements(Context& context, uint64_t n) {
  return n < kElementsPerStep || context.charge(n / kElementsPerStep);
}
inline bool charge_bytes(Context& context, uint64_t n) {
  return n < kBytesPerStep || context.charge(n / kBytesPerStep);
}
// For walks in the value layer: they end where the evaluation is interrupted or its time is over. Charges nothing.
class ContextPatience final : public Patience {
 public:
  explicit ContextPatience(Context& context) : context_(context) {}
  // After the walk. False: it has been given up, the error is pending.
  bool held() {
    if (!ended()) [[likely]] return true;
    if (context_.poll()) context_.raise_stop();  // whoever had the wish has taken it up by now
    return false;
  }

 private:
  bool is_over() override { return context_.must_stop(); }
  Context& context_;
};

// Before v is compared, hashed or printed as a whole: charges the values inside it. A value that
// holds the same one many times over can weigh more than time has seconds; the weight is found in
// growing rounds with a look at the limits after each.
bool charge_weight(Context& context, Borrowed v, uint64_t* weighs = nullptr);
// Before two texts are compared: long ones as charge_weight counts them.
inline bool charge_texts(Context& context, Borrowed a, Borrowed b) {
  if (!a.is(Tag::Str) || !b.is(Tag::Str)) return true;
  return charge_elements(context, std::min(a.as<Str>()->size, b.as<Str>()->size) / kBytesPerStep);
}
// A key that is a container is hashed as a whole; others cost nothing. What takes long is hashed and searched for here, where it can
// be given up: a text knows its hash from then on, of a container the heap knows it (known_key.h).
bool charge_heap_key(Context& context, const Map* map, Borrowed key);
// Whoever charges for a key has one around that and the operation on the map; what is known of the key is forgotten then. So nothing holds
// it longer, wherever it goes then.
class KeyScope {
 public:
  explicit KeyScope(Context& context) : heap_(context.heap) {}
  ~KeyScope() { heap_.forget_key(); }
  KeyScope(const KeyScope&) = delete;
  KeyScope& operator=(const KeyScope&) = delete;

 private:
  Heap& heap_;
};
inline bool charge_key(Context& context, const Map* map, Borrowed key) {
  return !key.is_heap() || charge_heap_key(context, map, key);
}
// The same for a key without a map, where it does not take long. False: it does, or is no key, or a limit was hit.
bool charge_light_key(Context& context, Borrowed key);
// After that.
inline KeyProblem key_problem(const Context& context, Borrowed key) {
  const KnownKey* const known = context.heap.known_key();
  return known->is(key) ? known->problem : is_valid_key(key);
}
// Limits are looked at without charging, when `elements` are about to be copied or have been.
inline bool look_up(Context& context, uint64_t elements) {
  return elements < kPortion || context.poll();
}

// Charges a loop as it goes, so that the total does not depend on how it was cut.
class Meter {
 public:
  explicit Meter(Context& context, uint64_t before = 0) : context_(context), pending_(before) {}
  // A loop that calls `callee` for every element: free when that is a script function.
  Meter(Context& context, Borrowed callee) : context_(context), free_(callee.is(Tag::Fn)) {}
  // Elements that have been charged for elsewhere: how many steps that are here.
  uint64_t note(uint64_t elements) {
    pending_ += elements;
    return std::exchange(pending_, pending_ % kElementsPerStep) / kElementsPerStep;
  }
  // False: a limit was hit, the error is pending.
  bool add(uint64_t elements) {
    if (free_) return true;
    pending_ += elements;
    if (pending_ < kElementsPerStep) [[likely]]
      return true;
    uint64_t steps = pending_ / kElementsPerStep;
    pending_ %= kElementsPerStep;
    if ((unseen_ += steps) >= kPortion / kElementsPerStep) [[unlikely]] {
      unseen_ = 0;
      if (!context_.poll()) return false;
    }
    return context_.charge(steps);
  }

 private:
  Context& context_;
  uint64_t pending_ = 0;
  uint64_t unseen_ = 0;  // steps charged since limits were looked at here: a slice is a long time for elements that make values
  bool free_ = false;
};

// ---- memory ----

// What the value layer gives when memory ran out becomes the context's error.
inline Value or_memory_limit(Context& context, Value made) {
  return made.failed() ? context.raise_memory_limit() : std::move(made);
}
inline bool or_memory_limit(Context& context, bool done) {
  if (!done) [[unlikely]]
    context.raise_memory_limit();
  return done;
}
inline Value list_value(List* list) { return Value::adopt(Borrowed::heap(Tag::List, list)); }

// An empty list for what is likely to get so many elements, so that it need not be copied as it grows. What is expected
// may never come (a callback that raises): where there is no plenty of memory only a modest part is reserved. Null: there is
// none, and nothing is raised.
List* new_list_expecting(Context& context, Packing packing, uint64_t expected);

// A list under construction that grows at its end. After a `false` the error is pending.
class ListBuilder {
 public:
  explicit ListBuilder(Context& context, uint64_t expected = 0)
      : context_(context), expected_(expected) {}
  ~ListBuilder() { release(list_); }
  ListBuilder(const ListBuilder&) = delete;
  ListBuilder& operator=(const ListBuilder&) = delete;

  bool push(Value v) {
    if (list_.is_nil() && !start(packing_for(v))) return false;
    return or_memory_limit(context_, list_push(context_.heap, list_, std::move(v)));
  }
  bool append(const List* more) {
    if (list_.is_nil() && !start(more->packing())) return false;
    return or_memory_limit(context_, list_append(context_.heap, list_, more));
  }
  // The unique list itself, for what has no method here (nil before the first push).
  Borrowed& place() { return list_; }
  Value finish() {
    if (list_.is_nil() && !start(Packing::Any)) return Value::failure();
    return Value::adopt(std::exchange(list_, Borrowed::nil()));
  }

 private:
  bool start(Packing packing);
  Context& context_;
  Borrowed list_ = Borrowed::nil();
  uint64_t expected_;
};

// [a, b]
Value make_pair(Context& context, Value a, Value b);
// The ints of a range in its order, charged and with the memory reserved first.
bool append_range(Context& context, Borrowed& list, const Range* range);

}  // namespace posset::interp
