#!/bin/bash
# Runs in the guest (tests/rdma/guest), beside the programs, which it puts where a build has them.
set -u
cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/rdma/devices.sh
. ./devices.sh
random_addresses 2
make_devices || { echo "rdma: no devices could be made"; exit 1; }
mkdir -p tmp build/src build/contrib/{keelrun,examples} build/perf/kernels build/tests/{proc,rdma} || exit 1
for program in src/libkeel.so.0 contrib/keelrun/keelrun contrib/examples/hello_keel perf/kernels/{stencil,ft,cg} tests/proc/{sections,waits} tests/rdma/one_sided; do
    ln -s "$PWD/${program##*/}" "build/$program" || exit 1
done
TMPDIR=$PWD/tmp exec ./device_cases.sh build rxe0
