#!/usr/bin/env python3
"""Checks a trace of KEEL_TRACE: trace_check.py FILE RANKS [CONDITION...].

The format is Chrome's trace event format as Perfetto reads it: trace.schema.json, where Debian's python3-jsonschema is
installed. Spans of a thread nest. A condition is NAME=COUNT or NAME>=COUNT: so many spans or moments begin with that
name. Exit status 1: a check failed; the line says which.

trace_check.py --spoil schema|rules FILE RANKS CHANGE... applies the schema alone, or all but the schema, to the trace
and to the trace after each change, a statement of Python. Exit status 1: a change was not noticed; 77: no
python3-jsonschema."""
import copy
import json
import os
import re
import sys

try:
    import jsonschema
except ImportError:
    jsonschema = None

PHASES = {
    "M": {"name", "pid", "tid", "args"},
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "i": {"name", "cat", "pid", "tid", "ts", "s", "args"},
    "C": {"name", "cat", "pid", "tid", "ts", "args"},
}


def fail(text):
    print("trace_check.py:", text, file=sys.stderr)
    sys.exit(1)


def is_time(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def check_event(event):
    """Each field is there, with its type, and there is no other one."""
    if not isinstance(event, dict) or event.get("ph") not in PHASES:
        fail(f"no event of the format: {event}")
    if set(event) - {"ph"} != PHASES[event["ph"]]:
        fail(f"fields are missing or unknown: {event}")
    if not all(isinstance(event[name], int) and event[name] >= 0 for name in ("pid", "tid")):
        fail(f"pid or tid is no number: {event}")
    if not isinstance(event["name"], str) or not isinstance(event["args"], dict):
        fail(f"name or args has a wrong type: {event}")
    for name in ("ts", "dur"):
        if name in event and not is_time(event[name]):
            fail(f"{name} is no time: {event}")
    if event["ph"] == "i" and event["s"] not in ("g", "p", "t"):
        fail(f"a moment without a scope: {event}")
    if event["ph"] == "C" and not all(is_time(value) for value in event["args"].values()):
        fail(f"a counter without numbers: {event}")


def check_nesting(spans):
    """A span that begins within another one of its thread ends within it."""
    open_spans = []
    for span in sorted(spans, key=lambda s: (s["ts"], -s["dur"])):
        end = round(span["ts"] + span["dur"], 3)
        while open_spans and open_spans[-1][0] <= span["ts"]:
            open_spans.pop()
        if open_spans and end > open_spans[-1][0]:
            fail(f"{span} leaves {open_spans[-1][1]}")
        open_spans.append((end, span))


def check_schema(trace):
    """The trace fits trace.schema.json."""
    if jsonschema is None:
        print("skipped: no python3-jsonschema, so the trace's schema is not applied")
        return
    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "trace.schema.json"), encoding="ascii") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    for error in jsonschema.Draft7Validator(schema).iter_errors(trace):
        fail(f"{'/'.join(str(part) for part in error.absolute_path)}: {error.message[:400]}")


def read(path):
    try:
        with open(path, encoding="ascii") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")


def check_rules(trace, ranks):
    """All that is checked without the schema."""
    events = trace["traceEvents"]
    threads, processes, used = {}, {}, {}
    for event in events:
        check_event(event)
        thread = event["pid"], event["tid"]
        if event["name"] == "thread_name":
            threads[thread] = event["args"]["name"]
        elif event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["ph"] != "M":
            used.setdefault(thread, []).append(event)
    for thread, of_thread in used.items():
        if thread not in threads or thread[0] not in processes:
            fail(f"thread {thread} has no name")
        check_nesting([event for event in of_thread if event["ph"] == "X"])
    names = {name for name in threads.values() if ":" not in name}
    if names != {f"rank {rank}" for rank in range(ranks)}:
        fail(f"rows of {sorted(names)} and not of {ranks} ranks")


def spoil(check, trace, changes):
    """Each change makes a trace that the check refuses."""
    check(trace)
    for change in changes:
        spoilt = copy.deepcopy(trace)
        events = spoilt["traceEvents"]

        def first(phase, name="", events=events):
            return next(e for e in events if e["ph"] == phase and e["name"].startswith(name))

        exec(change, {"trace": spoilt, "events": events, "first": first})
        try:
            check(spoilt)
        except SystemExit:
            continue
        fail(f"not noticed: {change}")


def main():
    if sys.argv[1] == "--spoil":
        how, path, ranks, changes = sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]
        if how == "schema" and jsonschema is None:
            check_schema({})
            sys.exit(77)
        spoil(check_schema if how == "schema" else lambda trace: check_rules(trace, ranks), read(path), changes)
        return
    ranks, trace = int(sys.argv[2]), read(sys.argv[1])
    check_schema(trace)
    check_rules(trace, ranks)
    for condition in sys.argv[3:]:
        name, relation, count = re.fullmatch(r"(.*?)(>?=)(\d+)", condition).groups()
        found = sum(e["name"].startswith(name) for e in trace["traceEvents"] if e["ph"] in "Xi")
        if found != int(count) if relation == "=" else found < int(count):
            fail(f"{found} of '{name}', not {relation} {count}")


main()
