// What translations of small functions are like: where they can be entered, what is left to exec, which calls remain and
// which ways out there are. The functions run in bytecode until their profile says something; a tier that is there for
// these tests then gets the chunk, translates it, and refuses it.
#include "jit/translate.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <doctest/doctest.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>

#include <posset/attach.h>
#include <posset/posset.h>

#include "bytecode/frame_map.h"
#include "interp/runtime/context.h"

namespace {

using posset::bytecode::Chunk;
using posset::bytecode::Expected;
using posset::bytecode::FramePlace;
using posset::bytecode::kFrameInlinedWords;
using posset::interp::RuntimeState;
using posset::jit::Translation;

// What a translation consists of, as far as it is asked about here.
struct Look {
  bool valid = false;
  uint64_t heads = 0;
  size_t inlined = 0, functions = 0, exits = 0, new_exits = 0, entry_exits = 0;
  uint64_t deepest_exit = 0;  // frames around the one that is left
  size_t guards_that_may_be_forced = 0;
  size_t functions_asked_for = 0;
  size_t choices = 0;
  size_t boxings = 0;
  size_t releases = 0;  // of what may be the last reference
  std::map<std::string, int> calls;  // of helpers
  std::set<std::string> blocks;      // names without numbers

  int execs() const {
    int sum = 0;
    for (const auto& [name, count] : calls) sum += name.starts_with("exec_") ? count : 0;
    return sum;
  }
  bool calls_helper(const std::string& name) const { return calls.contains(name); }
};

uint64_t constant(const llvm::Value* v) { return llvm::cast<llvm::ConstantInt>(v)->getZExtValue(); }

// Ways out share code, so that what each says comes together step by step.
template <class LookAtOne>
void look_at_ways(const llvm::Value* said, Look& look, const LookAtOne& look_at_one) {
  if (const auto* joined = llvm::dyn_cast<llvm::PHINode>(said)) {
    for (const llvm::Use& each : joined->incoming_values()) look_at_ways(each.get(), look, look_at_one);
    return;
  }
  if (const auto* read = llvm::dyn_cast<llvm::LoadInst>(said)) {  // quick code has it in a variable
    for (const llvm::User* each : read->getPointerOperand()->users()) {
      if (const auto* kept = llvm::dyn_cast<llvm::StoreInst>(each)) look_at_ways(kept->getValueOperand(), look, look_at_one);
    }
    return;
  }
  look_at_one(said);
}

// By the frame map, which the call refers to.
void look_at_exits(const llvm::CallInst& call, Look& look) {
  const auto* map = llvm::cast<llvm::GlobalVariable>(call.getArgOperand(1));
  const auto* words = llvm::cast<llvm::ConstantDataSequential>(map->getInitializer()->getAggregateElement(0U));
  auto word = [&](uint64_t at) { return static_cast<uint32_t>(words->getElementAsInteger(static_cast<unsigned>(at))); };
  std::set<uint64_t> places;
  look_at_ways(call.getArgOperand(2), look, [&](const llvm::Value* place) { places.insert(constant(place)); });
  for (uint64_t place : places) {
    const FramePlace left{word(place), word(place + 1), word(place + 2), word(place + 3), word(place + 4), word(place + 5)};
    ++look.exits;
    look.new_exits += Expected{left.expected}.why() == Expected::Why::New;
    uint64_t depth = 0;
    for (uint32_t frame = left.inlined; frame != 0; frame = word(frame + kFrameInlinedWords - 1)) ++depth;
    look.deepest_exit = std::max(look.deepest_exit, depth);
  }
}

void look_at_call(const llvm::CallInst& call, Look& look) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || callee->isIntrinsic()) return;
  ++look.calls[callee->getName().str()];
  if (callee->getName() == "exit") return look_at_exits(call, look);
  if (callee->getName() != "refuse") return;
  ++look.entry_exits;  // one way out, whichever register it was
  ++look.exits;
}

Look look_at(const Translation& translation) {
  Look look;
  look.valid = !llvm::verifyModule(*translation.module);
  look.heads = translation.heads;
  look.inlined = translation.inlined.size();
  for (const llvm::Function& function : *translation.module) {
    look.functions += !function.isDeclaration() && !function.hasFnAttribute(llvm::Attribute::Cold);
    for (const llvm::BasicBlock& block : function) {
      const std::string name = block.getName().str();
      look.blocks.insert(name.substr(0, name.find_last_not_of("0123456789") + 1));
      look.guards_that_may_be_forced += name.starts_with("guarded");
      look.functions_asked_for += name.starts_with("expected");
      look.choices += name.starts_with("chosen");
      look.boxings += name.starts_with("boxed");
      look.releases += name.starts_with("count") && !name.starts_with("counted");
      for (const llvm::Instruction& each : block) {
        if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&each)) look_at_call(*call, look);
      }
    }
  }
  return look;
}

