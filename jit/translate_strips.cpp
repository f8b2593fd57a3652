// Strips (strips.h): the body of such a loop is made twice. At the head of the loop stands the question how many
// rounds can be run as a strip; these run in the first body, without checks and without polls, and the second
// does one round as always. The steps of a strip follow from the rounds that are left, wherever it is left and for
// whatever reason, so that everything is as it would be without strips. From the end of a strip the way leads to the
// loop's own condition.
#include <algorithm>

#include <llvm/IR/Intrinsics.h>

#include "jit/translator.h"

namespace posset::jit {

namespace {

// Fewer rounds are not worth the question.
constexpr uint64_t kFewestRounds = 4;

// As many as are charged nothing: no longer than a slice of steps.
constexpr uint64_t kMostFreeRounds = interp::kSlice;

// Words of a body that is made twice to save no more than what the loop itself asks.
constexpr uint32_t kShortBody = 24;

bool is_of_use(const Strip& strip) {
  return !strip.looks.empty() || !strip.sums.empty() || !strip.growths.empty() || !strip.appends.empty() ||
         !strip.same_calls.empty() || (strip.left_out.empty() && strip.words <= kShortBody);
}

}  // namespace

void Translator::prepare_strips() {
  for (size_t n = 0; n < loops_.size(); ++n) {
    auto strip = find_strip(*kinds_, loops_, loops_[n]);
    if (!strip || !is_of_use(*strip)) continue;
    if (kinds_->at_leader(loops_[n].head).kinds[strip->counter] != Kind::Int) continue;
    shapes_[n].strip = std::move(strip);
    shapes_[n].tries = new_variable(b_.getInt32Ty());
    if (!weighed_ && !shapes_[n].strip->left_out.empty()) weighed_ = new_variable(b_.getInt64Ty());
    if (left_) continue;
    left_ = new_variable(b_.getInt64Ty());
    fuel_behind_ = new_variable(b_.getInt64Ty());
  }
}

// At the head of the loop, where `pc` is one.
void Translator::begin_strip(uint32_t pc) {
  const Loop* loop = !strip_ ? loop_at(pc) : nullptr;
  if (!loop || !shapes_[number_of_loop(*loop)].strip) return;
  LoopShape& shape = shapes_[number_of_loop(*loop)];
  after_ = state_;
  refined_.clear();  // of the condition that was made in front of the loop
  auto* single = block("single");
  auto* fast = block("strip");
  auto* failed = late("failed");
  llvm::Value* tries = load(b_.getInt32Ty(), shape.tries);
  auto* weigh = block("weigh");
  llvm::Value* tried = b_.CreateICmpNE(tries, b_.getInt32(0));
  if (is_stressed()) tried = b_.CreateAnd(tried, b_.CreateNot(is_exit_forced()));
  b_.CreateCondBr(tried, weigh, single);
  go_on_in(weigh);
  Proved proved;
  proved_ = &proved;
  weigh_strip(*shape.strip, *loop, fast, single, failed);
  b_.SetInsertPoint(failed);
  put(b_.CreateSub(tries, b_.getInt32(1)), shape.tries);
  b_.CreateBr(single);
  go_on_in(fast);
  strip_body(*shape.strip, *loop);
  proved_ = nullptr;
  go_on_in(single);
}

// On to `fast` with the number of further rounds in left_; to `single` when they are too few, to `failed` when
// something does not hold for all of them.
void Translator::weigh_strip(const Strip& strip, const Loop& loop, llvm::BasicBlock* fast, llvm::BasicBlock* single,
                             llvm::BasicBlock* failed) {
  require_functions(strip, failed);
  Terms first{read(strip.counter).payload, {}, b_.getTrue()};
  llvm::Value* step = strip.by == Strip::By::Comparison ? term(strip, strip.step, first) : word(1);
  llvm::Value* more = rounds_by_condition(strip, loop, first, step, single);
  more = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, more, rounds_by_steps(strip));
  more = rounds_by_room(strip, more);
  auto* enough = block("enough");
  llvm::Value* many = b_.CreateICmpUGE(more, word(kFewestRounds - 1));
  b_.CreateCondBr(many, enough, single);
  go_on_in(enough);
  require_lists(strip, failed);
  require_rows(strip, first, failed);
  llvm::Value* holds = b_.getTrue();
  for (const Strip::Look& look : strip.looks) {
    const Operand list = list_of(look);
    if (look.changes) holds = b_.CreateAnd(holds, is_unique(list));
    llvm::Value* at = term(strip, look.term, first);
    llvm::Value* size = size_of(list);
    holds = b_.CreateAnd(holds, b_.CreateICmpULT(at, size));
    if (!strip.terms[static_cast<size_t>(look.term)].by_one) continue;
    more = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, more, b_.CreateSub(b_.CreateSub(size, at), word(1)));
  }
  holds = b_.CreateAnd(holds, b_.CreateICmpUGE(more, word(kFewestRounds - 1)));
  holds = b_.CreateAnd(holds, holds_in_last_round(strip, first, more, step));
  take_sizes(strip);
  put(more, left_);
  if (!strip.left_out.empty()) put(more, weighed_);
  put(strip.free ? fuel() : b_.CreateSub(fuel(), more), fuel_behind_);
  b_.CreateCondBr(holds, fast, failed);
}

