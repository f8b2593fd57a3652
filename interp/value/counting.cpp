// How objects die, and counts that several threads share.
//
// Dying is iterative and needs no memory: an object whose last reference went is linked into a list
// through its own header word, which is free once the count is gone. The word keeps what freeing
// needs (tag, packing, size class) in its low 16 bits and the address of the next object above. The
// same form carries objects that another thread released last over to the thread of their heap.
//
// What is large dies in portions, so that whoever waits for an interruption does not wait for it: after kPortion values the
// list is left with the heap (`buried_`), and what dies as long as something waits there joins it. A container with more
// values than that waits there itself, and shrinks.
//
// A local object refers to local objects of its own heap and to shared ones, never to local objects
// of another heap; so one heap is looked up per death, not one per object.
#include <algorithm>
#include <vector>

#include "interp/value/cycles.h"
#include "interp/value/heap.h"
#include "interp/value/map.h"
#include "interp/value/objects.h"
#include "interp/value/reference_cache.h"

namespace posset::interp {

namespace {

constexpr int64_t kPortion = 1 << 15;  // values: less than a millisecond, or three where each lies in memory that no cache has
constexpr int64_t kSmallPortion = 16;  // with each death that joins those that wait, which keeps these from piling up

constexpr uint64_t kClassBits = 7;
constexpr uint64_t kPackingBits = 2;
constexpr uint64_t kLinkShift = 16;

constexpr bool has_no_values(Tag tag) {
  return tag == Tag::Str || tag == Tag::Range || tag == Tag::Module || tag == Tag::Constructor;
}

uint64_t link_to(const Object* object) { return reinterpret_cast<uint64_t>(object) << kLinkShift; }
Object* linked(uint64_t link) { return reinterpret_cast<Object*>(link >> kLinkShift); }

void write_word(Object* object, uint64_t word) {
  std::memcpy(static_cast<void*>(object), &word, sizeof word);
}

// Takes the place of the header; `link` is what the list held.
void bury(Object* object, uint64_t link) {
  uint64_t kind = static_cast<uint64_t>(object->tag) << (kClassBits + kPackingBits) |
                  (object->flags & 3u) << kClassBits | object->size_class;
  write_word(object, link | kind);
}

// A list with another behind it. Goes through the first, unless the other is empty.
uint64_t joined(uint64_t list, uint64_t after) {
  if (list == 0 || after == 0) return list | after;
  Object* last = linked(list);
  uint64_t word;
  for (;;) {
    std::memcpy(&word, static_cast<void*>(last), sizeof word);
    if (word >> kLinkShift == 0) break;
    last = linked(word);
  }
  write_word(last, word | after);
  return list;
}

// Restores a header good enough for freeing and gives the rest of the list.
uint64_t unbury(Object* object) {
  uint64_t word;
  std::memcpy(&word, static_cast<void*>(object), sizeof word);
  uint64_t tag = (word & 0xffff) >> (kClassBits + kPackingBits);
  uint64_t packing = (word >> kClassBits) & 3;
  uint64_t cls = word & ((1u << kClassBits) - 1);
  write_word(object, tag << 32 | packing << 40 | cls << 48);  // as Heap::set_header, with no count
  return word >> kLinkShift << kLinkShift;
}

}  // namespace

// One run of dying objects of one heap, which ends when it has looked at so many values.
class Burial {
 public:
  explicit Burial(Heap& heap, int64_t portion = kPortion) : heap_(heap), left_(portion) {}

  void run(Object* object) {
    while (object != nullptr) {
      if (object->tag == Tag::Record || object->tag == Tag::Variant) [[likely]] {
        auto* record = static_cast<Record*>(object);
        drop_all(record->new_fields(), record->size);
      } else if (!release_values(object)) {
        object = next();
        continue;
      }
      heap_.free_object(object);
      object = next();
    }
  }
  // With what waits.
  void go_on() { run(next()); }

  // For hooks: what dies while one runs is taken up by the run that called the hook, else a chain
  // of host objects would use the native stack. And where a run has left something.
  static void put_off(Heap& heap, Object* object) {
    bury(object, heap.buried_);
    heap.buried_ = link_to(object);
  }

 private:
  Object* next() {
    if (list_ == 0) std::swap(list_, heap_.buried_);
    if (list_ == 0) return nullptr;
    if (left_ <= 0) [[unlikely]] return leave_rest();
    Object* object = linked(list_);
    list_ = unbury(object);
    return object;
  }

