// Tier 0: runs a resolved tree by walking it. It takes every construct of the language, so every
// other tier may refuse what it likes and leave it to this one.
#pragma once

#include "interp/runtime/tier.h"

namespace posset::interp {

// Level 0. There is nothing to compile: `enter` works from the closure's declaration, `code` is
// ignored.
const TierInterface& walker_tier();

}  // namespace posset::interp