// Lists that are only taken to be of a kind must be.
void Translator::require_lists(const Strip& strip, llvm::BasicBlock* failed) {
  std::vector<uint16_t> asked;
  auto require = [&](uint16_t reg, Kind kind) {
    const Operand list = read(reg);
    if (list.kind == kind || std::find(asked.begin(), asked.end(), reg) != asked.end()) return;
    asked.push_back(reg);
    auto* fits = block("fits");
    b_.CreateCondBr(is_kind(list, kind), fits, failed);
    go_on_in(fits);
  };
  for (const Strip::Look& look : strip.looks) {
    if (look.row == Strip::kNoRow) require(look.list, look.kind);
  }
  for (const Strip::Append& append : strip.appends) require(append.list, append.kind);
}

// And so must what is at the index of a row.
void Translator::require_rows(const Strip& strip, Terms& first, llvm::BasicBlock* failed) {
  for (const Strip::Row& row : strip.rows) {
    const Operand list{Kind::Items, nullptr, payload_of(read(row.list))};
    llvm::Value* at = term(strip, row.term, first);
    auto* within = block("within");
    b_.CreateCondBr(b_.CreateICmpULT(at, size_of(list)), within, failed);
    go_on_in(within);
    const Operand found = load_element(list, at, interp::Packing::Any);
    auto* fits = block("fits");
    b_.CreateCondBr(is_kind(found, row.kind), fits, failed);
    go_on_in(fits);
    proved_->rows.push_back({row.kind, nullptr, payload_of(found)});
  }
}

// Functions that are the same in all rounds must be those whose code takes the place of the calls, and must have
// captured what that is made for.
void Translator::require_functions(const Strip& strip, llvm::BasicBlock* failed) {
  for (const Strip::Call& call : strip.same_calls) {
    const Term& function = strip.terms[static_cast<size_t>(call.function)];
    if (const auto which = call.place.body->intrinsic(call.place.pc); which != interp::Intrinsic::None) {
      proved_->natives[{call.place.body, call.place.pc}] = require_intrinsic(value_in_strip(function), which, failed);
      continue;
    }
    const auto [place, fresh] = proved_->functions.try_emplace(call.function, nullptr);
    if (fresh) place->second = function_in_strip(function, failed);
    require_unit(*call.place.body, call.place.pc, unit_number(place->second), failed);
    std::map<uint32_t, Operand>& captured = proved_->captured[{call.place.body, call.place.pc}];
    for (const auto& [number, kind] : call.place.body->inlined(call.place.pc)->captured()) {
      if (kind != Kind::Any) captured[number] = require_captured(place->second, number, kind, failed);
    }
  }
}

llvm::Value* Translator::function_in_strip(const Term& function, llvm::BasicBlock* failed) {
  if (function.form == Term::Form::LinkedFunction) return closure_of_link(around_in_strip(function), static_cast<uint16_t>(function.value));
  const Operand v = value_in_strip(function);
  require_function(v, failed);
  return object(v);
}

// Of one that is no link.
Operand Translator::value_in_strip(const Term& function) {
  if (function.form == Term::Form::Function) return read(function.reg);
  return captured_by(around_in_strip(function), static_cast<uint32_t>(function.value));
}

llvm::Value* Translator::around_in_strip(const Term& function) {
  return function.within == Term::kOwn ? closure() : proved_->functions.at(function.within);
}

