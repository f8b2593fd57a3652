// What native code says of its frames where it leaves them, by an exit or by an error: one number, a place in the frame maps of
// its module. The code itself puts nothing but raw words where they belong; tags, objects that it has had as their parts,
// and the frames that are inlined are made of the map, here. So ways out, which are many and hardly ever taken, are short.
// The manner is that of side tables for deoptimisation; compare Duboscq, Würthinger, Mössenböck, "Speculation without
// Regret: Reducing Deoptimization Meta-data in the Graal compiler" (PPPJ 2014).
//
// A map is an array of 32-bit words, written by jit/frame_maps.h. Records lie anywhere in it and name each other by
// where they begin; 0 is none.
//   header   where ids of shapes begin, in bytes; where addresses of chunks do
//   place    FramePlace
//   inlined  FrameInlined
//   values   how many there are; each FrameValue, with two more words behind those of kParts
//   slots    how many there are; registers
#pragma once

#include <cstdint>

#include "bytecode/exits.h"
#include "bytecode/native.h"

namespace posset::bytecode {

constexpr uint32_t kFrameMapHeader = 2;

// Where code leaves the frame at hand.
struct FramePlace {
  uint32_t pc;        // number of the instruction
  uint32_t expected;  // exits.h
  uint32_t values;    // of the frame's registers
  uint32_t retained;  // slots that become one owner more
  uint32_t steps;     // charged beforehand, and not taken
  uint32_t inlined;   // what the frame is; none: the one that the code was entered with
};

// A frame that is inlined into another. The code has put its closure into its native frame, which lies behind the other's.
struct FrameInlined {
  uint32_t chunk;   // which of the addresses
  uint32_t window;  // its first register among the other's
  uint32_t call;    // the instruction there
  uint32_t values;  // of the other's registers
  uint32_t retained;  // its own parameters whose arguments were lent
  uint32_t retained_around;  // slots of the other that become one owner more
  uint32_t outer;   // what the other one is
};
constexpr uint32_t kFrameInlinedWords = sizeof(FrameInlined) / sizeof(uint32_t);

// A register of whose value the code has put the payload into the frame, or nothing where it is nil. Values whose tag
// only the code knows it has put there as a whole, and the map does not mention them.
struct FrameValue {
  // Instead of a tag: of an object its parts, numbers and bools, lie among the parts passed. Two words follow: which is
  // the first; and what fills the lower half with their kinds (FieldKinds) and the upper with the number of its shape.
  static constexpr uint32_t kParts = 0xffff;
  static constexpr uint32_t kNoShape = 0xffff;  // it is a list
  uint32_t word;

  static constexpr FrameValue of(uint32_t reg, uint32_t tag) { return {reg | tag << 16}; }
  uint32_t reg() const { return word & 0xffff; }
  uint32_t tag() const { return word >> 16; }
};

// What the code has left.
struct FramesLeft {
  NativeFrame* innermost;
  const Insn* pc;
  uint32_t depth;  // frames around it, down to the one that the code was entered with
  uint32_t steps;  // to be given back
  Expected expected;
};

// Makes all frames what the machine would have. `frame`: the outermost, which is filled in. The memory limit may be overdrawn.
FramesLeft restore_frames(NativeFrame& frame, const uint32_t* map, uint32_t place, const uint64_t* parts);

// A record of that shape, or a list where it is UINT32_MAX, whose parts' tags the kinds tell (FieldKinds). It cannot fail: where
// there is no memory the limit is overdrawn (Heap::make_object_overdrawn).
interp::Object* box_parts(interp::Heap& heap, uint32_t shape, uint32_t kinds, const uint64_t* parts);

}  // namespace posset::bytecode
