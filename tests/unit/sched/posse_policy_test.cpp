// The rules of stealing, one case each: which records are handed over at the end of a quantum, and which are done here.
#include "sched/posse/member.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "sched/posse/offer.h"
#include "sched/posse/quantum.h"

using namespace posset::sched;
using namespace posset::sched::posse;

namespace {

struct Record {
  bool open = true;
  uint64_t generation = 0;
  bool is_open() const { return open; }
  uint64_t stamp() const { return generation; }
  void set_stamp(uint64_t stamp) { generation = stamp; }
  bool continues(const Record&) const { return true; }
};

// Members of which each has room for some records.
class Members {
 public:
  MemberStack<Record> stack;

  Member<Record>& push(size_t records) {
    records_.push_back(std::make_unique<std::vector<Record>>(16));
    ends_.push_back(records_.back()->data() + records);
    members_.push_back(std::make_unique<Member<Record>>(records_.back()->data(), stack.generation()));
    stack.push(*members_.back());
    return *members_.back();
  }
  Record& at(size_t member, size_t record) { return (*records_[member])[record]; }
  // The member on top has left so many more.
  void leave(size_t records) { ends_.back() += records; }
  void begin() { stack.begin_quantum(ends_.back()); }
  auto end() { return stack.end_quantum(ends_.back()); }
  auto use() {
    begin();
    return end();
  }

 private:
  std::vector<std::unique_ptr<std::vector<Record>>> records_;
  std::vector<Record*> ends_;
  std::vector<std::unique_ptr<Member<Record>>> members_;
};

}  // namespace

TEST_CASE("posse policy: the most basal record of who runs goes") {
  Members members;
  members.push(0);
  CHECK(members.use() == nullptr);
  members.leave(2);
  CHECK(members.use() == &members.at(0, 0));
  members.at(0, 0).open = false;
  CHECK(members.use() == &members.at(0, 1));
  members.at(0, 1).open = false;
  CHECK(members.use() == nullptr);
  // Of who waits nothing does.
  members.leave(1);
  CHECK(members.use() == &members.at(0, 2));
  members.push(1);
  CHECK(members.use() == &members.at(1, 0));
}

TEST_CASE("posse policy: a record goes when it was there when a fully used quantum began") {
  Members members;
  members.push(0);
  members.begin();
  members.leave(1);
  CHECK(members.end() == nullptr);
  CHECK(members.use() == &members.at(0, 0));
  // A quantum that is begun again was not fully used.
  Members again;
  again.push(1);
  again.begin();
  again.begin();
  CHECK(again.end() == &again.at(0, 0));
}

TEST_CASE("posse policy: a record between two older ones that was taken is passed") {
  Members members;
  members.push(4);
  members.at(0, 0).open = members.at(0, 2).open = false;
  CHECK(members.use() == &members.at(0, 1));
}

TEST_CASE("posse policy: nothing goes while what failed is computed once more") {
  Members members;
  auto& member = members.push(2);
  CHECK(members.use() == &members.at(0, 0));
  member.hold(2);
  CHECK(members.use() == nullptr);
  CHECK(members.use() == nullptr);
  CHECK(members.use() == &members.at(0, 0));
}

TEST_CASE("posse policy: what is left where others were taken back is found again") {
  Members members;
  members.push(2);
  members.at(0, 0).open = members.at(0, 1).open = false;
  CHECK(members.use() == nullptr);
  members.stack.took_back(&members.at(0, 0));
  members.at(0, 0) = members.at(0, 1) = Record();
  CHECK(members.use() == &members.at(0, 0));
}

TEST_CASE("posse policy: a quantum begins at the first look and again after a wait") {
  Quantum quantum(10);
  CHECK_FALSE(quantum.has_begun());
  quantum.begin(100);
  CHECK(quantum.left(104) == 6);
  CHECK_FALSE(quantum.is_used(109));
  CHECK(quantum.is_used(110));
  quantum.begin_anew();
  CHECK_FALSE(quantum.has_begun());
}

TEST_CASE("posse policy: an offer is claimed or withdrawn once, by whom it is made to") {
  const int mine = 0, other = 0;
  Offer offer;
  CHECK_FALSE(offer.claim(&mine));
  CHECK_FALSE(offer.withdraw());
  offer.make(&mine);
  CHECK_FALSE(offer.claim(&other));
  CHECK(offer.is_made_to(&mine));
  CHECK(offer.claim(&mine));
  CHECK_FALSE(offer.claim(&mine));
  CHECK_FALSE(offer.withdraw());
  offer.make(nullptr);
  CHECK(offer.is_made_to(&other));
  CHECK(offer.withdraw());
  CHECK_FALSE(offer.claim(&other));
}
