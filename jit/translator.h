// The translator's state and what its families share. Definitions by family: translator.cpp (blocks,
// prologue, generic instructions), translate_exits.cpp, translate_arith.cpp, translate_control.cpp, translate_data.cpp,
// translate_place.cpp, translate_pattern.cpp, translate_make.cpp, translate_build.cpp, translate_call.cpp.
//
// Registers are kept in variables of the function, by what is known of them (kinds.h): an int, list or bool in one
// word, a float as such, anything else in two. Both stages do so. Stage 1 leaves out what is there for an optimiser, or
// because there is time for it: the shapes of loops, strips, choices, inlining, arguments in processor registers; and
// at the end of a slice of steps it looks for newer code, for which whatever is live goes to the frame. Before an instruction is left to exec
// its operands go to the frame, and what it wrote is read back; where code raises or exits, whatever is live
// goes to the frame, in a cold block. Registers whose address is taken stay in the frame.
//
// Blocks: one per leader of the bytecode, in its order; what is unlikely goes to the end of the function,
// because the quick pipeline keeps the order it is given.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "bytecode/native.h"
#include "interp/value/objects.h"
#include "jit/bindings.h"
#include "jit/choices.h"
#include "jit/frame_maps.h"
#include "jit/kinds.h"
#include "jit/loans.h"
#include "jit/loops.h"
#include "jit/strips.h"
#include "jit/translate.h"
#include "jit/versions.h"

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;
using interp::Borrowed;
using interp::Tag;

// An operand, and what is known of it. `tag` is null when the kind says it; a float may have its number instead
// of the payload.
struct Operand {
  Kind kind = Kind::Any;
  llvm::Value* tag = nullptr;
  llvm::Value* payload = nullptr;  // i64, as in Borrowed::word1
  llvm::Value* number = nullptr;   // double
  std::vector<Operand> parts;      // of what is unboxed: fields or items
  uint32_t shape = kNoShape;       // of an unboxed record
};

interp::Packing packing_of_kind(Kind list);

// Instead of a loop head: arguments are passed by kind, see translate_recursion.cpp.
constexpr uint32_t kNativeArguments = UINT32_MAX;

// What an access to memory is about. Two that are about different things never meet: memory changes its use only
// when its object dies, which is a helper's. Items: of lists of anything. Fields: of records and variants. Cells: of
// refs. Links: what modules and the host have defined. Others: Host and Cells, which other tasks change while one polls.
enum class Memory : uint8_t { Others, Host, Cells, Frame, Count, Header, Shape, Kinds, Ints, Floats, Bools, Items, Fields, Links, kCount };

class Translator {
 public:
  // Of each version, in the order in which they are asked whether they fit; one at least.
  Translator(const Chunk& chunk, const std::vector<Version>& versions, int stage, const Prepare& prepare);
  std::unique_ptr<Translation> run();

 private:
  // To be put behind all other blocks; a cold one is rarely gone to.
  struct LateBlock {
    llvm::BasicBlock* block;
    bool is_cold;
  };
  // The function being made, with whatever is inlined into it.
  struct Unit {
    explicit Unit(const Chunk& chunk) : module(std::make_unique<llvm::Module>(chunk.name, *context)), builder(*context) {}
    std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
    std::unique_ptr<llvm::Module> module;
    llvm::IRBuilder<> builder;
    Bindings bindings;
    std::vector<LateBlock> late;
    Translator* root = nullptr;
    std::vector<llvm::Function*> entered;  // from elsewhere, by version; from the machine the first
    FrameMaps maps;
    std::vector<llvm::StoreInst*> unset;  // of variables in which there is nothing yet
    uint32_t steps_ahead = 0;  // charged for calls that are still to come
  };

  // ---- translator.cpp ----
  Translator(const Translator& first, size_t version, const Kinds& kinds);
  void make_version(Translation& made);
  void make_body();
  void find_leaders();
  void prologue();
  void enter_switch();
  llvm::BasicBlock* entry_block(uint32_t pc, uint32_t number);
  void read_frame(uint32_t pc, uint32_t number);
  Operand read_at_entry(uint16_t reg, bool knows_kind, llvm::PHINode* expected);
  void leave_at_entry(uint32_t pc, uint32_t number, llvm::PHINode* expected, llvm::BasicBlock* refused);
  void check_by_table(llvm::PHINode* expected, llvm::BasicBlock* unfit);
  bool is_read_at_entry(uint32_t reg) const;
  void instruction(uint32_t pc);
  bool inlined(uint32_t pc, const Insn& insn);  // false: left to exec
  void generic(uint32_t pc);
  void generic_branch(uint32_t pc, llvm::Value* next);
  void finish();

  // What bindings.h names: an address, or a number of 32 bits.
  llvm::GlobalVariable* symbol(const std::string& name);
  llvm::GlobalVariable* passed_symbol(const std::string& name);
  llvm::Value* symbol_number(const std::string& name);
  void say_absolute(llvm::GlobalVariable& symbol, uint64_t low, uint64_t high);
  llvm::Value* pc_address(uint32_t pc);
  llvm::Value* shape_id(uint32_t id);
  llvm::Constant* word(uint64_t v) { return b_.getInt64(v); }
  llvm::Value* tag_word(Tag tag) { return word(static_cast<uint64_t>(tag)); }

  // Most of them are called in rare cases only, which the layout of the code is to know.
  llvm::Function* helper(const char* name, llvm::Type* result, std::initializer_list<llvm::Type*> parameters);
  llvm::Value* call_exec(uint32_t pc);

  llvm::BasicBlock* block(const char* name);  // not placed yet
  llvm::BasicBlock* late(const char* name);   // at the end of the function
  llvm::BasicBlock* cold(const char* name);   // there, and rarely gone to
  void insert_late_blocks();
  void weigh_branches(const std::unordered_set<const llvm::BasicBlock*>& rare);
  void go_on_in(llvm::BasicBlock* next);      // places it here and emits into it
  void branch(llvm::Value* condition, llvm::BasicBlock* yes, llvm::BasicBlock* no);
  // The way to an instruction: by way of what its block expects of the registers.
  llvm::BasicBlock* block_at(uint32_t pc);

