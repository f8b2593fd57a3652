// See versions.h.
#include "jit/versions.h"

#include <algorithm>

#include "jit/access.h"
#include "jit/loans.h"

namespace posset::jit {

using bytecode::Chunk;
using interp::ArgumentKind;
using interp::Signature;

namespace {

// Instructions; each version takes as long to compile as the whole otherwise.
constexpr uint32_t kLargest = 400;

// None where nothing is to be gained: what is inside is looked at anyway.
Kind kind_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::Int: return Kind::Int;
    case ArgumentKind::Float: return Kind::Float;
    case ArgumentKind::Ints: return Kind::Ints;
    case ArgumentKind::Floats: return Kind::Floats;
    case ArgumentKind::Bools: return Kind::Bools;
    case ArgumentKind::Items: return Kind::Items;
    case ArgumentKind::None:
    case ArgumentKind::Other: break;
  }
  return Kind::None;
}

}  // namespace

// A parameter is told apart where it has always been something that can be; there must be one in which the signatures
// differ.
std::vector<std::vector<Kind>> kinds_of_versions(const Chunk& chunk) {
  if (chunk.is_loop || chunk.size > kLargest) return {};
  const std::vector<Signature> signatures = chunk.signatures.all();
  std::vector<std::vector<Kind>> versions(signatures.size(), std::vector<Kind>(chunk.outline.parameters, Kind::None));
  for (uint32_t n = 0; n < chunk.outline.parameters; ++n) {
    const bool always = std::all_of(signatures.begin(), signatures.end(),
                                    [&](Signature each) { return kind_of(each.kind(n)) != Kind::None; });
    for (size_t each = 0; each < signatures.size() && always; ++each) versions[each][n] = kind_of(signatures[each].kind(n));
  }
  std::vector<std::vector<Kind>> different;
  for (const std::vector<Kind>& each : versions) {
    if (std::find(different.begin(), different.end(), each) == different.end()) different.push_back(each);
  }
  return different;
}

namespace {

// What one gives to the other or takes from it is the same.
bool can_call_each_other(const Kinds& a, const Kinds& b) {
  for (uint32_t n = 0; n < a.chunk().outline.parameters; ++n) {
    if (is_unboxed(a.at_leader(0).kinds[n])) return false;
    if (a.at_leader(0).kinds[n] != b.at_leader(0).kinds[n] || a.pinned(n) != b.pinned(n)) return false;
  }
  return a.is_recursive() && b.is_recursive() && a.result_of_itself() == b.result_of_itself();
}

// The head of a loop that lies between a fork and where it is taken back may be entered with records left. What is lent comes back
// in the frame, which would have to be compared, too. And a second body takes as long to compile, which nothing but loops makes it.
std::unique_ptr<const Kinds> forking_for(const Kinds& kinds, int stage, const Bodies& bodies, const std::vector<Kind>& version) {
  const Chunk& chunk = kinds.chunk();
  if (stage == 1 || !kinds.is_recursive() || !leaves_forks(chunk) || keeps_forks_at_heads(chunk) || chunk.inout_mask != 0) {
    return nullptr;
  }
  if (kinds.has_loops() && chunk.size > kLargest) return nullptr;
  auto made = std::make_unique<const Kinds>(chunk, stage, bodies, version, Kinds::Itself::Called);
  if (!can_call_each_other(kinds, *made)) return nullptr;
  return made;
}

}  // namespace

std::vector<Version> versions_of(const Chunk& chunk, int stage, const Bodies& bodies) {
  std::vector<Version> made;
  auto make = [&](const std::vector<Kind>& version) {
    auto kinds = std::make_unique<const Kinds>(chunk, stage, bodies, version);
    auto forking = forking_for(*kinds, stage, bodies, version);
    const Kinds* const both[] = {kinds.get(), forking.get()};
    if (stage != 1) settle_loans_to_itself({both, forking ? size_t{2} : size_t{1}});
    made.push_back({std::move(kinds), std::move(forking)});
  };
  const auto wanted = stage == 1 ? std::vector<std::vector<Kind>>() : kinds_of_versions(chunk);
  for (size_t n = 0; n < wanted.size() && wanted.size() > 1; ++n) {
    make(wanted[n]);
    // It would be looked at with every call of itself which version to call, which costs more than it gains.
    if (made.back().kinds->is_unsure_of_itself()) {
      made.clear();
      break;
    }
  }
  if (made.empty()) make({});
  return made;
}

}  // namespace posset::jit
