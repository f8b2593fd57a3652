// Units that nothing refers to any more, and which of them goes first when memory is short. They stand in lists
// by class of heat, the bit width of the executions counted; whoever comes to a class stands last in it. So a
// unit comes, goes, and is found as the coldest in constant time, and nothing is ever sorted.
//
// Past heat fades: with every quarter of the limit that has been added to the table all lists move one class down.
// A unit's own count is halved as often when it leaves its list; until then nobody has to touch it. What is added
// is the measure because at the limit as much is given up, and before, it tells the old from the new as well.
//
// What has come only lately (no eighth of the limit has been added since) is passed over while there is anything
// else: among hot units a new one would always be the coldest, and never last until it is used again.
//
// Threads: guarded by the mutex of the table the units are in (unit.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace posset::interp {

struct Unit;

class UnusedUnits {
 public:
  // What a unit notes for the list it is in.
  struct Place {
    Unit* previous = nullptr;
    Unit* next = nullptr;
    uint32_t since = 0;  // sixteenths of the limit added until then
    uint8_t heat_class = 0;
  };

  void add(Unit& unit);
  void remove(Unit& unit);  // it is in a list
  Unit* coldest() const;    // null: there is none

  // So much has been added to what is to stay below `limit`: what passes for time here.
  void note_added(size_t bytes, size_t limit);

 private:
  struct List {
    Unit* first = nullptr;
    Unit* last = nullptr;
    void append(const List& other);
  };
  static constexpr size_t kClasses = 33;  // bit widths of 32-bit counts

  uint32_t fadings_since(const Place& place) const;
  bool is_recent(const Unit& unit) const;
  void fade();

  std::array<List, kClasses> lists_;
  size_t added_ = 0;        // bytes, of the sixteenth under way
  uint32_t sixteenths_ = 0;
};

}  // namespace posset::interp
