// See access.h.
#include "jit/access.h"

#include <algorithm>

#include "interp/syntax/ast.h"
#include "interp/value/shape.h"

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Insn;
using bytecode::Op;

namespace {

constexpr uint32_t kHiddenRegisters = 3;  // of a loop, interp/runtime/iterate.h


uint32_t values_in(const std::vector<bytecode::Piece>& pieces) {
  return static_cast<uint32_t>(std::count_if(pieces.begin(), pieces.end(), [](auto& each) { return each.is_value; }));
}

class Accesses {
 public:
  Accesses(const Chunk& chunk, uint32_t pc, const std::function<void(const Access&)>& visit)
      : chunk_(chunk), insn_(chunk.at(pc)), op_(static_cast<Op>(insn_.op)), visit_(visit) {}

  void run() {
    const bytecode::OpInfo& known = bytecode::info(op_);
    operand(known.a, insn_.a);
    if (known.b != 'W') {
      operand(known.b, insn_.b);
      operand(known.c, insn_.c);
    }
    more();
  }

 private:
  void operand(char kind, uint16_t reg) {
    switch (kind) {
      case 'D':
      case 'U': return visit_({reg, 1, false, true});
      case 'V': return visit_({reg, 1, op_ != Op::IterRange, true});  // which only sets what it has
      case 'R': return visit_({reg, 1, true, consumes()});
      default: return;
    }
  }

  // Some operand, by its flags or always.
  bool consumes() const {
    switch (op_) {
      case Op::SetLink:
      case Op::PlaceIndexOr:
      case Op::CallSpread:
      case Op::Spawn:
      case Op::SpreadParameters: return true;
      default: return (insn_.x & (bytecode::kConsumeB | bytecode::kConsumeC)) != 0;
    }
  }

  void moved(uint32_t first, uint32_t count) {
    if (count != 0) visit_({first, count, true, true});
  }

  // What the row does not say.
  void more() {
    switch (op_) {
      case Op::DropRange: return moved(insn_.a, insn_.b);
      case Op::Move: return moved(insn_.b, 1);
      case Op::Fork: return inputs();
      case Op::IterBegin:
      case Op::IterLines:
      case Op::IterRange: return visit_({insn_.a + 1U, kHiddenRegisters - 1, false, true});
      case Op::ForRange:
      case Op::ForNext:
        moved(insn_.a, kHiddenRegisters);
        return unchanged_at_end(insn_.b);
      case Op::CallbackRounds: return visit_({insn_.a, syntax::kCallbackSlots, true, false});
      case Op::Rounds: return visit_({insn_.a, syntax::kComprehensionSlots, true, false});
      case Op::NewListFor: return visit_({insn_.b, kHiddenRegisters, true, false});
      case Op::CallKnown:
      case Op::CallLink:
      case Op::CallValue:
      case Op::CallNative: return moved(insn_.a + 2U, insn_.c);
      case Op::Return:
        moved(0, insn_.b);
        return outliving(chunk_.inout_mask);
      case Op::LoopDone:
      case Op::LoopReturn: return visit_({0, chunk_.slots, true, false});
      case Op::MakeList: return moved(insn_.b, insn_.c);
      case Op::MakeVariant: return moved(insn_.b, insn_.x);
      case Op::MakeRecord: return moved(insn_.b, static_cast<uint32_t>(chunk_.shapes[insn_.c]->fields.size()));
      case Op::BuildRecord: return moved(insn_.b, static_cast<uint32_t>(chunk_.field_names[insn_.c].size()));
      case Op::Interpolate: return moved(insn_.b, values_in(chunk_.texts[insn_.c]));
      case Op::Slice: return moved(insn_.c, 2);
      case Op::SpreadParameters: return moved(insn_.a, chunk_.outline.parameters);
      case Op::Rethrow: return moved(insn_.a, 2);
      case Op::Closure: return captured();
      case Op::UpdateIndex:
      case Op::UpdateField: return old_value(insn_.c);
      case Op::UpdatePlace: return old_value(insn_.b);
      default: return;
    }
  }

  void outliving(uint64_t slots) {
    for (uint32_t slot = 0; slots != 0; ++slot, slots >>= 1) {
      if (slots & 1) moved(slot, 1);
    }
  }

  // Where there is no further item, its register stays as it was, and behind a loop's own code is the function's again.
  void unchanged_at_end(uint16_t item) {
    if (chunk_.is_loop && item < chunk_.slots) moved(item, 1);
  }

  void old_value(uint16_t reg) {
    if (reg != bytecode::kNoRegister) moved(reg, 1);
  }

  void inputs() {
    for (uint32_t point = insn_.a; point < uint32_t{insn_.a} + insn_.b; ++point) {
      for (uint32_t slot : chunk_.outline.forks[point]) visit_({slot, 1, true, false});
    }
  }

  void captured() {
    for (uint32_t slot : chunk_.outline.children[insn_.b]) moved(slot, 1);
  }

  const Chunk& chunk_;
  const Insn& insn_;
  const Op op_;
  const std::function<void(const Access&)>& visit_;
};

// ---- liveness ----

class Liveness {
 public:
  Liveness(const Chunk& chunk, const RegisterSet& held)
      : chunk_(chunk), held_(held), live_(chunk.size, RegisterSet(chunk.registers)) {
    for (uint32_t pc = 0; pc < chunk.size; pc += chunk.length_at(pc)) starts_.push_back(pc);
  }