// False: the callee is not known beforehand.
bool Translator::begin_proved_call(uint32_t pc, Translator& callee) {
  if (!strip_) return false;
  const auto same = std::find_if(strip_->same_calls.begin(), strip_->same_calls.end(),
                                 [&](auto& each) { return each.place == Strip::Place{kinds_, pc}; });
  if (same == strip_->same_calls.end()) return false;
  callee.closure_ = proved_->functions.at(same->function);
  callee.captured_ = proved_->captured.at({kinds_, pc});
  return true;
}

void Translator::take_sizes(const Strip& strip) {
  for (const Strip::Append& each : strip.appends) {
    if (size_in_strip(each.list)) continue;
    const Operand list = read(each.list);
    proved_->sizes.push_back({each.list, object(list), new_variable(b_.getInt64Ty())});
    put(size_of(list), proved_->sizes.back().size);
  }
}

// Null: it is not appended to.
llvm::AllocaInst* Translator::size_in_strip(uint16_t list) const {
  const auto found = std::find_if(proved_->sizes.begin(), proved_->sizes.end(), [&](auto& each) { return each.reg == list; });
  return found == proved_->sizes.end() ? nullptr : found->size;
}

// That a strip appends to.
Operand Translator::appended_list(uint16_t reg) {
  const auto found = std::find_if(strip_->appends.begin(), strip_->appends.end(), [&](auto& each) { return each.list == reg; });
  return {found->kind, nullptr, payload_of(read(reg))};
}

Operand Translator::list_of(const Strip::Look& look) {
  if (look.row != Strip::kNoRow) return proved_->rows[static_cast<size_t>(look.row)];
  return {look.kind, nullptr, payload_of(read(look.list))};
}

// How many rounds follow this one, as far as the loop's condition goes.
llvm::Value* Translator::rounds_by_condition(const Strip& strip, const Loop& loop, Terms& first, llvm::Value* step,
                                             llvm::BasicBlock* single) {
  if (strip.by != Strip::By::Comparison) {
    const uint16_t hidden = chunk_.at(loop.latch).a;
    llvm::Value* next = payload_of(read(static_cast<uint16_t>(hidden + 1)));
    const bool in_list = strip.by == Strip::By::Items;
    return b_.CreateSub(in_list ? size_of(read(hidden)) : payload_of(read(static_cast<uint16_t>(hidden + 2))), next);
  }
  llvm::Value* limit = term(strip, strip.limit, first);
  llvm::Value* low = strip.upwards ? first.counter : limit;
  llvm::Value* high = strip.upwards ? limit : first.counter;
  llvm::Value* goes = b_.CreateICmp(strip.strict ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_SLE, low, high);
  auto* divide = block("divide");
  b_.CreateCondBr(b_.CreateAnd(goes, b_.CreateICmpSGT(step, word(0))), divide, single);
  go_on_in(divide);
  llvm::Value* span = b_.CreateSub(high, low);
  if (strip.strict) span = b_.CreateSub(span, word(1));
  return b_.CreateUDiv(span, step);
}

// How many rounds the steps last that are left, when the calls of the first are charged as well.
llvm::Value* Translator::rounds_by_steps(const Strip& strip) {
  llvm::Value* steps = fuel();
  if (strip.calls == 0) return strip.free ? word(kMostFreeRounds) : steps;
  llvm::Value* others = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, steps, word(strip.calls));
  return b_.CreateUDiv(others, word(uint64_t{strip.calls} + (strip.free ? 0 : 1)));
}

// At most so many as `more` that the lists under construction have room for.
llvm::Value* Translator::rounds_by_room(const Strip& strip, llvm::Value* more) {
  std::map<uint16_t, uint64_t> appended;  // in a round
  for (const Strip::Append& each : strip.appends) ++appended[each.list];
  for (const auto& [reg, times] : appended) {
    const Operand list = read(reg);
    llvm::Value* rounds = b_.CreateUDiv(b_.CreateSub(capacity_of(list), size_of(list)), word(times));
    llvm::Value* further = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, rounds, word(1));
    more = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, more, further);
  }
  return more;
}

