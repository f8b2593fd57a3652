// Objects of the host whose owner or end would not be known do not compile as values; what is sound does.
// run_compile.py compiles each CASE by itself: a row `CASE N: ...` says what it is, and `rejects: TEXT` with what.
//
// SPDX-License-Identifier: MIT
#include <memory>
#include <vector>

#include <posset/posset.hpp>

struct Item {
  int weight = 1;
  Item* next = nullptr;
  Item& heavier(Item& other) { return other.weight > weight ? other : *this; }
};
struct Other {
  Item item;
  Item& inner() { return item; }
};

void use(posset::Context& context, posset::Runtime& runtime, posset::Completion& done) {
  (void)context, (void)runtime, (void)done;
  Item item;
  (void)item;
#if CASE == 1  // CASE 1: an evaluation to a pointer; rejects: a view into a value that is gone at once
  (void)context.eval<Item*>("1");
#elif CASE == 2  // CASE 2: a function that gives a pointer; rejects: a view into a result that is gone at once
  context.compile<Item*()>("() => nil")();
#elif CASE == 3  // CASE 3: a function that gives a reference; rejects: a script function gives no references
  context.compile<Item&()>("() => nil")();
#elif CASE == 4  // CASE 4: a shared pointer of a script's; rejects: take a posset::Handle
  (void)context.eval<std::shared_ptr<Item>>("1");
#elif CASE == 5  // CASE 5: a host function that gives a pointer; rejects: a pointer does not tell who owns the object
  context.define("f", [&] { return &item; });
#elif CASE == 6  // CASE 6: a host function that gives a reference; rejects: no conversion for this type
  context.define("f", [&]() -> Item& { return item; });
#elif CASE == 7  // CASE 7: a method that gives a part of its object; rejects: a method gives references to its own object only
  runtime.define(std::move(posset::Type<Other>("Other").method("inner", &Other::inner)));
#elif CASE == 8  // CASE 8: an argument that is const; rejects: pass one that is not const
  const Item fixed;
  context.compile<void(const Item&)>("x => x")(fixed);
#elif CASE == 9  // CASE 9: a property that is a pointer; rejects: a member that scripts store into would be a view
  runtime.define(std::move(posset::Type<Item>("Item").property("next", &Item::next)));
#elif CASE == 10  // CASE 10: an argument of a submitted call; rejects: no conversion for this type
  (void)context.submit_call(posset::SubmitOptions(), context.eval("x => x"), item);
#elif CASE == 11  // CASE 11: what completes a call; rejects: a pointer does not tell who owns the object
  done.complete(&item);
#elif CASE == 12  // CASE 12: what is sound is accepted
  runtime.define(std::move(posset::Type<Item>("Item").method("heavier", &Item::heavier)));
  const posset::Value kept = context.eval("[]");
  (void)kept.to<std::vector<Item*>>();
  (void)context.eval<std::vector<posset::Handle<Item>>>("[]");
  context.compile<posset::Handle<Item>(Item&, Item*)>("(a, b) => b")(item, &item);
  (void)kept(item, &item, kept);
  context.define("f", [](posset::Handle<Item> a, std::vector<Item*> all) { return all.empty() ? a : posset::Handle<Item>(); });
#endif
}
