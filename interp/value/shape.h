// Shapes: which fields a record or variant has, and where. Shapes are interned in one table per
// Runtime, so two records have the same fields in the same order exactly when their shape ids are
// equal, and an inline cache is one 64-bit word (id, index). Shapes and field names live as long as
// the table.
//
// Threads: creation takes the table's mutex; reading a Shape by id is lock-free.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace posset::interp {

// An interned name; equal names of one table are the same pointer.
struct Symbol {
  std::string text;
  uint32_t id = 0;
};

// What a `type` declaration made. Interned by `key` (module key, type name, constructors), so
// reloading the same source gives the same type.
struct VariantType {
  std::string name;
  std::string key;
  std::vector<uint32_t> constructors;  // shape ids by ordinal
};

struct Shape {
  uint32_t id = 0;
  std::vector<const Symbol*> fields;
  const VariantType* type = nullptr;  // variants only
  std::string constructor;            // variants only
  uint32_t ordinal = 0;               // variants only: place of the constructor in the declaration

  static constexpr int kNotFound = -1;
  static constexpr size_t kMaxFields = UINT16_MAX;
  int index_of(const Symbol* name) const {
    if (!index_.empty()) return index_of_many(name);
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] == name) return static_cast<int>(i);
    }
    return kNotFound;
  }
  bool is_variant() const { return type != nullptr; }

 private:
  friend class ShapeTable;
  int index_of_many(const Symbol* name) const;
  std::unordered_map<const Symbol*, int> index_;    // filled above 8 fields
  std::unordered_map<const Symbol*, const Shape*> next_;  // record shapes: this one plus one more field
};

class ShapeTable {
 public:
  ShapeTable();
  const Symbol* symbol(std::string_view text);
  const Symbol* find_symbol(std::string_view text) const;  // null when never interned

  size_t bytes() const;  // that shapes take, about
  const Shape* empty_record() const { return empty_; }
  // These give null when the table is full (kMaxShapes, kMaxBytes) or there are more than kMaxFields: a script that makes
  // ever new records has met a limit.
  const Shape* with_field(const Shape* shape,
                          const Symbol* name);  // record shapes; name must be new
  const Shape* record(std::span<const Symbol* const> names);
  struct ConstructorSpec {
    std::string name;
    std::vector<std::string> fields;
  };
  const VariantType* variant_type(const std::string& name, const std::string& key,
                                  std::span<const ConstructorSpec> constructors);
  const Shape* find_variant(std::string_view type_key, uint32_t ordinal) const;  // null when never made

  const Shape* shape(uint32_t id) const {
    return chunks_.at[id / kChunk].load(std::memory_order_acquire)[id % kChunk];
  }

 private:
  static constexpr uint32_t kChunk = 1024;
  static constexpr uint32_t kMaxChunks = 4096;
  static constexpr uint32_t kMaxShapes = kChunk * kMaxChunks;
  // Of the names and index of fields, together: a chain of records with ever one more field takes memory by the square.
  static constexpr size_t kMaxBytes = size_t{64} << 20;
  struct ByFields {
    using is_transparent = void;
    using Names = std::span<const Symbol* const>;
    static Names names(const Shape* shape) { return shape->fields; }
    static Names names(Names given) { return given; }
    size_t operator()(const auto& of) const { return hash(names(of)); }
    bool operator()(const auto& a, const auto& b) const { return std::ranges::equal(names(a), names(b)); }
    static size_t hash(Names names);
  };
  Shape* add_shape(std::span<const Symbol* const> fields);
  const Shape* record_shape(std::span<const Symbol* const> names);
  const Symbol* intern(std::string_view text);  // the mutex is held
  static size_t bytes_of(size_t fields);
  mutable std::mutex mutex_;
  // All shapes by their ids. Read without the mutex, so no chunk ever moves.
  struct Chunks {
    ~Chunks();
    std::atomic<Shape**> at[kMaxChunks] = {};
  };
  Chunks chunks_;
  uint32_t count_ = 0;
  size_t bytes_ = 0;
  const Shape* empty_ = nullptr;
  std::unordered_set<const Shape*, ByFields, ByFields> records_;
  std::unordered_map<std::string_view, std::unique_ptr<Symbol>> symbols_;
  std::unordered_map<std::string, std::unique_ptr<VariantType>> types_;
};

}  // namespace posset::interp
