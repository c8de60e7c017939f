#!/bin/bash
# rdma_test.sh DIRECTORY-OF-THE-BUILD [EXPRESSION]: the cases of cases.sh whose name matches, in one guest.
here=$(cd "$(dirname "$0")" && pwd) build=$1
only=$(mktemp -d) || exit 1
trap 'rm -rf "$only"' EXIT
printf 'only=%q\n' "${2:-.}" >"$only/only.sh"
"$here/guest" "$here/cases.sh" "$only/only.sh" "$here/devices.sh" "$here/jobs.sh" "$here/counts.sh" "$here/on_device" "$build"/tests/rdma/{one_sided,raw_verbs,failing_device.so} \
    "$build/contrib/keelrun/keelrun" "$build/src/libkeel.so.0" "$build/contrib/examples/hello_keel" "$build"/perf/kernels/{stencil,ft,cg} \
    "$build"/tests/proc/{sections,waits}
