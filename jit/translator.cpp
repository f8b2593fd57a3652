// See translator.h: blocks, the prologue, errors, and instructions done by exec.
#include "jit/translator.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <llvm/IR/MDBuilder.h>

#include "bytecode/exits.h"

namespace posset::jit {

namespace {

constexpr uint32_t kMostEntries = 64;  // at loop heads, a bit of NativeEntrance each
constexpr uint8_t kBranch = bytecode::Branch;
constexpr uint8_t kEnds = bytecode::Ends;

// Ends of slices, exits, errors.
bool is_rare(std::string_view helper) {
  static constexpr std::string_view kRare[] = {"poll", "raised", "exit", "refuse", "decline", "left", "left_itself", "newer", "box"};
  return std::find(std::begin(kRare), std::end(kRare), helper) != std::end(kRare);
}

std::string symbol_of(const Chunk& chunk) {
  std::string name = "posset ";
  return name + (chunk.name.empty() ? "<fn>" : chunk.name);
}

}  // namespace

Translator::Translator(const Chunk& chunk, const std::vector<Version>& versions, int stage, const Prepare& prepare)
    : chunk_(chunk),
      versions_(&versions),
      kinds_(versions.front().kinds.get()),
      stage_(stage),
      own_(std::make_unique<Unit>(chunk)),
      unit_(*own_),
      context_(own_->context.get()),
      module_(own_->module.get()),
      b_(own_->builder),
      late_(own_->late),
      blocks_(chunk.size, nullptr),
      tags_(chunk.registers, nullptr),
      payloads_(chunk.registers, nullptr),
      numbers_(chunk.registers, nullptr) {
  prepare(*module_);
  unit_.bindings.part(chunk_);  // the first
}

Translator::Translator(const Translator& first, size_t version, const Kinds& kinds)
    : chunk_(first.chunk_),
      versions_(first.versions_),
      version_(version),
      kinds_(&kinds),
      stage_(first.stage_),
      unit_(first.unit_),
      context_(first.context_),
      module_(first.module_),
      b_(first.b_),
      late_(first.late_),
      blocks_(chunk_.size, nullptr),
      tags_(chunk_.registers, nullptr),
      payloads_(chunk_.registers, nullptr),
      numbers_(chunk_.registers, nullptr) {}

// Of a bytecode::NativeEntry.
llvm::FunctionType* Translator::entry_type() {
  llvm::Type* pair = llvm::StructType::get(b_.getInt64Ty(), b_.getInt64Ty());
  return llvm::FunctionType::get(pair, {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()}, false);
}

std::unique_ptr<Translation> Translator::run() {
  for (size_t n = 0; n < versions_->size(); ++n) {
    const auto linkage = n == 0 ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage;
    auto* entered = llvm::Function::Create(entry_type(), linkage, symbol_of(chunk_), *module_);
    entered->addFnAttr(llvm::Attribute::NoUnwind);
    unit_.entered.push_back(entered);
  }
  auto result = std::make_unique<Translation>();
  make_version(*result);
  for (size_t n = 1; n < versions_->size(); ++n) Translator(*this, n, *(*versions_)[n].kinds).make_version(*result);
  result->symbol = unit_.entered.front()->getName().str();
  result->heads = heads_;
  unit_.maps.finish(*module_);
  result->bindings = std::move(own_->bindings);
  result->context = std::move(own_->context);
  result->module = std::move(own_->module);
  return result;
}

void Translator::make_version(Translation& made) {
  unit_.root = this;
  function_ = unit_.entered[version_];
  if (recursive()) make_recursive_functions();
  if (is_direct()) make_direct_function();
  make_body();
  say_direct(made);
  if (!takes_numbers()) return;
  made.numbers = direct_->getName().str();
  made.for_columns = chunk_.wants_columns.load(std::memory_order_relaxed);
  llvm::Function* plain = make_plain_function();
  if (plain) made.plain = plain->getName().str();
  if (plain && made.for_columns) made.columns = make_columns_function(*plain)->getName().str();
}

void Translator::make_body() {
  unit_.root = this;
  find_leaders();
  prologue();
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) instruction(pc);
  finish();
}

