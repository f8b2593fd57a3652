// Texts: characters and lengths of those whose every byte is a character, long ones by pointer and those that are kept
// inside the value. Where one kind only has been met, code is made for it; where both have, it asks each time.
#include "interp/value/string.h"

#include <cstddef>

#include "jit/translator.h"

namespace posset::jit {

using interp::Str;

// Its number of bytes, behind the answer to whether each of them is a character; else `slow`.
llvm::Value* Translator::ascii_size(const Operand& text, llvm::BasicBlock* slow) {
  auto* ascii = block("ascii");
  llvm::Value* flags = of(Memory::Header, load(b_.getInt8Ty(), word_pointer(object(text), offsetof(Str, flags))));
  b_.CreateCondBr(b_.CreateICmpNE(b_.CreateAnd(flags, b_.getInt8(Str::kAscii)), b_.getInt8(0)), ascii, slow);
  go_on_in(ascii);
  llvm::Value* size = of(Memory::Header, load(b_.getInt32Ty(), word_pointer(object(text), offsetof(Str, size))));
  return b_.CreateZExt(size, b_.getInt64Ty());
}

// The character at an int within such a text, else `slow`.
llvm::Value* Translator::ascii_byte(const Operand& text, const Operand& at, llvm::BasicBlock* slow) {
  llvm::Value* size = ascii_size(text, slow);
  auto* inside = block("inside");
  b_.CreateCondBr(b_.CreateICmpULT(payload_of(at), size), inside, slow);
  go_on_in(inside);
  llvm::Value* from = b_.CreateInBoundsGEP(b_.getInt8Ty(), word_pointer(object(text), sizeof(Str)), payload_of(at));
  return b_.CreateZExt(of(Memory::Header, load(b_.getInt8Ty(), from)), b_.getInt64Ty());
}

// As make_ascii (interp/value/string.h).
Operand Translator::short_text(llvm::Value* byte) {
  const uint64_t empty = interp::make_ascii(0).word0;
  return unknown(b_.CreateOr(b_.CreateShl(byte, 16), word(empty)), word(0));
}

// ---- long and short in turn ----

namespace {

constexpr uint64_t kFirstByte = 16;       // of a short text, its bit in the first word
constexpr uint64_t kBytesInFirst = 6;
constexpr uint64_t kSizeMask = 0x7f, kSizeShift = 8;
constexpr uint64_t kTagAndOthers = 0x80ff;  // the tag, and whether there are others than ASCII characters

}  // namespace

// Goes to one of the blocks, or to `slow`.
void Translator::by_length(const Operand& text, llvm::BasicBlock* in_object, llvm::BasicBlock* inside, llvm::BasicBlock* slow) {
  auto* other = block("other");
  b_.CreateCondBr(is(text, Kind::Text), in_object, other);
  go_on_in(other);
  llvm::Value* asked = b_.CreateAnd(tag_of(text), word(kTagAndOthers));
  b_.CreateCondBr(b_.CreateICmpEQ(asked, tag_word(interp::Tag::ShortStr)), inside, slow);
}

llvm::Value* Translator::short_size(const Operand& text) {
  return b_.CreateAnd(b_.CreateLShr(tag_of(text), kSizeShift), word(kSizeMask));
}

llvm::Value* Translator::any_ascii_size(const Operand& text, llvm::BasicBlock* slow) {
  auto* in_object = block("long");
  auto* inside = block("short");
  auto* sized = block("sized");
  by_length(text, in_object, inside, slow);
  go_on_in(in_object);
  llvm::Value* long_size = ascii_size(text, slow);
  llvm::BasicBlock* from_long = b_.GetInsertBlock();
  b_.CreateBr(sized);
  go_on_in(inside);
  llvm::Value* size = short_size(text);
  b_.CreateBr(sized);
  go_on_in(sized);
  return either_way(long_size, from_long, size, inside);
}

// The character at an int within the text, else `slow`.
llvm::Value* Translator::any_ascii_byte(const Operand& text, const Operand& at, llvm::BasicBlock* slow) {
  auto* in_object = block("long");
  auto* inside = block("short");
  auto* found = block("found");
  if (at.kind != Kind::Int) {
    auto* counted = block("counted");
    b_.CreateCondBr(is(at, Kind::Int), counted, slow);
    go_on_in(counted);
  }
  by_length(text, in_object, inside, slow);
  go_on_in(in_object);
  llvm::Value* long_byte = ascii_byte(text, at, slow);
  llvm::BasicBlock* from_long = b_.GetInsertBlock();
  b_.CreateBr(found);
  go_on_in(inside);
  llvm::Value* byte = short_byte(text, payload_of(at), slow);
  llvm::BasicBlock* from_short = b_.GetInsertBlock();
  b_.CreateBr(found);
  go_on_in(found);
  return either_way(long_byte, from_long, byte, from_short);
}

llvm::Value* Translator::short_byte(const Operand& text, llvm::Value* at, llvm::BasicBlock* slow) {
  auto* within = block("within");
  b_.CreateCondBr(b_.CreateICmpULT(at, short_size(text)), within, slow);
  go_on_in(within);
  llvm::Value* in_first = b_.CreateICmpULT(at, word(kBytesInFirst));
  llvm::Value* bytes = b_.CreateSelect(in_first, b_.CreateLShr(tag_of(text), kFirstByte), payload_of(text));
  llvm::Value* number = b_.CreateSelect(in_first, at, b_.CreateSub(at, word(kBytesInFirst)));
  return b_.CreateAnd(b_.CreateLShr(bytes, b_.CreateShl(number, 3)), word(0xff));
}

llvm::Value* Translator::either_way(llvm::Value* a, llvm::BasicBlock* from_a, llvm::Value* b, llvm::BasicBlock* from_b) {
  llvm::PHINode* value = b_.CreatePHI(a->getType(), 2);
  value->addIncoming(a, from_a);
  value->addIncoming(b, from_b);
  return value;
}

// ---- comparisons ----

// As order_of_short (bytecode/handlers_control.h).
llvm::Value* Translator::order_of_short(const Operand& v) {
  auto* wide = b_.getInt128Ty();
  auto swapped = [&](llvm::Value* bytes) { return b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::bswap, bytes), wide); };
  llvm::Value* first = b_.CreateShl(swapped(b_.CreateAnd(tag_of(v), word(~uint64_t{0xffff}))), 80);
  llvm::Value* others = b_.CreateShl(swapped(payload_of(v)), 16);
  return b_.CreateOr(b_.CreateOr(first, others), b_.CreateZExt(short_size(v), wide));
}