  // With the alignment said: cold blocks belong to no function yet that could tell the layout.
  static llvm::Align alignment(llvm::Type* type) {
    return llvm::Align(type->isPointerTy() ? sizeof(void*) : type->getScalarSizeInBits() / 8);
  }
  llvm::LoadInst* load(llvm::Type* type, llvm::Value* from) {
    return b_.CreateAlignedLoad(type, from, alignment(type));
  }
  llvm::StoreInst* put(llvm::Value* v, llvm::Value* to) {
    return b_.CreateAlignedStore(v, to, alignment(v->getType()));
  }

  // ---- translate_loops.cpp ----
  const Loop* loop_at(uint32_t pc) const;
  size_t number_of_loop(const Loop& loop) const;
  llvm::BasicBlock* before_loop(const Loop& loop);
  llvm::BasicBlock* way_to(uint32_t pc);
  bool guard_loop(uint32_t pc);
  llvm::Value* no_entry();
  void shape_loops();
  void prepare_entries();
  llvm::BasicBlock* way_from_entry(uint32_t pc, uint32_t number);
  void pass_through(uint32_t pc);
  llvm::BasicBlock* arrival(const Loop& loop);
  void forget_dead(uint32_t head);

  // ---- translate_bounds.cpp ----
  void bound_by_loop(const Loop& loop);
  void bound_by_range(const Loop& loop, const Insn& latch);
  void bound_by_condition(const Loop& loop, const Insn& latch);
  void bound(const Loop& loop, uint16_t reg, unsigned intrinsic, int64_t by);

  // ---- translate_strips.cpp ----
  // What terms of a strip are in one round.
  struct Terms {
    llvm::Value* counter;
    std::map<int, llvm::Value*> known;
    llvm::Value* fits;  // none of them has overflowed
  };
  // What has been asked for in front of a strip: functions by term, and what they have captured; and lists under
  // construction, whose sizes are variables in it.
  struct Proved {
    std::map<int, llvm::Value*> functions;
    std::map<std::pair<const Kinds*, uint32_t>, std::map<uint32_t, Operand>> captured;  // by call
    std::map<std::pair<const Kinds*, uint32_t>, llvm::Value*> natives;  // by call
    struct Size {
      uint16_t reg;
      llvm::Value* list;
      llvm::AllocaInst* size;
    };
    std::vector<Size> sizes;
    std::vector<Operand> rows;  // by number
  };
  void prepare_strips();
  void begin_strip(uint32_t pc);
  void weigh_strip(const Strip& strip, const Loop& loop, llvm::BasicBlock* fast, llvm::BasicBlock* single,
                   llvm::BasicBlock* failed);
  llvm::Value* rounds_by_condition(const Strip& strip, const Loop& loop, Terms& first, llvm::Value* step,
                                   llvm::BasicBlock* single);
  llvm::Value* holds_in_last_round(const Strip& strip, Terms& first, llvm::Value* more, llvm::Value* step);
  llvm::Value* rounds_by_steps(const Strip& strip);
  llvm::Value* rounds_by_room(const Strip& strip, llvm::Value* more);
  struct Bounds {
    llvm::Value *low, *high;
  };
  // What is asked of all rounds of a strip together.
  struct Weights {
    const Strip& strip;
    Terms &first, &last;
    llvm::Value* fits;
    std::map<int, Bounds> bounds;
  };
  llvm::Value* weighed(Weights& weights, unsigned intrinsic, llvm::Value* a, llvm::Value* b);
  void weigh_growths(Weights& weights, llvm::Value* rounds);
  Bounds bounds(Weights& weights, int number);
  Bounds bounds_of_two(Weights& weights, Term::Form form, const Bounds& a, const Bounds& b);
  llvm::Value* term(const Strip& strip, int number, Terms& in);
  llvm::Value* is_near_zero(const Strip& strip, Terms& first, Terms& last);
  llvm::Value* plain_sum(Term::Form form, llvm::Value* left, llvm::Value* right);
  void strip_body(const Strip& strip, const Loop& loop);
  void strip_latch(const Strip& strip, const Loop& loop, llvm::BasicBlock* condition);
  void require_lists(const Strip& strip, llvm::BasicBlock* failed);
  void require_rows(const Strip& strip, Terms& first, llvm::BasicBlock* failed);
  void require_functions(const Strip& strip, llvm::BasicBlock* failed);
  llvm::Value* function_in_strip(const Term& function, llvm::BasicBlock* failed);
  Operand value_in_strip(const Term& function);
  llvm::Value* around_in_strip(const Term& function);
  bool begin_proved_call(uint32_t pc, Translator& callee);
  void take_sizes(const Strip& strip);
  llvm::AllocaInst* size_in_strip(uint16_t list) const;
  Operand list_of(const Strip::Look& look);
  Operand appended_list(uint16_t reg);
  void charge_strip();
  void charge_strip_call();
  bool is_proved_kind(uint16_t reg, Kind kind) const;
  bool is_proved_walk(uint32_t pc) const;
  bool leaves_strip(uint32_t to) const {
    return strip_loop_ && !(strip_loop_->contains(to) && strip_->inside[to - strip_loop_->head]);
  }
  void leave_strip(uint32_t to);
  bool is_proved_sum(uint32_t pc) const;
  bool is_proved_look(uint32_t pc) const;
  bool is_proved_append(uint32_t pc) const;

  // ---- translate_steps.cpp ----
  void find_steps();
  void take_fuel();
  void give_fuel_back();
  void return_fuel();
  llvm::Value* fuel();
  void set_fuel(llvm::Value* left);
  llvm::Value* spend(llvm::Value* steps);  // what is left
  llvm::Value* call_poll();
  llvm::Value* poll_apart();
  llvm::MDNode* memory_tag(Memory memory);
  // Of what never changes while anybody can see it.
  llvm::LoadInst* fixed(llvm::LoadInst* loaded);
  static Memory elements_of(interp::Packing packing);
  // Says what memory it is about; the quick pipeline would not ask.
  template <class Instruction>
  Instruction* of(Memory memory, Instruction* access) {
    if (!is_quick()) access->setMetadata(llvm::LLVMContext::MD_tbaa, memory_tag(memory));
    return access;
  }