void Translator::find_leaders() {
  auto lead = [&](uint32_t pc) {
    if (!blocks_[pc]) blocks_[pc] = block("at");
  };
  lead(0);
  for (uint32_t pc = 0; pc < chunk_.size; pc += chunk_.length_at(pc)) {
    const uint8_t flags = bytecode::info(chunk_.op_at(pc)).flags;
    if (flags & kBranch) lead(chunk_.target_at(pc));
    const bool ends_block = flags & (kBranch | kEnds);
    if (ends_block && pc + chunk_.length_at(pc) < chunk_.size) lead(pc + chunk_.length_at(pc));
  }
  for (const bytecode::Region& region : chunk_.regions) lead(region.handler);
}

// ---- prologue ----

void Translator::prologue() {
  auto* entry = llvm::BasicBlock::Create(*context_, "entry", function_);
  b_.SetInsertPoint(entry);
  if (recursive()) {
    begin_recursive_function();
  } else {
    closure_ = function_->getArg(1);
    registers_ = function_->getArg(2);
  }
  if (is_quick()) left_place_ = new_variable(b_.getInt32Ty());
  if (!fills_frame_late()) fill_frame();
  find_steps();
  shape_loops();
  prepare_entries();
  enter_switch();
}

// Entered at the beginning or at the head of a loop.
void Translator::enter_switch() {
  const auto& heads = chunk_.loop_heads;
  if (is_direct() || (recursive() && heads.empty())) return take_native_arguments();
  llvm::Value* entry = entry_number_ = take_entry_number();
  llvm::BasicBlock* here = b_.GetInsertBlock();
  auto* start = entry_block(0, 0);
  b_.SetInsertPoint(here);
  auto* choice = b_.CreateSwitch(entry, start, static_cast<unsigned>(heads.size()));
  if (recursive()) {
    auto* native = block("native");
    choice->addCase(b_.getInt32(kNativeArguments), native);
    go_on_in(native);
    take_native_arguments();
  }
  for (uint32_t n = 0; n < heads.size() && n < kMostEntries; ++n) {
    heads_ |= uint64_t{1} << n;
    choice->addCase(b_.getInt32(n + 1), entry_block(heads[n].pc, n + 1));
  }
}

// Reads what is live at the instruction out of the frame, if it is what the code was made for.
llvm::BasicBlock* Translator::entry_block(uint32_t pc, uint32_t number) {
  auto* entry = block("enter");
  go_on_in(entry);
  read_frame(pc, number);
  b_.CreateBr(number == 0 ? way_to(pc) : way_from_entry(pc, number));
  return entry;
}

// At the head of a loop, which is entered rarely: all kinds are looked at by a helper, which takes less code than the
// checks, and less time to make.
void Translator::check_by_table(llvm::PHINode* expected, llvm::BasicBlock* unfit) {
  std::vector<uint32_t> words;
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    const Kind kind = boxed(state_.known(reg)).kind;
    if (is_read_at_entry(reg) && kind != Kind::Any) words.push_back(expectation_at_entry(reg, kind));
  }
  if (words.empty()) return;
  llvm::Constant* rows = llvm::ConstantDataArray::get(*context_, words);
  auto* table = new llvm::GlobalVariable(*module_, rows->getType(), true, llvm::GlobalValue::PrivateLinkage, rows);
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  llvm::Function* ask = helper("misfit", b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()});
  llvm::Value* misfit = b_.CreateCall(ask, {registers_, table, b_.getInt32(static_cast<uint32_t>(words.size()))});
  expected->addIncoming(misfit, b_.GetInsertBlock());
  auto* fits = block("fits");
  b_.CreateCondBr(b_.CreateICmpEQ(misfit, b_.getInt32(0)), fits, unfit);
  go_on_in(fits);
}

bool Translator::is_read_at_entry(uint32_t reg) const {
  return state_.reached && cached(reg) && state_.kinds[reg] != Kind::None;
}