// What is linear and holds for the first and the last round holds for those between them.
llvm::Value* Translator::holds_in_last_round(const Strip& strip, Terms& first, llvm::Value* more,
                                             llvm::Value* step) {
  llvm::Value* distance = b_.CreateMul(more, step);
  llvm::Value* rounds = b_.CreateAdd(more, word(1));
  llvm::Value* end = strip.upwards ? b_.CreateAdd(first.counter, distance) : b_.CreateSub(first.counter, distance);
  Terms last{end, {}, b_.getTrue()};
  Weights weights{strip, first, last, b_.getTrue(), {}};
  weigh_growths(weights, rounds);
  for (int each : strip.checked) {
    if (!strip.terms[static_cast<size_t>(each)].is_small()) bounds(weights, each);
  }
  llvm::Value* holds = b_.CreateAnd(weights.fits, b_.CreateAnd(first.fits, last.fits));
  holds = b_.CreateAnd(holds, is_near_zero(strip, first, last));
  for (const Strip::Look& look : strip.looks) {
    const Term& at = strip.terms[static_cast<size_t>(look.term)];
    if (!at.varies || at.by_one) continue;  // the rounds are few enough for that
    holds = b_.CreateAnd(holds, b_.CreateICmpULT(term(strip, look.term, last), size_of(list_of(look))));
  }
  return holds;
}

// Every register in a small sum.
llvm::Value* Translator::is_near_zero(const Strip& strip, Terms& first, Terms& last) {
  std::vector<bool> in_sum(strip.terms.size(), false);
  for (int each : strip.checked) in_sum[static_cast<size_t>(each)] = strip.terms[static_cast<size_t>(each)].is_small();
  llvm::Value* all = nullptr;
  auto take = [&](llvm::Value* value) {
    llvm::Value* from = b_.CreateAdd(value, word(static_cast<uint64_t>(Term::kNearZero)));
    all = all ? b_.CreateOr(all, from) : from;
  };
  for (size_t n = strip.terms.size(); n-- > 0;) {
    if (!in_sum[n]) continue;
    const Term& each = strip.terms[n];
    if (each.is_sum()) {
      in_sum[static_cast<size_t>(each.left)] = in_sum[static_cast<size_t>(each.right)] = true;
    } else if (each.times > 0) {
      take(term(strip, static_cast<int>(n), first));
      if (each.varies) take(term(strip, static_cast<int>(n), last));
    }
  }
  return all ? b_.CreateICmpULT(all, word(static_cast<uint64_t>(Term::kNearZero) * 2)) : b_.getTrue();
}

llvm::Value* Translator::weighed(Weights& weights, unsigned intrinsic, llvm::Value* a, llvm::Value* b) {
  llvm::Value* both = b_.CreateBinaryIntrinsic(static_cast<llvm::Intrinsic::ID>(intrinsic), a, b);
  weights.fits = b_.CreateAnd(weights.fits, b_.CreateNot(b_.CreateExtractValue(both, 1)));
  return b_.CreateExtractValue(both, 0);
}

// No variable that grows can overflow in so many rounds, each by the most or by the least that it grows by.
void Translator::weigh_growths(Weights& weights, llvm::Value* rounds) {
  std::map<uint16_t, Bounds> grown;
  for (const Strip::Growth& growth : weights.strip.growths) {
    llvm::Value* before = read(growth.reg).payload;
    Bounds& all = grown.try_emplace(growth.reg, Bounds{before, before}).first->second;
    const Bounds by = bounds(weights, growth.term);
    llvm::Value* least = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, by.low, word(0));
    llvm::Value* most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, by.high, word(0));
    least = weighed(weights, llvm::Intrinsic::smul_with_overflow, least, rounds);
    most = weighed(weights, llvm::Intrinsic::smul_with_overflow, most, rounds);
    const auto which = growth.down ? llvm::Intrinsic::ssub_with_overflow : llvm::Intrinsic::sadd_with_overflow;
    all.low = weighed(weights, which, all.low, growth.down ? most : least);
    all.high = weighed(weights, which, all.high, growth.down ? least : most);
  }
}

