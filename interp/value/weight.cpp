// Looking over a value before something is done with it: how much work it will be, and whether it
// can be the key of a map.
#include <cmath>

#include "interp/value/compare.h"
#include "interp/value/cycles.h"
#include "interp/value/list.h"
#include "interp/value/small_stack.h"

namespace posset::interp {

namespace {

uint64_t own_weight(Borrowed v) {
  if (v.is(Tag::Str)) return 1 + v.as<Str>()->size / kBytesPerUnit;
  if (v.is_list() && v.as<List>()->packing() != Packing::Any) return 1 + v.as<List>()->size;
  return 1;
}

// Cheap bound, so that a long list is not run through when little is enough.
uint64_t direct_values(const Object* object) {
  switch (object->tag) {
    case Tag::List:
      return static_cast<const List*>(object)->size;
    case Tag::Map:
      return static_cast<const Map*>(object)->live;
    default:
      return 0;
  }
}

bool is_walked(Borrowed v) { return v.is_heap() && !v.is(Tag::Str) && !v.is(Tag::Ref); }

KeyProblem problem_here(Borrowed v) {
  switch (v.tag()) {
    case Tag::Nil:
    case Tag::Bool:
    case Tag::Int:
    case Tag::ShortStr:
    case Tag::Str:
    case Tag::List:
    case Tag::Record:
    case Tag::Variant:
      return KeyProblem::None;
    case Tag::Float:
      return v.as_float() != v.as_float() ? KeyProblem::NaN : KeyProblem::None;
    default:
      return KeyProblem::Kind;
  }
}

bool has_nan(List* list, Patience* patience) {
  for (uint64_t i = 0; i < list->size && lasts(patience); ++i) {
    if (std::isnan(list->float_at(i))) return true;
  }
  return false;
}

}  // namespace

uint64_t weight_of(Borrowed v, uint64_t enough, Patience* patience) {
  uint64_t weight = own_weight(v);
  if (!is_walked(v)) return weight < enough ? weight : enough;
  SmallStack<Object*, 32> stack;
  stack.push(v.object());
  while (!stack.empty() && weight < enough) {
    Object* object = stack.take();
    if (direct_values(object) >= enough - weight) return enough;
    const bool counted = each_value(object, [&](Borrowed inside) {
      weight += own_weight(inside);
      if (is_walked(inside)) stack.push(inside.object());
      return weight < enough && lasts(patience);
    });
    if (!counted && patience != nullptr && patience->ended()) break;
  }
  return weight < enough ? weight : enough;
}

KeyProblem is_valid_key(Borrowed v, Patience* patience) {
  KeyProblem problem = problem_here(v);
  if (problem != KeyProblem::None || !v.is_heap() || v.is(Tag::Str)) return problem;
  SmallStack<Object*, 32> stack;
  stack.push(v.object());
  while (!stack.empty() && problem == KeyProblem::None) {
    Object* object = stack.take();
    if (object->tag == Tag::List && static_cast<List*>(object)->packing() != Packing::Any) {
      if (static_cast<List*>(object)->packing() == Packing::Float && has_nan(static_cast<List*>(object), patience))
        return KeyProblem::NaN;
      continue;
    }
    const bool through = each_value(object, [&](Borrowed inside) {
      problem = problem_here(inside);
      if (inside.is_heap() && !inside.is(Tag::Str)) stack.push(inside.object());
      return problem == KeyProblem::None && lasts(patience);
    });
    if (!through) break;
  }
  return problem;
}

}  // namespace posset::interp
