// See strips.h.
#include "jit/strips.h"

#include <algorithm>
#include <map>

#include "jit/range_bounds.h"

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;

namespace {

constexpr uint32_t kLongestBody = 200;  // words: the body is made twice
constexpr size_t kMostLeftOut = 8;      // blocks
constexpr int64_t kFewestWorthwhile = 8;  // rounds, where the program says how many: asking takes as long as two or three

using Known = std::map<uint16_t, int>;  // terms by register
using Form = Term::Form;

bool is_in_register(Form form) { return form == Form::Counter || form == Form::Register || form == Form::Captured; }

// From zero.
uint64_t distance(int64_t value) { return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value); }

// Beyond what is small it does not matter by how much.
uint64_t product(uint64_t a, uint64_t b) {
  uint64_t made = 0;
  return __builtin_mul_overflow(a, b, &made) ? UINT64_MAX : made;
}
uint64_t sum_of(uint64_t a, uint64_t b) {
  uint64_t made = 0;
  return __builtin_add_overflow(a, b, &made) ? UINT64_MAX : made;
}

// How far a sum can be from zero, for Term::is_small.
void find_reach(Term& made, const Term& left, const Term& right) {
  if (made.form != Form::Mul) {
    made.times = sum_of(left.times, right.times);
    made.beside = sum_of(left.beside, right.beside);
    return;
  }
  const bool by_constant = left.times == 0 || right.times == 0;
  const Term &by = left.times == 0 ? left : right, &of = left.times == 0 ? right : left;
  made.times = by_constant ? product(of.times, by.beside) : UINT64_MAX;
  made.beside = product(of.beside, by.beside);
}

// Done in place, these change no list's size, and its owners only where counts_references says so.
bool leaves_lists(Op op) {
  switch (op) {
    case Op::Jump:
    case Op::LoopIf:
    case Op::JumpSet:
    case Op::JumpNil:
    case Op::JumpAnswer:
    case Op::ForRange:
    case Op::ForNext:
    case Op::StoreIndex:
    case Op::GetCaptured:
    case Op::ViewCaptured:
    case Op::ViewLink:
    case Op::Return: return true;
    default: return moves_values(op) || keeps_sizes(op);
  }
}

bool are_plain(const State& state, uint32_t first, uint32_t count) {
  for (uint32_t reg = first; reg < first + count; ++reg) {
    if (state.kinds[reg] != Kind::None && !is_plain(state.kinds[reg])) return false;
  }
  return true;
}

bool counts_references(const Insn& insn, const Plan& plan, const State& state) {
  switch (static_cast<Op>(insn.op)) {
    case Op::Copy: return !is_plain(state.kinds[insn.b]);
    case Op::Store: return !is_plain(state.kinds[insn.a]) || !is_plain(state.kinds[insn.b]);
    case Op::Drop: return !is_plain(state.kinds[insn.a]);
    case Op::Index:
    case Op::Field: return !is_plain(plan.result) || (insn.x & bytecode::kConsumeB);
    case Op::GetCaptured: return !is_plain(plan.result);
    case Op::SetIndex: return plan.a == Kind::Items;
    case Op::StoreIndex: return !is_packed(state.place);
    case Op::ForNext: return plan.a != Kind::Nil && !is_packed(plan.a);
    case Op::Len: return insn.x & bytecode::kConsumeB;
    case Op::DropRange: return !are_plain(state, insn.a, insn.b);
    case Op::Return: return !is_plain(state.kinds[insn.a]) || !are_plain(state, 0, insn.b);
    default: return false;
  }
}

// Walks through the body of a loop, or of what is inlined into it, from the beginning to the end, and says what
// registers hold in terms of the strip.
class Body {
 public:
  // `self`: the function, as a term; nothing: not the same in all rounds.
  Body(Strip& strip, const Kinds& kinds, uint32_t begin, uint32_t end, std::optional<int> self)
      : strip_(strip), chunk_(kinds.chunk()), kinds_(kinds), begin_(begin), end_(end), self_(self),
        state_(kinds.at_leader(begin)) {}
  virtual ~Body() = default;
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  void know(uint16_t reg, int term) { known_[reg] = term; }

