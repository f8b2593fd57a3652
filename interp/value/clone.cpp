// See clone.h.
#include "interp/value/clone.h"

#include "interp/value/chunked_array.h"
#include "interp/value/cycles.h"
#include "interp/value/list.h"
#include "interp/value/map.h"
#include "interp/value/object_index.h"
#include "interp/value/record.h"
#include "interp/value/small_stack.h"
#include "interp/value/string.h"

namespace posset::interp {

namespace {

class Cloner {
 public:
  Cloner(Heap& heap, const Original& original, const OwnerCount& owner_count)
      : heap_(heap), original_(original), owner_count_(owner_count), patience_(heap) {}

  Value run(Borrowed v) {
    Value root = Value::adopt(clone(v));
    while (!failed_ && !open_.empty()) {
      each_value(open_.take(), [this](Borrowed& part) {
        if (!patience_.lasts()) failed_ = true;
        if (failed_ || !part.is_heap()) return !failed_;
        const Borrowed old = std::exchange(part, Borrowed::nil());
        release(old);  // never the last: what it was copied from has it, and nobody else if its count is one now
        part = clone(old);
        return !failed_;
      });
    }
    return failed_ ? Value::failure() : std::move(root);
  }

 private:
  // Owned; nil where memory ran out.
  Borrowed clone(Borrowed v) {
    if (!v.is_heap()) return v;
    Object* const object = v.object();
    if (count_of(object) == 0) return v;
    if (is_kept(object)) {
      retain(object);
      return v;
    }
    if (count_of(object) == 1 && v.tag() != Tag::Ref) return made(v);
    uint32_t* const number = numbers_.at(object);
    if (number == nullptr) return failure();
    if (*number != 0) {
      retain(copies_[*number]);
      return copies_[*number];
    }
    if (copied_ + 1 >= copies_.capacity() && (copied_ > INT32_MAX || !copies_.grow())) return failure();
    const Borrowed copy = made(v);
    copies_[*number = ++copied_] = copy;
    return copy;
  }

  Borrowed failure() {
    failed_ = true;
    return Borrowed::nil();
  }

  bool is_kept(const Object* object) const {
    return &Heap::heap_of(object) != &original_.heap || (original_.keeps_shared && count_of(object) < 0);
  }

  // With the parts of the original, counted, until their turn comes.
  Borrowed made(Borrowed v) {
    open_.push(nullptr);  // before there is anything to lose
    const Borrowed copy = shell(v);
    if (copy.is_heap()) {
      open_.top() = copy.object();
    } else {
      open_.pop();
    }
    if (copy.is_nil()) return failure();
    return copy;
  }

  Borrowed shell(Borrowed v) {
    switch (v.tag()) {
      case Tag::Str: return taken(make_string(heap_, string_view_of(v)));
      case Tag::Range: return plain<Range>(v);
      case Tag::List: return taken(copy_list(heap_, v.as<List>()));
      case Tag::Map: return taken(copy_map(heap_, v.as<Map>()));
      case Tag::Record:
      case Tag::Variant: return taken(copy_record(heap_, v.tag(), v.as<Record>()));
      case Tag::Fn: return closure(v.as<Closure>());
      case Tag::Ref: return cell(v.as<Ref>());
      default: return Borrowed::nil();
    }
  }

  static Borrowed taken(Value copy) { return copy.failed() ? Borrowed::nil() : copy.take(); }

  template <class T>
  Borrowed plain(Borrowed v) {
    const auto* from = v.as<T>();
    auto* to = heap_.make<T>(v.tag(), sizeof(T), from->flags);
    if (!to) return Borrowed::nil();
    to->first = from->first;
    to->last = from->last;
    return Borrowed::heap(v.tag(), to);
  }

  Borrowed closure(const Closure* from) {
    auto* to = heap_.make<Closure>(Tag::Fn, sizeof(Closure) + from->size * sizeof(Borrowed));
    if (!to) return Borrowed::nil();
    to->function = from->function;
    to->owner_count = owner_count_(from->function);
    if (to->owner_count) ++*to->owner_count;
    to->size = from->size;
    for (uint64_t i = 0; i < from->size; ++i) to->captured()[i] = Value::copy(from->captured()[i]).take();
    return Borrowed::heap(Tag::Fn, to);
  }

  Borrowed cell(const Ref* from) {
    auto* to = heap_.make<Ref>(Tag::Ref);
    if (!to) return Borrowed::nil();
    to->value = Value::copy(from->value).take();
    return Borrowed::heap(Tag::Ref, to);
  }

  Heap& heap_;
  const Original& original_;
  const OwnerCount& owner_count_;
  WishPatience patience_;
  ObjectIndex numbers_;             // of objects with several references
  ChunkedArray<Borrowed> copies_;   // of these; there is none at 0
  uint32_t copied_ = 0;
  SmallStack<Object*, 16> open_;
  bool failed_ = false;
};

}  // namespace

Value clone_into(Heap& heap, Borrowed v, const Original& original, const OwnerCount& owner_count) {
  return Cloner(heap, original, owner_count).run(v);
}

}  // namespace posset::interp
