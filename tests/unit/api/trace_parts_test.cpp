// What a trace tells of the places where parts were left (interp/api/trace_parts.h), from events written down here.
#include <vector>

#include <doctest/doctest.h>

#include "interp/api/trace_parts.h"
#include "sched/trace_events.h"

namespace posset::test {

namespace {

using api::ForkSite;
using interp::TierEvent;
using sched::TraceEvent;

constexpr int64_t kHere = 7, kThere = 8;  // places

class Events {
 public:
  Events& taken(uint16_t thread, int64_t time_ns, int64_t job, int64_t place) {
    return add(thread, time_ns, static_cast<uint16_t>(TierEvent::part_taken), {job, place, 1, 0});
  }
  Events& computed(uint16_t thread, int64_t begin_ns, int64_t end_ns, int64_t job) {
    return add(thread, end_ns, static_cast<uint16_t>(TierEvent::part_computed), {job, 0, 0, end_ns - begin_ns});
  }
  Events& merged(uint16_t thread, int64_t time_ns, int64_t job, bool used = true) {
    return add(thread, time_ns, static_cast<uint16_t>(TierEvent::part_merged), {job, used});
  }
  Events& waited(uint16_t thread, int64_t begin_ns, int64_t end_ns) {
    return add(thread, end_ns, static_cast<uint16_t>(sched::TraceKind::executor_idle), {end_ns - begin_ns});
  }
  std::vector<ForkSite> sites() const { return api::fork_sites(all_); }

 private:
  Events& add(uint16_t thread, int64_t time_ns, uint16_t kind, std::initializer_list<int64_t> fields) {
    TraceEvent& event = all_.emplace_back();
    event.sequence = all_.size();
    event.time_ns = time_ns;
    event.kind = kind;
    event.thread = thread;
    std::copy(fields.begin(), fields.end(), event.fields.begin());
    return *this;
  }
  std::vector<TraceEvent> all_;
};

}  // namespace

TEST_CASE("trace of parts: both sides are work, the longer one is the span, waiting is neither") {
  const auto sites = Events().taken(0, 100, 1, kHere).computed(1, 110, 310, 1).waited(0, 250, 312).merged(0, 320, 1).sites();
  REQUIRE(sites.size() == 1);
  CHECK(sites[0].place == kHere);
  CHECK(sites[0].taken == 1);
  CHECK(sites[0].again == 0);
  CHECK(sites[0].work_ns == 150 + 8 + 200);
  CHECK(sites[0].span_ns == 200);
  CHECK(sites[0].elapsed_ns == 220);
}

TEST_CASE("trace of parts: the span goes through what was handed over in turn") {
  // The part gives one away itself, at another place: its way is 100 to there, 300 through that, and 50 behind it.
  const auto sites = Events().taken(0, 0, 1, kHere).taken(1, 100, 2, kThere).computed(2, 100, 400, 2).waited(1, 200, 400)
                         .merged(1, 400, 2).computed(1, 0, 450, 1).waited(0, 60, 450).merged(0, 450, 1).sites();
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].place == kHere);
  CHECK(sites[0].work_ns == 60 + 250 + 300);
  CHECK(sites[0].span_ns == 450);
  CHECK(sites[0].elapsed_ns == 450);
  CHECK(sites[1].place == kThere);
  CHECK(sites[1].work_ns == 100 + 300);
  CHECK(sites[1].span_ns == 300);
}

TEST_CASE("trace of parts: of one place within itself the outermost is told of, on either side") {
  // In the part, and on the side that goes on.
  const auto sites = Events().taken(0, 0, 1, kHere).taken(1, 10, 2, kHere).computed(2, 10, 110, 2).waited(1, 60, 110).merged(1, 110, 2)
                         .computed(1, 0, 120, 1).taken(0, 20, 3, kHere).computed(3, 20, 90, 3).merged(0, 100, 3).waited(0, 100, 120)
                         .merged(0, 120, 1).sites();
  REQUIRE(sites.size() == 1);
  CHECK(sites[0].taken == 3);
  CHECK(sites[0].work_ns == (100 + 70) + (60 + 10 + 100));
  CHECK(sites[0].span_ns == 120);
  CHECK(sites[0].elapsed_ns == 120);
}

TEST_CASE("trace of parts: what is computed on top of who waits is no work of the place that waits") {
  const auto sites = Events().taken(0, 0, 1, kHere).taken(1, 10, 2, kThere).waited(0, 5, 10).computed(0, 10, 40, 2).computed(1, 0, 50, 1)
                         .waited(0, 40, 50).merged(0, 50, 1).sites();
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].place == kHere);
  CHECK(sites[0].work_ns == 5 + 50);
  CHECK(sites[1].taken == 1);
  CHECK(sites[1].work_ns == 0);
}

TEST_CASE("trace of parts: what failed is done again, and of what is lost as much is told as is known") {
  const auto sites = Events().computed(1, 0, 5, 1).merged(0, 6, 1)  // taken before the ring begins
                         .taken(0, 10, 2, kHere).computed(1, 10, 20, 2).merged(0, 30, 2, false)
                         .taken(0, 40, 3, kHere)
                         .taken(0, 50, 4, kThere).merged(0, 60, 4).sites();
  REQUIRE(sites.size() == 2);
  CHECK(sites[0].taken == 2);
  CHECK(sites[0].again == 1);
  CHECK(sites[0].work_ns == 0);
  CHECK(sites[1].taken == 1);
  CHECK(sites[1].again == 1);
  CHECK(sites[1].span_ns == 0);
  CHECK(Events().sites().empty());
}

}  // namespace posset::test
