"""Command-line cases: --trace in its three forms, the page in a browser, files that cannot be, `trace diff`."""

import html.parser
import itertools
import json
import re
import shutil

import chrome_trace
import harness
from cli_case import case, each
from harness import Failure, Skip

SCRIPT = """fn area(r) => 3 * r * r
fn total(n) {
  var t = 0
  for i in 0..n { t += area(i) }
  t
}
println(sum([for k in 0..300 => total(k)]))
"""
LINE = re.compile(r"\+\d+\.\d{3}ms [\w-]+ [a-z_]+ (\w+=\S.*)?")
DIVIDED = re.compile(r"# parts at \S+: \d+ taken\b.*")  # of loops that took long enough to be divided
SUMMARY = re.compile(r"# tier [123]: \d+ compiled(, median [\d.]+(ns|us|ms|s), longest [\d.]+(ns|us|ms|s))?(, \d+ out of the cache)?")


def lines_of(outcome):
    return outcome.stderr.removesuffix("\n").split("\n")


@case
def trace_to_standard_error_is_lines(cli):
    # Whether a thread that compiles has a processor before the script ends is up to the system.
    for _ in range(20):
        outcome = cli.script(SCRIPT, "--trace", "-").ends(0)
        if " loop=0 tier=1 job=" in outcome.stderr and "compile_finished unit=total" in outcome.stderr:
            break
    lines = lines_of(outcome)
    if not re.fullmatch(r"# posset trace 1, posset [\d.]+", lines[0]) or lines[-1] != "# 0 events dropped":
        outcome.fail("the first line should say the version, the last how many events were dropped")
    summary = [line for line in lines[1:-1] if line.startswith("#") and not DIVIDED.fullmatch(line)]
    if not summary or summary != lines[-1 - len(summary):-1] or not all(map(SUMMARY.fullmatch, summary)):
        outcome.fail("the lines before the last should say how many units were compiled for each tier, and how long that took")
    for line in lines[1:-1 - len(summary)]:
        if not LINE.fullmatch(line) and not DIVIDED.fullmatch(line):
            outcome.fail(f"not an event: {line}")
    outcome.says("main unit_seen unit=area (script.posset:1:1)", "compile_finished unit=total (script.posset:2:1) loop=0 tier=1 job=")


@case
def the_trace_goes_below_the_output_and_does_not_change_it(cli):
    plain = cli.script(SCRIPT).ends(0)
    for target in ("-", "t.json", "t.html"):
        cli.script(SCRIPT, "--trace", target).ends(0).prints(plain.stdout)


@each({"tier1": ["--tier", "1"], "forced1": ["--force-tier", "1"], "tier0": ["--tier", "0"], "default": [],
       "small_ring": ["--trace-events", "5"]})
def a_json_trace_keeps_the_rules_of_the_format(cli, options):
    cli.script(SCRIPT, *options, "--trace", "t.json").ends(0)
    problems = chrome_trace.problems_of((cli.folder / "t.json").read_text(encoding="utf-8"))
    if problems:
        raise Failure("\n".join(problems[:10]))


