// Records and variants: a shape id and the field values.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "interp/value/heap.h"
#include "interp/value/objects.h"
#include "interp/value/shape.h"

namespace posset::interp {

// Fields are set to nil; the caller fills them in by store(), or new_fields() and note_kinds(). Tag Record or Variant after the shape.
inline Record* new_record(Heap& heap, const Shape* shape) {
  size_t size = shape->fields.size();
  auto* record = heap.make<Record>(shape->is_variant() ? Tag::Variant : Tag::Record,
                                   sizeof(Record) + size * sizeof(Borrowed));
  if (record == nullptr) return nullptr;
  record->shape = shape->id;
  record->size = static_cast<uint16_t>(size);
  record->kinds = 0;
  std::fill_n(record->new_fields(), size, Borrowed::nil());
  return record;
}
inline const Shape* shape_of(Heap& heap, const Record* r) { return heap.shapes().shape(r->shape); }
// Index of a field by name, Shape::kNotFound.
int field_index(Heap& heap, const Record* r, const Symbol* name);
// A record or variant. As with lists (list.h).
Value copy_record(Heap& heap, Tag tag, const Record* record);
bool make_unique_record(Heap& heap, Borrowed& place);

// Builds a record when fields come one by one and may repeat (spreads): later wins, first place
// kept.
class RecordBuilder {
 public:
  explicit RecordBuilder(Heap& heap) : heap_(heap) {}
  ~RecordBuilder();
  void set(const Symbol* name, Value v);  // a failed one makes all fail
  void spread(const Record* r);
  Value finish();  // Failed: no memory

 private:
  // A record of every length on the way would take too much memory for more fields than these.
  static constexpr size_t kChained = 32;
  void list_names();

  Heap& heap_;
  const Shape* shape_ = nullptr;          // of what there is, up to kChained fields
  std::vector<const Symbol*> names_;      // of more
  std::unordered_map<const Symbol*, size_t> index_;  // of names_
  std::vector<Borrowed> values_;
  bool failed_ = false;  // no more shapes, or a value failed
};

}  // namespace posset::interp
