// A runtime with the walker and bytecode, a context, and the few helpers the API tests share. The
// tests use the C interface; what is C++ about them is this file and cpp_layer_test.cpp.
#pragma once

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <posset/attach.h>
#include <posset/posset.h>

namespace posset::test {

inline posset_text text(std::string_view s) { return posset_text_n(s.data(), s.size()); }
inline std::string str(posset_text t) { return std::string(t.data ? t.data : "", t.size); }
inline bool append(void* data, const char* piece, size_t size) {
  static_cast<std::string*>(data)->append(piece, size);
  return true;
}

// Without the standard library: these tests are about the interface.
inline posset_runtime* make_runtime(posset_runtime_options options = posset_runtime_defaults()) {
  posset_runtime* runtime = nullptr;
  REQUIRE(posset_runtime_create(&options, &runtime) == POSSET_OK);
  REQUIRE(posset_attach_tier(runtime, posset_bytecode_tier()) == POSSET_OK);
  return runtime;
}

// What went wrong in a taken error.
struct Problem {
  posset_code code = POSSET_ERROR_COUNT;
  std::string message, file, report;
  uint32_t line = 0, column = 0;
  bool is_limit = false, is_interrupt = false;
  size_t trace = 0;
};

class World {
 public:
  explicit World(posset_context_options options = posset_context_defaults(),
                 posset_runtime_options runtime_options = posset_runtime_defaults())
      : runtime(make_runtime(runtime_options)) {
    open(options);
  }
  World(posset_runtime* shared, posset_context_options options) : runtime(shared) {
    posset_runtime_retain(shared);
    open(options);
  }
  // Everything a test has made must be gone by now.
  ~World() {
    posset_context_finish(context);
    posset_statistics statistics = {};
    statistics.size = sizeof statistics;
    posset_context_statistics(context, &statistics);
    CHECK(statistics.live_objects == 0);
    posset_context_release(context);
    posset_runtime_release(runtime);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  posset_status eval(std::string_view source, posset_value* out = nullptr) {
    return posset_eval(context, text(source), out, nullptr);
  }
  // The value of a source as a literal, or "STATUS: message".
  std::string show(std::string_view source) {
    posset_value value = posset_nil();
    posset_status status = eval(source, &value);
    return shown(status, value);
  }
  // The same of the next input of the context's session.
  std::string session(std::string_view source) {
    posset_value value = posset_nil();
    posset_status status = posset_session_eval(context, text("<input>"), text(source), &value, nullptr);
    return shown(status, value);
  }
  std::string shown(posset_status status, posset_value value) {
    if (status == POSSET_RAISED) return "raised: " + problem().message;
    if (status != POSSET_OK) return posset_status_text(status);
    return take_text(value);
  }
  std::string take_text(posset_value owned) {
    std::string out;
    CHECK(posset_print(context, owned, true, append, &out) == POSSET_OK);
    posset_release(owned);
    return out;
  }
  Problem problem() {
    Problem found;
    posset_error* error = posset_take_error(context);
    REQUIRE(error != nullptr);
    posset_error_info info = {};
    info.size = sizeof info;
    REQUIRE(posset_error_get(error, &info) == POSSET_OK);
    found.code = info.code;
    found.message = str(info.message);
    found.file = str(info.file);
    found.line = info.line;
    found.column = info.column;
    found.is_limit = info.is_limit;
    found.is_interrupt = info.is_interrupt;
    found.trace = info.trace_count;
    posset_error_render(error, false, append, &found.report);
    posset_error_free(error);
    return found;
  }
  posset_statistics statistics() {
    posset_statistics out = {};
    out.size = sizeof out;
    REQUIRE(posset_context_statistics(context, &out) == POSSET_OK);
    return out;
  }

  posset_runtime* runtime;
  posset_context* context = nullptr;
  std::string output;

 private:
  void open(posset_context_options options) {
    REQUIRE(posset_context_create(runtime, &options, &context) == POSSET_OK);
    REQUIRE(posset_context_set_output(context, append, &output) == POSSET_OK);
  }
};

// What the runtime says of a function of the session.
inline std::string explain(World& w, const char* name) {
  posset_value function = posset_nil();
  REQUIRE(posset_session_get(w.context, text(name), &function) == POSSET_OK);
  std::string out;
  REQUIRE(posset_explain_function(w.context, function, append, &out) == POSSET_OK);
  posset_release(function);
  return out;
}

}  // namespace posset::test
