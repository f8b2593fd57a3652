// See keep.h.
#include "jit/keep.h"

#include "interp/runtime/context.h"
#include "jit/entry.h"
#include "jit/fingerprint.h"
#include "jit/kept_profile.h"

namespace posset::jit {

using bytecode::Chunk;
using interp::CacheUse;
using interp::CodeCache;
using interp::Digest;
using interp::NativeRequest;
using interp::Reason;

namespace {

const Chunk& chunk_of(const NativeRequest& request) { return *static_cast<const Chunk*>(request.below); }

// What was kept did not fit what runs here.
bool is_made_anew(const NativeRequest& request) {
  return chunk_of(request).times_remade(request.level) > 0;
}

// Those that make other code of the same.
uint64_t options_of(const NativeRequest& request) {
  const interp::RuntimeOptions& options = request.runtime.options;
  const uint64_t forced = options.forced_tier >= request.level, stressed = options.exit_stress != 0;
  const uint64_t columns = chunk_of(request).wants_columns.load(std::memory_order_relaxed);
  return forced | stressed << 1 | uint64_t{options.native_passes} << 2 | columns << 32;
}

Digest key_of(const NativeRequest& request, const Digest& maker) {
  struct {
    syntax::StructuralHash unit;
    Digest maker;
    int32_t loop, level;
    uint64_t options;
  } const parts{request.function.hash, maker, request.loop, request.level,
                options_of(request)};
  static_assert(sizeof parts == 48, "no bytes between");
  return request.cache->digest({reinterpret_cast<const char*>(&parts), sizeof parts});
}

Digest maker_digest(const NativeRequest& request) { return request.cache->digest(maker()); }

bool is_on(const NativeRequest& request) { return request.cache && !maker().empty(); }

Digest fingerprint_of(const NativeRequest& request, const Chunk& chunk) {
  return request.cache->digest(fingerprint(chunk));
}

Entry::ShapeName name_of(const interp::Shape& shape) {
  Entry::ShapeName name;
  for (const interp::Symbol* field : shape.fields) name.fields.push_back(field->text);
  if (shape.is_variant()) name.type = shape.type->key;
  name.ordinal = shape.ordinal;
  return name;
}

std::vector<std::string> profiles_of(const NativeRequest& request, const Translation& translation) {
  std::vector<std::string> profiles(translation.bindings.parts().size());
  Bindings numbered;
  for (Bindings::Part part : translation.bindings.parts()) {
    if (part.unit == 0) request.cache->body(request.runtime, part.chunk->outline.hash, part.unit);
    numbered.add(part);
  }
  for (size_t n = 0; n < profiles.size(); ++n) profiles[n] = kept_profile(*numbered.parts()[n].chunk, numbered);
  return profiles;
}

Entry entry_of(const NativeRequest& request, const Translation& translation, const std::vector<std::string>& profiles,
               std::string_view object) {
  Entry entry;
  for (size_t n = 0; n < profiles.size(); ++n) {
    const Chunk& chunk = *translation.bindings.parts()[n].chunk;
    entry.parts.push_back({chunk.outline.hash, fingerprint_of(request, chunk), profiles[n]});
  }
  for (const interp::Shape* each : translation.bindings.shapes()) entry.shapes.push_back(name_of(*each));
  for (const Bindings::Part& each : translation.inlined) entry.inlined.push_back(translation.bindings.number_of(*each.chunk));
  entry.symbol = translation.symbol;
  entry.numbers = translation.numbers;
  entry.plain = translation.plain;
  entry.formula = translation.gives_floats;
  entry.columns = translation.columns;
  for (const Direct& each : translation.direct) entry.direct.push_back({each.symbol, each.kinds, each.registers, each.depth});
  entry.heads = translation.heads;
  entry.object = object;
  return entry;
}

// ---- what an entry means here ----

// Parts that are not here have no chunk. False: there are such.
bool bind_parts(const NativeRequest& request, const Entry& entry, Bindings& bindings) {
  bool all = true;
  for (const Entry::Part& each : entry.parts) {
    const bool own = bindings.parts().empty();
    Bindings::Part part{nullptr, 0};
    const void* found = request.cache->body(request.runtime, each.function, part.unit);
    const auto* chunk = own ? &chunk_of(request) : static_cast<const Chunk*>(found);
    const bool same = chunk && chunk->outline.hash == each.function && fingerprint_of(request, *chunk) == each.bytecode;
    if (same) part.chunk = chunk;
    all = all && same;
    bindings.add(part);
  }
  return all;
}

bool bind_shapes(const NativeRequest& request, const Entry& entry, Bindings& bindings) {
  for (const Entry::ShapeName& each : entry.shapes) {
    const interp::Shape* found = each.type.empty() ? request.cache->record(request.runtime, each.fields)
                                                   : request.cache->variant(request.runtime, each.type, each.ordinal);
    if (!found || found->fields.size() != each.fields.size()) return false;
    for (size_t n = 0; n < each.fields.size(); ++n) {
      if (found->fields[n]->text != each.fields[n]) return false;
    }
    bindings.add(*found);
  }
  return true;
}

std::unique_ptr<NativeCode> link_kept(Engine& engine, const NativeRequest& request, std::string_view payload,
                                      Reason& reason) {
  reason = Reason::cache_corrupt;
  const std::optional<Entry> entry = read_entry(payload);
  if (!entry) return nullptr;
  Bindings bindings;
  reason = Reason::cache_stale;
  if (!bind_parts(request, *entry, bindings) || !bind_shapes(request, *entry, bindings)) return nullptr;
  Problem problem;
  const std::vector<char> object(entry->object.begin(), entry->object.end());  // aligned as its reader wants it
  auto made = std::make_unique<NativeCode>();
  made->code = engine.link({object.data(), object.size()}, problem, &bindings);
  if (!made->code) return nullptr;
  void* begin = made->code->entry(entry->symbol);
  if (!begin) return nullptr;
  made->entrance = {begin, entry->heads};
  for (const Entry::Direct& each : entry->direct) made->add_direct(each.symbol, each.kinds, each.registers, each.depth);
  if (!entry->numbers.empty()) made->numbers = made->code->entry(entry->numbers);
  if (!entry->plain.empty()) made->plain = made->code->entry(entry->plain);
  if (entry->formula != 0) made->entrance.formula = made->plain;
  if (!entry->columns.empty()) made->columns = made->code->entry(entry->columns);
  made->for_columns = chunk_of(request).wants_columns.load(std::memory_order_relaxed);
  for (uint32_t number : entry->inlined) {
    const Bindings::Part& part = bindings.parts()[number];
    made->parts.push_back({part.unit, part.chunk});
  }
  reason = Reason::none;
  return made;
}

void append(void* sink, const char* text, size_t size) { static_cast<std::string*>(sink)->append(text, size); }

}  // namespace

std::unique_ptr<NativeCode> find_kept(Engine& engine, const NativeRequest& request, CacheUse& use) {
  if (!is_on(request) || is_made_anew(request)) return nullptr;
  const Digest made_by = maker_digest(request);
  std::string payload;
  if (!request.cache->find(request.runtime, key_of(request, made_by), made_by, append, &payload, use.not_used)) return nullptr;
  auto made = link_kept(engine, request, payload, use.not_used);
  use.hit = made != nullptr;
  return made;
}

void recall_profile(const NativeRequest& request) {
  if (!is_on(request) || !is_made_anew(request)) return;
  const Digest made_by = maker_digest(request);
  std::string payload;
  Reason reason = Reason::none;
  if (!request.cache->find(request.runtime, key_of(request, made_by), made_by, append, &payload, reason)) return;
  const std::optional<Entry> entry = read_entry(payload);
  if (!entry) return;
  Bindings bindings;
  bind_parts(request, *entry, bindings);
  for (size_t n = 0; n < entry->parts.size(); ++n) {
    const Chunk* chunk = bindings.parts()[n].chunk;
    if (chunk) add_profile(*chunk, entry->parts[n].profile, bindings);
  }
}

void keep(const NativeRequest& request, const Translation& translation, std::string_view object, CacheUse& use) {
  if (!is_on(request)) return;
  const Digest made_by = maker_digest(request);
  const std::vector<std::string> profiles = profiles_of(request, translation);
  const std::string payload = write_entry(entry_of(request, translation, profiles, object));
  const auto version = is_made_anew(request) ? CodeCache::Version::Anew : CodeCache::Version::First;
  const Reason reason = request.cache->keep(request.runtime, key_of(request, made_by), made_by, payload, version,
                                            use.not_used != Reason::none);
  if (reason != use.not_used) use.not_kept = reason;  // about the directory it has been said
}

}  // namespace posset::jit
