/* The allocation-failure sweep, in C11 on the C interface. Every case is done again and again, with its first
 * allocation failing, then its second, and so on until it is through without meeting the failure; and all of that once
 * more with every later allocation failing as well. Each time the case either does what it should, because
 * nothing depended on that memory, or says that there was none; afterwards the same context does it all, and at
 * its end nothing is left over. What is never given back is found by the address sanitizer.
 *
 *   posset_faults [WORD...]   cases whose name contains one of the words; ends with the line "N passed, M failed"
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <posset/posset.h>

#include "faults.h"

/* What a case has to say of how it ended. WRONG is no answer for any case. */
typedef enum answer { ANSWER_DONE, ANSWER_NO_MEMORY, ANSWER_WRONG } answer;

typedef struct test_case {
  const char* name;
  answer (*run)(posset_context* context, const void* data);
  const void* data;
} test_case;

static bool is_text(posset_value value, const char* expected) {
  posset_text text = posset_string_text(&value);
  return posset_kind_of(value) == POSSET_STR && text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

/* The answer to a status: memory that runs out is a limit, whoever notices it first. */
static answer answer_of(posset_context* context, posset_status status) {
  posset_error_info info;
  posset_error* error;
  answer result = ANSWER_WRONG;
  if (status == POSSET_OK) return ANSWER_DONE;
  if (status == POSSET_NO_MEMORY) return ANSWER_NO_MEMORY;
  if (status != POSSET_RAISED) {
    printf("    status: %s\n", posset_status_text(status));
    return ANSWER_WRONG;
  }
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  error = posset_take_error(context);
  if (!error) return ANSWER_NO_MEMORY; /* none for the error either */
  if (posset_error_get(error, &info) == POSSET_OK && info.code == POSSET_ERROR_MemoryLimit) {
    result = ANSWER_NO_MEMORY;
  } else {
    printf("    error: %s %.*s\n", info.code_name, (int)info.message.size, info.message.data);
  }
  posset_error_free(error);
  return result;
}

/* ---- cases ---- */

typedef struct script {
  const char *source, *result; /* the result as text */
} script;

static answer run_script(posset_context* context, const void* data) {
  const script* s = data;
  posset_value value = posset_nil();
  answer result = answer_of(context, posset_eval(context, posset_text_of(s->source), &value, NULL));
  if (result == ANSWER_DONE && !is_text(value, s->result)) result = ANSWER_WRONG;
  posset_release(value);
  return result;
}

static answer build_values(posset_context* context, const void* data) {
  const posset_text names[2] = {{"x", 1}, {"label", 5}};
  posset_value list = posset_nil(), map = posset_nil(), record = posset_nil(), text = posset_nil(), key = posset_nil();
  posset_value fields[2];
  posset_status status = posset_list(context, 0, &list);
  (void)data;
  for (int64_t i = 0; status == POSSET_OK && i < 300; ++i) status = posset_list_push(context, &list, posset_int(i));
  if (status == POSSET_OK) status = posset_string(context, posset_text_of("a text that is not short at all"), &text);
  if (status == POSSET_OK) status = posset_list_push(context, &list, posset_retain(text));
  if (status == POSSET_OK) status = posset_map(context, 0, &map);
  for (int i = 0; status == POSSET_OK && i < 40; ++i) {
    char name[40];
    snprintf(name, sizeof name, "the key with the number %d", i);
    status = posset_string(context, posset_text_of(name), &key);
    if (status == POSSET_OK) status = posset_map_set(context, &map, key, posset_retain(list));
  }
  if (status == POSSET_OK) {
    fields[0] = posset_retain(map);
    fields[1] = posset_retain(text);
    status = posset_record(context, names, fields, 2, &record);
  }
  answer result = answer_of(context, status);
  if (result == ANSWER_DONE && (posset_list_size(list) != 301 || posset_map_size(map) != 40 || posset_field_count(record) != 2))
    result = ANSWER_WRONG;
  posset_release(record);
  posset_release(map);
  posset_release(text);
  posset_release(list);
  return result;
}

static posset_status doubled(posset_call* call) {
  posset_text text;
  posset_buffer* buffer;
  posset_value result = posset_nil();
  posset_status status;
  if (posset_want_string(call, 0, &text)) return POSSET_RAISED;
  buffer = posset_buffer_create(call->context);
  if (!buffer) return POSSET_NO_MEMORY;
  for (int i = 0; i < 50; ++i) posset_buffer_append(buffer, text);
  status = posset_buffer_finish(buffer, &result);
  posset_buffer_free(buffer);
  return status == POSSET_OK ? posset_return(call, result) : status;
}

static answer use_host(posset_context* context, const void* data) {
  posset_function_row row;
  posset_value value = posset_nil(), got = posset_nil();
  posset_status status;
  (void)data;
  memset(&row, 0, sizeof row);
  row.name = "doubled";
  row.signature = "doubled(s)";
  row.doc = "s, fifty times.";
  row.min_arguments = row.max_arguments = 1;
  row.function = doubled;
  status = posset_define(context, &row, sizeof row, NULL);
  if (status == POSSET_OK) status = posset_set_global(context, posset_text_of("rate"), posset_float(0.5));
  if (status == POSSET_OK)
    status = posset_eval(context, posset_text_of("len(doubled(\"a text, \")) * rate |> str"), &value, NULL);
  if (status == POSSET_OK) status = posset_get_global(context, posset_text_of("rate"), &got);
  answer result = answer_of(context, status);
  if (result == ANSWER_DONE && !is_text(value, "200.0")) result = ANSWER_WRONG;
  posset_release(value);
  posset_release(got);
  return result;
}

static answer call_function(posset_context* context, const void* data) {
  posset_value f = posset_nil(), value = posset_nil(), argument = posset_int(20);
  posset_status status = posset_eval(context, posset_text_of("n => join(map(0..n, i => \"<{i}>\"), \", \")[0..8]"), &f, NULL);
  (void)data;
  if (status == POSSET_OK) status = posset_invoke(context, f, &argument, 1, &value);
  answer result = answer_of(context, status);
  if (result == ANSWER_DONE && !is_text(value, "<0>, <1>")) result = ANSWER_WRONG;
  posset_release(value);
  posset_release(f);
  return result;
}

static answer run_program(posset_context* context, const void* data) {
  posset_source source = posset_source_of(
      "rules.posset", posset_text_of("import \"strings\"\nexport let limit = 3\nexport fn f(x) => strings.upper(x) + \"{limit}\"\nf(\"a\")"));
  posset_program* program = NULL;
  posset_diagnostics* diagnostics = NULL;
  posset_value value = posset_nil(), limit = posset_nil();
  posset_status status = posset_load(context, &source, &program, &diagnostics);
  (void)data;
  if (status == POSSET_OK) status = posset_run(program, &value);
  if (status == POSSET_OK) status = posset_program_get(program, posset_text_of("limit"), &limit);
  answer result = answer_of(context, status);
  if (result == ANSWER_DONE && !(is_text(value, "A3") && posset_is_int(limit))) result = ANSWER_WRONG;
  posset_release(value);
  posset_release(limit);
  posset_diagnostics_free(diagnostics);
  posset_program_free(program);
  return result;
}

static answer use_session(posset_context* context, const void* data) {
  const char* inputs[] = {"let xs = [1, 2, 3]", "fn twice(x) => x * 2", "str(map(xs, twice))"};
  posset_value value = posset_nil();
  posset_status status = POSSET_OK;
  (void)data;
  for (size_t i = 0; status == POSSET_OK && i < 3; ++i) {
    posset_release(value);
    value = posset_nil();
    status = posset_session_eval(context, posset_text_of("<input>"), posset_text_of(inputs[i]), &value, NULL);
  }
  answer result = answer_of(context, status);
  if (result == ANSWER_DONE && !is_text(value, "[2, 4, 6]")) result = ANSWER_WRONG;
  posset_release(value);
  posset_session_reset(context);
  return result;
}

static bool count_bytes(void* data, const char* text, size_t size) {
  (void)text;
  *(size_t*)data += size;
  return true;
}

/* A source with mistakes: the diagnostics, or word that there was no memory for them. */
static answer diagnose(posset_context* context, const void* data) {
  posset_diagnostics* diagnostics = NULL;
  size_t written = 0;
  posset_status status = posset_eval(context, posset_text_of("let a = b\nlet c = a +\nd(\"{a:q}\")"), NULL, &diagnostics);
  answer result = status == POSSET_INVALID ? ANSWER_DONE : answer_of(context, status);
  (void)data;
  if (status == POSSET_INVALID && posset_diagnostics_count(diagnostics) > 0) {
    posset_status rendered = posset_diagnostics_render(diagnostics, 0, false, count_bytes, &written);
    if (rendered != POSSET_OK) result = rendered == POSSET_NO_MEMORY ? ANSWER_NO_MEMORY : ANSWER_WRONG;
  }
  posset_diagnostics_free(diagnostics);
  return result;
}

/* An error of the script, as an object and as a report. */
static answer report_error(posset_context* context, const void* data) {
  size_t written = 0;
  posset_status status = posset_eval(context, posset_text_of("fn f(n) => if n == 0 { throw \"on purpose\" } else { 1 + f(n - 1) }\nf(30)"), NULL, NULL);
  posset_error* error = status == POSSET_RAISED ? posset_take_error(context) : NULL;
  posset_error_info info;
  answer result = ANSWER_NO_MEMORY;
  (void)data;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  if (status != POSSET_RAISED) return answer_of(context, status);
  if (!error) return ANSWER_NO_MEMORY;
  posset_error_get(error, &info);
  if (info.code == POSSET_ERROR_Thrown) {
    posset_status rendered = posset_error_render(error, false, count_bytes, &written);
    result = rendered == POSSET_OK ? ANSWER_DONE : rendered == POSSET_NO_MEMORY ? ANSWER_NO_MEMORY : ANSWER_WRONG;
  } else if (info.code != POSSET_ERROR_MemoryLimit) {
    result = ANSWER_WRONG;
  }
  posset_error_free(error);
  return result;
}

static answer make_context(posset_context* context, const void* data) {
  posset_context* other = NULL;
  posset_value value = posset_nil();
  posset_status status = posset_context_create(posset_context_runtime(context), NULL, &other);
  (void)data;
  if (status != POSSET_OK) return answer_of(context, status);
  answer result = answer_of(other, posset_eval(other, posset_text_of("str(1 + 1)"), &value, NULL));
  if (result == ANSWER_DONE && !is_text(value, "2")) result = ANSWER_WRONG;
  posset_release(value);
  posset_context_release(other);
  return result;
}

static posset_status answer_nothing(posset_call* call) {
  (void)call;
  return POSSET_OK;
}

static void count_drop(void* data) { ++*(int*)data; }

// Whether it is registered or not, what it has is dropped once.
static posset_status register_type(posset_runtime* runtime, int* drops) {
  const posset_property_row property = {"x", "", answer_nothing, answer_nothing, NULL, false};
  posset_function_row method = {0};
  posset_type_row type = posset_type_of("Point");
  method.name = method.signature = "move";
  method.doc = "";
  method.function = answer_nothing;
  type.properties = &property, type.property_count = 1;
  type.methods = &method, type.method_count = 1;
  type.data = drops, type.drop = count_drop;
  return posset_register_type(runtime, &type, NULL);
}

static answer make_runtime(posset_context* context, const void* data) {
  posset_runtime* runtime = NULL;
  posset_status status = posset_default_runtime(NULL, &runtime);
  int drops = 0;
  (void)data;
  if (status == POSSET_OK) {
    status = register_type(runtime, &drops);
    posset_runtime_release(runtime);
    if (drops != 1) return ANSWER_WRONG;
  }
  return answer_of(context, status);
}

// A literal that takes a block of its own.
#define LITERAL_100 "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
#define LITERAL_500 LITERAL_100 LITERAL_100 LITERAL_100 LITERAL_100 LITERAL_100

static const script kScripts[] = {
    {"str(len(\"" LITERAL_500 LITERAL_500 LITERAL_500 "\"))", "1500"},
    {"str(1 + 2 * 3)", "7"},
    {"var xs = []\nfor i in 0..500 { xs.push(\"item {i}\") }\nstr(len(xs))", "500"},
    {"var m = [:]\nfor i in 0..200 { m[\"key {i}\"] = [i] }\nstr(len(m))", "200"},
    {"type Tree = Node(l, r) | Leaf\nfn make(n) => if n == 0 { Leaf } else { Node(make(n - 1), make(n - 1)) }\nfn size(t) => match t { Leaf => 1\n Node(l, r) => size(l) + size(r) }\nstr(size(make(7)))", "128"},
    {"var r = {a: 1, b: [1, 2]}\nfor i in 0..50 { r = {..r, a: i, b: r.b + [i]} }\nstr(len(r.b))", "52"},
    {"fn adder(n) => x => x + n\nstr(sum(map(0..50, i => adder(i)(1))))", "1275"},
    {"str(try { throw [\"a\", \"b\"] } catch e { e.message + str(len(e.trace)) })", "[\"a\", \"b\"]1"},
    {"join(sort_by(map(0..60, i => \"{i * 37 % 61}\"), s => -int(s)), \",\")[0..8]", "60,59,58"},
    {"str(group_by(0..40, i => \"{i % 3}\")[\"2\"][0..2])", "[2, 5]"},
    {"let r = ref([])\nfor i in 0..40 { r.value.push(ref(r)) }\nstr(len(r.value))", "40"},
    {"import \"json\"\njson.encode(json.decode(\"[1, \\\"two\\\", [3.5], null]\"))", "[1,\"two\",[3.5],null]"},
    {"import \"re\"\njoin(re.find_all(\"ab12cd345\", \"[0-9]+\"), \"-\")", "12-345"},
    {"import \"strings\"\nstrings.replace(strings.pad(\"ab\", 40, \"-\"), \"-\", \"\")", "ab"},
    {"var world = {tasks: [[1], [2]]}\nwith t = &world.tasks[1] { for i in 0..100 { t.push(i) } }\nstr(len(world.tasks[1]))", "101"},
    {"fn f(n) => if n == 0 { 0 } else { 1 + f(n - 1) }\nstr(f(2000))", "2000"},
    {"let xs = [for i in 0..300 if i % 2 == 0 => [i, \"{i:>8}\"]]\nxs[149][1]", "     298"},
};

/* ---- the sweep ---- */

static posset_context* new_context(posset_runtime* runtime) {
  posset_context* context = NULL;
  posset_context_options options = posset_context_defaults();
  options.time_limit_seconds = 600;
  if (posset_context_create(runtime, &options, &context) != POSSET_OK) abort();
  return context;
}

/* With the failure at `first`. True when all is well; sets `met` when the failure was reached. */
static bool try_once(posset_runtime* runtime, const test_case* test, uint64_t first, bool all, bool* met) {
  posset_context* context = new_context(runtime);
  posset_statistics statistics;
  answer under, after;
  faults_begin(first, all);
  under = test->run(context, test->data);
  *met = faults_end() > first;
  after = test->run(context, test->data);
  memset(&statistics, 0, sizeof statistics);
  statistics.size = sizeof statistics;
  posset_context_finish(context);
  posset_context_statistics(context, &statistics);
  posset_context_release(context);
  if (under != ANSWER_WRONG && (under == ANSWER_DONE || *met) && after == ANSWER_DONE && statistics.live_objects == 0) return true;
  printf("FAILED  %s, %s %" PRIu64 ": answered %d, afterwards %d, %" PRIu64 " objects left\n", test->name,
         all ? "from allocation" : "allocation", first, (int)under, (int)after, statistics.live_objects);
  return false;
}

static bool sweep(posset_runtime* runtime, const test_case* test) {
  const uint64_t most = 1000000; /* of a case that allocates without end */
  for (int all = 0; all < 2; ++all) {
    bool met = true;
    uint64_t first = 0;
    for (; met && first < most; ++first) {
      if (!try_once(runtime, test, first, all, &met)) return false;
    }
    if (met) return false;
    if (!all) printf("%s: %" PRIu64 " allocations\n", test->name, first - 1);
  }
  return true;
}

/* `words` ends with a null; none of them: every case. */
static bool is_wanted(const test_case* test, char** words) {
  if (!*words) return true;
  for (; *words; ++words) {
    if (strstr(test->name, *words)) return true;
  }
  return false;
}

static int tally(posset_runtime* runtime, const test_case* test, char** words, int* passed) {
  bool good;
  if (!is_wanted(test, words)) return 0;
  fflush(stdout);
  good = sweep(runtime, test);
  *passed += good;
  return !good;
}

int main(int count, char** words) {
  static const test_case cases[] = {
      {"values", build_values, NULL},       {"host functions", use_host, NULL}, {"calls", call_function, NULL},
      {"programs", run_program, NULL},      {"sessions", use_session, NULL},    {"diagnostics", diagnose, NULL},
      {"error reports", report_error, NULL}, {"contexts", make_context, NULL},  {"runtimes", make_runtime, NULL},
  };
  int passed = 0, failed = 0;
  posset_runtime_options options = posset_runtime_defaults();
  (void)count;
  for (int tier = 0; tier < 2; ++tier) {
    posset_runtime* runtime = NULL;
    options.max_tier = tier;
    options.forced_tier = tier ? tier : -1;
    if (posset_default_runtime(&options, &runtime) != POSSET_OK) return 2;
    for (size_t i = 0; i < sizeof kScripts / sizeof *kScripts; ++i) {
      char name[100];
      test_case test = {name, run_script, &kScripts[i]};
      snprintf(name, sizeof name, "tier%d/script %zu: %.60s", tier, i, kScripts[i].source);
      for (char* c = name; *c; ++c) {
        if (*c == '\n') *c = ';';
      }
      failed += tally(runtime, &test, words + 1, &passed);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) failed += tally(runtime, &cases[i], words + 1, &passed);
    posset_runtime_release(runtime);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
