// What native code knows of every register at every instruction, and what it therefore does there: forward over the
// bytecode, from the kinds of the arguments and from what the profile has seen. Where the profile has seen one
// kind only, code is made for it behind a guard, and whatever fails the guard exits to bytecode; behind the
// guard the kind is known.
//
// The plan of an instruction depends on the state before it and on the profile alone, so analysis and emission
// agree by asking the same function; the profile and the inline caches go on changing, so that both are copied
// first. Instructions that have exited before (Seen::kExited) are planned without speculation. Plans for records,
// variants and walks to places are in kinds_data.cpp, for records that are no objects in kinds_unboxed.cpp. Source of
// the method: sparse forward data flow to the least fixed point.
#pragma once

#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "bytecode/chunk.h"
#include "jit/access.h"
#include "jit/translate.h"

namespace posset::jit {

// Ints up to here are floats without loss.
constexpr int64_t kMostExact = int64_t{1} << 53;

// What is known of a value when code is made. An unboxed record or list is no object: its parts, which are numbers and
// bools, are in variables. They are values, so nobody can tell, and copies of one are copies of its parts; it is made an
// object where one is asked for (Kinds::to_box). Ints to Items are lists by packing; a Text is too long to be kept inside a
// value.
enum class Kind : uint8_t { None, Nil, Bool, Int, Float, UnboxedRecord, UnboxedList, Ints, Floats, Bools, Items, Record, Variant, Ref, Text, Any };

// Records and variants keep their shape for life, so what is known of it holds as long as the register does.
constexpr uint32_t kNoShape = UINT32_MAX;

inline bool is_number(Kind kind) { return kind == Kind::Int || kind == Kind::Float; }
inline bool is_list(Kind kind) { return kind >= Kind::Ints && kind <= Kind::Items; }
inline bool is_packed(Kind kind) { return kind >= Kind::Ints && kind <= Kind::Bools; }
inline bool has_fields(Kind kind) { return kind == Kind::Record || kind == Kind::Variant; }
// What is known of a record's first fields, as it says itself (interp::FieldKinds): of one that holds the kind; those
// that are known at all; whether all that `wanted` says is; what two agree about.
uint16_t field_of_kind(uint32_t field, Kind kind);
uint16_t field_mask(uint32_t field);
inline uint16_t fields_told(uint16_t known) { return static_cast<uint16_t>(((known | known >> 1) & 0x5555) * 3); }
inline bool tells(uint16_t known, uint16_t wanted) { return (known & fields_told(wanted)) == wanted; }
inline uint16_t told_by_both(uint16_t a, uint16_t b) { return static_cast<uint16_t>(a & ~fields_told(a ^ b)); }
// What is told of the field.
Kind field_kind(uint16_t known, uint32_t field);
inline bool is_unboxed(Kind kind) { return kind == Kind::UnboxedRecord || kind == Kind::UnboxedList; }
// Of what is unboxed.
inline uint32_t count_parts(uint16_t known) { return static_cast<uint32_t>(std::bit_width(known) + 1) / 2; }
// Of two ints, and gives an int.
bool is_on_bits(syntax::BinaryOp op);
// Never counted, and always.
inline bool is_plain(Kind kind) { return kind >= Kind::Nil && kind <= Kind::Float; }
inline bool is_uncounted(Kind kind) { return is_plain(kind) || is_unboxed(kind); }
// Takes something out of b, which stays as it is.
inline bool reads_out(bytecode::Op op) { return op == bytecode::Op::Index || op == bytecode::Op::Field || op == bytecode::Op::Len; }
inline bool is_counted(Kind kind) { return kind >= Kind::Ints && kind <= Kind::Text; }
Kind element_of(Kind list);
Kind list_for(Kind element);
Kind joined(Kind a, Kind b);
// Of a value: of records and variants the shape, too, and of one whose shape is known what its fields hold. Of an unboxed
// list what its items are, as if they were fields.
struct Known {
  Known(Kind of = Kind::None, uint32_t shaped = kNoShape, uint16_t told = 0) : kind(of), shape(shaped), fields(told) {}
  auto operator<=>(const Known&) const = default;