// Between what a term stays in all rounds. Source: interval arithmetic.
Translator::Bounds Translator::bounds(Weights& weights, int number) {
  if (const auto known = weights.bounds.find(number); known != weights.bounds.end()) return known->second;
  const Term& each = weights.strip.terms[static_cast<size_t>(number)];
  Bounds made{};
  if (each.linear) {
    llvm::Value* a = term(weights.strip, number, weights.first);
    llvm::Value* b = term(weights.strip, number, weights.last);
    made = {b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b), b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b)};
  } else if (each.form == Term::Form::Mod) {
    made = {word(0), word(static_cast<uint64_t>(each.value - 1))};
  } else if (each.form == Term::Form::IntDiv) {
    // Rounded towards zero, which is not below floor division, and at most one above. By one nothing is rounded, and one
    // less might not be a number.
    const Bounds of = bounds(weights, each.left);
    llvm::Value* by = word(static_cast<uint64_t>(each.value));
    const uint64_t rounded = each.value == 1 ? 0 : 1;
    made = {b_.CreateSub(b_.CreateSDiv(of.low, by), word(rounded)), b_.CreateSDiv(of.high, by)};
  } else {
    made = bounds_of_two(weights, each.form, bounds(weights, each.left), bounds(weights, each.right));
  }
  weights.bounds.emplace(number, made);
  return made;
}

Translator::Bounds Translator::bounds_of_two(Weights& weights, Term::Form form, const Bounds& a, const Bounds& b) {
  if (form != Term::Form::Mul) {
    const bool add = form == Term::Form::Add;
    const auto which = add ? llvm::Intrinsic::sadd_with_overflow : llvm::Intrinsic::ssub_with_overflow;
    return {weighed(weights, which, a.low, add ? b.low : b.high), weighed(weights, which, a.high, add ? b.high : b.low)};
  }
  Bounds made{};
  for (llvm::Value* left : {a.low, a.high}) {
    for (llvm::Value* right : {b.low, b.high}) {
      llvm::Value* corner = weighed(weights, llvm::Intrinsic::smul_with_overflow, left, right);
      made.low = made.low ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, made.low, corner) : corner;
      made.high = made.high ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, made.high, corner) : corner;
    }
  }
  return made;
}

llvm::Value* Translator::plain_sum(Term::Form form, llvm::Value* left, llvm::Value* right) {
  if (form == Term::Form::Mul) return b_.CreateMul(left, right);
  return form == Term::Form::Add ? b_.CreateAdd(left, right) : b_.CreateSub(left, right);
}

// Of a linear one, in one round. That a small one does not overflow is asked of its registers (is_near_zero).
llvm::Value* Translator::term(const Strip& strip, int number, Terms& in) {
  const Term& term = strip.terms[static_cast<size_t>(number)];
  if (term.form == Term::Form::Counter) return in.counter;
  if (term.form == Term::Form::Register) return read(term.reg).payload;
  if (term.form == Term::Form::Captured) {
    const auto which = static_cast<uint32_t>(term.value);
    return (term.within == Term::kOwn ? captured_value(which) : captured_by(proved_->functions.at(term.within), which)).payload;
  }
  if (term.form == Term::Form::Constant) return word(static_cast<uint64_t>(term.value));
  auto found = in.known.find(number);
  if (found != in.known.end()) return found->second;
  llvm::Value* left = this->term(strip, term.left, in);
  llvm::Value* right = this->term(strip, term.right, in);
  if (term.is_small()) return in.known[number] = plain_sum(term.form, left, right);
  const auto which = term.form == Term::Form::Add   ? llvm::Intrinsic::sadd_with_overflow
                     : term.form == Term::Form::Sub ? llvm::Intrinsic::ssub_with_overflow
                                                    : llvm::Intrinsic::smul_with_overflow;
  llvm::Value* both = b_.CreateBinaryIntrinsic(which, left, right);
  in.fits = b_.CreateAnd(in.fits, b_.CreateNot(b_.CreateExtractValue(both, 1)));
  return in.known[number] = b_.CreateExtractValue(both, 0);
}

// ---- the body of a strip ----

void Translator::strip_body(const Strip& strip, const Loop& loop) {
  std::vector<llvm::BasicBlock*> own(blocks_.begin() + loop.head, blocks_.begin() + loop.latch + 1);
  for (uint32_t pc = loop.head; pc <= loop.latch; ++pc) {
    if (blocks_[pc] && strip.inside[pc - loop.head]) blocks_[pc] = block("quick");
  }
  b_.CreateBr(blocks_[loop.head]);
  strip_ = &strip;
  strip_loop_ = &loop;
  for (uint32_t pc = loop.head; pc < loop.latch; pc += chunk_.length_at(pc)) {
    if (strip.inside[pc - loop.head]) {
      instruction(pc);
    } else if (reached_) {
      if (!b_.GetInsertBlock()->getTerminator()) b_.CreateBr(block_at(pc));
      reached_ = false;
    }
  }
  if (reached_ && !b_.GetInsertBlock()->getTerminator()) b_.CreateBr(block_at(loop.latch));
  strip_latch(strip, loop, own.back());
  strip_ = nullptr;
  strip_loop_ = nullptr;
  std::copy(own.begin(), own.end(), blocks_.begin() + loop.head);
  state_ = after_ = kinds_->at_leader(loop.head);
}

