// See rounds.h.
#include "interp/runtime/rounds.h"

#include <algorithm>

#include "interp/runtime/call.h"
#include "interp/runtime/halves.h"
#include "interp/runtime/tier.h"

namespace posset::interp {

namespace {

const syntax::ComprehensionNode& node_of(const syntax::Division& division) {
  return *static_cast<const syntax::ComprehensionNode*>(division.node);
}

struct RoundsWork {
  class Out;
  Rounds rounds;
  TracePoint place;

  bool share(Sharing& sharing) const {
    const auto& slots = rounds.division->inputs;
    return sharing.add_part(rounds.closure, rounds.division->node) && sharing.add(rounds.hidden()[0]) &&
           std::all_of(slots.begin(), slots.end(), [&](uint32_t slot) { return sharing.add(rounds.frame[slot]); });
  }
};

// The list so far, of the loop or of a part.
class RoundsWork::Out {
 public:
  Out(Context& context, const RoundsWork& work, uint64_t elements)
      : Out(context, work, Value::adopt(list_for(context, node_of(*work.rounds.division).condition ? 0 : elements))) {}
  Out(Context& context, const RoundsWork& work, Value list) : context_(context), rounds_(work.rounds), list_(std::move(list)) {}

  bool ok() const { return !list_.failed(); }
  Step piece(uint64_t from, uint64_t to) {
    list_ = context_.runtime.tier(0)->do_rounds(context_, rounds_, from, to, std::move(list_));
    return list_.failed() ? Step::Failed : Step::Item;
  }
  Step add(Value part, uint64_t, uint64_t) {
    const auto* more = part->as<List>();
    if (more->size == 0) return Step::Item;
    Borrowed list = list_.take();
    const bool ok = or_memory_limit(context_, list_append(context_.heap, list, more));
    list_ = Value::adopt(list);
    return ok ? Step::Item : Step::Failed;
  }
  Value part(Step) { return std::move(list_); }

 private:
  static Borrowed list_for(Context& context, uint64_t elements) {
    List* const list = new_list_expecting(context, Packing::Int, elements);
    if (!list) context.raise_memory_limit();
    return list ? Borrowed::heap(Tag::List, list) : Borrowed::failure();
  }

  Context& context_;
  const Rounds& rounds_;
  Value list_;
};

// Of those loops that count or go over a list.
uint64_t rounds_left(const Borrowed* hidden) {
  const int64_t at = hidden[1].as_int();
  const int64_t end = hidden[0].is_list() ? static_cast<int64_t>(hidden[0].as<List>()->size) : hidden[2].as_int();
  return at < end ? static_cast<uint64_t>(end) - static_cast<uint64_t>(at) : 0;
}

bool can_divide(const Context& context, const Rounds& rounds) {
  const Borrowed over = rounds.hidden()[0];
  const auto is_pure = [&](const syntax::Given& given) {
    const bool local = given.from == syntax::Given::From::Local;
    return is_pure_function(local ? rounds.frame[given.index] : rounds.closure->captured()[given.index]);
  };
  const auto& given = rounds.division->given;
  return context.fork_top && (over.is_nil() || over.is_list()) && rounds_left(rounds.hidden()) > 1 &&
         std::all_of(given.begin(), given.end(), is_pure);
}

}  // namespace

const Borrowed* Rounds::hidden() const { return frame + node_of(*division).hidden; }

bool divide_rest(Context& context, Closure* closure, Borrowed* frame, uint32_t number) {
  const syntax::FunctionDecl& function = *closure->function->decl;
  const syntax::Division& division = function.divisions[number];
  Borrowed* const hidden = frame + node_of(division).hidden;
  hidden[syntax::kComprehensionBegun] = Borrowed::integer(INT64_MAX);
  const RoundsWork work{{closure, &division, frame, hidden[1].as_int()}, {&function, division.node->site}};
  if (!can_divide(context, work.rounds)) return true;
  const uint64_t left = rounds_left(hidden);
  RoundsWork::Out out(context, work, Value::adopt(std::exchange(hidden[syntax::kComprehensionList], Borrowed::nil())));
  if (in_halves(context, work, out, left) == Step::Failed) return false;
  hidden[syntax::kComprehensionList] = out.part(Step::Item).take();
  hidden[1] = Borrowed::integer(work.rounds.first + static_cast<int64_t>(left));
  return true;
}

}  // namespace posset::interp
