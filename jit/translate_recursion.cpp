// Functions that call themselves. Their code is a function that takes its arguments by kind, in registers of
// the processor, beside the one that is entered from elsewhere, which only passes on. Links need not be looked
// at for such a call: where the function is entered, its own links are seen to lead back to the closure that
// runs, and this holds for what it calls in turn.
//
// What is the same for all calls of one entrance lies in its activation, in memory: the context, the closure, how
// far the native stack reaches. What changes with every call is passed: the registers, the steps that are left, and
// the room, which is how many calls may still be nested before one of them must look at the limits anew. The depth
// follows from the room and is put into the context, like the steps, before somebody may look at it (translate_steps.cpp).
//
// Where it has fork points there are two functions of the same type, which call each other (versions.cpp says where there is only
// one): one leaves fork records and inlines no call of itself, the other leaves none. Each call of the former asks whether it is
// nested so deep that it is to be one of the latter (interp/runtime/fork_depth.h). The latter asks nothing, until what says how far
// the native stack reaches is set beyond it: then each of its calls is made as from elsewhere.
//
// A call gives three words: the result, the steps left, and the result's tag where its kind is not known
// (Kinds::result_of_itself). Steps below zero say that it is not like that: the callee has been left by an error or
// an exit, the context has the steps, and the result may be anything.
//
// What is lent comes back in the frame, of the kind that every such call leaves there; where the callee has been left
// otherwise, that is looked at.
//
// The frame is that of every other call: what the machine would have in it is written when something needs it.
#include <bit>
#include <cstddef>
#include <set>

#include "bytecode/exits.h"
#include "interp/runtime/context.h"
#include "interp/runtime/forks.h"
#include "jit/translator.h"

namespace posset::jit {

using bytecode::NativeFrame;
using interp::Context;

namespace {

// How a value of a kind is passed: a double, a word, or tag and payload.
void add_types(Kind kind, llvm::IRBuilder<>& b, std::vector<llvm::Type*>& types) {
  if (kind == Kind::None || kind == Kind::Nil) return;
  types.push_back(kind == Kind::Float ? b.getDoubleTy() : b.getInt64Ty());
  if (kind == Kind::Any) types.push_back(b.getInt64Ty());
}

// Arguments of the function, and those by kind.
enum Argument : unsigned { kActivation, kRegisters, kSteps, kRoom, kByKind };

// Words of an activation. The entry is that of the NativeEntry until the function has seen it, which needs no register
// for it so.
enum ActivationWord : uint64_t { kHost, kClosure, kTop, kLowest, kStackLimit, kForkRoom, kOuter, kDepth, kOutlasts, kEntry, kActivationWords };
constexpr uint64_t offset_of(ActivationWord word) { return uint64_t{word} * 8; }
static_assert(offset_of(kClosure) == offsetof(interp::Activation, closure));
static_assert(offset_of(kTop) == offsetof(interp::Activation, top));
static_assert(offset_of(kForkRoom) == offsetof(interp::Activation, fork_room));
static_assert(offset_of(kOuter) == offsetof(interp::Activation, outer));
static_assert(offset_of(kLowest) == offsetof(interp::Activation, lowest));
static_assert(offset_of(kStackLimit) == offsetof(interp::Activation, stack_limit));
static_assert(offset_of(kDepth) == offsetof(interp::Activation, depth));
static_assert(offset_of(kOutlasts) == offsetof(interp::Activation, outlasts));

constexpr uint64_t kForkDepth = offsetof(Context, fork_depth), kInnermost = kForkDepth + offsetof(interp::ForkDepth, innermost);

constexpr unsigned kOfNativeEntry = 3;  // the entry among a NativeEntry's

enum ResultWord : unsigned { kPayload, kLeft, kTag };

}  // namespace

// ---- the function ----

// The body of the forking one, too; the other becomes this translation's.
void Translator::make_recursive_functions() {
  itself_ = new_recursive_function(" itself");
  const Kinds* forking = (*versions_)[version_].forking.get();
  if (forking) {
    forking_ = new_recursive_function(" forking");
    forking_->addFnAttr(llvm::Attribute::NoInline);
    // Without loops it runs rarely, and is not worth what it takes to optimise it.
    if (!forking->has_loops()) forking_->addFnAttr(llvm::Attribute::OptimizeNone);
  }
  enter_from_elsewhere();
  if (forking) {
    Translator other(*this, version_, *forking);
    other.itself_ = itself_;
    other.function_ = other.forking_ = forking_;
    other.make_body();
  }
  function_ = itself_;
}

llvm::Function* Translator::new_recursive_function(const char* name) {
  llvm::Type* word_type = b_.getInt64Ty();
  std::vector<llvm::Type*> types{b_.getPtrTy(), b_.getPtrTy(), word_type, word_type};
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) add_types(argument_kind(n), b_, types);
  const bool is_number = kinds_->result_of_itself() == Kind::Float;
  auto* result = llvm::StructType::get(is_number ? b_.getDoubleTy() : word_type, word_type, word_type);
  auto* type = llvm::FunctionType::get(result, types, false);
  auto* made = llvm::Function::Create(type, llvm::Function::InternalLinkage, function_->getName() + name, *module_);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  made->setCallingConv(llvm::CallingConv::Fast);
  return made;
}