 protected:
  // False: something stands in the way of strips.
  bool walk() {
    if (!state_.reached) return false;
    for (uint32_t pc = begin_; pc < end_; pc += chunk_.length_at(pc)) {
      arrive(pc);
      if (!reached_) continue;
      strip_.words += chunk_.length_at(pc);
      if (strip_.words > kLongestBody || !pass(pc)) return false;
    }
    return true;
  }

  void arrive(uint32_t pc) {
    if (reached_ && kinds_.is_leader(pc) && pc != begin_) enter(pc, known_);
    const auto found = entered_.find(pc);
    if (found == entered_.end()) return;
    known_ = found->second;
    state_ = kinds_.at_leader(pc);
    reached_ = state_.reached && !is_left_out(pc);
    start_block(pc);
  }

  bool is_harmless(uint32_t pc, const Plan& plan) const {
    return plan.way == Way::Inline && leaves_lists(chunk_.op_at(pc)) && !counts_references(chunk_.at(pc), plan, state_);
  }

  int add(Term term) {
    if (is_in_register(term.form)) term.times = 1;
    if (term.form == Form::Constant) term.beside = distance(term.value);
    strip_.terms.push_back(term);
    return static_cast<int>(strip_.terms.size()) - 1;
  }
  const Term& term(int number) const { return strip_.terms[static_cast<size_t>(number)]; }

  // A number or a function; -1: nothing is known of it.
  int held(uint16_t reg, const State& state) {
    const auto found = known_.find(reg);
    return found != known_.end() ? found->second : fixed_term(reg, state);
  }
  int term_of(uint16_t reg, const State& state) {
    const int found = held(reg, state);
    return found >= 0 && !term(found).is_number() ? -1 : found;
  }

  virtual bool is_left_out(uint32_t) const { return false; }
  virtual void start_block(uint32_t) {}
  // What is the same in all rounds.
  virtual int fixed_term(uint16_t, const State&) { return -1; }
  virtual int fixed_function(uint16_t) { return -1; }
  // A sum of a register with itself, of which nothing is known.
  virtual void grow(uint32_t, int, bool, const State&) {}
  // False: asked each time.
  virtual bool look(uint32_t, uint16_t, Kind, int, bool) { return false; }
  virtual int row(uint16_t, int) { return -1; }
  virtual void walk_to_row(uint32_t, uint16_t, int, int) {}
  // False: not so that it can be done without a question.
  virtual bool append(uint32_t) { return false; }
  virtual void leave(const Insn&) {}

  Strip& strip_;
  const Chunk& chunk_;
  const Kinds& kinds_;
  const uint32_t begin_, end_;
  const std::optional<int> self_;
  State state_;
  bool reached_ = true;
  Known known_;

 private:
  void enter(uint32_t pc, const Known& from) {
    const auto [place, fresh] = entered_.try_emplace(pc, from);
    if (fresh) return;
    std::erase_if(place->second, [&](const auto& each) {
      auto found = from.find(each.first);
      return found == from.end() || found->second != each.second;
    });
  }

  bool pass(uint32_t pc) {
    const Plan plan = kinds_.plan(pc, state_);
    reached_ = plan.way != Way::Exit;
    if (!reached_) return true;
    const Insn& insn = chunk_.at(pc);
    const uint8_t flags = bytecode::info(chunk_.op_at(pc)).flags;
    const bool calls = bytecode::is_call(chunk_.op_at(pc));
    const bool appends = chunk_.op_at(pc) == Op::AppendItem;
    if (calls ? !pass_call(pc, insn, plan) : appends ? !append(pc) : !is_harmless(pc, plan)) return false;
    const State after = kinds_.after(pc, plan, state_);
    if (chunk_.op_at(pc) == Op::Return) leave(insn);
    if (!calls) look_at(pc, plan, after);
    state_ = after;
    if ((flags & bytecode::Branch) && !leave_for(chunk_.target_at(pc), pc)) return false;
    reached_ = !(flags & bytecode::Ends);
    return !(flags & bytecode::Branch) || !reached_ || leave_for(pc + chunk_.length_at(pc), pc);
  }

