#!/usr/bin/env python3
"""Checks a trace of KEEL_TRACE: trace_check.py FILE RANKS [CONDITION...].

The format is Chrome's trace event format as Perfetto reads it. Spans of a thread nest. A condition is NAME=COUNT or
NAME>=COUNT: so many spans or moments begin with that name. Exit status 1: a check failed; the line says which."""
import json
import re
import sys

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


def main():
    path, ranks = sys.argv[1], int(sys.argv[2])
    try:
        with open(path, encoding="ascii") as file:
            trace = json.load(file)
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")
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
    for condition in sys.argv[3:]:
        name, relation, count = re.fullmatch(r"(.*?)(>?=)(\d+)", condition).groups()
        found = sum(e["name"].startswith(name) for e in events if e["ph"] in "Xi")
        if found != int(count) if relation == "=" else found < int(count):
            fail(f"{found} of '{name}', not {relation} {count}")


main()
