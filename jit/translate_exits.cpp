// The ways out of code that are rarely taken: exits to bytecode, and errors. Each site says in one number what it is
// (bytecode/frame_map.h), puts what only the code has into the frames, and goes on to where all of its kind leave. What is
// on the way is shared by all that have it in common, from the registers of the frame down to those of the frames around.
#include <algorithm>
#include <cstddef>

#include "bytecode/exits.h"
#include "interp/runtime/context.h"
#include "jit/translator.h"

namespace posset::jit {

using bytecode::Expected;
using bytecode::FrameValue;
using bytecode::NativeFrame;

namespace {

// As in Expected.
uint32_t bit_of_kind(Kind kind) {
  using bytecode::Seen;
  if (is_unknown(kind) || kind == Kind::UnboxedList) return Expected::kAnything;
  if (is_list(kind)) return static_cast<uint32_t>(Seen::kFirstPacking) + static_cast<uint32_t>(packing_of_kind(kind));
  return static_cast<uint32_t>(tag_of_kind(kind));
}

// Kinds whose registers the code puts into the frame in the same way.
Known stored_as(const Known& v) {
  if (is_unboxed(v.kind) || v.kind == Kind::Float) return v;
  return is_unknown(v.kind) ? Kind::Any : Kind::Int;
}

}  // namespace

// ---- what is said of frames ----

uint32_t Translator::values_of(const Unflushed& registers) {
  std::vector<uint32_t> words;
  uint32_t count = 0;
  for (const auto& [reg, known] : registers) {
    if (is_unknown(known.kind)) continue;
    ++count;
    if (!is_unboxed(known.kind)) {
      words.push_back(FrameValue::of(reg, static_cast<uint32_t>(tag_of_kind(known.kind))).word);
      continue;
    }
    const bool is_record = known.kind == Kind::UnboxedRecord;
    const uint32_t shape = is_record ? unit_.maps.shape(llvm::cast<llvm::Constant>(shape_id(known.shape))) : FrameValue::kNoShape;
    words.push_back(FrameValue::of(reg, FrameValue::kParts).word);
    words.push_back(first_part(reg, count_parts(known.fields)));
    words.push_back(shape << 16 | known.fields);
  }
  return unit_.maps.values(count, words);
}

uint32_t Translator::place(uint32_t pc, uint32_t expected, const Unflushed& registers, std::vector<uint32_t> retained) {
  if (!caller_) add_borrowed(retained);
  return unit_.maps.place({pc, expected, values_of(registers), unit_.maps.slots(retained), unit_.steps_ahead, inlined_as()});
}

// What the frame map says of this frame.
uint32_t Translator::inlined_as() {
  if (!caller_ || inlined_as_ != 0) return inlined_as_;
  const std::vector<uint32_t> retained(borrowed_.begin(), borrowed_.end());
  const uint32_t chunk = unit_.maps.chunk(passed_symbol(unit_.bindings.chunk(chunk_)));
  const uint32_t window = caller_->chunk_.at(call_pc_).a + 2U;
  const uint32_t values = caller_->values_of(caller_->unflushed_around_call(call_pc_));
  std::vector<uint32_t> around;
  if (!caller_->caller_) caller_->add_borrowed(around);
  return inlined_as_ = unit_.maps.inlined(
             {chunk, window, call_pc_, values, unit_.maps.slots(retained), unit_.maps.slots(around), caller_->inlined_as()});
}

// ---- registers ----

Translator::Unflushed Translator::unflushed(uint32_t pc, bool but_operands) {
  Unflushed found;
  RegisterSet done(chunk_.registers);
  for_each_access(chunk_, pc, [&](const Access& each) {
    for (uint32_t reg = each.first; but_operands && each.read && reg < each.first + each.count; ++reg) done.add(reg);
  });
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    if (!cached(reg) || done.has(reg) || !state_.dirty.has(reg) || !kinds_->live(pc, reg)) continue;
    found.emplace_back(reg, as_flushed(state_.known(reg)));
  }
  return found;
}

// What the frame owns or will read while the call runs. From the call's window on the registers are the callee's, and
// hold what it has there.
Translator::Unflushed Translator::unflushed_around_call(uint32_t pc) {
  Unflushed found;
  const Insn& insn = chunk_.at(pc);
  for (uint32_t reg = 0; reg < insn.a; ++reg) {
    if (!cached(reg) || !state_.dirty.has(reg) || !kinds_->live(pc, reg)) continue;
    found.emplace_back(reg, as_flushed(state_.known(reg)));
  }
  return found;
}

