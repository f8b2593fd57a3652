// What the compiler says of a tree it does not know, to which no script leads: it is spoilt after it was resolved. And of one
// whose code would be described by more than it is worth.
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

TEST_CASE("bytecode: thousands of parts that are kept at once are left to the walker") {
  for (const int parts : {1000, 6000}) {
    std::string text = "fn f(x) => \"";
    for (int n = 0; n < parts; ++n) text += "{x}";
    OneFunction module(RuntimeOptions(), text + "\"\nf(1)");
    Refusal refusal;
    void* code = module.compile(refusal);
    CHECK((code != nullptr) == (parts == 1000));
    if (code) module.tier->drop(code);
    if (!code) CHECK(refusal.reason == Reason::many_registers);
  }
}

}  // namespace posset::interp