  // Made for the quick pipeline, which optimises nothing: one way to do a thing, and no shapes for an optimiser.
  bool is_quick() const { return stage_ == 1; }

  // ---- registers.cpp ----
  bool cached(uint32_t reg) const { return !kinds_->pinned(reg); }
  llvm::AllocaInst* new_variable(llvm::Type* type);
  llvm::AllocaInst* new_unset_variable(llvm::Type* type);
  void forget_needless_unsets();
  llvm::AllocaInst* variable(std::vector<llvm::AllocaInst*>& all, uint32_t reg, llvm::Type* type);
  Operand cached_value(uint32_t reg, const Known& known);
  void keep(uint32_t reg, Kind kind, const Operand& v);
  void flush(uint32_t reg, const Known& known);
  void flush_operands(uint32_t pc);
  void reload(uint32_t reg, Kind kind);
  void reload_written(uint32_t pc);
  bool start_instruction(uint32_t pc);
  void speculate(uint32_t pc, const Insn& insn);
  void require(uint32_t pc, uint16_t reg, Kind wanted);
  llvm::Value* is_kind(const Operand& v, Kind wanted);
  llvm::Value* both_hold(llvm::Value* first, const std::function<llvm::Value*()>& second);
  // ---- translate_exits.cpp ----
  // Registers that are not in the frame, as what they are.
  using Unflushed = std::vector<std::pair<uint32_t, Known>>;
  static Known as_flushed(const Known& v) { return is_unboxed(v.kind) ? v : Known(v.kind); }
  Unflushed unflushed(uint32_t pc, bool but_operands);
  Unflushed unflushed_around_call(uint32_t pc);
  // Code that many ways out come to, with the number of the place which they began at. In quick code that is in a
  // variable, which costs less to compile.
  struct Landing {
    llvm::BasicBlock* block = nullptr;
    llvm::PHINode* place = nullptr;
  };
  void open(Landing& landing, llvm::BasicBlock* block);
  void go_to(Landing& landing, llvm::Value* place);
  static llvm::Value* place_come_from(const Landing& landing) { return landing.place; }
  llvm::Value* place_left(const Landing& landing);
  Landing& flushing(const Unflushed& registers, Landing& then);
  void put_raw(uint32_t reg, const Known& known);
  Landing& way_out(bool raises, uint32_t pc);
  Landing& outward(bool raises);
  std::vector<uint32_t> handlers_at(uint32_t pc) const;
  Landing& exit_landing();
  // In the frame map.
  uint32_t values_of(const Unflushed& registers);
  uint32_t place(uint32_t pc, uint32_t expected, const Unflushed& registers, std::vector<uint32_t> retained);
  uint32_t inlined_as();
  // Goes back to bytecode at the instruction.
  llvm::BasicBlock* exit_at(uint32_t pc);
  llvm::BasicBlock* exit_with(uint32_t pc, uint32_t expected);
  llvm::BasicBlock* refused_at(uint32_t pc);
  llvm::BasicBlock* leave_before(uint32_t pc, uint32_t expected, bool raises);
  void exit_behind_call(uint32_t pc, const Insn& insn, uint32_t expected);
  uint32_t expectation(uint32_t ahead) const;
  uint32_t expectation_at_entry(uint32_t reg, Kind kind) const;
  uint32_t expectation_behind_call(Kind kind, uint32_t argument) const;
  uint32_t expectation_of_captured(Kind kind, uint32_t number) const;
  // Goes to the error path unless the helper's outcome (i8) says all is well.
  void raise_unless(llvm::Value* ok, uint32_t pc);
  void raise(uint32_t pc, bool operands_done = false);
  // Where errors go that are raised at an instruction: by the handlers around it.
  Landing& raised_at(uint32_t pc);
  llvm::BasicBlock* handler_block(uint32_t pc);
  void raised_block(const std::vector<uint32_t>& handlers, const Landing& raised);
  llvm::AllocaInst* new_area();
  llvm::Value* native_frame();
  llvm::Value* parts_passed();
  uint32_t first_part(uint32_t reg, uint32_t count);
  void size_areas();
  // Guards that fail at random, see RuntimeOptions::exit_stress.
  bool is_stressed() const;
  llvm::BranchInst* begin_guarded();
  void end_guarded(llvm::BranchInst* way);
  llvm::Value* is_exit_forced();

  // ---- translate_forks.cpp ----
  llvm::Value* quanta();
  bool leave_rounds(uint32_t pc, uint16_t begun_in);
  bool leave_forks(const Insn& insn);
  void count_forking_call();
  bool leaves_records() const;
  bool take_back_fork(uint32_t pc, const Insn& insn);
  uint64_t fresh_header(uint32_t point) const;
  llvm::Value* fork_top();
  void set_fork_top(llvm::Value* record);