// The loop's condition is known to hold until the rounds are done.
void Translator::strip_latch(const Strip& strip, const Loop& loop, llvm::BasicBlock* condition) {
  go_on_in(blocks_[loop.latch]);
  here_ = loop.latch;
  reached_ = true;
  state_ = kinds_->at_leader(loop.latch);
  start_instruction(loop.latch);
  auto* again = block("again");
  auto* over = late("over");
  llvm::Value* left = load(b_.getInt64Ty(), left_);
  b_.CreateCondBr(b_.CreateICmpNE(left, word(0)), again, over);
  b_.SetInsertPoint(over);
  charge_strip();
  b_.CreateBr(condition);
  go_on_in(again);
  put(b_.CreateSub(left, word(1)), left_);
  if (strip.by == Strip::By::Range) advance_range(chunk_.at(loop.latch));
  if (strip.by == Strip::By::Items) advance_items(chunk_.at(loop.latch), {});
  b_.CreateBr(block_at(loop.head));
}

// By a branch. One that is left for a block after fewer rounds than its question is worth has been a try in vain.
void Translator::leave_strip(uint32_t to) {
  charge_strip();
  if (!strip_loop_->contains(to)) return;
  LoopShape& shape = shapes_[number_of_loop(*strip_loop_)];
  llvm::Value* rounds = b_.CreateSub(load(b_.getInt64Ty(), weighed_), load(b_.getInt64Ty(), left_));
  llvm::Value* vain = b_.CreateICmpULT(rounds, word(2));
  put(b_.CreateSub(load(b_.getInt32Ty(), shape.tries), b_.CreateZExt(vain, b_.getInt32Ty())), shape.tries);
}

// On the ways out of a strip.
void Translator::charge_strip() {
  if (!strip_) return;
  for (const Proved::Size& each : proved_->sizes) {
    of(Memory::Header, store_word(each.list, offsetof(interp::List, size), load(b_.getInt64Ty(), each.size)));
  }
  llvm::Value* behind = load(b_.getInt64Ty(), fuel_behind_);
  put(strip_->free ? behind : b_.CreateAdd(behind, load(b_.getInt64Ty(), left_)), fuel_);
}

// A call in a strip, for which there are steps enough.
void Translator::charge_strip_call() {
  put(b_.CreateSub(load(b_.getInt64Ty(), fuel_behind_), word(1)), fuel_behind_);
}

bool Translator::is_proved_kind(uint16_t reg, Kind kind) const {
  return strip_loop_ && std::any_of(strip_->looks.begin(), strip_->looks.end(), [&](auto& each) {
    const bool is_it = each.row == Strip::kNoRow ? each.list == reg : each.place == Strip::Place{kinds_, here_};
    return is_it && each.kind == kind;
  });
}

// The step of a walk comes to a list that is known to be what the plan takes it for.
bool Translator::is_proved_walk(uint32_t pc) const {
  return strip_ && std::find(strip_->walks.begin(), strip_->walks.end(), Strip::Place{kinds_, pc}) != strip_->walks.end();
}

bool Translator::is_proved_sum(uint32_t pc) const {
  if (!strip_) return false;
  const Strip::Place here{kinds_, pc};
  return std::find(strip_->sums.begin(), strip_->sums.end(), here) != strip_->sums.end() ||
         std::any_of(strip_->growths.begin(), strip_->growths.end(), [&](auto& each) { return each.place == here; });
}

bool Translator::is_proved_append(uint32_t pc) const {
  return strip_loop_ && std::any_of(strip_->appends.begin(), strip_->appends.end(), [&](auto& each) { return each.pc == pc; });
}

// The index is within the list, and a list that is changed has no other owner.
bool Translator::is_proved_look(uint32_t pc) const {
  return strip_ && std::any_of(strip_->looks.begin(), strip_->looks.end(), [&](auto& each) { return each.place == Strip::Place{kinds_, pc}; });
}

}  // namespace posset::jit