// The one that leaves records where they are wanted.
llvm::Value* Translator::itself_for(llvm::Value* activation, llvm::Value* room) {
  if (!forking_) return itself_;
  llvm::Value* wanted = b_.CreateICmpSGE(room, load_word(activation, offset_of(kForkRoom)));
  return b_.CreateSelect(wanted, forking_, itself_);
}

// Without loops the frame is looked at here, so that the function need not know how it was entered.
void Translator::enter_from_elsewhere() {
  begin_wrapper(function_);
  if (chunk_.loop_heads.empty()) read_frame(0, 0);
  llvm::Value* outer_depth = load(b_.getInt32Ty(), word_pointer(host(), offsetof(Context, depth)));
  llvm::Value* room = room_from(outer_depth);
  llvm::Value* steps = of(Memory::Host, load_word(host(), offsetof(Context, fuel)));
  llvm::Value* activation = make_activation(outer_depth, room);
  std::vector<llvm::Value*> arguments{activation, registers_, steps, room};
  if (chunk_.loop_heads.empty()) arguments_by_kind(arguments);
  for (size_t n = arguments.size(); n < itself_->arg_size(); ++n) {
    arguments.push_back(llvm::PoisonValue::get(itself_->getArg(static_cast<unsigned>(n))->getType()));
  }
  llvm::Value* result = call_function(itself_for(activation, room), arguments);
  for (uint64_t mask = kinds_->lent_to_itself(); mask != 0; mask &= mask - 1) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(mask));
    release(cached_value(slot, kinds_->at_leader(0).kinds[slot]));
  }
  put(outer_depth, word_pointer(host(), offsetof(Context, depth)));
  if (forking_) {
    put(load(b_.getPtrTy(), word_pointer(activation, offset_of(kOuter))), word_pointer(host(), kInnermost));
  }
  return_elsewhere(result);
  end_wrapper();
}

void Translator::arguments_by_kind(std::vector<llvm::Value*>& arguments) {
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) {
    const Kind kind = argument_kind(n);
    if (kind == Kind::None || kind == Kind::Nil) continue;
    const Operand v = cached_value(n, kind);
    if (kind == Kind::Any) arguments.push_back(v.tag);
    arguments.push_back(kind == Kind::Float ? v.number : v.payload);
  }
}

// Calls that may be nested at least: with what is inlined into each there are registers and nesting for them.
llvm::Value* Translator::room_from(llvm::Value* depth) {
  llvm::Value* end = word_pointer(registers_, uint64_t{most_with_forking(&Kinds::extent)} * sizeof(Borrowed));
  llvm::Value* most = load(b_.getPtrTy(), word_pointer(host(), offsetof(Context, stack_end)));
  llvm::Value* bytes = b_.CreateSub(b_.CreatePtrToInt(most, b_.getInt64Ty()), b_.CreatePtrToInt(end, b_.getInt64Ty()));
  llvm::Value* windows = b_.CreateSDiv(bytes, word(uint64_t{most_with_forking(&Kinds::widest)} * sizeof(Borrowed)));
  llvm::Value* limit = load(b_.getInt32Ty(), word_pointer(host(), offsetof(Context, depth_limit)));
  llvm::Value* deepest = b_.CreateAdd(b_.CreateZExt(depth, b_.getInt64Ty()), word(most_with_forking(&Kinds::depth)));
  llvm::Value* calls = b_.CreateSub(b_.CreateZExt(limit, b_.getInt64Ty()), deepest);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, windows, calls);
}

