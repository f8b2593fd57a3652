// Records and variants: making them, finding fields, copy-on-write, building with spreads.
#include "interp/value/record.h"

namespace posset::interp {

int field_index(Heap& heap, const Record* r, const Symbol* name) {
  return shape_of(heap, r)->index_of(name);
}

namespace {

size_t bytes_of(const Record* record) { return sizeof(Record) + record->size * sizeof(Borrowed); }

}  // namespace

Value copy_record(Heap& heap, Tag tag, const Record* record) {
  auto* copy = heap.make<Record>(tag, bytes_of(record));
  if (copy == nullptr) return Value::failure();
  copy->shape = record->shape;
  copy->size = record->size;
  copy->kinds = record->kinds;
  for (uint32_t i = 0; i < record->size; ++i) retain(copy->new_fields()[i] = record->fields()[i]);
  return Value::adopt(Borrowed::heap(tag, copy));
}

bool make_unique_record(Heap& heap, Borrowed& place) {
  auto* record = place.as<Record>();
  return is_unique(record) || heap.put_copy(place, copy_record(heap, place.tag(), record), bytes_of(record));
}

RecordBuilder::~RecordBuilder() {
  for (Borrowed v : values_) release(v);
}

namespace {

// The place first, which there may be no memory for.
void keep(std::vector<Borrowed>& values, Value v) {
  values.push_back(Borrowed::nil());
  values.back() = v.take();
}

}  // namespace

void RecordBuilder::set(const Symbol* name, Value v) {
  failed_ = failed_ || v.failed();
  if (failed_) return;
  if (shape_ == nullptr) shape_ = heap_.shapes().empty_record();
  if (names_.empty() && values_.size() >= kChained) list_names();
  if (!names_.empty()) {
    auto [found, is_new] = index_.try_emplace(name, values_.size());
    if (!is_new) return release(std::exchange(values_[found->second], v.take()));
    names_.push_back(name);
    keep(values_, std::move(v));
    return;
  }
  int index = shape_->index_of(name);
  if (index != Shape::kNotFound) {
    release(std::exchange(values_[static_cast<size_t>(index)], v.take()));
    return;
  }
  const Shape* larger = heap_.shapes().with_field(shape_, name);
  if (larger == nullptr) {
    failed_ = true;
    return;
  }
  keep(values_, std::move(v));
  shape_ = larger;
}

void RecordBuilder::list_names() {
  names_ = shape_->fields;
  for (size_t i = 0; i < names_.size(); ++i) index_.emplace(names_[i], i);
}

void RecordBuilder::spread(const Record* r) {
  const Shape* shape = shape_of(heap_, r);
  if (values_.empty() && !shape->is_variant()) {  // the usual {..p, x: 3}: takes the shape as it is
    values_.reserve(r->size + 1);
    shape_ = shape;
    for (uint32_t i = 0; i < r->size; ++i) values_.push_back(Value::copy(r->fields()[i]).take());
    return;
  }
  for (uint32_t i = 0; i < r->size; ++i) set(shape->fields[i], Value::copy(r->fields()[i]));
}

Value RecordBuilder::finish() {
  if (!names_.empty()) shape_ = heap_.shapes().record(names_);
  else if (shape_ == nullptr) shape_ = heap_.shapes().empty_record();
  Record* record = failed_ || shape_ == nullptr ? nullptr : new_record(heap_, shape_);
  if (record == nullptr) return Value::failure();
  std::copy(values_.begin(), values_.end(), record->new_fields());
  record->note_kinds();
  values_.clear();
  names_.clear();
  index_.clear();
  shape_ = nullptr;
  return Value::adopt(Borrowed::heap(Tag::Record, record));
}

}  // namespace posset::interp
