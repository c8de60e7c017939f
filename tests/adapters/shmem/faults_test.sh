#!/bin/bash
# One case of the paper's fault-tolerance interface: faults_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
wrappers=$build/src/adapters/shmem/wrappers/bin
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$wrappers/oshrun
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$here/../../proc/proc_lib.sh"
export KEEL_OPLOG_SIZE=4m KEEL_GETLOG_SIZE=1m SHMEM_SYMMETRIC_SIZE=4M

compiles() # OUTPUT SOURCE ARGUMENTS...
{
    "$wrappers/oshcc" -O2 -Wall -Wextra -Werror -Wno-unused-parameter -I"$here/../../lib" -o "$scratch/$1" "${@:2}" >"$out" 2>"$err" ||
        fail "not compiled: $*"
}

deaths_are_reported()
{
    local how

    compiles faults "$here/faults.c"
    for how in checkpoint dead grown; do
        run 0 -np 4 --nodes 4 -x KEEL_LANES="$1" -x KEEL_VERBOSE=y "$scratch/faults" 30 1@7.0,2@15.1,0@23.0 $how
        has "$out" 4 '^faults: PE [0-3]: right$'
        has "$err" 3 'rank 0.* decided: roll back to generation\|keel 0\.[01] info: .* decided: roll back to generation'
        has "$err" 0 'started anew'
    done
}
faults_are_told_and_restored_direct() { deaths_are_reported direct; }
faults_are_told_and_restored_served() { deaths_are_reported served; }

faults_of_one_pe_are_its_own_with_the_promise()
{
    compiles faults "$here/faults.c"
    run 0 -np 4 --nodes 4 -x KEEL_VERBOSE=y "$scratch/faults" 30 1@7.0,2@15.1,0@23.0 alone
    has "$out" 4 '^faults: PE [0-3]: right$'
    has "$err" 0 'roll back'
    grep -q 'decided: local recovery from generation [1-9]' "$err" || fail "nobody was recovered alone"
}

# before the first checkpoint, and a program that is at other addresses in each process
faults_that_cannot_be_reported_end_the_job()
{
    compiles faults "$here/faults.c"
    run 0 -np 4 --nodes 4 "$scratch/faults" 30 - checkpoint
    has "$out" 4 '^faults: PE [0-3]: right$'
    run 0 -np 4 --nodes 4 -x SHMEM_KEEL_DETERMINISTIC=y "$scratch/faults" 30 1@7.0 alone
    compiles faults "$here/faults.c" -pie -fPIE
    run 1 -np 2 --nodes 2 "$scratch/faults" 30 - checkpoint
    grep -q '^shmem [01] error: shmem_checkpoint_all: a replacement has the program at other addresses: link it by oshcc' "$err" ||
        fail "no message"
}

the_listing_goes_on()
{
    local pe held

    compiles listing "$here/../../../contrib/examples/listing1_shmem.c"
    run 0 -np 4 --nodes 4 "$scratch/listing"
    grep -o '^PE.*heat.*' "$out" | sed 's/life .*: 100/100/' | sort >"$scratch/right"
    has "$scratch/right" 4 '100 steps, heat [0-9.]*$'
    for pe in 2 0; do
        hold $pe 51 # in its step 50
        run 0 -np 4 --nodes 4 "${held[@]}" --kill $pe@marker:"PE $pe, step 50" "$scratch/listing"
        grep -o '^PE.*heat.*' "$out" | sed 's/life .*: 100/100/' | sort | diff - "$scratch/right" >&2 || fail "other results"
        has "$out" 1 "^PE $pe, life 1: 100 steps"
        has "$out" 4 'failed, back at step [5-9][0-9]$'
    done
    hold 1 51
    run 0 -np 4 --nodes 4 "${held[@]}" --kill 1@marker:"PE 1, step 50" "$scratch/listing" newest
    has "$out" 1 '^PE 1, life 1: 100 steps'
    has "$out" 3 '^PE [0-3], life 0: 100 steps'
}

run_case
