// Which versions of a function the optimising stage makes: one for each of the few signatures it has been called with,
// where these differ in numbers or in what lists are packed with, so that what is computed from an argument is of a known
// kind in each. All are in one piece of code; the entry asks one after the other (translator.cpp).
#pragma once

#include <memory>
#include <vector>

#include "jit/kinds.h"

namespace posset::jit {

// By version and parameter what the chunk is worth telling apart; None: nothing. Fewer than two: one is enough.
std::vector<std::vector<Kind>> kinds_of_versions(const bytecode::Chunk& chunk);

struct Version {
  std::unique_ptr<const Kinds> kinds;
  // Of the function beside it that leaves fork records (translate_forks.cpp); null: there is none.
  std::unique_ptr<const Kinds> forking;
};

// In the order in which they were met; one at least.
std::vector<Version> versions_of(const bytecode::Chunk& chunk, int stage, const Bodies& bodies);

}  // namespace posset::jit
