// Interning of names, record shapes and variant types. Record shapes form a tree from the empty
// record by "one more field"; a shape's `next_` edges are only touched under the table's mutex, all
// else about a shape is final before its id is handed out.
#include "interp/value/shape.h"

namespace posset::interp {

namespace {
constexpr size_t kIndexedFields = 8;  // up to here a linear search over pointers is faster
}

int Shape::index_of_many(const Symbol* name) const {
  auto found = index_.find(name);
  return found == index_.end() ? kNotFound : found->second;
}

ShapeTable::ShapeTable() { empty_ = add_shape(); }

ShapeTable::~ShapeTable() {
  for (uint32_t id = 0; id < count_; ++id) delete shape(id);
  for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

// The mutex is held (or the table is not known to anybody yet). Null: the ids are used up.
Shape* ShapeTable::add_shape() {
  if (count_ >= kMaxShapes) return nullptr;
  auto& chunk = chunks_[count_ / kChunk];
  Shape** shapes = chunk.load(std::memory_order_relaxed);
  if (shapes == nullptr) {
    shapes = new Shape*[kChunk]();
    chunk.store(shapes, std::memory_order_release);
  }
  auto* made = new Shape;
  made->id = count_;
  shapes[count_++ % kChunk] = made;
  return made;
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

const Shape* ShapeTable::with_field(const Shape* shape, const Symbol* name) {
  std::lock_guard lock(mutex_);
  auto* from = const_cast<Shape*>(shape);
  auto found = from->next_.find(name);
  if (found != from->next_.end()) return found->second;
  Shape* made = add_shape();
  if (made == nullptr) return nullptr;
  made->fields.reserve(from->fields.size() + 1);
  made->fields = from->fields;
  made->fields.push_back(name);
  index_fields(*made);
  from->next_.emplace(name, made);
  return made;
}

const Shape* ShapeTable::record(std::span<const Symbol* const> names) {
  const Shape* shape = empty_;
  for (const Symbol* name : names) {
    if (shape != nullptr) shape = with_field(shape, name);
  }
  return shape;
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
    Shape* shape = add_shape();
    if (shape == nullptr) return nullptr;
    for (const std::string& field : spec.fields) shape->fields.push_back(intern(field));
    shape->type = type.get();
    shape->constructor = spec.name;
    shape->ordinal = static_cast<uint32_t>(type->constructors.size());
    index_fields(*shape);
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

void ShapeTable::index_fields(Shape& shape) {
  if (shape.fields.size() <= kIndexedFields) return;
  for (size_t i = 0; i < shape.fields.size(); ++i)
    shape.index_.emplace(shape.fields[i], static_cast<int>(i));
}

}  // namespace posset::interp