  Kind kind;
  uint32_t shape;
  uint16_t fields;
};
Known joined(const Known& a, const Known& b);
// As the object that it becomes, where it is unboxed.
Known boxed(const Known& v);
interp::Tag tag_of_kind(Kind kind);
inline bool is_unknown(Kind kind) { return kind == Kind::Any || kind == Kind::None; }
// Whether every value of the kind fits the type, or none does; nothing: some may.
std::optional<bool> told_by_kind(const bytecode::Chunk::Type& type, Kind kind);
// Of a mask of the profile: what has been met there always, else Any.
Kind kind_of_mask(uint64_t mask);

constexpr bool is_in(bytecode::Op op, bytecode::Op first, bytecode::Op last) { return op >= first && op <= last; }
// An item that is consumed leaves nil behind it, unless it is plain: nobody reads it again, and ways on which it was not
// appended meet this one with the same kind.
inline bool leaves_nil(const bytecode::Insn& append, Kind item) {
  return (append.x & bytecode::kConsumeB) && !is_plain(item);
}
// Loads, copies, moves or drops, and nothing else: the first of the table.
constexpr bool moves_values(bytecode::Op op) { return is_in(op, bytecode::Op::Nop, bytecode::Op::DropRange); }
// Done in place, it computes, compares or looks into containers, and no container changes its size.
bool keeps_sizes(bytecode::Op op);

enum class Way : uint8_t {
  Exec,     // by exec, operands in the frame
  Dynamic,  // fast paths, then exec
  Inline,   // for the kinds of the plan; anything else exits
  Exit,     // has never run
};

struct Plan {
  Way way = Way::Exec;
  Kind a = Kind::Any, b = Kind::Any, c = Kind::Any;  // of operands read, behind the guards
  Kind result = Kind::Any;
  // Of a call: what else is known of its result. Else where a field is: of operand a or b, or of what a walk has come to.
  uint32_t shape = kNoShape;
  uint16_t fields = 0;
  uint32_t field = 0;
  Kind part = Kind::Any;  // the old value of an update
  // The kinds of fields that are looked at together, because others are read soon; 0: the field's alone, if any.
  uint16_t together = 0;
  bool texts = false;     // Dynamic: operand b (of a comparison both) has been nothing but texts, long ones and such as are kept
                          // inside a value
  bool maps = false;      // Dynamic: the container has been nothing but maps
};

struct State {
  State() = default;
  State(uint32_t registers, Kind kind)
      : reached(true), kinds(registers, kind), shapes(registers, kNoShape), fields(registers), dirty(registers) {}

  Known known(uint32_t reg) const { return {kinds[reg], shapes[reg], fields[reg]}; }
  void know(uint32_t reg, const Known& v) {
    kinds[reg] = v.kind;
    shapes[reg] = v.shape;
    fields[reg] = v.fields;
  }
  void set(uint32_t reg, const Known& v, bool is_dirty) {
    know(reg, v);
    is_dirty ? dirty.add(reg) : dirty.remove(reg);
    part_copies(reg);
  }
  // It is changed, so that no copy of it is the same any longer.
  void part_copies(uint32_t reg) {
    std::erase_if(copies, [&](const Copied& each) { return each.to == reg || each.from == reg; });
  }
  // Where what is unboxed in the register is as well, since it was copied from there in the same block.
  std::optional<uint32_t> copied_from(uint32_t reg) const {
    for (const Copied& each : copies) {
      if (each.to == reg) return each.from;
    }
    return std::nullopt;
  }

  // As it was.
  void leave(uint32_t reg, const State& before) {
    set(reg, before.known(reg), before.dirty.has(reg));
  }

  bool reached = false;
  std::vector<Kind> kinds;       // None: nothing that matters
  std::vector<uint32_t> shapes;  // of records and variants
  std::vector<uint16_t> fields;  // what their fields are known to hold; of those whose shape is known
  RegisterSet dirty;             // not (yet) in the frame
  struct Copied {
    uint32_t to, from;
  };
  std::vector<Copied> copies;    // of what is unboxed, within a block
  // What a walk done in place has come to; None: no such walk; a Ref: its cell. `root`: it is still at that register.
  Kind place = Kind::None;
  uint32_t place_shape = kNoShape;
  uint16_t place_fields = 0;
  uint16_t root = bytecode::kNoRegister;
};

// What a call of the chunk gives: its value, and of each slot (inout parameters matter) what it holds then.
struct Returned {
  explicit Returned(uint32_t count = 0) : slots(count) {}
  // Whether it is more general now.
  bool widen(const Returned& other);

