// Code kept between runs, seen from the compiler: what is looked for and kept under which key. The files are the
// core's (interp/runtime/code_cache.h), their payload is entry.h's.
//
// A key is taken of the unit's structural hash, which covers what it calls; of the loop and the tier; of the options
// that make other code, which includes whether the tier is forced, because code made before anything has run leaves
// most of it to exits; and of the maker (fingerprint.h). Nothing else enters the code, but for the profile: code is one
// possible version, and guards see to it that it does the same whatever it meets. A version that exits often is made
// anew in the end, from what was seen here and what the kept one was made from, and takes its place.
#pragma once

#include <memory>

#include "jit/code.h"
#include "jit/engine.h"
#include "jit/translate.h"

namespace posset::jit {

// Code that was kept, linked; without `functions`. Null: there is none to be used, `use` says why.
std::unique_ptr<NativeCode> find_kept(Engine& engine, const interp::NativeRequest& request, interp::CacheUse& use);

// Before code is made anew: adds the profile of what was kept to that of the chunk.
void recall_profile(const interp::NativeRequest& request);

// Keeps what was compiled; `use` says if that failed.
void keep(const interp::NativeRequest& request, const Translation& translation, std::string_view object,
          interp::CacheUse& use);

}  // namespace posset::jit
