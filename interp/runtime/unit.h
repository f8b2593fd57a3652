// Units: what is counted and compiled. One table per runtime maps a structural hash to its Unit, shared by
// all contexts; equal hashes are confirmed by comparing the canonical bytes. A Unit holds the execution
// count and, per tier, the published code. Loops are units too; they belong to the function unit they
// stand in, by loop number (their own hash is kept for display).
//
// Memory is bounded: units and code together stay below the table's limit. When it is passed, units that
// nothing refers to any more go first, with their counts, the coldest first and only as many as make up for what
// was added: whoever adds waits for no more than that. Which are the coldest is told by powers of two of the
// executions counted, and past heat fades (unused_units.h). If there are none left, the code of units in use goes,
// a quarter of the limit at once, fewest executions first, among equals longest ago; they start again in tier 0.
// Evicted code is freed when nobody can be running it (reclaim.h).
//
// Threads: everything of the table takes its mutex; counts are relaxed atomics (a lost increment costs
// nothing but time); code is published with release and read with acquire. A compilation that ends and an evaluation
// that begins meet at the mutex, and whoever sleeps there has to be woken by the other. So it is held only for the
// table: units are made before it is taken, and what has gone is freed when it has been given back. Compile threads
// take it patiently (sched/base/patient_lock.h), and make room for what evaluations are about to add.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interp/syntax/reasons.h"
#include "interp/runtime/reclaim.h"
#include "interp/runtime/signatures.h"
#include "interp/runtime/unused_units.h"
#include "interp/syntax/ast.h"
#include "sched/base/thread_safety.h"
#include "sched/base/trace.h"

namespace posset::interp {

using syntax::Reason;

struct Function;
struct Inlined;

constexpr int kTiers = 4;

enum class TierStatus : uint8_t { NotStarted, Compiling, Ready, Failed };

// Count and code of one function body, top level or loop.
//
// A tier's status goes NotStarted -> Compiling (one winner) -> Ready or Failed; Compiling -> NotStarted when
// the request was refused or dropped; Ready -> NotStarted when the code is evicted; Ready -> Compiling when it is made
// anew, where the code there is stays until the other comes. Failed stays.
struct Counted {
  std::atomic<uint32_t> count{0};
  std::atomic<uint32_t> last_slice{0};   // of the runtime's, in which it was last found running
  std::atomic<uint32_t> usual_gap{0};    // slices between two times that it was, of late
  std::atomic<uint32_t> inside{0};       // a loop: how many runs of it are in its own code
  std::atomic<int64_t> superseded_ns{0}; // since when it runs though the code around it is or will be there
  std::atomic<TierStatus> status[kTiers] = {};
  std::atomic<uint8_t> ready{0};         // highest tier whose code is published
  std::atomic<bool> settled{false};      // nothing higher will be asked for: counting has stopped
  std::atomic<void*> code[kTiers] = {};  // what the tier's `compile` gave; owned by the tier
  std::atomic<void*> formula{nullptr};   // NativeEntrance::formula of the highest tier that has code
  std::atomic<Reason> reason[kTiers] = {};     // why there is no code, as far as it was tried
  std::atomic<uint32_t> patience[kTiers] = {}; // executions still to pass before a refused request is repeated
  std::atomic<uint8_t> refusals[kTiers] = {};   // how often in a row the queue was full
  std::atomic<uint64_t> entry_job[kTiers] = {}; // made the code, until it is entered (tracing)
  std::atomic<uint8_t> made_anew[kTiers] = {};  // how often its code did not fit
  std::atomic<uint8_t> borne[kTiers] = {};      // how often it did not fit again before the other came
  size_t code_bytes[kTiers] = {};               // of published code; guarded by the table's mutex

  // Executions since the last time. Stays where it can no longer grow; threads that meet lose some.
  uint32_t tick(uint32_t passed = 1) {
    const uint32_t before = count.load(std::memory_order_relaxed);
    const uint32_t now = before + passed;
    if (now < before) return before;
    count.store(now, std::memory_order_relaxed);
    return now;
  }
};

// While it lives, a run of a loop is in the loop's own code.
class InsideLoop {
 public:
  explicit InsideLoop(Counted& loop) : loop_(loop) { loop_.inside.fetch_add(1, std::memory_order_relaxed); }
  ~InsideLoop() { loop_.inside.fetch_sub(1, std::memory_order_relaxed); }
  InsideLoop(const InsideLoop&) = delete;
  InsideLoop& operator=(const InsideLoop&) = delete;

