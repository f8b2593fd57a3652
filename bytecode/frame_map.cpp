// See frame_map.h.
#include "bytecode/frame_map.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "interp/value/list.h"

namespace posset::bytecode {

namespace {

using interp::FieldKinds;
using interp::Heap;

// The parts as values; how many there are.
uint32_t tell_parts(uint32_t kinds, const uint64_t* parts, Borrowed* values) {
  static constexpr interp::Tag kTags[] = {interp::Tag::Nil, interp::Tag::Int, interp::Tag::Float, interp::Tag::Bool};
  const auto count = static_cast<uint32_t>(std::bit_width(kinds) + 1) / 2;
  for (uint32_t n = 0; n < count; ++n) values[n] = {static_cast<uint64_t>(kTags[kinds >> (2 * n) & 3]), parts[n]};
  return count;
}

interp::Object* box_record(Heap& heap, uint32_t shape, uint32_t kinds, const Borrowed* values, uint32_t count) {
  static_assert(sizeof(interp::Record) + FieldKinds::kFields * sizeof(Borrowed) <= Heap::kMostOverdrawn);
  const size_t bytes = sizeof(interp::Record) + count * sizeof(Borrowed);
  auto* made = static_cast<interp::Record*>(heap.make_object_overdrawn(bytes, interp::Tag::Record));
  made->shape = shape;
  made->size = static_cast<uint16_t>(count);
  made->kinds = static_cast<uint16_t>(kinds);
  std::copy_n(values, count, made->new_fields());
  return made;
}

interp::Object* box_list(Heap& heap, const Borrowed* values, uint32_t count) {
  static_assert(sizeof(interp::List) + FieldKinds::kFields * sizeof(Borrowed) <= Heap::kMostOverdrawn);
  const interp::Packing packing = interp::packing_for_all(values, count);
  const size_t bytes = sizeof(interp::List) + count * interp::element_bytes(packing);
  auto* made = static_cast<interp::List*>(heap.make_object_overdrawn(bytes, interp::Tag::List, static_cast<uint8_t>(packing)));
  interp::fill_new_list(made, values, count);
  return made;
}

class Map {
 public:
  Map(const uint32_t* words, const uint64_t* parts) : words_(words), parts_(parts) {}

  template <class Record>
  Record at(uint32_t place) const {
    Record found;
    std::memcpy(&found, words_ + place, sizeof(Record));
    return found;
  }

  NativeFrame& frame(uint32_t inlined, NativeFrame& outermost, uint32_t& depth) const;
  void write(uint32_t values, NativeFrame& frame) const;
  void retain(uint32_t slots, const NativeFrame& frame) const {
    if (slots == 0) return;
    for (uint32_t n = words_[slots]; n > 0; --n) interp::retain(frame.registers[words_[slots + n]]);
  }

 private:
  const char* bytes() const { return reinterpret_cast<const char*>(words_); }
  uint32_t shape(uint32_t number) const {
    if (number == FrameValue::kNoShape) return UINT32_MAX;
    return reinterpret_cast<const uint32_t*>(bytes() + words_[0])[number];
  }
  Chunk* chunk(uint32_t number) const { return reinterpret_cast<Chunk* const*>(bytes() + words_[1])[number]; }
  Borrowed boxed(Heap& heap, uint32_t first, uint32_t what) const;

  const uint32_t* const words_;
  const uint64_t* const parts_;
};

Borrowed Map::boxed(Heap& heap, uint32_t first, uint32_t what) const {
  const uint32_t number = what >> 16;
  interp::Object* made = box_parts(heap, shape(number), what & 0xffff, parts_ + first);
  const auto tag = number == FrameValue::kNoShape ? interp::Tag::List : interp::Tag::Record;
  return {static_cast<uint64_t>(tag), std::bit_cast<uint64_t>(made)};
}

void Map::write(uint32_t values, NativeFrame& frame) const {
  if (values == 0) return;
  const uint32_t* at = words_ + values;
  for (uint32_t count = *at++; count > 0; --count) {
    const FrameValue value{*at++};
    Borrowed& reg = frame.registers[value.reg()];
    if (value.tag() == FrameValue::kParts) {
      reg = boxed(frame.context->heap, at[0], at[1]);
      at += 2;
      continue;
    }
    reg.word0 = value.tag();
    if (reg.is_nil()) reg.word1 = 0;
  }
}

// With all around it.
NativeFrame& Map::frame(uint32_t inlined, NativeFrame& outermost, uint32_t& depth) const {
  if (inlined == 0) return outermost;
  const auto what = at<FrameInlined>(inlined);
  NativeFrame& outer = frame(what.outer, outermost, depth);
  write(what.values, outer);
  ++depth;
  NativeFrame& found = (&outer)[1];
  found.context = outer.context;
  found.registers = outer.registers + what.window;
  found.chunk = chunk(what.chunk);
  found.caller = &outer;
  found.call = outer.chunk->code.get() + outer.chunk->size + what.call;
  return found;
}

}  // namespace

interp::Object* box_parts(Heap& heap, uint32_t shape, uint32_t kinds, const uint64_t* parts) {
  Borrowed values[FieldKinds::kFields];
  const uint32_t count = tell_parts(kinds, parts, values);
  return shape == UINT32_MAX ? box_list(heap, values, count) : box_record(heap, shape, kinds, values, count);
}

FramesLeft restore_frames(NativeFrame& frame, const uint32_t* words, uint32_t number, const uint64_t* parts) {
  const Map map(words, parts);
  const auto place = map.at<FramePlace>(number);
  uint32_t depth = 0;
  NativeFrame& innermost = map.frame(place.inlined, frame, depth);
  map.write(place.values, innermost);
  map.retain(place.retained, innermost);
  const NativeFrame* each = &innermost;
  for (uint32_t inlined = place.inlined; inlined != 0; each = each->caller) {
    const auto what = map.at<FrameInlined>(inlined);
    map.retain(what.retained, *each);
    map.retain(what.retained_around, *each->caller);
    inlined = what.outer;
  }
  return {&innermost, innermost.chunk->code.get() + innermost.chunk->size + place.pc, depth, place.steps, {place.expected}};
}

}  // namespace posset::bytecode
