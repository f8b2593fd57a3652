// A module with one function, for tests of what the bytecode compiler makes of it.
#pragma once

#include <doctest/doctest.h>

#include <posset/attach.h>

#include "interp/runtime/builtins.h"
#include "interp/runtime/context.h"
#include "interp/runtime/program.h"
#include "interp/runtime/tier.h"

namespace posset::interp {

struct OneFunction {
  explicit OneFunction(const RuntimeOptions& options, const std::string& text = "fn f(x) => x + 1\nf(1)")
      : runtime(options), context(runtime, Limits()), source(std::make_shared<syntax::Source>("a.posset", text)) {
    register_builtins(runtime);
    syntax::Diagnostics diagnostics;
    tree = load_program(context, source, "", diagnostics, false);
    REQUIRE(tree);
  }

  syntax::FunctionDecl& decl() { return *tree->functions.front(); }
  // The code, or null and why.
  void* compile(Refusal& refusal) { return tier->compile(runtime, decl(), -1, nullptr, refusal); }

  const TierInterface* tier = static_cast<const TierInterface*>(posset_bytecode_tier());
  RuntimeState runtime;
  Context context;
  std::shared_ptr<syntax::Source> source;
  std::shared_ptr<syntax::Module> tree;
};

}  // namespace posset::interp
