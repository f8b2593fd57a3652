// Contexts: life, globals, output, data of the host, statistics; runtimes side by side.
#include <thread>

#include "fixture.h"

using posset::test::str;
using posset::test::text;
using posset::test::World;

TEST_CASE("two runtimes and several contexts know nothing of each other") {
  World a, b;
  World c(a.runtime, posset_context_defaults());
  REQUIRE(posset_set_global(a.context, text("x"), posset_int(1)) == POSSET_OK);
  REQUIRE(posset_set_global(c.context, text("x"), posset_int(3)) == POSSET_OK);
  CHECK(a.show("x + 1") == "2");
  CHECK(c.show("x + 1") == "4");
  CHECK(b.eval("x + 1") == POSSET_INVALID);
}

TEST_CASE("a global is seen by programs loaded before it was changed") {
  World w;
  REQUIRE(posset_set_global(w.context, text("rate"), posset_float(0.5)) == POSSET_OK);
  posset_value f = posset_nil();
  REQUIRE(w.eval("x => x * rate", &f) == POSSET_OK);
  REQUIRE(posset_set_global(w.context, text("rate"), posset_int(3)) == POSSET_OK);
  posset_value argument = posset_int(2), result = posset_nil();
  REQUIRE(posset_invoke(w.context, f, &argument, 1, &result) == POSSET_OK);
  CHECK(posset_as_int(result) == 6);
  posset_release(f);
  posset_value read = posset_nil();
  CHECK(posset_get_global(w.context, text("rate"), &read) == POSSET_OK);
  CHECK(posset_as_int(read) == 3);
  CHECK(posset_get_global(w.context, text("none"), &read) == POSSET_NOT_FOUND);
}

// Bytecode does not count a global while an element of it is read; a function of the host may replace it meanwhile.
TEST_CASE("a global that the host replaces while it is read is read as it was, in every tier") {
  for (int tier = 0; tier <= 3; ++tier) {
    if (tier > 1 && !posset_native_tier(tier)) continue;
    posset_runtime_options options = posset_runtime_defaults();
    options.forced_tier = tier;
    posset_runtime* runtime = nullptr;
    REQUIRE(posset_default_runtime(&options, &runtime) == POSSET_OK);
    {
      World w(runtime, posset_context_defaults());
      posset_function_row row = {};
      row.name = "exchange_rows";
      row.doc = row.signature = "";
      row.function = [](posset_call* call) {
        posset_value fresh = posset_nil();
        REQUIRE(posset_session_eval(call->context, text("<exchange>"), text("[[7, 8], [9]]"), &fresh, nullptr) == POSSET_OK);
        REQUIRE(posset_set_global(call->context, text("rows"), fresh) == POSSET_OK);
        return posset_return(call, posset_int(0));
      };
      REQUIRE(posset_define(w.context, &row, sizeof row, nullptr) == POSSET_OK);
      CHECK(w.session("1") == "1");
      posset_value rows = posset_nil();
      REQUIRE(w.eval("[[1, 2], [3]]", &rows) == POSSET_OK);
      REQUIRE(posset_set_global(w.context, text("rows"), rows) == POSSET_OK);
      CHECK(w.show("fn f(k) => [rows[exchange_rows()][1], rows[k][exchange_rows()], rows[exchange_rows()][exchange_rows()], rows[0][k]]\nf(1)") == "[2, 9, 7, 8]");
      CHECK(w.show("var n = 0\nfor k in 0..2000 { n += rows[k % 2][0] + len(rows[1]) + rows[0][1] }\nn") == "34000");
    }
    posset_runtime_release(runtime);
  }
}

TEST_CASE("names of globals are identifiers that nothing built in has") {
  World w;
  CHECK(posset_set_global(w.context, text("len"), posset_int(1)) == POSSET_EXISTS);
  CHECK(posset_set_global(w.context, text("if"), posset_int(1)) == POSSET_MISUSE);
  CHECK(posset_set_global(w.context, text("2x"), posset_int(1)) == POSSET_MISUSE);
  CHECK(posset_set_global(w.context, text(""), posset_int(1)) == POSSET_MISUSE);
  posset_value s = posset_nil();
  REQUIRE(posset_string(w.context, text("a string that is too long to be short"), &s) == POSSET_OK);
  CHECK(posset_set_global(w.context, text("len"), s) == POSSET_EXISTS);  // taken all the same
}

TEST_CASE("output goes to the sink and is counted") {
  posset_context_options options = posset_context_defaults();
  options.output_limit = 10;
  World w(options);
  CHECK(w.show("println(\"1234\")") == "nil");
  CHECK(w.output == "1234\n");
  CHECK(posset_write_output(w.context, text("56")) == POSSET_OK);
  CHECK(w.eval("print(\"123456\")") == POSSET_RAISED);
  CHECK(w.problem().code == POSSET_ERROR_OutputLimit);
  CHECK(w.output == "1234\n56");
  CHECK(w.statistics().output_bytes == 7);
  posset_context_set_output(w.context, nullptr, nullptr);
  CHECK(w.show("print(\"1\")") == "nil");
}

TEST_CASE("a sink that cannot write raises") {
  World w;
  posset_context_set_output(
      w.context, [](void*, const char*, size_t) { return false; }, nullptr);
  CHECK(w.show("print(1)") == "raised: cannot write to the output");
}

