// The unit table and its bound. See unit.h.
#include "interp/runtime/unit.h"

#include <algorithm>
#include <cassert>

#include "interp/runtime/function.h"
#include "interp/runtime/tier.h"
#include "interp/runtime/trace_events.h"
#include "interp/syntax/resolver.h"
#include "sched/base/patient_lock.h"

namespace posset::interp {

namespace {

// How far below the limit an eviction of code in use goes, so that the next one is not due at once.
constexpr size_t kKeptQuarters = 3;
// The part of the limit that compile threads keep free.
constexpr size_t kRoom = 128;

std::vector<int> parents_of(const std::vector<syntax::Node*>& loops) {
  std::vector<int> order(loops.size()), parents(loops.size(), -1), open;
  auto span = [&](int loop) { return loops[static_cast<size_t>(loop)]->span; };
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return span(a).begin != span(b).begin ? span(a).begin < span(b).begin : span(a).end > span(b).end;
  });
  for (int loop : order) {
    while (!open.empty() && span(open.back()).end <= span(loop).begin) open.pop_back();
    if (!open.empty()) parents[static_cast<size_t>(loop)] = open.back();
    open.push_back(loop);
  }
  return parents;
}

std::unique_ptr<Unit> make_unit(const syntax::FunctionDecl& function) {
  auto unit = std::make_unique<Unit>();
  unit->hash = function.hash;
  unit->canonical = function.canonical;
  unit->name = std::string(function.name);
  unit->loop_hashes = function.loop_hashes;
  unit->loops = std::make_unique<Counted[]>(function.loops.size());
  unit->loop_parents = parents_of(function.loops);
  if (function.is_top_level && function.module->is_session) {
    for (auto& reason : unit->body.reason) reason.store(Reason::session_input, std::memory_order_relaxed);
  }
  return unit;
}

// Of the unit alone, with what the table needs for it.
size_t bytes_of(const Unit& unit) {
  constexpr size_t kTableEntry = 112;  // of both tables
  return sizeof(Unit) + kTableEntry + unit.canonical.capacity() + unit.name.capacity() +
         unit.loop_hashes.size() * (sizeof(Counted) + sizeof(syntax::StructuralHash) + sizeof(int));
}

std::string hash_text(const syntax::StructuralHash& hash) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return text;
}

bool colder(const Unit& a, uint32_t heat_a, const Unit& b, uint32_t heat_b) {
  return heat_a != heat_b ? heat_a < heat_b : a.last_use < b.last_use;
}

// The list of a unit's functions.
void link(const Function*& first, const Function& function) {
  function.next_of_unit = first;
  if (first) first->previous_of_unit = &function;
  first = &function;
}

void unlink(const Function*& first, const Function& function) {
  if (function.next_of_unit) function.next_of_unit->previous_of_unit = function.previous_of_unit;
  (function.previous_of_unit ? function.previous_of_unit->next_of_unit : first) = function.next_of_unit;
}

uint32_t heat(const Counted& counted) { return counted.count.load(std::memory_order_relaxed); }

}  // namespace

template <class Visit>
void UnitTable::for_each_code(Unit& unit, Visit&& visit) const {
  for (int loop = -1; loop < static_cast<int>(unit.loop_hashes.size()); ++loop) {
    for (int level = 1; level < kTiers; ++level) {
      void* code = unit.counted(loop).code[level].load(std::memory_order_acquire);
      if (code) visit(loop, level, code);
    }
  }
}

UnitTable::~UnitTable() {
  for (auto& entry : units_) {
    for_each_code(*entry.second, [&](int, int level, void* code) { tiers_[level]->drop(code); });
  }
}

Unit* UnitTable::find(const syntax::FunctionDecl& function) {
  auto [first, last] = units_.equal_range(function.hash.low);
  for (auto it = first; it != last; ++it) {
    Unit& unit = *it->second;
    // Equal bytes, equal trees: a collision of the hash may cost time, never correctness.
    if (unit.hash == function.hash && unit.canonical == function.canonical) return &unit;
  }
  return nullptr;
}

UnitRef UnitTable::find_or_add(const Function& function) {
  Gone gone(reclaimer);
  {
    sched::MutexLock lock(mutex_);
    if (Unit* unit = find_and_use(function, gone)) return {this, unit, &function};
  }
  auto made = make_unit(*function.decl);
  sched::MutexLock lock(mutex_);
  // Another thread may have added it meanwhile.
  if (Unit* unit = find_and_use(function, gone)) return {this, unit, &function};
  Unit& unit = add(*function.decl, std::move(made));
  note_use(unit, function, gone);
  return {this, &unit, &function};
}

