// See signatures.h.
#include "interp/runtime/signatures.h"

#include <algorithm>

#include "interp/value/list.h"

namespace posset::interp {

namespace {

ArgumentKind given_of(Borrowed v) {
  if (v.is_int()) return ArgumentKind::Int;
  if (v.is_float()) return ArgumentKind::Float;
  if (!v.is_list()) return ArgumentKind::Other;
  switch (v.as<List>()->packing()) {
    case Packing::Int: return ArgumentKind::Ints;
    case Packing::Float: return ArgumentKind::Floats;
    case Packing::Bool: return ArgumentKind::Bools;
    case Packing::Any: break;
  }
  return ArgumentKind::Items;
}

}  // namespace

Signature Signature::of(const Borrowed* arguments, uint32_t count) {
  Signature made;
  for (uint32_t n = 0; n < std::min(count, kMostParameters); ++n) {
    made.word |= static_cast<uint64_t>(given_of(arguments[n])) << (4 * n);
  }
  return made;
}

std::string Signature::text(uint32_t count) const {
  static constexpr std::array kNames = {"nothing",       "int",           "float", "list of int",
                                        "list of float", "list of bool", "list",  "other"};
  std::string made = "(";
  for (uint32_t n = 0; n < count; ++n) made.append(n == 0 ? "" : ", ").append(kNames[static_cast<size_t>(kind(n))]);
  return made + ")";
}

void Signatures::note(Signature met) {
  if (met.word == 0) return;
  for (std::atomic<uint64_t>& each : met_) {
    uint64_t known = each.load(std::memory_order_relaxed);
    if (known == 0 && each.compare_exchange_strong(known, met.word, std::memory_order_relaxed)) return;
    if (known == met.word) return;
  }
  more_.store(true, std::memory_order_relaxed);
}

std::vector<Signature> Signatures::all() const {
  std::vector<Signature> found;
  if (more_.load(std::memory_order_relaxed)) return found;
  for (const std::atomic<uint64_t>& each : met_) {
    const uint64_t word = each.load(std::memory_order_relaxed);
    if (word != 0) found.push_back({word});
  }
  return found;
}

Signatures::Words Signatures::words() const {
  Words made{};
  for (uint32_t n = 0; n < kMost; ++n) made[n] = met_[n].load(std::memory_order_relaxed);
  made[kMost] = more_.load(std::memory_order_relaxed);
  return made;
}

void Signatures::add(const Words& kept) {
  for (uint32_t n = 0; n < kMost; ++n) note({kept[n]});
  if (kept[kMost] != 0) more_.store(true, std::memory_order_relaxed);
}

}  // namespace posset::interp
