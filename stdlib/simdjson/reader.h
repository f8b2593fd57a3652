// The interface between json.cpp and the shared object that holds simdjson. The object is opened at the first
// document, so that scripts without JSON do not pay for loading the library.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the reader calls while it walks a document, depth first. Each gives false to stop (an error is pending
// then). `key` belongs to the value that follows.
typedef struct posset_json_sink {
  void* data;
  bool (*null)(void* data);
  bool (*boolean)(void* data, bool value);
  bool (*integer)(void* data, int64_t value);
  bool (*number)(void* data, double value);
  bool (*string)(void* data, const char* text, size_t size);
  bool (*key)(void* data, const char* text, size_t size);
  bool (*begin)(void* data, bool is_object);
  bool (*end)(void* data);
} posset_json_sink;

#define POSSET_JSON_NO_MEMORY "no memory"
// Null: read to the end. Else what is wrong with the text (static), "" when the sink stopped, or POSSET_JSON_NO_MEMORY.
typedef const char* (*posset_json_reader)(const char* text, size_t size, const posset_json_sink* sink);

#ifdef __cplusplus
}
#endif