  bool reached = false;
  Known value;
  std::vector<Known> slots;
};

// Of the chunk of a unit and, nested, of those that are inlined into it.
class Kinds {
 public:
  // Whether calls of itself may be inlined.
  enum class Itself : uint8_t { Inlined, Called };
  // For a stage (translate.h). `version`: by parameter the kind that the code is for (versions.h); None, and beyond its
  // end: what the profile says.
  Kinds(const bytecode::Chunk& chunk, int stage, const Bodies& bodies, const std::vector<Kind>& version = {},
        Itself itself = Itself::Inlined);
  ~Kinds();

  const bytecode::Chunk& chunk() const { return chunk_; }
  // Of the callee that takes the place of the call; null: it is called.
  const Kinds* inlined(uint32_t pc) const;
  // The only function that the call has called, which does not call itself; null: it is not known, or there have been several.
  const bytecode::Chunk* called(uint32_t pc) const;
  uint32_t unit_inlined(uint32_t pc) const { return callees_.at(pc).unit; }
  // Whether a call of a function of the module has called the unit that code is made for.
  bool is_recursive(uint32_t pc) const;
  bool is_recursive() const { return shared_->recursive; }
  // Whether it calls itself with something of no known kind where this version is for one.
  bool is_unsure_of_itself() const { return shared_->unsure; }
  // Whether the callee takes the place of the call, or is the function itself, and only reads what is in the register, an argument.
  bool lends_to(uint32_t pc, uint32_t reg) const;
  // Parameters whose arguments are lent where the function calls itself (loans.h), a mask; the same for all that call each other.
  uint64_t lent_to_itself() const { return shared_->lent; }
  void lend_to_itself(uint64_t parameters) const { shared_->lent = parameters; }
  // Of a parameter: whatever comes, the function neither changes what it holds nor gives it up by an instruction in place.
  bool only_reads(uint32_t slot) const;
  // In the order of the bytecode, for as long as `visit` gives true.
  bool for_each_reached(const std::function<bool(uint32_t pc, const Plan& plan, const State& before)>& visit) const;
  // Whether the call of itself is made only where its leaf, which is inlined, comes to an end: kinds_call.cpp.
  bool has_leaf(uint32_t pc) const;
  // Of a call: the built-in function on numbers that it is, or has always been; None: it is none, or nothing known.
  interp::Intrinsic intrinsic(uint32_t pc) const;
  // Of a Binary.
  syntax::BinaryOp operator_at(uint32_t pc) const;
  const Returned& returned() const { return returned_; }
  // What the callee of an inlined call has captured and its body is made for, which is looked at before the call. Of
  // numbers and bools; Any: not known.
  const std::map<uint32_t, Kind>& captured() const { return captured_; }
  // What every call of itself gives that has not been left by an exit.
  Kind result_of_itself() const { return shared_->itself.value.kind; }
  // Registers and calls deep, with what is inlined.
  uint32_t extent() const;
  uint32_t depth() const;
  // Registers between the windows of a frame and of what it calls, at most.
  uint32_t widest() const;
  // Those of the calls that it makes, if these are inlined, too, and it has one way only, all of which is done in place:
  // nobody looks at the count of steps on it. Nothing: it is not like that.
  std::optional<uint32_t> steps_of_calls() const;
  // With what is inlined. Calls of itself in tail position are one.
  bool has_loops() const;
  // The units inlined, at any depth.
  void for_each_inlined(const std::function<void(uint32_t unit, const bytecode::Chunk&)>& visit) const;

  // What is unboxed and the instruction needs as an object, before it is planned. What it has been copied from in front of
  // the loop becomes the same object: else each round that hands a copy on would make one.
  struct Boxing {
    uint32_t reg;
    uint32_t source;  // `reg`, or where the object is by then
  };
  std::vector<Boxing> to_box(uint32_t pc, const State& before) const;
  static void box(const std::vector<Boxing>& all, State& state);
  Plan plan(uint32_t pc, const State& before) const;
  // After the instruction, on either way out of it.
  State after(uint32_t pc, const Plan& plan, const State& before) const;
  // What holds at the beginning of a block, and what code entered there must check.
  const State& at_leader(uint32_t pc) const { return states_[pc]; }
  bool is_leader(uint32_t pc) const { return leaders_[pc] != 0; }
  // The variable whose element or part a walk to a place changes, at the instruction that ends the walk.
  std::optional<uint16_t> walk_root(uint32_t pc) const;
  // Where the instruction exits: a walk done in place has changed nothing before its last instruction, and exits
  // at its first.
  uint32_t exit_pc(uint32_t pc, const Plan& plan) const;
  // The PlaceLocal or PlaceRef of the walk to a place that the instruction is part of.
  uint32_t walk_begin(uint32_t pc) const { return begins_[pc]; }
  // Registers whose address is taken for longer than a walk without branches: they stay in the frame.
  bool pinned(uint32_t reg) const { return pinned_.has(reg); }
  bool live(uint32_t pc, uint32_t reg) const { return live_[pc].has(reg); }
  // Of a slot: whether the function around a loop's own code is to find in the frame what is in it at the end.
  bool is_handed_on(uint32_t slot) const { return slot < chunk_.first_local || held_.has(slot); }
  std::optional<int64_t> loaded_before(uint32_t pc, uint16_t reg) const;
  bool exited(uint32_t pc) const { return profile_[pc] & bytecode::Seen::kExited; }

