// Which functions are provably pure, and for the others the chain of calls that refutes it.
//
// What every function does itself, and which functions it calls by name, is collected first
// (purity_facts.cpp). Then impurity is spread from the culprits to their callers, breadth first, so
// that every chain is as short as can be and ends; after that, in the same way, what merely cannot
// be proved. What is left is pure: recursion alone is no effect. Between the two it is found what calls only
// what it is given, because a call of that with what is known to be pure is pure (purity_given.cpp).
#include <unordered_map>

#include "interp/syntax/module_resolver.h"
#include "interp/syntax/purity_facts.h"

namespace posset::syntax {

namespace {

class Inference {
 public:
  Inference(Module& module, NameEnvironment& environment)
      : module_(module), environment_(environment) {}

  std::vector<Facts> run() {
    collect_facts(*module_.top, environment_, globals_, facts_);
    for (FunctionDecl* function : module_.functions) {
      collect_facts(*function, environment_, globals_, facts_);
    }
    for (size_t i = 0; i < facts_.size(); ++i) {
      for (const KnownCall& call : facts_[i].calls) callers_[call.callee].push_back({i, &call});
    }
    add_other_modules();
    spread(Purity::Impure, &Facts::impure);
    find_given(facts_);
    add_unproved();
    spread(Purity::Unproved, &Facts::unproved);
    for (const Facts& each : facts_) {
      if (each.function->purity == Purity::Unknown) each.function->purity = Purity::Pure;
    }
    return std::move(facts_);
  }

 private:
  struct Caller {
    size_t facts;
    const KnownCall* call;
  };

  // Functions of other modules are done: calling one is a fact by itself.
  void add_other_modules() {
    for (Facts& each : facts_) {
      each.function->purity = Purity::Unknown;
      each.function->purity_chain.clear();
      for (const KnownCall& call : each.calls) {
        if (call.callee->module == &module_) continue;
        PurityStep step{call.span, call.what, call.callee, call.site};
        if (call.callee->purity == Purity::Impure) each.impure.push_back(step);
      }
    }
  }

  // Calls of other modules' functions that what is passed to them does not make pure.
  void add_unproved() {
    for (Facts& each : facts_) {
      for (const KnownCall& call : each.calls) {
        if (call.callee->module == &module_ || call.callee->purity != Purity::Unproved || is_pure(call)) continue;
        each.unproved.push_back({call.span, call.what, call.callee, call.site});
      }
    }
  }

  // Whatever the callee is: all that is passed to it is.
  static bool is_pure(const KnownCall& call) { return call.given && call.given->empty(); }

  void spread(Purity purity, std::vector<PurityStep> Facts::*steps) {
    std::vector<const FunctionDecl*> reached;
    for (Facts& each : facts_) {
      if (!(each.*steps).empty()) classify(each, purity, (each.*steps).front(), reached);
    }
    for (size_t i = 0; i < reached.size(); ++i) {
      const FunctionDecl* callee = reached[i];
      for (const Caller& caller : callers_[callee]) {
        const KnownCall& call = *caller.call;
        if (purity == Purity::Unproved && is_pure(call)) continue;
        classify(facts_[caller.facts], purity, {call.span, call.what, callee, call.site}, reached);
      }
    }
  }

  static void classify(Facts& facts, Purity purity, const PurityStep& step,
                       std::vector<const FunctionDecl*>& reached) {
    if (facts.function->purity != Purity::Unknown) return;
    facts.function->purity = purity;
    facts.function->purity_chain.push_back(step);
    reached.push_back(facts.function);
  }

  Module& module_;
  NameEnvironment& environment_;
  KnownGlobals globals_;
  std::vector<Facts> facts_;
  std::unordered_map<const FunctionDecl*, std::vector<Caller>> callers_;
};

// ---- words ----

std::string place_of(const FunctionDecl& function, Span span) {
  const Source& source = *function.module->source;
  const Position position = source.position(span.begin);
  return source.name() + ":" + std::to_string(position.line) + ":" +
         std::to_string(position.column);
}

std::string title(const FunctionDecl& function) {
  if (function.is_top_level) return "the top level";
  return function.name.empty() ? "a lambda" : std::string(function.name);
}

// The steps from the function to the culprit.
struct ChainStep {
  const FunctionDecl* function;
  const PurityStep* step;
};
std::vector<ChainStep> chain_of(const FunctionDecl& function) {
  std::vector<ChainStep> steps;
  for (const FunctionDecl* at = &function; at && !at->purity_chain.empty();
       at = steps.back().step->next) {
    steps.push_back({at, &at->purity_chain.front()});
  }
  return steps;
}

std::string text_of(const ChainStep& step) {
  return title(*step.function) + " (" + place_of(*step.function, step.step->span) + ") " +
         step.step->what;
}

void report(const FunctionDecl& function, Diagnostics& diagnostics) {
  constexpr size_t kShown = 5;  // of a chain; `explain` shows all of it
  const std::vector<ChainStep> chain = chain_of(function);
  const PurityStep& first = *chain.front().step;
  std::string message = "the pure fn " + quoted(function.name);
  message +=
      function.purity == Purity::Impure ? " is not pure: it " : " cannot be proved pure: it ";
  message += explain_step(first);
  std::string hint = "leave out `pure`, or pass in what it needs as a value";
  if (chain.size() > 1) {
    for (size_t i = 1; i < chain.size() && i <= kShown; ++i) hint += "; " + text_of(chain[i]);
    if (chain.size() > kShown + 1) hint += "; ...";
  }
  diagnostics.error(function.module->source, ErrorCode::NotPure, first.span, std::move(message),
                    std::move(hint));
}

}  // namespace

std::vector<Facts> infer_purity(Module& module, NameEnvironment& environment,
                                Diagnostics& diagnostics) {
  std::vector<Facts> facts = Inference(module, environment).run();
  for (const FunctionDecl* function : functions_of(module)) {
    if (function->declared_pure && function->purity != Purity::Pure) report(*function, diagnostics);
  }
  return facts;
}

std::string explain_step(const PurityStep& step) {
  const std::vector<ChainStep> chain = step.next ? chain_of(*step.next) : std::vector<ChainStep>();
  if (chain.empty()) return step.what;
  return step.what + ", and " + title(*chain.back().function) + " " + chain.back().step->what;
}

std::string explain_purity(const FunctionDecl& function) {
  if (function.purity == Purity::Unknown) return "purity is not known: the module has errors";
  if (function.purity != Purity::Pure) {
    std::string text = function.purity == Purity::Impure ? "impure:" : "not provably pure:";
    for (const ChainStep& each : chain_of(function)) text += "\n  " + text_of(each);
    return text;
  }
  std::string used;
  for (const Link& each : function.links) {
    const bool callable = each.kind == Link::Kind::Function || each.kind == Link::Kind::Builtin ||
                          each.kind == Link::Kind::BuiltinExport;
    if (callable) used += (used.empty() ? "" : ", ") + std::string(each.name);
  }
  return used.empty() ? "pure: calls nothing else" : "pure: uses only what is pure (" + used + ")";
}

}  // namespace posset::syntax
