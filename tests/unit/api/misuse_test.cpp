// Wrong arguments: every function that gives a status answers a null handle, a null place to write to, or an
// impossible argument with POSSET_MISUSE (or, where it says so, another status), does nothing, and crashes nowhere.
#include <functional>
#include <string>
#include <vector>

#include "fixture.h"

using posset::test::append;
using posset::test::text;
using posset::test::World;

namespace {

struct Row {
  const char* what;
  std::function<posset_status()> call;
  posset_status wanted = POSSET_MISUSE;
};

void check_all(World& w, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(std::string(row.what));
    CHECK(row.call() == row.wanted);
    CHECK(w.show("1 + 1") == "2");
  }
}

}  // namespace

TEST_CASE("misuse: no context") {
  World w;
  posset_value out = posset_nil(), place = posset_nil();
  posset_statistics statistics = {};
  const posset_text name = text("x");
  check_all(w, {
      {"eval", [&] { return posset_eval(nullptr, name, &out, nullptr); }},
      {"load", [&] {
         posset_source source = posset_source_of("x", name);
         return posset_load(nullptr, &source, nullptr, nullptr);
       }},
      {"run", [&] { return posset_run(nullptr, &out); }},
      {"program_get", [&] { return posset_program_get(nullptr, name, &out); }},
      {"invoke", [&] { return posset_invoke(nullptr, posset_nil(), nullptr, 0, &out); }},
      {"set_global", [&] { return posset_set_global(nullptr, name, posset_nil()); }},
      {"get_global", [&] { return posset_get_global(nullptr, name, &out); }},
      {"set_options", [&] { return posset_context_set_options(nullptr, nullptr); }},
      {"set_output", [&] { return posset_context_set_output(nullptr, append, nullptr); }},
      {"set_loader", [&] { return posset_context_set_loader(nullptr, nullptr, nullptr); }},
      {"finish", [&] { return posset_context_finish(nullptr); }},
      {"statistics", [&] { return posset_context_statistics(nullptr, &statistics); }},
      {"string", [&] { return posset_string(nullptr, name, &out); }},
      {"list", [&] { return posset_list(nullptr, 0, &out); }},
      {"list_of_floats", [&] { return posset_list_of_floats(nullptr, nullptr, 0, &out); }},
      {"list_push", [&] { return posset_list_push(nullptr, &place, posset_nil()); }},
      {"map", [&] { return posset_map(nullptr, 0, &out); }},
      {"map_set", [&] { return posset_map_set(nullptr, &place, posset_nil(), posset_nil()); }},
      {"record", [&] { return posset_record(nullptr, nullptr, nullptr, 0, &out); }},
      {"field_set", [&] { return posset_field_set(nullptr, &place, name, posset_nil()); }},
      {"range", [&] { return posset_range(nullptr, 0, 1, false, &out); }},
      {"ref", [&] { return posset_ref(nullptr, posset_nil(), &out); }},
      {"raise", [&] { return posset_raise(nullptr, POSSET_ERROR_HostError, name); }},
      {"throw", [&] { return posset_throw(nullptr, posset_nil()); }},
      {"catch", [&] { return posset_catch(nullptr, &out); }},
      {"charge_steps", [&] { return posset_charge_steps(nullptr, 1); }},
      {"charge_memory", [&] { return posset_charge_memory(nullptr, 1); }},
      {"poll", [&] { return posset_poll(nullptr); }},
      {"to_string", [&] { return posset_to_string(nullptr, posset_nil(), &out); }},
      {"host_close", [&] { return posset_host_close(nullptr, posset_nil()); }},
      {"submit_eval", [&] { return posset_submit_eval(nullptr, name, nullptr, nullptr); }},
      {"submit_invoke", [&] { return posset_submit_invoke(nullptr, posset_nil(), nullptr, 0, nullptr, nullptr); }},
      {"define", [&] { return posset_define(nullptr, nullptr, 0, nullptr); }},
  });
}