// Takes them back to the frames on the way to `then`, the last ones first: these come and go, so that many ways have
// the rest in common. Registers are variables here, so code does not mind where it is come from.
Translator::Landing& Translator::flushing(const Unflushed& registers, Landing& then) {
  Landing* next = &then;
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  for (const auto& [reg, known] : registers) {
    if (known.kind == Kind::Nil) continue;
    const Known stored = stored_as(known);
    Landing& made = flushes_[{{reg, stored}, next->block}];
    if (!made.block) {
      open(made, cold("flush"));
      b_.SetInsertPoint(made.block);
      put_raw(reg, stored);
      go_to(*next, place_come_from(made));
    }
    next = &made;
  }
  return *next;
}

// What the frame map says nothing of.
void Translator::put_raw(uint32_t reg, const Known& known) {
  const Operand v = cached_value(reg, known);
  llvm::Value* to = register_pointer(static_cast<uint16_t>(reg));
  if (known.kind == Kind::Any) return store_value(to, v, Memory::Frame);
  if (!is_unboxed(known.kind)) {
    of(Memory::Frame, put(v.number ? v.number : v.payload, word_pointer(to, offsetof(Borrowed, word1))));
    return;
  }
  const uint64_t first = first_part(reg, static_cast<uint32_t>(v.parts.size()));
  for (uint64_t n = 0; n < v.parts.size(); ++n) {
    const Operand& part = v.parts[n];
    put(part.number ? part.number : part.payload, word_pointer(parts_passed(), (first + n) * sizeof(uint64_t)));
  }
}

// ---- where ways out come together ----

void Translator::open(Landing& landing, llvm::BasicBlock* block) {
  landing.block = block;
  if (!is_quick()) landing.place = llvm::PHINode::Create(b_.getInt32Ty(), 8, "place", block);
}

void Translator::go_to(Landing& landing, llvm::Value* place) {
  if (is_quick()) {
    if (place) put(place, left_place_);
  } else {
    landing.place->addIncoming(place, b_.GetInsertBlock());
  }
  b_.CreateBr(landing.block);
}

llvm::Value* Translator::place_left(const Landing& landing) {
  return is_quick() ? static_cast<llvm::Value*>(load(b_.getInt32Ty(), left_place_)) : landing.place;
}

// Errors that the function does not handle leave like exits.
Translator::Landing& Translator::way_out(bool raises, uint32_t pc) {
  raises = raises && !handlers_at(pc).empty();
  Landing& behind = caller_ ? outward(raises) : raises ? raised_at(pc) : exit_landing();
  if (!strip_ || (caller_ && caller_->strip_ == strip_)) return behind;
  Landing& made = charges_[{strip_, behind.block}];
  if (made.block) return made;
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  open(made, cold("charge"));
  b_.SetInsertPoint(made.block);
  charge_strip();
  go_to(behind, place_come_from(made));
  return made;
}

// Out of an inlined frame, on to the ways out of the one around it.
Translator::Landing& Translator::outward(bool raises) {
  Landing& made = outward_[raises];
  if (made.block) return made;
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  open(made, cold("outward"));
  b_.SetInsertPoint(made.block);
  put(closure(), word_pointer(native_frame(), offsetof(NativeFrame, closure)));
  Landing& around = caller_->way_out(raises, call_pc_);
  go_to(caller_->flushing(caller_->unflushed_around_call(call_pc_), around), place_come_from(made));
  return made;
}

// Inlined frames have no handlers.
std::vector<uint32_t> Translator::handlers_at(uint32_t pc) const {
  if (caller_) return caller_->handlers_at(call_pc_);
  std::vector<uint32_t> found;
  for (const bytecode::Region& region : chunk_.regions) {
    if (pc >= region.begin && pc < region.end) found.push_back(region.handler);
  }
  return found;
}

Translator::Landing& Translator::exit_landing() {
  if (exits_.block) return exits_;
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  open(exits_, cold("leave"));
  b_.SetInsertPoint(exits_.block);
  return_fuel();
  llvm::Type* pair = unit_.entered.front()->getReturnType();
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Function* exit = helper("exit", pair, {pointer, pointer, b_.getInt32Ty(), pointer, pointer});
  return_left(b_.CreateCall(exit, {frame(), unit_.maps.address(*module_), place_left(exits_), parts_passed(), unit_.entered.front()}));
  return exits_;
}

// ---- exits ----

llvm::BasicBlock* Translator::exit_at(uint32_t pc) {
  if (exit_) return exit_;
  if (beyond_leaf_) return exit_ = beyond_leaf_;
  const uint32_t begin = kinds_->exit_pc(pc, plan_);
  return exit_ = exit_with(begin, expectation(pc - begin));
}