// Of two short texts; of others `slow`.
void Translator::text_branch(int which, const Operand& b, const Operand& c, llvm::BasicBlock* holds, llvm::BasicBlock* fails,
                             llvm::BasicBlock* slow) {
  using llvm::CmpInst;
  constexpr CmpInst::Predicate kOnOrders[] = {CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,  CmpInst::ICMP_ULT,
                                              CmpInst::ICMP_ULE, CmpInst::ICMP_UGT, CmpInst::ICMP_UGE};
  auto is_short = [&](const Operand& v) {
    return b_.CreateICmpEQ(b_.CreateAnd(tag_of(v), word(0xff)), tag_word(interp::Tag::ShortStr));
  };
  auto* shorts = block("shorts");
  b_.CreateCondBr(b_.CreateAnd(is_short(b), is_short(c)), shorts, slow);
  go_on_in(shorts);
  const CmpInst::Predicate predicate = kOnOrders[which];
  if (CmpInst::isEquality(predicate)) {
    const bool equal = predicate == CmpInst::ICMP_EQ;
    return word_branch(b, c, equal ? holds : fails, equal ? fails : holds);
  }
  b_.CreateCondBr(b_.CreateICmp(predicate, order_of_short(b), order_of_short(c)), holds, fails);
}

// ---- instructions ----

void Translator::index_of_texts(uint32_t pc, const Insn& insn) {
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  write(insn.a, short_text(any_ascii_byte(read(insn.b), read(insn.c), slow)));
  b_.CreateBr(after);
  go_on_in(after);
}