llvm::Value* Translator::make_activation(llvm::Value* depth, llvm::Value* room) {
  llvm::Value* made = new_variable(llvm::ArrayType::get(b_.getInt64Ty(), kActivationWords));
  put(host(), word_pointer(made, offset_of(kHost)));
  put(closure_, word_pointer(made, offset_of(kClosure)));
  const uint64_t low = offsetof(Context, native) + sched::StackChain::limit_offset();
  llvm::Value* limit = load_word(host(), low);
  store_word(made, offset_of(kLowest), limit);
  depth = b_.CreateZExt(depth, b_.getInt64Ty());
  llvm::Value* top = b_.CreateAdd(depth, room);
  store_word(made, offset_of(kTop), top);
  put(function_->getArg(kOfNativeEntry), word_pointer(made, offset_of(kEntry)));
  if (forking_) {
    store_word(made, offset_of(kStackLimit), limit);
    store_word(made, offset_of(kDepth), depth);
    store_word(made, offset_of(kOutlasts), word(0));
    llvm::Value* deepest = load(b_.getInt32Ty(), word_pointer(host(), kForkDepth + offsetof(interp::ForkDepth, limit)));
    llvm::Value* innermost = word_pointer(host(), kInnermost);
    store_word(made, offset_of(kForkRoom), b_.CreateSub(top, b_.CreateZExt(deepest, b_.getInt64Ty())));
    put(load(b_.getPtrTy(), innermost), word_pointer(made, offset_of(kOuter)));
    put(made, innermost);
  }
  return made;
}

// The words of a bytecode::NativeEntry.
void Translator::return_elsewhere(llvm::Value* result) {
  auto* plain = block("plain");
  auto* odd = cold("odd");
  llvm::Value* left = b_.CreateExtractValue(result, kLeft);
  llvm::Value* payload = b_.CreateExtractValue(result, kPayload);
  if (payload->getType()->isDoubleTy()) payload = b_.CreateBitCast(payload, b_.getInt64Ty());
  const Kind kind = kinds_->result_of_itself();
  llvm::Value* odd_words[] = {b_.CreateExtractValue(result, kTag), payload};
  llvm::Value* words[] = {tag_of({kind, odd_words[0], payload}), payload};
  b_.CreateCondBr(b_.CreateICmpSLT(left, word(0)), odd, plain);
  go_on_in(plain);
  of(Memory::Host, put(left, word_pointer(host(), offsetof(Context, fuel))));
  return_struct(words);
  b_.SetInsertPoint(odd);
  return_struct(odd_words);
}

// At the beginning of the function.
void Translator::begin_recursive_function() {
  activation_ = function_->getArg(kActivation);
  registers_ = function_->getArg(kRegisters);
  room_ = function_->getArg(kRoom);
  closure_ = nullptr;
  for (uint64_t mask = kinds_->lent_to_itself(); mask != 0; mask &= mask - 1) {
    borrowed_.push_back(static_cast<uint16_t>(std::countr_zero(mask)));
  }
}

// kNativeArguments: called by itself.
llvm::Value* Translator::take_entry_number() {
  if (!recursive()) return function_->getArg(kOfNativeEntry);
  llvm::Value* from = word_pointer(activation_, offset_of(kEntry));
  llvm::Value* entry = load(b_.getInt32Ty(), from);
  put(b_.getInt32(kNativeArguments), from);
  return entry;
}

llvm::Value* Translator::passed_steps() { return function_->getArg(kSteps); }

// Read where they are needed, which for many is a cold block: kept in registers they would be saved at every call.
llvm::Value* Translator::host() {
  llvm::Value* activation = unit_.root->activation_;
  return activation ? fixed_pointer(activation, offset_of(kHost)) : function_->getArg(0);
}