llvm::BasicBlock* Translator::exit_with(uint32_t pc, uint32_t expected) { return leave_before(pc, expected, false); }

// Where the step of a call is refused. The arguments are still there.
llvm::BasicBlock* Translator::refused_at(uint32_t pc) { return leave_before(pc, Expected::because(Expected::Why::Refused), true); }

// With all that the instruction would find.
llvm::BasicBlock* Translator::leave_before(uint32_t pc, uint32_t expected, bool raises) {
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  llvm::BasicBlock* made = cold(raises ? "refused" : "exit");
  b_.SetInsertPoint(made);
  settle_places();
  Unflushed registers = unflushed(pc, false);
  const std::vector<uint32_t> lent = lent_registers();
  for (uint32_t reg : lent) {
    const bool is_there = std::any_of(registers.begin(), registers.end(), [&](auto& each) { return each.first == reg; });
    if (!is_there && state_.dirty.has(reg)) registers.emplace_back(reg, as_flushed(state_.known(reg)));
  }
  go_to(flushing(registers, way_out(raises, pc)), b_.getInt32(place(pc, expected, registers, lent)));
  return made;
}

// On in bytecode behind the call. It is no fault of that instruction; what has made the callee give something else has
// been recorded where it happened.
void Translator::exit_behind_call(uint32_t pc, const Insn& insn, uint32_t expected) {
  const uint32_t next = pc + chunk_.length_at(pc);
  Unflushed registers;
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    if (reg == insn.a || !cached(reg) || !after_.dirty.has(reg) || !kinds_->live(next, reg)) continue;
    registers.emplace_back(reg, as_flushed(after_.known(reg)));
  }
  go_to(flushing(registers, way_out(false, pc)), b_.getInt32(place(next, expected, registers, {})));
}

// What the guards of the instruction at hand take for granted.
uint32_t Translator::expectation(uint32_t ahead) const {
  const Kind kinds[Expected::kOperands] = {plan_.a, plan_.b, plan_.c, plan_.part == Kind::Any ? plan_.result : plan_.part};
  uint32_t word = std::min(ahead, Expected::kMostAhead) << Expected::kAheadShift;
  for (int n = 0; n < Expected::kOperands; ++n) word |= bit_of_kind(kinds[n]) << (Expected::kBits * n);
  return plan_.way == Way::Exit ? word | Expected::because(Expected::Why::New) : word;
}

uint32_t Translator::expectation_behind_call(Kind kind, uint32_t argument) const {
  return Expected::because(Expected::Why::Result) | argument << (Expected::kBits * Expected::A) |
         bit_of_kind(kind) << (Expected::kBits * Expected::Part);
}

uint32_t Translator::expectation_of_captured(Kind kind, uint32_t number) const {
  return Expected::because(Expected::Why::Captured) | std::min(number, Expected::kLastNumber) << (Expected::kBits * Expected::A) |
         bit_of_kind(kind) << (Expected::kBits * Expected::Part);
}

uint32_t Translator::expectation_at_entry(uint32_t reg, Kind kind) const {
  return Expected::because(Expected::Why::Entry) | std::min(reg, Expected::kMostRegisters) |
         bit_of_kind(kind) << (Expected::kBits * Expected::Part);
}

// ---- errors ----

void Translator::raise_unless(llvm::Value* ok, uint32_t pc) {
  auto* fine = block("fine");
  branch(b_.CreateICmpNE(ok, b_.getInt8(0)), fine, nullptr);
  raise(pc, true);
  go_on_in(fine);
}

// `operands_done`: exec or a call has had the instruction's operands in the frame.
void Translator::raise(uint32_t pc, bool operands_done) {
  const Unflushed registers = unflushed(pc, operands_done);
  const uint32_t raised = Expected::because(Expected::Why::Raised);
  go_to(flushing(registers, way_out(true, pc)), b_.getInt32(place(pc, raised, registers, {})));
}

// One block for all instructions with the same handlers. A block for all would be part of every loop that has a
// handler, and a way into it from every other.
Translator::Landing& Translator::raised_at(uint32_t pc) {
  Landing& raised = raised_[handlers_at(pc)];
  if (!raised.block) open(raised, block("raised"));
  return raised;
}