@case
def arrows_lead_from_the_request_over_the_compilation_to_the_entry(cli):
    # Long enough that what is compiled in the background is entered.
    cli.script(SCRIPT.replace("0..300", "0..5000"), "--trace", "t.json", timeout=60).ends(0)
    events = json.loads((cli.folder / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    arrows = {}
    for event, before in zip(events[1:], events):
        if event["ph"] in "stf":
            arrows.setdefault(event["id"], []).append((event["ph"], before["args"]["event"], before["args"]["unit_name"]))
    wanted = [("s", "compile_requested", "total"), ("t", "compile_finished", "total"), ("f", "tier_entered", "total")]
    if wanted not in arrows.values():
        raise Failure(f"no such arrow: {arrows}")
    spans = [event for event in events if event["ph"] in "be" and event["name"].endswith(": total")]
    if len(spans) < 2:
        raise Failure("no async span of total's compilation")


TASKS = """import "task"
let c = chan(0)
fn produce(n) {
  for i in 0..n { c.send(i) }
  c.close()
}
fn total() => sum([for x in c => x])
fn fail() { throw "no" }
let begun = chan(1)
fn forever() { begun.send(true); task.sleep(600) }
let p = spawn produce(3)
let t = spawn total()
let f = spawn fail()
try { await f } catch { nil }
let e = spawn forever()
task.sleep(0.001)
begun.recv()
task.cancel(e)
println(await t, len([for x in gen((emit) => { emit(7) }) => x]))
"""


def tracks_of_tasks(events):
    """The async events of each task, by its name: phase and name of each, in their order."""
    tracks, names = {}, {}
    for event in events:
        if event["cat"] == "task":
            names.setdefault(event["id"], event["name"].split(" #")[0])
            tracks.setdefault(names[event["id"]], []).append((event["ph"], event["name"].split(" #")[0]))
    return tracks


@case
def a_task_is_a_track_with_its_waits_inside(cli):
    cli.script(TASKS, "--trace", "t.json").ends(0).prints("3 1\n")
    text = (cli.folder / "t.json").read_text(encoding="utf-8")
    if problems := chrome_trace.problems_of(text):
        raise Failure("\n".join(problems[:10]))
    events = json.loads(text)["traceEvents"]
    tracks = tracks_of_tasks(events)
    if set(tracks) != {"evaluation", "produce", "total", "fail", "forever", "<fn>"}:
        raise Failure(f"tracks of other tasks: {sorted(tracks)}")
    wanted = {"produce": "a channel to send to", "total": "a channel to receive from", "forever": "a time",
              "<fn>": "somebody to want a value", "evaluation": "a time"}
    for name, track in tracks.items():
        if track[0] != ("b", name) or track[-1] != ("e", name) or (name != "evaluation") != (("n", "begins") in track):
            raise Failure(f"{name} does not begin and end: {track}")
        what = f"waits for {wanted.get(name)}"
        if name in wanted and track.count(("b", what)) * track.count(("e", what)) == 0:
            raise Failure(f"{name} should have waited for {wanted[name]}: {track}")
    if ("b", "waits for a task") not in tracks["evaluation"]:
        raise Failure(f"the evaluation awaits a task: {tracks['evaluation']}")
    outcomes = {event["args"]["name"]: event["args"]["outcome"] for event in events
                if event.get("args", {}).get("event") == "task_ended"}
    if outcomes != {"evaluation": "done", "produce": "done", "total": "done", "fail": "failed", "forever": "cancelled",
                    "<fn>": "done"}:
        raise Failure(f"outcomes: {outcomes}")
    if not all(event["ph"] == "X" for event in events if event["name"] == "task_ran produce"):
        raise Failure("what a task ran should be a slice")


@case
def the_lines_and_the_page_tell_of_tasks(cli):
    outcome = cli.script(TASKS, "--trace", "-").ends(0)
    outcome.says("main task_made task=2 name=produce place=script.posset:3:1\n", "name=produce until=a channel to send to took=",
                 "name=forever outcome=cancelled\n", "name=fail outcome=failed\n")
    cli.script(TASKS, "--trace", "t.html").ends(0)
    if '"task_ran","task=2 name=produce' not in (cli.folder / "t.html").read_text(encoding="utf-8"):
        raise Failure("the page does not tell what ran")


@each({"three": "3", "ten": "10", "thirty": "30"})
def a_ring_that_has_lost_how_tasks_began_gives_whole_tracks(cli, size):
    cli.script(TASKS, "--tier", "0", "--trace", "t.json", "--trace-events", size).ends(0)
    text = (cli.folder / "t.json").read_text(encoding="utf-8")
    if problems := chrome_trace.problems_of(text):
        raise Failure("\n".join(problems[:10]))
    if not tracks_of_tasks(json.loads(text)["traceEvents"]):
        raise Failure("there should be tracks")


@case
def an_evaluation_without_tasks_has_no_track(cli):
    cli.script(SCRIPT, "--trace", "t.json").ends(0)
    if tracks := tracks_of_tasks(json.loads((cli.folder / "t.json").read_text(encoding="utf-8"))["traceEvents"]):
        raise Failure(f"tracks: {tracks}")


@case
def what_tasks_wait_for_is_no_difference(cli):
    two_traces(cli, TASKS, TASKS, "--force-tier", "1").ends(0).prints("no difference\n")
    text = (cli.folder / "b.json").read_text(encoding="utf-8")
    changed = text.replace("a channel to send to", "a task")
    if changed == text:
        raise Failure("nobody waited to send")
    cli.write("b.json", changed)
    cli("trace", "diff", "a.json", "b.json").ends(0).prints("no difference\n")


@case
def a_failing_script_is_traced_too(cli):
    cli.script(SCRIPT + 'throw "x"', "--trace", "t.json").ends(1)
    if chrome_trace.problems_of((cli.folder / "t.json").read_text(encoding="utf-8")):
        raise Failure("no good trace")
    cli.script("let = 1", "--trace", "-").ends(3).says("# posset trace 1", "# 0 events dropped")


@each({"text": "trace.txt", "none": "trace", "ending_only_inside": "trace.json.gz", "capital": "t.HTML"})
def a_trace_file_of_another_ending_is_wrong_usage(cli, name):
    cli.script("println(1)", "--trace", name).ends(2).prints("").says("--trace", ".json", ".html")
    if (cli.folder / name).exists():
        raise Failure("the file was made")


@case
def a_trace_file_that_cannot_be_written_is_said_before_the_run(cli):
    cli.script("println(1)", "--trace", "nowhere/t.json").ends(2).prints("").says(
        "cannot write the trace nowhere/t.json", "no such file")
    (cli.folder / "folder.json").mkdir()
    cli.script("println(1)", "--trace", "folder.json").ends(2).prints("").says("folder.json", "directory")


@case
def a_file_that_is_there_is_replaced_whole(cli):
    cli.write("t.json", "x" * 1_000_000)
    cli.script("println(1)", "--trace", "t.json").ends(0)
    json.loads((cli.folder / "t.json").read_text(encoding="utf-8"))


@case
def a_full_ring_says_how_many_events_it_dropped(cli):
    outcome = cli.script(SCRIPT, "--trace", "-", "--trace-events", "4", "--force-tier", "1").ends(0)
    dropped = re.fullmatch(r"# (\d+) events dropped", lines_of(outcome)[-1])
    if not dropped or dropped[1] == "0":
        outcome.fail("events should have been dropped")


@case
def the_repl_writes_one_trace_after_a_reset(cli):
    cli("repl", "--trace", "t.json", stdin="fn f(x) => x\nf(1)\n:reset\n1 + 1\n").ends(0)
    problems = chrome_trace.problems_of((cli.folder / "t.json").read_text(encoding="utf-8"))
    if problems:
        raise Failure("\n".join(problems))


@case
def nothing_of_a_script_becomes_markup_of_the_page(cli):
    name = "</script><img onerror=1>.posset".replace("/", "_")
    cli.script('fn f(x) => x + "</script><img src=x onerror=alert(1)>"\nprintln(len(f("")))',
               "--trace", "t.html", name=name).ends(0)
    page = (cli.folder / "t.html").read_text(encoding="utf-8")
    if "<img" in page or page.count("</script>") != 2:
        raise Failure("text of the script stands in the page unescaped")
    if re.search(r"(src|href)=|https?://|@import|url\(", page.replace("onerror", "").replace("img src=x", "")):
        raise Failure("the page asks for something from elsewhere")


def two_traces(cli, first, second, *options):
    for name, source in (("a", first), ("b", second)):
        cli.write("script.posset", source)
        cli("run", "--trace", f"{name}.json", *options, "script.posset").ends(0)
    return cli("trace", "diff", "a.json", "b.json")


@case
def two_traces_of_one_script_are_the_same(cli):
    # One worker: whether a loop is divided over several depends on how long it took.
    options = ["--tier", "1", "--force-tier", "1", "--workers", "1"]
    two_traces(cli, SCRIPT, SCRIPT, *options).ends(0).prints("no difference\n")
    # Where it stands and what its variables are called is no difference; that its name is another is one.
    two_traces(cli, SCRIPT, "\n\n" + SCRIPT.replace("(r) => 3 * r * r", "(x) => 3 * x * x"), *options).ends(0).prints("no difference\n")


@case
def a_loop_that_only_one_run_divided_is_a_matter_of_time(cli):
    cli.write("script.posset", SCRIPT.replace("0..300", "0..int(args[0])"))
    for rounds in ("3", "4000"):
        cli("run", "--trace", f"{rounds}.json", "--tier", "1", "--force-tier", "1", "--workers", "2", "script.posset", rounds).ends(0)
    cli("trace", "diff", "3.json", "4000.json").ends(0).prints(
        "no difference\na matter of time, in how many parts of units more often:\n"
        + "".join(f"  {event} tier=1: 0 in 3.json, 1 in 4000.json\n"
                  for event in ("threshold_crossed", "compile_started", "compile_finished", "tier_entered")))


# Short enough that now and then code comes after the end; with loops that are counted only while their function
# is walked, one that no tier takes, and units that are evicted at one time or another.
TIMED = SCRIPT + """fn late(n, m) { for i in 0..n { if m > 3 { for k in 0..m { area(k) } } }; n }
for n in 0..40 { late(n % 3, n % 7) }
fn refused(x) => match x { [a, ..r] | {b: a, ..r} => a
  _ => 0 }
for n in 0..5 { refused([n]) }
"""


@each({"default": [], "small_ring": ["--trace-events", "20"], "small_limit": ["--code-limit", "9000"]})
def ten_runs_of_one_program_do_not_differ(cli, options):
    cli.write("script.posset", TIMED)
    for run in range(10):
        cli("run", "--trace", f"{run}.json", *options, "script.posset").ends(0)
    for a, b in itertools.combinations(range(10), 2):
        outcome = cli("trace", "diff", f"{a}.json", f"{b}.json").ends(0)
        if not outcome.stdout.startswith("no difference\n"):
            outcome.fail("two runs of one program on one input should not differ")


@case
def another_threshold_is_a_difference_under_default_options(cli):
    cli.write("script.posset", SCRIPT)
    cli("run", "--trace", "a.json", "script.posset").ends(0)
    cli("run", "--trace", "b.json", "--thresholds", "7,100,500", "script.posset").ends(0)
    outcome = cli("trace", "diff", "a.json", "b.json").ends(1)
    for line in ("settings\n  tier1_after: 2 and 7\n", "area (script.posset:1:1)\n  body\n"
                 "    - threshold_crossed tier=1 count=2\n    + threshold_crossed tier=1 count=7\n"):
        if line not in outcome.stdout:
            outcome.fail(f"does not say: {line}")


@case
def a_unit_that_failed_is_a_difference_under_default_options(cli):
    # Refused or taken: it is called the same and its callers are.
    refused = "fn f(x) => match x { [a, ..r] | {b: a, ..r} => a\n _ => 0 }\n"
    taken = "fn f(x) => match x { [a, ..r] => a\n _ => 0 }\n"
    # Only what became of both compilations can differ, so both runs wait for that.
    calls = "for n in 0..3 { f([n]) }\nwhile strings.contains(runtime.explain(f), \"[being_compiled]\") { }\n"
    modules = "import \"runtime\"\nimport \"strings\"\n"
    outcome = two_traces(cli, modules + taken + calls, modules + refused + calls).ends(1)
    for line in ("f (script.posset:3:1): different code\n", "    - compile_finished tier=1\n",
                 "    + compile_refused tier=1 reason=rest_in_alternatives\n",
                 "different only in what they call: <top> (script.posset:"):
        if line not in outcome.stdout:
            outcome.fail(f"does not say: {line}")


@case
def a_difference_names_the_unit_the_part_and_the_event(cli):
    cli.write("script.posset", SCRIPT)
    cli("run", "--trace", "a.json", "--tier", "1", "--force-tier", "1", "script.posset").ends(0)
    cli("run", "--trace", "b.json", "--tier", "0", "script.posset").ends(0)
    outcome = cli("trace", "diff", "a.json", "b.json").ends(1)
    for line in ("area (script.posset:1:1)\n  body\n", "    - compile_finished tier=1\n", "    - tier_entered tier=1\n"):
        if line not in outcome.stdout:
            outcome.fail(f"does not say: {line}")
    if "    + " in outcome.stdout:
        outcome.fail("all events are in the first trace only")


@each({"default": [], "forced1": ["--force-tier", "1"]})
def an_edit_shows_at_its_unit_and_not_at_its_callers(cli, options):
    outcome = two_traces(cli, SCRIPT, SCRIPT.replace("3 * r", "4 * r"), *options).ends(1)
    said = outcome.stdout.split("a matter of time")[0]
    if said != ("area (script.posset:1:1): different code\n"
                "different only in what they call: <top> (script.posset:1:1), total (script.posset:2:1)\n"):
        outcome.fail("should name area as the one that is different")
    outcome = two_traces(cli, SCRIPT, SCRIPT + "fn more(x) => x\n", *options).ends(1)
    if "more (script.posset:8:1) only in b.json\n" not in outcome.stdout:
        outcome.fail("should say that `more` is new")


@case
def why_tells_of_a_recorded_run_what_it_told_of_the_run(cli):
    # Too short to be divided over workers, of which `why` tells and a trace does not.
    source = SCRIPT.replace("0..300", "0..9") + "fn never(x) => x\nfn refused(x) => match x { [a, ..r] | {b: a, ..r} => a\n _ => 0 }\nrefused(1)\nrefused(2)\n"
    cli.write("a.posset", source)
    for name in ("area", "total", "never", "refused", "<top>"):
        options = ["--tier", "1", "--force-tier", "1"]
        cli("run", "--trace", "t.json", *options, "a.posset").ends(0)
        recorded = cli("why", name, "t.json").ends(0).stdout
        run = cli("why", *options, name, "a.posset").ends(0).stdout.partition("\n")[2]  # after what the script prints
        # A trace knows the lines of loops and not their columns.
        if recorded != re.sub(r"(?m)^(  loop \d+ \(a.posset:\d+):\d+\)", r"\1)", run):
            raise Failure(f"{recorded}\n-- but\n{run}")
    cli("why", "nosuch", "t.json").ends(2).says("no unit called 'nosuch' in t.json")
    cli.write("other.json", "[]")
    cli("why", "area", "other.json").ends(2).says("other.json", "not a trace")


@case
def what_is_no_trace_cannot_be_compared(cli):
    cli.write("text.json", "no JSON")
    cli.write("list.json", "[1, 2]")
    cli.write("other.json", '{"traceEvents": [], "otherData": {"version": 99}}')
    cli.write("bytes.json", b"\xff\xfe")
    cli.script(SCRIPT, "--trace", "a.json").ends(0)
    for name in ("text.json", "list.json", "other.json", "bytes.json", "missing.json"):
        cli("trace", "diff", "a.json", name).ends(2).prints("").says(name)
    for arguments in ([], ["diff"], ["diff", "a.json"], ["same", "a.json", "a.json"]):
        cli("trace", *arguments).ends(2).says("posset trace diff A B")


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class TableReader(html.parser.HTMLParser):
    """The body rows of a table, as lists of texts, and whether the page's script ran to its end."""

    def __init__(self, table="units"):
        super().__init__()
        self.table, self.rows, self.inside, self.ready, self.tags = table, [], False, False, []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.ready = self.ready or tag == "body" and attributes.get("data-ready") == "yes"
        self.inside = attributes.get("id") == self.table if tag == "table" else self.inside
        if self.inside and tag == "tr":
            self.rows.append([])
        elif self.inside and tag == "td":
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "table"

    def handle_data(self, data):
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def opened(cli, table="units"):
    """What a browser makes of the page t.html, read for that table."""
    unlimited = ["sh", "-c", 'ulimit -S -v "$(ulimit -H -v)"; exec "$@"', "sh"]
    done = harness.run([*unlimited, CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={cli.folder}/profile",
                        "--dump-dom", f"file://{cli.folder}/t.html"], b"", 60.0)
    page = TableReader(table)
    page.text = done.stdout + done.stderr
    page.feed(done.stdout)
    page.rows = [row for row in page.rows if row]  # that of the headings has none
    return page


@case(alone=True)
def a_browser_shows_the_page_with_its_table_of_units(cli):
    if not CHROMIUM:
        raise Skip("no chromium to open the page with")
    name = "<img src=x onerror=document.body.remove()>.posset"
    cli.script(SCRIPT, "--force-tier", "1", "--tier", "1", "--trace", "t.html", name=name).ends(0)
    page = opened(cli)
    if not page.ready:
        raise Failure(f"the page's script did not run to its end\n{page.text[-4000:]}")
    if "img" in page.tags:
        raise Failure("the name of a file became an element")
    parts = {(row[0], row[2]): row for row in page.rows if len(row) == 6}
    if {("area", "body"), ("total", "body"), ("<top>", "body")} - set(parts):
        raise Failure(f"units are missing: {sorted(parts)}")
    area = parts["area", "body"]
    if area[1] != f"{name}:1:1" or area[3] != "1" or int(area[4]) < 1 or not re.search("above_highest|not_built", area[5]):
        raise Failure(f"the row of area is {area}")


SOLVES = """import "fixpoint"
fixpoint.solve(50, (i, x) => 0.5 * x[(i + 1) % 50] + 1.0, {tolerance: 1e-9})
try { fixpoint.solve(2, (i, x) => 3.0 * x[1 - i] + 1.0) } catch { nil }
"""

# The first sends more than the edge holds before the second has had a turn.
GRAPH = """import "graph"
let g = graph.new()
g.add("first", {outputs: ["out"], on_start: (_, node) => { for k in 0..10 { node.emit("out", k) } }})
g.add("second", {state: 0, inputs: ["in"], on_message: (s, x, node) => s + x})
g.connect("first:out", "second:in", {capacity: 4})
println(g.run().states["second"])
"""


def page_data(cli):
    page = (cli.folder / "t.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


@case
def the_page_tells_of_solves_with_their_residuals(cli):
    cli.script(SOLVES, "--trace", "t.html").ends(0)
    solves = page_data(cli)["solves"]
    if [solve["status"] for solve in solves] != ["converged", "diverged"]:
        raise Failure(f"solves are {solves}")
    first = solves[0]
    residuals = [point[2] for point in first["points"]]
    if first["coordinates"] != 50 or first["workers"] != 1 or not residuals or residuals[-1] > 1e-9:
        raise Failure(f"the first solve is {first}")
    if first["points"] != sorted(first["points"]) or first["points"][-1][1] != first["updates"] or first["took"] <= 0:
        raise Failure(f"the first solve is {first}")
    cli.script("println(1)", "--trace", "t.html").ends(0)
    if page_data(cli)["solves"] or page_data(cli)["nodes"]:
        raise Failure("a page without solves and graphs has some")


# Small parts are not worth a theft: the quantum is as short as can be, and on a busy machine nobody may come in time.
PARTS = """fn fib(n) => if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
println(fib(26))
"""


@case(alone=True)
def the_page_tells_of_parts_by_their_places(cli):
    for _ in range(50):
        cli.script(PARTS, "--workers", "2", "--quantum", "1", "--trace", "t.html", name="fib.posset").ends(0).prints("121393\n")
        forks = page_data(cli)["forks"]
        if any(fork["work"] > 0 for fork in forks):
            break
    else:
        raise Failure("no part was taken in 50 runs")
    if [fork["place"] for fork in forks] != ["fib.posset:1:49"]:
        raise Failure(f"places are {forks}")
    fork = forks[0]
    if not 0 < fork["span"] <= fork["work"] or fork["elapsed"] <= 0 or fork["taken"] < 1 or fork["again"] != 0:
        raise Failure(f"the place is told as {fork}")
    if CHROMIUM:
        page = opened(cli, "forks")
        if not page.ready or len(page.rows) != 1 or page.rows[0][:2] != ["fib.posset:1:49", str(fork["taken"])] or len(page.rows[0]) != 8:
            raise Failure(f"the table has {page.rows}")
    cli.script("println(1)", "--trace", "t.html").ends(0)
    if page_data(cli)["forks"]:
        raise Failure("a page without parts has some")


@case
def the_page_tells_of_nodes_of_graphs_with_what_waited(cli):
    cli.script(GRAPH, "--trace", "t.html").ends(0).prints("45\n")
    nodes = {node["name"]: node for node in page_data(cli)["nodes"]}
    if set(nodes) != {"first", "second"} or nodes["first"]["blocked"] < 1:
        raise Failure(f"nodes are {nodes}")
    second = nodes["second"]
    if nodes["first"]["full"] != [{"edge": "first:out->second:in", "times": nodes["first"]["blocked"]}] or second["full"]:
        raise Failure(f"full edges are wrong in {nodes}")
    if second["messages"] != 10 or second["bands"] != [{"name": "normal", "turns": second["turns"]}] or not 1 <= second["turns"] <= 10 or second["waiting"] > 4:
        raise Failure(f"the second node is {second}")
    if len(second["points"]) != second["turns"] or second["points"] != sorted(second["points"]):
        raise Failure(f"the second node is {second}")


@case
def the_page_keeps_nodes_of_the_same_name_in_several_graphs_apart(cli):
    cli.script("""import "graph"
fn through(n) {
  let g = graph.new()
  g.add("first", {outputs: ["out"], on_start: (_, node) => { for i in 0..n { node.emit("out", i) } }})
  g.add("second", {inputs: ["in"], state: 0, on_message: (s, x, node) => s + x})
  g.connect("first:out", "second:in", {capacity: 4})
  g.run().states["second"]
}
println(through(10), through(3))
""", "--trace", "t.html").ends(0).prints("45 3\n")
    messages = {node["name"]: node["messages"] for node in page_data(cli)["nodes"]}
    if messages != {"graph 1: first": 0, "graph 1: second": 10, "graph 2: second": 3}:
        raise Failure(f"nodes are {messages}")


@case
def the_page_tells_in_which_bands_a_node_had_its_turns(cli):
    cli.script("""import "graph"
let g = graph.new()
g.add("both", {inputs: ["a", "b"], state: 0, on_message: (s, x, node) => s + x})
g.input("data", "both:a")
g.input("control", "both:b", {priority: 3})
for i in 0..20 { g.send("data", 1) }
g.send("control", 1)
println(g.run().states["both"])
""", "--trace", "t.html").ends(0).prints("21\n")
    (node,) = page_data(cli)["nodes"]
    if [band["name"] for band in node["bands"]] != ["control", "normal"] or sum(band["turns"] for band in node["bands"]) != node["turns"]:
        raise Failure(f"bands are {node}")


@case(alone=True)
def a_browser_shows_the_page_with_solves_and_nodes(cli):
    if not CHROMIUM:
        raise Skip("no chromium to open the page with")
    cli.script(SOLVES + GRAPH, "--trace", "t.html").ends(0)
    page = opened(cli, "solves")
    if not page.ready or [(row[0], row[3]) for row in page.rows] != [("50 coordinates", "converged"), ("2 coordinates", "diverged")]:
        raise Failure(f"solves are {page.rows}")
    rows = opened(cli, "nodes").rows
    if {row[0] for row in rows} != {"first", "second"} or page.tags.count("canvas") != 5:
        raise Failure(f"nodes are {rows}, {page.tags.count('canvas')} curves")