Unit* UnitTable::find_and_use(const Function& function, Gone& gone) {
  Unit* unit = find(*function.decl);
  if (!unit) return nullptr;
  use(*unit);
  note_use(*unit, function, gone);
  return unit;
}

void UnitTable::note_use(Unit& unit, const Function& function, Gone& gone) {
  unit.last_use = ++uses_;
  link(unit.functions, function);
  stay_below_limit(gone);
}

// With one user.
Unit& UnitTable::add(const syntax::FunctionDecl& function, std::unique_ptr<Unit> made) {
  Unit& unit = *units_.emplace(function.hash.low, std::move(made))->second;
  unit.number = next_number_++;
  unit.users.store(1, std::memory_order_relaxed);
  by_number_[unit.number] = &unit;
  grow(bytes_of(unit));
  if (trace_) trace_new(unit, function);
  return unit;
}

void UnitTable::use(Unit& unit) {
  if (unit.users.fetch_add(1, std::memory_order_relaxed) == 0) unused_.remove(unit);
}

// True: it was the last. Release and acquire: what all users did comes before what happens to it then.
bool UnitTable::leave(Unit& unit) { return unit.users.fetch_sub(1, std::memory_order_acq_rel) == 1; }

void UnitTable::trace_new(const Unit& unit, const syntax::FunctionDecl& function) {
  const auto& source = *function.module->source;
  std::string place = source.place(function.span.begin);
  std::string name = function.is_top_level ? "<top>" : unit.name.empty() ? "<fn>" : unit.name;
  trace_->record_kept(static_cast<uint16_t>(TierEvent::unit_seen),
                      {unit.number, trace_->text(name), trace_->text(place),
                       static_cast<int64_t>(unit.loop_hashes.size()), trace_->text(hash_text(unit.hash)),
                       trace_->text(hash_text(syntax::own_hash(function)))});
  if (traced_source_ != function.module->source) {
    traced_source_ = function.module->source;
    traced_text_ = trace_->text(source.text());
  }
  for (int loop = -1; loop < static_cast<int>(unit.loop_hashes.size()); ++loop) trace_lines(unit, loop, function);
}

void UnitTable::trace_lines(const Unit& unit, int loop, const syntax::FunctionDecl& function) {
  const auto& source = *function.module->source;
  const syntax::Span span = loop < 0 ? function.span : function.loops[static_cast<size_t>(loop)]->span;
  const auto first = source.position(span.begin);
  const auto last = source.position(span.end > span.begin ? span.end - 1 : span.begin);
  trace_->record_kept(static_cast<uint16_t>(TierEvent::unit_lines),
                      {unit.number, loop, trace_->text(source.name()), traced_text_, first.line, last.line});
}

UnitRef UnitTable::share(Unit& unit) {
  [[maybe_unused]] const uint32_t before = unit.users.fetch_add(1, std::memory_order_relaxed);
  assert(before > 0);
  return {this, &unit};
}

// Every compilation has shared its unit: the mutex is left to those who need it.
bool UnitTable::leave_unless_last(Unit& unit) {
  uint32_t users = unit.users.load(std::memory_order_relaxed);
  while (users > 1) {
    if (unit.users.compare_exchange_weak(users, users - 1, std::memory_order_release, std::memory_order_relaxed)) return true;
  }
  return false;
}

void UnitTable::release(Unit& unit, const Function* function) {
  if (!function && leave_unless_last(unit)) return;
  sched::MutexLock lock(mutex_);
  if (function) unlink(unit.functions, *function);
  if (leave(unit)) unused_.add(unit);
}

// Tells tier 1's code which code of a higher tier it goes over to, and the host's calls. Before code that has been in its place is
// retired.
void UnitTable::install(Counted& counted) {
  NativeEntrance entrance;
  for (int level = 2; level < kTiers; ++level) {
    void* code = counted.code[level].load(std::memory_order_relaxed);
    if (!code || !tiers_[level]->entrance) continue;
    entrance = tiers_[level]->entrance(code);
    entrance.level = level;
  }
  counted.formula.store(entrance.formula, std::memory_order_seq_cst);
  void* below = counted.code[1].load(std::memory_order_relaxed);
  if (below && tiers_[1]->go_over) tiers_[1]->go_over(below, entrance);
}

void* UnitTable::body_code(uint32_t number) const {
  sched::MutexLock lock(mutex_);
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : found->second->body.code[1].load(std::memory_order_acquire);
}

std::string UnitTable::name_of(uint32_t number) const {
  sched::MutexLock lock(mutex_);
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? std::string() : found->second->name;
}

