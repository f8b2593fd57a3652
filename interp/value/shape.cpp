// Interning of names, record shapes and variant types. Record shapes are found by their fields, and remember in `next_`
// which one has one field more, which is only touched under the table's mutex; all else about a shape is final before
// its id is handed out.
#include "interp/value/shape.h"

#include <xxhash.h>

namespace posset::interp {

namespace {
constexpr size_t kIndexedFields = 8;  // up to here a linear search over pointers is faster
}

int Shape::index_of_many(const Symbol* name) const {
  auto found = index_.find(name);
  return found == index_.end() ? kNotFound : found->second;
}

ShapeTable::ShapeTable() { empty_ = record_shape({}); }

ShapeTable::Chunks::~Chunks() {
  for (auto& chunk : at) {
    Shape** shapes = chunk.load(std::memory_order_relaxed);
    if (shapes == nullptr) return;
    std::for_each_n(shapes, kChunk, std::default_delete<Shape>());
    delete[] shapes;
  }
}

size_t ShapeTable::ByFields::hash(Names names) {
  return XXH3_64bits(names.data(), names.size_bytes());
}

size_t ShapeTable::bytes_of(size_t fields) {
  constexpr size_t kNode = 6 * sizeof(void*);  // of the index, with its bucket
  return sizeof(Shape) + fields * sizeof(const Symbol*) + (fields > kIndexedFields ? fields * kNode : 0);
}

size_t ShapeTable::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

// The mutex is held (or the table is not known to anybody yet). Null: the ids or the bytes are used up.
Shape* ShapeTable::add_shape(std::span<const Symbol* const> fields) {
  const size_t bytes = bytes_of(fields.size());
  if (count_ >= kMaxShapes || fields.size() > Shape::kMaxFields || bytes > kMaxBytes - bytes_) return nullptr;
  auto& chunk = chunks_.at[count_ / kChunk];
  Shape** shapes = chunk.load(std::memory_order_relaxed);
  if (shapes == nullptr) {
    shapes = new Shape*[kChunk]();
    chunk.store(shapes, std::memory_order_release);
  }
  auto made = std::make_unique<Shape>();
  made->id = count_;
  made->fields.assign(fields.begin(), fields.end());
  for (size_t i = 0; fields.size() > kIndexedFields && i < fields.size(); ++i)
    made->index_.emplace(fields[i], static_cast<int>(i));
  bytes_ += bytes;
  return shapes[count_++ % kChunk] = made.release();
}

const Symbol* ShapeTable::symbol(std::string_view text) {
  std::lock_guard lock(mutex_);
  return intern(text);
}

const Symbol* ShapeTable::intern(std::string_view text) {
  auto found = symbols_.find(text);
  if (found != symbols_.end()) return found->second.get();
  auto made = std::make_unique<Symbol>();
  made->text = text;
  made->id = static_cast<uint32_t>(symbols_.size());
  const Symbol* result = made.get();
  symbols_.emplace(result->text, std::move(made));
  return result;
}

const Symbol* ShapeTable::find_symbol(std::string_view text) const {
  std::lock_guard lock(mutex_);
  auto found = symbols_.find(text);
  return found == symbols_.end() ? nullptr : found->second.get();
}

// The mutex is held.
const Shape* ShapeTable::record_shape(std::span<const Symbol* const> names) {
  auto found = records_.find(names);
  if (found != records_.end()) return *found;
  const Shape* made = add_shape(names);
  if (made != nullptr) records_.insert(made);
  return made;
}

const Shape* ShapeTable::with_field(const Shape* shape, const Symbol* name) {
  std::lock_guard lock(mutex_);
  auto& next = const_cast<Shape*>(shape)->next_;
  auto found = next.find(name);
  if (found != next.end()) return found->second;
  std::vector<const Symbol*> names = shape->fields;
  names.push_back(name);
  const Shape* made = record_shape(names);
  if (made != nullptr) next.emplace(name, made);
  return made;
}

const Shape* ShapeTable::record(std::span<const Symbol* const> names) {
  std::lock_guard lock(mutex_);
  return record_shape(names);
}

const VariantType* ShapeTable::variant_type(const std::string& name, const std::string& key,
                                            std::span<const ConstructorSpec> constructors) {
  std::lock_guard lock(mutex_);
  auto found = types_.find(key);
  if (found != types_.end()) return found->second.get();
  auto type = std::make_unique<VariantType>();
  type->name = name;
  type->key = key;
  for (const ConstructorSpec& spec : constructors) {
    std::vector<const Symbol*> fields;
    for (const std::string& field : spec.fields) fields.push_back(intern(field));
    Shape* shape = add_shape(fields);
    if (shape == nullptr) return nullptr;
    shape->type = type.get();
    shape->constructor = spec.name;
    shape->ordinal = static_cast<uint32_t>(type->constructors.size());
    type->constructors.push_back(shape->id);
  }
  return types_.emplace(key, std::move(type)).first->second.get();
}

const Shape* ShapeTable::find_variant(std::string_view type_key, uint32_t ordinal) const {
  std::lock_guard lock(mutex_);
  auto found = types_.find(std::string(type_key));
  if (found == types_.end() || ordinal >= found->second->constructors.size()) return nullptr;
  return shape(found->second->constructors[ordinal]);
}

}  // namespace posset::interp
