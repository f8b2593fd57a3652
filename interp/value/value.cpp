// The names of the kinds of value, from the table tags.def.
#include "interp/value/value.h"

namespace posset::interp {

const char* type_name(Tag tag) {
  static constexpr const char* kNames[] = {
#define TAG(Name, type, meaning) type,
#include "interp/value/tags.def"
#undef TAG
  };
  return kNames[static_cast<size_t>(tag)];
}

}  // namespace posset::interp
