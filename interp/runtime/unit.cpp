// See unit.h.
#include "interp/runtime/unit.h"

namespace posset::interp {

namespace {

std::unique_ptr<Unit> make_unit(const syntax::FunctionDecl& function) {
  auto unit = std::make_unique<Unit>();
  unit->hash = function.hash;
  unit->canonical = function.canonical;
  unit->name = std::string(function.name);
  unit->loop_hashes = function.loop_hashes;
  unit->loops = std::make_unique<Counted[]>(function.loops.size());
  return unit;
}

}  // namespace

Unit* UnitTable::find_or_add(const syntax::FunctionDecl& function) {
  std::lock_guard lock(mutex_);
  auto [first, last] = units_.equal_range(function.hash.low);
  for (auto it = first; it != last; ++it) {
    Unit& unit = *it->second;
    // Equal bytes, equal trees: a collision of the hash may cost time, never correctness.
    if (unit.hash == function.hash && unit.canonical == function.canonical) return &unit;
  }
  return units_.emplace(function.hash.low, make_unit(function))->second.get();
}

size_t UnitTable::size() const {
  std::lock_guard lock(mutex_);
  return units_.size();
}

}  // namespace posset::interp