// By function and stage. The tier interface has no place for more than code.
std::mutex mutex;
std::map<std::pair<std::string, int>, Look> looks;

// While it is held the tier has asked for code, and nobody has begun to make it.
std::mutex held;

void* look_and_refuse(RuntimeState& runtime, const posset::syntax::FunctionDecl&, int, void* below,
                      posset::interp::Refusal& refusal) {
  std::lock_guard until_held_no_more(held);
  const auto& chunk = *static_cast<const Chunk*>(below);
  const posset::jit::Bodies bodies = [&](uint32_t unit) {
    return static_cast<const Chunk*>(runtime.tier(1)->body_of_unit(runtime, unit));
  };
  for (int stage : {1, 2}) {
    const auto made = posset::jit::translate(chunk, stage, bodies, [](llvm::Module&) {}, refusal.reason);
    std::lock_guard lock(mutex);
    if (made) looks[{chunk.name, stage}] = look_at(*made);
  }
  refusal.reason = posset::interp::Reason::not_built;
  return nullptr;
}

posset::interp::TierInterface looking_tier() {
  posset::interp::TierInterface tier;
  tier.level = 2;
  tier.name = "looked at";
  tier.compile = look_and_refuse;
  return tier;
}

// Runs the source in bytecode, which records; what is executed 50 times is translated, `at_end` only when it has run.
void run(const char* source, uint32_t exit_stress = 0, uint32_t workers = 0, bool at_end = false) {
  static const posset::interp::TierInterface tier = looking_tier();
  posset_runtime_options options = posset_runtime_defaults();
  options.forced_tier = 1;
  options.tier2_after = 50;
  options.exit_stress = exit_stress;
  options.workers = workers;
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_runtime_create(&options, &runtime) == POSSET_OK);
  REQUIRE(posset_attach_tier(runtime, posset_bytecode_tier()) == POSSET_OK);
  REQUIRE(posset_attach_tier(runtime, &tier) == POSSET_OK);
  posset_context* context = nullptr;
  const posset_context_options limits = posset_context_defaults();
  REQUIRE(posset_context_create(runtime, &limits, &context) == POSSET_OK);
  posset_value value = posset_nil();
  std::unique_lock holding(held, std::defer_lock);
  if (at_end) holding.lock();
  CHECK(posset_eval(context, posset_text_of(source), &value, nullptr) == POSSET_OK);
  posset_release(value);
  if (at_end) holding.unlock();
  posset_runtime_settle(runtime);
  posset_context_release(context);
  posset_runtime_release(runtime);
}

Look look(const char* name, int stage) {
  std::lock_guard lock(mutex);
  const auto found = looks.find({name, stage});
  REQUIRE_MESSAGE(found != looks.end(), name);
  CHECK(found->second.valid);
  return found->second;
}

}  // namespace

TEST_CASE("translate: a counted loop over ints leaves nothing to exec in stage 2 and can be entered at its head") {
  run("fn counted(n) {\n  var t = 0\n  for i in 0..n { t += i }\n  t\n}\nfor k in 0..60 { counted(k) }");
  const Look made = look("counted", 2);
  CHECK(made.heads == 1);
  CHECK(made.execs() == 0);
  CHECK(made.exits > made.entry_exits);
  CHECK(made.entry_exits == 2);  // at the beginning and at the head
  CHECK(made.deepest_exit == 0);
  CHECK(made.calls_helper("poll"));
  const Look quick = look("counted", 1);
  CHECK(quick.heads == 1);
  CHECK(quick.execs() == 0);
  CHECK(quick.calls_helper("newer"));  // the loop goes over to stage 2 while it runs
  CHECK_FALSE(made.calls_helper("newer"));
}

TEST_CASE("translate: nested loops can be entered at each of their heads") {
  run("fn nested(n) {\n  var t = 0\n  for i in 0..n { for j in 0..3 { t += i * j } }\n  while t > 100 { t -= 7 }\n  t\n}\nfor k in 0..60 { nested(k) }");
  CHECK(look("nested", 2).heads == 7);
  CHECK(look("nested", 1).heads == 7);
  CHECK(look("nested", 2).entry_exits == 4);
}

TEST_CASE("translate: a callee that is inlined is not called, and is left with both frames") {
  run("fn inner(x) => x * 2 + 1\nfn outer(n) {\n  var t = 0\n  for i in 0..n { t += inner(i) }\n  t\n}\nfor k in 0..60 { outer(k) }");
  const Look made = look("outer", 2);
  CHECK(made.inlined == 1);
  CHECK(made.deepest_exit == 1);
  CHECK_FALSE(made.calls_helper("call"));
  CHECK(look("outer", 1).inlined == 0);
  CHECK(look("outer", 1).calls_helper("call"));
}