  llvm::Value* word_pointer(llvm::Value* base, uint64_t offset);
  llvm::Value* register_pointer(uint16_t reg) { return word_pointer(registers_, uint64_t{reg} * sizeof(Borrowed)); }
  Operand read(uint16_t reg);
  Operand constant(uint16_t index);
  static Operand unknown(llvm::Value* tag, llvm::Value* payload) { return {Kind::Any, tag, payload}; }
  Operand integer(int64_t v) { return {Kind::Int, nullptr, word(static_cast<uint64_t>(v))}; }
  llvm::Value* tag_of(const Operand& v);
  void write(uint16_t reg, const Operand& v);
  void store_value(llvm::Value* to, const Operand& v, Memory memory);
  Operand load_value(llvm::Value* from, Memory memory);
  llvm::Value* payload_of(const Operand& v);
  // Folds to a constant where the kind is known.
  llvm::Value* is(const Operand& v, Kind kind);
  llvm::Value* is_heap(const Operand& v);
  llvm::Value* as_double(const Operand& v) { return v.number ? v.number : b_.CreateBitCast(v.payload, b_.getDoubleTy()); }
  static Operand floating(llvm::Value* number) { return {Kind::Float, nullptr, nullptr, number}; }
  llvm::LoadInst* load_word(llvm::Value* base, uint64_t offset) {
    return load(b_.getInt64Ty(), word_pointer(base, offset));
  }
  llvm::StoreInst* store_word(llvm::Value* base, uint64_t offset, llvm::Value* v) {
    return put(v, word_pointer(base, offset));
  }
  llvm::Value* object(const Operand& v) { return b_.CreateIntToPtr(payload_of(v), b_.getPtrTy()); }
  void retain(const Operand& v);
  void retain_rarely(const Operand& v);
  void release(const Operand& v);
  llvm::BasicBlock* one_less(const Operand& v, llvm::BasicBlock* otherwise, llvm::BasicBlock* done);
  Operand nil() { return {Kind::Nil, nullptr, word(0)}; }

  // ---- translate_arith.cpp ----
  struct Arith;
  bool arith(uint32_t pc, const Insn& insn);
  bool power(uint32_t pc, const Insn& insn);
  bool on_bits(uint32_t pc, const Insn& insn);
  bool unary(uint32_t pc, const Insn& insn);
  void known_numbers(const Insn& insn, const Arith& rule, const Operand& b, const Operand& c, llvm::BasicBlock* slow);
  llvm::Value* number_of(const Operand& v);
  llvm::Value* exact_number(const Operand& v, llvm::BasicBlock* otherwise);
  llvm::Value* any_number(const Operand& v, llvm::BasicBlock* otherwise);
  void two_numbers(uint32_t pc, const Insn& insn, const Arith& rule, const Operand& b, const Operand& c);
  llvm::Value* int_result(const Arith& rule, llvm::Value* b, llvm::Value* c, llvm::BasicBlock* slow);
  void leave_choice(llvm::Value* holds, llvm::Value* jumps_fails, llvm::Value* falls_fails);
  llvm::Value* checked_by_range(llvm::Value* b, llvm::Value* c, unsigned intrinsic);
  llvm::Value* checked(llvm::Value* b, llvm::Value* c, unsigned intrinsic, llvm::BasicBlock* slow);
  llvm::Value* floor_divided(const Arith& rule, llvm::Value* b, llvm::Value* c, llvm::BasicBlock* slow);
  llvm::Value* floor_divided_by(bool rest, llvm::Value* b, const llvm::ConstantInt& by);
  void float_result(const Insn& insn, const Arith& rule, const Operand& b, const Operand& c, llvm::BasicBlock* slow);

  // ---- translate_choice.cpp ----
  bool choose(uint32_t pc, llvm::Value* holds);
  Operand read_appended(const Choice& choice);
  void append_unless(llvm::Value* condition, const Insn& append, const Operand& v);
  llvm::Value* compute_way(const Choice::Way& way, const State& before);
  Operand either(llvm::Value* condition, const Operand& a, const Operand& b);

  // ---- translate_math.cpp ----
  bool intrinsic(uint32_t pc, const Insn& insn);
  llvm::Value* require_native(uint32_t pc, const Insn& insn, interp::Intrinsic which);
  llvm::Value* require_intrinsic(const Operand& callee, interp::Intrinsic which, llvm::BasicBlock* otherwise);
  Operand on_numbers(uint32_t pc, const Insn& insn, interp::Intrinsic which);
  Operand call_of_floats(uint32_t pc, const Insn& insn, llvm::Value* function);
  llvm::Value* entry_of_floats(llvm::Value* function, uint32_t count);
  llvm::Value* linked_of_floats(uint32_t link, llvm::FunctionType* type);
  Operand absolute(uint32_t pc, const Operand& v);
  Operand whole(uint32_t pc, const Operand& v, unsigned rounding);
  Operand better(const Operand& v, const Operand& best, bool larger);
  Operand clamped(uint32_t pc, const Operand& v, const Operand& low, const Operand& high);
  llvm::Value* is_beyond(const Operand& v, const Operand& limit, bool above);

  // ---- translate_control.cpp ----
  bool move(const Insn& insn);
  void store(const Insn& insn);
  void drop(uint16_t first, uint16_t count);
  void iter_range(uint32_t pc, const Insn& insn);
  void for_next(uint32_t pc, const Insn& insn);
  void advance_items(const Insn& insn, const Operand& narrowed);
  bool compare(uint32_t pc, const Insn& insn);
  bool jump(uint32_t pc, const Insn& insn);
  const Insn* written_by(uint16_t reg, Op op) const;
  void note_written(uint32_t pc);
  Operand compared(uint16_t reg, int which, bool with_zero);
  void compare_value(uint32_t pc, const Insn& insn, int which);
  llvm::Value* comparison(int which, const Operand& b, const Operand& c, bool sense);
  void compare_jump(uint32_t pc, const Insn& insn, int which, bool back, const Operand& b);
  // Branches on b `which` c: to `holds` or `fails`, or to `slow` when these are no numbers of one kind.
  void compare_branch(int which, const Operand& b, const Operand& c, bool consumes, llvm::BasicBlock* holds,
                      llvm::BasicBlock* fails, llvm::BasicBlock* slow);
  void word_branch(const Operand& v, const Operand& atom, llvm::BasicBlock* same, llvm::BasicBlock* different);
  void exec_in(llvm::BasicBlock* slow, uint32_t pc);
  void jump_on_bool(uint32_t pc, const Insn& insn, bool back);
  llvm::BasicBlock* behind_rounds(uint32_t pc, const Insn& insn);
  void for_range(uint32_t pc, const Insn& insn);
  void advance_range(const Insn& insn);
  void advance_down(const Insn& insn);
  // Charges a step for the instruction and goes on at the target.
  // `advance` is what happens to the registers behind the step.
  void go_round(uint32_t pc, uint32_t to, const std::function<void()>& advance);
  void newer_code(uint32_t to);
  void poll_round(uint32_t pc, uint32_t to, llvm::BasicBlock* fine, const std::function<void()>& advance);
  // The same for a round that charges nothing.
  void go_round_free(uint32_t to, const std::function<void()>& advance);
  llvm::BasicBlock* round_block(uint32_t pc, uint32_t to);