 private:
  Counted& loop_;
};

struct Unit {
  uint32_t number = 0;         // in traces; never used again
  syntax::StructuralHash hash;
  std::string canonical;
  std::string name;            // of the first declaration seen, for people
  Counted body;
  Signatures signatures;       // of calls that are walked
  std::unique_ptr<Counted[]> loops;
  std::vector<syntax::StructuralHash> loop_hashes;
  std::vector<int> loop_parents;  // of each loop the one it stands in; -1: none

  Counted& counted(int loop) { return loop < 0 ? body : loops[loop]; }
  const Counted& counted(int loop) const { return loop < 0 ? body : loops[loop]; }
  // Whether loop `inner` is `loop` or stands in it; every one stands in the body (-1).
  bool is_inside(int inner, int loop) const {
    while (inner >= 0 && inner != loop) inner = loop_parents[static_cast<size_t>(inner)];
    return inner == loop;
  }

  // A piece of native code.
  struct Place {
    uint32_t unit;
    int loop;
    int level;
    bool operator==(const Place&) const = default;
  };

  // UnitRefs. Comes from 0 and goes there under the table's mutex only; in between whoever has one may make another.
  std::atomic<uint32_t> users{0};

  // Guarded by the table's mutex:
  std::vector<Place> inlined_in;            // its body, at some time
  UnusedUnits::Place unused;                // while there are none
  uint64_t last_use = 0;
  const Function* functions = nullptr;      // with a UnitRef, linked by Function::next_of_unit
};

class UnitTable;

// Keeps a unit in its table. That of a Function also says whose copies of code pointers
// (Function::direct_code) must go when the code does.
class UnitRef {
 public:
  UnitRef() = default;
  UnitRef(UnitTable* table, Unit* unit, const Function* function = nullptr)
      : table_(table), unit_(unit), function_(function) {}
  UnitRef(UnitRef&& other) noexcept
      : table_(other.table_), unit_(std::exchange(other.unit_, nullptr)), function_(other.function_) {}
  UnitRef& operator=(UnitRef&& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(unit_, other.unit_);
    std::swap(function_, other.function_);
    return *this;
  }
  ~UnitRef();
  Unit* get() const { return unit_; }
  Unit* operator->() const { return unit_; }
  Unit& operator*() const { return *unit_; }
  static constexpr size_t unit_offset() { return offsetof(UnitRef, unit_); }

 private:
  UnitTable* table_ = nullptr;
  Unit* unit_ = nullptr;
  const Function* function_ = nullptr;
};

class UnitTable {
 public:
  UnitTable() = default;
  ~UnitTable();  // no UnitRef is left
  UnitTable(const UnitTable&) = delete;
  UnitTable& operator=(const UnitTable&) = delete;

  // The unit of a function's declaration, made if need be. Any thread, like all of these.
  UnitRef find_or_add(const Function& function) POSSET_EXCLUDES(mutex_);
  // One more for whoever sees to it that there is one meanwhile.
  UnitRef share(Unit& unit);

  // Tier 1's code of the body of a unit; null: there is none. It stays alive while the caller holds a
  // Reclaimer::Pin from before.
  void* body_code(uint32_t number) const POSSET_EXCLUDES(mutex_);
  // The same by structural hash, with the number it has here; of several that share a hash by accident, none.
  void* body_code(const syntax::StructuralHash& hash, uint32_t& number) const POSSET_EXCLUDES(mutex_);

  // The name of a unit, for people; empty: it has been forgotten, or has none.
  std::string name_of(uint32_t number) const POSSET_EXCLUDES(mutex_);

  // Publishes code: from here on it is entered. Takes it. False: some of tier 1's code from which it was made
  // has gone meanwhile, its own (`below`) or inlined, and this goes too.
  bool publish(Unit& unit, int loop, int level, void* code, void* below = nullptr) POSSET_EXCLUDES(mutex_);
  // The same for threads that nobody waits for.
  bool publish_patiently(Unit& unit, int loop, int level, void* code, void* below) POSSET_EXCLUDES(mutex_);

  // Takes published code back, because it does not fit what the unit does. False: there was none.
  bool withdraw(Unit& unit, int loop, int level) POSSET_EXCLUDES(mutex_);

  // Set before the first unit is made. `tiers` outlives the table's use.
  void attach(int level, const TierInterface* tier) { tiers_[level] = tier; }
  void set_limit(size_t bytes) { limit_ = bytes; }
  void set_trace(sched::Trace* trace) { trace_ = trace; }

