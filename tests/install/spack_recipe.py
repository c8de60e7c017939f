"""Runs contrib/spack/package.py without Spack, by stand-ins for the names that the recipe uses.

spack_recipe.py SOURCES compares the recipe with CMakeLists.txt, and prints a line for each set of definitions that the recipe hands
to CMake. A difference ends with status 1.
"""

import itertools
import re
import sys
import types
from pathlib import Path

# what CMakeLists.txt requires: the package of Spack, and pkg-config's or CMake's name
NAMES = {"ucx": "ucx", "pmix": "pmix", "isa-l": "libisal", "libsodium": "libsodium", "hwloc": "hwloc", "check": "check",
         "rdma-core": "libibverbs", "openmpi": "ompi-c", "mpich": "mpich", "python": "Python3", "pkgconfig": "PkgConfig"}
BUILD = {"c", "cmake", "ninja"}  # tools without a line in CMakeLists.txt


def fail(text):
    sys.exit(f"spack_recipe: {text}")


class CMakePackage:
    """The stand-in of the base: definitions as CMake's arguments."""

    def __init__(self, enabled, run_tests):
        self.run_tests = run_tests
        self.spec = types.SimpleNamespace(satisfies=lambda when: (when[1:] in enabled) == (when[0] == "+"))

    def define(self, name, value):
        return f"-D{name}={'ON' if value else 'OFF'}"


def load(path):
    """Returns the class, and what it declares."""
    declared = {"version": [], "variant": [], "depends_on": [], "license": [], "generator": []}
    stand_in = types.ModuleType("spack.package")
    for name, calls in declared.items():
        setattr(stand_in, name, lambda *given, _calls=calls, **named: _calls.append((given, named)))
    stand_in.CMakePackage = CMakePackage
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = stand_in
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)  # pylint: disable=exec-used
    return space["Keel"], declared


def check_dependencies(declared, variants, cmake):
    """Names, least versions and conditions, against CMakeLists.txt."""
    named = set()
    for (given, options) in declared["depends_on"]:
        name, _, versions = given[0].partition("@")
        named.add(name)
        when = options.get("when", "")
        if when and when[1:] not in variants:
            fail(f"{name} depends on {when}, which is no variant")
        if name in BUILD:
            continue
        if name not in NAMES or NAMES[name] not in cmake:
            fail(f"{name} is not what CMakeLists.txt asks for")
        least = re.search(rf"\b{re.escape(NAMES[name])}>=([0-9.]+)", cmake)
        if least and versions.split(":")[0] != least[1]:
            fail(f"{name}@{versions}, but CMakeLists.txt needs {least[1]}")
    for module in re.findall(r"pkg_check_modules\(\w+ (?:REQUIRED )?IMPORTED_TARGET ([a-z]+)", cmake):
        if module not in [NAMES.get(name) for name in named]:
            fail(f"CMakeLists.txt looks for {module}, the recipe does not")
    least = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)\)", cmake)[1]
    if (f"cmake@{least}:",) not in [given for given, _ in declared["depends_on"]]:
        fail(f"the recipe does not ask for CMake {least}")


def main():
    sources = Path(sys.argv[1])
    cmake = "".join((sources / name).read_text()
                    for name in ("CMakeLists.txt", "contrib/man/CMakeLists.txt", "src/adapters/mpi/CMakeLists.txt"))
    package, declared = load(sources / "contrib/spack/package.py")
    variants = [given[0] for given, _ in declared["variant"]]
    check_dependencies(declared, variants, cmake)
    lines = set()
    for count in range(len(variants) + 1):
        for enabled in itertools.combinations(variants, count):
            lines |= {" ".join(package(enabled, run_tests).cmake_args()) for run_tests in (False, True)}
    print(*sorted(lines), sep="\n")


main()
