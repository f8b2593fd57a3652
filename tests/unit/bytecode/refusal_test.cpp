// What the compiler says of a tree it does not know. No script leads to one: the tree is spoilt after it was
// resolved.
#include "one_function.h"

namespace posset::interp {

TEST_CASE("bytecode: a node the compiler does not know is refused as internal") {
  OneFunction module{RuntimeOptions()};
  Refusal refusal;
  void* code = module.compile(refusal);
  REQUIRE(code);
  CHECK(refusal.reason == Reason::none);
  module.tier->drop(code);
  syntax::FunctionDecl& function = module.decl();
  function.body = module.tree->arena.node<syntax::MalformedNode>(function.body->span);
  CHECK(module.compile(refusal) == nullptr);
  CHECK(refusal.reason == Reason::internal);
  CHECK(module.source->place(refusal.span.begin) == "a.posset:1:12");
}

}  // namespace posset::interp