// The characters of a long text that are one byte each; others, and the lines of a text, are exec's. The cursor is a place among
// its bytes, so whether there are others in it need not be asked.
void Translator::next_character(uint32_t pc, const Insn& insn) {
  const auto cursor_register = static_cast<uint16_t>(insn.a + 1), way_register = static_cast<uint16_t>(insn.a + 2);
  const Operand text = read(insn.a);
  auto* long_text = block("long");
  auto* more = block("more");
  auto* single = block("single");
  auto* slow = cold("slow");
  llvm::Value* by_characters = b_.CreateICmpEQ(payload_of(read(way_register)), word(0));
  b_.CreateCondBr(b_.CreateAnd(is(text, Kind::Text), by_characters), long_text, slow);
  exec_in(slow, pc);
  go_on_in(long_text);
  llvm::Value* cursor = payload_of(read(cursor_register));
  llvm::Value* size = of(Memory::Header, load(b_.getInt32Ty(), word_pointer(object(text), offsetof(Str, size))));
  b_.CreateCondBr(b_.CreateICmpULT(cursor, b_.CreateZExt(size, b_.getInt64Ty())), more, behind_rounds(pc, insn));
  go_on_in(more);
  llvm::Value* from = b_.CreateInBoundsGEP(b_.getInt8Ty(), word_pointer(object(text), sizeof(Str)), cursor);
  llvm::Value* byte = b_.CreateZExt(of(Memory::Header, load(b_.getInt8Ty(), from)), b_.getInt64Ty());
  b_.CreateCondBr(b_.CreateICmpULT(byte, word(0x80)), single, slow);
  go_on_in(single);
  go_round(pc, chunk_.target_at(pc), [&] {
    write(insn.b, short_text(byte));
    write(cursor_register, {Kind::Int, nullptr, b_.CreateAdd(cursor, word(1), "", true, true)});
  });
}

// One byte in a short text, all of whose bytes are looked at together: in UTF-8 it is no part of a longer character. Bytes
// beyond the text's end are zero, which that of the character must not be.
void Translator::character_in(uint32_t pc, const Insn& insn) {
  constexpr uint64_t kEach = 0x0101010101010101, kHigh = 0x8080808080808080, kNone = uint64_t{0xffff} << (8 * kBytesInFirst);
  const Operand part = read(insn.b), whole = read(insn.c);
  auto* after = block("after");
  auto* bytes = block("bytes");
  auto* slow = slow_way(pc, after);
  llvm::Value* byte = b_.CreateAnd(b_.CreateLShr(tag_of(part), kFirstByte), word(0xff));
  llvm::Value* single = b_.CreateICmpEQ(b_.CreateAnd(tag_of(part), word(0xffff)), word(interp::make_ascii(0).word0));
  llvm::Value* is_short = b_.CreateICmpEQ(b_.CreateAnd(tag_of(whole), word(0xff)), tag_word(interp::Tag::ShortStr));
  b_.CreateCondBr(b_.CreateAnd(b_.CreateAnd(single, is_short), b_.CreateICmpNE(byte, word(0))), bytes, slow);
  go_on_in(bytes);
  llvm::Value* wanted = b_.CreateMul(byte, word(kEach));
  auto zeros = [&](llvm::Value* v) { return b_.CreateAnd(b_.CreateAnd(b_.CreateSub(v, word(kEach)), b_.CreateNot(v)), word(kHigh)); };
  llvm::Value* first = b_.CreateOr(b_.CreateXor(b_.CreateLShr(tag_of(whole), kFirstByte), wanted), word(kNone));
  llvm::Value* found = b_.CreateOr(zeros(first), zeros(b_.CreateXor(payload_of(whole), wanted)));
  write(insn.a, {Kind::Bool, nullptr, b_.CreateZExt(b_.CreateICmpNE(found, word(0)), b_.getInt64Ty())});
  b_.CreateBr(after);
  go_on_in(after);
}

void Translator::code_at(uint32_t pc, const Insn& insn) {
  const Operand text = read(insn.b), at = read(insn.c);
  if (plan_.way == Way::Inline) return write(insn.a, {Kind::Int, nullptr, ascii_byte(text, at, exit_at(pc))});
  auto* after = block("after");
  auto* slow = slow_way(pc, after);
  write(insn.a, {Kind::Int, nullptr, any_ascii_byte(text, at, slow)});
  b_.CreateBr(after);
  go_on_in(after);
}

}  // namespace posset::jit