TEST_CASE("translate: callees within callees are left with every frame") {
  run("fn a3(x) => x + 1\nfn a2(x) => a3(x) * 2\nfn a1(x) => a2(x) - 3\nfn a0(n) {\n  var t = 0\n  for i in 0..n { t += a1(i) }\n  t\n}\nfor k in 0..60 { a0(k) }");
  CHECK(look("a0", 2).inlined == 3);
  CHECK(look("a0", 2).deepest_exit == 3);
}

TEST_CASE("translate: what only calls what is inlined, too, is charged for all steps at once") {
  run("fn a3(x) => x + 1\nfn a2(x) => a3(x) * 2\nfn a1(x) => a2(x) - a3(x)\nfn a0(n) => a1(n) + a1(n + 1)\n"
      "fn b3(x) => if x > 3 { x } else { 1 }\nfn b2(x) => b3(x) * 2\nfn b0(n) => b2(n)\n"
      "for k in 0..60 { a0(k); b0(k) }");
  CHECK(look("a0", 2).inlined == 8);
  CHECK(look("a0", 2).calls["poll"] == 2);
  CHECK(look("b0", 2).inlined == 2);
  CHECK(look("b0", 2).calls["poll"] == 2);  // one way or the other
}

TEST_CASE("translate: into a function that calls itself no long function with a loop is inlined, and then not the function itself") {
  const std::string longer = "fn spread(n) {\n  var t = 0\n  for i in 0..n {\n    if i % 3 == 0 { t += i * 2 } else { t -= i }\n    if t > 100 { t = t // 2 + i }\n  }\n"
                             "  for i in 0..n { if t % 5 > i { t -= i } }\n  if t < 0 { t = 0 - t }\n  t % 1000\n}\n";
  const std::string shorter = "fn spread(n) {\n  var t = 0\n  for i in 0..n { t += i }\n  t\n}\n";
  const std::string twice = "fn twice(n) => if n < 2 { n } else { twice(n - 1) + twice(n - 2) + spread(n) }\n";
  const std::string round = "fn round(n) {\n  var t = 0\n  for k in 0..n { t += spread(k) }\n  t\n}\n";
  run((longer + twice + "twice(14)").c_str());
  CHECK(look("twice", 2).inlined == 2);  // where it calls itself what it does without calling
  run((shorter + twice + "twice(14)").c_str());
  CHECK(look("twice", 2).inlined > 2);
  run((longer + round + "for k in 0..60 { round(k) }").c_str());
  CHECK(look("round", 2).inlined == 1);
}

TEST_CASE("translate: a loop over a packed list runs in strips") {
  run("fn summed(xs) {\n  var t = 0\n  for i in 0..len(xs) { t += xs[i] }\n  t\n}\nlet xs = [for i in 0..40 => i]\nfor k in 0..60 { summed(xs) }");
  CHECK(look("summed", 2).blocks.contains("strip"));
  CHECK(look("summed", 2).execs() == 0);
  CHECK_FALSE(look("summed", 1).blocks.contains("strip"));
}

TEST_CASE("translate: a loop whose few rounds the program tells runs in no strip") {
  run("fn few(xs) {\n  var t = 0\n  for i in 1..=7 { t += xs[i] }\n  t\n}\nfn more(xs) {\n  var t = 0\n  for i in 1..9 { t += xs[i] }\n  t\n}\n"
      "fn unknown(xs, n) {\n  var t = 0\n  for i in 1..n { t += xs[i] }\n  t\n}\n"
      "let xs = [for i in 0..40 => i]\nfor k in 0..60 { few(xs); more(xs); unknown(xs, 5) }");
  CHECK_FALSE(look("few", 2).blocks.contains("strip"));
  CHECK(look("more", 2).blocks.contains("strip"));
  CHECK(look("unknown", 2).blocks.contains("strip"));
}

TEST_CASE("translate: lists within a list are looked into and changed in strips") {
  run("fn relaxed(inout d, i, k) {\n  for j in 0..len(d[k]) {\n    let c = d[i][k] + d[k][j]\n    if c < d[i][j] { d[i][j] = c }\n  }\n}\n"
      "fn added(inout c, a, b, i, k) {\n  for j in 0..len(b) { c[i][j] += a[i][k] * b[k][j] }\n}\n"
      "fn turned(inout d, i, k) {\n  for j in 0..len(d) {\n    d[i][j] += 1\n    swap(&d, i, k)\n  }\n}\n"
      "var d = [for i in 0..30 => [for j in 0..30 => (i * 7 + j * 5) % 31]]\nvar c = d\nvar e = d\n"
      "for r in 0..60 { relaxed(&d, r % 30, (r + 1) % 30); added(&c, d, d, r % 30, 3); turned(&e, r % 30, 4) }");
  CHECK(look("relaxed", 2).blocks.contains("within"));
  CHECK(look("relaxed", 2).blocks.contains("strip"));
  CHECK(look("added", 2).blocks.contains("within"));
  CHECK_FALSE(look("turned", 2).blocks.contains("within"));
  CHECK(look("relaxed", 2).execs() == 0);
}