  // ---- translate_data.cpp ----
  bool data(uint32_t pc, const Insn& insn);
  llvm::Value* changed_element(const Operand& list, const Operand& at, llvm::BasicBlock* slow);
  llvm::Value* element(const Operand& list, const Operand& at, llvm::BasicBlock* slow);
  llvm::Value* packing_of(const Operand& list);
  llvm::Value* size_of(const Operand& list);
  llvm::Value* capacity_of(const Operand& list);
  void set_size(const Operand& list, llvm::Value* size);
  void put_element(const Operand& list, llvm::Value* at, interp::Packing packing, const Operand& v);
  void by_packing(const Operand& list, llvm::BasicBlock* slow, llvm::BasicBlock* after,
                  const std::function<void(interp::Packing)>& body);
  llvm::Value* element_pointer(const Operand& list, llvm::Value* at, interp::Packing packing);
  Operand load_item(llvm::Value* from, interp::Packing packing);
  void consume_container(const Insn& insn, const Operand& container);
  void give_up(uint16_t reg, uint16_t result, const Operand& v);
  Operand load_element(const Operand& list, llvm::Value* at, interp::Packing packing);
  void store_element(const Operand& list, llvm::Value* at, interp::Packing packing, const Operand& v,
                     llvm::BasicBlock* slow);
  void index(uint32_t pc, const Insn& insn);
  void set_index(uint32_t pc, const Insn& insn);
  void swap(uint32_t pc, const Insn& insn);
  llvm::Value* field_pointer(const Operand& base, uint16_t cache, llvm::BasicBlock* slow, llvm::Value** number = nullptr);
  void field(uint32_t pc, const Insn& insn);
  llvm::Value* ascii_size(const Operand& text, llvm::BasicBlock* slow);
  llvm::Value* ascii_byte(const Operand& text, const Operand& at, llvm::BasicBlock* slow);
  Operand short_text(llvm::Value* byte);
  void by_length(const Operand& text, llvm::BasicBlock* in_object, llvm::BasicBlock* inside, llvm::BasicBlock* slow);
  llvm::Value* short_size(const Operand& text);
  llvm::Value* short_byte(const Operand& text, llvm::Value* at, llvm::BasicBlock* slow);
  llvm::Value* any_ascii_size(const Operand& text, llvm::BasicBlock* slow);
  llvm::Value* any_ascii_byte(const Operand& text, const Operand& at, llvm::BasicBlock* slow);
  llvm::Value* either_way(llvm::Value* a, llvm::BasicBlock* from_a, llvm::Value* b, llvm::BasicBlock* from_b);
  void index_of_texts(uint32_t pc, const Insn& insn);
  llvm::Value* look_up(const char* name, llvm::Type* result, const Operand& map, const Operand& key, llvm::BasicBlock* slow);
  void index_of_map(uint32_t pc, const Insn& insn);
  void key_in_map(uint32_t pc, const Insn& insn, uint16_t container, uint16_t sought, bool consumes);
  void next_character(uint32_t pc, const Insn& insn);
  void text_branch(int which, const Operand& b, const Operand& c, llvm::BasicBlock* holds, llvm::BasicBlock* fails, llvm::BasicBlock* slow);
  llvm::Value* order_of_short(const Operand& v);
  void code_at(uint32_t pc, const Insn& insn);
  void character_in(uint32_t pc, const Insn& insn);
  llvm::Value* list_size(const Operand& v, llvm::BasicBlock* slow);
  llvm::Value* list_or_map_size(const Operand& v, llvm::BasicBlock* slow);
  void length_of(uint32_t pc, const Insn& insn);
  llvm::Value* is_unique(const Operand& v);

  // ---- translate_build.cpp ----
  bool build(uint32_t pc, const Insn& insn);
  void append_item(uint32_t pc, const Insn& insn);
  void append_proved(const Insn& insn, const Operand& v);
  void count_appended(const Insn& insn, const Operand& list, llvm::Value* size, const Operand& v);
  // `slow` where it does not fit; counted once more when it is not consumed.
  void append_element(const Operand& list, llvm::Value* at, interp::Packing packing, const Operand& v, bool copies,
                      llvm::BasicBlock* slow);
  void iter_begin(uint32_t pc, const Insn& insn);
  void captured(const Insn& insn);
  void linked(uint32_t pc, const Insn& insn);
  void callback_loop_fits(uint32_t pc, const Insn& insn);
  llvm::Value* iterates(const Operand& v, bool counts);