  // False: it goes back.
  bool leave_for(uint32_t to, uint32_t pc) {
    if (to <= pc) return false;
    if (to <= end_) enter(to, known_);
    return true;
  }

  bool pass_call(uint32_t pc, const Insn& insn, const Plan& plan);
  std::optional<int> function_called(uint32_t pc, const Insn& insn);

  // What is captured is read where the function is asked for, so that only its kind can make it a number.
  int captured(const Insn& insn, const Plan& plan) {
    if (!self_ || (plan.result != Kind::Int && plan.result != Kind::Any)) return -1;
    const bool number = plan.result == Kind::Int;
    return add({.form = number ? Form::Captured : Form::CapturedFunction, .value = insn.b, .within = *self_});
  }

  // ---- instructions ----

  void look_at(uint32_t pc, const Plan& plan, const State& after) {
    const Insn& insn = chunk_.at(pc);
    const Op op = static_cast<Op>(insn.op);
    int result = -1;
    if (is_in(op, Op::Add, Op::ModI) && plan.result == Kind::Int) result = number(pc, insn, op, after);
    if (op == Op::LoadInt) result = add({Form::Constant, 0, insn.imm_b()});
    if (op == Op::Copy || op == Op::Move || op == Op::Store) result = held(insn.b, after);
    if (op == Op::ViewCaptured || op == Op::GetCaptured) result = captured(insn, plan);
    if (op == Op::Index || op == Op::ViewIndex) {
      const int at = term_of(insn.c, after);
      if (look(pc, insn.b, plan.b, at, false) && op == Op::ViewIndex && plan.b == Kind::Items) result = row(insn.b, at);
    }
    if (op == Op::SetIndex) look(pc, insn.a, plan.a, term_of(insn.b, after), true);
    if (op == Op::UpdateIndex && kinds_.walk_begin(pc) == pc - 1) {
      look(pc, chunk_.at(pc - 1).a, after.kinds[chunk_.at(pc - 1).a], term_of(insn.a, after), true);
    }
    if (op == Op::StoreIndex || op == Op::UpdateIndex) look_in_row(pc, after);
    const char kind = bytecode::info(op).a;
    const bool changes_list = op == Op::SetIndex || op == Op::Swap || op == Op::PlaceLocal;
    if (kind == 'D' || kind == 'U' || (kind == 'V' && !changes_list)) known_.erase(insn.a);
    if (op == Op::AppendItem || op == Op::StoreIndex) known_.erase(insn.b);
    if (op == Op::DropRange) forget(insn.a, insn.b);
    if (op == Op::Move || op == Op::Store) known_.erase(insn.b);
    if (result >= 0 && !kinds_.pinned(insn.a)) known_[insn.a] = result;
  }

  // list[index][at] = or += something.
  void look_in_row(uint32_t pc, const State& after) {
    if (kinds_.walk_begin(pc) != pc - 2 || chunk_.op_at(pc - 2) != Op::PlaceLocal || chunk_.op_at(pc - 1) != Op::PlaceIndex) return;
    walk_to_row(pc, chunk_.at(pc - 2).a, term_of(chunk_.at(pc - 1).a, after), term_of(chunk_.at(pc).a, after));
  }

  void forget(uint32_t first, uint32_t count) {
    std::erase_if(known_, [&](const auto& each) { return each.first >= first && each.first - first < count; });
  }

  int number(uint32_t pc, const Insn& insn, Op op, const State& after) {
    if (is_in(op, Op::Add, Op::MulI)) return sum(pc, insn, op, after);
    const bool divides = op == Op::IntDivI;
    if ((!divides && op != Op::ModI) || insn.imm_c() <= 0) return -1;
    const int left = term_of(insn.b, after);
    if (divides && left < 0) return -1;
    return add({.form = divides ? Form::IntDiv : Form::Mod, .value = insn.imm_c(), .left = left, .varies = true, .linear = false});
  }

