// One activation of a function in tier 0. A Walker lives on the native stack for as long as the
// call; it keeps values in the frame's slots as the resolver numbered them, arguments of calls
// being made above the frame on the register stack, and everything else in C++ locals.
//
// Stopping. `eval` gives an owned value, or Failed when evaluation stops. Then either an error is
// pending in the context (signal_ is None), or control is on its way to a loop, a chain or the
// function's end and signal_ says where to. Whoever evaluates a part just passes Failed on; the
// constructs that are aimed at (loops, optional chains, `run`) take the signal.
//
// Places of errors. The first node that gives Failed with an error pending notes itself, which is
// the smallest expression that failed. Where another node is to blame (a pattern, a condition, a
// step of a place), it is noted before Failed is passed on; later notes in the frame do not count.
//
// Slots. live_ is the end of the slots in use; a Scope releases what was bound while it was open,
// so nothing lingers in a frame and keeps a value shared.
//
// Elsewhere: what operators, places, iteration and calls mean is in interp/runtime; the same order
// of evaluation as instructions is in bytecode/compile_*.cpp.
#pragma once

#include <algorithm>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/ops.h"
#include "interp/syntax/ast.h"

namespace posset::interp {

// For TierInterface::do_rounds.
Value do_rounds_walking(Context& context, const Rounds& rounds, uint64_t from, uint64_t to, Value list);
// A part of a function, for TierInterface::evaluate_fork.
Value evaluate_fork_walking(Context& context, Closure* closure, Value* inputs, uint32_t point);

class Walker {
 public:
  Walker(Context& context, Closure* closure, Borrowed* frame);
  Value run();
  // Rounds of a comprehension (TierInterface::do_rounds).
  Value run_rounds(const Rounds& rounds, uint64_t from, uint64_t to, Value list);
  // A part of the function, by somebody else (TierInterface::evaluate_fork).
  Value run_fork(const syntax::ForkPoint& point, Value* inputs);

 private:
  enum class Signal : uint8_t { None, Break, Continue, Return, NilChain, TailCall };

