// See entry.h.
#include "jit/entry.h"

#include <cstring>
#include <type_traits>

namespace posset::jit {

namespace {

// One walk over an entry serves both ways, so that they cannot differ: `visit(field)` for each part of it.
template <class Visitor, class Any>
void walk(Visitor& visit, Any& entry) {
  visit.each(entry.parts, [&](auto& part) {
    visit(part.function);
    visit(part.bytecode);
    visit(part.profile);
  });
  visit.each(entry.inlined, [&](auto& number) { visit(number); });
  visit.each(entry.shapes, [&](auto& shape) {
    visit.each(shape.fields, [&](auto& field) { visit(field); });
    visit(shape.type);
    visit(shape.ordinal);
  });
  visit(entry.symbol);
  visit(entry.numbers);
  visit(entry.plain);
  visit(entry.formula);
  visit(entry.columns);
  visit.each(entry.direct, [&](auto& each) {
    visit(each.symbol);
    visit(each.kinds);
    visit(each.registers);
    visit(each.depth);
  });
  visit(entry.heads);
  visit(entry.object);
}

class Writer {
 public:
  template <class T>
  void operator()(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void operator()(const std::string_view& text) {
    (*this)(uint64_t{text.size()});
    bytes += text;
  }
  template <class T, class Body>
  void each(const std::vector<T>& items, Body&& body) {
    (*this)(uint64_t{items.size()});
    for (const T& item : items) body(item);
  }
  std::string bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  bool is_whole() const { return fits_ && left_.empty(); }

  template <class T>
  void operator()(T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::string_view bytes = take(sizeof v);
    if (fits_) std::memcpy(&v, bytes.data(), sizeof v);
  }
  void operator()(std::string_view& text) { text = take(number()); }
  template <class T, class Body>
  void each(std::vector<T>& items, Body&& body) {
    // Every item takes a byte at least, so a number beyond that is damage and nothing is allocated for it.
    const uint64_t count = number();
    if (count > left_.size()) fits_ = false;
    for (uint64_t n = 0; fits_ && n < count; ++n) body(items.emplace_back());
  }

 private:
  uint64_t number() {
    uint64_t v = 0;
    (*this)(v);
    return v;
  }
  std::string_view take(uint64_t size) {
    if (size > left_.size()) fits_ = false;
    if (!fits_) return {};
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  bool fits_ = true;
};

}  // namespace

std::string write_entry(const Entry& entry) {
  Writer writer;
  walk(writer, entry);
  return std::move(writer.bytes);
}

std::optional<Entry> read_entry(std::string_view bytes) {
  Entry entry;
  Reader reader(bytes);
  walk(reader, entry);
  if (!reader.is_whole() || entry.parts.empty()) return std::nullopt;
  for (uint32_t number : entry.inlined) {
    if (number >= entry.parts.size()) return std::nullopt;
  }
  return entry;
}

}  // namespace posset::jit
