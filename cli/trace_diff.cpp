// `posset trace diff A B`: what happened in two runs, compared by logical order: for each unit, known by name
// and structural hash, and each of its parts, the events one after the other, without times, threads and
// job numbers. The traces are JSON, so the comparison is a script of our own language, which has everything
// for it; it is run without limits in a context that is granted nothing.
#include <cstdio>

#include "cli/host.h"
#include "cli/verbs.h"

namespace posset::cli {

namespace {

// `text_a` and `text_b` are the texts, `files` what they are called. Its value is the exit status.
constexpr const char* kScript = R"script(
import "json"

# Of an event's arguments these say what happened, and the others when, where and how much; whatever is a
# name of a closed set (a tier, a reason, an outcome) is among the texts.
let not_compared = ["event", "unit_name", "unit_place", "name", "place", "file", "hash"]

fn problem(text) { throw error(text) }

fn events_of(text) {
  let trace = try { json.decode(text) } catch e { problem("not JSON: {e.message}") }
  if type(trace) != "map" or not ("traceEvents" in trace) or not ("otherData" in trace) {
    problem("not a trace of posset")
  }
  let version = get(trace["otherData"], "version")
  if version != 1 { problem("version {version}, and this command knows version 1") }
  let all = filter(trace["traceEvents"], e => type(e) == "map" and "event" in get(e, "args", [:]))
  {dropped: get(trace["otherData"], "dropped", 0), events: sort_by(map(all, e => e["args"]), a => a["sequence"])}
}

fn line_of(args) {
  var line = args["event"]
  for [name, value] in args {
    let compared = name == "tier" or type(value) == "str" and not (name in not_compared)
    if compared { line = "{line} {name}={value}" }
  }
  line
}

# unit -> part -> what happened, one line each
fn histories(events) {
  var units = [:]
  var names = [:]
  for args in events {
    if "unit" in args {
      let number = args["unit"]
      if "hash" in args { names[number] = "{args["unit_name"]} [{args["hash"]}]" }
      let key = get(names, number, args["unit_name"])
      let loop = get(args, "loop", -1)
      let part = if loop < 0 { "body" } else { "loop {loop}" }
      units[key, [:]][part, []].push(line_of(args))
    }
  }
  units
}

# The table of longest common subsequences of what follows each pair of positions.
fn common_lengths(a, b) {
  var rows = [for i in 0..=len(a) => [for j in 0..=len(b) => 0]]
  for i in reverse(0..len(a)) {
    for j in reverse(0..len(b)) {
      rows[i][j] = if a[i] == b[j] { rows[i + 1][j + 1] + 1 } else { max(rows[i + 1][j], rows[i][j + 1]) }
    }
  }
  rows
}

fn marked(lines, mark) => map(lines, line => "    {mark} {line}")

fn changes(a, b) {
  # More than that nobody reads line by line.
  if len(a) * len(b) > 250000 { return ["    {len(a)} events, {len(b)} events"] }
  let rows = common_lengths(a, b)
  var found = []
  var i = 0
  var j = 0
  while i < len(a) and j < len(b) {
    if a[i] == b[j] {
      i += 1
      j += 1
    } else if rows[i + 1][j] >= rows[i][j + 1] {
      found.push("    - {a[i]}")
      i += 1
    } else {
      found.push("    + {b[j]}")
      j += 1
    }
  }
  found + marked(a[i..len(a)], "-") + marked(b[j..len(b)], "+")
}

fn compare_unit(key, a, b) {
  var told = []
  for part in sort(keys(a) + filter(keys(b), k => not (k in a))) {
    let before = get(a, part, [])
    let after = get(b, part, [])
    if before != after { told = told + ["  {part}"] + changes(before, after) }
  }
  if len(told) > 0 {
    println(key)
    for line in told { println(line) }
  }
  len(told) > 0
}

fn load(text, name) => try { events_of(text) } catch e { problem("{name}: {e.message}") }

fn compare() {
  let a = load(text_a, files[0])
  let b = load(text_b, files[1])
  let before = histories(a.events)
  let after = histories(b.events)
  var differ = 0
  for key in keys(before) + filter(keys(after), k => not (k in before)) {
    if not (key in before) or not (key in after) {
      println("{key} only in {if key in before { files[0] } else { files[1] }}")
      differ += 1
    } else if compare_unit(key, before[key], after[key]) {
      differ += 1
    }
  }
  for [trace, name] in [[a, files[0]], [b, files[1]]] {
    if trace.dropped > 0 { println("{name} lacks {trace.dropped} events that were dropped") }
  }
  if differ > 0 { 1 } else { 0 }
}

compare()
)script";

posset_text whole(const std::string& text) { return posset_text_n(text.data(), text.size()); }

// False: it was said why.
bool set_file(Host& host, const char* global, const std::string& path) {
  std::string text, why;
  if (!read_source(path, text, why)) {
    host.print_error_text("posset: " + why + "\n");
    return false;
  }
  posset_value value;
  if (posset_string(host.context(), whole(text), &value) != POSSET_OK) {
    host.print_error_text("posset: " + path + ": not a trace of posset\n");  // not even UTF-8
    return false;
  }
  return posset_set_global(host.context(), posset_text_of(global), value) == POSSET_OK;
}

bool set_names(Host& host, const std::string& first, const std::string& second) {
  posset_value list;
  if (posset_list(host.context(), 2, &list) != POSSET_OK) return false;
  for (const std::string& name : {first, second}) {
    posset_value text;
    if (posset_string_lossy(host.context(), whole(name), &text) != POSSET_OK) return false;
    if (posset_list_push(host.context(), &list, text) != POSSET_OK) return false;
  }
  return posset_set_global(host.context(), posset_text_of("files"), list) == POSSET_OK;
}

std::string taken_message(Host& host) {
  posset_error* error = posset_take_error(host.context());
  if (!error) return "it cannot be compared";
  posset_error_info info;
  info.size = sizeof info;
  posset_error_get(error, &info);
  std::string message(info.message.data, info.message.size);
  posset_error_free(error);
  return message;
}

}  // namespace

int trace_diff(const CommandLine& line) {
  Host host(line);
  if (host.status() != kDone) return host.status();
  const std::string &first = line.arguments[0], &second = line.arguments[1];
  if (!set_file(host, "text_a", first) || !set_file(host, "text_b", second)) return kUsage;
  if (!set_names(host, first, second)) return kUsage;
  posset_value value = posset_nil();
  posset_source source = posset_source_of("<trace diff>", posset_text_of(kScript));
  posset_program* program = nullptr;
  posset_diagnostics* diagnostics = nullptr;
  posset_status status = posset_load(host.context(), &source, &program, &diagnostics);
  if (diagnostics) host.report(diagnostics);
  if (status == POSSET_OK) status = posset_run(program, &value);
  posset_program_free(program);
  if (status != POSSET_OK) {
    host.print_error_text("posset: " + taken_message(host) + "\n");
    return kUsage;
  }
  const bool same = posset_is_int(value) && posset_as_int(value) == 0;
  posset_release(value);
  const int exit = host.finish(POSSET_OK, nullptr);
  return exit != kDone ? kUsage : same ? kDone : kScriptError;
}

}  // namespace posset::cli
