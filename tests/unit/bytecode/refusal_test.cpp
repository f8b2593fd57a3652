// What the compiler says of a tree it does not know. No script leads to one: the tree is spoilt after it was
// resolved.
#include <doctest/doctest.h>

#include <posset/attach.h>

#include "interp/runtime/builtins.h"
#include "interp/runtime/context.h"
#include "interp/runtime/program.h"
#include "interp/runtime/tier.h"

namespace posset::interp {

TEST_CASE("bytecode: a node the compiler does not know is refused as internal") {
  RuntimeState runtime{RuntimeOptions()};
  register_builtins(runtime);
  Context context(runtime, Limits());
  syntax::Diagnostics diagnostics;
  auto source = std::make_shared<syntax::Source>("a.posset", "fn f(x) => x + 1\nf(1)");
  auto tree = load_program(context, source, "", diagnostics, false);
  REQUIRE(tree);
  syntax::FunctionDecl& function = *tree->functions.front();
  const auto* tier = static_cast<const TierInterface*>(posset_bytecode_tier());
  Refusal refusal;
  void* code = tier->compile(runtime, function, -1, nullptr, refusal);
  REQUIRE(code);
  CHECK(refusal.reason == Reason::none);
  tier->drop(code);
  function.body = tree->arena.node<syntax::MalformedNode>(function.body->span);
  CHECK(tier->compile(runtime, function, -1, nullptr, refusal) == nullptr);
  CHECK(refusal.reason == Reason::internal);
  CHECK(source->place(refusal.span.begin) == "a.posset:1:12");
}

}  // namespace posset::interp