llvm::Value* Translator::closure() {
  return closure_ ? closure_ : fixed_pointer(unit_.root->activation_, offset_of(kClosure));
}

// Of the frame that others are inlined into.
llvm::Value* Translator::depth_here() {
  const Translator& root = *unit_.root;
  if (!root.activation_) return load(b_.getInt32Ty(), word_pointer(host(), offsetof(Context, depth)));
  return depth_with(root.activation_, root.room_);
}

// At the beginning of the function, called by itself; or of a direct one, where they stand in place of the entry.
void Translator::take_native_arguments() {
  unsigned next = recursive() ? kByKind : kOfNativeEntry;
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) {
    const Kind kind = argument_kind(n);
    if (kind == Kind::None || kind == Kind::Nil) continue;
    keep(n, kind, native_argument(*function_, kind, next));
  }
  b_.CreateBr(way_to(0));
}

// The argument from number `next` on, which is then that behind it.
Operand Translator::native_argument(llvm::Function& function, Kind kind, unsigned& next) {
  if (kind == Kind::Nil) return {kind, nullptr, nullptr};
  llvm::Value* first = function.getArg(next++);
  if (kind == Kind::Float) return floating(first);
  if (kind == Kind::Any) return unknown(first, function.getArg(next++));
  return {kind, nullptr, first};
}

// Where the function is entered from elsewhere.
void Translator::check_links(llvm::BasicBlock* refused) {
  std::set<uint16_t> links;
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    if (kinds_->is_recursive(pc)) links.insert(chunk_.at(pc).b);
  }
  for (uint16_t link : links) {
    auto* fits = block("fits");
    b_.CreateCondBr(b_.CreateICmpEQ(closure_of_link(closure(), link), closure()), fits, refused);
    go_on_in(fits);
  }
}

// ---- the ways out ----

void Translator::return_value(const Operand& v) {
  if (!unit_.root->activation_) {
    give_fuel_back();
    llvm::Value* words[] = {tag_of(v), payload_of(v)};
    return_struct(words);
    return;
  }
  const Kind kind = kinds_->result_of_itself();
  llvm::Type* word_type = b_.getInt64Ty();
  llvm::Value* tag = kind == Kind::Any ? tag_of(v) : llvm::PoisonValue::get(word_type);
  llvm::Value* words[] = {kind == Kind::Float ? as_double(v) : payload_of(v), fuel(), tag};
  return_struct(words);
}

// What the machine has left, or an error. The context has the steps.
void Translator::return_words(llvm::Value* tag, llvm::Value* payload) {
  if (unit_.root->activation_) {
    if (function_->getReturnType()->getStructElementType(kPayload)->isDoubleTy()) {
      payload = b_.CreateBitCast(payload, b_.getDoubleTy());
    }
    llvm::Value* words[] = {payload, word(static_cast<uint64_t>(bytecode::kCalleeLeft)), tag};
    return_struct(words);
  } else {
    llvm::Value* words[] = {tag, payload};
    return_struct(words);
  }
}

// Not by the builder, which asks the block for its function: cold ones have none yet.
void Translator::return_struct(llvm::ArrayRef<llvm::Value*> words) {
  llvm::Value* all = llvm::PoisonValue::get(function_->getReturnType());
  for (unsigned n = 0; n < words.size(); ++n) all = b_.CreateInsertValue(all, words[n], n);
  b_.CreateRet(all);
}

void Translator::return_left(llvm::Value* result) {
  return_words(b_.CreateExtractValue(result, 0), b_.CreateExtractValue(result, 1));
}

// ---- the call ----

// Charges the call and does the leaf of the callee. Where that is not all, the step is given back and the call is made.
llvm::BasicBlock* Translator::begin_with_leaf(uint32_t pc, const Insn& insn) {
  charge_call(pc, 1);
  Translator leaf(*this, *kinds_->inlined(pc), pc);
  leaf.registers_ = register_pointer(static_cast<uint16_t>(insn.a + 2));
  leaf.after_call_ = block("after");
  leaf.beyond_leaf_ = block("beyond_leaf");
  leaf.take_arguments(insn);
  leaf.run_inlined();
  go_on_in(leaf.beyond_leaf_);
  set_fuel(b_.CreateAdd(fuel(), word(1), "", false, /*HasNSW=*/true));
  return leaf.after_call_;
}