// A handler's block, which finds everything in the frame.
llvm::BasicBlock* Translator::handler_block(uint32_t pc) {
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  auto* reads = cold("handler");
  b_.SetInsertPoint(reads);
  take_fuel();  // steps may have been given back
  const State& state = kinds_->at_leader(pc);
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    if (state.kinds[reg] != Kind::None) reload(reg, state.kinds[reg]);
  }
  b_.CreateBr(blocks_[pc]);
  return reads;
}

// Unwinds the frames; a handler of the chunk goes on natively.
void Translator::raised_block(const std::vector<uint32_t>& handlers, const Landing& raised) {
  go_on_in(raised.block);
  give_fuel_back();
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Function* unwind = helper("raised", b_.getInt64Ty(), {pointer, pointer, b_.getInt32Ty(), pointer});
  llvm::Value* found = b_.CreateCall(unwind, {frame(), unit_.maps.address(*module_), place_left(raised), parts_passed()});
  auto* left = block("left");
  auto* choice = b_.CreateSwitch(found, left);
  std::vector<bool> seen(chunk_.size, false);
  for (uint32_t handler : handlers) {
    if (seen[handler]) continue;
    seen[handler] = true;
    choice->addCase(llvm::cast<llvm::ConstantInt>(word(handler)), handler_block(handler));
  }
  go_on_in(left);
  return_words(tag_word(Tag::Failed), word(0));
}

// ---- native frames ----

llvm::AllocaInst* Translator::new_area() {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  return llvm::IRBuilder<>(&entry, entry.getFirstInsertionPt()).CreateAlloca(b_.getInt64Ty(), b_.getInt32(0));
}

// They lie one behind the other, from the frame that others are inlined into inwards.
llvm::Value* Translator::native_frame() {
  Translator& root = *unit_.root;
  if (!root.frames_) root.frames_ = root.new_area();
  const uint32_t deep = calls_deep();
  root.frames_count_ = std::max(root.frames_count_, deep + 1);
  return word_pointer(root.frames_, uint64_t{deep} * sizeof(NativeFrame));
}

// Where parts of objects are handed over.
llvm::Value* Translator::parts_passed() {
  Translator& root = *unit_.root;
  if (!root.parts_passed_) root.parts_passed_ = root.new_area();
  return root.parts_passed_;
}

// Where those of a register are when a frame map speaks of them. No two frames of one depth are there at a time.
uint32_t Translator::first_part(uint32_t reg, uint32_t count) {
  Translator& root = *unit_.root;
  const auto [found, is_new] = root.parts_at_.try_emplace({calls_deep(), reg, count}, root.parts_count_);
  if (is_new) root.parts_count_ += count;
  return found->second;
}

// How large these are is known when all code of the function has been made.
void Translator::size_areas() {
  auto size = [&](llvm::AllocaInst*& area, uint64_t words) {
    if (area && words == 0) area->replaceAllUsesWith(llvm::ConstantPointerNull::get(b_.getPtrTy()));
    if (area && area->use_empty()) {
      area->eraseFromParent();
    } else if (area) {
      area->setOperand(0, b_.getInt32(static_cast<uint32_t>(words)));
    }
    area = nullptr;
  };
  size(frames_, uint64_t{frames_count_} * sizeof(NativeFrame) / sizeof(uint64_t));
  size(parts_passed_, std::max(parts_count_, parts_boxed_));
  parts_at_.clear();
  frames_count_ = parts_count_ = parts_boxed_ = 0;
}

// ---- exit stress ----

// From here on the instruction may be made to exit; null: not so. Registers are as they are for its guards, so that what it
// wants boxed is.
llvm::BranchInst* Translator::begin_guarded() {
  if (strip_ || !reached_ || !is_stressed()) return nullptr;
  auto* next = block("guarded");
  llvm::BranchInst* way = b_.CreateBr(next);
  go_on_in(next);
  return way;
}

// If the instruction that is made by now can exit at all.
void Translator::end_guarded(llvm::BranchInst* way) {
  if (!way || !exit_ || plan_.way == Way::Exit) return;
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  b_.SetInsertPoint(way);
  b_.CreateCondBr(is_exit_forced(), exit_, way->getSuccessor(0));
  way->eraseFromParent();
}

llvm::Value* Translator::is_exit_forced() {
  llvm::Value* at = word_pointer(host(), offsetof(interp::Context, guards_left));
  llvm::Value* left = b_.CreateSub(of(Memory::Host, load(b_.getInt64Ty(), at)), word(1));
  of(Memory::Host, put(left, at));
  return b_.CreateICmpSLE(left, word(0));
}

bool Translator::is_stressed() const { return chunk_.runtime->options.exit_stress != 0; }

}  // namespace posset::jit