// What the frame has in the register, as what the code is made for. `knows_kind`: it has been looked at.
Operand Translator::read_at_entry(uint16_t reg, bool knows_kind, llvm::PHINode* expected) {
  const Known known = boxed(state_.known(reg));
  const Operand v = load_value(register_pointer(reg), Memory::Frame);
  auto demand = [&](llvm::Value* holds) {
    auto* fits = block("fits");
    expected->addIncoming(b_.getInt32(expectation_at_entry(reg, known.kind)), b_.GetInsertBlock());
    b_.CreateCondBr(holds, fits, expected->getParent());
    go_on_in(fits);
  };
  if (!knows_kind && known.kind != Kind::Any) demand(is_kind(v, known.kind));
  const Operand read{known.kind, v.tag, v.payload};
  if (known.shape != kNoShape) demand(b_.CreateICmpEQ(shape_of(read), shape_id(known.shape)));
  if (known.fields) demand(tells_fields(read, known.fields));
  if (state_.kinds[reg] == Kind::UnboxedList) demand(has_parts(read, state_.known(reg)));
  return read;
}

// Where something is not of the kind that is `expected`, the next version is entered: the one at hand has done nothing yet.
// From the last, and where it is not kinds that do not fit (`refused`), the way is back to bytecode.
void Translator::leave_at_entry(uint32_t pc, uint32_t number, llvm::PHINode* expected, llvm::BasicBlock* refused) {
  llvm::BasicBlock* left = expected->getParent();
  if (version_ + 1 < versions_->size()) {
    b_.SetInsertPoint(left);
    give_fuel_back();
    llvm::Value* arguments[] = {host(), closure(), registers_, b_.getInt32(number)};
    return_left(b_.CreateCall(unit_.entered[version_ + 1], arguments));
    left = cold("left");
    expected = llvm::PHINode::Create(b_.getInt32Ty(), 1, "", left);
  }
  b_.SetInsertPoint(refused);
  expected->addIncoming(b_.getInt32(expectation_at_entry(0, Kind::Any)), refused);
  b_.CreateBr(left);
  b_.SetInsertPoint(left);
  give_fuel_back();
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Function* refuse = helper("refuse", unit_.entered.front()->getReturnType(), {pointer, pointer, b_.getInt32Ty(), pointer});
  return_left(b_.CreateCall(refuse, {frame(), pc_address(pc), expected, unit_.entered.front()}));
}

// Does not go on where it does not fit, and has changed nothing then. `number`: of the entry, those of loops are taken rarely.
void Translator::read_frame(uint32_t pc, uint32_t number) {
  state_ = after_ = kinds_->at_leader(pc);
  exit_ = nullptr;
  auto* refused = cold("refused");
  auto* unfit = cold("unfit");
  llvm::PHINode* expected = llvm::PHINode::Create(b_.getInt32Ty(), 0, "", unfit);
  if (recursive()) check_links(refused);
  if (is_stressed()) {
    auto* spared = block("spared");
    b_.CreateCondBr(is_exit_forced(), refused, spared);
    go_on_in(spared);
  }
  const bool by_table = number != 0 && chunk_.registers < bytecode::Expected::kMostRegisters;
  if (by_table) check_by_table(expected, unfit);
  std::vector<Operand> unpacked_objects;
  for (uint32_t reg = 0; reg < chunk_.registers; ++reg) {
    if (!is_read_at_entry(reg)) continue;
    const Operand read = read_at_entry(reg, by_table, expected);
    const bool unpacks = is_unboxed(state_.kinds[reg]);
    if (unpacks) unpacked_objects.push_back(read);
    keep(reg, state_.kinds[reg], unpacks ? unpacked(read, state_.known(reg)) : read);
  }
  auto* there = block("there");
  if (!state_.reached || most_with_forking(&Kinds::depth) == 0) {
    b_.CreateBr(state_.reached ? there : refused);
  } else {
    auto* near_limit = cold("near_limit");
    b_.CreateCondBr(has_room_inlined(), there, near_limit);
    b_.SetInsertPoint(near_limit);
    give_fuel_back();
    llvm::Function* decline = helper("decline", unit_.entered.front()->getReturnType(), {b_.getPtrTy(), b_.getPtrTy()});
    return_left(b_.CreateCall(decline, {frame(), pc_address(pc)}));
  }
  leave_at_entry(pc, number, expected, refused);
  go_on_in(there);
  for (const Operand& each : unpacked_objects) release(each);
}

