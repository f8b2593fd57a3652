// What the native compiler's plugin asks of the core to keep its code between runs: the cache's files, and what code
// of another process refers to, found again by what it means. See NativeCache in native_plugin.h.
#include <exception>
#include <vector>

#include "interp/runtime/context.h"
#include "interp/runtime/native_plugin.h"

namespace posset::interp {

namespace {

// Memory that runs out is a miss like any other.
template <class Result, class Body>
Result or_else(Result otherwise, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception&) {
    return otherwise;
  }
}

bool find(RuntimeState& runtime, const Digest& key, const Digest& maker, NativeCache::Write write, void* sink,
          Reason& reason) noexcept {
  return or_else(false, [&] {
    std::string payload;
    if (!runtime.cache.find(key, maker, payload, reason)) return false;
    write(sink, payload.data(), payload.size());
    return true;
  });
}

Reason keep(RuntimeState& runtime, const Digest& key, const Digest& maker, std::string_view payload,
            CodeCache::Version version, bool replace) noexcept {
  return or_else(Reason::cache_unwritable,
                 [&] { return runtime.cache.keep(key, maker, payload, version, replace); });
}

Digest digest(std::string_view bytes) noexcept { return digest_of(bytes); }

const void* body(RuntimeState& runtime, const syntax::StructuralHash& hash, uint32_t& number) noexcept {
  return runtime.units.body_code(hash, number);
}

const Shape* record(RuntimeState& runtime, std::span<const std::string_view> fields) noexcept {
  return or_else(static_cast<const Shape*>(nullptr), [&] {
    std::vector<const Symbol*> names;
    for (std::string_view field : fields) names.push_back(runtime.shapes.symbol(field));
    return runtime.shapes.record(names);
  });
}

const Shape* variant(RuntimeState& runtime, std::string_view type, uint32_t ordinal) noexcept {
  return or_else(static_cast<const Shape*>(nullptr), [&] { return runtime.shapes.find_variant(type, ordinal); });
}

constexpr NativeCache kServices{find, keep, digest, body, record, variant};

}  // namespace

const NativeCache* native_cache(const RuntimeState& runtime) { return runtime.cache.is_on() ? &kServices : nullptr; }

}  // namespace posset::interp
