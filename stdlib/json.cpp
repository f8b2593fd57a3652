// The module json: the values that are read (json_windows.h reads) and the rows. Writing is in json_write.cpp.
// Objects become maps with their keys in order, whole numbers that fit stay ints.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include "stdlib/json_number.h"
#include "stdlib/json_windows.h"
#include "stdlib/json_write.h"
#include "stdlib/modules.h"
#include "stdlib/simdjson/reader.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

// Builds values from the reader's calls: a stack of the containers that are open.
class Builder : public JsonSurroundings {
 public:
  explicit Builder(posset_context* context) : context_(context), pace_(context) {}

  posset_json_sink sink() {
    posset_json_sink sink;
    sink.data = this;
    sink.null = [](void* b) { return tell(b, [](Builder& it) { return it.add(posset_nil()); }); };
    sink.boolean = [](void* b, bool v) { return tell(b, [v](Builder& it) { return it.add(posset_bool(v)); }); };
    sink.integer = [](void* b, int64_t v) { return tell(b, [v](Builder& it) { return it.add(posset_int(v)); }); };
    sink.number = [](void* b, double v) { return tell(b, [v](Builder& it) { return it.add(posset_float(v)); }); };
    sink.string = [](void* b, const char* text, size_t size) {
      return tell(b, [=](Builder& it) { return it.add_string({text, size}); });
    };
    sink.key = [](void* b, const char* text, size_t size) { return tell(b, [=](Builder& it) { return it.set_key({text, size}); }); };
    sink.begin = [](void* b, bool is_object) { return tell(b, [=](Builder& it) { return it.begin(is_object); }); };
    sink.end = [](void* b) { return tell(b, [](Builder& it) { return it.end(); }); };
    return sink;
  }
  bool look(size_t bytes) override { return ok(pace_.go(bytes / 8)); }
  // One that is made too large would be copied when it is complete; one that grows is not.
  bool begin_string(size_t bytes) override {
    long_string_.emplace(context_).reserve(bytes);
    return can_grow();
  }
  bool add_to_string(std::string_view part) override {
    long_string_->append(part);
    return can_grow();
  }
  bool end_string(bool is_key) override {
    Owned string;
    const bool is_made = ok(long_string_->finish(*string.place()));
    long_string_.reset();
    if (!is_made) return false;
    if (!is_key) return add(string.take());
    open_.back().key = std::move(string);
    return true;
  }
  Owned& result() { return result_; }
  posset_status status() const { return status_; }
  void set_status(posset_status status) { status_ = status; }

 private:
  struct Open {
    Owned container;
    Owned key;
    bool is_object;
  };

  // No exception goes through the reader, which has a C++ library of its own.
  template <class Body>
  static bool tell(void* builder, Body&& body) {
    auto& self = *static_cast<Builder*>(builder);
    try {
      return body(self);
    } catch (const std::bad_alloc&) {
      return self.ok(POSSET_NO_MEMORY);
    }
  }
  bool can_grow() { return ok(long_string_->failed() ? POSSET_NO_MEMORY : POSSET_OK); }
  bool ok(posset_status status) {
    if (status != POSSET_OK) status_ = status;
    return status == POSSET_OK;
  }

  bool add(posset_value value) {
    if (const posset_status status = pace_.go(Pace::kValue); status != POSSET_OK) {
      posset_release(value);
      return ok(status);
    }
    if (open_.empty()) {
      result_ = Owned(value);
      return true;
    }
    Open& top = open_.back();
    if (top.is_object) return ok(posset_map_set(context_, top.container.place(), top.key.take(), value));
    return ok(posset_list_push(context_, top.container.place(), value));
  }
  bool add_string(std::string_view text) {
    posset_value value;
    return ok(posset_string(context_, text_of(text), &value)) && add(value);
  }
  bool set_key(std::string_view text) { return ok(posset_string(context_, text_of(text), open_.back().key.place())); }
  bool begin(bool is_object) {
    Open opened;
    opened.is_object = is_object;
    posset_status status = is_object ? posset_map(context_, 0, opened.container.place())
                                     : posset_list(context_, 0, opened.container.place());
    if (!ok(status)) return false;
    open_.push_back(std::move(opened));
    return true;
  }
  bool end() {
    posset_value done = open_.back().container.take();
    open_.pop_back();
    return add(done);
  }

  posset_context* context_;
  Pace pace_;
  std::vector<Open> open_;
  std::optional<Buffer> long_string_;  // that is being read
  Owned result_;
  posset_status status_ = POSSET_OK;
};

