// See error_trace.h.
#include "interp/runtime/error_trace.h"

#include <algorithm>
#include <deque>
#include <new>
#include <utility>

namespace posset::interp {

// Never empty once it is in a trace.
struct ErrorTrace::Segment {
  Segment(std::shared_ptr<Segment> before_, size_t first_) : before(std::move(before_)), first(first_) {}
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  // One after the other: a chain may be longer than the stack is deep.
  ~Segment() {
    std::shared_ptr<Segment> next = std::move(before);
    while (next && next.use_count() == 1) next = std::exchange(next->before, nullptr);
  }

  std::shared_ptr<Segment> before;
  const size_t first;  // how many points are in those before
  std::vector<TracePoint> points;
  std::deque<std::string> parts;  // what points call so
};

size_t ErrorTrace::size() const { return last_ ? last_->first + last_->points.size() : 0; }

const TracePoint* ErrorTrace::last() const { return last_ ? &last_->points.back() : nullptr; }

bool ErrorTrace::add(const TracePoint& point) noexcept {
  try {
    if (last_ && last_.use_count() == 1) {
      last_->points.push_back(point);
    } else {
      auto made = std::make_shared<Segment>(last_, size());
      made->points.push_back(point);
      last_ = std::move(made);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool ErrorTrace::add_part(std::string name) noexcept {
  try {
    auto made = std::make_shared<Segment>(last_, size());
    made->points.push_back({.part = made->parts.emplace_back(std::move(name)).c_str()});
    last_ = std::move(made);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::vector<TracePoint> ErrorTrace::points() const {
  std::vector<TracePoint> all(size());
  for (const Segment* each = last_.get(); each; each = each->before.get()) {
    std::copy(each->points.begin(), each->points.end(), all.begin() + static_cast<std::ptrdiff_t>(each->first));
  }
  return all;
}

void ErrorTrace::remove(const syntax::Module* module) {
  ErrorTrace kept;
  for (const TracePoint& each : points()) {
    if (each.function && each.function->module == module) continue;
    if (!(each.part ? kept.add_part(each.part) : kept.add(each))) throw std::bad_alloc();
  }
  *this = std::move(kept);
}

}  // namespace posset::interp
