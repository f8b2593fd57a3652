// What functions have been called with, as native tiers are told.
#include "interp/runtime/signatures.h"

#include <doctest/doctest.h>

using posset::interp::ArgumentKind;
using posset::interp::Borrowed;
using posset::interp::Signature;
using posset::interp::Signatures;

namespace {

Signature of(std::initializer_list<Borrowed> arguments) {
  return Signature::of(arguments.begin(), static_cast<uint32_t>(arguments.size()));
}

}  // namespace

TEST_CASE("signatures: an argument is told by number, and what is neither number nor list is not") {
  const Signature met = of({Borrowed::integer(1), Borrowed::floating(0.5), Borrowed::nil(), Borrowed::integer(2)});
  CHECK(met.kind(0) == ArgumentKind::Int);
  CHECK(met.kind(1) == ArgumentKind::Float);
  CHECK(met.kind(2) == ArgumentKind::Other);
  CHECK(met.kind(3) == ArgumentKind::Int);
  CHECK(met.kind(4) == ArgumentKind::None);
  CHECK(met.kind(Signature::kMostParameters) == ArgumentKind::Other);
}

TEST_CASE("signatures: each is kept once, in the order in which they were met") {
  Signatures met;
  for (int round = 0; round < 3; ++round) {
    met.note(of({Borrowed::floating(1)}));
    met.note(of({Borrowed::integer(1)}));
    met.note(of({}));
  }
  REQUIRE(met.all().size() == 2);
  CHECK(met.all()[0].kind(0) == ArgumentKind::Float);
  CHECK(met.all()[1].kind(0) == ArgumentKind::Int);
}

TEST_CASE("signatures: of more than a few none is told, and that is kept, too") {
  Signatures met;
  const Borrowed values[] = {Borrowed::integer(1), Borrowed::floating(1)};
  for (int n = 0; n < 4; ++n) met.note(of({values[n & 1], values[n >> 1]}));
  CHECK(met.all().empty());
  Signatures again;
  again.add(met.words());
  CHECK(again.all().empty());
}
