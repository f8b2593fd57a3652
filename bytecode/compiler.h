// Tree to chunk, one function or one loop at a time. Internal to bytecode/: the entry is `compile` below,
// used by tier.cpp. Definitions are split by family: compiler.cpp (emission, registers, entry),
// compile_expression.cpp, compile_data.cpp, compile_call.cpp, compile_callback.cpp, compile_place.cpp,
// compile_control.cpp, compile_pattern.cpp.
//
// Registers: slots [0, slot_count) as the resolver numbered them, temporaries above, allocated like a
// stack. Ownership is static (chunk.h): `owned_` are the temporaries that hold a counted value right now,
// `locals_` the end of the live prefix of slots. Every emitted instruction records both, as they are
// before it executes.
//
// Refusals: what tier 1 cannot take sets `refusal_`; compilation goes on harmlessly and its result is
// thrown away.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bytecode/chunk.h"
#include "bytecode/facts.h"
#include "interp/runtime/callback_loop.h"
#include "interp/runtime/context.h"
#include "interp/runtime/ops.h"
#include "interp/syntax/ast.h"

namespace posset::bytecode {

using namespace syntax;

// Null with `refusal` set when the function (or its loop number `loop`, when not negative) needs tier 0.
std::unique_ptr<Chunk> compile(interp::RuntimeState& runtime, const FunctionDecl& function, int loop,
                               Refusal& refusal);

// Where an operand is, and whether the instruction that uses it should consume it.
struct Operand {
  uint16_t reg = 0;
  bool consume = false;
};

// A forward jump to be aimed later.
struct Label {
  std::vector<uint32_t> jumps;
  uint32_t target = UINT32_MAX;
};

struct PlaceStep {
  enum class Kind : uint8_t { Index, IndexOr, Field } kind = Kind::Field;
  Operand index;                     // Index, IndexOr
  const Node* fallback = nullptr;    // IndexOr: evaluated when the place is walked, or
  bool computed = false;             // before (prepare), into this register, which is Unset till then
  uint16_t fallback_reg = 0;
  uint16_t cache = 0;                // Field
  const Node* node = nullptr;
};
// A place with its operands evaluated.
struct PlacePath {
  int64_t slot = -1;                 // root variable, or
  Operand cell;                      // a ref whose cell is the root, or
  bool host = false;                 // a host object whose property the first step is
  bool through_ref = false;
  bool lends = false;                // what is stored goes to where something was taken
  std::vector<PlaceStep> steps;
  const Node* node = nullptr;
};

// A call that lends places, while it is compiled. Where it fails, the places get back, in order, what the
// registers hold; the code for that is one chain, entered at the first place that has something to get.
struct Lending {
  const std::vector<PlacePath>& paths;
  uint16_t window = 0;               // where the error goes
  std::vector<uint16_t> registers;   // the argument of each path
  std::vector<uint16_t> owned;       // owned temporaries besides the arguments
  std::vector<std::pair<size_t, size_t>> taking;  // regions around a taking, and which path's it is
  std::vector<std::vector<size_t>> entering;      // by place in the chain: regions that go on there

  // Owned while the arguments [from, to) hold something.
  std::vector<uint16_t> owned_with(size_t from, size_t to) const {
    std::vector<uint16_t> all = owned;
    all.insert(all.end(), registers.begin() + static_cast<ptrdiff_t>(from), registers.begin() + static_cast<ptrdiff_t>(to));
    return all;
  }
};

struct CallbackRegisters;  // compile_callback.cpp

// What break, continue and return must leave on their way out.
struct Scope {
  enum class Kind : uint8_t { Loop, With, Try } kind = Kind::Loop;
  // Loop
  Label* on_break = nullptr;
  Label* on_continue = nullptr;
  uint16_t result = kNoRegister;     // where `break v` puts its value
  bool list_result = false;          // comprehension: break keeps the list
  uint16_t locals = 0;               // live at the loop's exit and head
  size_t owned = 0;                  // owned temporaries at the loop
  uint32_t site = 0;                 // of the loop, for a `continue` that charges a round
  // With
  const PlacePath* path = nullptr;
  uint16_t name_slot = 0;
  // With, Try: the pieces of its region; the last one is open
  std::vector<size_t> regions;
};

// Fork points as a mask (Region::forks).
inline uint32_t points_of(const syntax::ForkNode& node) {
  uint32_t points = 0;
  for (uint32_t n = 0; n < node.count; ++n) points |= syntax::fork_point_bit(node.first + n);
  return points;
}
inline uint32_t points_of(const syntax::MergeNode& node) { return syntax::fork_point_bit(node.point); }

class Compiler {
 public:
  Compiler(interp::RuntimeState& runtime, const FunctionDecl& function, int loop);
  std::unique_ptr<Chunk> run(Refusal& refusal);