  int sum(uint32_t pc, const Insn& insn, Op op, const State& after) {
    const Op first = op >= Op::Mul ? Op::Mul : op >= Op::Sub ? Op::Sub : Op::Add;
    const int variant = static_cast<int>(op) - static_cast<int>(first);
    if (variant == 1 || variant == 2) return -1;  // constants of more than 16 bits
    const int left = term_of(insn.b, after);
    const int right = variant == 3 ? add({Form::Constant, 0, insn.imm_c()}) : term_of(insn.c, after);
    if (left < 0 && right >= 0 && first != Op::Mul && insn.a == insn.b) grow(pc, right, first == Op::Sub, after);
    if (left < 0 || right < 0) return -1;
    const Term &l = term(left), &r = term(right);
    const bool grows = first == Op::Add ? l.by_one != r.by_one && l.varies != r.varies
                                        : first == Op::Sub && l.by_one && !r.varies;
    Term summed{.form = first == Op::Add ? Form::Add : first == Op::Sub ? Form::Sub : Form::Mul,
                .left = left,
                .right = right,
                .varies = l.varies || r.varies,
                .by_one = grows,
                .linear = l.linear && r.linear && !(first == Op::Mul && l.varies && r.varies)};
    find_reach(summed, l, r);
    const int made = add(summed);
    strip_.sums.push_back({&kinds_, pc});
    strip_.checked.push_back(made);
    return made;
  }

  std::map<uint32_t, Known> entered_;  // by leader
};

// Of a call that is inlined into the loop.
class InlinedBody : public Body {
 public:
  InlinedBody(Strip& strip, const Kinds& kinds, std::optional<int> self) : Body(strip, kinds, 0, kinds.chunk().size, self) {}

  bool run() { return chunk_.inout_mask == 0 && walk(); }
  int result() const { return result_.value_or(-1); }

 private:
  // Several ways out may give several terms.
  void leave(const Insn& insn) override {
    const int left = term_of(insn.a, state_);
    result_ = !result_ || result_ == left ? left : -1;
  }

  std::optional<int> result_;
};

// A function within itself is not looked at.
std::optional<int> Body::function_called(uint32_t pc, const Insn& insn) {
  const Op op = static_cast<Op>(insn.op);
  if (kinds_.is_recursive(pc)) return std::nullopt;
  if (op == Op::CallKnown && self_) return add({.form = Form::LinkedFunction, .value = insn.b, .within = *self_});
  if (op != Op::CallValue) return std::nullopt;
  const auto found = known_.find(insn.b);
  const int function = found != known_.end() ? found->second : fixed_function(insn.b);
  if (function < 0 || !term(function).is_function()) return std::nullopt;
  return function;
}

bool Body::pass_call(uint32_t pc, const Insn& insn, const Plan& plan) {
  const Kinds* callee = kinds_.inlined(pc);
  const bool native = kinds_.intrinsic(pc) != interp::Intrinsic::None;
  if (plan.way != Way::Inline || (!callee && !native) || !is_plain(plan.result)) return false;
  const std::optional<int> function = function_called(pc, insn);
  if (function) strip_.same_calls.push_back({{&kinds_, pc}, *function});
  if (native) {
    strip_.calls += (insn.x & bytecode::kCharged) != 0;
    forget(insn.a, chunk_.registers);
    return true;
  }
  InlinedBody body(strip_, *callee, function);
  for (uint16_t n = 0; n < insn.c; ++n) {
    const auto argument = static_cast<uint16_t>(insn.a + 2 + n);
    if (!is_plain(state_.kinds[argument])) return false;
    if (const int known = term_of(argument, state_); known >= 0) body.know(n, known);
  }
  if (!body.run()) return false;
  ++strip_.calls;
  forget(insn.a, chunk_.registers);
  if (body.result() >= 0) known_[insn.a] = body.result();
  return true;
}

// Of the loop itself: what it does not write stays as it is, and what it only adds to grows.
class LoopBody : public Body {
 public:
  LoopBody(Strip& strip, const Kinds& kinds, const Loop& loop)
      : Body(strip, kinds, loop.head, loop.latch, Term::kOwn), loop_(loop), written_(chunk_.registers), set_(chunk_.registers) {}

