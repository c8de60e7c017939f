#!/bin/bash
# One case of rehearsals: rehearsal_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun rehearsed=$build/tests/proc/rehearsed
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=16m -x KEEL_GETLOG_SIZE=4m --timeout 50) # a job starts faster with small logs

rehearse() # STATUS LANE PROGRAM...
{
    local expected=$1 lane=$2
    shift 2

    run "$expected" --rehearse -n 4 --nodes 2 "${small[@]}" -x "KEEL_LANES=$lane" "$@"
    [ "$(tail -n 1 "$err" | grep -c '^keelrun: rehearsal: ')" -eq 1 ] || fail "the last line is not on the rehearsal"
}

# found LANE MODE PATTERN: what rank 0, which is killed first, does differently is said of it and of no other rank
found()
{
    rehearse 123 "$1" "$rehearsed" "$2"
    has "$err" 1 "^keel 0.1 error: rehearsal: rank 0, phase 2: $3"
    has "$err" 1 'gsync 2, .*: look for memory that is not protected, .* then for the clock, '
    has "$err" 1 '^keelrun: rehearsal: rank 0 did not do again in phase 2 what it had done before'
    has "$err" 1 '^keelrun: rehearsal: 1 of 4 ranks were killed and re-executed [01] phases: different$'
    has "$err" 0 'error: rehearsal: rank [1-3]'
}

passed() # PHASES LANE PROGRAM...
{
    local phases=$1
    shift

    rehearse 0 "$@"
    one_line "rehearsal: 4 of 4 ranks were killed and re-executed $phases phases: no difference"
}

right_program_passes()
{
    local lane

    for lane in direct served auto; do
        passed 10 $lane "$rehearsed" right
        has "$out" 4 '^sum 16383$'
    done
    # an interval of its own does not keep ranks from their turn
    passed 10 auto -x KEEL_CKPT_INTERVAL=1gsyncs "$rehearsed" right
    # without parity each begins again at its start
    passed 10 auto -x KEEL_GROUP_SIZE=0 "$rehearsed" right
    # a rank that holds parity does nothing that could be compared
    run 0 --rehearse -n 5 -x KEEL_PARITY=dedicated "${small[@]}" "$rehearsed" right
    one_line 'rehearsal: 4 of 4 ranks were killed and re-executed 10 phases: no difference'
}

# locks, waits, gets and atomics inside phases, on both lanes
example_and_kernels_pass()
{
    local lane

    for lane in direct served; do
        passed 10 $lane "$build/contrib/examples/hello_keel"
        passed 10 $lane "$build/perf/kernels/stencil" -s 64x64 -n 40
        passed 14 $lane "$build/tests/proc/sections" -n 60 --ckpt-every 5
        passed 10 $lane "$build/tests/proc/waits" -n 60
    done
    # one that computes forces again from protected memory
    passed 10 direct "$build/perf/kernels/hydro" -s 3 -n 40
}

forgotten_protection_is_found()
{
    local put='what it put to rank 1 differs: 1 record, 8 bytes, crc [0-9a-f]*; before its death 1 record, 8 bytes, '

    found direct sum "$put"
    found served sum "$put"
    rehearse 123 auto "$rehearsed" step # and the sum is another for it
    has "$err" 1 "^keel 0.1 error: rehearsal: rank 0, phase 2: $put"
    has "$err" 1 '^keel 0.1 error: rehearsal: rank 0, phase 2: at its end protected region 2 (8 bytes) differs$'
}

clock_and_pid_are_found()
{
    found direct clock 'what it put to rank 1 differs: '
    found served pid 'what it put to rank 1 differs: '
}

memory_that_differs_is_found()
{
    found direct stamp 'at its end protected region 3 (8 bytes) differs$'
    found served own 'at its end window 0 (40 bytes) differs$'
}

loads_of_own_memory_are_found()
{
    found direct loads 'what it put to rank 1 differs: 2 records'
    found served loads 'what it put to rank 1 differs: 2 records'
}

other_gets_are_found()
{
    found direct where 'what it read is not what its predecessor had$'
}