// ---- instructions ----

void Translator::instruction(uint32_t pc) {
  forget_loans(pc);
  if (llvm::BasicBlock* here = blocks_[pc]) {
    if (reached_ && !b_.GetInsertBlock()->getTerminator()) b_.CreateBr(block_at(pc));
    go_on_in(here);
    pass_through(pc);
    reached_ = kinds_->at_leader(pc).reached;
    state_ = kinds_->at_leader(pc);
    handler_ = is_handler(pc) ? pc : 0;
    writers_.clear();
    if (reached_) begin_strip(pc);
    forget_loans(pc);  // those of the strip
    if (!reached_) b_.CreateUnreachable();
  }
  here_ = pc;
  if (!reached_) return;
  const Insn& insn = chunk_.at(pc);
  box_operands(pc);
  llvm::BranchInst* way = begin_guarded();
  if (start_instruction(pc)) {
    const bool done = ends_loan(pc) || (plan_.way == Way::Exec ? call(pc, insn) : inlined(pc, insn));
    if (!done) generic(pc);
  }
  if (here_ == pc) end_guarded(way);  // a jump may have made the condition of a loop in its place
  state_ = after_;
  note_written(pc);
  if (bytecode::info(static_cast<Op>(insn.op)).flags & kEnds) reached_ = false;
}

bool Translator::inlined(uint32_t pc, const Insn& insn) {
  return move(insn) || arith(pc, insn) || compare(pc, insn) || jump(pc, insn) || data(pc, insn) || place(pc, insn) ||
         pattern(pc, insn) || make(pc, insn) || build(pc, insn) || intrinsic(pc, insn) || call(pc, insn);
}

llvm::Value* Translator::call_exec(uint32_t pc) {
  const std::string name = std::string("exec_") + bytecode::info(chunk_.op_at(pc)).name;
  llvm::Function* exec = helper(name.c_str(), b_.getPtrTy(), {b_.getPtrTy(), b_.getPtrTy()});
  give_fuel_back();
  llvm::Value* next = call_framed(exec, {frame(), pc_address(pc)});
  take_fuel();
  return next;
}

void Translator::generic(uint32_t pc) {
  const uint8_t flags = bytecode::info(chunk_.op_at(pc)).flags;
  settle_loans();
  flush_operands(pc);
  llvm::Value* next = call_exec(pc);
  if (flags & bytecode::Throws) {
    auto* fine = block("fine");
    branch(b_.CreateIsNotNull(next), fine, nullptr);
    raise(pc, true);
    go_on_in(fine);
  }
  reload_written(pc);
  pack_new_list(pc);
  if (flags & kBranch) return generic_branch(pc, next);
  if (flags & kEnds) b_.CreateUnreachable();
}

// Steps of generic branches may raise too, which a table row without Throws does not say.
void Translator::generic_branch(uint32_t pc, llvm::Value* next) {
  const uint8_t flags = bytecode::info(chunk_.op_at(pc)).flags;
  if ((flags & bytecode::Step) && !(flags & bytecode::Throws)) {
    auto* fine = block("fine");
    branch(b_.CreateIsNotNull(next), fine, nullptr);
    raise(pc, true);
    go_on_in(fine);
  }
  if (flags & kEnds) {
    b_.CreateBr(block_at(chunk_.target_at(pc)));
    return;
  }
  llvm::Value* falls = b_.CreateICmpEQ(next, pc_address(pc + chunk_.length_at(pc)));
  b_.CreateCondBr(falls, block_at(pc + chunk_.length_at(pc)), block_at(chunk_.target_at(pc)));
}