  [[gnu::noinline, gnu::cold]] Object* leave_rest() {
    while (heap_.buried_ != 0) {  // at the hands of hooks, in this run
      Object* object = linked(heap_.buried_);
      heap_.buried_ = unbury(object);
      put_back(object);
    }
    heap_.buried_ = std::exchange(list_, 0);
    return nullptr;
  }

  void put_back(Object* object) {
    bury(object, list_);
    list_ = link_to(object);
  }

  [[gnu::always_inline]] void drop(Borrowed v) {
    if (!v.is_heap()) return;
    Object* object = v.object();
    int32_t count = count_of(object);
    if (count > 1) {
      set_count(object, count - 1);
    } else if (count == 1 && !has_no_values(object->tag)) {
      put_back(object);
    } else {
      drop_last(object, count);
    }
  }

  [[gnu::noinline]] void drop_last(Object* object, int32_t count) {
    if (count == 1) {
      heap_.free_object(object);
    } else {
      drop_shared(object, count);
    }
  }

  // As release_shared, but joins this run when it is the last reference.
  void drop_shared(Object* object, int32_t count) {
    if (count == 0 || __atomic_fetch_add(&object->count, 1, __ATOMIC_ACQ_REL) != -1) return;
    Heap& heap = Heap::heap_of(object);
    if (&heap != &heap_) {
      heap.push_remote(object);
    } else {
      put_back(object);
    }
  }

  void drop_all(Borrowed* values, uint64_t n) {
    left_ -= static_cast<int64_t>(n) + 1;
    for (uint64_t i = 0; i < n; ++i) drop(values[i]);
  }

  // False: there are more of them, and it waits with the others.
  bool release_values(Object* object) {
    switch (object->tag) {
      case Tag::List:
        return static_cast<List*>(object)->packing() != Packing::Any || release_list(static_cast<List*>(object));
      case Tag::Record:
      case Tag::Variant:
        drop_all(static_cast<Record*>(object)->new_fields(), static_cast<Record*>(object)->size);
        break;
      case Tag::Map:
        return release_map(static_cast<Map*>(object));
      case Tag::Fn: {
        auto* closure = static_cast<Closure*>(object);
        drop_all(closure->captured(), closure->size);
        if (closure->owner_count != nullptr) --*closure->owner_count;
        break;
      }
      case Tag::Ref:
        drop(static_cast<Ref*>(object)->value);
        heap_.forget_ref(static_cast<Ref*>(object));
        break;
      case Tag::Error:
        release_error(static_cast<ErrorObject*>(object));
        break;
      case Tag::Host:
        if (object->flags & HostObject::kMethod) {
          drop(static_cast<BoundMethod*>(object)->receiver);
          break;
        }
        if (object->flags & HostObject::kHolds) drop(static_cast<HoldingObject*>(object)->held);
        call_hook(heap_.hooks.destroy_host, static_cast<HostObject*>(object));
        break;
      case Tag::Task:
        drop(static_cast<TaskObject*>(object)->result);
        call_hook(heap_.hooks.destroy_task, static_cast<TaskObject*>(object));
        break;
      case Tag::Chan:
        drop(static_cast<ChanObject*>(object)->held);
        call_hook(heap_.hooks.destroy_chan, static_cast<ChanObject*>(object));
        break;
      default:
        break;  // no values inside
    }
    return true;
  }

  uint64_t portion_of(uint64_t n) const { return std::min(n, static_cast<uint64_t>(std::max<int64_t>(left_, kSmallPortion))); }

  // From the end, where that can be cut off.
  bool release_list(List* list) {
    const uint64_t n = portion_of(list->size);
    list->size -= n;
    const bool all = list->size == 0;
    Borrowed* const values = list->any() + list->size;
    if (!all) put_back(list);
    drop_all(values, n);
    return all;
  }

  bool release_map(Map* map) {
    const uint32_t first = map->first;
    const auto n = static_cast<uint32_t>(portion_of(map->used - first));
    const uint32_t end = map->first = first + n;
    const bool all = end == map->used;
    if (!all) put_back(map);
    left_ -= 2 * int64_t{n} + 1;
    for (uint32_t i = first; i < end; ++i) {
      if (map->entries[i].key.is_unset()) continue;
      drop(map->entries[i].key);
      drop(map->entries[i].value);
    }
    if (all) free_map_table(heap_, map);
    return all;
  }

  void release_error(ErrorObject* error) {
    drop(error->message);
    drop(error->value);
    if (error->data != nullptr) call_hook(heap_.hooks.destroy_error, error->data);
    Heap::heap_of(error).discharge(error->charged);
  }

