#!/usr/bin/env python3
"""A job that goes on without dead ranks, as an executable model: shrink.py holds|refuted [RULE] [RUNS].

Ranks pass gsyncs; processes die at drawn moments, many of them in the middle of a recovery. A launcher then either starts
a replacement or declares the rank gone. All messages are delayed by drawn times, in order between two processes. A run has
images (all ranks go back to the newest generation, and replacements rebuild theirs from their parity group) or none (all
go on from the front). With images the launcher starts replacements first and declares ranks gone afterwards ("last"), or
draws anew at each death ("mixed"). In "last" a process has one slot for shares: the groups change when all have restored,
and the next generation makes the first shares of the new groups. Checked:
  agreement    decisions for one view are equal; ranks that went on under one rollback number have the same view, order
               of the gone, leader, parity groups and position
  memory       while a group lost no more than its parity covers, each replacement finds its image
  authority    no process of a rank exists that some process takes for gone
  progress     no run hangs: the ranks that remain pass the last gsync

holds: no run violates a property. refuted RULE: without that rule some run does. The rules are in RULES.
"""
import random
import sys

RULES = {
    "leader_moves": "the leader is the first rank that is not gone, by the view of each process",
    "gone_unawaited": "gsyncs and barriers wait for the ranks that are not gone",
    "gone_in_view": "the gone are part of the view that names reports and decisions",
    "front_for_all": "without images all go on from the front, wherever they stood",
    "order_decided": "the decision has the order of the gone, from which all compute the same groups",
    "two_slots": "a new share goes into the other slot; the old one serves until all have restored (mixed)",
    "gone_is_last": "once a rank is gone, the launcher starts no replacement (last)",
    "restored_first": "the groups change when all have restored, not when the process has (last)",
    "lost_counted": "a gone rank counts as lost in its old group while a replacement needs its image",
    "one_authority": "one authority declares ranks gone, and starts no replacement for these",
    "joiner_refused": "a process of a rank that is gone is turned away",
    "reports_kept": "a process keeps reports that arrive before it knows that it leads",
}
GONE = 1 << 30
LAST_GSYNC = 10
PARITIES = 1


class Flaw(Exception):
    pass


class Process:
    def __init__(self, model, rank, incarnation):
        size = model.size
        self.rank, self.incarnation = rank, incarnation
        self.view = [0] * size
        self.view[rank] = incarnation
        self.is_up = [incarnation == 0] * size
        self.is_up[rank] = True
        self.is_fresh = self.is_frozen = incarnation > 0
        self.reported, self.reports = None, {}
        self.gone = []  # in the order of the decisions
        self.heard = []  # in the order of the events
        self.phase, self.arrivals = 0, {}
        self.rollback = self.target = 0
        self.stage, self.stages = None, {}
        self.generation = 0
        self.making = None
        self.image = None if self.is_fresh else 0
        self.shares = [] if self.is_fresh else [(0, model.groups(()))]  # newest first: (generation, groups)
        self.decision = None
        self.is_finished = False


