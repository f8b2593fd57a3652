// Feeds any bytes to the parser. Besides not crashing it must keep its promises: a tree without
// reported errors has no Malformed node, every span lies in the source, the depth is bounded, and
// all that can be shown (diagnostics, tree) can be shown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "interp/syntax/parser.h"

namespace {

using namespace posset::syntax;

void require(bool condition) {
  if (!condition) std::abort();
}

class Checker {
 public:
  Checker(const Module& module, bool has_errors)
      : size_(module.source->text().size()), has_errors_(has_errors) {}

  void function(const FunctionDecl& decl, int depth) {
    for (const Parameter& each : decl.parameters) {
      if (each.pattern) node(each.pattern, depth + 1);
      if (each.fallback) node(each.fallback, depth + 1);
    }
    require(has_errors_ || decl.body);
    if (decl.body) node(decl.body, depth + 1);
  }

 private:
  // A level of nesting is a few nodes: an argument in a call, an arm in a match.
  static constexpr int kNodesPerLevel = 6;

  void node(Node* at, int depth) {
    // A chain of `else if` is as long as it likes and not nested.
    while (at) {
      check(at, depth);
      auto* choice = as<IfNode>(at);
      Node* rest = choice ? as<IfNode>(choice->else_branch) : nullptr;
      for_each_child(at, [&](Node*& child) {
        if (child != rest) node(child, depth + 1);
      });
      at = rest;
    }
  }

  void check(Node* at, int depth) {
    require(depth <= kMaxNesting * kNodesPerLevel);
    require(at->span.begin <= at->span.end && at->span.end <= size_);
    require(has_errors_ || at->kind != NodeKind::Malformed);
    if (const auto* lambda = as<LambdaNode>(at)) function(*lambda->function, depth);
    if (const auto* statement = as<FunctionStatementNode>(at))
      function(*statement->function, depth);
  }

  size_t size_;
  bool has_errors_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const auto module = parse(std::make_shared<Source>("fuzz.posset", text), diagnostics);
  require(module && module->top && module->top->body);
  for (const Diagnostic& each : diagnostics.all()) {
    require(each.span.begin <= each.span.end && each.span.end <= size);
    require(!each.message.empty());
    render(each, {.color = (size & 1) != 0});
  }
  Checker(*module, diagnostics.has_errors()).function(*module->top, 0);
  // Indentation makes the text of a deep tree grow with the square of its depth.
  if (size < 4096) print_tree(*module);
  const bool incomplete = is_incomplete(text);
  require(!incomplete || diagnostics.has_errors());
  return 0;
}