  template <class T>
  void call_hook(void (*hook)(T*), T* object) {
    if (hook == nullptr) return;
    bool outer = std::exchange(heap_.in_hook_, true);
    hook(object);
    heap_.in_hook_ = outer;
  }

  Heap& heap_;
  uint64_t list_ = 0;
  int64_t left_;
};

void destroy(Object* object) {
  Heap& heap = Heap::heap_of(object);
  const bool is_record = object->tag == Tag::Record || object->tag == Tag::Variant;
  if ((is_record && static_cast<const Record*>(object)->is_plain()) || has_no_values(object->tag)) {
    heap.free_object(object);
  } else if (heap.in_hook_ || heap.buried_ != 0) [[unlikely]] {
    Burial::put_off(heap, object);
    if (!heap.in_hook_) Burial(heap, kSmallPortion).go_on();
  } else {
    Burial(heap).run(object);
  }
}

// ---- shared counts ----
// A new reference is made from one that is held, so nothing is ordered by taking it (relaxed).
// Giving one up releases what was done with the object, and the last one acquires it.

void retain_shared(Object* object) {
  if (count_of(object) == 0) return;
  ReferenceCache* const cache = ReferenceCache::current();
  if (!cache || !cache->take(object)) __atomic_fetch_sub(&object->count, 1, __ATOMIC_RELAXED);
}

void release_shared(Object* object) {
  if (count_of(object) == 0) return;
  ReferenceCache* const cache = ReferenceCache::current();
  if (!cache || !cache->keep(object)) release_shared(object, 1);
}

void release_shared(Object* object, int32_t references) {
  if (__atomic_fetch_add(&object->count, references, __ATOMIC_ACQ_REL) != -references) return;
  Heap& heap = Heap::heap_of(object);
  if (heap.owner_.load(std::memory_order_acquire) == std::this_thread::get_id()) {
    destroy(object);
  } else {
    heap.push_remote(object);
  }
}

void share(Borrowed v) {
  std::vector<Object*> reached;
  auto mark = [&](Borrowed value) {
    if (!value.is_heap() || count_of(value.object()) <= 0) return;
    Object* object = value.object();
    set_count(object, -count_of(object));
    if (!has_no_values(object->tag)) reached.push_back(object);
  };
  mark(v);
  while (!reached.empty()) {
    Object* object = reached.back();
    reached.pop_back();
    for_each_value(object, mark);
  }
}

// ---- deaths on other threads ----

void Heap::push_remote(Object* object) {
  Object* head = remote_frees_.load(std::memory_order_relaxed);
  uint8_t tag = static_cast<uint8_t>(object->tag), flags = object->flags, cls = object->size_class;
  do {
    object->tag = static_cast<Tag>(tag);
    object->flags = flags;
    object->size_class = cls;
    bury(object, link_to(head));
  } while (!remote_frees_.compare_exchange_weak(head, object, std::memory_order_release,
                                                std::memory_order_relaxed));
}

void Heap::take_remote_frees() {
  if (buried_ != 0 || remote_frees_.load(std::memory_order_relaxed) == nullptr) return;
  Object* first = remote_frees_.exchange(nullptr, std::memory_order_acquire);
  if (first == nullptr) return;
  buried_ = link_to(first);  // the same kind of list
  bury_some();
}

// More than is about to be made, or what is made would outrun what dies. Looks first: many blocks may be made between two looks of
// whoever makes them.
void Heap::bury_for(size_t bytes) {
  constexpr int64_t kFaster = 4;
  int64_t left = std::max(kFaster * static_cast<int64_t>(bytes / sizeof(Borrowed)), kSmallPortion);
  for (; left > 0 && can_bury() && !is_to_stop(); left -= kPortion) bury_portion(std::min(left, kPortion));
}

// What has died in the other heap and waits for its end there.
void Heap::absorb_waiting(Heap& other) {
  const uint64_t remote = link_to(other.remote_frees_.exchange(nullptr, std::memory_order_acquire));
  buried_ = joined(joined(remote, std::exchange(other.buried_, 0)), buried_);
  while (LargeBlock* const block = other.dying_) {
    other.dying_ = block->next;
    block->next = std::exchange(dying_, block);
  }
}

void Heap::bury_portion() { bury_portion(kPortion); }

void Heap::bury_portion(int64_t values) {
  if (dying_ != nullptr) {
    bury_block_portion();
  } else if (!in_hook_) {
    buried_ != 0 ? Burial(*this, values).go_on() : empty_condemned();
  }
}

}  // namespace posset::interp