TEST_CASE("translate: a strip is left for a block that does what it cannot") {
  run("fn walk(n, xs) => if n == 0 { len(xs) } else { walk(n - 1, xs) }\n"
      "fn rare(xs, m) {\n  var t = 0\n  for i in 0..len(xs) {\n    if xs[i] % m != 0 { continue }\n    t += walk(2, xs)\n  }\n  t\n}\n"
      "fn often(xs) {\n  var t = 0\n  for i in 0..len(xs) {\n    t += walk(2, xs) + xs[i]\n  }\n  t\n}\n"
      "let xs = [for i in 0..40 => i]\nfor k in 0..60 { rare(xs, 9); often(xs) }");
  CHECK(look("rare", 2).blocks.contains("strip"));
  CHECK_FALSE(look("often", 2).blocks.contains("strip"));
}

TEST_CASE("translate: a packed list made of the items of another is made in strips") {
  run("fn mapped(xs) => xs.map(x => x * 3)\nfn kept(xs) => [for x in xs if x > 5 => x]\nfn folded(xs) => xs.fold(0, (a, x) => max(a, x))\n"
      "let xs = [for i in 0..40 => i]\nfor k in 0..60 { mapped(xs); kept(xs); folded(xs) }");
  CHECK(look("mapped", 2).blocks.contains("strip"));
  CHECK(look("kept", 2).blocks.contains("strip"));
  CHECK_FALSE(look("mapped", 1).blocks.contains("strip"));
}

TEST_CASE("translate: a loop over lists some of which are empty is one over their items, and nothing is left to exec") {
  // An empty list that nothing was ever pushed to has another packing than what the others became.
  run("fn summed(xs) {\n  var t = 0\n  for x in xs { t += x }\n  t\n}\n"
      "let rows = [[], [1, 2, 3], [], [4, 5], []]\nfor k in 0..300 { summed(rows[k % 5]) }");
  CHECK(look("summed", 2).execs() == 0);
  CHECK(look("summed", 1).execs() == 0);
}

TEST_CASE("translate: a loop over lists of several kinds is done in place, and exec does only what is no list") {
  run("fn count(xs) {\n  var n = 0\n  for _ in xs { n += 1 }\n  n\n}\n"
      "let rows = [[1, 2, 3], [1.5, 2.5], [nil, \"text\"], \"text\"]\nfor k in 0..300 { count(rows[k % 4]) }");
  CHECK(look("count", 2).blocks.contains("list"));
  CHECK(look("count", 2).calls_helper("exec_ForNext"));
}

TEST_CASE("translate: a let that is read in a loop is read without a way back from exec, and gives its view no place") {
  run("let table = [[1, 2], [3, 4], [5]]\n"
      "fn summed(n) {\n  var t = 0\n  for i in 0..n {\n    let row = table[i % 3]\n    t += row[0] + len(row)\n  }\n  t\n}\n"
      "for k in 0..60 { summed(9) }");
  CHECK(look("summed", 2).execs() == 0);
}

TEST_CASE("translate: a function that is the same in all rounds is asked for once") {
  run("fn composed(f, g) => x => g(f(x))\nlet h = composed(x => x + 1, x => x * 2)\n"
      "fn folded(xs) => xs.fold(0, (a, x) => max(a, x))\nfn mapped(xs, f) => xs.map(f)\n"
      "fn changing(xs, fs) {\n  var t = 0\n  for i in 0..len(xs) {\n    let f = fs[i % 2]\n    t += f(xs[i])\n  }\n  t\n}\n"
      "let xs = [for i in 0..40 => i]\nlet f = x => x + 3\nfor k in 0..60 { folded(xs); mapped(xs, h); changing(xs, [f, f]) }");
  CHECK(look("folded", 2).blocks.contains("strip"));
  CHECK(look("mapped", 2).blocks.contains("strip"));
  CHECK(look("mapped", 2).inlined == 3);
  CHECK(look("mapped", 2).functions_asked_for == 6);  // three in front of the strip, three in a round that is none
  CHECK(look("changing", 2).functions_asked_for == 1);  // it is no strip
}

TEST_CASE("translate: a built-in that is a value is done in place, and asked for once where it is the same in all rounds") {
  run("fn most(xs) => xs.fold(0, max)\nfn sized(xs) => xs.map(abs)\nfn given(xs, f) => xs.map(f)\n"
      "fn total(xs) {\n  let f = sqrt\n  var t = 0.0\n  for x in xs { t += f(x) }\n  t\n}\n"
      "fn either(xs, f) => len(xs.map(f))\nfn texts(xs) => xs.map(str)\n"
      "let xs = [for i in 0..40 => i]\nlet ys = [for i in 0..40 => i * 0.5]\n"
      "for k in 0..60 { most(xs); sized(xs); given(ys, sqrt); total(ys); either(xs, if k % 2 == 0 { abs } else { x => x }); texts(xs) }");
  for (const char* name : {"most", "sized", "given", "total"}) {
    CHECK(look(name, 2).blocks.contains("strip"));
    CHECK_FALSE(look(name, 2).calls_helper("call"));
  }
  CHECK(look("either", 2).calls_helper("call"));
  CHECK(look("texts", 2).calls_helper("call"));
}