  size_t size() const POSSET_EXCLUDES(mutex_);
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }  // units and code
  template <class Visit>
  void for_each(Visit&& visit) const POSSET_EXCLUDES(mutex_) {
    sched::MutexLock lock(mutex_);
    for (auto& entry : units_) visit(*entry.second);
  }

  Reclaimer reclaimer;

 private:
  friend class UnitRef;
  using Entries = std::unordered_multimap<uint64_t, std::unique_ptr<Unit>>;
  // What a function has taken out under the mutex. Made before the lock, so that it is freed after it.
  struct Gone {
    explicit Gone(Reclaimer& owner) : reclaimer(owner) {}
    ~Gone() {
      if (code) reclaimer.collect_few();
    }
    Gone(const Gone&) = delete;
    Gone& operator=(const Gone&) = delete;

    Reclaimer& reclaimer;
    bool code = false;  // some waits there
    std::vector<Entries::node_type> units;
  };
  struct Made {
    void* code;
    size_t bytes;
  };
  bool publish(Unit& unit, int loop, int level, Made made, void* below, Gone& gone) POSSET_REQUIRES(mutex_);
  bool make_some_room() POSSET_EXCLUDES(mutex_);
  Unit* hold_coldest() POSSET_EXCLUDES(mutex_);
  void look_at(Unit& unit) const;
  void release(Unit& unit, const Function* function) POSSET_EXCLUDES(mutex_);
  Unit* find(const syntax::FunctionDecl& function) POSSET_REQUIRES(mutex_);
  Unit* find_and_use(const Function& function, Gone& gone) POSSET_REQUIRES(mutex_);
  Unit& add(const syntax::FunctionDecl& function, std::unique_ptr<Unit> made) POSSET_REQUIRES(mutex_);
  void note_use(Unit& unit, const Function& function, Gone& gone) POSSET_REQUIRES(mutex_);
  void use(Unit& unit) POSSET_REQUIRES(mutex_);
  bool leave(Unit& unit) POSSET_REQUIRES(mutex_);
  static bool leave_unless_last(Unit& unit);
  void trace_new(const Unit& unit, const syntax::FunctionDecl& function) POSSET_REQUIRES(mutex_);
  void trace_lines(const Unit& unit, int loop, const syntax::FunctionDecl& function) POSSET_REQUIRES(mutex_);
  void grow(size_t bytes) POSSET_REQUIRES(mutex_);
  void stay_below_limit(Gone& gone) POSSET_REQUIRES(mutex_);
  void drop_unused(Gone& gone) POSSET_REQUIRES(mutex_);
  bool drop_one_unused(Gone& gone) POSSET_REQUIRES(mutex_);
  void evict_code(size_t target, Gone& gone) POSSET_REQUIRES(mutex_);
  void erase(Unit& unit, Gone& gone) POSSET_REQUIRES(mutex_);
  void unpublish(Unit& unit, int loop, int level, Gone& gone) POSSET_REQUIRES(mutex_);
  void retire(int level, void* code, Gone& gone) POSSET_REQUIRES(mutex_);
  void install(Counted& counted) POSSET_REQUIRES(mutex_);
  std::span<const Inlined> inlined(int level, const void* code) const;
  bool are_current(std::span<const Inlined> parts) const POSSET_REQUIRES(mutex_);
  void take_back_inliners(Unit& unit, Gone& gone) POSSET_REQUIRES(mutex_);
  template <class Visit>
  void for_each_code(Unit& unit, Visit&& visit) const;

  const TierInterface* tiers_[kTiers] = {};
  size_t limit_ = SIZE_MAX;
  sched::Trace* trace_ = nullptr;
  mutable sched::Mutex mutex_;
  Entries units_ POSSET_GUARDED_BY(mutex_);
  std::unordered_map<uint32_t, Unit*> by_number_ POSSET_GUARDED_BY(mutex_);
  UnusedUnits unused_ POSSET_GUARDED_BY(mutex_);
  uint64_t uses_ POSSET_GUARDED_BY(mutex_) = 0;
  uint32_t next_number_ POSSET_GUARDED_BY(mutex_) = 1;
  syntax::SourcePtr traced_source_ POSSET_GUARDED_BY(mutex_);  // the last one whose text went into the trace
  int64_t traced_text_ POSSET_GUARDED_BY(mutex_) = 0;
  size_t look_at_ POSSET_GUARDED_BY(mutex_) = 0;  // below this size no code of units in use is evicted
  std::atomic<size_t> bytes_{0};  // written under the mutex
};

inline UnitRef::~UnitRef() {
  if (unit_) table_->release(*unit_, function_);
}

}  // namespace posset::interp
