"""Command-line cases: --trace in its three forms, the page in a browser, files that cannot be, `trace diff`."""

import html.parser
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
PRINTED = "1338882500\n"
LINE = re.compile(r"\+\d+\.\d{3}ms [\w-]+ [a-z_]+ (\w+=\S.*)?")


def lines_of(outcome):
    return outcome.stderr.removesuffix("\n").split("\n")


@case
def trace_to_standard_error_is_lines(cli):
    outcome = cli.script(SCRIPT, "--trace", "-").ends(0)
    lines = lines_of(outcome)
    if not re.fullmatch(r"# posset trace 1, posset [\d.]+", lines[0]) or lines[-1] != "# 0 events dropped":
        outcome.fail("the first line should say the version, the last how many events were dropped")
    for line in lines[1:-1]:
        if not LINE.fullmatch(line):
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
    two_traces(cli, SCRIPT, SCRIPT, "--force-tier", "1").ends(0).prints("")
    # Where it stands and what its variables are called is no difference; that its name is another is one.
    two_traces(cli, SCRIPT, "\n\n" + SCRIPT.replace("(r) => 3 * r * r", "(x) => 3 * x * x"),
               "--force-tier", "1").ends(0).prints("")


@case
def a_difference_names_the_unit_the_part_and_the_event(cli):
    cli.write("script.posset", SCRIPT)
    cli("run", "--trace", "a.json", "--force-tier", "1", "script.posset").ends(0)
    cli("run", "--trace", "b.json", "--tier", "0", "script.posset").ends(0)
    outcome = cli("trace", "diff", "a.json", "b.json").ends(1)
    for line in ("  body\n", "    - compile_finished tier=1\n", "    - tier_entered tier=1\n"):
        if line not in outcome.stdout:
            outcome.fail(f"does not say: {line}")
    if not re.search(r"^area \[[0-9a-f]{32}\]$", outcome.stdout, re.MULTILINE) or "    + " in outcome.stdout:
        outcome.fail("area's events are all in the first trace only")
    other = two_traces(cli, SCRIPT, SCRIPT.replace("3 * r", "4 * r"), "--force-tier", "1").ends(1)
    for name in ("a.json", "b.json"):
        if not re.search(rf"^area \[[0-9a-f]{{32}}\] only in {name}$", other.stdout, re.MULTILINE):
            other.fail(f"does not say which area is only in {name}")


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
    """The body rows of the table with id `units`, as lists of texts, and whether the page's script ran to its end."""

    def __init__(self):
        super().__init__()
        self.rows, self.inside, self.ready, self.tags = [], False, False, []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.ready = self.ready or tag == "body" and attributes.get("data-ready") == "yes"
        self.inside = attributes.get("id") == "units" if tag == "table" else self.inside
        if self.inside and tag == "tr":
            self.rows.append([])
        elif self.inside and tag == "td":
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "table"

    def handle_data(self, data):
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


@case(alone=True)
def a_browser_shows_the_page_with_its_table_of_units(cli):
    if not CHROMIUM:
        raise Skip("no chromium to open the page with")
    name = "<img src=x onerror=document.body.remove()>.posset"
    cli.script(SCRIPT, "--force-tier", "1", "--tier", "1", "--trace", "t.html", name=name).ends(0)
    unlimited = ["sh", "-c", 'ulimit -S -v "$(ulimit -H -v)"; exec "$@"', "sh"]
    done = harness.run([*unlimited, CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={cli.folder}/profile",
                        "--dump-dom", f"file://{cli.folder}/t.html"], b"", 60.0)
    page = TableReader()
    page.feed(done.stdout)
    if not page.ready:
        raise Failure(f"the page's script did not run to its end\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    if "img" in page.tags:
        raise Failure("the name of a file became an element")
    parts = {(row[0], row[2]): row for row in page.rows if len(row) == 6}
    if {("area", "body"), ("total", "body"), ("<top>", "body")} - set(parts):
        raise Failure(f"units are missing: {sorted(parts)}")
    area = parts["area", "body"]
    if area[1] != f"{name}:1:1" or area[3] != "1" or int(area[4]) < 1 or not re.search("above_highest|not_built", area[5]):
        raise Failure(f"the row of area is {area}")