// False: it cannot be called so.
bool Translator::call_itself(uint32_t pc, const Insn& insn) {
  Translator& root = *unit_.root;
  auto* slow = cold("slow");
  auto* unfit = fits_itself(insn) ? slow : cold("unfit");
  auto* after = block("after");
  auto* called = block("called");
  llvm::Value* steps = b_.CreateSub(fuel(), word(1), "", false, /*HasNSW=*/true);
  llvm::Value* room = b_.CreateSub(root.room_, word(calls_deep() + 1), "", false, /*HasNSW=*/true);
  llvm::Value* base = register_pointer(static_cast<uint16_t>(insn.a + 2));
  std::vector<llvm::Value*> arguments{root.activation_, base, steps, room};
  if (!native_arguments(insn, arguments, unfit)) return false;
  const std::vector<Operand> lent = lent_for_the_call(insn);
  llvm::Value* direct = enter_itself(arguments, slow);
  for (const Operand& each : lent) release(each);
  llvm::BasicBlock* from = b_.GetInsertBlock();
  b_.CreateBr(called);
  b_.SetInsertPoint(slow);
  settle_arguments(insn);
  llvm::Value* apart = call_apart(pc, arguments);
  llvm::BasicBlock* from_apart = b_.GetInsertBlock();
  b_.CreateBr(called);
  go_on_in(called);
  llvm::PHINode* result = b_.CreatePHI(direct->getType(), 2);
  result->addIncoming(direct, from);
  result->addIncoming(apart, from_apart);
  finish_call_of_itself(pc, insn, result, after);
  if (unfit != slow) {
    b_.SetInsertPoint(unfit);
    settle_arguments(insn);
    flush_operands(pc);
    call_by_helper(pc);
    finish_helper_call(pc, insn);
    b_.CreateBr(after);
  }
  go_on_in(after);
  return true;
}

// Whether arguments need not be looked at.
bool Translator::fits_itself(const Insn& insn) {
  for (uint16_t n = 0; n < insn.c; ++n) {
    const Kind wanted = outermost().argument_kind(n);
    if (wanted != Kind::None && wanted != Kind::Any && state_.kinds[insn.a + 2U + n] != wanted) return false;
  }
  return true;
}

// As which the function takes it; none: in the frame.
Kind Translator::argument_kind(uint32_t n) const { return cached(n) ? kinds_->at_leader(0).kinds[n] : Kind::None; }

// What this frame owns of what the callee is lent.
std::vector<Operand> Translator::lent_for_the_call(const Insn& insn) {
  std::vector<Operand> found;
  for (uint64_t mask = kinds_->lent_to_itself(); mask != 0; mask &= mask - 1) {
    const auto reg = static_cast<uint16_t>(insn.a + 2 + std::countr_zero(mask));
    if (!is_lent(reg)) found.push_back(read(reg));
  }
  return found;
}

// Where there are two functions, `lowest` changes for the one that leaves no records: while somebody waits for some, its calls are
// made as those of other functions are, which begin anew, and so choose.
llvm::Value* Translator::enter_itself(llvm::ArrayRef<llvm::Value*> arguments, llvm::BasicBlock* slow) {
  Translator& root = *unit_.root;
  auto* direct = block("direct");
  llvm::LoadInst* lowest = load_word(root.activation_, offset_of(root.forking_ && root.leaves_records() ? kStackLimit : kLowest));
  if (root.leaves_records()) fixed(lowest);
  b_.CreateCondBr(has_room_for_itself(arguments, lowest), direct, slow);
  go_on_in(direct);
  return call_function(root.leaves_records() ? root.itself_for(arguments[kActivation], arguments[kRoom]) : root.itself_, arguments);
}

llvm::CallInst* Translator::call_function(llvm::Value* callee, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* result = b_.CreateCall(unit_.root->itself_->getFunctionType(), callee, arguments);
  result->setCallingConv(llvm::CallingConv::Fast);
  return result;
}