TEST_CASE("a sink that has raised is heard, whatever it gives") {
  World w;
  for (const bool given : {false, true}) {
    struct Sink {
      posset_context* context;
      bool given;
    } sink{w.context, given};
    auto write = [](void* data, const char*, size_t) {
      const auto& self = *static_cast<const Sink*>(data);
      posset_raise(self.context, POSSET_ERROR_BadArgument, text("the disk is full"));
      return self.given;
    };
    posset_context_set_output(w.context, write, &sink);
    CHECK(w.show("try { print(1) } catch e { e.message }") == "\"the disk is full\"");
    CHECK(w.show("print(1)") == "raised: the disk is full");
    posset_context_set_output(w.context, nullptr, nullptr);
  }
}

TEST_CASE("data of the host is dropped when it is replaced and when the context ends") {
  static int dropped;
  static const char key = 0;
  dropped = 0;
  {
    World w;
    auto drop = [](void* data) { dropped += *static_cast<int*>(data); };
    static int one = 1, ten = 10;
    CHECK(posset_get_data(w.context, &key) == nullptr);
    CHECK(posset_set_data(w.context, &key, &one, drop) == POSSET_OK);
    CHECK(posset_get_data(w.context, &key) == &one);
    CHECK(posset_set_data(w.context, &key, &ten, drop) == POSSET_OK);
    CHECK(dropped == 1);
  }
  CHECK(dropped == 11);
}

TEST_CASE("options out of range are refused, those of later versions said to be so") {
  posset_runtime* runtime = nullptr;
  posset_runtime_options options = posset_runtime_defaults();
  options.max_tier = 4;
  CHECK(posset_runtime_create(&options, &runtime) == POSSET_MISUSE);
  options = posset_runtime_defaults();
  options.forced_tier = 2;
  const bool native = posset_native_tier(2) != nullptr;
  CHECK(posset_runtime_create(&options, &runtime) == (native ? POSSET_OK : POSSET_NOT_BUILT));
  if (native) posset_runtime_release(runtime);
  options = posset_runtime_defaults();
  options.workers = 8;
  CHECK(posset_runtime_create(&options, &runtime) == POSSET_OK);
  posset_runtime_release(runtime);
  options.workers = 5000;
  CHECK(posset_runtime_create(&options, &runtime) == POSSET_MISUSE);
  World w;
  posset_context* context = nullptr;
  posset_context_options wrong = posset_context_defaults();
  wrong.time_limit_seconds = -1;
  CHECK(posset_context_create(w.runtime, &wrong, &context) == POSSET_MISUSE);
  wrong = posset_context_defaults();
  wrong.grants = 1 << 20;
  CHECK(posset_context_create(w.runtime, &wrong, &context) == POSSET_MISUSE);
  CHECK(posset_context_create(nullptr, nullptr, &context) == POSSET_MISUSE);
}

TEST_CASE("context regression: a directory without a name was every directory") {
  World w;
  for (const char* posset_context_options::*directory : {&posset_context_options::read_directory, &posset_context_options::write_directory}) {
    posset_context_options options = posset_context_defaults();
    options.grants = POSSET_GRANT_READ | POSSET_GRANT_WRITE;
    options.*directory = "";
    posset_context* context = nullptr;
    CHECK(posset_context_create(w.runtime, &options, &context) == POSSET_MISUSE);
    CHECK(posset_context_set_options(w.context, &options) == POSSET_MISUSE);
    CHECK(std::string_view(posset_misuse_text(w.context).data).find("_directory is empty") != std::string_view::npos);
  }
}

TEST_CASE("null handles are misuse everywhere") {
  posset_value v = posset_nil();
  CHECK(posset_eval(nullptr, text("1"), &v, nullptr) == POSSET_MISUSE);
  CHECK(posset_invoke(nullptr, posset_nil(), nullptr, 0, &v) == POSSET_MISUSE);
  CHECK(posset_list(nullptr, 0, &v) == POSSET_MISUSE);
  CHECK(posset_run(nullptr, &v) == POSSET_MISUSE);
  CHECK(posset_take_error(nullptr) == nullptr);
  posset_error_free(nullptr);
  posset_program_free(nullptr);
  posset_context_release(nullptr);
  posset_runtime_release(nullptr);
  posset_interrupt(nullptr);
}

TEST_CASE("a finished context runs nothing and tells of leaks") {
  World w;
  posset_value kept = posset_nil();
  REQUIRE(w.eval("let secret = [1, 2, 3]\nfn sum_of(n) => sum(secret) + n\nsum_of", &kept) ==
          POSSET_OK);
  REQUIRE(posset_context_finish(w.context) == POSSET_OK);
  CHECK(w.statistics().live_objects >= 1);
  posset_value argument = posset_int(1);
  CHECK(posset_invoke(w.context, kept, &argument, 1, nullptr) == POSSET_MISUSE);
  CHECK(w.eval("1") == POSSET_MISUSE);
  posset_release(kept);
}

TEST_CASE("contexts move between threads") {
  World w;
  std::thread other([&] { CHECK(w.show("fold(0..10, 0, (a, b) => a + b)") == "45"); });
  other.join();
  CHECK(w.show("str(1) + \"x\"") == "\"1x\"");
}

TEST_CASE("statistics count steps, objects and units") {
  World w;
  CHECK(w.show("var t = 0\nfor i in 0..1000 { t += i }\nt") == "499500");
  posset_runtime_settle(w.runtime);
  posset_statistics s = w.statistics();
  CHECK(s.steps >= 1000);
  CHECK(s.units >= 1);
  CHECK(s.compiled[1] >= 1);
  CHECK(s.code_bytes[1] > 0);
  CHECK(s.peak_bytes >= s.used_bytes);
  CHECK(s.modules == 0);
}
