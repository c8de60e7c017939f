#!/bin/bash
# rdma_test.sh DIRECTORY-OF-THE-BUILD: the cases of cases.sh, in one guest.
here=$(dirname "$0") build=$1
exec "$here/guest" "$here/cases.sh" "$here/devices.sh" "$here/jobs.sh" "$here/on_device" "$build/tests/rdma/one_sided" "$build/contrib/keelrun/keelrun" "$build/src/libkeel.so.0" \
    "$build/contrib/examples/hello_keel" "$build/perf/kernels/stencil" "$build/tests/proc/sections" "$build/tests/proc/waits"
