// What an annotation says of a value by its tag alone, which is all that most of them ask: the one table of what fits
// a type, read by the checks of all tiers.
#pragma once

#include <cstdint>

#include "interp/value/borrowed.h"

namespace posset::syntax {
enum class TypeKind : uint8_t;
struct TypeExpr;
}  // namespace posset::syntax

namespace posset::interp {

// Sets of tags, a bit each. Values of other tags fit in no case.
struct TypeTags {
  uint32_t fit = 0;   // all values of these tags fit
  uint32_t open = 0;  // of these, some do: whoever asks looks further (fits_type)

  static constexpr uint32_t bit(Tag tag) { return uint32_t{1} << static_cast<uint32_t>(tag); }
  bool fits(Borrowed v) const { return (fit & bit(v.tag())) != 0; }
  bool is_open(Borrowed v) const { return (open & bit(v.tag())) != 0; }
};

// What `type` gives a name by the tag alone; a variant has that of its declaration, and of what is the host's the host says one.
constexpr bool is_named_by_value(Tag tag) { return tag == Tag::Variant || tag == Tag::Host; }
constexpr TypeTags kNamedByTag{~(TypeTags::bit(Tag::Variant) | TypeTags::bit(Tag::Host)), 0};

TypeTags tags_of(syntax::TypeKind kind);
TypeTags tags_of(const syntax::TypeExpr& type);

}  // namespace posset::interp