void* UnitTable::body_code(const syntax::StructuralHash& hash, uint32_t& number) const {
  sched::MutexLock lock(mutex_);
  const Unit* found = nullptr;
  auto [first, last] = units_.equal_range(hash.low);
  for (auto it = first; it != last; ++it) {
    if (it->second->hash != hash) continue;
    if (found) return nullptr;
    found = it->second.get();
  }
  if (!found) return nullptr;
  number = found->number;
  return found->body.code[1].load(std::memory_order_acquire);
}

std::span<const Inlined> UnitTable::inlined(int level, const void* code) const {
  const auto ask = tiers_[level]->inlined;
  return ask ? ask(code) : std::span<const Inlined>();
}

bool UnitTable::are_current(std::span<const Inlined> parts) const {
  for (const Inlined& each : parts) {
    const auto found = by_number_.find(each.unit);
    if (found == by_number_.end()) return false;
    if (found->second->body.code[1].load(std::memory_order_relaxed) != each.code) return false;
  }
  return true;
}

bool UnitTable::publish(Unit& unit, int loop, int level, void* code, void* below) {
  Gone gone(reclaimer);
  const size_t bytes = tiers_[level]->memory(code);
  sched::MutexLock lock(mutex_);
  return publish(unit, loop, level, {code, bytes}, below, gone);
}

bool UnitTable::publish_patiently(Unit& unit, int loop, int level, void* code, void* below) {
  while (make_some_room()) {
  }
  Gone gone(reclaimer);
  const size_t bytes = tiers_[level]->memory(code);
  sched::PatientLock lock(mutex_);
  return publish(unit, loop, level, {code, bytes}, below, gone);
}

bool UnitTable::publish(Unit& unit, int loop, int level, Made made, void* below, Gone& gone) {
  const auto [code, bytes] = made;
  Counted& counted = unit.counted(loop);
  const auto parts = inlined(level, code);
  const bool current = level == 1 || counted.code[1].load(std::memory_order_relaxed) == below;
  if (!current || !are_current(parts)) {
    retire(level, code, gone);
    return false;
  }
  for (const Inlined& each : parts) {
    std::vector<Unit::Place>& places = by_number_[each.unit]->inlined_in;
    const Unit::Place here{unit.number, loop, level};
    if (std::find(places.begin(), places.end(), here) == places.end()) places.push_back(here);
  }
  grow(bytes);
  void* const before = counted.code[level].exchange(code, std::memory_order_seq_cst);
  if (before) bytes_ -= counted.code_bytes[level];
  counted.code_bytes[level] = bytes;
  counted.reason[level].store(Reason::none, std::memory_order_relaxed);
  counted.refusals[level].store(0, std::memory_order_relaxed);
  counted.status[level].store(TierStatus::Ready, std::memory_order_release);
  if (counted.ready.load(std::memory_order_relaxed) < level) {
    counted.ready.store(static_cast<uint8_t>(level), std::memory_order_release);
  }
  if (level > 1) install(counted);
  if (before) retire(level, before, gone);
  stay_below_limit(gone);
  return true;
}

bool UnitTable::withdraw(Unit& unit, int loop, int level) {
  Gone gone(reclaimer);
  sched::MutexLock lock(mutex_);
  if (!unit.counted(loop).code[level].load(std::memory_order_relaxed)) return false;
  unpublish(unit, loop, level, gone);
  return true;
}

size_t UnitTable::size() const {
  sched::MutexLock lock(mutex_);
  return units_.size();
}

// ---- the bound ----

void UnitTable::grow(size_t bytes) {
  bytes_ += bytes;
  unused_.note_added(bytes, limit_);
}

void UnitTable::stay_below_limit(Gone& gone) {
  drop_unused(gone);
  if (bytes() > std::max(limit_, look_at_)) {
    evict_code(limit_ / 4 * kKeptQuarters, gone);
    look_at_ = SIZE_MAX;
  }
  // What units in use have is not to be looked through for each one more.
  look_at_ = std::min(look_at_, bytes() + limit_ / 8);
}

void UnitTable::drop_unused(Gone& gone) {
  while (bytes() > limit_ && drop_one_unused(gone)) {
  }
}

bool UnitTable::drop_one_unused(Gone& gone) {
  Unit* coldest = unused_.coldest();
  if (!coldest) return false;
  unused_.remove(*coldest);
  erase(*coldest, gone);
  return true;
}

// Takes it out of the list of those that go, as a user; null: there is none.
Unit* UnitTable::hold_coldest() {
  sched::PatientLock lock(mutex_);
  Unit* coldest = unused_.coldest();
  if (coldest) use(*coldest);
  return coldest;
}