void Translator::finish_call_of_itself(uint32_t pc, const Insn& insn, llvm::Value* result, llvm::BasicBlock* after) {
  auto* odd = cold("odd");
  auto* fine = block("fine");
  auto* left_otherwise = cold("left_otherwise");
  const Kind kind = unit_.root->kinds_->result_of_itself();
  llvm::Value* left = b_.CreateExtractValue(result, kLeft);
  llvm::Value* payload = b_.CreateExtractValue(result, kPayload);
  llvm::Value* tag = b_.CreateExtractValue(result, kTag);
  b_.CreateCondBr(b_.CreateICmpSLT(left, word(0)), odd, fine);
  go_on_in(fine);
  set_fuel(left);
  reload_written(pc);  // inout arguments
  write(insn.a, kind == Kind::Float ? floating(payload) : Operand{kind, tag, payload});
  b_.CreateBr(after);
  b_.SetInsertPoint(odd);
  if (kind == Kind::Float) payload = b_.CreateBitCast(payload, b_.getInt64Ty());
  take_fuel();
  auto* failed = cold("failed");
  b_.CreateCondBr(b_.CreateICmpEQ(tag, tag_word(Tag::Failed)), failed, left_otherwise);
  b_.SetInsertPoint(left_otherwise);
  take_back(pc, insn, unknown(tag, payload));
  write_result(pc, insn, unknown(tag, payload));
  b_.CreateBr(after);
  b_.SetInsertPoint(failed);
  b_.CreateCall(helper("left_itself", b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty()}), {host(), left});
  raise(pc, true);
}

// ---- what is rare ----

// In functions of their own, once for all places: most calls are inlined several times, and what they do rarely would be most of
// the code.
llvm::Function* Translator::new_rare_function(const llvm::Twine& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> types) {
  auto* made = llvm::Function::Create(llvm::FunctionType::get(result, types, false), llvm::Function::InternalLinkage, name, *module_);
  for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::NoInline, llvm::Attribute::Cold}) made->addFnAttr(attribute);
  made->setCallingConv(llvm::CallingConv::Fast);
  b_.SetInsertPoint(llvm::BasicBlock::Create(*context_, "entry", made));
  return made;
}

// Whoever looks at the context has the steps and the depth there. Both the count of steps and what the poll says are given.
llvm::Function* Translator::poll_function() {
  constexpr const char* name = "polls";
  if (llvm::Function* known = module_->getFunction(name)) return known;
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  llvm::Type *pointer = b_.getPtrTy(), *number = b_.getInt64Ty();
  auto* result = llvm::StructType::get(number, b_.getInt8Ty());
  llvm::Function* made = new_rare_function(name, result, {pointer, number, number});
  llvm::Value* context = load(pointer, word_pointer(made->getArg(0), offset_of(kHost)));
  llvm::Value* steps = word_pointer(context, offsetof(Context, fuel));
  b_.CreateStore(made->getArg(1), steps);
  set_depth(context, depth_with(made->getArg(0), made->getArg(2)));
  llvm::Value* ok = b_.CreateCall(helper("poll", b_.getInt8Ty(), {pointer}), {context});
  llvm::Value* words = b_.CreateInsertValue(llvm::PoisonValue::get(result), b_.CreateLoad(number, steps), 0);
  b_.CreateRet(b_.CreateInsertValue(words, ok, 1));
  return made;
}

llvm::Value* Translator::poll_apart() {
  Translator& root = *unit_.root;
  llvm::CallInst* result = b_.CreateCall(root.poll_function(), {root.activation_, fuel(), root.room_});
  result->setCallingConv(llvm::CallingConv::Fast);
  of(Memory::Others, result);
  set_fuel(b_.CreateExtractValue(result, 0));
  return b_.CreateExtractValue(result, 1);
}

// A call of itself by the helper, with the arguments of a direct one: gives what that gives where the callee has been left. Behind
// those: registers and chunk of the frame that calls, where, and how deep that is inlined.
enum ApartWord : unsigned { kWindow, kChunk, kPc, kDeep };