 private:
  static constexpr uint8_t kJumpedTo = 1, kBehindBranch = 2;
  // Of a unit and what is inlined into it.
  struct Shared {
    const Bodies bodies;
    const bool steady;   // no new paths keep turning up
    const bool unboxes;
    const bool inlines_itself;
    uint32_t budget;    // of instructions that may still be inlined
    bool recursive;     // some call of a function of the module calls the unit itself
    Returned itself;    // what such a call gives; None: it is not known to give anything
    bool unsure = false;  // see is_unsure_of_itself
    uint64_t lent = 0;    // see lent_to_itself
  };
  // What is known of a call. Kinds are null until it is reached, and when it is not inlined.
  struct Callee {
    uint32_t unit = 0;
    bool recursive = false;
    bool leaf = false;
    uint32_t cost = 0;   // of the budget
    bool boxes = false;  // takes no unboxed arguments, because a call may be made
    const bytecode::Chunk* called = nullptr;  // null: not known
    const bytecode::Chunk* body = nullptr;  // null: it is not inlined
    std::vector<Known> arguments;
    std::vector<Known> version;  // one of the versions of a body that is inlined only where it is known which is meant
    std::unique_ptr<const Kinds> kinds;
  };
  Kinds(const Callee& callee, const Kinds& caller);
  void prepare();
  Plan call_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan plan_of_call(Callee& callee) const;
  bool branches(const bytecode::Insn& call, const bytecode::Chunk& body) const;
  bool can_have_leaf(const bytecode::Insn& insn, const bytecode::Chunk& body) const;
  bool stays_in_leaf(const bytecode::Insn& insn, const Plan& plan, const State& before) const;
  bool only_reads(uint32_t pc, const Plan& plan, uint32_t slot) const;
  bool passes_unboxed(const bytecode::Insn& insn, const State& before) const;
  Callee& callee_at(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  const Kinds& root() const { return caller_ ? caller_->root() : *this; }
  const bytecode::Chunk& outermost() const { return root().chunk_; }
  bool calls_what_is_long() const;
  bool is_better_called(const bytecode::Chunk& body) const;
  bool can_inline(uint32_t pc, const bytecode::Insn& insn, const bytecode::Chunk& body) const;
  void pass_back(uint32_t pc, const bytecode::Insn& insn, State& state) const;
  void take_back(uint32_t pc, const bytecode::Insn& insn, State& state) const;
  void note_return(const bytecode::Insn& insn, const State& state);
  State moved(uint32_t pc, const Plan& plan, State state) const;
  void forget_consumed(uint32_t pc, State& state) const;
  State left_to_exec(uint32_t pc, const Plan& plan, State state) const;
  void copy_profile();
  void pin();
  uint32_t walk_end(uint32_t begin) const;
  void find_leaders();
  void find_ends_of_loops();
  void solve();
  void solve_again();
  void solve_held();
  void solve_recursion();
  void note_held(uint32_t pc, const State& after);
  void hold(uint32_t reg);
  State at_start() const;
  void flow(uint32_t pc, const State& state);
  bool merge(uint32_t into, const State& from);
  Kind seen_kind(uint32_t pc, bytecode::Seen::Operand operand) const;
  Kind expected(uint32_t reg) const;
  uint64_t mask_read(uint32_t pc, uint32_t reg) const;
  void find_captured();
  Kind first_use(uint32_t pc) const;
  // Whether the profile has seen nothing else, so that no look is left to exec.
  bool looks_into_lists(uint32_t pc) const;
  Kind speculated(Kind known, uint32_t pc, bytecode::Seen::Operand operand) const;
  Plan plan_by_family(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Kind guessed(uint32_t reg) const;
  bool is_plain_block(uint32_t pc, const State& before) const;
  Plan number_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  bool has_been_number(uint32_t pc, bytecode::Seen::Operand operand) const;
  Plan binary_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan power_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan compare_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan data_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan intrinsic_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan float_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Kind speculated_argument(uint32_t pc, uint32_t n, const State& before) const;
  Plan loop_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Kind speculated_part(uint32_t pc) const;
  bool meets_texts(uint32_t pc, bytecode::Seen::Operand operand) const;
  bool ascii_so_far(uint32_t pc, Kind b) const;
  Plan text_plan(uint32_t pc, Kind result, Plan otherwise) const;
  // ---- kinds_unboxed.cpp ----
  bool stays_in_loop(uint32_t pc, uint32_t reg) const;
  bool takes_unboxed(uint32_t pc, const Plan& plan, const State& before, uint32_t reg) const;
  Plan unboxed_field_plan(uint16_t cache, const Known& base, const Plan& otherwise) const;
  Plan record_plan(const bytecode::Insn& insn, const State& before) const;
  Plan list_plan(const bytecode::Insn& insn, const State& before) const;
  std::optional<uint16_t> parts_made(uint16_t first, uint32_t count, const State& before) const;
  Plan unboxed_list_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan unboxed_item_plan(int64_t index, const Known& list) const;
  // ---- kinds_data.cpp ----
  bool meets_maps(uint32_t pc, bytecode::Seen::Operand operand) const;
  Plan map_plan(uint32_t pc, bytecode::Seen::Operand container, Kind result, Plan otherwise) const;
  Plan index_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan container_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  bool find_field(uint16_t cache, uint32_t known_shape, Kind base, Plan& plan) const;
  uint16_t fields_read_soon(uint32_t pc, uint16_t reg, uint32_t shape, uint16_t first) const;
  uint16_t field_read(uint32_t pc, uint16_t reg, uint32_t shape) const;
  bool goes_on_behind(uint32_t pc) const;
  Plan read_field_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan set_field_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan set_index_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan type_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan test_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan view_item_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan make_plan(const bytecode::Insn& insn, const State& before) const;
  Kind packing_made(const bytecode::Insn& insn, const State& before) const;
  Plan new_list_plan(uint32_t pc, const bytecode::Insn& insn) const;
  Plan pop_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  bool is_ref(uint32_t pc, uint16_t reg, const State& before) const;
  Plan walk_plan(uint32_t pc, const State& before) const;
  Plan begin_of_walk(uint32_t pc, const State& before) const;
  Plan begin_at_ref(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan cell_step_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan step_plan(uint32_t pc, const State& before) const;
  Plan index_step_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan field_step_plan(uint32_t pc, const bytecode::Insn& insn, const State& before) const;
  Plan update_plan(uint32_t pc, Plan plan, Kind right, uint16_t old, const State& before) const;
  Kind next_place(uint32_t pc) const;
  void part_moved(uint32_t pc, const Plan& plan, State& state) const;
  void walked(uint32_t pc, const Plan& plan, State& state) const;
  uint16_t fields_after(uint32_t pc, const Plan& plan, const State& state) const;

  Kind constant_kind(uint16_t index) const;
  bytecode::Seen seen(uint32_t pc) const { return {profile_[pc]}; }

  const bytecode::Chunk& chunk_;
  const Kinds* const caller_ = nullptr;  // null: the unit's own
  const std::vector<Known> arguments_;   // of an inlined call; of the unit's own: of its version
  const bool leaf_ = false;              // of one whose leaf is inlined
  std::shared_ptr<Shared> shared_;
  mutable std::map<uint32_t, Callee> callees_;  // by call; whether it is inlined is decided once
  Returned returned_;
  std::map<uint32_t, Kind> captured_;
  bool exits_where_new_ = false;  // code is not made for what has never run
  RegisterSet held_;  // see live_registers
  std::vector<RegisterSet> live_;
  RegisterSet pinned_;
  std::vector<uint64_t> profile_, insides_;  // by instruction, as they were when this was made
  std::vector<uint64_t> caches_;
  std::vector<uint16_t> roots_;  // by instruction, see walk_root; kNoRegister: none
  std::vector<uint8_t> certain_;     // by instruction: runs when a loop that is running ends
  std::vector<uint32_t> begins_;  // by instruction of a walk: its first
  std::vector<State> states_;        // by leader
  std::vector<uint8_t> leaders_;     // kJumpedTo, or kBehindBranch alone
  std::vector<uint32_t> work_;
};

}  // namespace posset::jit
