// See bindings.h.
#include "jit/bindings.h"

#include <algorithm>
#include <charconv>

#include "interp/runtime/native.h"

namespace posset::jit {

using bytecode::Chunk;

namespace {

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

// A symbol in its parts: "cache.2.7".
struct Name {
  std::string_view kind;
  uint32_t first = 0, second = 0;
  int numbers = 0;
};

std::optional<uint32_t> take_number(std::string_view& text) {
  if (text.empty() || text.front() != '.') return std::nullopt;
  uint32_t found = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), found);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return found;
}

std::optional<Name> parse(std::string_view symbol) {
  Name name{symbol.substr(0, symbol.find('.'))};
  std::string_view rest = symbol.substr(name.kind.size());
  for (uint32_t* number : {&name.first, &name.second}) {
    if (rest.empty()) break;
    const auto found = take_number(rest);
    if (!found) return std::nullopt;
    *number = *found;
    ++name.numbers;
  }
  if (!rest.empty() || name.numbers == 0) return std::nullopt;
  return name;
}

std::optional<uint64_t> called_with_floats(const bytecode::Outline::Link& link) {
  if (!link.native) return std::nullopt;
  if (link.native->of_float) return reinterpret_cast<uint64_t>(link.native->of_float);
  if (link.native->of_floats) return reinterpret_cast<uint64_t>(link.native->of_floats);
  return std::nullopt;
}

std::optional<uint64_t> of_part(const Name& name, const Bindings::Part& part) {
  const Chunk& chunk = *part.chunk;
  if (name.numbers == 1) {
    if (name.kind == "chunk") return address(&chunk);
    if (name.kind == "unit" && part.unit != 0) return part.unit;
    return std::nullopt;
  }
  if (name.kind == "pc" && name.second < chunk.size) return address(chunk.code.get() + chunk.size + name.second);
  if (name.kind == "cache" && name.second < chunk.caches.size()) return address(&chunk.caches[name.second]->seen);
  if (name.kind == "constant" && name.second < chunk.constants.size()) return chunk.constants[name.second].word1;
  if (name.kind == "floats" && name.second < chunk.outline.links.size()) return called_with_floats(chunk.outline.links[name.second]);
  return std::nullopt;
}

}  // namespace

uint32_t Bindings::number_of(const Chunk& of) const {
  const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const Part& each) { return each.chunk == &of; });
  return static_cast<uint32_t>(found - parts_.begin());
}

uint32_t Bindings::part(const Chunk& of) {
  const uint32_t number = number_of(of);
  if (number == parts_.size()) parts_.push_back({&of, 0});
  return number;
}

std::string Bindings::unit(const Chunk& of, uint32_t number) {
  const uint32_t at = part(of);
  parts_[at].unit = number;
  return numbered("unit.", at);
}

std::string Bindings::shape(const interp::Shape& of) {
  const auto found = std::find(shapes_.begin(), shapes_.end(), &of);
  const auto number = found - shapes_.begin();
  if (found == shapes_.end()) shapes_.push_back(&of);
  return numbered("shape.", static_cast<size_t>(number));
}

std::optional<uint64_t> Bindings::value_of(std::string_view symbol) const {
  const std::optional<Name> name = parse(symbol);
  if (!name) return std::nullopt;
  if (name->kind == "shape") {
    if (name->numbers != 1 || name->first >= shapes_.size()) return std::nullopt;
    return shapes_[name->first]->id;
  }
  if (name->first >= parts_.size()) return std::nullopt;
  return of_part(*name, parts_[name->first]);
}

}  // namespace posset::jit