llvm::Function* Translator::apart_function() {
  const std::string name = (itself_->getName() + " apart").str();
  if (llvm::Function* known = module_->getFunction(name)) return known;
  llvm::IRBuilder<>::InsertPointGuard keep_place(b_);
  llvm::FunctionType* direct = itself_->getFunctionType();
  llvm::Type* pointer = b_.getPtrTy();
  std::vector<llvm::Type*> types(direct->param_begin(), direct->param_end());
  types.insert(types.end(), {pointer, pointer, pointer, b_.getInt32Ty()});
  llvm::Function* made = new_rare_function(name, direct->getReturnType(), types);
  unsigned next = kByKind;
  llvm::Value* base = made->getArg(kRegisters);
  for (uint32_t n = 0; n < chunk_.outline.parameters; ++n) {
    const Kind kind = argument_kind(n);
    if (kind == Kind::None) continue;
    store_value(word_pointer(base, uint64_t{n} * sizeof(Borrowed)), native_argument(*made, kind, next), Memory::Frame);
  }
  call_with_frame(*made, next);
  return made;
}

// Its arguments are in the frame, and those of `ApartWord` are the function's from `first` on.
void Translator::call_with_frame(llvm::Function& apart, unsigned first) {
  llvm::Value* activation = apart.getArg(kActivation);
  llvm::Value* context = load(b_.getPtrTy(), word_pointer(activation, offset_of(kHost)));
  llvm::Value* frame = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), sizeof(NativeFrame) / 8));
  put(context, word_pointer(frame, offsetof(NativeFrame, context)));
  put(load(b_.getPtrTy(), word_pointer(activation, offset_of(kClosure))), word_pointer(frame, offsetof(NativeFrame, closure)));
  put(apart.getArg(first + kWindow), word_pointer(frame, offsetof(NativeFrame, registers)));
  put(apart.getArg(first + kChunk), word_pointer(frame, offsetof(NativeFrame, chunk)));
  // The helper charges the call.
  put(b_.CreateAdd(apart.getArg(kSteps), word(1)), word_pointer(context, offsetof(Context, fuel)));
  llvm::Value* depth = b_.CreateSub(depth_with(activation, apart.getArg(kRoom)), b_.getInt32(1));
  set_depth(context, depth);
  llvm::Value* ok = b_.CreateCall(helper("call", b_.getInt8Ty(), {b_.getPtrTy(), b_.getPtrTy()}), {frame, apart.getArg(first + kPc)});
  set_depth(context, b_.CreateSub(depth, apart.getArg(first + kDeep)));
  llvm::Value* fine = b_.CreateICmpNE(ok, b_.getInt8(0));
  const Operand v = load_value(word_pointer(apart.getArg(kRegisters), uint64_t{0} - 2 * sizeof(Borrowed)), Memory::Frame);
  llvm::Value* payload = payload_of(v);
  llvm::Type* type = apart.getReturnType()->getStructElementType(kPayload);
  if (type->isDoubleTy()) payload = b_.CreateBitCast(payload, type);
  llvm::Value* behind = b_.CreateSelect(fine, word(static_cast<uint64_t>(bytecode::kCalleeLeft)), word(static_cast<uint64_t>(bytecode::kCalleeGone)));
  llvm::Value* words = b_.CreateInsertValue(llvm::PoisonValue::get(apart.getReturnType()), payload, kPayload);
  words = b_.CreateInsertValue(words, behind, kLeft);
  b_.CreateRet(b_.CreateInsertValue(words, b_.CreateSelect(fine, tag_of(v), tag_word(Tag::Failed)), kTag));
}

llvm::Value* Translator::call_apart(uint32_t pc, llvm::ArrayRef<llvm::Value*> arguments) {
  Translator& root = *unit_.root;
  std::vector<llvm::Value*> all(arguments.begin(), arguments.end());
  all.insert(all.end(), {registers_, passed_symbol(unit_.bindings.chunk(chunk_)), pc_address(pc), b_.getInt32(calls_deep())});
  llvm::CallInst* result = b_.CreateCall(root.apart_function(), all);
  result->setCallingConv(llvm::CallingConv::Fast);
  return result;
}

// Of a call with so much room.
llvm::Value* Translator::depth_with(llvm::Value* activation, llvm::Value* room) {
  llvm::Value* top = fixed(load_word(activation, offset_of(kTop)));
  return b_.CreateTrunc(b_.CreateSub(top, room), b_.getInt32Ty());
}