TEST_CASE("misuse: what is wrong is told in words, once, where the status does not say it") {
  World w, other;
  posset_value foreign = posset_nil();
  REQUIRE(posset_list(other.context, 0, &foreign) == POSSET_OK);
  auto said = [&](posset_status status, posset_status wanted = POSSET_MISUSE) {
    CHECK(status == wanted);
    const std::string words = posset::test::str(posset_misuse_text(w.context));
    CHECK(posset_misuse_text(w.context).size == 0);
    return words;
  };
  posset_value out = posset_nil();
  CHECK(said(posset_set_global(w.context, text("2x"), posset_nil())) == "\"2x\" is no name that a script could use");
  CHECK(said(posset_set_global(w.context, text("len"), posset_nil()), POSSET_EXISTS) == "'len' is a built-in function");
  CHECK(said(posset_set_global(w.context, text("x"), foreign)) == "a value of another context");
  CHECK(said(posset_invoke(w.context, foreign, nullptr, 0, &out)) == "a value of another context");
  CHECK(said(posset_get_global(w.context, text("nosuch"), &out), POSSET_NOT_FOUND) == "the host has set no 'nosuch'");
  posset_context_options options = posset_context_defaults();
  options.stack_limit = 0;
  CHECK(said(posset_context_set_options(w.context, &options)) == "the option stack_limit is 0");
  posset_function_row row = {};
  row.name = row.signature = row.doc = "f";
  CHECK(said(posset_define(w.context, &row, sizeof row, nullptr)) == "f has no function");
  posset_value graph = posset_nil();
  REQUIRE(posset_graph_new(w.context, nullptr, &graph) == POSSET_OK);
  posset_node node = posset_node_defaults();
  const char* ports[] = {"in"};
  node.inputs = ports;
  node.input_count = 1;
  CHECK(said(posset_graph_add(w.context, graph, text("n"), &node, nullptr)) == "a node with inputs needs on_message");
  CHECK(posset_misuse_text(nullptr).size == 0);
  posset_release(graph);
  posset_release(foreign);
}