  // Slots bound while it lives are released at its end.
  class Scope {
   public:
    explicit Scope(Walker& walker) : walker_(walker), saved_(walker.live_) {}
    ~Scope() { walker_.release_slots(saved_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Walker& walker_;
    uint32_t saved_;
  };

  // Values in a row above the frame: the arguments of a call, the pieces of a text. What has not
  // been given away is released, and the register stack is as before.
  class Window {
   public:
    explicit Window(Context& context) : context_(context), base_(context.stack_top) {}
    ~Window() {
      for (uint32_t i = 0; i < count_; ++i) release(base_[i]);
      context_.stack_top = base_;
    }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    // False: the stack is full, raised.
    bool push(Value v) {
      if (!context_.has_stack(1)) [[unlikely]] {
        context_.raise_stack_overflow();
        return false;
      }
      base_[count_++] = v.take();
      context_.stack_top = base_ + count_;
      return true;
    }
    Borrowed* base() const { return base_; }
    uint32_t count() const { return count_; }
    Value take(uint32_t i) { return Value::adopt(std::exchange(base_[i], Borrowed::nil())); }
    void given_away() { count_ = 0; }

   private:
    Context& context_;
    Borrowed* base_;
    uint32_t count_ = 0;
  };

  // A list or map under construction: functions that change one want the value itself.
  struct Holder {
    Borrowed raw = Borrowed::nil();
    Holder() = default;
    ~Holder() { release(raw); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    Value finish() { return Value::adopt(std::exchange(raw, Borrowed::nil())); }
  };

  // ---- walk_function.cpp ----
  bool bind_parameters();
  bool bind_parameter(const syntax::Parameter& parameter);
  bool check_argument(const syntax::Parameter& parameter, Borrowed v);
  bool check_result(Borrowed v, const syntax::Node* where);
  Value body();
  Value returned();
  bool start_again(bool& elsewhere, Value& result);
  void release_frame();
  void load_session();
  void store_session();
  Value closure_of(uint32_t child);
  Value eval(const syntax::Node* node);
  Value dispatch(const syntax::Node* node);
  Value dispatch_elsewhere(const syntax::Node* node);
  Value no_memory();  // std::bad_alloc has come
  void note(const syntax::Node* node);
  Value stop(Signal signal, Value v);
  void release_slots(uint32_t from);
  void set_slot(uint32_t slot, Value v);
  void set(const syntax::Binding& binding, Value v);
  Value link_value(uint32_t index);
  // Runs a recursive helper where there is stack enough. False also when none is left, raised.
  template <class Body>
  bool on_some_stack(Body&& body) {
    if (!context_.native.low()) [[likely]]
      return body();
    Value v = context_.on_fresh_stack([&] { return Value::boolean(body()); });
    return !v.failed() && v->as_bool();
  }
  const Symbol* symbol(syntax::Text name) { return context_.runtime.shapes.symbol(name); }

  // One visit per node of nodes.def, defined in the file of its family.
#define NODE(Name, fields) Value visit(const syntax::Name##Node& node);
#include "interp/syntax/nodes.def"
#undef NODE

  // ---- walk_expression.cpp ----
  // 1, 0, or -1: stopped. The operator that asks is to blame for an operand that is no bool, all of it.
  int condition(const syntax::Node* node) { return condition(node, Asker::Condition, node); }
  int condition(const syntax::Node* node, Asker asker, const syntax::Node* blamed);
  Value index_slice(const syntax::IndexNode& node, const syntax::RangeLiteralNode& range);

  // ---- walk_data.cpp ----
  Value list_of(const syntax::NodeList& items);
  Value short_list(const syntax::NodeList& nodes);
  bool append_items(Borrowed& list, const syntax::NodeList& items);
  Value build_record(const syntax::RecordLiteralNode& node, Window& values);

  // ---- walk_place.cpp ----
  struct PlaceStep {
    const syntax::Node* node = nullptr;
    const syntax::IndexNode* index = nullptr;  // null for a field
    const Symbol* field = nullptr;
    Value key;
    Value fallback = Value::adopt(Borrowed::unset());  // the default once evaluated
    bool computed = false;                             // the default is more than a literal
    bool has_default() const { return index && index->fallback; }
  };
  // A place with its indexes evaluated.
  struct Place {
    const syntax::Node* node = nullptr;
    Borrowed* slot = nullptr;       // the root variable, or null:
    Value cell;                     // the ref whose cell is the root (or what stands in its stead), or
    bool host = false;              // the host object whose property the first step is
    uint32_t computed_defaults = 0;  // of so many steps
    bool prepared = false;           // they have had their turn
    std::vector<PlaceStep> steps;
  };
  Borrowed* assignable_slot(const syntax::NameNode& name);
  bool make_place(const syntax::Node* node, Place& place);
  bool add_step(const syntax::Node* node, Place& place);
  bool find_cell(const std::vector<const syntax::Node*>& chain, size_t& next, Place& place);
  Value read_step(Borrowed base, const syntax::Node* node);
  bool default_of(PlaceStep& step);
  Value load_step(Borrowed base, PlaceStep& step);
  Value read_root(Place& place);
  Value read(Place& place);
  bool prepare_defaults(Place& place, size_t count);
  bool prepare_default(Place& place, size_t i, bool& evaluated);
  Borrowed* root_of(Place& place, bool& shared);
  Borrowed* step_into(Borrowed* at, PlaceStep& step, bool& shared);
  Borrowed* walk(Place& place, size_t count, bool& shared);
  void give_up(const syntax::Node* where);
  bool store(Place& place, Value v);
  Value take(Place& place);

  // ---- walk_assign.cpp ----
  bool update(Place& place, syntax::BinaryOp op, Value* old, Borrowed right);
  bool update_last(Borrowed* container, PlaceStep& step, syntax::BinaryOp op, Value* old,
                   Borrowed right);
  Value compound(const syntax::AssignNode& node);
  Value compound_variable(const syntax::AssignNode& node, Borrowed* slot);
  Value assign_coalesce(const syntax::AssignNode& node);
  Value assign_pairwise(const syntax::PlaceListNode& target, const syntax::ListLiteralNode& values);
  bool fits_targets(const syntax::PlaceListNode& target, Borrowed list, std::vector<Value>& items);
  bool store_targets(const syntax::PlaceListNode& target, std::vector<Value>& items, size_t& next);
  bool store_target(const syntax::Node* place, Value v);

  // ---- walk_call.cpp ----
  struct Lent {
    uint32_t at = 0;  // which argument
    Place place;
    bool taken = false;
  };
  Value call(const syntax::CallNode& node, Borrowed callee);
  Value callback_loop(const syntax::CallNode& node, Borrowed callee);
  void note_call_place(const syntax::CallNode& node, Borrowed callee);
  Value lending_call(const syntax::CallNode& node, Borrowed callee, bool lend_receiver);
  Value tail_call(const syntax::CallNode& node);
  bool complete_arguments(Window& window);
  Value push_on_place(const syntax::CallNode& node, const NativeFunction* push);
  bool push_spread(const syntax::ArgumentNode& argument, Window& window);
  bool push_argument(const syntax::CallNode& node, size_t i, Window& window);
  bool take_lent(std::vector<Lent>& lent, Window& window);
  bool give_back(std::vector<Lent>& lent, Window& window, bool failed);
  bool may_lend_receiver(const syntax::CallNode& node, Borrowed callee) const;
  const syntax::Link* callee_link(const syntax::CallNode& node) const;
  Value with_block(const syntax::WithNode& node, Place& place, uint32_t slot);
  Value with_result(Place& place, Value back, Value result);

  // ---- walk_forks.cpp ----
  const syntax::ForkPoint* small_side_of(const syntax::ForkNode& node) const;
  Value recursion_first(const syntax::ForkNode& node, const syntax::ForkPoint& small);
  Value eval_recursion(const syntax::Node* body);
  Value nobody_catches();

  // ---- walk_control.cpp ----
  enum class Round : uint8_t { Next, Done, Stop };
  Value statements(const syntax::BlockNode& node);
  Round after_stop(Value& result);
  bool begin_loop(const syntax::Node* iterable, const syntax::Node* pattern, uint32_t hidden);
  bool is_lines_call(const syntax::Node* node) const;
  // True: another tier has run the rest of the loop and `result` is what came of it.
  bool go_on_elsewhere(uint32_t loop, Value& result);
  Value for_round(const syntax::ForNode& node, Value item);
  bool bind_lets(const syntax::NodeList& lets);
  Value comprehension_rounds(const syntax::ComprehensionNode& node);
  Value comprehension_round(const syntax::ComprehensionNode& node, Value item, Borrowed& list);
  class LoopFrame;
  Value match_arm(const syntax::MatchArmNode& arm, uint32_t subject, bool& fitted);

  // ---- walk_pattern.cpp ----
  // A name to bind once the whole pattern has fitted, and the view it gets.
  struct Bound {
    const syntax::Node* name;   // BindingPattern or RestPattern
    Borrowed value;             // for a rest: the whole list or record
    const syntax::Node* whole;  // for a rest: the pattern it stands in
  };
  // False also with an error pending.
  bool fits(const syntax::Node* pattern, Borrowed v, std::vector<Bound>& bound);
  bool fits_parts(const syntax::Node* pattern, Borrowed v, std::vector<Bound>& bound);
  bool fits_alternatives(const syntax::AlternativePatternNode& pattern, Borrowed v,
                         std::vector<Bound>& bound);
  bool fits_literal(const syntax::Node* literal, Borrowed v);
  bool fits_list(const syntax::ListPatternNode& pattern, Borrowed v, std::vector<Bound>& bound);
  bool fits_record(const syntax::RecordPatternNode& pattern, Borrowed v, std::vector<Bound>& bound);
  bool fits_constructor(const syntax::ConstructorPatternNode& pattern, Borrowed v,
                        std::vector<Bound>& bound);
  bool bind_names(const std::vector<Bound>& bound);
  Value rest_of(const Bound& rest);
  // Takes `v` apart, or raises "does not match" at the pattern.
  bool destructure(const syntax::Node* pattern, Value v);

  Context& context_;
  Closure* closure_;
  const Function& function_;
  const syntax::FunctionDecl& decl_;
  Borrowed* frame_;
  uint32_t live_;
  Signal signal_ = Signal::None;
  Value signal_value_;                      // of Break and Return
  const syntax::CallNode* tail_ = nullptr;  // of TailCall; its arguments wait at staged_
  Borrowed* staged_ = nullptr;
  uint32_t noted_site_ = 0;  // where the pending error surfaced in this frame
  uint32_t lending_ = 0;     // `with` blocks that are open
  const ForkRecord* const forks_before_;  // those that are open when it begins
  // A linear recursion goes on before what stands to its left is done (walk_forks.cpp).
  const bool small_sides_later_;
  struct Early {
    uint32_t point;
    Value value;
  };
  static constexpr uint32_t kMostEarly = 2;
  Early early_[kMostEarly];  // what has its value before its turn, the last first
  uint32_t early_count_ = 0;
};

}  // namespace posset::interp