// What nobody has used for long is in no cache; `erase` is to find it there.
void UnitTable::look_at(Unit& unit) const {
  for_each_code(unit, [](int, int, void*) {});
}

// Gives up what evaluations would have to, for what they add until the next compilation ends; one at a time, and looked
// at before the lock is taken, so that none of them waits for long. False: there is room, or nothing to give up.
bool UnitTable::make_some_room() {
  if (bytes() <= limit_ - limit_ / kRoom) return false;
  Unit* coldest = hold_coldest();
  if (!coldest) return false;
  look_at(*coldest);
  Gone gone(reclaimer);
  sched::PatientLock lock(mutex_);
  if (leave(*coldest)) erase(*coldest, gone);  // or it has come back into use
  return true;
}

void UnitTable::erase(Unit& unit, Gone& gone) {
  if (trace_) {
    trace_->record(static_cast<uint16_t>(TierEvent::unit_forgotten),
                   {unit.number, heat(unit.body), static_cast<int64_t>(bytes_of(unit))});
  }
  // The analysis does not look into a lambda, so what has code is gathered first.
  std::vector<std::pair<int, int>> published;
  for_each_code(unit, [&](int loop, int level, void*) { published.emplace_back(loop, level); });
  for (auto [loop, level] : published) unpublish(unit, loop, level, gone);
  bytes_ -= bytes_of(unit);
  by_number_.erase(unit.number);
  auto entry = units_.find(unit.hash.low);
  while (entry->second.get() != &unit) ++entry;  // equal keys stand together
  gone.units.push_back(units_.extract(entry));
}

void UnitTable::evict_code(size_t target, Gone& gone) {
  struct Candidate {
    Unit* unit;
    int loop;
    int level;
  };
  std::vector<Candidate> all;
  for (auto& entry : units_) {
    for_each_code(*entry.second, [&](int loop, int level, void*) { all.push_back({entry.second.get(), loop, level}); });
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return colder(*a.unit, heat(a.unit->counted(a.loop)), *b.unit, heat(b.unit->counted(b.loop)));
  });
  for (const Candidate& each : all) {
    if (bytes() <= target) break;
    Counted& counted = each.unit->counted(each.loop);
    unpublish(*each.unit, each.loop, each.level, gone);
    counted.count.store(0, std::memory_order_relaxed);
    counted.settled.store(false, std::memory_order_release);
  }
}

// What has inlined the unit's body goes with it, and is made again when it is hot then.
void UnitTable::take_back_inliners(Unit& unit, Gone& gone) {
  for (const Unit::Place& each : std::exchange(unit.inlined_in, {})) {
    const auto found = by_number_.find(each.unit);
    if (found == by_number_.end()) continue;
    unpublish(*found->second, each.loop, each.level, gone);
    found->second->counted(each.loop).settled.store(false, std::memory_order_release);
  }
}

void UnitTable::retire(int level, void* code, Gone& gone) {
  reclaimer.add(tiers_[level], code);
  gone.code = true;
}

void UnitTable::unpublish(Unit& unit, int loop, int level, Gone& gone) {
  Counted& counted = unit.counted(loop);
  // Native code goes back to the bytecode it was made of.
  for (int above = kTiers - 1; level == 1 && above > 1; --above) {
    if (counted.code[above].load(std::memory_order_relaxed)) unpublish(unit, loop, above, gone);
  }
  void* code = counted.code[level].exchange(nullptr, std::memory_order_seq_cst);
  if (!code) return;  // gone with the code below it
  if (level > 1) install(counted);
  if (loop < 0 && level == 1) {
    take_back_inliners(unit, gone);
    for (const Function* function = unit.functions; function; function = function->next_of_unit) {
      function->direct_code.store(nullptr, std::memory_order_seq_cst);
    }
  }
  const size_t size = counted.code_bytes[level];
  if (trace_) {
    trace_->record(static_cast<uint16_t>(TierEvent::code_evicted),
                   {unit.number, loop, level, static_cast<int64_t>(size), heat(counted)});
  }
  counted.reason[level].store(Reason::evicted, std::memory_order_relaxed);
  counted.entry_job[level].store(0, std::memory_order_relaxed);
  counted.patience[level].store(0, std::memory_order_relaxed);
  TierStatus expected = TierStatus::Ready;  // or other code is on its way
  counted.status[level].compare_exchange_strong(expected, TierStatus::NotStarted, std::memory_order_acq_rel);
  int highest = kTiers - 1;
  while (highest > 0 && !counted.code[highest].load(std::memory_order_relaxed)) --highest;
  counted.ready.store(static_cast<uint8_t>(highest), std::memory_order_release);
  bytes_ -= size;
  retire(level, code, gone);
}

}  // namespace posset::interp