TEST_CASE("misuse: arguments that are not there, or of a wrong kind") {
  World w;
  posset_context* const c = w.context;
  posset_value out = posset_nil(), place = posset_int(1);
  posset_function_row row = {};
  posset_diagnostic diagnostic = {};
  posset_error_info info = {};
  check_all(w, {
      {"context_create", [&] { return posset_context_create(nullptr, nullptr, nullptr); }},
      {"context_create out", [&] { return posset_context_create(w.runtime, nullptr, nullptr); }},
      {"runtime_create", [&] { return posset_runtime_create(nullptr, nullptr); }},
      {"default_runtime", [&] { return posset_default_runtime(nullptr, nullptr); }},
      {"load", [&] { return posset_load(c, nullptr, nullptr, nullptr); }},
      {"set_options", [&] { return posset_context_set_options(c, nullptr); }},
      {"set_global keyword", [&] { return posset_set_global(c, text("let"), posset_nil()); }},
      {"set_global empty", [&] { return posset_set_global(c, posset_text_n(nullptr, 0), posset_nil()); }},
      {"set_global built-in", [&] { return posset_set_global(c, text("len"), posset_nil()); }, POSSET_EXISTS},
      {"get_global", [&] { return posset_get_global(c, text("none"), &out); }, POSSET_NOT_FOUND},
      {"invoke", [&] { return posset_invoke(c, posset_nil(), nullptr, 2, &out); }},
      {"statistics", [&] { return posset_context_statistics(c, nullptr); }},
      {"list_push", [&] { return posset_list_push(c, nullptr, posset_nil()); }},
      {"list_push kind", [&] { return posset_list_push(c, &place, posset_nil()); }},
      {"list_of_ints", [&] { return posset_list_of_ints(c, nullptr, 3, &out); }},
      {"list_of", [&] { return posset_list_of(c, nullptr, 3, &out); }},
      {"list_slice", [&] { return posset_list_slice(c, posset_nil(), 0, 0, &out); }},
      {"map_set kind", [&] { return posset_map_set(c, &place, posset_nil(), posset_nil()); }},
      {"map_remove", [&] { return posset_map_remove(c, nullptr, posset_nil(), nullptr); }},
      {"record", [&] { return posset_record(c, nullptr, nullptr, 2, &out); }},
      {"field_set", [&] { return posset_field_set(c, nullptr, text("x"), posset_nil()); }},
      {"ref_set", [&] { return posset_ref_set(posset_nil(), posset_nil()); }},
      {"iterate", [&] { return posset_iterate(c, posset_nil(), nullptr, nullptr); }},
      {"define", [&] { return posset_define(c, nullptr, 0, nullptr); }},
      {"define empty", [&] { return posset_define(c, &row, sizeof row, nullptr); }},
      {"print", [&] { return posset_print(c, posset_nil(), false, nullptr, nullptr); }},
      {"error_get", [&] { return posset_error_get(nullptr, &info); }},
      {"error_render", [&] { return posset_error_render(nullptr, false, append, nullptr); }},
      {"diagnostics_get", [&] { return posset_diagnostics_get(nullptr, 0, &diagnostic); }, POSSET_NOT_FOUND},
      {"each_builtin", [&] { return posset_each_builtin(nullptr, nullptr, nullptr); }},
      {"find_builtin", [&] { return posset_find_builtin(w.runtime, text("len"), nullptr); }},
      {"each_unit", [&] { return posset_each_unit(nullptr, nullptr, nullptr); }},
      {"trace_write", [&] { return posset_trace_write(nullptr, POSSET_TRACE_TEXT, append, nullptr); }},
      {"register_type", [&] { return posset_register_type(nullptr, nullptr, nullptr); }},
      {"find_type", [&] { return posset_find_type(w.runtime, nullptr, nullptr); }},
      {"host", [&] { return posset_host(c, nullptr, nullptr, &out); }},
      {"host_close", [&] { return posset_host_close(c, posset_nil()); }, POSSET_NOT_FOUND},
  });
}

TEST_CASE("misuse: asking a value for what it is not gives nothing") {
  World w;
  uint64_t count = 7;
  int64_t first = 0, step = 0;
  const double* floats = nullptr;
  posset_value found = posset_nil();
  for (posset_value v : {posset_nil(), posset_bool(true), posset_int(-1), posset_float(0.5)}) {
    CHECK(posset_list_size(v) == 0);
    CHECK(posset_is_nil(posset_list_at(v, 3)));
    CHECK(!posset_list_floats(v, &floats, &count));
    CHECK(posset_map_size(v) == 0);
    CHECK(!posset_map_find(v, posset_int(1), &found));
    CHECK(posset_map_get(w.context, v, posset_int(1), &found) == POSSET_MISUSE);
    CHECK(posset_field_count(v) == 0);
    CHECK(!posset_field(w.context, v, text("x"), &found));
    CHECK(posset_string_text(&v).size == 0);
    CHECK(!posset_range_ints(v, &first, &step, &count));
    CHECK(posset_is_nil(posset_ref_get(v)));
    CHECK(posset_is_nil(posset_error_message_of(v)));
    CHECK(posset_host_type(v) == nullptr);
    CHECK(posset_host_pointer(v, nullptr) == nullptr);
    CHECK(!posset_is_callable(v));
    CHECK(posset_function_tier(w.context, v) == -1);
  }
  // Freeing nothing is fine.
  posset_error_free(nullptr);
  posset_diagnostics_free(nullptr);
  posset_program_free(nullptr);
  posset_buffer_free(nullptr);
  posset_context_release(nullptr);
  posset_runtime_release(nullptr);
  posset_future_release(nullptr);
  posset_interrupt(nullptr);
}