// By the search path of this object; beside the running program where that is not asked (the sanitizers put
// themselves between a caller and dlopen).
void* open_library() {
  const std::string name = "libposset_simdjson.so";
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  char program[4096];
  ssize_t size = readlink("/proc/self/exe", program, sizeof program);
  if (size <= 0 || size == static_cast<ssize_t>(sizeof program)) return nullptr;
  std::string path(program, static_cast<size_t>(size));
  return dlopen((path.substr(0, path.rfind('/') + 1) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Opened once per process and never closed: what it holds is code.
const posset_json_reader* reader() {
  static std::atomic<const posset_json_reader*> found{nullptr};
  if (const posset_json_reader* known = found.load(std::memory_order_acquire)) return known;
  void* library = open_library();
  const void* opened = library ? dlsym(library, "posset_json_functions") : nullptr;
  found.store(static_cast<const posset_json_reader*>(opened), std::memory_order_release);  // several threads find the same
  return found.load(std::memory_order_acquire);
}

// The first line is 1, and so is the first column; columns count characters.
struct Place {
  size_t line = 1, column = 1;
  void pass(std::string_view part) {
    for (const char c : part) {
      if (c == '\n') ++line, column = 1;
      else if (!continues_scalar(c)) ++column;
    }
  }
};

// Of a byte; found with looks at limits, as the builder's status says.
Place place_of(std::string_view text, size_t offset, Builder& builder) {
  Place place;
  for (size_t at = 0; at < offset; at += JsonWindows::kWindow) {
    place.pass(text.substr(at, std::min(offset - at, JsonWindows::kWindow)));
    if (!builder.look(JsonWindows::kWindow)) break;
  }
  return place;
}

// What is wrong with the text, and where; null: nothing, or something else is wrong, as the builder's status says.
const char* read_text(std::string_view text, const posset_json_reader& reader, Builder& builder, size_t& fault) {
  const posset_json_sink sink = builder.sink();
  try {
    JsonWindows windows(text, reader, sink, builder);
    const char* problem = windows.read();
    if (!problem || builder.status() != POSSET_OK) return nullptr;
    if (std::string_view(problem) != POSSET_JSON_NO_MEMORY) {
      fault = windows.fault_offset();
      return problem;
    }
  } catch (const std::bad_alloc&) {
  }
  builder.set_status(POSSET_NO_MEMORY);
  return nullptr;
}

// The text with `kExponent` at `ends`.
constexpr std::string_view kExponent = "e0";
std::string with_exponents(std::string_view text, const std::vector<size_t>& ends) {
  std::string out;
  out.reserve(text.size() + ends.size() * kExponent.size());
  size_t done = 0;
  for (const size_t end : ends) {
    out.append(text.substr(done, end - done)).append(kExponent);
    done = end;
  }
  return out.append(text.substr(done));
}

// A place in a text with exponents at `ends`, in the text without them.
size_t without_exponents(const std::vector<size_t>& ends, size_t place) {
  for (size_t n = ends.size(); n-- > 0;) {
    if (ends[n] + n * kExponent.size() < place) return place - (n + 1) * kExponent.size();
  }
  return place;
}

// Once more, where the text was refused: with floats for whole numbers that 64 bits do not hold, which the reader takes for
// faults. Without such numbers what is wrong stays. `fault` is a place in `text`.
posset_status read_wide(posset_call* call, std::string_view text, const posset_json_reader& reader, std::optional<Builder>& builder,
                        const char*& problem, size_t& fault) {
  std::vector<size_t> ends;
  const auto look = [&](size_t bytes) { return builder->look(bytes); };
  if (!find_wide_integers(text, JsonWindows::kWindow, look, ends)) return builder->status();
  if (ends.empty()) return POSSET_OK;
  POSSET_TRY(posset_charge_bytes(call->context, text.size()));
  const std::string wide = with_exponents(text, ends);
  builder.emplace(call->context);
  problem = read_text(wide, reader, *builder, fault);
  fault = without_exponents(ends, fault);
  return POSSET_OK;
}

// For the copy of the text and the list of places.
size_t memory_for_wide(size_t size) { return 2 * size; }

posset_status decode(posset_call* call) {
  posset_text text;
  POSSET_TRY(posset_want_string(call, 0, &text));
  POSSET_TRY(posset_charge_bytes(call->context, text.size));
  const posset_json_reader* found = reader();
  if (!found) {
    return posset_raise(call->context, POSSET_ERROR_HostError, text_of("libposset_simdjson.so cannot be loaded"));
  }
  const size_t memory = JsonWindows::memory(text.size);
  POSSET_TRY(posset_charge_memory(call->context, memory));
  std::optional<Builder> builder(std::in_place, call->context);
  size_t fault = 0;
  const char* problem = read_text(view_of(text), *found, *builder, fault);
  posset_status status = POSSET_OK;
  if (problem) {
    const size_t more = memory_for_wide(text.size);
    status = posset_charge_memory(call->context, more);
    if (status == POSSET_OK) {
      try {
        status = read_wide(call, view_of(text), *found, builder, problem, fault);
      } catch (const std::bad_alloc&) {
        status = POSSET_NO_MEMORY;
      }
      posset_discharge_memory(call->context, more);
    }
  }
  posset_discharge_memory(call->context, memory);
  POSSET_TRY(status);
  if (!problem) POSSET_TRY(builder->status());
  if (problem) {
    const Place place = place_of(view_of(text), fault, *builder);
    POSSET_TRY(builder->status());
    return posset_raisef(call->context, POSSET_ERROR_BadArgument, "cannot read the text as JSON: %s (line %zu, column %zu)", problem,
                         place.line, place.column);
  }
  return give(call, builder->result());
}

template <bool kPretty>
posset_status encode(posset_call* call) {
  return write_json(call, posset_argument(call, 0), kPretty);
}

constexpr posset_function_row kRows[] = {
    pure_row("decode", "decode(s)", "The value a JSON text describes; objects become maps, whole numbers ints.", 1, 1,
             decode),
    pure_row("encode", "encode(v)", "v as compact JSON: nil, bools, numbers, strings, lists, records, maps with string keys.",
             1, 1, encode<false>),
    pure_row("pretty", "pretty(v)", "v as JSON over several lines, indented by two.", 1, 1, encode<true>),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_json(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "json", posset::stdlib::kRows);
}
