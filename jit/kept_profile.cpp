// See kept_profile.h.
#include "jit/kept_profile.h"

#include <algorithm>
#include <cstring>

namespace posset::jit {

using bytecode::Chunk;
using bytecode::Op;
using bytecode::Seen;

namespace {

constexpr uint64_t kCalleeBits = uint64_t{UINT32_MAX} << Seen::kCallee;

bool calls_closure(const Chunk& chunk, uint32_t pc) {
  return bytecode::is_call(chunk.op_at(pc));
}

// One callee as a part's number, from 1; one that is no part, and several, as several.
uint64_t outward(uint64_t word, const Bindings& bindings) {
  const uint32_t callee = Seen{word}.called();
  if (callee & Seen::kNative) return word;
  const auto& parts = bindings.parts();
  const auto part = std::find_if(parts.begin(), parts.end(), [&](const Bindings::Part& each) { return each.unit == callee; });
  word &= ~kCalleeBits;
  if (callee == 0) return word;
  if (part == parts.end()) return word | Seen::kSeveralCallees;
  return word | static_cast<uint64_t>(part - parts.begin() + 1) << Seen::kCallee;
}

uint64_t inward(uint64_t word, const Bindings& bindings) {
  const uint32_t part = Seen{word}.called();
  if (part & Seen::kNative) return word;
  word &= ~kCalleeBits;
  if (part == 0) return word;
  const bool known = part <= bindings.parts().size() && bindings.parts()[part - 1].unit != 0;
  return word | (known ? uint64_t{bindings.parts()[part - 1].unit} << Seen::kCallee : Seen::kSeveralCallees);
}

}  // namespace

std::string kept_profile(const Chunk& chunk, const Bindings& bindings) {
  std::string kept;
  auto add = [&](uint64_t word) { kept.append(reinterpret_cast<const char*>(&word), sizeof word); };
  for (uint32_t pc = 0; pc < chunk.size; ++pc) {
    const uint64_t seen = chunk.profile[pc].load(std::memory_order_relaxed);
    add(calls_closure(chunk, pc) ? outward(seen, bindings) : seen);
    add(chunk.insides[pc].load(std::memory_order_relaxed));
  }
  for (uint64_t word : chunk.signatures.words()) add(word);
  return kept;
}

// Whoever records at the same time may undo an addition, which costs a later exit.
void add_profile(const Chunk& chunk, std::string_view kept, const Bindings& bindings) {
  interp::Signatures::Words signatures;
  const size_t of_instructions = size_t{chunk.size} * 2 * sizeof(uint64_t);
  if (kept.size() != of_instructions + sizeof signatures) return;
  std::memcpy(&signatures, kept.data() + of_instructions, sizeof signatures);
  chunk.signatures.add(signatures);
  for (uint32_t pc = 0; pc < chunk.size; ++pc) {
    uint64_t words[2];
    std::memcpy(words, kept.data() + size_t{pc} * sizeof words, sizeof words);
    const bool call = calls_closure(chunk, pc);
    const uint64_t seen = chunk.profile[pc].load(std::memory_order_relaxed);
    chunk.profile[pc].store(Seen::joined(seen, call ? inward(words[0], bindings) : words[0], call), std::memory_order_relaxed);
    chunk.insides[pc].fetch_or(words[1], std::memory_order_relaxed);
  }
}

}  // namespace posset::jit
