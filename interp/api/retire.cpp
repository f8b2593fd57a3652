// The end of programs and expressions. A module instance must stay while a closure or constructor
// of it lives in some value, because these point into it; the values of its own top level may be
// such ones, so counting alone does not tell. The test here is conservative: every reference to a
// closure of the instance must be found from its own globals along values nobody else holds; then
// nobody can reach it.
//
// Instances that cannot go yet wait in `retired` and are looked at again when enough have gathered.
#include <cstdlib>
#include <new>

#include "interp/api/handles.h"
#include "interp/value/cycles.h"

namespace posset::api {

namespace {

using interp::Closure;
using interp::ModuleInstance;
using interp::Object;

constexpr size_t kFirstSweep = 64;
// A top level that holds more values than this is left until the context ends.
constexpr size_t kMostVisits = 100000;

// However they are counted.
int64_t references_to(const Object* object) { return std::abs(int64_t{interp::count_of(object)}); }

int64_t outside_count(const Value& owned) {
  return owned->is_heap() ? references_to(owned->object()) - 1 : 0;
}

// References to functions and constructors of the instance, from anywhere but the instance's own
// tables.
int64_t count_references(const ModuleInstance& instance) {
  int64_t references = instance.live_closures;
  for (const Value& closure : instance.closures) references += outside_count(closure);
  for (const auto& type : instance.constructors) {
    for (const Value& constructor : type) {
      if (constructor->is(Tag::Constructor)) references += outside_count(constructor);
    }
  }
  return references;
}

// How many of those are found from its globals through values that have one holder each.
class GlobalWalk {
 public:
  explicit GlobalWalk(const ModuleInstance& instance) : instance_(instance) {
    for (uint32_t i = 0; i < instance.global_count; ++i) visit(instance.globals[i]);
    while (!pending_.empty() && visits_ < kMostVisits) {
      Object* object = pending_.back();
      pending_.pop_back();
      interp::each_value(object, [&](Borrowed v) {
        visit(v);
        return visits_ < kMostVisits;
      });
    }
  }
  int64_t found() const { return found_; }

 private:
  void visit(Borrowed v) {
    ++visits_;
    if (!v.is_heap()) return;
    bool single = references_to(v.object()) == 1;
    if (v.is(Tag::Fn) && v.as<Closure>()->function->module == &instance_) {
      // A closure with captures is counted once, when it is made; one of the module's own, per
      // reference.
      if (single || !v.as<Closure>()->owner_count) ++found_;
    }
    if (v.is(Tag::Constructor)) found_ += is_own(v);
    if (single) pending_.push_back(v.object());
  }
  bool is_own(Borrowed constructor) const {
    const auto* info = static_cast<const interp::ConstructorInfo*>(
        constructor.as<interp::Constructor>()->declaration);
    return info->module == &instance_;
  }

  const ModuleInstance& instance_;
  std::vector<Object*> pending_;
  size_t visits_ = 0;
  int64_t found_ = 0;
};

bool is_reachable(const ModuleInstance& instance) {
  if (instance.state == ModuleInstance::State::Running) return true;
  int64_t references = count_references(instance);
  return references != 0 && GlobalWalk(instance).found() != references;
}

bool try_to_forget(posset_context* context, ModuleInstance* instance) {
  if (is_reachable(*instance)) return false;
  forget_module(*context, instance);
  return true;
}

}  // namespace

void sweep_retired(posset_context* context) {
  std::erase_if(context->retired,
                [&](ModuleInstance* instance) { return try_to_forget(context, instance); });
  context->retire_at = std::max(kFirstSweep, 2 * context->retired.size());
}

void retire(posset_context* context, ModuleInstance* instance) {
  context->references.flush();  // what is kept is no reference to it
  if (!instance || try_to_forget(context, instance)) return;
  try {
    context->retired.push_back(instance);
  } catch (const std::bad_alloc&) {
    // It stays until the context ends. What it was run for has its result already.
  }
}

}  // namespace posset::api

// ---- the end of a context ----

namespace {

using posset::interp::Borrowed;
using posset::interp::ModuleInstance;

void release_globals(ModuleInstance& instance) {
  for (uint32_t i = 0; i < instance.global_count; ++i) {
    posset::interp::release(std::exchange(instance.globals[i], Borrowed::nil()));
  }
}

void drop_host_state(posset_context* context) {
  for (auto& [key, kept] : context->data) {
    if (kept.drop) kept.drop(kept.data);
  }
  context->data.clear();
  for (auto& [name, cell] : context->host_globals)
    posset::interp::release(std::exchange(*cell, Borrowed::nil()));
}

}  // namespace

extern "C" posset_status posset_context_finish(posset_context* context) {
  posset::api::Entry entry(context);
  if (entry.failed()) return entry.status();
  if (context->evaluations != 0 || context->heap.is_guarded()) return POSSET_MISUSE;
  context->finished = true;
  if (context->error_pending()) context->take_error();
  posset::api::free_orphans(context);
  context->scratch = posset::interp::Value();
  context->drop_kept_views();
  drop_host_state(context);
  context->session.inputs.clear();
  context->retired.clear();
  for (auto& [tree, instance] : context->instances) release_globals(*instance);
  context->heap.bury_all();
  context->heap.collect_cycles();
  // Instances that a value of the host still points into stay until the context goes.
  std::erase_if(context->instances,
                [](const auto& each) { return posset::api::count_references(*each.second) == 0; });
  return POSSET_OK;
}
