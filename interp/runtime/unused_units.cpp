// Lists of unused units. See unused_units.h.
#include "interp/runtime/unused_units.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "interp/runtime/unit.h"

namespace posset::interp {

namespace {

constexpr uint32_t kPartsOfLimit = 16;
constexpr uint32_t kFadesAfter = 4;  // parts added
constexpr uint32_t kRecentFor = 2;

}  // namespace

void UnusedUnits::List::append(const List& other) {
  if (!other.first) return;
  other.first->unused.previous = last;
  (last ? last->unused.next : first) = other.first;
  last = other.last;
}

void UnusedUnits::add(Unit& unit) {
  assert(unit.users == 0);
  const auto heat_class = std::bit_width(unit.body.count.load(std::memory_order_relaxed));
  unit.unused = {nullptr, nullptr, sixteenths_, static_cast<uint8_t>(heat_class)};
  lists_[static_cast<size_t>(heat_class)].append({&unit, &unit});
}

void UnusedUnits::remove(Unit& unit) {
  const Place place = std::exchange(unit.unused, {});
  const uint32_t fadings = fadings_since(place);
  // Not told from its count: the list must be right whatever happened to that.
  List& list = lists_[place.heat_class - std::min<uint32_t>(fadings, place.heat_class)];
  assert((place.previous ? place.previous->unused.next : list.first) == &unit);
  (place.previous ? place.previous->unused.next : list.first) = place.next;
  (place.next ? place.next->unused.previous : list.last) = place.previous;
  const uint32_t count = unit.body.count.load(std::memory_order_relaxed);
  unit.body.count.store(fadings < 32 ? count >> fadings : 0, std::memory_order_relaxed);
}

Unit* UnusedUnits::coldest() const {
  Unit* recent = nullptr;
  for (const List& list : lists_) {
    if (!list.first) continue;
    if (!is_recent(*list.first)) return list.first;
    if (!recent) recent = list.first;
  }
  return recent;
}

// Subtraction is right when the number has wrapped: nothing stays for long after it has come to class 0.
bool UnusedUnits::is_recent(const Unit& unit) const { return sixteenths_ - unit.unused.since < kRecentFor; }

uint32_t UnusedUnits::fadings_since(const Place& place) const {
  const uint32_t begun = place.since % kFadesAfter;  // of the quarter in which it came
  return (sixteenths_ - place.since + begun) / kFadesAfter;
}

void UnusedUnits::note_added(size_t bytes, size_t limit) {
  added_ += bytes;
  if (added_ < limit / kPartsOfLimit) return;
  added_ = 0;
  if (++sixteenths_ % kFadesAfter == 0) fade();
}

void UnusedUnits::fade() {
  lists_[0].append(lists_[1]);
  std::move(lists_.begin() + 2, lists_.end(), lists_.begin() + 1);
  lists_.back() = {};
}

}  // namespace posset::interp