# With two gsyncs in a step the first phase of the replacement does not use what was forgotten.
forgotten_protection_may_show_later()
{
    rehearse 123 direct "$rehearsed" later
    has "$err" 1 '^keel 0.1 error: rehearsal: rank 0, phase 4: what it put to rank 1 differs: '
    has "$err" 1 'what it did from gsync 3 on, .*: look for memory that is not protected and is first used in this phase, then for the clock'
}

# The step was counted before the gsync: a replacement leaves out what its predecessor did behind it. Right: with any death.
calls_behind_the_safe_gsync_are_found()
{
    local behind=$build/tests/proc/behind_safe kind lane death

    for lane in direct served; do
        for kind in gsync safe group; do
            rehearse 123 $lane "$behind" $kind
            has "$err" 1 "^keel 0.1 error: rehearsal: it was restored at gsync 2, .* for calls behind the safe gsync"
        done
        passed 14 $lane "$behind" right
        for death in 1@9.0 1@9.1 0@12.1; do
            run 0 -n 4 --nodes 2 "${small[@]}" -x "KEEL_LANES=$lane" -x KEEL_CKPT_INTERVAL=4gsyncs -x KEEL_VERBOSE=y \
                "$behind" right $death
            has "$out" 4 'right$'
            check_cost local "$death"
        done
    done
}

# from where what was forgotten is made again, so that does not show
job_without_safe_gsyncs_is_rehearsed_from_its_start()
{
    passed 34 auto "$rehearsed" calm
}

rollbacks_and_short_jobs_are_reported()
{
    rehearse 122 auto -x KEEL_PROTECT=ckpt "$rehearsed" right
    has "$err" 1 '^keelrun: rehearsal: ranks 0, 1, 2, 3 killed, and all rolled back: nothing was re-executed alone$'
    has "$err" 1 '^keelrun: rehearsal: 4 of 4 ranks were killed and re-executed 0 phases: nothing was compared$'
    run 0 --rehearse -n 12 --nodes 3 "${small[@]}" "$rehearsed" right
    has "$err" 1 'rehearsal: ranks [0-9, ]* never killed: the job is too short'
    has "$err" 1 'rehearsal: [1-9] of 12 ranks were killed and re-executed [0-9]* phases: no difference$'
    run 122 --rehearse -n 2 "${small[@]}" true
    has "$err" 1 'rehearsal: 0 of 2 ranks were killed and re-executed 0 phases: nothing was compared$'
    rehearse 3 auto sh -c 'exit 3'
    has "$err" 1 'rehearsal: 0 of 4 ranks were killed and re-executed 0 phases: the job failed$'
}

crash_of_a_replacement_is_reported()
{
    rehearse 139 auto -x UCX_HANDLE_ERRORS=none "$rehearsed" crash
    has "$err" 1 '^keelrun: rank 0 (incarnation 1) was killed by signal 11 '
    has "$err" 1 '^keelrun: rehearsal: rank 0 killed, and the job ended before a phase was re-executed$'
}

options_that_do_not_go_with_it_are_refused()
{
    run 2 --rehearse --no-restart true
    one_line 'rehearse has every rank started again'
    run 2 -n 2 --rehearse --spares 1 true
    one_line 'rehearse has every rank started again'
    run 1 -n 2 -x KEEL_PROTECT=none --rehearse "${small[@]}" "$rehearsed" right
    grep -q 'KEEL_REHEARSE with KEEL_PROTECT=none: nobody can be replaced$' "$err" || fail 'no word of KEEL_PROTECT'
    run 1 --rehearse -n 1 "${small[@]}" "$rehearsed" right
    has "$err" 1 'KEEL_REHEARSE needs two ranks'
    run 1 -n 2 -x KEEL_REHEARSE=/nowhere/at/all "${small[@]}" "$rehearsed" right
    grep -q "KEEL_REHEARSE: '/nowhere/at/all/rank.[01]' cannot be used: No such file or directory$" "$err" ||
        fail 'no word of the directory'
}

run_case
