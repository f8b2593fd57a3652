// The composition root: the runtime that most hosts want, with all tiers and the whole standard
// library. It is the only place that names them all, and sees nothing but the public API; a host
// that wants less writes its own ten lines of this kind.
#include <iterator>

#include <posset/attach.h>
#include <posset/posset.h>

#include "stdlib/modules.h"

namespace {

using Register = posset_status (*)(posset_runtime*);

constexpr Register kModules[] = {
    posset_register_math, posset_register_strings, posset_register_lists,   posset_register_maps,
    posset_register_json, posset_register_re,      posset_register_rand,    posset_register_time,
    posset_register_io,   posset_register_os,      posset_register_runtime,
};

// A build may have no native tiers.
posset_status attach_tiers(posset_runtime* runtime) {
  const void* const tiers[] = {posset_bytecode_tier(), posset_native_tier(2), posset_native_tier(3)};
  for (const void* tier : tiers) {
    if (!tier) continue;
    const posset_status status = posset_attach_tier(runtime, tier);
    if (status != POSSET_OK) return status;
  }
  return POSSET_OK;
}

}  // namespace

extern "C" posset_status posset_default_runtime(const posset_runtime_options* options,
                                                posset_runtime** out) {
  if (!out) return POSSET_MISUSE;
  posset_runtime* runtime = nullptr;
  posset_status status = posset_runtime_create(options, &runtime);
  if (status != POSSET_OK) return status;
  status = attach_tiers(runtime);
  for (size_t i = 0; status == POSSET_OK && i < std::size(kModules); ++i) status = kModules[i](runtime);
  if (status != POSSET_OK) {
    posset_runtime_release(runtime);
    return status;
  }
  *out = runtime;
  return POSSET_OK;
}
