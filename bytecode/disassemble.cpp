// One stable text form of a chunk, for `posset dump --bytecode`, golden tests and people.
#include "bytecode/chunk.h"
#include "interp/value/print.h"

namespace posset::bytecode {

namespace {

std::string constant_text(Borrowed v) { return interp::brief(v, 40); }

// The beginning of a long text.
std::string literal_text(std::string_view text) {
  size_t end = interp::kMaxShort;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not inside a character
  std::string shown = constant_text(interp::make_short(text.substr(0, end)));
  shown.insert(shown.size() - 1, "...");
  return shown;
}

std::string link_text(const Chunk& chunk, uint16_t index) {
  const Outline::Link& link = chunk.outline.links[index];
  std::string name = link.kind == syntax::Link::Kind::Literal ? literal_text(link.name) : link.name;
  return "link " + std::to_string(index) + " (" + name + ")";
}

std::string operand_text(const Chunk& chunk, char kind, uint16_t value, int64_t target) {
  switch (kind) {
    case 'D':
    case 'U':
    case 'R':
    case 'V': return value == kNoRegister ? "none" : "r" + std::to_string(value);
    case 'K': return constant_text(chunk.constants[value]);
    case 'I': return std::to_string(static_cast<int16_t>(value));
    case 'N': return value == kNoRegister ? "none" : std::to_string(value);
    case 'L': return link_text(chunk, value);
    case 'C': return "." + chunk.caches[value]->name->text;
    case 'Q': return "#" + std::to_string(value);
    case 'P': return "child " + std::to_string(value);
    case 'J':
    case 'W': return "-> " + std::to_string(target);
    default: return "";
  }
}

std::string flags_text(Op op, uint8_t x) {
  std::string out;
  if (op == Op::MakeVariant || op == Op::RestList) return " x" + std::to_string(x);
  if (x & kConsumeB) out += " consume-b";
  if (x & kConsumeC) out += " consume-c";
  if (x & kSense) out += " +";
  if (op == Op::CallbackReady) {
    if (x & kFromFirst) out += " from-first";
    out += (x & kSplits ? " splits x" : " x") + std::to_string(parameters_of(x));
  }
  if ((op == Op::ForNext || op == Op::ForRange) && (x & kFree)) out += " free";
  return out;
}

std::string instruction_text(const Chunk& chunk, uint32_t at) {
  const Insn& insn = chunk.at(at);
  const OpInfo& op = info(static_cast<Op>(insn.op));
  std::string out = std::string(4 - std::min<size_t>(4, std::to_string(at).size()), ' ') + std::to_string(at) + "  ";
  out += op.name;
  out += std::string(op.name ? 14 - std::min<size_t>(13, std::string_view(op.name).size()) : 1, ' ');
  const char* separator = "";
  auto add = [&](char kind, uint16_t value, int64_t target) {
    if (kind == '_') return;
    out += separator + operand_text(chunk, kind, value, target);
    separator = ", ";
  };
  int64_t base = at;
  add(op.a, insn.a, 0);
  if (op.b == 'W') {
    add('W', 0, base + insn.wide);
  } else {
    add(op.b, insn.b, 0);
    add(op.c, insn.c, base + insn.imm_c());
  }
  return out + flags_text(static_cast<Op>(insn.op), insn.x);
}

}  // namespace

std::string disassemble(const Chunk& chunk) {
  std::string out = chunk.name + ": " + std::to_string(chunk.slots) + " slots, " + std::to_string(chunk.registers) +
                    " registers\n";
  for (uint32_t at = 0; at < chunk.size; ++at) {
    Op op = chunk.op_at(at);
    out += instruction_text(chunk, at);
    if (has_next_word(op)) {
      ++at;
      out += " [" + std::to_string(std::bit_cast<uint64_t>(chunk.at(at))) + "]";
    }
    out += "\n";
  }
  for (const Region& region : chunk.regions) {
    out += std::string(region.cleanup ? "  cleanup " : "  try ") + std::to_string(region.begin) + " .. " +
           std::to_string(region.end) + " -> " + std::to_string(region.handler) + ", error in r" +
           std::to_string(region.reg) + "\n";
  }
  return out;
}

}  // namespace posset::bytecode