TEST_CASE("translate: numbers are rounded and clamped in place") {
  run("fn rounded(x, y) => round(x) + ceil(x) + ceil(y) + round(y)\nfn held(x, y) => clamp(x, 0.0, 1.0) + clamp(y, 0, 1)\n"
      "fn mixed(x) => clamp(x, 0, 1)\nfor k in 0..60 { rounded(k * 0.3, k); held(k * 0.3, k); mixed(k * 0.3) }");
  for (int stage : {1, 2}) {
    CHECK(look("rounded", stage).execs() == 0);
    CHECK(look("held", stage).execs() == 0);
    CHECK(look("mixed", stage).execs() == 1);
  }
}

TEST_CASE("translate: types are compared, assertions made and ends of lists read without a call") {
  run("fn counted(xs) {\n  var n = 0\n  for x in xs { if type(x) == \"int\" { n += 1 } }\n  n\n}\n"
      "fn checked(xs) {\n  var n = 0\n  for x in xs {\n    assert(x >= 0, \"negative\")\n    n += x\n  }\n  n\n}\n"
      "fn ends(xs) => first(xs) + last(xs)\n"
      "let xs = [for i in 0..40 => i]\nlet some = [1, \"a\", nil, [2], 2.5, x => x]\nfor k in 0..60 { counted(some); checked(xs); ends(xs) }");
  for (int stage : {1, 2}) {
    for (const char* name : {"counted", "checked", "ends"}) CHECK_FALSE(look(name, stage).calls_helper("exec_CallNative"));
  }
  CHECK(look("checked", 2).blocks.contains("strip"));
}

TEST_CASE("translate: the length of a map is read in place") {
  run("fn sized(m) {\n  var t = 0\n  for i in 0..9 { t += len(m) }\n  t\n}\nlet m = [\"a\": 1, \"b\": 2]\nfor k in 0..60 { sized(m) }");
  CHECK(look("sized", 2).blocks.contains("map"));
  CHECK(look("sized", 1).blocks.contains("map"));
}

TEST_CASE("translate: a sum of floats that begins as an int leaves nothing to exec") {
  run("fn total(xs) {\n  var t = 0\n  for i in 0..len(xs) { t += xs[i] * 0.5 }\n  t\n}\n"
      "let xs = [for i in 0..40 => i * 0.5]\nfor k in 0..60 { total(xs) }");
  CHECK(look("total", 2).execs() == 0);
  CHECK(look("total", 2).blocks.contains("strip"));
}

TEST_CASE("translate: floats are compared with ints of the program in place") {
  run("fn sorts(x) => if x < 0 { 1 } else if x == 5 { 2 } else { 3 }\nfn until(x) {\n  var v = x\n  while v > 1 { v = v / 2 }\n  v\n}\n"
      "fn exactly(x) => x < 9007199254740993\nfor k in 0..60 { sorts(k * 0.5 - 3); until(k * 0.5); exactly(k * 0.5) }");
  CHECK(look("sorts", 2).execs() == 0);
  CHECK(look("until", 2).execs() == 0);
  CHECK(look("exactly", 2).execs() == 1);  // no float is that
}

TEST_CASE("translate: an item that is kept or not is put down in any case") {
  run("fn kept(xs, n) => [for x in xs if x > n => x]\nfn texts(xs, n) => [for x in xs if x > n => str(x)]\n"
      "let xs = [for i in 0..40 => i]\nfor k in 0..60 { kept(xs, k); texts(xs, k) }");
  CHECK(look("kept", 2).choices == 1);
  CHECK(look("texts", 2).choices == 0);
}

TEST_CASE("translate: a function that calls itself is a function of its own with native arguments") {
  run("fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\nfor k in 0..12 { fib(k) }", 0, 1);
  CHECK(look("fib", 2).functions == 2);
  CHECK(look("fib", 1).functions == 1);
}

TEST_CASE("translate: calls that a function makes of itself by the helper, and its polls, are once in its code") {
  run("fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\nfor k in 0..12 { fib(k) }", 0, 1);
  const Look it = look("fib", 2);
  CHECK(it.inlined > 2);
  CHECK(it.calls.at("call") == 1);
  CHECK(it.calls.at("poll") == 1);
}

