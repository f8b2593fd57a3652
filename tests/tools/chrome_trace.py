"""Checks a trace against the rules of Chrome's trace-event format, as far as `posset --trace FILE.json` uses
it: what each phase must have, slices that nest, async pairs, arrows that start, end and touch a slice.

`problems_of(text)` gives a list of what is wrong.
"""

import json

REQUIRED = {"ph": str, "name": str, "cat": str, "ts": (int, float), "pid": int, "tid": int}
# Two readings of a time that was written with three digits.
ROUNDING = 0.0015


def problems_of(text):
    try:
        trace = json.loads(text, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word)))
    except ValueError as error:
        return [f"not JSON: {error}"]
    problems = []
    if not isinstance(trace.get("otherData", {}).get("version"), int):
        problems.append("otherData has no version")
    if not isinstance(trace.get("otherData", {}).get("dropped"), int):
        problems.append("otherData does not say how many events were dropped")
    events = trace.get("traceEvents")
    if not isinstance(events, list) or not events:
        return problems + ["no traceEvents"]
    for number, event in enumerate(events):
        problems += [f"event {number}: {problem}: {event}" for problem in problems_of_event(event)]
    if not problems:
        problems += problems_of_slices(events) + problems_of_pairs(events) + problems_of_flows(events)
        problems += problems_of_order(events) + problems_of_names(events)
    return problems


def problems_of_event(event):
    for key, kind in REQUIRED.items():
        if not isinstance(event.get(key), kind):
            return [f"{key} is missing or of another type"]
    if event["ts"] < 0:
        return ["before the beginning"]
    phase, found = event["ph"], []
    if phase == "X" and not (isinstance(event.get("dur"), (int, float)) and event["dur"] >= 0):
        found.append("a slice without a duration")
    if phase == "i" and event.get("s") not in ("t", "p", "g"):
        found.append("an instant without a scope")
    if phase in ("b", "e", "n", "s", "t", "f") and "id" not in event:
        found.append("no id")
    if phase == "f" and event.get("bp") != "e":
        found.append("the end of an arrow that does not bind to the slice around it")
    if phase == "M" and "args" not in event:
        found.append("metadata without args")
    if phase in ("X", "i") and not isinstance(event.get("args", {}).get("event"), str):
        found.append("a record that does not name its event")
    if phase not in ("X", "i", "b", "e", "n", "s", "t", "f", "M"):
        found.append(f"phase {phase}")
    return found


def slices_by_thread(events):
    threads = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append(
                (event["ts"], event["ts"] + event["dur"], event["name"]))
    return threads


def problems_of_slices(events):
    found = []
    for slices in slices_by_thread(events).values():
        open_slices = []
        for begin, end, name in sorted(slices, key=lambda each: (each[0], -each[1])):
            while open_slices and open_slices[-1][1] <= begin + ROUNDING:
                open_slices.pop()
            if open_slices and end > open_slices[-1][1] + ROUNDING:
                found.append(f"slice {name} at {begin} ends after {open_slices[-1][2]}, in which it began")
            open_slices.append((begin, end, name))
    return found


def problems_of_order(events):
    """Perfetto takes what begins at one time as it stands: the outer slice first, and an arrow after its slice."""
    found, before = [], {}
    for event in events:
        if event["ph"] not in "Xstf":
            continue
        where = (event["pid"], event["tid"])
        last = before.get(where)
        if last and event["ts"] < last["ts"]:
            found.append(f"{event['name']} at {event['ts']} stands after {last['name']} at {last['ts']}")
        if event["ph"] == "X":
            if last and event["ts"] == last["ts"] and event["dur"] > last["dur"] + ROUNDING:
                found.append(f"slice {event['name']} at {event['ts']} stands after {last['name']}, which is inside it")
            before[where] = event
        elif not last or last["ts"] != event["ts"]:
            found.append(f"an arrow that does not stand after its slice: {event}")
    return found


def problems_of_pairs(events):
    found, open_spans = [], {}
    for event in sorted((each for each in events if each["ph"] in "be"), key=lambda each: each["ts"]):
        key = (event["cat"], event["id"], event["name"])
        open_spans[key] = open_spans.get(key, 0) + (1 if event["ph"] == "b" else -1)
        if open_spans[key] < 0:
            found.append(f"the async span {key} ends before it begins")
    return found + [f"the async span {key} does not end" for key, count in open_spans.items() if count > 0]


def problems_of_flows(events):
    found, flows, slices = [], {}, slices_by_thread(events)
    for event in events:
        if event["ph"] not in "stf":
            continue
        flows.setdefault((event["cat"], event["name"], event["id"]), []).append(event)
        around = slices.get((event["pid"], event["tid"]), [])
        if not any(begin - ROUNDING <= event["ts"] <= end + ROUNDING for begin, end, _ in around):
            found.append(f"no slice for the arrow {event}")
    for key, steps in flows.items():
        steps.sort(key=lambda each: each["ts"])
        phases = "".join(step["ph"] for step in steps)
        if not (phases.startswith("s") and phases.endswith("f") and set(phases[1:-1]) <= {"t"}):
            found.append(f"the arrow {key} goes {phases}")
    return found


def problems_of_names(events):
    named = {event["tid"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    return [f"thread {tid} has no name" for tid in sorted({event["tid"] for event in events} - named)]
