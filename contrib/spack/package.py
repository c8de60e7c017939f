# Copyright (c) 2026, the Keel authors. BSD-3-Clause, as LICENSE says.
"""Recipe for Spack 1.0 or newer: in a repository of one's own as packages/keel/package.py."""

from spack.package import *


class Keel(CMakePackage):
    """One-sided (RDMA) communication, above UCX, that survives the death of processes."""

    # from a clone: "spack dev-build keel@0.1.0" in its folder, or "spack develop" in an environment

    license("BSD-3-Clause")

    version("0.1.0")

    variant("openmpi", default=False, description="MPI programs of Open MPI on Keel")
    variant("mpich", default=False, description="MPI programs of MPICH on Keel")
    variant("man", default=True, description="man pages")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.7:", type="build", when="+man")
    depends_on("check", type="test")
    depends_on("ucx@1.12:1")
    depends_on("pmix@4:5")
    depends_on("isa-l")
    depends_on("libsodium")
    depends_on("hwloc@2:")
    depends_on("rdma-core")
    depends_on("openmpi@4.1:", when="+openmpi")
    depends_on("mpich@4:", when="+mpich")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", self.run_tests),
            self.define("KEEL_WERROR", False),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_Python3", self.spec.satisfies("~man")),
        ]