TEST_CASE("translate: a recursion that leaves fork records is a function of its own") {
  run("fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\nfn linear(n) => if n == 0 { 0 } else { linear(n - 1) + 1 }\n"
      "fn looping(n) {\n  var t = 0\n  for i in 0..n { t += looping(i) + looping(i - 1) }\n  t\n}\n"
      "fn between(n) => if n < 1 { 1 } else { sum([for i in 0..2 => between(n - 2)]) + between(n - 1) }\n"
      "fn tail(x, y, z) => if y >= x { z } else { tail(tail(x - 1, y, z), tail(y - 1, z, x), tail(z - 1, x, y)) }\n"
      "for k in 0..12 { fib(k); linear(k); looping(k); between(k); tail(k, 4, 2) }", 0, 2);
  CHECK(look("fib", 2).functions == 3);
  CHECK(look("fib", 1).functions == 1);
  CHECK(look("linear", 2).functions == 2);
  CHECK(look("looping", 2).functions == 3);
  CHECK(look("tail", 2).functions == 3);
  CHECK(look("between", 2).functions == 2);  // which may be entered where it has left a record
}

TEST_CASE("translate: a function that meets ints and floats has a version for each") {
  run("fn dot(a, b) {\n  var t = a[0] * 0\n  for i in 0..len(a) { t += a[i] * b[i] }\n  t\n}\n"
      "let m = [1, 2, 3]\nlet x = [0.5, 1.5]\nfor k in 0..60 { dot(m, m); dot(x, x) }");
  CHECK(look("dot", 2).functions == 2);
  CHECK(look("dot", 2).blocks.contains("strip"));
  CHECK(look("dot", 2).execs() == 0);
  CHECK(look("dot", 1).functions == 1);
  // Each calls itself by kind.
  run("fn power(x, n) => if n == 0 { 1 } else { x * power(x, n - 1) }\nfor k in 0..60 { power(3, 4); power(0.5, 4) }");
  CHECK(look("power", 2).functions == 4);
}

TEST_CASE("translate: a function that meets more kinds than are told apart has one version") {
  run("fn first(a, b) {\n  var t = 0\n  for i in 0..len(a) { t += a[i] }\n  t\n}\n"
      "let m = [1, 2, 3]\nlet x = [0.5]\nlet any = [1, 0.5]\n"
      "for k in 0..60 { first(m, 0); first(x, 0); first(any, 0); first(m, 0.5) }");
  CHECK(look("first", 2).functions == 1);
  // Records and nil are not.
  run("fn depth(t) => if t == nil { 0 } else { 1 + depth(t.next) }\nlet t = {next: {next: nil}}\nfor k in 0..60 { depth(t) }");
  CHECK(look("depth", 2).functions == 2);
}

TEST_CASE("translate: a function that calls itself with what may be anything has one version") {
  run("fn last(x, xs) => if len(xs) < 2 { x } else { last(xs[0], [0.5]) * 2 }\n"
      "for k in 0..60 { last(1, [1, 0.5]); last(0.5, [0.5, 1]) }");
  CHECK(look("last", 2).functions == 2);
}

TEST_CASE("translate: what has several versions is called where it is not known which, and inlined where it is") {
  run("fn dot2(a) {\n  var t = 0\n  for i in 0..len(a) { t += a[i] * 2 }\n  t\n}\n"
      "fn unknown(xs) {\n  var t = 0\n  for i in 0..len(xs) { t += dot2(xs[i]) }\n  t\n}\n"
      "fn known(n) {\n  let a = [for i in 0..3 => i]\n  dot2(a) + n\n}\n"
      "let xs = [[1, 2], [0.5, 1.5]]\nfor k in 0..60 { unknown(xs); known(k) }");
  CHECK(look("dot2", 2).functions == 2);
  CHECK(look("unknown", 2).inlined == 0);
  CHECK(look("known", 2).inlined == 1);
}

TEST_CASE("translate: a function of numbers that is too large to be inlined is called with arguments by kind") {
  std::string large = "(x, k) {\n  var r = x\n";
  for (int i = 0; i < 40; ++i) large += "  r = r * 1.5 + k\n";
  large += "  r\n}\n";
  run(("fn large" + large + "fn outer(n) => large(n * 0.5, n) + 1\nfn other(m) => large(m[\"x\"], 2)\n"
       "for k in 0..60 { outer(k); other([\"x\": 0.5]) }").c_str());
  CHECK(look("large", 2).functions == 2);
  CHECK(look("outer", 2).inlined == 0);
  CHECK(look("outer", 2).blocks.contains("by_frame"));
  CHECK_FALSE(look("outer", 1).blocks.contains("by_frame"));
  CHECK_FALSE(look("other", 2).blocks.contains("by_frame"));  // the item may be anything
}