 private:
  // ---- compiler.cpp ----
  void compile_function();
  void compile_loop_only(Node* loop);
  void compile_parameters();
  uint32_t emit(Op op, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0, uint8_t x = 0);
  uint32_t emit_wide(Op op, uint32_t a, int32_t wide, uint8_t x = 0);
  void emit_word(uint64_t word);              // data word after an instruction
  void record_live();
  uint32_t here() const { return static_cast<uint32_t>(code_.size()); }
  void jump(Label& label, Op op, uint32_t a = 0, uint8_t x = 0);          // kind W
  void jump3(Label& label, Op op, uint32_t a, uint32_t b, uint8_t x = 0); // kind J
  void bind(Label& label);
  void aim(uint32_t at, uint32_t target);
  uint16_t alloc(uint32_t count = 1);
  void reset_temps(uint16_t top) { top_ = top; }
  void own(uint16_t reg);
  void disown(uint16_t reg);
  bool is_temp(uint16_t reg) const { return reg >= function_.slot_count; }
  // The first one is told, with the node it is about if it is about one.
  void refuse(Reason why, const Node* node = nullptr) {
    if (refusal_.reason == Reason::none) refusal_ = {why, node ? node->span : Span()};
  }
  void finish(Chunk& chunk);
  int loop_of_site(uint32_t site) const;
  void note_loop_heads(Chunk& chunk) const;
  uint16_t constant(Borrowed v);
  uint16_t field_cache(Text name);
  uint16_t type_index(const TypeExpr* type);
  void check_result(uint16_t reg) { emit(Op::CheckType, reg, type_index(function_.result), 0, kSense); }
  template <class Table, class Item>
  uint16_t descriptor(Table& table, Item&& item) {
    if (table.size() >= UINT16_MAX) refuse(Reason::many_descriptors);
    table.push_back(std::forward<Item>(item));
    return static_cast<uint16_t>(table.size() - 1);
  }
  // Everything emitted while a Site lives carries the node's site.
  class Site {
   public:
    Site(Compiler& c, const Node* node) : compiler_(c), saved_(c.site_) { c.site_ = node->site; }
    ~Site() { compiler_.site_ = saved_; }
   private:
    Compiler& compiler_;
    uint32_t saved_;
  };
  // Temporaries allocated while a Temps lives are free again afterwards.
  class Temps {
   public:
    explicit Temps(Compiler& c) : compiler_(c), top_(c.top_), owned_(c.owned_.size()) {}
    ~Temps() {
      compiler_.top_ = top_;
      if (compiler_.owned_.size() > owned_) compiler_.owned_.resize(owned_);
    }
   private:
    Compiler& compiler_;
    uint16_t top_;
    size_t owned_;
  };

