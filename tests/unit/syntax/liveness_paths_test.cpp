// Last uses against an oracle of its own: random functions are walked forwards along random paths,
// as a tier would, and a slot whose value was moved out must not be read before it is bound again.
// Anything may raise. The seed of a failure is in its message.
#include <random>

#include "resolver_fixture.h"

using namespace posset::syntax;

TEST_SUITE_BEGIN("liveness");

namespace {

// ---- random functions ----

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {}

  std::string text() {
    in_parameters_ = true;
    const std::string fallback = expression(2);
    in_parameters_ = false;
    return "fn f(a, b, inout g, d = " + fallback +
           ", e = [a, d]) {\n  var x = a\n  var y = b\n  var z = d\n  var c = e\n" + statements(4) +
           "}";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string pick(std::initializer_list<const char*> from) {
    return *(from.begin() + below(static_cast<int>(from.size())));
  }
  std::string name() {
    return in_parameters_ ? pick({"a", "b"}) : pick({"a", "b", "c", "g", "x", "y", "z", "x", "y"});
  }
  std::string variable() { return pick({"c", "g", "x", "y", "z"}); }
  std::string place(int depth) {
    const std::string root = variable();
    switch (below(5)) {
      case 0:
        return root;
      case 1:
        return root + ".f";
      case 2:
        return root + "[" + expression(depth) + "]";
      case 3:
        return root + "[" + expression(depth) + ", " + expression(depth) + "].g";
      default:
        return root + "[" + expression(depth) + ", " + expression(depth) + "][" +
               expression(depth) + "]";
    }
  }

  std::string expression(int depth) {
    if (depth <= 0 || below(4) == 0) return name();
    const auto sub = [&] { return expression(depth - 1); };
    switch (below(12)) {
      case 0:
        return "(" + sub() + " + " + sub() + ")";
      case 1:
        return "[" + sub() + ", " + sub() + "]";
      case 2:
        return "(" + sub() + " ?? " + sub() + ")";
      case 3:
        return "len(" + sub() + ")";
      case 4:
        return sub() + "?.go(" + sub() + ")";
      case 5:
        return sub() + "[" + sub() + ", " + sub() + "]";
      case 6:
        return "if " + sub() + " { " + sub() + " } else { " + sub() + " }";
      case 7:
        return "[for i in " + sub() + " if " + sub() + " => " + sub() + "]";
      case 8:
        return "match " + sub() + " { [p] if " + sub() + " => " + sub() + ", _ => " + sub() + " }";
      case 9:
        return "[() => " + name() + "]";
      case 10:
        return in_parameters_ || depth < 2 ? name()
                                           : "push(&" + place(depth - 1) + ", " + sub() + ")";
      default:
        return "do { let t = " + sub() + "\n t }";
    }
  }

  std::string statements(int depth) {
    std::string out;
    const int count = 1 + below(3);
    for (int i = 0; i < count; ++i) out += statement(depth) + "\n";
    return out;
  }
  std::string block(int depth) { return "{\n" + statements(depth - 1) + "}"; }

  std::string statement(int depth) {
    if (depth <= 0) return variable() + " = " + expression(2);
    switch (below(15)) {
      case 0:
        return "if " + expression(2) + " " + block(depth) + " else " + block(depth);
      case 1:
        return "while " + expression(2) + " " + loop_block(depth);
      case 2:
        return "for i in " + expression(2) + " " + loop_block(depth);
      case 3:
        return "try " + block(depth) + " catch e " + block(depth);
      case 4:
        return with(depth);
      case 5:
        return in_loop_ ? (below(2) ? "break " : "continue") : "return " + expression(2);
      case 6:
        return "[" + place(1) + ", " + variable() + "] = " + expression(2);
      case 7:
        return place(2) +
               pick({" = ", " += ",
                     " ?"
                     "?= "}) +
               expression(2);
      case 8:
        return "push(&" + place(2) + ", " + expression(2) + ")";
      case 9:
        return "var " + pick({"x", "y", "t"}) + " = " + expression(2);
      case 10:
        return "let [t, ..u] = " + expression(2) + "\nlen([u, t])";
      default:
        return variable() + " = " + expression(3);
    }
  }

  std::string loop_block(int depth) {
    const bool outer = in_loop_;
    in_loop_ = true;
    const std::string made = block(depth);
    in_loop_ = outer;
    return made;
  }

  // The root is out of reach inside, so the block is made of other names.
  std::string with(int depth) {
    const std::string leave = in_loop_ ? pick({"break", "continue", "w = 1", "return w"})
                                       : pick({"return w", "w = [w, a]"});
    return "with w = &y[" + expression(1) + "] { w = len(w)\n if a { " + leave + " }\n w += b }\n" +
           statement(depth - 1);
  }

  std::mt19937 random_;
  bool in_loop_ = false;
  bool in_parameters_ = false;
};

// ---- walking a path ----

enum class Flow { Go, Break, Continue, Return, Raise, ChainEnd };

class Path {
 public:
  Path(const FunctionDecl& function, unsigned seed)
      : function_(function), moved_(function.slot_count), random_(seed) {}