void Translator::set_depth(llvm::Value* context, llvm::Value* depth) { put(depth, word_pointer(context, offsetof(Context, depth))); }

// Of a call that the helper has done.
void Translator::finish_helper_call(uint32_t pc, const Insn& insn) {
  take_back(pc, insn, {});
  if (plan_.result == Kind::Any || !cached(insn.a)) return;
  write_result(pc, insn, load_value(register_pointer(insn.a), Memory::Frame));
}

// What the callee has left of inout arguments, which may be of a kind that the code behind the call does not expect.
// `result` is what it gives; without a kind known of it, it is in the frame.
void Translator::take_back(uint32_t pc, const Insn& insn, const Operand& result) {
  reload_written(pc);
  for (uint32_t n = 0; n < insn.c; ++n) {
    const uint32_t reg = insn.a + 2U + n;
    const Kind kind = after_.kinds[reg];
    if (!cached(reg) || kind == Kind::Any || kind == Kind::None) continue;
    auto* fits = block("fits");
    auto* other = cold("other");
    b_.CreateCondBr(is_kind(load_value(register_pointer(static_cast<uint16_t>(reg)), Memory::Frame), kind), fits, other);
    b_.SetInsertPoint(other);
    if (result.tag) store_value(register_pointer(insn.a), result, Memory::Frame);
    exit_behind_call(pc, insn, expectation_behind_call(kind, std::min(n, bytecode::Expected::kLastNumber)));
    go_on_in(fits);
  }
}

// What a call has given, which may be of a kind that the code behind it does not expect.
void Translator::write_result(uint32_t pc, const Insn& insn, const Operand& v) {
  const Kind kind = plan_.result;
  if (kind == Kind::Any || !cached(insn.a)) return write(insn.a, v);
  auto* fits = block("fits");
  auto* other = cold("other");
  b_.CreateCondBr(is_kind(v, kind), fits, other);
  b_.SetInsertPoint(other);
  store_value(register_pointer(insn.a), v, Memory::Frame);
  exit_behind_call(pc, insn, expectation_behind_call(plan_.result, bytecode::Expected::kAnything));
  go_on_in(fits);
  write(insn.a, {kind, nullptr, v.payload});
}

// What the function expects; arguments that are not known to fit are looked at. False: they do not.
bool Translator::native_arguments(const Insn& insn, std::vector<llvm::Value*>& arguments, llvm::BasicBlock* slow) {
  const Translator& called = outermost();
  const State& expected = called.kinds_->at_leader(0);
  for (uint16_t n = 0; n < insn.c; ++n) {
    const Kind given = state_.kinds[insn.a + 2U + n];
    const Kind wanted = called.cached(n) ? expected.kinds[n] : Kind::None;
    if (wanted != Kind::None && wanted != Kind::Any && given != wanted && given != Kind::Any) return false;
  }
  for (uint16_t n = 0; n < insn.c; ++n) {
    const auto reg = static_cast<uint16_t>(insn.a + 2 + n);
    const Kind wanted = called.cached(n) ? expected.kinds[n] : Kind::None;
    const Operand v = read(reg);
    if (wanted == Kind::None) {
      store_value(register_pointer(reg), v, Memory::Frame);
      continue;
    }
    if (wanted != Kind::Any && v.kind != wanted) {
      auto* fits = block("fits");
      b_.CreateCondBr(is_kind(v, wanted), fits, slow);
      go_on_in(fits);
    }
    if (wanted == Kind::Nil) continue;
    if (wanted == Kind::Any) arguments.push_back(tag_of(v));
    arguments.push_back(wanted == Kind::Float ? as_double(v) : payload_of(v));
  }
  return true;
}

// Registers and nesting, steps and native stack: none of the differences is below zero, which is one question.
llvm::Value* Translator::has_room_for_itself(llvm::ArrayRef<llvm::Value*> arguments, llvm::Value* lowest) {
  llvm::Value* stack = b_.CreateSub(b_.CreatePtrToInt(native_frame(), b_.getInt64Ty()), lowest);
  return b_.CreateICmpSGE(b_.CreateOr(b_.CreateOr(stack, arguments[kRoom]), arguments[kSteps]), word(0));
}

}  // namespace posset::jit
