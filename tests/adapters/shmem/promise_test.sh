#!/bin/bash
# One case of programs that call nothing of Keel's own, with the promise that they are deterministic and without it:
# promise_test.sh DIRECTORY-OF-THE-BUILD CASE.
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
"$wrappers/oshcc" -O2 -Wall -I"$here/../../lib" -o "$scratch/heat" "$here/plain_heat.c" || fail "not compiled"
run 0 -np 4 --nodes 4 "$scratch/heat" 40 -
right=$(sort "$out")
[[ $right == *'plain_heat: 4 PEs, 40 steps: '* ]] || fail "no result without a death"
has "$out" 17 .

puts=0
# heat DEATHS OPTIONS...: the same result; each PE's lines appear once, but when the job is started anew
heat()
{
    local deaths=$1
    shift

    run 0 -np 4 --nodes 4 -x SHMEM_DEBUG=1 "$@" "$scratch/heat" 40 "$deaths" $puts
    if grep -q 'started anew' "$err"; then
        sort -u "$out"
    else
        sort "$out"
    fi >"$scratch/sorted"
    [ "$(cat "$scratch/sorted")" = "$right" ] || fail "another result with $deaths: $(cat "$scratch/sorted"), not $right"
}

# one after the other: in the first step, in the middle, by who coordinates, at the end
dead_pes_are_recovered_alone()
{
    local deaths

    for deaths in 1@0.0 2@13.1,1@30.2 3@39.2 0@20.0; do
        heat $deaths -x SHMEM_KEEL_DETERMINISTIC=y -x KEEL_LANES="$1"
        grep -q ' decided: local recovery from generation 0' "$err" || fail "$deaths: not recovered alone"
        has "$err" 0 'roll back'
        has "$err" 0 'started anew'
    done
}
dead_pes_are_recovered_alone_direct() { dead_pes_are_recovered_alone direct; }
dead_pes_are_recovered_alone_served() { dead_pes_are_recovered_alone served; }

# without the promise; with it, where logs are too short, and where a call has no single outcome
jobs_without_safe_points_are_restarted()
{
    heat 2@13.1
    has "$err" 1 '^keelrun: the job is started anew (1 of 1)$'
    has "$err" 1 ': a PE died, and there is no checkpoint .*(shmemx_safepoint takes some).*: the job has to be started anew$'
    run 75 -np 4 --nodes 4 --job-restarts 0 "$scratch/heat" 40 2@13.1
    run 75 -np 4 --nodes 4 --job-restarts 0 -x SHMEM_KEEL_DETERMINISTIC=n "$scratch/heat" 40 2@13.1
    puts=20
    heat 2@30.1 -x SHMEM_KEEL_DETERMINISTIC=y -x KEEL_OPLOG_SIZE=1m
    has "$err" 1 '^keelrun: the job is started anew (1 of 1)$'
}

run_case