  // ---- compile_expression.cpp ----
  void expression(const Node* node, uint16_t dst);   // owned result into a dead register
  void effect(const Node* node);                     // for its effects only
  Operand operand(const Node* node, const Node* later = nullptr);   // read without consuming locals in use
  Operand owned_operand(const Node* node);           // into a fresh temporary, owned
  Operand stored_operand(const Node* node, const PlacePath& path);  // a value that will be put into a place
  uint8_t consume_flags(Operand b, Operand c = {}) const;
  uint8_t consume_flag_a(Operand a) const { return a.consume ? kConsumeA : 0; }
  void release_operand(Operand o);                   // after the instruction: no longer owned
  void condition(const Node* node, bool jump_when, Label& target, bool backwards = false) {
    asked(node, jump_when, target, backwards, interp::Asker::Condition, node);
  }
  // The same; `blamed` asks, an operator or what is a condition by itself.
  void asked(const Node* node, bool jump_when, Label& target, bool backwards, interp::Asker asker, const Node* blamed);
  void asked_logical(const LogicalNode& node, bool jump_when, Label& target, bool backwards);
  void compare_jump(const BinaryNode& node, bool jump_when, Label& target, bool backwards);
  // Whether a value is one of a few constants (`sense`), or none of them.
  struct Among {
    const Node* value = nullptr;
    std::span<Node* const> items;
    bool sense = true;
  };
  Among among(const BinaryNode& node) const;
  int64_t fieldless_link(const Node* node) const;
  void constant_jump(uint16_t value, const Node* item, bool sense, Label& target);
  void among_jump(const Among& node, bool jump_when, Label& target, bool backwards);
  void load_truth(Label& no, uint16_t dst);
  void name(const NameNode& node, uint16_t dst);
  void unary(const UnaryNode& node, uint16_t dst);
  void binary(const BinaryNode& node, uint16_t dst);
  void arithmetic(BinaryOp op, const Node* left, const Node* right, uint16_t dst);
  void logical(const LogicalNode& node, uint16_t dst);
  void optional_chain(const OptionalChainNode& node, uint16_t dst);
  void index(const IndexNode& node, uint16_t dst);
  void index_with_default(const IndexNode& node, uint16_t dst);
  void field(const FieldNode& node, uint16_t dst);
  Operand chain_base(const Node* base, const Node* later);
  bool can_view(const Node* node, const Node* later) const;
  bool is_host_global(const Binding& binding) const;
  Operand view_link(const Binding& binding);
  bool view_root_is_safe(const Node* node, const Node* later) const;

  // ---- compile_data.cpp ----
  void literal(const Node* node, uint16_t dst);
  void string_literal(const StringLiteralNode& node, uint16_t dst);
  void interpolation(const InterpolationNode& node, uint16_t dst);
  void container_literal(const Node* node, uint16_t dst);
  void list_of(const NodeList& items, uint16_t dst);
  void map_literal(const MapLiteralNode& node, uint16_t dst);
  void record_literal(const RecordLiteralNode& node, uint16_t dst);
  static bool is_update(const FieldNames& names);
  void record_update(const RecordLiteralNode& node, uint16_t first, FieldNames names, uint16_t dst);
  void range_literal(const RangeLiteralNode& node, uint16_t dst);
  void closure(uint32_t child, const Node* node, uint16_t dst);

  // ---- compile_call.cpp ----
  void call(const CallNode& node, uint16_t dst);
  bool intrinsic_inout(const CallNode& node, const Link& link, uint16_t dst);
  void window_call(const CallNode& node, uint16_t dst);
  void spread_call(const CallNode& node, uint16_t dst);
  void constructor_call(const CallNode& node, uint16_t link, uint16_t dst);
  void spawn(const SpawnNode& node, uint16_t dst);
  void await(const AwaitNode& node, uint16_t dst);
  void release_after(Operand used, uint16_t result);
  uint16_t argument_list(const CallNode& node);
  void tail_call(const CallNode& node);
  uint16_t parameter_values(const CallNode& node);
  uint16_t spread_parameter_values(const CallNode& node);
  void check_parameter_values(const CallNode& node, uint16_t first);
  void arguments(const CallNode& node, uint16_t first, std::vector<PlacePath>& lent);
  void lending_call(const CallNode& node, uint16_t window, const std::vector<PlacePath>& lent);
  void take_lent(const CallNode& node, Lending& lending);
  void give_back(Lending& lending);
  void give_back_failed(Lending& lending);
  void put_back(Lending& lending, size_t i);
  void emit_call(const CallNode& node, uint16_t window, Operand callee, uint32_t count);
  void call_native(const CallNode& node, uint16_t window, uint32_t index, uint32_t count);
  const Link* callee_link(const CallNode& node) const;
  uint32_t callee_index(const CallNode& node) const;   // of a callee that is a link
  bool method_may_lend(const CallNode& node) const;