  // Fails for what a block does that could be left out: its leader.
  std::optional<uint32_t> in_the_way() const { return in_the_way_; }

  bool run() {
    const Insn& latch = chunk_.at(loop_.latch);
    const Op op = static_cast<Op>(latch.op);
    if (!kinds_.at_leader(loop_.latch).reached) return false;
    if (is_next_item(op) ? !find_iteration(latch, op) : !find_comparison(latch, op)) return false;
    if (kinds_.pinned(strip_.counter)) return false;
    find_inside();
    find_written();
    // The place in a list is nothing that the body could read.
    const int counter = add({.form = Form::Counter, .varies = true, .by_one = true});
    if (strip_.by != Strip::By::Items) know(strip_.counter, counter);
    if (!walk()) {
      if (strip_.words <= kLongestBody && leader_ != loop_.head) in_the_way_ = leader_;
      return false;
    }
    arrive(loop_.latch);
    if (!reached_ || !is_harmless(loop_.latch, kinds_.plan(loop_.latch, state_))) return false;
    return strip_.by != Strip::By::Comparison || (find_limit(latch) && find_step());
  }

 private:
  bool find_iteration(const Insn& latch, Op op) {
    const Kind through = op == Op::ForRange ? Kind::Nil : kinds_.plan(loop_.latch, kinds_.at_leader(loop_.latch)).a;
    strip_.free = latch.x & bytecode::kFree;
    strip_.by = through == Kind::Nil ? Strip::By::Range : Strip::By::Items;
    strip_.counter = through == Kind::Nil ? latch.b : static_cast<uint16_t>(latch.a + 1);
    if (op == Op::ForRange && range_bounds(kinds_, loop_, latch.a).rounds().value_or(kFewestWorthwhile) < kFewestWorthwhile) return false;
    return through == Kind::Nil || (is_packed(through) && kinds_.at_leader(loop_.head).kinds[latch.a] == through);
  }

  // LoopLt and its kin, with the sense that goes on while it holds.
  bool find_comparison(const Insn& latch, Op op) {
    strip_.by = Strip::By::Comparison;
    if (!is_in(op, Op::JumpLt, Op::LoopGeK) || !(latch.x & bytecode::kSense)) return false;
    constexpr int kVariants = 6;  // of a comparison in the opcode table; the second half goes back
    const int row = (static_cast<int>(op) - static_cast<int>(Op::JumpLt)) / kVariants;
    const int variant = (static_cast<int>(op) - static_cast<int>(Op::JumpLt)) % kVariants;
    strip_.upwards = row < 2;                 // Lt, Le, Gt, Ge
    strip_.strict = row == 0 || row == 2;
    strip_.counter = latch.a;
    limit_register_ = variant == 3;
    if (variant == 4) strip_.limit = add({Form::Constant, 0, latch.imm_b()});
    return variant == 3 || variant == 4;
  }

  bool is_left_out(uint32_t pc) const override {
    return std::find(strip_.left_out.begin(), strip_.left_out.end(), pc) != strip_.left_out.end();
  }
  void start_block(uint32_t pc) override { leader_ = pc; }

  // What can be come to from the head without a block that is left out.
  void find_inside() {
    strip_.inside.assign(loop_.latch - loop_.head + 1, false);
    std::vector<bool> entered(strip_.inside.size(), false);
    bool reached = true;
    for (uint32_t pc = loop_.head; pc <= loop_.latch; pc += chunk_.length_at(pc)) {
      reached = (reached || entered[pc - loop_.head]) && !is_left_out(pc);
      strip_.inside[pc - loop_.head] = reached;
      const uint8_t flags = bytecode::info(chunk_.op_at(pc)).flags;
      if (!reached) continue;
      if (flags & bytecode::Branch && chunk_.target_at(pc) > pc && chunk_.target_at(pc) <= loop_.latch) {
        entered[chunk_.target_at(pc) - loop_.head] = true;
      }
      reached = !(flags & bytecode::Ends);
    }
  }

