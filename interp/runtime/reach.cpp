// See reach.h.
#include "interp/runtime/reach.h"

#include <algorithm>
#include <array>

#include "interp/value/cycles.h"

namespace posset::interp {

namespace {

constexpr int kWays = 8;
constexpr int kLongest = 1000;

bool is_to_mark(Borrowed v) { return v.is_heap() && count_of(v.object()) > 0; }

// One of the values an object holds, and for how many it stands.
struct ReachChoice {
  Borrowed value = Borrowed::unset();
  double among = 0;
};

// Of few those that end the way are left out, or most ways in a tree with numbers in its nodes would be short.
ReachChoice choose(std::span<Borrowed> values, sched::Random& random) {
  constexpr size_t kFew = 16;
  if (values.empty()) return {};
  if (values.size() > kFew) return {values[random.below(values.size())], static_cast<double>(values.size())};
  std::array<Borrowed, kFew> found;
  const auto end = std::copy_if(values.begin(), values.end(), found.begin(), is_to_mark);
  const auto count = static_cast<uint64_t>(end - found.begin());
  if (count == 0) return {};
  return {found[random.below(count)], static_cast<double>(count)};
}

ReachChoice choose(const Map& map, sched::Random& random) {
  if (map.live == 0) return {};
  const MapEntry& entry = map.entries[map.first + random.below(map.used - map.first)];
  return {random.below(2) ? entry.key : entry.value, 2 * static_cast<double>(map.live)};
}

double follow_one_way(Borrowed v, sched::Random& random) {
  double reached = 0, stands_for = 1;
  for (int length = 0; length < kLongest && is_to_mark(v); ++length) {
    reached += stands_for;
    Object* const object = v.object();
    const bool map = object->tag == Tag::Map;
    const ReachChoice next = map ? choose(*static_cast<Map*>(object), random) : choose(values_of(object), random);
    stands_for *= next.among;
    v = next.value;
  }
  return reached;
}

}  // namespace

double guess_reached(Borrowed v, sched::Random& random) {
  double sum = 0;
  for (int way = 0; way < kWays; ++way) sum += follow_one_way(v, random);
  return sum / kWays;
}

}  // namespace posset::interp