  // ---- translate_place.cpp ----
  bool place(uint32_t pc, const Insn& insn);
  void known_field(uint32_t pc, const Insn& insn);
  void set_field(uint32_t pc, const Insn& insn);
  void check_shape(const Operand& v, uint32_t known, uint32_t wanted, llvm::BasicBlock* otherwise);
  // Of that kind, or on to `otherwise`.
  Operand narrowed(const Operand& v, Kind wanted, llvm::BasicBlock* otherwise);
  llvm::Value* loaded_number(llvm::Value* payload);
  void demand_unique(const Operand& v, llvm::BasicBlock* otherwise);
  Operand load_field(llvm::Value* from) { return load_value(from, Memory::Fields); }
  llvm::Value* shape_of(const Operand& v);
  // What a record says of its fields: what it is known to say, looked at, noted.
  llvm::Value* fields_pointer(llvm::Value* object);
  llvm::Value* tells_fields(const Operand& base, uint16_t wanted);
  void check_fields(const Operand& base, uint16_t wanted, llvm::BasicBlock* otherwise);
  bool is_told(const Operand& base, uint16_t known, Kind wanted, llvm::BasicBlock* otherwise);
  llvm::Value* kind_noted(const Operand& v);
  void note_field(llvm::Value* object, uint32_t field, const Operand& v);
  void note_field_at(const Operand& base, llvm::Value* field, const Operand& v);
  Operand assumed(const Operand& v, Kind kind);
  llvm::Value* field_at(const Operand& base, uint32_t field);
  void store_field(const Operand& base, uint16_t known, uint16_t reg, bool consume);
  void replace_part(llvm::Value* to, uint16_t reg, bool consume, Memory memory, bool is_plain = false);
  bool is_tagged_place() const { return has_fields(place_.kind) || place_.kind == Kind::Items; }
  Memory place_memory() const { return has_fields(place_.kind) ? Memory::Fields : Memory::Items; }
  llvm::Value* place_part(uint32_t pc, const Insn& insn);
  Operand part_at(llvm::Value* from, Kind kind, llvm::BasicBlock* otherwise);
  llvm::Value* cell_of(const Operand& ref);
  void value_of_ref(uint32_t pc, const Insn& insn);
  void place_ref(uint32_t pc, const Insn& insn);
  void take_cell(uint32_t pc, const Insn& insn);
  void update_cell(uint32_t pc, const Insn& insn);
  void walk_step(uint32_t pc);
  void store_part(uint32_t pc, const Insn& insn);
  void take_part(uint32_t pc, const Insn& insn);
  void update_part(uint32_t pc, const Insn& insn);
  void demand_same(const Operand& now, const Operand& before, llvm::BasicBlock* otherwise);
  Operand updated(uint32_t pc, const Operand& old, const Operand& right);

  // ---- translate_loans.cpp ----
  // A loan whose code is being made. `place`: where a value taken out still stands; null when it was read.
  struct Lent {
    Loan loan;
    llvm::Value* place;
    Memory memory;
    uint32_t field;  // of fields
  };
  bool lend(uint32_t pc, llvm::Value* place);
  bool ends_loan(uint32_t pc);
  bool is_lent(uint16_t reg) const;
  bool lend_argument(const Insn& insn);
  bool is_borrowed(uint16_t reg) const;
  void add_borrowed(std::vector<uint32_t>& to) const;
  void settle_arguments(const Insn& insn);
  std::vector<Operand> lent_for_the_call(const Insn& insn);
  void forget_loans(uint32_t pc);
  llvm::Value* record_around(llvm::Value* place, uint32_t field);
  void settle_loans();
  void settle_places();
  std::vector<uint32_t> lent_registers() const;
  bool is_handler(uint32_t pc) const;

  // ---- translate_make.cpp ----
  bool make(uint32_t pc, const Insn& insn);
  llvm::Value* allocate(Tag tag, size_t bytes, uint8_t flags, llvm::BasicBlock* slow);
  llvm::Value* allocate_record(Tag tag, llvm::Value* shape, uint32_t count, llvm::BasicBlock* slow);
  llvm::Value* allocate_list(Kind kind, size_t items, size_t size, llvm::BasicBlock* slow);
  Operand object_made(Kind kind, llvm::Value* cell);
  Operand moved_out(uint16_t reg);
  bool make_record(uint32_t pc, Tag tag, uint32_t count, llvm::Value* shape);
  bool new_list(uint32_t pc, const Insn& insn);
  void pack_new_list(uint32_t pc);
  bool make_list(uint32_t pc, const Insn& insn);
  void put_item(interp::Packing packing, const Operand& v, llvm::Value* to);
  void push(uint32_t pc, const Insn& insn);
  void push_packed(const Operand& list, llvm::Value* size, Kind packed, const Operand& v,
                     llvm::BasicBlock* otherwise, llvm::BasicBlock* after);
  void push_item(const Operand& list, llvm::Value* size, Kind packed, const Operand& v);
  void pop(uint32_t pc, const Insn& insn);

  // ---- translate_unboxed.cpp ----
  static constexpr uint32_t part_number(uint32_t reg, uint32_t field) { return reg * interp::FieldKinds::kFields + field; }
  llvm::AllocaInst* part_variable(uint32_t reg, uint32_t field, Kind kind);
  Operand unboxed_value(uint32_t reg, const Known& known);
  void keep_parts(uint32_t reg, const Operand& v);
  void forget_parts(uint32_t reg);
  Operand fresh_object(const Operand& v);
  llvm::Value* fresh_record(const Operand& v, llvm::BasicBlock* slow);
  llvm::Value* fresh_list(const Operand& v, Kind kind, llvm::BasicBlock* slow);
  llvm::Value* object_by_helper(const Operand& v, bool goes_on);
  void box_operands(uint32_t pc);
  bool make_unboxed(const Insn& insn);
  bool is_item_unboxed(const Insn& insn) const;
  void unboxed_part(const Insn& insn);
  void set_unboxed_field(const Insn& insn);
  Operand unpacked(const Operand& object, const Known& known);
  static Known known_of(const Operand& v);
  llvm::Value* has_parts(const Operand& list, const Known& known);

  // ---- translate_pattern.cpp ----
  bool pattern(uint32_t pc, const Insn& insn);
  bool test(uint32_t pc, llvm::Value* fits);
  bool type_test(uint32_t pc, const Insn& insn);
  Kind type_tested(uint16_t reg) const { return is_unboxed(plan_.a) ? boxed(state_.known(reg)).kind : plan_.a; }
  llvm::Value* constructed_shape(uint16_t link);
  void test_variant(uint32_t pc, const Insn& insn);
  void test_list(uint32_t pc, const Insn& insn);
  bool test_const(uint32_t pc, const Insn& insn);
  void test_field(uint32_t pc, const Insn& insn);
  void view_item(uint32_t pc, const Insn& insn);

