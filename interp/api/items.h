// What the host says of values from other threads, as the interpreter takes it.
#pragma once

#include <optional>

#include <posset/value.h>

#include "interp/runtime/outside_item.h"

namespace posset::api {

// Copies a text. Empty: of a kind that belongs to a context, or a text that is not UTF-8.
inline std::optional<interp::OutsideItem> item_of(const posset_datum& datum) {
  using interp::OutsideItem;
  switch (datum.kind) {
    case POSSET_NIL: return OutsideItem();
    case POSSET_BOOL: return OutsideItem(datum.of.truth);
    case POSSET_INT: return OutsideItem(datum.of.integer);
    case POSSET_FLOAT: return OutsideItem(datum.of.number);
    case POSSET_STR: {
      const posset_text text = datum.of.text;
      if (!posset_is_utf8(text)) return std::nullopt;
      return OutsideItem(std::make_shared<const std::string>(text.data ? text.data : "", text.size));
    }
    default: return std::nullopt;
  }
}

}  // namespace posset::api
