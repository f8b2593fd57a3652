// The module runtime: looking at the running program from inside. Answers depend on when they are asked for,
// so nothing here is pure.
#include "stdlib/modules.h"
#include "stdlib/support.h"

namespace posset::stdlib {

namespace {

bool append(void* data, const char* text, size_t size) {
  static_cast<std::string*>(data)->append(text, size);
  return true;
}

posset_status explain(posset_call* call) {
  POSSET_TRY(posset_want_function(call, 0));
  std::string text;
  POSSET_TRY(posset_explain_function(call->context, posset_argument(call, 0), append, &text));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return posset_return_string(call, text_of(text));
}

posset_status tier(posset_call* call) {
  POSSET_TRY(posset_want_function(call, 0));
  int level = posset_function_tier(call->context, posset_argument(call, 0));
  return posset_return(call, level < 0 ? posset_nil() : posset_int(level));
}

posset_status counters(posset_call* call) {
  posset_statistics s;
  s.size = sizeof s;
  POSSET_TRY(posset_context_statistics(call->context, &s));
  const struct {
    const char* name;
    uint64_t value;
  } rows[] = {
      {"steps", s.steps},           {"allocations", s.allocations}, {"live_objects", s.live_objects},
      {"copies", s.copies},         {"used_bytes", s.used_bytes},   {"peak_bytes", s.peak_bytes},
      {"output_bytes", s.output_bytes}, {"units", s.units},
  };
  constexpr uint32_t kCount = sizeof rows / sizeof rows[0];
  posset_text names[kCount];
  posset_value values[kCount];
  for (uint32_t i = 0; i < kCount; ++i) {
    names[i] = text_of(rows[i].name);
    values[i] = posset_int(static_cast<int64_t>(rows[i].value));
  }
  Owned record;
  POSSET_TRY(posset_record(call->context, names, values, kCount, record.place()));
  return give(call, record);
}

posset_status version(posset_call* call) { return posset_return_string(call, posset_text_of(posset_version())); }

constexpr posset_function_row kRows[] = {
    impure_row("explain", "explain(f)", "What is known about a function: pure or why not, tier, counts, types seen.", 1, 1,
               explain),
    impure_row("tier", "tier(f)", "The tier a function runs in; nil for built-ins.", 1, 1, tier),
    impure_row("counters", "counters()", "A record of counters: steps, allocations, copies, bytes and more.", 0, 0, counters),
    pure_row("version", "version()", "The version of the runtime.", 0, 0, version),
};

}  // namespace

}  // namespace posset::stdlib

posset_status posset_register_runtime(posset_runtime* runtime) {
  return posset::stdlib::register_rows(runtime, "runtime", posset::stdlib::kRows);
}
