// See trace_scripts.h. Traces are JSON, so what reads them is in our own language, which has everything for it.
#include "cli/trace_scripts.h"

namespace posset::cli {

namespace {

constexpr const char* kRead = R"script(
import "json"
import "lists"

fn problem(text) { throw error(text) }

fn trace_of(text) {
  let trace = try { json.decode(text) } catch e { problem("not JSON: {e.message}") }
  if type(trace) != "map" or not ("traceEvents" in trace) or not ("otherData" in trace) {
    problem("not a trace of posset")
  }
  let other = trace["otherData"]
  let version = get(other, "version")
  if version != 1 { problem("version {version}, and this command knows version 1") }
  let all = filter(trace["traceEvents"], e => type(e) == "map" and "event" in get(e, "args", [:]))
  {
    dropped: get(other, "dropped", 0), settings: get(other, "settings", [:]), units: get(other, "units", []),
    events: sort_by(map(all, e => e["args"]), a => a["sequence"])
  }
}

fn load(i) => try { trace_of(texts[i]) } catch e { problem("{files[i]}: {e.message}") }
)script";

constexpr const char* kDiff = R"script(
# Of an event's arguments these say what happened, and the others when, where and how much; whatever is a
# name of a closed set (a tier, a reason, an outcome) is among the texts.
let not_compared = ["event", "unit_name", "unit_place", "name", "place", "file", "hash", "own_hash", "at"]
# What is there or not according to when background compilations ended.
let timed = ["unit_seen", "unit_lines", "unit_forgotten", "code_evicted", "compile_requested", "compile_postponed",
  "compile_started", "tier_entered", "cache_refused"]
let outcomes = ["compile_finished", "compile_refused"]

fn line_of(args) {
  var line = args["event"]
  for [name, value] in args {
    let compared = name == "tier" or type(value) == "str" and not (name in not_compared)
    if compared { line = "{line} {name}={value}" }
  }
  line
}

# key -> the unit; its parts -> the arguments of their events
fn units_of(events) {
  var units = [:]
  var known = [:]
  for args in filter(events, a => "unit" in a) {
    if "hash" in args { known[args["unit"]] = "{args["unit_name"]} [{args["hash"]}]" }
    let key = get(known, args["unit"], args["unit_name"])
    if not (key in units) {
      let title = "{args["unit_name"]} ({args["unit_place"]})"
      units[key] = {name: args["unit_name"], title: title, own: get(args, "own_hash", ""), parts: [:]}
    }
    let loop = get(args, "loop", -1)
    units[key].parts[if loop < 0 { "body" } else { "loop {loop}" }, []].push(args)
  }
  units
}

# ---- runs that compile in the foreground: every event has its place ----

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
  if a == b { return [] }
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

# ---- runs that compile in the background: what they decided, whenever that came to pass ----

fn of_tier(events, names, tier) => filter(events, e => e["event"] in names and get(e, "tier") == tier)

# Counted in the tiers below; in those above tier 1 by code that came at some time.
fn crossing(events, tier) {
  let all = of_tier(events, ["threshold_crossed"], tier)
  if len(all) == 0 { [] } else { ["threshold_crossed tier={tier} count={all[0]["count"]}"] }
}

# `unsure`: what this run lacks may have been dropped, or not counted since the function around was code.
fn same_crossing(a, b, tier, unsure_a, unsure_b) {
  if len(a) > 0 and len(b) > 0 { return a == b or tier > 1 }
  (len(a) > 0 or unsure_a or tier > 1) and (len(b) > 0 or unsure_b or tier > 1)
}

fn decisions(a, b, tier, unsure_a, unsure_b) {
  var found = []
  let asked_a = crossing(a, tier)
  let asked_b = crossing(b, tier)
  if asked_a != asked_b and not same_crossing(asked_a, asked_b, tier, unsure_a, unsure_b) {
    found = marked(asked_a, "-") + marked(asked_b, "+")
  }
  let result_a = lists.unique(sort(map(of_tier(a, outcomes, tier), line_of)))
  let result_b = lists.unique(sort(map(of_tier(b, outcomes, tier), line_of)))
  if len(result_a) > 0 and len(result_b) > 0 and result_a != result_b {
    found = found + marked(result_a, "-") + marked(result_b, "+")
  }
  found
}

fn counts(lines) {
  var found = [:]
  for line in lines { found[line, 0] += 1 }
  found
}

# What one run has more often: differences, and [line, is it the first run] where that is a matter of time.
# Events no rule is about are differences.
fn other_events(a, b) {
  let in_a = counts(map(a, line_of))
  let in_b = counts(map(b, line_of))
  var differences = []
  var timing = []
  for line in lists.unique(keys(in_a) + keys(in_b)) {
    let event = split(line, " ")[0]
    let before = get(in_a, line, 0)
    let after = get(in_b, line, 0)
    if before != after {
      if event in timed or event in outcomes or event == "threshold_crossed" {
        timing.push([line, before > after])
      } else {
        differences = differences + marked([for i in after..before => line], "-") + marked([for i in before..after => line], "+")
      }
    }
  }
  {differences: differences, timing: timing}
}

fn entered_elsewhere(unit, part) {
  let others = filter(keys(unit.parts), k => k != part)
  any(others, k => any(unit.parts[k], e => e["event"] == "tier_entered"))
}

# Only one run counted this loop of a function that is code: that run divided it, when it had gone on for long enough.
fn divided_in_one(a, b, part) {
  let in_a = any(get(a.parts, part, []), e => e["event"] == "threshold_crossed")
  let in_b = any(get(b.parts, part, []), e => e["event"] == "threshold_crossed")
  in_a != in_b and entered_elsewhere(if in_a { b } else { a }, part)
}

fn compare_part(a, b, part, how) {
  let before = get(a.parts, part, [])
  let after = get(b.parts, part, [])
  if how.foreground and not divided_in_one(a, b, part) { return {differences: changes(map(before, line_of), map(after, line_of)), timing: []} }
  var found = other_events(before, after)
  let unsure_a = how.dropped_a or entered_elsewhere(a, part)
  let unsure_b = how.dropped_b or entered_elsewhere(b, part)
  for tier in 1..=3 {
    found.differences = found.differences + decisions(before, after, tier, unsure_a, unsure_b)
  }
  found
}

# ---- whole runs ----

fn compare_unit(a, b, how) {
  var found = {differences: [], timing: []}
  for part in sort(lists.unique(keys(a.parts) + keys(b.parts))) {
    let here = compare_part(a, b, part, how)
    if len(here.differences) > 0 { found.differences = found.differences + ["  {part}"] + here.differences }
    found.timing = found.timing + here.timing
  }
  found
}

# Units of one name that both runs have with different hashes: [key, key, is it the same but for what it calls].
fn pairs_of(before, after) {
  var pairs = []
  var left = filter(keys(after), k => not (k in before))
  var gone = filter(keys(before), k => not (k in after))
  for same in [true, false] {
    for key in gone {
      let a = before[key]
      let fitting = filter(left, k => after[k].name == a.name and (not same or after[k].own == a.own))
      if len(fitting) > 0 {
        pairs.push([key, fitting[0], same])
        left = filter(left, k => k != fitting[0])
        gone = filter(gone, k => k != key)
      }
    }
  }
  {pairs: pairs, gone: gone, come: left}
}

fn settings_of(a, b) {
  let both = filter(keys(a), k => k in b and a[k] != b[k])
  if len(both) == 0 { [] } else { ["settings"] + map(both, k => "  {k}: {a[k]} and {b[k]}") }
}

fn is_foreground(trace) => trace.dropped == 0 and not any(trace.events, e => e["event"] == "compile_requested")

fn tell_timing(timing) {
  if len(timing) > 0 { println("a matter of time, in how many parts of units more often:") }
  for line in lists.unique(map(timing, t => t[0])) {
    let in_first = count(timing, t => t[0] == line and t[1])
    let in_second = count(timing, t => t[0] == line and not t[1])
    println("  {line}: {in_first} in {files[0]}, {in_second} in {files[1]}")
  }
}

fn compare() {
  let a = load(0)
  let b = load(1)
  let before = units_of(a.events)
  let after = units_of(b.events)
  let how = {
    foreground: is_foreground(a) and is_foreground(b), dropped_a: a.dropped > 0, dropped_b: b.dropped > 0
  }
  var told = settings_of(a.settings, b.settings)
  var timing = []
  let apart = pairs_of(before, after)
  var callers = []
  for [key, other, same] in map(filter(keys(before), k => k in after), k => [k, k, true]) + apart.pairs {
    let title = before[key].title
    let found = compare_unit(before[key], after[other], how)
    if not same { told = told + ["{title}: different code"] }
    if same and key != other { callers.push(title) }
    if len(found.differences) > 0 { told = told + (if same { [title] } else { [] }) + found.differences }
    timing = timing + found.timing
  }
  told = told + map(apart.gone, k => "{before[k].title} only in {files[0]}") + map(apart.come, k => "{after[k].title} only in {files[1]}")
  if len(callers) > 0 { told = told + ["different only in what they call: {join(callers, ", ")}"] }
  for line in told { println(line) }
  if len(told) == 0 { println("no difference") }
  tell_timing(timing)
  for [trace, name] in [[a, files[0]], [b, files[1]]] {
    if trace.dropped > 0 { println("{name} lacks {trace.dropped} events that were dropped") }
  }
  if len(told) > 0 { 1 } else { 0 }
}

compare()
)script";