  std::vector<RegisterSet> run() {
    solve();
    return std::move(live_);
  }

  RegisterSet demanded() {
    only_demanded_ = true;
    solve();
    return live_[0];
  }

 private:
  void solve() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto pc = starts_.rbegin(); pc != starts_.rend(); ++pc) changed |= update(*pc);
    }
  }

  // What a loop's own code only hands on to the function around it.
  bool hands_on(uint32_t pc, const Access& access) const {
    const Op op = chunk_.op_at(pc);
    if (op == Op::LoopDone || op == Op::LoopReturn) return true;
    return is_next_item(op) && access.first == chunk_.at(pc).b;
  }

  // What is left of a variable of a loop's own matters only where it might be taken for a reference.
  bool is_of_no_matter(uint32_t reg) const {
    return chunk_.is_loop && reg >= chunk_.first_local && reg < chunk_.slots && !held_.has(reg);
  }

  bool is_used(uint32_t pc, const Access& access, uint32_t reg) const {
    if (!access.read) return false;
    if (!chunk_.is_loop || reg >= chunk_.slots || !hands_on(pc, access)) return true;
    return !only_demanded_ && !is_of_no_matter(reg);
  }

  bool update(uint32_t pc) {
    RegisterSet live = after(pc);
    auto visit = [&](bool used) {
      for_each_access(chunk_, pc, [&](const Access& each) {
        for (uint32_t reg = each.first; reg < each.first + each.count; ++reg) {
          if (is_used(pc, each, reg) != used) continue;
          if (used) live.add(reg);
          if (!used && each.written) live.remove(reg);
        }
      });
    };
    visit(false);
    visit(true);
    add_handlers(pc, live);
    if (!only_demanded_) add_owned(pc, live);
    return live_[pc].add_all(live);
  }

  RegisterSet after(uint32_t pc) const {
    const Insn& insn = chunk_.at(pc);
    const bytecode::OpInfo& known = bytecode::info(static_cast<Op>(insn.op));
    RegisterSet live(chunk_.registers);
    if (!(known.flags & bytecode::Ends) && pc + chunk_.length_at(pc) < chunk_.size) live.add_all(live_[pc + chunk_.length_at(pc)]);
    if (known.flags & bytecode::Branch) live.add_all(live_[chunk_.target_at(pc)]);
    return live;
  }

  // An error anywhere in a region goes on at its handler, which finds it in the region's register, a cleanup its site
  // in the next: what stands there before is nothing to it.
  void add_handlers(uint32_t pc, RegisterSet& live) const {
    for (const bytecode::Region& region : chunk_.regions) {
      if (pc < region.begin || pc >= region.end) continue;
      RegisterSet read = live_[region.handler];
      read.remove(region.reg);
      if (region.cleanup) read.remove(region.reg + 1U);
      live.add_all(read);
    }
  }

  // What an error here releases. It may be all that still reads a register: where everything behind it throws.
  void add_owned(uint32_t pc, RegisterSet& live) const {
    const bytecode::LiveChange& owned = chunk_.live_at(pc);
    for (uint32_t reg = 0; reg < owned.locals; ++reg) {
      if (!is_of_no_matter(reg)) live.add(reg);
    }
    for (uint16_t reg : chunk_.live_sets[owned.set]) live.add(reg);
    // Whichever way a loop's own code is left, be it by an error or an exit, these are looked into.
    for (uint32_t reg = chunk_.first_local; chunk_.is_loop && reg < chunk_.slots; ++reg) {
      if (held_.has(reg)) live.add(reg);
    }
  }

  const Chunk& chunk_;
  const RegisterSet& held_;
  bool only_demanded_ = false;
  std::vector<RegisterSet> live_;
  std::vector<uint32_t> starts_;
};

}  // namespace

void for_each_access(const Chunk& chunk, uint32_t pc, const std::function<void(const Access&)>& visit) {
  Accesses(chunk, pc, visit).run();
}

bool leaves_forks(const Chunk& chunk) {
  for (uint32_t pc = 0; pc < chunk.size; pc += chunk.length_at(pc)) {
    if (chunk.op_at(pc) == Op::Fork) return true;
  }
  return false;
}

bool keeps_forks_at_heads(const Chunk& chunk) {
  uint32_t open = 0;
  auto head = chunk.loop_heads.begin();
  for (uint32_t pc = 0; pc < chunk.size && head != chunk.loop_heads.end(); pc += chunk.length_at(pc)) {
    if (head->pc == pc && (++head, open != 0)) return true;
    const Insn& insn = chunk.at(pc);
    if (chunk.op_at(pc) == Op::Fork) open += insn.b;
    if (chunk.op_at(pc) == Op::Merge) --open;
  }
  return false;
}

bool RegisterSet::add_all(const RegisterSet& other) {
  bool changed = false;
  for (size_t n = 0; n < words_.size(); ++n) {
    const uint64_t both = words_[n] | other.words_[n];
    changed |= both != words_[n];
    words_[n] = both;
  }
  return changed;
}

std::vector<RegisterSet> live_registers(const Chunk& chunk, const RegisterSet& held) { return Liveness(chunk, held).run(); }

RegisterSet demanded_registers(const Chunk& chunk) { return Liveness(chunk, RegisterSet(chunk.registers)).demanded(); }

}  // namespace posset::jit