llvm::BasicBlock* Translator::slow_way(uint32_t pc, llvm::BasicBlock* after) {
  if (plan_.way == Way::Inline) return exit_at(pc);
  llvm::IRBuilder<>::InsertPointGuard keep(b_);
  llvm::BasicBlock* slow = cold("slow");
  b_.SetInsertPoint(slow);
  flush_operands(pc);
  llvm::Value* next = call_exec(pc);
  auto* raises = cold("raises");
  auto* done = cold("done");
  b_.CreateCondBr(b_.CreateIsNotNull(next), done, raises);
  b_.SetInsertPoint(raises);
  raise(pc, true);
  b_.SetInsertPoint(done);
  reload_written(pc);
  b_.CreateBr(after);
  return slow;
}

// ---- the end ----

void Translator::finish() {
  if (!b_.GetInsertBlock()->getTerminator()) b_.CreateUnreachable();
  for (const auto& [handlers, raised] : raised_) raised_block(handlers, raised);
  insert_late_blocks();
  for (llvm::BasicBlock& each : *function_) {
    if (each.getTerminator()) continue;
    b_.SetInsertPoint(&each);
    b_.CreateUnreachable();
  }
  size_areas();
  forget_needless_unsets();
}

// ---- blocks, values ----

llvm::BasicBlock* Translator::block(const char* name) { return llvm::BasicBlock::Create(*context_, name); }

llvm::BasicBlock* Translator::late(const char* name) {
  late_.push_back({block(name), false});
  return late_.back().block;
}

llvm::BasicBlock* Translator::cold(const char* name) {
  late_.push_back({block(name), true});
  return late_.back().block;
}

void Translator::insert_late_blocks() {
  std::unordered_set<const llvm::BasicBlock*> cold;
  for (const LateBlock& each : late_) {
    each.block->insertInto(function_);
    if (each.is_cold) cold.insert(each.block);
  }
  late_.clear();
  if (recursive()) weigh_branches(cold);
}

// What branches to cold blocks says that it rarely does. In functions that call themselves, where these are as much
// code as all else, they would otherwise have a say in what is in registers across calls, and stand in between. Code
// that consists of loops does not gain: what is behind a loop is rare to the optimiser anyway.
void Translator::weigh_branches(const std::unordered_set<const llvm::BasicBlock*>& rare) {
  constexpr uint32_t kUsual = 2000;  // to one, as llvm.expect has it
  for (llvm::BasicBlock& each : *function_) {
    auto* branch = llvm::dyn_cast_or_null<llvm::BranchInst>(each.getTerminator());
    if (!branch || !branch->isConditional()) continue;
    const bool first = rare.count(branch->getSuccessor(0)) > 0, second = rare.count(branch->getSuccessor(1)) > 0;
    if (first == second) continue;
    llvm::MDNode* weights = llvm::MDBuilder(*context_).createBranchWeights(first ? 1 : kUsual, first ? kUsual : 1);
    branch->setMetadata(llvm::LLVMContext::MD_prof, weights);
  }
}

void Translator::go_on_in(llvm::BasicBlock* next) {
  next->insertInto(function_);
  b_.SetInsertPoint(next);
}

// Null stands for a cold block, into which the next instructions then go.
void Translator::branch(llvm::Value* condition, llvm::BasicBlock* yes, llvm::BasicBlock* no) {
  llvm::BasicBlock* other = no ? no : cold("raises");
  b_.CreateCondBr(condition, yes, other);
  if (!no) b_.SetInsertPoint(other);
}

// Of no size the optimiser could reason from.
llvm::GlobalVariable* Translator::symbol(const std::string& name) {
  if (llvm::GlobalVariable* known = module_->getNamedGlobal(name)) return known;
  auto* type = llvm::ArrayType::get(b_.getInt8Ty(), 0);
  return new llvm::GlobalVariable(*module_, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, name);
}

// Said to be absolute, a symbol stands in the instruction that uses it instead of being loaded. The quick code
// generator does not know that and would leave the instruction to the slow one; and what is behind an address that
// may be anywhere must not be accessed so, because that instruction's displacement has 32 bits.
void Translator::say_absolute(llvm::GlobalVariable& symbol, uint64_t low, uint64_t high) {
  auto bound = [&](uint64_t v) { return llvm::ConstantAsMetadata::get(word(v)); };
  symbol.setMetadata(llvm::LLVMContext::MD_absolute_symbol, llvm::MDNode::get(*context_, {bound(low), bound(high)}));
}