class Model:
    def __init__(self, seed, without):
        self.random = random.Random(seed)
        self.without = without
        self.size = self.random.choice((3, 4, 5, 6, 6, 7, 8, 9))
        self.has_images = self.random.random() < 0.7
        self.is_last = self.has_images and self.random.random() < 0.5
        self.is_hunted = self.random.random() < 0.5
        self.deaths = self.random.randint(2 if self.is_hunted else 1, 4)
        self.news = self.random.choice((5, 60))  # the longest way of an event
        self.gone_share = self.random.choice((0.4, 0.7, 1.0)) if self.has_images else 1.0
        self.time = 0
        self.newest = {}
        self.inbox = {}
        self.declared = set()
        self.processes = [Process(self, r, 0) for r in range(self.size)]
        self.lost, self.covering = set(), {}  # since all shares were of one layout; the groups of that layout
        self.decisions, self.worlds, self.generations = {}, {}, {}

    def rule(self, name):
        return self.without != name

    # ---- groups: each loss moves at most one rank, so the result depends on the order ----

    def groups(self, gone):
        count = max(1, self.size // 3)
        group = {r: r % count for r in range(self.size)}
        for rank in gone:
            del group[rank]
            sizes = [sum(1 for r in group if group[r] == g) for g in range(count)]
            small, large = sizes.index(min(sizes)), sizes.index(max(sizes))
            if sizes[large] - sizes[small] > 1:
                group[max(r for r in group if group[r] == large)] = small
        return tuple(sorted(group.items()))

    # ---- messages ----

    def post(self, lane, to, message, most):
        due = max(self.newest.get((lane, to.rank), 0) + 1, self.time + self.random.randint(1, most))
        self.newest[lane, to.rank] = due
        self.inbox.setdefault((to.rank, to.incarnation), []).append((due, message))

    def send(self, process, rank, *message):
        if process.is_up[rank]:
            to = self.processes[rank]
            if to is not None:
                sender = (process.rank, process.incarnation)
                self.post((sender, rank), to, ("from", sender) + message, 30)

    def send_all(self, process, *message):
        for rank in self.members(process):
            if rank != process.rank:
                self.send(process, rank, *message)

    def announce(self, kind, rank, incarnation):
        for to in self.processes:
            if to is not None and to.rank != rank:
                self.post(("launcher", rank), to, (kind, rank, incarnation), self.news)

    # ---- the launcher ----

    def start(self, rank, incarnation):
        process = Process(self, rank, incarnation)
        self.processes[rank] = process
        for other in range(self.size):
            if other in self.declared and other != rank:
                self.post(("launcher", other), process, ("gone", other, 0), 40)
            elif other != rank and self.processes[other] is not None:
                self.post(("launcher", other), process, ("join", other, self.processes[other].incarnation), 40)
        self.announce("join", rank, incarnation)

    def note_loss(self, rank):
        live = [p for p in self.processes if p is not None]
        common = set.intersection(*(set(self.layouts(p)) for p in live))
        whole = [dict(groups) for _, groups in common if len(groups) == len(live)]
        if whole and not any(p.is_fresh for p in live):
            self.lost, self.covering = set(), whole[0]
        self.lost.add(rank)

    def is_beyond_parity(self):
        group = [self.covering.get(r) for r in self.lost]
        return any(group.count(g) > PARITIES for g in group)

    def kill(self, rank):
        self.note_loss(rank)
        incarnation = self.processes[rank].incarnation
        self.processes[rank] = None
        self.announce("death", rank, incarnation)
        others = sum(1 for p in self.processes if p is not None)
        is_second = self.is_hunted and self.has_images and len(self.lost) == 2
        is_gone = self.random.random() < self.gone_share and others > 0 and not is_second
        if self.is_last and self.declared and self.rule("gone_is_last"):
            is_gone = others > 0
        if is_gone:
            self.declared.add(rank)
            self.announce("gone", rank, incarnation)
        if not is_gone or (self.without in ("one_authority", "joiner_refused") and self.random.random() < 0.5):
            self.start(rank, incarnation + 1)

    # ---- a process ----

    def members(self, process):
        return [r for r in range(self.size) if process.view[r] != GONE]

    def awaited(self, process):
        ranks = self.members(process) if self.rule("gone_unawaited") else range(self.size)
        return [r for r in ranks if r != process.rank]

    def leader(self, process):
        return self.members(process)[0] if self.rule("leader_moves") else 0

    def learn_death(self, process, rank, incarnation):
        if process.view[rank] == GONE or incarnation < process.view[rank]:
            return
        process.view[rank] = incarnation + 1
        self.change_view(process, rank)

    def change_view(self, process, rank):
        process.is_up[rank] = False
        for table in (process.reports, process.arrivals, process.stages):
            table.pop(rank, None)
        process.is_frozen, process.reported = True, None

    def receive(self, process, message):
        kind = message[0]
        if kind == "death":
            self.learn_death(process, message[1], message[2])
        elif kind == "gone":
            if process.view[message[1]] != GONE:
                process.view[message[1]] = GONE
                process.heard.append(message[1])
                self.change_view(process, message[1])
        elif kind == "join":
            self.meet(process, message[1], message[2])
        elif self.meet(process, *message[1]):
            self.take(process, message[1][0], *message[2:])

    def meet(self, process, rank, incarnation):
        if process.view[rank] == GONE and not self.rule("joiner_refused") and self.processes[rank] is not None:
            process.view[rank] = incarnation
        if process.view[rank] == GONE:
            return False
        if incarnation > process.view[rank]:
            self.learn_death(process, rank, incarnation - 1)
        if incarnation == process.view[rank]:
            process.is_up[rank] = True
        return incarnation == process.view[rank]

    def take(self, process, source, kind, *content):
        if kind == "report":
            if self.rule("reports_kept") or self.leader(process) == process.rank:
                process.reports[source] = content[0]
        elif kind == "decision":
            self.adopt(process, content[0])
        elif kind == "arrival" and content[0] == process.rollback:
            process.arrivals[source] = max(process.arrivals.get(source, 0), content[1])
        elif kind == "stage":
            process.stages[source] = max(process.stages.get(source, (0, 0)), content[0])

    # ---- report, decision ----

    def layouts(self, process):
        """The shares of a process: (generation, groups), with the generation that the next gsync puts into use."""
        making = [] if process.making is None else [(process.making, self.groups(process.gone))]
        return tuple(process.shares + making)

    def named(self, view):
        """The view as reports and decisions name it."""
        return tuple(view) if self.rule("gone_in_view") else tuple(0 if x == GONE else x for x in view)

    def report(self, process):
        process.reported = tuple(process.view)
        content = {"view": self.named(process.view), "is_fresh": process.is_fresh, "phase": process.phase,
                   "generation": process.generation, "rollback": max(process.rollback, process.target),
                   "gone": tuple(process.gone), "image": process.image, "shares": self.layouts(process)}
        if process.rank == self.leader(process):
            process.reports[process.rank] = content
        else:
            self.send(process, self.leader(process), "report", content)

    def decide(self, process):
        members = self.members(process)
        reports = {r: process.reports[r] for r in members}
        live = [x for x in reports.values() if not x["is_fresh"]]
        if not live:
            return "none left"
        gone = max((x["gone"] for x in reports.values()), key=len)
        served = gone  # the groups that shares are of, at those that are not fresh
        gone += tuple(r for r in range(self.size) if process.view[r] == GONE and r not in gone)
        base = max(x["generation"] for x in live) if self.has_images else max(x["phase"] for x in live)
        is_needed = any(x["is_fresh"] and x["image"] != base for x in reports.values())
        old = self.serving_groups(reports, members, base, served) if self.has_images and base > 0 else None
        if self.has_images and base > 0 and old is None and is_needed:
            if not self.is_beyond_parity():
                raise Flaw("an image is lost that parity covered")
            return "catastrophe"
        decision = {"view": self.named(process.view), "base": base, "gone": gone, "old": old,
                    "rollback": max(x["rollback"] for x in reports.values()) + 1}
        name = decision["view"], decision["rollback"]
        if self.decisions.setdefault(name, decision) != decision:
            raise Flaw("two decisions for one view differ")
        self.send_all(process, "decision", decision)
        self.adopt(process, decision)
        return None

    def serving_groups(self, reports, members, base, gone):
        """Groups whose members can rebuild every replacement that lacks its image; None: there are none."""
        for groups in sorted({s[1] for x in reports.values() for s in x["shares"] if s[0] == base}, key=len):
            if all(self.covers(reports, members, base, groups, g) for g in {g for _, g in groups}):
                return groups
        return None

    def covers(self, reports, members, base, groups, group):
        of_group = [r for r, g in groups if g == group and (r in members or self.rule("lost_counted"))]
        has = [r for r in of_group if r in members and (base, groups) in reports[r]["shares"]]
        needs = [r for r in of_group if r in members and reports[r]["is_fresh"] and reports[r]["image"] != base]
        return not needs or len(of_group) - len(has) <= PARITIES

    def adopt(self, process, decision):
        if decision["view"] != self.named(process.view) or process.reported is None:
            return
        process.is_frozen, process.is_finished = False, False
        process.decision, process.target = decision, decision["rollback"]
        if not process.is_fresh and process.making == decision["base"]:  # complete, by the decision
            self.commit(process)
        process.making = None
        self.enter(process, 1)

    # ---- rollback: drained (1), rebuilt (2), restored (3) ----

    def enter(self, process, stage):
        process.stage = stage
        self.send_all(process, "stage", (process.target, stage))

    def is_reached(self, process, stage):
        return all(process.stages.get(r, (0, 0)) >= (process.target, stage) for r in self.awaited(process))

    def roll(self, process):
        decision = process.decision
        if process.stage == 1 and self.is_reached(process, 1) and self.rebuild(process, decision):
            if self.is_last:
                self.restore(process, decision)
            self.enter(process, 3 if self.is_last else 2)
        elif process.stage == 2 and self.is_reached(process, 2):
            self.restore(process, decision)
            self.enter(process, 3)
        elif process.stage == 3 and self.is_reached(process, 3):
            process.stage = None
            process.shares = self.shares_at_end(process) if self.is_last else process.shares[:1]
            world = (tuple(process.view), tuple(process.gone), self.leader(process), process.shares, process.phase)
            if self.worlds.setdefault(process.rollback, world) != world:
                raise Flaw("ranks went on in different worlds")

    def rebuild(self, process, decision):
        base, groups = decision["base"], decision["old"]
        if not self.has_images or not process.is_fresh or process.image == base:
            return True
        if base == 0:
            process.image = 0
            return True
        group = dict(groups)[process.rank]
        members = [r for r, g in groups if g == group and r != process.rank]
        holders = [self.processes[r] for r in members if process.view[r] != GONE]
        if any(p is None or p.incarnation != process.view[p.rank] for p in holders):
            return False  # a death that is yet to be learnt: another decision follows
        if any(process.is_frozen or p.is_frozen for p in holders) or self.is_news_due(process):
            return False
        has = [p for p in holders if p.image == base and (base, groups) in p.shares]
        if len(members) - len(has) > PARITIES - 1:
            raise Flaw("no parity covers the image of a replacement")
        process.image = base
        return True

    def is_news_due(self, process):
        return any(m[0] != "from" for _, m in self.inbox.get((process.rank, process.incarnation), []))

    def restore(self, process, decision):
        base = decision["base"]
        is_survivor = not process.is_fresh
        process.gone = list(decision["gone"]) if self.rule("order_decided") else list(process.heard)
        process.phase = base if self.has_images or self.rule("front_for_all") else process.phase
        process.rollback, process.arrivals = process.target, {}
        process.generation = base if self.has_images else 0
        process.image, process.is_fresh = base, False
        kept = [s for s in process.shares if s[0] == base] if is_survivor else []
        if self.is_last:
            process.shares = kept if self.rule("restored_first") else self.shares_at_end(process)
            return
        share = (process.generation, self.groups(process.gone))
        others = [s for s in kept if s == (base, decision["old"]) != share] if self.rule("two_slots") else []
        process.shares = [share] + others

    def shares_at_end(self, process):
        """A rollback without a gone rank computes missing shares again; groups that change get theirs from the next
        generation."""
        return [] if process.gone else [(process.generation, self.groups(()))]

    # ---- the program: a generation every second gsync ----

    def commit(self, process):
        name, groups = (process.rollback, process.making), self.groups(process.gone)
        if self.generations.setdefault(name, groups) != groups:
            raise Flaw("a generation has shares of different groups")
        process.generation = process.image = process.making
        process.shares = [(process.making, self.groups(process.gone))]
        process.making = None

    def run_program(self, process):
        number = process.phase + 1
        if process.phase == LAST_GSYNC:
            process.is_finished = True
            return
        if process.arrivals.get(process.rank) != number:
            process.arrivals[process.rank] = number
            self.send_all(process, "arrival", process.rollback, number)
        if all(process.arrivals.get(r, 0) >= number for r in self.awaited(process)):
            if process.making is not None:
                self.commit(process)
            process.phase = number
            if self.has_images and number % 2 == 0 and number < LAST_GSYNC:
                process.making = number

    def step(self, process):
        key = process.rank, process.incarnation
        due = [m for m in self.inbox.get(key, []) if m[0] <= self.time]
        if due:
            first = min(due, key=lambda m: m[0])
            self.inbox[key].remove(first)
            self.receive(process, first[1])
        if process.is_frozen:
            members = self.members(process)
            if not all(process.is_up[r] for r in members):
                return None
            if process.reported != tuple(process.view):
                self.report(process)
            name = self.named(process.view)
            if process.rank == self.leader(process) and all(
                    process.reports.get(r, {}).get("view") == name for r in members):
                return self.decide(process)
        elif process.stage is not None:
            self.roll(process)
        elif not process.is_finished:
            self.run_program(process)
        return None

    def check_authority(self):
        for process in self.processes:
            if process is not None and process.rank in self.declared and process.stage == 3:
                raise Flaw("a process works for a rank that was declared gone")

    def victim(self, live):
        lost = {self.covering.get(r) for r in self.lost}
        of_others = [p for p in live if self.is_hunted and self.covering.get(p.rank) not in lost]
        return self.random.choice(of_others or live).rank

    def odds(self, stages):
        """Of a death now. A hunted run has its second death while some ranks have restored and others have not."""
        if self.is_hunted and self.lost:
            return 0.1 if {1 if self.is_last else 2, 3} <= stages else 0
        return 0.006 if stages == {None} else 0.03

    def run(self):
        for _ in range(6000):
            self.time += 1
            live = [p for p in self.processes if p is not None]
            stages = {p.stage for p in live}
            if self.deaths > 0 and len(live) > 1 and not any(p.is_finished for p in live):
                if self.random.random() < self.odds(stages):
                    self.deaths -= 1
                    self.kill(self.victim(live))
                    continue
            end = self.step(self.random.choice(live))
            self.check_authority()
            if end is not None:
                return end
            if all(p.is_finished and not p.is_frozen and p.stage is None for p in self.processes if p is not None):
                return "ok"
        raise Flaw("the job hangs")


def main():
    expected = sys.argv[1]
    without = sys.argv[2] if expected == "refuted" else None
    runs = int(sys.argv[-1]) if sys.argv[-1].isdigit() else 400
    if expected not in ("holds", "refuted") or (without is not None and without not in RULES):
        sys.exit(__doc__ + "\n" + "\n".join("  %-15s %s" % rule for rule in RULES.items()))
    ends = {}
    for seed in range(runs):
        try:
            end = Model(seed, without).run()
        except Flaw as flaw:
            print("seed %u: %s" % (seed, flaw))
            sys.exit(expected == "holds")
        ends[end] = ends.get(end, 0) + 1
    print(", ".join("%u %s" % (ends[end], end) for end in sorted(ends)))
    if expected == "refuted":
        print("no counterexample: the rule is not needed, or the model cannot see why")
        sys.exit(1)
    # a model in which most jobs end early shows little
    sys.exit(ends.get("ok", 0) < runs // 2)


main()