TEST_CASE("translate: what has never run is a way out, and no code") {
  run("fn rare(x) {\n  if x > 1000 { return [x, str(x), {a: x}] }\n  x + 1\n}\nfor k in 0..60 { rare(k) }");
  CHECK(look("rare", 2).new_exits == 1);
  CHECK(look("rare", 2).execs() == 0);
  CHECK(look("rare", 1).new_exits == 1);
  CHECK(look("rare", 1).execs() == 0);
}

TEST_CASE("translate: what is first met while code waits to be made is no way out of it") {
  const char* source =
      "fn late_loop(n) {\n  var t = 0\n  for i in 0..n { if i > 3000 { t += len(str(i)) } else { t += 1 } }\n  t\n}\n"
      "fn late_call(i) => if i > 3000 { len(str(i)) } else { 1 }\n"
      "late_loop(100000)\nvar t = 0\nfor i in 0..100000 { t += late_call(i) }";
  run(source, 0, 0, true);
  CHECK(look("late_call", 2).new_exits == 0);
  CHECK(look("late_loop", 2).new_exits == 0);
}

TEST_CASE("translate: stage 1 is for the types seen, and leaves the shapes of loops to stage 2") {
  run("fn summed(xs) {\n  var t = 0.5\n  for x in xs { t += x }\n  t\n}\nlet xs = [0.5, 1.5]\nfor k in 0..60 { summed(xs) }");
  CHECK(look("summed", 1).execs() == 0);
  CHECK(look("summed", 1).heads == 1);
  for (const char* shaped : {"before", "strip", "guard"}) CHECK_FALSE(look("summed", 1).blocks.contains(shaped));
  CHECK(look("summed", 2).blocks.contains("before"));
}

TEST_CASE("translate: under exit stress every way out has a guard that may be forced, and else none has") {
  const char* source = "fn inner(x) => x * 2 + 1\nfn forced(n) {\n  var t = 0\n  for i in 0..n { t += inner(i) }\n  t\n}\nfor k in 0..60 { forced(k) }";
  run(source);
  const Look plain = look("forced", 2);
  CHECK(plain.guards_that_may_be_forced == 0);
  run(source, 3);
  const Look stressed = look("forced", 2);
  CHECK(stressed.exits == plain.exits);
  CHECK(stressed.guards_that_may_be_forced >= stressed.exits - stressed.entry_exits);
}

TEST_CASE("translate: what is lent for a moment is neither taken out nor counted") {
  run("fn lent(inout xs, i) {\n  with p = &xs[i] {\n    p.a += 1\n    if p.a > 5 { p.b += p.a }\n  }\n}\n"
      "fn within(inout xs, i) {\n  with p = &xs[i] { with q = &p.at { q[0] += 1 } }\n}\n"
      "fn looked(inout xs, n) {\n  var t = 0\n  for i in 0..n {\n    let {a, b} = xs[i]\n    let q = xs[i]\n    t += a * b + q.a\n  }\n  t\n}\n"
      "var xs = [for i in 0..4 => {a: i, b: 0, at: [0, 0]}]\n"
      "for k in 0..80 {\n  lent(&xs, k % 4)\n  within(&xs, k % 4)\n  looked(&xs, 4)\n}");
  for (const char* name : {"lent", "within", "looked"}) {
    CHECK_MESSAGE(!look(name, 2).blocks.contains("count"), std::string(name));  // where something is released
    CHECK_MESSAGE(look(name, 2).execs() == 0, std::string(name));
  }
}

TEST_CASE("translate: what a function only reads is lent where it calls itself, and released where it is entered") {
  run("fn total(xs, first, end) {\n  if end - first == 1 { return xs[first] }\n  let middle = (first + end) // 2\n"
      "  total(xs, first, middle) + total(xs, middle, end)\n}\n"
      "fn handed_on(xs, n) => if n == 0 { len(xs) } else { handed_on(xs, n - 1) + 1 }\n"
      "fn moved(xs, n) => if n == 0 { len(xs) } else { moved(sort(xs), n - 1) + 1 }\n"
      "fn read_before(xs, n) => if n == 0 { 0 } else { xs[0] + read_before([n, n], n - 1) }\n"
      "for k in 0..60 {\n  total([1, 2, 3], 0, 3)\n  handed_on([k], 3)\n  moved([k, 1], 3)\n  read_before([k, 1], 3)\n}", 0, 1);
  CHECK(look("total", 2).releases == 1);
  CHECK(look("handed_on", 2).releases == 1);
  // What would be unique there is not kept by the caller, and what would be gone does not live on.
  CHECK(look("moved", 2).releases > 1);
  CHECK(look("read_before", 2).releases > 1);
}