  // ---- compile_builtin.cpp ----
  bool intrinsic_call(const CallNode& node, const Link& link, uint16_t dst);
  void end_call(const CallNode& node, bool last, uint16_t dst);
  void assert_call(const CallNode& node, uint16_t dst);
  void assert_comparison(const CallNode& node, uint16_t dst);
  bool asks_type(const BinaryNode& node) const;  // with a literal as its answer
  void type_question(const BinaryNode& node, uint16_t dst);
  const CallNode* type_call(const Node* node) const;
  uint16_t tags_index(interp::TypeTags tags);

  // ---- compile_callback.cpp ----
  interp::Divided divided(const interp::CallbackLoop& loop, const CallNode& node) const;
  bool callback_call(const CallNode& node, const Link& link, uint16_t dst);
  void callback_loop_only(const CallNode& node, uint16_t dst);
  void begin_callbacks(const CallbackRegisters& in, uint16_t first);
  void first_item(const CallbackRegisters& in);
  void callback_rounds(const CallNode& node, CallbackRegisters& in);
  void callback_round(uint16_t link, const CallbackRegisters& in, Label& leave);
  void callback_answer(uint16_t link, const CallbackRegisters& in, Label& leave);

  // ---- compile_control.cpp ----
  void fork(const ForkNode& node, uint16_t dst);
  void merge(const MergeNode& node, uint16_t dst);

  // ---- compile_place.cpp ----
  // `reserve`: registers for operands when they must not lie at the top (see guarded calls), else none.
  PlacePath place_path(const Node* place, const Node* later, uint16_t reserve = kNoRegister);
  Operand place_operand(const Node* node, const PlacePath& path, const Node* later, uint16_t& reserve);
  void computed_default(PlacePath& path, PlaceStep& step, uint16_t& reserve);
  void prepare(const PlacePath& path, size_t count);
  bool is_property(const Node* node) const;
  uint32_t place_temporaries(const Node* place) const;
  bool simple_default(const Node* node) const;
  void walk(const PlacePath& path, size_t steps, bool again = false);   // emits Place... for the root and the first steps
  void walk_step(const PlaceStep& step, bool& may_insert);
  void walk_computed(const PlaceStep& step, bool& may_insert);
  void store(const PlacePath& path, Operand value);                    // consumes or copies value
  void take(const PlacePath& path, uint16_t dst);
  void release_path(const PlacePath& path);
  void assign(const AssignNode& node);
  void assign_local(const AssignNode& node, uint16_t slot);
  void assign_coalesce(const AssignNode& node);
  void compound(const AssignNode& node);
  void update(const AssignNode& node, const PlacePath& path, Operand value, uint16_t old);
  void load_place(const PlacePath& path, uint16_t dst);
  uint16_t load_steps(const PlacePath& path, size_t count, uint16_t dst, bool to_dst);
  bool is_view_step(const PlaceStep& step) const;
  uint16_t view_step(const PlaceStep& step, uint16_t base);
  void load_step(const PlaceStep& step, uint16_t base, uint16_t dst);
  void destructuring_assign(const DestructuringAssignNode& node);
  void test_targets(const PlaceListNode& target, uint16_t list, Label& fail, std::vector<uint16_t>& items);
  void store_targets(const PlaceListNode& target, const std::vector<uint16_t>& items, size_t& next);
  void store_target(const Node* place, Operand value);
  void with(const WithNode& node, uint16_t dst);
  void leave_with(const Scope& scope);
  void store_local(uint16_t slot, Operand value);