  void run() {
    Flow flow = Flow::Go;
    for (const Parameter& each : function_.parameters) {
      if (flow == Flow::Go && each.fallback && flip()) flow = walk(each.fallback);
    }
    if (flow == Flow::Go) walk(function_.body);
    for (const Parameter& each : function_.parameters) {
      if (each.inout) use(each.slot);
    }
  }
  bool wrong() const { return wrong_; }

 private:
  bool flip() { return random_() % 2 == 0; }
  void use(uint32_t slot) { wrong_ = wrong_ || moved_[slot]; }
  void read(const Binding& binding) {
    if (binding.kind != BindingKind::Local) return;
    use(binding.index);
    if (binding.last_use) moved_[binding.index] = true;
  }
  void capture(const FunctionDecl& function) {
    for (const Capture& each : function.captures) {
      if (each.from != Capture::From::Local) continue;
      use(each.index);
      if (each.last_use) moved_[each.index] = true;
    }
  }
  void bind(const Binding& binding) {
    if (binding.kind == BindingKind::Local) moved_[binding.index] = false;
  }

  Flow walk(Node* node);
  Flow children(Node* node);
  Flow sequence(std::initializer_list<Node*> nodes) {
    for (Node* each : nodes) {
      if (!each) continue;
      if (const Flow flow = walk(each); flow != Flow::Go) return flow;
    }
    return Flow::Go;
  }
  Flow call(CallNode* node);
  Flow assign(AssignNode* node);
  Flow store(Node* place);
  Flow stores(PlaceListNode* list);
  Flow match(MatchNode* node);
  Flow with(WithNode* node);
  template <class Round>
  Flow loop(Round&& round);

  // Indexes from the root outwards; defaults later.
  Flow indexes(Node* place);
  Flow defaults(Node* place);
  void touch_root(Node* place) {
    while (place->kind != NodeKind::Name) {
      place = place->kind == NodeKind::Field ? static_cast<FieldNode*>(place)->base
                                             : static_cast<IndexNode*>(place)->base;
    }
    const Binding& binding = static_cast<NameNode*>(place)->binding;
    if (binding.kind == BindingKind::Local) use(binding.index);
  }

