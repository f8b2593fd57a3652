// The interface between json_windows.cpp and the shared object that holds simdjson. The object is opened at the first
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

// What can be wrong with a document and is found without simdjson, where it is read in windows.
typedef enum posset_json_fault {
  POSSET_JSON_STRUCTURE,
  POSSET_JSON_DEPTH,
  POSSET_JSON_NUMBER,
  POSSET_JSON_EMPTY,
  POSSET_JSON_OPEN_STRING,
  POSSET_JSON_CONTROL_CHARACTER
} posset_json_fault;

#define POSSET_JSON_NO_MEMORY "no memory"
#define POSSET_JSON_PADDING 64     // bytes that are there behind what is read; simdjson looks at them
#define POSSET_JSON_MOST_OPEN 1023 // containers within each other that hold something; an empty one may be in the innermost

// What the object exports, as `posset_json_functions`.
typedef struct posset_json_reader {
  // For texts of so many bytes, longer ones make it grow; null: no memory. One thread at a time uses it.
  void* (*open)(size_t capacity);
  void (*close)(void* parser);
  // The document `text`, without the first `before` and the last `after` calls of the sink; among those is no number.
  // Null: read to the end. Else what is wrong with the text (static), "" when the sink stopped, or POSSET_JSON_NO_MEMORY.
  const char* (*read)(void* parser, const char* text, size_t size, size_t before, size_t after, const posset_json_sink* sink);
  const char* (*message)(posset_json_fault fault);  // as `read` gives it
} posset_json_reader;

#ifdef __cplusplus
}
#endif