  // What the strip writes. Nothing is left to exec, so operands on numbers keep what they have.
  void find_written() {
    for (uint32_t pc = loop_.head; pc <= loop_.latch; pc += chunk_.length_at(pc)) {
      if (!strip_.inside[pc - loop_.head]) continue;
      const Op op = chunk_.op_at(pc);
      swaps_ = swaps_ || op == Op::Swap;
      const bool reads = is_in(op, Op::Add, Op::LoopGeK) || op == Op::Index || op == Op::ViewIndex ||
                         op == Op::SetIndex || op == Op::Swap || op == Op::UpdateIndex || op == Op::PlaceLocal ||
                         op == Op::Len;
      for_each_access(chunk_, pc, [&](const Access& each) {
        for (uint32_t reg = each.first; each.written && !(reads && each.read) && reg < each.first + each.count; ++reg) {
          written_.add(reg);
          if (!grows(pc)) set_.add(reg);
        }
      });
    }
  }

  // x += y or x -= y.
  bool grows(uint32_t pc) const {
    const Op op = chunk_.op_at(pc);
    const bool sum = op == Op::Add || op == Op::AddI || op == Op::Sub || op == Op::SubI;
    return sum && chunk_.at(pc).a == chunk_.at(pc).b;
  }

  int fixed_term(uint16_t reg, const State& state) override {
    const State& first = kinds_.at_leader(loop_.head);
    if (written_.has(reg) || kinds_.pinned(reg) || first.kinds[reg] != Kind::Int || state.kinds[reg] != Kind::Int) return -1;
    auto [place, fresh] = fixed_.try_emplace(reg, -1);
    if (fresh) place->second = add({Form::Register, reg});
    return place->second;
  }

  int fixed_function(uint16_t reg) override {
    if (written_.has(reg) || kinds_.pinned(reg)) return -1;
    auto [place, fresh] = functions_.try_emplace(reg, -1);
    if (fresh) place->second = add({.form = Form::Function, .reg = reg});
    return place->second;
  }

  bool look(uint32_t pc, uint16_t list, Kind kind, int at, bool changes) override {
    if (at < 0 || !term(at).linear || !is_list(kind)) return false;
    const auto known = known_.find(list);
    if (known != known_.end() && term(known->second).form == Form::Row) return look_into({pc, kind, at, changes}, term(known->second));
    if (!stays(list)) return false;
    const Kind first = kinds_.at_leader(loop_.head).kinds[list];
    if (first != kind && first != Kind::Any) return false;
    for (const Strip::Look& other : strip_.looks) {
      if (other.row == Strip::kNoRow && other.list == list && other.kind != kind) return false;
    }
    strip_.looks.push_back({{&kinds_, pc}, list, kind, at, changes});
    return true;
  }

  int row(uint16_t list, int at) override {
    if (swaps_ || term(at).varies || !stays(list)) return -1;
    return add({.form = Form::Row, .reg = list, .left = at});
  }

  // Of lists that a register holds from the beginning of the strip to its end.
  bool stays(uint16_t list) const { return !written_.has(list) && !kinds_.pinned(list); }

  struct InRow {
    uint32_t pc;
    Kind kind;
    int at;
    bool changes;
  };
  bool look_into(const InRow& look, const Term& row) {
    if (!is_packed(look.kind) && look.kind != Kind::Items) return false;
    const auto same = std::find_if(strip_.rows.begin(), strip_.rows.end(),
                                   [&](auto& each) { return each.list == row.reg && each.term == row.left; });
    if (same != strip_.rows.end() && same->kind != look.kind) return false;
    const auto number = static_cast<int>(same - strip_.rows.begin());
    if (same == strip_.rows.end()) strip_.rows.push_back({row.reg, row.left, look.kind});
    strip_.looks.push_back({{&kinds_, look.pc}, bytecode::kNoRegister, look.kind, look.at, look.changes, number});
    return true;
  }

  void walk_to_row(uint32_t pc, uint16_t list, int at_row, int at) override {
    if (at < 0 || at_row < 0 || !term(at).linear || !look(pc - 1, list, Kind::Items, at_row, true)) return;
    const int found = row(list, at_row);
    if (found < 0) return;
    const Term in = term(found);
    if (look_into({pc, state_.place, at, true}, in)) strip_.walks.push_back({&kinds_, pc - 1});
  }

