#!/bin/bash
# device_cases.sh DIRECTORY-OF-THE-BUILD DEVICE: the jobs over verbs of the guest's cases, over an RDMA device that this machine has:
# NAME[:PORT[:GID INDEX]]. Two emulated nodes share it, and reach each other by way of it. Status: 0 when all were right.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$build"/contrib/keelrun/keelrun "$build"/contrib/examples/hello_keel "$build"/perf/kernels/{stencil,ft,cg} \
    "$build"/tests/proc/{sections,waits} "$build"/tests/rdma/one_sided "$work" || exit 1
cd "$work" || exit 1
export LD_LIBRARY_PATH=$build/src
export KEEL_HEARTBEAT_TIMEOUT=60s KEEL_OPLOG_SIZE=8m KEEL_GETLOG_SIZE=1m
kills=0 failed=0
# shellcheck source=tests/rdma/jobs.sh
. "$here/jobs.sh"
verbs=(-x KEEL_TRANSPORT=verbs -x "KEEL_VERBS_DEVICE=$2")
on=()
verbs_cases
verbs_one_sided_cases
echo "rdma: $kills kills"
exit $failed
