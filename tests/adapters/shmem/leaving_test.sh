#!/bin/bash
# One case of leaving a job for OpenSHMEM, and of the variables that it is started with: leaving_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
wrappers=$build/src/adapters/shmem/wrappers/bin
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$wrappers/oshrun
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$here/../../proc/proc_lib.sh"
export KEEL_OPLOG_SIZE=1m KEEL_GETLOG_SIZE=1m SHMEM_SYMMETRIC_SIZE=4M
"$wrappers/oshcc" -Wall -o "$scratch/leaving" "$here/leaving.c" || fail "not compiled"

jobs_end_as_asked()
{
    local status

    for status in 0 1 7 255; do
        run $status -np 4 "$scratch/leaving" global $status
        run $status -np 3 "$scratch/leaving" all $status
        run $status -np 3 "$scratch/leaving" late $status
        run $status -np 2 "$scratch/leaving" early $status
    done
    run 0 -np 4 --nodes 2 -x KEEL_LANES=served "$scratch/leaving" global 0
    has "$out" 1 '^PE 1 of 4$'
    # main is left without a word, in all PEs, or in one that has failed
    run 0 -np 4 "$scratch/leaving" return
    has "$out" 4 '^PE [0-3] of 4$'
    run 0 -np 2 "$scratch/leaving" exit 0
    has "$out" 2 '^PE [01] of 2$'
    run 9 -np 4 "$scratch/leaving" exit 9
    has "$out" 1 '^PE 1 of 4$'
    run 0 -np 2 "$scratch/leaving" child
    has "$out" 2 '^PE [01] of 2$'
    has "$err" 0 .
}

variables_are_heeded()
{
    local size

    for size in 4194304 4096k 4M 0.00390625g; do
        run 0 -np 2 -x SHMEM_SYMMETRIC_SIZE=$size -x SHMEM_INFO=1 "$scratch/leaving" return
        has "$out" 1 '^SHMEM_SYMMETRIC_SIZE=4194304 '
        has "$out" 1 '^OpenSHMEM 1\.5, Keel [0-9.]*$'
    done
    export -n SHMEM_SYMMETRIC_SIZE
    run 0 -np 2 -x SMA_SYMMETRIC_SIZE=5M -x SMA_INFO=y "$scratch/leaving" return
    has "$out" 1 '^SHMEM_SYMMETRIC_SIZE=5242880 '
    run 0 -np 1 -x SMA_SYMMETRIC_SIZE=5M -x SHMEM_SYMMETRIC_SIZE=6M -x SHMEM_INFO=y "$scratch/leaving" return
    has "$out" 1 '^SHMEM_SYMMETRIC_SIZE=6291456 '
    run 0 -np 1 -x SHMEM_INFO=y -x SHMEM_VERSION=0 "$scratch/leaving" return
    has "$out" 1 '^SHMEM_SYMMETRIC_SIZE=67108864 '
    for size in lots 0 -1 4MB nan inf 1e40 0x 4x; do
        run 1 -np 1 -x SHMEM_SYMMETRIC_SIZE=$size "$scratch/leaving" return
        has "$err" 1 '^shmem 0 error: shmem_init: SHMEM_SYMMETRIC_SIZE is no number of bytes$'
    done
    run 1 -np 1 -x SMA_SYMMETRIC_SIZE=lots "$scratch/leaving" return
    has "$err" 1 '^shmem 0 error: shmem_init: SMA_SYMMETRIC_SIZE is no number of bytes$'
    export SHMEM_SYMMETRIC_SIZE=1M
    run 0 -np 2 -x SHMEM_VERSION=1 "$scratch/leaving" return
    has "$out" 1 '^OpenSHMEM 1\.5, Keel [0-9.]*$'
    has "$out" 3 .
    run 0 -np 2 -x SHMEM_INFO=0 -x SHMEM_VERSION=n "$scratch/leaving" return
    has "$out" 2 .
    has "$err" 0 .
    run 0 -np 2 -x SHMEM_DEBUG=1 "$scratch/leaving" return
    has "$err" 2 '^shmem [01] info: process [0-9]*, life 0, 2 PEs; heap of 1048576 bytes at 0x[0-9a-f]*; global variables in [1-9][0-9]* bytes at 0x[0-9a-f]*$'
}

run_case
