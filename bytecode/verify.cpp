// The bytecode verifier: everything the VM takes for granted. Operands in range for their kind, jumps to
// instruction starts, no running off the end, regions well formed, and ownership at jumps: whatever the
// target takes for owned must have been owned at the jump or written before it (a branch's result is owned
// from where the branches meet).
#include <algorithm>

#include "bytecode/chunk.h"

namespace posset::bytecode {

namespace {

class Verifier {
 public:
  explicit Verifier(const Chunk& chunk) : chunk_(chunk) {}

  std::string run() {
    mark_starts();
    for (uint32_t at = 0; at < chunk_.size && wrong_.empty(); at += chunk_.length_at(at)) check(at);
    for (const Region& region : chunk_.regions) check_region(region);
    return wrong_;
  }

 private:
  Op op(uint32_t i) const { return chunk_.op_at(i); }
  void fail(uint32_t i, const std::string& what) {
    if (wrong_.empty()) wrong_ = std::to_string(i) + ": " + what;
  }

  void mark_starts() {
    starts_.assign(chunk_.size + 1, false);
    for (uint32_t i = 0; i < chunk_.size; i += chunk_.length_at(i)) {
      starts_[i] = true;
      if (chunk_.at(i).op >= static_cast<uint8_t>(Op::Record)) return fail(i, "no such opcode");
      if (i + chunk_.length_at(i) > chunk_.size) return fail(i, "cut off");
    }
  }

  void check(uint32_t i) {
    const OpInfo& known = info(op(i));
    const Insn& insn = chunk_.at(i);
    operand(i, known.a, insn.a);
    if (known.b != 'W') {
      operand(i, known.b, insn.b);
      operand(i, known.c, insn.c);
    }
    if (known.b == 'W') jump(i, insn.wide);
    if (known.c == 'J') jump(i, insn.imm_c());
    if (!(known.flags & Ends) && i + chunk_.length_at(i) >= chunk_.size) fail(i, "runs off the end");
    window(i);
  }

  void operand(uint32_t i, char kind, uint16_t value) {
    auto below = [&](size_t count, const char* what) {
      if (value >= count) fail(i, std::string(what) + " out of range");
    };
    switch (kind) {
      case 'D':
      case 'U':
      case 'R':
      case 'V': return below(chunk_.registers, "register");
      case 'K': return below(chunk_.constants.size(), "constant");
      case 'C': return below(chunk_.caches.size(), "field cache");
      case 'L': return below(chunk_.outline.links.size(), "link");
      default: return;
    }
  }

  void window(uint32_t i) {
    const Insn& insn = chunk_.at(i);
    switch (op(i)) {
      case Op::CallKnown:
      case Op::CallLink:
      case Op::CallValue:
      case Op::CallNative:
        if (uint32_t{insn.a} + 2 + insn.c > chunk_.registers) fail(i, "call window out of range");
        if (insn.a < chunk_.slots) fail(i, "call window among the locals");
        return;
      case Op::MakeList:
        if (uint32_t{insn.b} + insn.c > chunk_.registers) fail(i, "items out of range");
        return;
      default: return;
    }
  }

  bool owned(const LiveChange& live, uint16_t reg) const {
    const auto& set = chunk_.live_sets[live.set];
    return std::find(set.begin(), set.end(), reg) != set.end();
  }

  // The jump itself or an instruction before it writes the register.
  bool written_by(uint32_t i, uint16_t reg) const {
    for (uint32_t earlier = 0; earlier <= i; earlier += chunk_.length_at(earlier)) {
      const OpInfo& known = info(op(earlier));
      if ((known.a == 'D' && chunk_.at(earlier).a == reg) || (known.b == 'D' && chunk_.at(earlier).b == reg)) return true;
    }
    return false;
  }

  void jump(uint32_t i, int64_t distance) {
    int64_t target = i + distance;
    if (target < 0 || target >= chunk_.size || !starts_[static_cast<size_t>(target)]) return fail(i, "jump into nowhere");
    const LiveChange& from = chunk_.live_at(i);
    const LiveChange& to = chunk_.live_at(static_cast<uint32_t>(target));
    if (op(i) == Op::TailJump) return;
    const bool sets_one = op(i) == Op::ForRange || op(i) == Op::ForNext || op(i) == Op::Merge;
    if (to.locals > from.locals + (sets_one ? 1 : 0)) {
      fail(i, "jump to where more locals live");
    }
    for (uint16_t reg : chunk_.live_sets[to.set]) {
      if (!owned(from, reg) && !written_by(i, reg)) fail(i, "jump to where r" + std::to_string(reg) + " is owned");
    }
  }

  void check_region(const Region& region) {
    if (region.begin > region.end || region.end > chunk_.size) return fail(region.begin, "region out of range");
    if (region.handler >= chunk_.size || !starts_[region.handler]) return fail(region.begin, "handler out of range");
    if (uint32_t{region.reg} + (region.cleanup ? 1 : 0) >= chunk_.registers) fail(region.begin, "region register out of range");
  }

  const Chunk& chunk_;
  std::vector<bool> starts_;
  std::string wrong_;
};

}  // namespace

std::string verify(const Chunk& chunk) { return Verifier(chunk).run(); }

}  // namespace posset::bytecode