  // ---- translate_call.cpp ----
  struct Callee {
    llvm::Value* closure;
    llvm::Value* chunk;
  };
  bool call(uint32_t pc, const Insn& insn);
  bool call_known(uint32_t pc, const Insn& insn);
  void call_by_helper(uint32_t pc);
  void direct_call(uint32_t pc, const Insn& insn);
  void call_by_frame(uint32_t pc, const Insn& insn, const Callee& callee, llvm::BasicBlock* slow, llvm::BasicBlock* after);
  Callee load_callee(const Insn& insn, llvm::BasicBlock* slow);
  llvm::Value* fitting_closure(const Insn& insn, llvm::BasicBlock* slow);
  llvm::Value* takes_plainly(llvm::Value* function, uint32_t arguments);
  llvm::Value* acquired(llvm::Value* base, uint64_t offset);
  llvm::Value* has_room(llvm::Value* registers, llvm::Value* base, llvm::Value* depth);
  llvm::Value* enter_callee(llvm::Value* code, llvm::FunctionType* type, llvm::ArrayRef<llvm::Value*> arguments,
                            llvm::Value* depth);
  void finish_call(uint32_t pc, const Insn& insn, llvm::Value* result, llvm::BasicBlock* after);
  void leave(const Insn& insn);
  void release_slots(uint16_t count, uint16_t taken);
  void flush_slot(uint32_t slot);

  // ---- translate_inline.cpp ----
  Translator(Translator& caller, const Kinds& kinds, uint32_t call_pc);
  void inline_call(uint32_t pc, const Insn& insn);
  llvm::Value* closure_called(uint32_t pc, const Insn& insn);
  Operand called_by(const Insn& insn);
  llvm::Value* link_cell(llvm::Value* closure, uint16_t link);
  llvm::Value* closure_of_link(llvm::Value* closure, uint16_t link);
  llvm::Value* fixed_pointer(llvm::Value* base, uint64_t offset);
  llvm::Value* unit_number(llvm::Value* closure);
  bool is_read_early(uint32_t pc, const Insn& insn) const;
  llvm::Value* take_callee(uint32_t pc, const Insn& insn, Translator& callee);
  void read_captured();
  Operand captured_value(uint32_t number);
  Operand captured_by(llvm::Value* closure, uint32_t number);
  void require_function(const Operand& v, llvm::BasicBlock* otherwise);
  void require_unit(const Kinds& caller, uint32_t pc, llvm::Value* number, llvm::BasicBlock* otherwise);
  Operand require_captured(llvm::Value* closure, uint32_t number, Kind kind, llvm::BasicBlock* otherwise);
  void begin_steps(uint32_t pc, Translator& callee);
  void charge_call(uint32_t pc, uint32_t steps);
  void take_arguments(const Insn& insn);
  void run_inlined();
  void leave_inlined(const Insn& insn);
  // ---- translate_direct.cpp ----
  bool is_direct() const;
  llvm::Function* new_direct_function();
  void make_direct_function();
  void enter_from_frame();
  void begin_wrapper(llvm::Function* made);
  void end_wrapper();
  void say_direct(Translation& made) const;
  std::optional<uint64_t> kinds_given(const Insn& insn) const;
  std::optional<size_t> version_called(uint32_t pc, const Insn& insn) const;
  void call_by_kind(uint32_t pc, const Insn& insn, const Callee& callee, llvm::BasicBlock* otherwise, llvm::BasicBlock* after);