// Says what `posset why NAME FILE` says of a run.
constexpr const char* kWhy = R"script(
fn where(unit, part) {
  if part["loop"] >= 0 { return "  loop {part["loop"]} ({part["file"]}:{part["first"]})" }
  if unit["name"] == "<top>" { "top level of {part["file"]}" } else { "fn {unit["name"]} ({unit["place"]})" }
}

fn tell() {
  let trace = load(0)
  let found = filter(trace.units, u => u["name"] == unit)
  if len(found) == 0 { return nil }
  var reasons = []
  for each in found {
    for part in each["parts"] {
      let tier = part["tier"]
      let along = if part["within"] { " as part of the code around it" } else { "" }
      let now = if each["forgotten"] { "forgotten" } else { "tier {tier} ({trace.settings["tiers"][tier]}){along}" }
      println("{where(each, part)}: {now}")
      for [level, reason, text] in part["why"] {
        println("{if part["loop"] < 0 { "" } else { "  " }}  tier {level}: {text} [{reason}]")
        if not (reason in reasons) { reasons.push(reason) }
      }
      for text in get(part, "exits", []) { println("{if part["loop"] < 0 { "" } else { "  " }}  {text}") }
    }
  }
  for reason in reasons {
    for [name, page] in pages {
      if name == reason { println("\n{name}: {page}") }
    }
  }
  0
}

tell()
)script";

}  // namespace

std::string trace_diff_script() { return std::string(kRead) + kDiff; }
std::string trace_why_script() { return std::string(kRead) + kWhy; }

}  // namespace posset::cli