  // ---- compile_control.cpp ----
  void block(const BlockNode& node, uint16_t dst, bool wanted);
  void statement(const Node* node);
  void if_else(const IfNode* node, uint16_t dst, bool wanted);
  void while_loop(const WhileNode& node, uint16_t dst, bool enter_at_head);
  void for_loop(const ForNode& node, uint16_t dst, bool enter_at_head);
  void comprehension(const ComprehensionNode& node, uint16_t dst, bool enter_at_head);
  void begin_iteration(const Node* iterable, const Node* pattern, uint16_t hidden);
  void next_round(const Node* pattern, const Node* iterable, uint16_t hidden, Label& body);
  void bind_item(const Node* pattern, uint16_t item);
  uint16_t item_register(const Node* pattern, uint16_t hidden_end);
  void match(const MatchNode& node, uint16_t dst);
  void try_catch(const TryNode& node, uint16_t dst);
  void return_value(const Node* node, const Node* value);
  void emit_return(Operand value);
  void break_loop(const BreakNode& node);
  void continue_loop();
  void leave_scopes(size_t down_to);
  void reopen_scopes(size_t down_to);
  void drop_owned(size_t down_to);
  void raise(ErrorCode code, std::string message, uint16_t about);
  bool writes_last(const Node* node) const;
  void let(const LetNode& node);
  bool is_view(uint32_t slot) const { return views_.count(slot) != 0; }
  uint16_t view_register(uint32_t slot) const { return static_cast<uint16_t>(function_.slot_count + slot); }
  void let_view(const LetNode& node, uint16_t slot);
  void leave_block(uint16_t locals);
  void drop_locals(uint16_t from, uint16_t to);
  size_t innermost_loop() const;
  size_t open_region(uint16_t reg, bool cleanup);
  size_t open_region(uint16_t reg, bool cleanup, const std::vector<uint16_t>& owned);
  void close_region(size_t region);

  // ---- compile_pattern.cpp ----
  struct Bound {
    const Node* pattern;  // BindingPattern or RestPattern
    uint16_t reg;         // the value, a view (or for a rest the container)
    uint16_t skip = 0;    // RestPattern in a list
    uint8_t drop = 0;
    int fields = -1;      // RestPattern in a record: field_names index
  };
  void test_literal(const Node* literal, uint16_t value, Label& fail);
  void test(const Node* pattern, uint16_t value, Label& fail, std::vector<Bound>& bound);
  void test_list(const ListPatternNode& pattern, uint16_t value, Label& fail, std::vector<Bound>& bound);
  void test_record(const RecordPatternNode& pattern, uint16_t value, Label& fail, std::vector<Bound>& bound);
  void test_constructor(const ConstructorPatternNode& pattern, uint16_t value, Label& fail,
                        std::vector<Bound>& bound);
  void test_alternatives(const AlternativePatternNode& pattern, uint16_t value, Label& fail,
                         std::vector<Bound>& bound);
  void bind_names(const std::vector<Bound>& bound);
  // Destructures `value` (a view) or raises "does not match" at the pattern.
  void destructure(const Node* pattern, uint16_t value);
  void set_name(const Binding& binding, uint16_t value, bool consume);

  interp::RuntimeState& runtime_;
  const FunctionDecl& function_;
  int loop_;
  Facts facts_;
  std::set<uint32_t> views_;          // slots of variables that are views (views.h)
  Refusal refusal_;
  std::unique_ptr<Chunk> chunk_;

  std::vector<Insn> code_;
  std::vector<uint32_t> sites_;
  uint32_t site_ = 0;
  uint32_t loop_site_ = 0;            // of the loop whose test is being emitted
  uint16_t top_ = 0;
  uint16_t high_ = 0;
  uint16_t locals_ = 0;
  std::vector<uint16_t> owned_;
  std::map<std::vector<uint16_t>, uint32_t> set_ids_;
  size_t named_live_ = 0;  // registers in chunk_->live_sets
  std::vector<Scope> scopes_;
  std::map<std::pair<uint64_t, uint64_t>, uint16_t> numbers_;
  Label start_;                       // where a self tail call goes
  bool in_function_ = true;           // false while compiling a loop's own code
  uint32_t open_forks_ = 0;           // as Region::forks, of the code being emitted
  Label* nil_exit_ = nullptr;         // innermost optional chain
};

}  // namespace posset::bytecode
