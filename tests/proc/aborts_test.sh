#!/bin/bash
# One case of jobs that a rank ends by keel_abort(): aborts_test.sh DIRECTORY-OF-THE-BUILD CASE.
# shellcheck disable=SC2016 # for another shell
set -u

build=$1 name=$2
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$build/contrib/keelrun/keelrun
aborts=$build/tests/proc/aborts
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m --timeout 40)

# with its status, 0 too, and what the rank had printed; the others wait in a gsync
one_rank_ends_the_job()
{
    local nodes

    for nodes in 1 2; do
        run 7 -n 4 --nodes $nodes "${small[@]}" "$aborts" 7
        one_line "rank 1 ends the job: keel_abort with status 7"
        has "$out" 1 "^rank 1 of job 0$"
        run 0 -n 4 --nodes $nodes "${small[@]}" "$aborts" 0
        [ ! -s "$err" ] || fail "a message where all is well"
    done
    run 255 -n 2 "${small[@]}" "$aborts" -1
}

# status 75, by keel_abort() or exit(): once, or as often as is said; the kills are of the first life, the time is of all
jobs_that_ask_for_it_are_restarted()
{
    run 0 -n 3 --nodes 2 "${small[@]}" "$aborts" 75
    has "$err" 1 "the job is started anew (1 of 1)"
    has "$out" 3 "^rank [0-2] of job 1$"
    run 75 -n 3 "${small[@]}" "$aborts" 75 2
    has "$err" 1 "the job is started anew"
    run 75 -n 3 --job-restarts 0 "${small[@]}" "$aborts" 75
    has "$err" 0 "the job is started anew"
    KEEL_JOB_RESTARTS=2 run 0 -n 3 "${small[@]}" "$aborts" 75 2
    has "$err" 2 "the job is started anew (. of 2)"
    has "$out" 3 "^rank [0-2] of job 2$"
    run 0 -n 2 --kill 1@0 sh -c 'echo "$KEELRUN_JOB"; [ "$KEELRUN_JOB" = 1 ] || { sleep 0.2; exit 75; }'
    KEEL_JOB_RESTARTS=x run 2 true
    one_line "KEEL_JOB_RESTARTS needs a number"
    run 124 -n 1 --timeout 1 --job-restarts 1000000 sh -c 'sleep 0.3; exit 75'
}

# once: the variable is set then. It is not one of KEEL_JOB_RESTARTS, and kills of the job stay.
jobs_are_restarted_with_what_they_ask_for()
{
    local setting

    run 0 -n 3 --nodes 2 --job-restarts 0 "${small[@]}" "$aborts" SOME_THING=y=z
    has "$err" 1 '^keelrun: .*the job is started anew with SOME_THING=y=z$'
    has "$out" 2 '^rank 1 of job 0$'
    has "$out" 1 '^not started: call out of order'
    run 0 -n 3 "${small[@]}" -x SOME_THING= "$aborts" SOME_THING=1
    has "$out" 1 '^not started: call out of order'
    for setting in = =1 "A=$(printf '%0256d' 0)"; do
        run 0 -n 3 "${small[@]}" "$aborts" "$setting"
        has "$out" 1 '^not started: invalid parameter'
    done
    run 0 -n 3 "${small[@]}" --kill 0@1000 "$aborts" "A=$(printf '%0253d' 0)"
    has "$err" 1 'started anew with A=0'
    has "$err" 1 'rank 0 was not killed: the job ended before'
}

run_case