  // ---- translate_recursion.cpp ----
  llvm::FunctionType* entry_type();
  bool recursive() const { return kinds_->is_recursive(); }
  // The closure called is the one that runs: no link need be looked at.
  bool calls_itself(uint32_t pc) const { return is_outermost_closure_ && kinds_->is_recursive(pc); }
  void make_recursive_functions();
  llvm::Function* new_recursive_function(const char* name);
  llvm::Value* itself_for(llvm::Value* activation, llvm::Value* room);
  bool fits_itself(const Insn& insn);
  Kind argument_kind(uint32_t n) const;
  llvm::Function* new_rare_function(const llvm::Twine& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> types);
  llvm::Function* poll_function();
  llvm::Function* apart_function();
  void call_with_frame(llvm::Function& apart, unsigned first);
  llvm::Value* call_apart(uint32_t pc, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Value* enter_itself(llvm::ArrayRef<llvm::Value*> arguments, llvm::BasicBlock* slow);
  llvm::CallInst* call_function(llvm::Value* callee, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::BasicBlock* begin_with_leaf(uint32_t pc, const Insn& insn);
  bool takes_numbers() const;
  llvm::Function* make_plain_function();
  llvm::Function* enter_plainly(llvm::Function& body);
  llvm::Function* make_columns_function(llvm::Function& plain);
  // What stands in the native frame is written where it is needed.
  bool fills_frame_late() const { return in_wrapper_ || recursive() || takes_numbers(); }
  void enter_from_elsewhere();
  void arguments_by_kind(std::vector<llvm::Value*>& arguments);
  llvm::Value* room_from(llvm::Value* depth);
  llvm::Value* make_activation(llvm::Value* depth, llvm::Value* room);
  void return_elsewhere(llvm::Value* result);
  void begin_recursive_function();
  llvm::Value* take_entry_number();
  llvm::Value* passed_steps();
  llvm::Value* host();     // Context*
  llvm::Value* closure();
  llvm::Value* depth_here();
  llvm::Value* depth_with(llvm::Value* activation, llvm::Value* room);
  void set_depth(llvm::Value* context, llvm::Value* depth);
  void take_native_arguments();
  static Operand native_argument(llvm::Function& function, Kind kind, unsigned& next);
  void check_links(llvm::BasicBlock* refused);
  bool call_itself(uint32_t pc, const Insn& insn);
  bool native_arguments(const Insn& insn, std::vector<llvm::Value*>& arguments, llvm::BasicBlock* slow);
  llvm::Value* has_room_for_itself(llvm::ArrayRef<llvm::Value*> arguments, llvm::Value* lowest);
  void finish_call_of_itself(uint32_t pc, const Insn& insn, llvm::Value* result, llvm::BasicBlock* after);
  void finish_helper_call(uint32_t pc, const Insn& insn);
  void take_back(uint32_t pc, const Insn& insn, const Operand& result);
  void write_result(uint32_t pc, const Insn& insn, const Operand& v);
  void return_value(const Operand& v);
  void return_words(llvm::Value* tag, llvm::Value* payload);
  void return_struct(llvm::ArrayRef<llvm::Value*> words);
  void return_left(llvm::Value* result);
  const Translator& outermost() const { return caller_ ? caller_->outermost() : *this; }

  // ---- translate_inline.cpp ----
  uint32_t calls_deep() const { return caller_ ? caller_->calls_deep() + 1 : 0; }
  // What helpers are given: of an inlined frame it is filled in here.
  llvm::Value* frame();
  void fill_frame();
  // Calls a helper as the frame at hand; deep calls count while it runs.
  llvm::Value* call_framed(llvm::Function* callee, llvm::ArrayRef<llvm::Value*> arguments);
  uint32_t most_with_forking(uint32_t (Kinds::*count)() const) const;
  llvm::Value* has_room_inlined();

  // Emits the slow way of an instruction in a cold block: exec, then on to the instruction after it.
  llvm::BasicBlock* slow_way(uint32_t pc, llvm::BasicBlock* after);

  const Chunk& chunk_;
  const std::vector<Version>* const versions_ = nullptr;  // null: inlined
  const size_t version_ = 0;
  const Kinds* const kinds_;
  const int stage_ = 2;
  const std::unique_ptr<Unit> own_;        // null: inlined into the caller's
  Unit& unit_;
  Translator* const caller_ = nullptr;
  const uint32_t call_pc_ = 0;             // in the caller
  bool is_charged_ = false;              // together with the call, and so is what it calls
  llvm::BasicBlock* after_call_ = nullptr;
  llvm::BasicBlock* beyond_leaf_ = nullptr;  // where the call is made after all; null: all of it is inlined
  llvm::LLVMContext* const context_;
  llvm::Module* const module_;
  llvm::IRBuilder<>& b_;
  std::vector<LateBlock>& late_;
  llvm::Function* function_ = nullptr;
  llvm::Function* direct_ = nullptr;     // see translate_direct.cpp
  bool in_wrapper_ = false;              // the function being made is one around the body
  llvm::Function* itself_ = nullptr;     // see translate_recursion.cpp, and for these:
  llvm::Function* forking_ = nullptr;
  llvm::Value* activation_ = nullptr;
  llvm::Value* room_ = nullptr;
  llvm::Value* closure_ = nullptr;         // null: of the activation; use closure()
  bool is_outermost_closure_ = true;       // what runs here is what the function was entered with
  std::map<uint32_t, Operand> captured_;  // what has been read and looked at before the call
  llvm::Value* registers_ = nullptr;
  // Allocas, see size_areas(); of the outermost only.
  llvm::AllocaInst *frames_ = nullptr, *parts_passed_ = nullptr;
  uint32_t frames_count_ = 0, parts_count_ = 0, parts_boxed_ = 0;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> parts_at_;  // by depth, register and how many they are
  std::vector<llvm::BasicBlock*> blocks_;  // by instruction; null: no leader
  std::vector<llvm::Value*> pcs_;          // by instruction; null: nobody has asked
  std::map<std::vector<uint32_t>, Landing> raised_;  // by the handlers
  Landing exits_;
  std::map<bool, Landing> outward_;  // by whether it is an error
  std::map<std::pair<const Strip*, llvm::BasicBlock*>, Landing> charges_;  // by what comes then, as these:
  std::map<std::pair<std::pair<uint32_t, Known>, llvm::BasicBlock*>, Landing> flushes_;
  uint32_t inlined_as_ = 0;  // use inlined_as()

  // Stage 2: loops, see translate_loops.cpp.
  struct Passing {
    uint32_t number;  // of the entry
    const Loop* to;   // the next loop on the way
    bool arrives;     // it is the one where the code is entered
  };
  struct LoopShape {
    llvm::BasicBlock* before = nullptr;
    std::optional<Strip> strip;
    llvm::AllocaInst* tries = nullptr;  // at strips, until the loop is left
    std::vector<Passing> passing;
  };
  std::vector<Loop> loops_;
  std::vector<LoopShape> shapes_;         // of loops_
  const Strip* strip_ = nullptr;          // whose body is being made, or a call in it
  const Loop* strip_loop_ = nullptr;      // not of a call
  Proved* proved_ = nullptr;              // of the strip
  llvm::AllocaInst* left_ = nullptr;      // rounds of the strip that runs
  llvm::AllocaInst* weighed_ = nullptr;   // as many as there were, where a strip may be left for a block
  llvm::AllocaInst* fuel_behind_ = nullptr;  // when none is left
  const Loop* guarded_ = nullptr;         // whose condition is being made in front of it
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t here_ = kNowhere;               // the instruction being made
  std::map<uint32_t, uint32_t> writers_;   // by register: what has written it last, in the same block
  llvm::Value* no_entry_ = nullptr;
  llvm::AllocaInst* passing_ = nullptr;   // number of the entry on its way inwards, or no_entry_

  llvm::AllocaInst* fuel_ = nullptr;  // see translate_steps.cpp; null: in the context
  llvm::MDNode* memory_tags_[static_cast<size_t>(Memory::kCount)] = {};
  llvm::Value* entry_number_ = nullptr;
  uint64_t heads_ = 0;  // loop heads where the code can be entered

  llvm::AllocaInst* left_place_ = nullptr;  // see Landing

  // The instruction at hand.
  bool reached_ = true;
  State state_;   // before it
  State after_;
  Plan plan_;
  std::vector<std::pair<uint16_t, Operand>> refined_;  // operands behind their guards
  llvm::Value* overflowed_ = nullptr;  // while one of two ways is computed: whether a sum on it has
  llvm::BasicBlock* exit_ = nullptr;
  Operand place_;  // what a walk done in place has come to
  std::vector<Lent> lent_;
  std::vector<uint16_t> borrowed_;  // parameters whose arguments are lent
  uint32_t handler_ = 0;  // where the block being made begins, when errors come to it
  std::vector<llvm::AllocaInst*> tags_, payloads_, numbers_;  // by register
  std::map<std::pair<uint32_t, bool>, llvm::AllocaInst*> parts_;  // by part_number, and whether it is a float
};

}  // namespace posset::jit
