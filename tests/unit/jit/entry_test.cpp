// What is kept of a unit's code, as bytes, and what the symbols in it mean.
#include <doctest/doctest.h>

#include <string>

#include "jit/bindings.h"
#include "jit/entry.h"

using posset::bytecode::Chunk;
using posset::bytecode::FieldCache;
using posset::interp::Borrowed;
using posset::jit::Bindings;
using posset::jit::Entry;
using posset::jit::read_entry;
using posset::jit::write_entry;

namespace {

Entry sample() {
  Entry entry;
  entry.parts = {{{1, 2}, {3, 4}, "profile"}, {{5, 6}, {7, 8}, ""}};
  entry.inlined = {1};
  entry.shapes = {{{"x", "y"}, "", 0}, {{}, "a.posset Tree", 1}};
  entry.symbol = "posset f";
  entry.heads = 5;
  entry.object = std::string_view("\x7f" "ELF\0\0", 6);
  return entry;
}

bool lies_in(std::string_view part, std::string_view bytes) {
  return part.empty() || (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size());
}

// Everything read lies within the bytes.
bool is_sound(const Entry& entry, std::string_view bytes) {
  bool sound = lies_in(entry.symbol, bytes) && lies_in(entry.object, bytes);
  for (const Entry::ShapeName& shape : entry.shapes) {
    sound = sound && lies_in(shape.type, bytes);
    for (std::string_view field : shape.fields) sound = sound && lies_in(field, bytes);
  }
  for (const Entry::Part& part : entry.parts) sound = sound && lies_in(part.profile, bytes);
  for (uint32_t number : entry.inlined) sound = sound && number < entry.parts.size();
  return sound;
}

}  // namespace

TEST_CASE("entry: what is written is read again") {
  const std::string bytes = write_entry(sample());
  const auto entry = read_entry(bytes);
  REQUIRE(entry);
  REQUIRE(entry->parts.size() == 2);
  CHECK(entry->parts[0].profile == "profile");
  CHECK(entry->parts[1].function == posset::syntax::StructuralHash{5, 6});
  CHECK(entry->parts[1].bytecode == posset::interp::Digest{7, 8});
  CHECK(entry->inlined == std::vector<uint32_t>{1});
  REQUIRE(entry->shapes.size() == 2);
  CHECK(entry->shapes[0].fields == std::vector<std::string_view>{"x", "y"});
  CHECK(entry->shapes[1].type == "a.posset Tree");
  CHECK(entry->shapes[1].ordinal == 1);
  CHECK(entry->symbol == "posset f");
  CHECK(entry->heads == 5);
  CHECK(entry->object == sample().object);
  CHECK(write_entry(*entry) == bytes);
}

TEST_CASE("entry: bytes that were cut off or changed are no entry, or one within its bytes") {
  const std::string bytes = write_entry(sample());
  for (size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(read_entry(std::string_view(bytes).substr(0, size)));
  CHECK_FALSE(read_entry(bytes + "x"));
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      const auto entry = read_entry(changed);
      if (entry) CHECK(is_sound(*entry, changed));
    }
  }
}

TEST_CASE("bindings: symbols mean what the parts at hand have") {
  posset::interp::ShapeTable shapes;
  const posset::interp::Symbol* names[] = {shapes.symbol("x")};
  const posset::interp::Shape* shape = shapes.record(names);
  Chunk own, other;
  own.size = 1;
  own.code = std::make_unique<posset::bytecode::Insn[]>(2);
  other.constants = {Borrowed{1, 77}};
  other.caches.push_back(std::make_unique<FieldCache>());
  Bindings bindings;
  CHECK(bindings.chunk(own) == "chunk.0");
  CHECK(bindings.pc(own, 0) == "pc.0.0");
  CHECK(bindings.cache(other, 0) == "cache.1.0");
  CHECK(bindings.constant(other, 0) == "constant.1.0");
  CHECK(bindings.unit(other, 9) == "unit.1");
  CHECK(bindings.shape(*shape) == "shape.0");
  CHECK(bindings.parts().size() == 2);
  CHECK(bindings.value_of("chunk.0") == reinterpret_cast<uint64_t>(&own));
  CHECK(bindings.value_of("pc.0.0") == reinterpret_cast<uint64_t>(own.code.get() + 1));
  CHECK(bindings.value_of("cache.1.0") == reinterpret_cast<uint64_t>(&other.caches[0]->seen));
  CHECK(bindings.value_of("constant.1.0") == 77);
  CHECK(bindings.value_of("unit.1") == 9);
  CHECK(bindings.value_of("shape.0") == shape->id);
  for (const char* none : {"unit.0", "chunk.2", "shape.1", "cache.1.1", "cache.0.0", "constant.1.1", "chunk", "chunk.",
                           "chunk.x", "chunk.0.0", "chunk.0x", "pc.0.1", "pc.0", "shape.0.0", "cache.1", "", "poll", "chunk.99999999999"}) {
    CAPTURE(none);
    CHECK_FALSE(bindings.value_of(none));
  }
}
