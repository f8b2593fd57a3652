// Walks a document that simdjson has parsed. Depth is bounded by simdjson (1024), so recursion is safe. See
// reader.h.
#include "stdlib/simdjson/reader.h"

#include <simdjson.h>

#include <new>

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

bool walk(const element& value, const posset_json_sink& sink) {
  switch (value.type()) {
    case element_type::NULL_VALUE: return sink.null(sink.data);
    case element_type::BOOL: return sink.boolean(sink.data, bool(value));
    case element_type::INT64: return sink.integer(sink.data, int64_t(value));
    case element_type::UINT64: return sink.number(sink.data, static_cast<double>(uint64_t(value)));
    case element_type::DOUBLE: return sink.number(sink.data, double(value));
    case element_type::STRING: {
      std::string_view text = value;
      return sink.string(sink.data, text.data(), text.size());
    }
    case element_type::ARRAY:
      if (!sink.begin(sink.data, false)) return false;
      for (element item : simdjson::dom::array(value)) {
        if (!walk(item, sink)) return false;
      }
      return sink.end(sink.data);
    case element_type::OBJECT:
      if (!sink.begin(sink.data, true)) return false;
      for (auto field : simdjson::dom::object(value)) {
        if (!sink.key(sink.data, field.key.data(), field.key.size()) || !walk(field.value, sink)) return false;
      }
      return sink.end(sink.data);
  }
  return false;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* posset_json_read(const char* text, size_t size,
                                                                              const posset_json_sink* sink) try {
  simdjson::dom::parser parser;
  element root;
  simdjson::error_code problem = parser.parse(text, size, true).get(root);
  if (problem == simdjson::MEMALLOC) return POSSET_JSON_NO_MEMORY;
  if (problem) return simdjson::error_message(problem);
  return walk(root, *sink) ? nullptr : "";
} catch (const std::bad_alloc&) {
  return POSSET_JSON_NO_MEMORY;
}
