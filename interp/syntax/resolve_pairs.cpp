// Loops over the pairs of enumerate(xs) or zip(xs, ys) whose pattern takes them apart. They count, and read what the pairs
// would have been of by the count, so no pair is made and no list of them:
//
//   for [i, x] in enumerate(E) B    { let (items) = (unpaired_enumerate)(E)
//                                     for i in 0..(rounds)((items)) { let x = (items)[i]; B } }
//   for [x, y] in zip(E, F) B       { let [(items), (others)] = (unpaired_zip)(E, F)
//                                     for (count) in 0..(rounds)((items), (others)) { let x = (items)[(count)]; ... } }
//
// and a comprehension likewise. Names in parentheses cannot be written in a script. What is gone through is evaluated once,
// before the first round, as a call of enumerate or zip would; a pattern that may not fit stays with the pairs, of which its
// error tells.
#include <algorithm>

#include "interp/syntax/module_resolver.h"

namespace posset::syntax {

namespace {

constexpr Text kItems = "(items)", kOthers = "(others)", kCount = "(count)", kRounds = "(rounds)";

bool is_name(const Node* item) {
  const auto* name = as<BindingPatternNode>(item);
  return item->kind == NodeKind::WildcardPattern || (name && !name->type);
}

// Two names, other than each other.
bool takes_apart(const Node* pattern) {
  const auto* pair = as<ListPatternNode>(pattern);
  if (!pair || pair->items.size() != 2 || !std::all_of(pair->items.begin(), pair->items.end(), is_name)) return false;
  const auto* first = as<BindingPatternNode>(pair->items[0]);
  const auto* second = as<BindingPatternNode>(pair->items[1]);
  return !first || !second || first->name != second->name;
}

bool is_plain_argument(const Node* node) {
  const auto* argument = as<ArgumentNode>(node);
  return argument && !argument->spread && !argument->inout;
}

}  // namespace

// The built-in that gives what the pairs are of that a call gives; empty: it gives none. The call is resolved.
Text ModuleResolver::unpaired(const CallNode& call) {
  const auto* callee = as<NameNode>(call.callee);
  if (!callee || callee->binding.kind != BindingKind::Link || call.optional) return {};
  const Link& link = scopes_.function().links[callee->binding.index];
  const BuiltinInfo* info = link.kind == Link::Kind::Builtin ? world_.environment.builtin(link.name) : nullptr;
  const bool fits = info && call.arguments.size() == static_cast<size_t>(info->max_args) &&
                    std::all_of(call.arguments.begin(), call.arguments.end(), is_plain_argument);
  return fits ? info->unpaired : Text();
}

// A call of the built-in of that name, whatever the script calls so.
CallNode* ModuleResolver::call_builtin(Text name, NodeList arguments, Span span) {
  Arena& arena = module_.arena;
  Link link;
  link.name = name;
  auto* callee = arena.node<NameNode>(span);
  callee->name = name;
  callee->binding = {.kind = BindingKind::Link, .index = scopes_.link(link)};
  auto* call = arena.node<CallNode>(span);
  call->callee = callee;
  call->arguments = arguments;
  return call;
}

Node* ModuleResolver::read_of(Text name, Span span) {
  auto* made = module_.arena.node<NameNode>(span);
  made->name = name;
  Node* node = made;
  this->name(node);
  return node;
}

// `let pattern = value`; the caller binds the names.
LetNode* ModuleResolver::make_let(Node* pattern, Node* value) {
  auto* let = module_.arena.node<LetNode>(pattern->span);
  let->pattern = pattern;
  let->value = value;
  return let;
}

BindingPatternNode* ModuleResolver::make_name(Text name, Span span) {
  auto* made = module_.arena.node<BindingPatternNode>(span);
  made->name = name;
  return made;
}

// A loop that goes over pairs and takes them apart counts from here on.
ModuleResolver::Unpaired ModuleResolver::unpair(Node*& iterable, const Node* taken) {
  auto* const call = as<CallNode>(iterable);
  const Text name = call && takes_apart(taken) ? unpaired(*call) : Text();
  if (name.empty()) return {};
  Arena& arena = module_.arena;
  const Span span = call->span;
  Unpaired made;
  made.held = call->arguments.size() == 1 ? std::vector{kItems} : std::vector{kItems, kOthers};
  Node* held = make_name(kItems, span);
  if (made.held.size() > 1) {
    auto* both = arena.node<ListPatternNode>(span);
    both->items = arena.list({held, make_name(kOthers, span)});
    held = both;
  }
  made.let = make_let(held, call_builtin(name, call->arguments, span));
  pattern(held, VariableKind::Let);
  std::vector<Node*> counted;
  for (const Text each : made.held) {
    auto* argument = arena.node<ArgumentNode>(span);
    argument->value = read_of(each, span);
    counted.push_back(argument);
  }
  auto* range = arena.node<RangeLiteralNode>(span);
  range->first = arena.node<IntLiteralNode>(span);
  range->last = call_builtin(kRounds, arena.list(counted), span);
  iterable = range;
  return made;
}

// The names of a round.
void ModuleResolver::bind_round(Node*& taken, NodeList& lets, const Unpaired& unpaired) {
  if (!unpaired.let) return pattern(taken, VariableKind::Loop);
  const NodeList names = static_cast<ListPatternNode*>(taken)->items;
  const bool is_numbered = unpaired.held.size() == 1;  // the first name is the count
  auto* count = is_numbered ? as<BindingPatternNode>(names[0]) : nullptr;
  if (!count) count = make_name(kCount, taken->span);
  pattern(taken = count, VariableKind::Loop);
  std::vector<Node*> made;
  for (size_t i = 0; i < unpaired.held.size(); ++i) {
    Node* const name = names[is_numbered ? 1 : i];
    if (name->kind == NodeKind::WildcardPattern) continue;
    auto* index = module_.arena.node<IndexNode>(name->span);
    index->base = read_of(unpaired.held[i], name->span);
    index->index = read_of(count->name, name->span);
    made.push_back(make_let(name, index));
  }
  for (Node* let : made) pattern(static_cast<LetNode*>(let)->pattern, VariableKind::Loop);
  lets = module_.arena.list(made);
}

Node* ModuleResolver::behind_let(const Unpaired& unpaired, Node* loop) {
  if (!unpaired.let) return loop;
  auto* block = module_.arena.node<BlockNode>(loop->span);
  block->statements = module_.arena.list({unpaired.let, loop});
  return block;
}

}  // namespace posset::syntax
