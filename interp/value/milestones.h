// Where the scalars of a long text stand that is not ASCII: the byte offset of each 64th one, so that any is found in a few steps
// instead of by walking the text up to it. The milestones stand in the string's own block, behind the bytes it has room for, and
// are charged and freed with it; who makes a string that is not ASCII, or extends one, asks for the room. They are made as far as
// somebody has looked, which costs less than making the text has, and hold while the text grows where it is.
//
// A shared string may be read by several threads, and each of them may make the same milestones: all write the same offsets, and
// tell how many there are after these. So nothing is locked.
#pragma once

#include "interp/value/heap.h"
#include "interp/value/objects.h"

namespace posset::interp {

// What a text of so many bytes that is not ASCII needs behind the header, milestones included if it is long enough to have some.
size_t bytes_with_milestones(size_t text_bytes);
// Whether a string that is not ASCII, or is about to be none, has room for so many bytes of text, and the milestones of these.
bool fits_with_milestones(const Str* string, size_t text_bytes);
// Sets the capacity of a string by its block and its flags, and puts up room for milestones, none of which are made yet, if it
// is to have some. Unique string only, whose size and kAscii are set.
void divide_block(Str* string);
// The byte offset of scalar `index`, at most the length, of a string with kMilestones. False: given up.
bool find_by_milestones(const Heap& heap, const Str* string, uint64_t index, size_t& offset);
// For tests: how many of a string with kMilestones are made.
uint32_t milestones_made(const Str* string);

}  // namespace posset::interp