  const FunctionDecl& function_;
  std::vector<bool> moved_;
  std::mt19937 random_;
  bool wrong_ = false;
};

Flow Path::children(Node* node) {
  Flow flow = Flow::Go;
  for_each_child(node, [&](Node*& child) {
    if (flow == Flow::Go) flow = walk(child);
  });
  return flow;
}

Flow Path::walk(Node* node) {
  if (random_() % 60 == 0) return Flow::Raise;
  switch (node->kind) {
    case NodeKind::Name: read(static_cast<NameNode*>(node)->binding); return Flow::Go;
    case NodeKind::BindingPattern: bind(static_cast<BindingPatternNode*>(node)->binding); return Flow::Go;
    case NodeKind::RestPattern: bind(static_cast<RestPatternNode*>(node)->binding); return Flow::Go;
    case NodeKind::Lambda: capture(*static_cast<LambdaNode*>(node)->function); return Flow::Go;
    case NodeKind::Call: return call(static_cast<CallNode*>(node));
    case NodeKind::Assign: return assign(static_cast<AssignNode*>(node));
    case NodeKind::PlaceList: return stores(static_cast<PlaceListNode*>(node));
    case NodeKind::Match: return match(static_cast<MatchNode*>(node));
    case NodeKind::With: return with(static_cast<WithNode*>(node));
    case NodeKind::Logical: {
      auto* self = static_cast<LogicalNode*>(node);
      return sequence({self->left, flip() ? self->right : nullptr});
    }
    case NodeKind::Index: {
      auto* self = static_cast<IndexNode*>(node);
      return sequence({self->base, self->index, flip() ? self->fallback : nullptr});
    }
    case NodeKind::Field: {
      auto* self = static_cast<FieldNode*>(node);
      const Flow flow = walk(self->base);
      return flow == Flow::Go && self->optional && flip() ? Flow::ChainEnd : flow;
    }
    case NodeKind::OptionalChain: {
      const Flow flow = children(node);
      return flow == Flow::ChainEnd ? Flow::Go : flow;
    }
    case NodeKind::If: {
      auto* self = static_cast<IfNode*>(node);
      return sequence({self->condition, flip() ? self->then_branch : self->else_branch});
    }
    case NodeKind::Try: {
      auto* self = static_cast<TryNode*>(node);
      const Flow flow = walk(self->body);
      return flow == Flow::Raise ? sequence({self->pattern, self->handler}) : flow;
    }
    case NodeKind::While: {
      auto* self = static_cast<WhileNode*>(node);
      return loop([&](bool last) {
        return sequence({self->condition, last ? nullptr : self->body});
      });
    }
    case NodeKind::For: {
      auto* self = static_cast<ForNode*>(node);
      if (const Flow flow = walk(self->iterable); flow != Flow::Go) return flow;
      return loop([&](bool last) {
        return last ? Flow::Go : sequence({self->pattern, self->body});
      });
    }
    case NodeKind::Comprehension: {
      auto* self = static_cast<ComprehensionNode*>(node);
      if (const Flow flow = walk(self->iterable); flow != Flow::Go) return flow;
      return loop([&](bool last) {
        return last ? Flow::Go
                    : sequence({self->pattern, self->condition, flip() ? self->body : nullptr});
      });
    }
    case NodeKind::Return: return children(node) == Flow::Go ? Flow::Return : Flow::Raise;
    case NodeKind::Break: return children(node) == Flow::Go ? Flow::Break : Flow::Raise;
    case NodeKind::Continue: return Flow::Continue;
    default:
      return children(node);
  }
}

template <class Round>
Flow Path::loop(Round&& round) {
  for (unsigned left = random_() % 4;; --left) {
    const Flow flow = round(left == 0);
    if (flow == Flow::Break) return Flow::Go;
    if (flow != Flow::Go && flow != Flow::Continue) return flow;
    if (left == 0) return Flow::Go;
  }
}

Flow Path::indexes(Node* place) {
  if (place->kind == NodeKind::Name) return Flow::Go;
  if (auto* field = as<FieldNode>(place)) return indexes(field->base);
  auto* step = static_cast<IndexNode*>(place);
  const Flow flow = indexes(step->base);
  return flow == Flow::Go ? walk(step->index) : flow;
}

Flow Path::defaults(Node* place) {
  if (place->kind == NodeKind::Name) return Flow::Go;
  if (auto* field = as<FieldNode>(place)) return defaults(field->base);
  auto* step = static_cast<IndexNode*>(place);
  const Flow flow = defaults(step->base);
  return flow == Flow::Go && step->fallback && flip() ? walk(step->fallback) : flow;
}

Flow Path::call(CallNode* node) {
  if (const Flow flow = walk(node->callee); flow != Flow::Go) return flow;
  for (Node* each : node->arguments) {
    auto* argument = static_cast<ArgumentNode*>(each);
    if (const Flow flow = argument->inout ? indexes(argument->value) : walk(argument->value);
        flow != Flow::Go)
      return flow;
    if (node->optional && each == node->arguments[0] && flip()) return Flow::ChainEnd;
  }
  for (Node* each : node->arguments) {
    auto* argument = static_cast<ArgumentNode*>(each);
    if (!argument->inout) continue;
    if (const Flow flow = defaults(argument->value); flow != Flow::Go) return flow;
    touch_root(argument->value);
  }
  return Flow::Go;
}

Flow Path::assign(AssignNode* node) {
  if (const Flow flow = indexes(node->place); flow != Flow::Go) return flow;
  const bool compound = node->op != AssignOp::Set;
  const bool early = compound || flip();
  if (early) {
    if (const Flow flow = defaults(node->place); flow != Flow::Go) return flow;
  }
  if (compound) touch_root(node->place);
  if (node->op == AssignOp::Coalesce && flip()) return Flow::Go;
  if (const Flow flow = walk(node->value); flow != Flow::Go) return flow;
  if (!early) {
    if (const Flow flow = defaults(node->place); flow != Flow::Go) return flow;
  }
  if (compound) touch_root(node->place);
  return store(node->place);
}

Flow Path::store(Node* place) {
  if (auto* name = as<NameNode>(place)) {
    bind(name->binding);
  } else {
    touch_root(place);
  }
  return Flow::Go;
}

Flow Path::stores(PlaceListNode* list) {
  for (Node* item : list->items) {
    if (const Flow flow = indexes(item); flow != Flow::Go) return flow;
    if (const Flow flow = defaults(item); flow != Flow::Go) return flow;
    store(item);
  }
  return Flow::Go;
}

Flow Path::match(MatchNode* node) {
  if (const Flow flow = walk(node->subject); flow != Flow::Go) return flow;
  for (Node* each : node->arms) {
    auto* arm = static_cast<MatchArmNode*>(each);
    if (flip()) continue;
    if (const Flow flow = sequence({arm->pattern, arm->guard}); flow != Flow::Go) return flow;
    if (arm->guard && flip()) continue;
    return walk(arm->body);
  }
  return Flow::Raise;
}

Flow Path::with(WithNode* node) {
  if (const Flow flow = indexes(node->place); flow != Flow::Go) return flow;
  if (const Flow flow = defaults(node->place); flow != Flow::Go) return flow;
  touch_root(node->place);
  const Binding& name = static_cast<BindingPatternNode*>(node->pattern)->binding;
  bind(name);
  const Flow flow = walk(node->body);
  use(name.index);  // written back however the block ends
  touch_root(node->place);
  return flow;
}

}  // namespace

TEST_CASE("no path reads a value that was moved") {
  int moves = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const std::string text = Program(seed).text();
    INFO("seed ", seed, "\n", text);
    const Resolved r = resolve_text(text);
    INFO(r.text());
    REQUIRE(r.good);
    const FunctionDecl& f = function(r, "f");
    for (const NameNode* each : all_of<NameNode>(f)) moves += each->binding.last_use;
    bool wrong = false;
    for (unsigned path = 0; path < 50; ++path) {
      Path walk(f, path);
      walk.run();
      wrong = wrong || walk.wrong();
    }
    CHECK_FALSE(wrong);
  }
  CHECK(moves > 1000);  // the programs do have something to get wrong
}

TEST_SUITE_END();