// An address that is handed on, and nothing is read there.
llvm::GlobalVariable* Translator::passed_symbol(const std::string& name) {
  llvm::GlobalVariable* made = symbol(name);
  constexpr uint64_t kAnywhere = UINT64_MAX;
  if (!is_quick()) say_absolute(*made, kAnywhere, kAnywhere);
  return made;
}

llvm::Value* Translator::symbol_number(const std::string& name) {
  llvm::GlobalVariable* made = symbol(name);
  say_absolute(*made, 0, uint64_t{1} << 32);
  return b_.CreatePtrToInt(made, b_.getInt32Ty());
}

llvm::Value* Translator::pc_address(uint32_t pc) {
  pcs_.resize(chunk_.size, nullptr);
  if (!pcs_[pc]) pcs_[pc] = passed_symbol(unit_.bindings.pc(chunk_, pc));
  return pcs_[pc];
}

llvm::Value* Translator::shape_id(uint32_t id) {
  return symbol_number(unit_.bindings.shape(*chunk_.runtime->shapes.shape(id)));
}

llvm::Function* Translator::helper(const char* name, llvm::Type* result,
                                   std::initializer_list<llvm::Type*> parameters) {
  if (llvm::Function* known = module_->getFunction(name)) return known;
  auto* type = llvm::FunctionType::get(result, llvm::ArrayRef<llvm::Type*>(parameters.begin(), parameters.size()), false);
  auto* made = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, *module_);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  if (is_rare(name)) made->addFnAttr(llvm::Attribute::Cold);
  return made;
}

llvm::Value* Translator::word_pointer(llvm::Value* base, uint64_t offset) {
  return offset == 0 ? base : b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset);
}

Operand Translator::constant(uint16_t index) {
  const Borrowed v = chunk_.constants[index];
  const Kind kind = v.is_int()     ? Kind::Int
                    : v.is_float() ? Kind::Float
                    : v.is_bool()  ? Kind::Bool
                    : v.is_nil()   ? Kind::Nil
                                   : Kind::Any;
  if (v.is_short_string() || kind != Kind::Any) return {kind, word(v.word0), word(v.word1)};
  llvm::Value* payload = b_.CreatePtrToInt(symbol(unit_.bindings.constant(chunk_, index)), b_.getInt64Ty());
  return {kind, word(v.word0), payload};
}

// A local object's count goes up in place; everything else is the helper's.
void Translator::retain(const Operand& v) {
  if (is_uncounted(v.kind)) return;
  auto* counted = block("counted");
  auto* shared = cold("shared");
  auto* local = block("local");
  auto* done = block("done");
  b_.CreateCondBr(is_heap(v), counted, done);
  go_on_in(counted);
  llvm::Value* count = of(Memory::Count, load(b_.getInt32Ty(), object(v)));
  b_.CreateCondBr(b_.CreateICmpSGT(count, b_.getInt32(0)), local, shared);
  go_on_in(local);
  of(Memory::Count, put(b_.CreateAdd(count, b_.getInt32(1)), object(v)));
  b_.CreateBr(done);
  b_.SetInsertPoint(shared);
  auto* atomic = cold("atomic");
  b_.CreateCondBr(b_.CreateICmpEQ(count, b_.getInt32(0)), done, atomic);  // never counted
  b_.SetInsertPoint(atomic);
  retain_rarely(v);
  b_.CreateBr(done);
  go_on_in(done);
}

// By a call, where the way is cold or the object shared.
void Translator::retain_rarely(const Operand& v) {
  llvm::Function* retain = helper("retain", b_.getVoidTy(), {b_.getInt64Ty(), b_.getInt64Ty()});
  of(Memory::Count, b_.CreateCall(retain, {tag_of(v), payload_of(v)}));
}

}  // namespace posset::jit
