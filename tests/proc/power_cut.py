"""What a disk has after a power cut, at every step of a record of recorded_disk.c.

    power_cut.py RECORD FOLDER [unsynced]

Makes a folder FOLDER/N for each state that a cut can leave, and prints "N GENERATION" for each, with the newest
complete checkpoint there (0: none). A cut drops names and data that were not synced; or names survive, and their
data do not, or are zeros; or removed names are there again beside new ones. Exit status 1: at some step all
complete checkpoints may be gone although one was there before. unsynced: as if no fsync() had any effect.
"""

import hashlib
import os
import re
import sys

WAYS = ("dropped", "names", "zeros", "both")


class Inode:
    """A file or folder: what is seen, and what is on stable storage."""

    def __init__(self, is_folder):
        self.is_folder = is_folder
        self.names, self.stable_names = {}, {}
        self.data, self.stable = bytearray(), 0


def read(path):
    """Yields the records as lists of words; the last one of W is its data."""
    with open(path, "rb") as file:
        while line := file.readline():
            words = line.decode().split()
            if words[0] == "W":
                words.append(file.read(int(words[2]) + 1)[:-1])
            yield words


class Disk:
    """The state after some records."""

    def __init__(self, is_synced):
        self.inodes = {}
        self.begun = {}
        self.top = None
        self.is_synced = is_synced

    def folder(self, number):
        return self.inodes.setdefault(number, Inode(True))

    def take(self, words):
        """Applies a record."""
        kind = words[0]
        if kind == "M":
            made = self.inodes[words[3]] = Inode(True)
            parent = self.folder(words[1])
            parent.names[words[2]] = made
            self.top = self.top or parent
        elif kind == "C":
            names = self.folder(words[1]).names
            if words[2] not in names:
                names[words[2]] = self.inodes[words[3]] = Inode(False)
            names[words[2]].data.clear()
            names[words[2]].stable = 0
        elif kind == "W":
            self.inodes[words[1]].data += words[3]
        elif kind == "R":
            names = self.folder(words[1]).names
            names[words[3]] = names.pop(words[2])
        elif kind == "U":
            del self.folder(words[1]).names[words[2]]
        elif kind == "b":
            inode = self.inodes.get(words[2])
            if inode is not None:
                self.begun[words[1]] = (inode, dict(inode.names), len(inode.data))
        elif kind == "F" and self.is_synced and words[1] in self.begun:
            inode, inode.stable_names, inode.stable = self.begun.pop(words[1])

    def entries(self, inode, way):
        if way == "dropped":
            return inode.stable_names
        return {**inode.stable_names, **inode.names} if way == "both" else inode.names

    def tree(self, inode, way, path=""):
        """All files and folders that a cut leaves, as path: data; None for a folder."""
        found = {}
        for name, child in self.entries(inode, way).items():
            at = f"{path}/{name}"
            if child.is_folder:
                found[at] = None
                found.update(self.tree(child, way, at))
            else:
                rest = len(child.data) - child.stable if way == "zeros" else 0
                found[at] = bytes(child.data[: child.stable]) + bytes(rest)
        return found


def newest(tree):
    """The newest generation with a manifest."""
    return max((int(m[1]) for p in tree if (m := re.fullmatch(r"/folder/set-(\d+)-[^/]*/manifest", p))), default=0)


def is_ended(tree):
    return any(path.endswith("/manifest-ended") for path in tree)


def make(tree, to):
    os.makedirs(f"{to}/folder")
    for path, data in tree.items():
        if data is None:
            os.makedirs(to + path, exist_ok=True)
        else:
            with open(to + path, "wb") as file:
                file.write(data)


def main(record, to, is_synced):
    disk = Disk(is_synced)
    seen, made, had, lost = set(), 0, False, False
    for words in read(record):
        disk.take(words)
        if disk.top is None:
            continue
        stays = True
        for way in WAYS:
            tree = disk.tree(disk.top, way)
            generation = newest(tree)
            stays &= generation > 0 or is_ended(tree)
            key = hashlib.sha256(repr(sorted(tree.items())).encode()).digest()
            if key not in seen:
                seen.add(key)
                made += 1
                make(tree, f"{to}/{made}")
                print(made, generation)
        lost |= had and not stays
        had |= stays
    return int(lost)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], len(sys.argv) < 4))