TEST_CASE("translate: a record of numbers is an object only where one is asked for") {
  run("fn vec(x, y) => {x: x, y: y}\nfn plus(a, b) => vec(a.x + b.x, a.y + b.y)\n"
      "fn within(n) {\n  var p = vec(0.0, 0.0)\n  for i in 0..n { p = plus(p, vec(1.0, i * 0.5)) }\n  p.x * p.y\n}\n"
      "fn given(n) {\n  var p = vec(0.0, 0.0)\n  for i in 0..n { p = plus(p, vec(1.0, 2.0)) }\n  p\n}\n"
      "fn kept(n) {\n  var all = []\n  for i in 0..n { all.push(vec(i, 0.5)) }\n  all\n}\n"
      "fn texts(n) {\n  var p = vec(\"a\", 0.0)\n  for i in 0..n { p = vec(p.x, 2.0) }\n  p.y\n}\n"
      "for k in 0..60 { within(k); given(k); kept(3); texts(4) }");
  CHECK(look("within", 2).boxings == 0);
  CHECK_FALSE(look("within", 2).blocks.contains("found"));  // a free cell
  CHECK(look("within", 2).execs() == 0);
  CHECK(look("given", 2).boxings == 1);
  CHECK(look("kept", 2).boxings == 1);
  CHECK(look("texts", 2).boxings == 0);
  CHECK(look("texts", 2).blocks.contains("found"));
  CHECK(look("within", 1).calls_helper("call"));
}

TEST_CASE("translate: a short list of numbers is an object only where one is asked for") {
  run("fn divided(a, b) => [a // b, a % b]\nfn apart(n) {\n  var t = 0\n  for i in 1..n {\n    let [q, r] = divided(n, i)\n    t += q - r\n  }\n  t\n}\n"
      "fn read(n) {\n  var p = [0.5, 1.5]\n  for i in 0..n { p = [p[1] + i, p[0] * 0.5] }\n  p[0] + len(p)\n}\n"
      "fn walked(n) {\n  var t = 0\n  for i in 0..n { for x in divided(n, i + 1) { t += x } }\n  t\n}\n"
      "fn long(n) {\n  let p = [n, 1, 2, 3, 4, 5, 6, 7, 8]\n  p[0]\n}\nfor k in 0..60 { apart(k); read(k); walked(4); long(k) }");
  for (const char* name : {"apart", "read"}) {
    CHECK_MESSAGE(look(name, 2).boxings <= 1, std::string(name));  // for what raises when a list is too short
    CHECK_MESSAGE(look(name, 2).execs() == 0, std::string(name));
  }
  CHECK(look("read", 2).boxings == 0);
  CHECK(look("walked", 2).boxings == 1);
  CHECK(look("long", 2).boxings == 0);
  CHECK(look("long", 2).blocks.contains("found"));
}

TEST_CASE("translate: what is in a ref is read and replaced in place") {
  run("fn number(r, n) {\n  for i in 0..n {\n    r.value += i\n    r.value = r.value % 7\n  }\n  r.value\n}\n"
      "fn parts(xs, p, n) {\n  for i in 0..n {\n    xs.value[i % 2] += i\n    p.value.x = i\n  }\n}\n"
      "let r = ref(0)\nlet xs = ref([1, 2])\nlet p = ref({x: 0})\nfor k in 0..60 { number(r, 9); parts(xs, p, 9) }");
  for (const std::string name : {"number", "parts"}) {
    for (int stage : {1, 2}) CHECK_MESSAGE(look(name.c_str(), stage).execs() == 0, (name + std::to_string(stage)));
  }
}

TEST_CASE("translate: what is handed on in a loop becomes an object once") {
  std::string large = "fn large(p, i) {\n  var t = p.x\n";
  for (int i = 0; i < 40; ++i) large += "  t += i * " + std::to_string(i) + ".5\n";
  large += "  t\n}\n";
  run((large + "fn outer(n) {\n  let p = {x: n, y: 0.5}\n  var t = 0.0\n  for i in 0..n { t += large(p, i) }\n  t\n}\nfor k in 0..60 { outer(k) }").c_str());
  CHECK(look("outer", 2).inlined == 0);
  CHECK(look("outer", 2).boxings == 1);
}

TEST_CASE("translate: nothing is lent over a call, a loop or a change of what it stands in") {
  run("fn other(x) => [x]\n"
      "fn calls(inout xs, i) {\n  with p = &xs[i] { p.a += len(str(other(p.b))) }\n}\n"
      "fn loops(inout xs, i) {\n  with p = &xs[i] { for k in 0..3 { p.a += k } }\n}\n"
      "fn changes(inout xs, i) {\n  let q = xs[i]\n  xs[i].a += 1\n  q.a\n}\n"
      "var xs = [for i in 0..4 => {a: i, b: 0}]\n"
      "for k in 0..80 {\n  calls(&xs, k % 4)\n  loops(&xs, k % 4)\n  changes(&xs, k % 4)\n}");
  for (const char* name : {"calls", "loops", "changes"}) {
    CHECK_MESSAGE(look(name, 2).blocks.contains("count"), std::string(name));
  }
}