  bool append(uint32_t pc) override {
    const Insn& insn = chunk_.at(pc);
    const Kind known = state_.kinds[insn.a], item = state_.kinds[insn.b];
    // Where the code is entered at the loop's head, the list may be empty still and of no kind. What it gets tells.
    const Kind list = known == Kind::Any && item != Kind::None ? list_for(item) : known;
    if (!is_packed(list) || item != element_of(list) || kinds_.pinned(insn.a)) return false;
    bool only_appended = true;
    for (const Strip::Append& other : strip_.appends) only_appended &= other.list != insn.a || other.kind == list;
    for (uint32_t at = loop_.head; at <= loop_.latch; at += chunk_.length_at(at)) {
      if (!strip_.inside[at - loop_.head]) continue;
      const Insn& other = chunk_.at(at);
      if (chunk_.op_at(at) == Op::AppendItem && other.a == insn.a && other.b != insn.a) continue;
      for_each_access(chunk_, at, [&](const Access& each) {
        only_appended &= insn.a < each.first || insn.a >= each.first + each.count;
      });
    }
    if (only_appended) strip_.appends.push_back({pc, insn.a, list});
    return only_appended;
  }

  void grow(uint32_t pc, int by, bool down, const State& after) override {
    const uint16_t reg = chunk_.at(pc).a;
    const Kind first = kinds_.at_leader(loop_.head).kinds[reg];
    if (set_.has(reg) || kinds_.pinned(reg) || first != Kind::Int || after.kinds[reg] != Kind::Int) return;
    strip_.growths.push_back({{&kinds_, pc}, reg, by, down});
  }

  // ---- loops by comparison ----

  bool find_limit(const Insn& latch) {
    if (limit_register_) strip_.limit = term_of(latch.b, state_);
    return strip_.limit >= 0 && !term(strip_.limit).varies && term(strip_.limit).linear;
  }

  // At the end of a round the counter is what it was, and a step that does not change.
  bool find_step() {
    const auto last = known_.find(strip_.counter);
    if (last == known_.end()) return false;
    const Term& sum = term(last->second);
    if (sum.form != (strip_.upwards ? Form::Add : Form::Sub) || term(sum.left).form != Form::Counter) return false;
    strip_.step = sum.right;
    const Term& step = term(strip_.step);
    if (step.varies || !step.linear) return false;
    // Only a step of one is known to be one before the code runs.
    const bool one = strip_.upwards && step.form == Form::Constant && step.value == 1;
    for (Term& each : strip_.terms) each.by_one = each.by_one && one;
    return true;
  }

  const Loop& loop_;
  RegisterSet written_;
  RegisterSet set_;  // to something else than a sum of itself
  uint32_t leader_ = loop_.head;
  std::optional<uint32_t> in_the_way_;
  std::map<uint16_t, int> fixed_, functions_;
  bool limit_register_ = false;
  bool swaps_ = false;  // perhaps rows
};

bool is_innermost(const Chunk& chunk, const std::vector<Loop>& loops, const Loop& loop) {
  bool only = true;
  for (const Loop& other : loops) only &= &other == &loop || !loop.contains(other.head);
  for (uint32_t pc = loop.head; pc < loop.latch; pc += chunk.length_at(pc)) {
    only &= !(bytecode::info(chunk.op_at(pc)).flags & bytecode::Branch) || chunk.target_at(pc) > pc;
  }
  return only;
}

}  // namespace

std::optional<Strip> find_strip(const Kinds& kinds, const std::vector<Loop>& loops, const Loop& loop) {
  if (!loop.tidy || loop.entry != loop.latch || !is_innermost(kinds.chunk(), loops, loop)) return std::nullopt;
  std::vector<uint32_t> left_out;
  while (left_out.size() <= kMostLeftOut) {
    Strip strip;
    strip.left_out = left_out;
    LoopBody body(strip, kinds, loop);
    if (body.run()) return strip;
    if (!body.in_the_way()) return std::nullopt;
    left_out.push_back(*body.in_the_way());
  }
  return std::nullopt;
}

}  // namespace posset::jit
