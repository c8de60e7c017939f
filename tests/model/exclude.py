#!/usr/bin/env python3
"""Accumulates of many elements and single atomics on one element, as an executable model: exclude.py holds|refuted [RULE].

Accumulates add by a plain load and a plain store while they own the word of the memory, or by a locked instruction if the
block of the element was touched by a single atomic. Any process may die before each step; survivors learn of a death one
by one, and a replacement starts when all know. A death amid an opened accumulate ends the run: the job rolls back. All
orders of all steps are visited. Checked:
  sum       at the end each process has added once
  progress  from each state the end can be reached

holds: no order violates a property. refuted RULE: without that rule some order does. The rules are in RULES.
"""
import sys

RULES = {
    "touch_first": "a single atomic marks its block before it looks for a holder",
    "holder_awaited": "a single atomic in a block that is not settled waits for the holder",
    "settled_last": "a block is settled after no holder was seen",
    "touched_seen": "an accumulate looks for touched blocks after it has taken the word",
    "word_kept": "an accumulate keeps the word until its stores are done",
    "opened_first": "an accumulate opens its number before its first store",
    "dead_passed": "the word is taken from a holder that is known to be dead",
}
MANY, SINGLE = "many", "single"
END = 99

# state: (value, touched, settled, holder, open, done, processes, deaths left, life of each process, what each knows)
# of a process: (step, register)


class Model:
    def __init__(self, kinds, deaths, without=None):
        self.kinds, self.deaths, self.without = kinds, deaths, without

    def has(self, rule):
        return rule != self.without

    def start(self):
        n = len(self.kinds)
        return (0, 0, 0, 0, (0,) * n, (0,) * n, ((0, 0),) * n, self.deaths, (0,) * n, ((0,) * n,) * n)

    def is_free(self, state, p, holder):
        """No holder, or one that process p knows to be dead."""
        if holder == 0:
            return True
        rank, life = holder // 8 - 1, holder % 8
        known = state[8][p] if rank == p else state[9][p][rank]
        return self.has("dead_passed") and life < known

    def step_many(self, state, p):
        value, touched, settled, holder, opened, done, processes, left, life, known = state
        step, register = processes[p]
        own = 8 * (p + 1) + life[p]

        def after(next_step, value=value, holder=holder, opened=opened, done=done, register=0):
            moved = processes[:p] + ((next_step, register),) + processes[p + 1:]
            return (value, touched, settled, holder, opened, done, moved, left, life, known)

        def with_bit(bits, bit):
            return bits[:p] + (bit,) + bits[p + 1:]

        if step == 0:
            if done[p]:
                return after(END)  # of a replacement
            if not self.has("touched_seen"):
                return after(1, register=touched)
            return after(1)
        if step == 1:
            if not self.is_free(state, p, holder):
                return None
            return after(2, holder=own, register=register)
        if step == 2:
            return after(3, opened=with_bit(opened, self.has("opened_first")), register=register)
        if step == 3:
            is_touched = touched if self.has("touched_seen") else register
            if is_touched:
                return after(5, value=value + 1)
            return after(4, register=value)
        if step == 4:
            if not self.has("word_kept") and holder == own:
                return after(4, holder=0, register=register)
            return after(5, value=register + 1)
        if step == 5:
            return after(6, opened=with_bit(opened, 0), done=with_bit(done, 1))
        return after(END, holder=0 if holder == own else holder)

    def step_single(self, state, p):
        value, touched, settled, holder, opened, done, processes, left, life, known = state
        step, register = processes[p]

        def after(next_step, value=value, touched=touched, settled=settled, done=done, register=0):
            moved = processes[:p] + ((next_step, register),) + processes[p + 1:]
            return (value, touched, settled, holder, opened, done, moved, left, life, known)

        if step == 0:
            if done[p]:
                return after(END)
            if settled:
                return after(4)
            if not self.has("touch_first"):
                return after(2) if self.is_free(state, p, holder) else None
            return after(1)
        if step == 1:
            return after(2, touched=1, settled=settled if self.has("settled_last") else 1)
        if step == 2:
            if not self.has("touch_first"):
                return after(3, touched=1)
            if self.has("holder_awaited") and not self.is_free(state, p, holder):
                return None
            return after(3)
        if step == 3:
            return after(4, settled=1)
        return after(END, value=value + 1, done=done[:p] + (1,) + done[p + 1:])

    def deaths_of(self, state):
        """What may happen beside the steps: deaths, and survivors that learn of one."""
        value, touched, settled, holder, opened, done, processes, left, life, known = state
        n = len(processes)

        for p in range(n):
            step = processes[p][0]
            if left > 0 and step not in (END, -1):
                if opened[p]:
                    continue  # the job rolls back: no end to check
                moved = processes[:p] + ((-1, 0),) + processes[p + 1:]
                lives = life[:p] + (life[p] + 1,) + life[p + 1:]
                yield (value, touched, settled, holder, opened, done, moved, left - 1, lives, known)
            if step == -1:
                knowing = [q for q in range(n) if q != p and processes[q][0] != -1]
                for q in knowing:
                    if known[q][p] < life[p]:
                        news = known[q][:p] + (life[p],) + known[q][p + 1:]
                        yield state[:9] + (known[:q] + (news,) + known[q + 1:],)
                if all(known[q][p] == life[p] for q in knowing):
                    moved = processes[:p] + ((0, 0),) + processes[p + 1:]
                    news = tuple(life)  # told at its start
                    yield state[:6] + (moved, left, life, known[:p] + (news,) + known[p + 1:])

    def successors(self, state):
        for p, kind in enumerate(self.kinds):
            if state[6][p][0] in (END, -1):
                continue
            after = self.step_many(state, p) if kind == MANY else self.step_single(state, p)
            if after is not None:
                yield after
        yield from self.deaths_of(state)

    def flaw(self):
        """A description of a violated property; None: there is none."""
        start = self.start()
        seen, before, ends, queue = {start}, {}, [], [start]
        while queue:
            state = queue.pop()
            if all(step == END for step, _ in state[6]):
                if state[0] != len(self.kinds):
                    return f"sum: {state[0]} of {len(self.kinds)} additions"
                ends.append(state)
                continue
            for after in self.successors(state):
                before.setdefault(after, []).append(state)
                if after not in seen:
                    seen.add(after)
                    queue.append(after)
        ending = set(ends)
        while ends:
            for state in before.get(ends.pop(), ()):
                if state not in ending:
                    ending.add(state)
                    ends.append(state)
        if len(ending) != len(seen):
            return f"progress: {len(seen) - len(ending)} states of {len(seen)} have no end"
        return None


JOBS = [((MANY, MANY, SINGLE), 1), ((MANY, SINGLE, SINGLE), 1), ((MANY, MANY), 2)]


def main():
    if len(sys.argv) == 2 and sys.argv[1] == "holds":
        without = None
    elif len(sys.argv) == 3 and sys.argv[1] == "refuted" and sys.argv[2] in RULES:
        without = sys.argv[2]
    else:
        sys.exit(__doc__)
    flaws = [flaw for flaw in (Model(kinds, deaths, without).flaw() for kinds, deaths in JOBS) if flaw is not None]
    print("\n".join(flaws) if flaws else "no flaw")
    return (len(flaws) > 0) != (without is not None)


if __name__ == "__main__":
    sys.exit(main())
