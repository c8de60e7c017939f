#!/bin/bash
# One case of whole jobs on the library that a random kill seldom reaches: jobs_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun moments=$build/tests/proc/moments
stencil=$build/perf/kernels/stencil bad_input=$build/tests/proc/bad_input
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=8m -x KEEL_GETLOG_SIZE=4m --timeout 40) # a job starts faster with small logs

need_namespaces()
{
    "$keelrun" --netns true >"$out" 2>"$err"
    [ $? -ne 77 ] || { echo "no network namespaces on this machine: skipped"; exit 77; }
}

# ---- network namespaces -------------------------------------------------------------------------------------------------

namespaces_show_their_own_devices()
{
    need_namespaces
    run 0 -n 3 --nodes 3 --netns sh -c 'echo /sys/class/net/*'
    has "$out" 3 '^/sys/class/net/eth0 /sys/class/net/lo$'
}

served_lane_crosses_namespaces()
{
    local sent

    need_namespaces
    # two ranks a node: one lane inside, the other between; rows and columns of 200 sweeps are more than 300 KB a node
    # shellcheck disable=SC2016
    run 0 -n 8 --nodes 4 --netns "${small[@]}" \
        sh -c '"$0" "$@" && [ "$PMIX_RANK" = 2 ] && echo "sent $(cat /sys/class/net/eth0/statistics/tx_bytes)"; exit 0' \
        "$stencil" -s 256x256 -n 200
    has "$out" 1 'verification PASSED'
    sent=$(sed -n 's/^sent //p' "$out")
    [ "${sent:-0}" -gt 300000 ] || fail "only ${sent:-no} bytes went over the node's device"
}

death_across_namespaces_is_recovered()
{
    need_namespaces
    run 0 -n 8 --nodes 4 --netns "${small[@]}" "$stencil" -s 64x64 -n 60 --ckpt-every 5 --die 3@31.1
    has "$out" 1 'verification PASSED'
}

# ---- rollback, as a program sees it -----------------------------------------------------------------------------------------

restart_point=$build/contrib/examples/restart_point

# README's program, as it says to run it; and where every death is a rollback, which its calls return
hello_survives_a_kill()
{
    local rollbacks held protect=(all ckpt)

    hold 2 10
    for rollbacks in 0 1; do
        run 0 -n 4 --nodes 4 "${small[@]}" "${held[@]}" -x "KEEL_PROTECT=${protect[$rollbacks]}" -x KEEL_VERBOSE=y --kill 2@0.5 \
            "$build/contrib/examples/hello_keel"
        has "$out" 3 '^rank [013], life 0: 524288$'
        has "$out" 1 '^rank 2, life 1: 524288$'
        has "$err" $rollbacks '^keel 0.0 info: .* decided: roll back to generation'
        survived 1 $((1 - rollbacks)) $rollbacks
        has "$err" 1 '^keel: rank 2 died on node2; '
    done
}

program_rolls_back_on_request()
{
    local lane

    for lane in direct served; do
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane -x KEEL_VERBOSE=y "$restart_point" ask
        has "$out" 4 ', life 0: 524288$'
        has "$err" 1 'decided: roll back to generation [1-9][0-9]* (rank 0: its program asked for it)'
        has "$err" 1 '^keel: all ranks rolled back to checkpoint [1-9][0-9]* (.* of work lost): rank 0: its program asked for it$'
        has "$err" 0 '^keel: [0-9]* deaths'
    done
}

program_jumps_to_its_restart_point()
{
    local held

    # whenever the death comes; with a request besides
    hold 1 15
    run 0 -n 4 --nodes 2 "${small[@]}" "${held[@]}" --kill 1@0.3 "$restart_point"
    has "$out" 4 ': 524288$'
    hold 0 15
    run 0 -n 4 --nodes 2 "${small[@]}" "${held[@]}" --kill 0@0.3 "$restart_point" ask
    has "$out" 4 ': 524288$'
}

# all of them the same
ranks_know_which_rank_died()
{
    local lane

    for lane in direct served; do
        run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES=$lane "$build/tests/proc/who_died" 20 2@6.0,0@12.0
        has "$out" 4 '^rank [0-3]: 0 0 1 0$'
        has "$out" 4 '^rank [0-3]: 1 0 1 0$'
        has "$out" 8 '^rank '
    done
}

# deaths before the clock of a benchmark starts, at the edge and after it
program_warms_up_through_deaths()
{
    local whole step

    run 0 -n 4 --nodes 2 "${small[@]}" "$build/perf/kernels/ft" --warmup
    whole=$(grep -o 'memory .*' "$out")
    for step in 3 6 7 9; do # a transform and six iterations are a repeat
        run 0 -v -n 4 --nodes 2 "${small[@]}" "$build/perf/kernels/ft" --warmup --die 1@$step.1
        has "$out" 1 "ft: $whole"
        has "$out" 1 'checksums: 12 right, 0 wrong'
        has "$err" 1 'rank 1 incarnation 0 died: signal 9$'
    done
}

# ---- what survivors hold --------------------------------------------------------------------------------------------------

survivors_keep_no_files_or_mappings()
{
    local lane

    for lane in direct served auto; do
        run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES=$lane "$moments" many 15
        has "$out" 1 '^moments: after 15 deaths '
    done
    run 0 -n 6 --nodes 2 "${small[@]}" "$moments" many 21
}

# the test above would see it
leaks_of_a_survivor_are_seen()
{
    local leak

    for leak in file mapping; do
        run 1 -n 4 --nodes 4 "${small[@]}" "$moments" many 15 $leak
        has "$err" 1 'moments: .*more files or mappings than before$'
    done
}

# ---- logs too small for the run -------------------------------------------------------------------------------------------

hybrid_run() # ROLLBACKS ARGUMENTS-OF-THE-KERNEL...: no image of any kind is taken, and logs overflow in every run
{
    local rollbacks=$1
    shift
    run 0 "${hybrid[@]}" "$stencil" -s 256x256 -n 150 --json "$@"
    has "$out" 1 '"verified": "yes"'
    has "$out" 1 '"checkpoints": 0, "demand_checkpoints": 0,'
    has "$out" 1 "\"rollbacks\": $rollbacks, \"rollbacks_in_doubt\": 0}"
    grep -q 'log .*is full' "$err" || fail "the logs are large enough: this tests nothing"
    grep -q 'warn: .*log .*is full' "$err" || fail "a full log is no warning"
    # towards its several neighbours, and again in later steps: once a process, which are five with a replacement
    [ "$(grep -c 'warn: put log towards .* is full' "$err")" -le 5 ] || fail "a full log is said again and again"
}

# with no images to trim the logs by: while they are whole the dead rank alone comes back, afterwards the job rolls back
death_before_the_logs_are_full_is_local_and_later_a_rollback()
{
    local lane memory

    for lane in direct served; do
        hybrid=(-n 4 --nodes 2 --timeout 50 -x "KEEL_LANES=$lane" -x KEEL_OPLOG_SIZE=128k -x KEEL_OPLOG_SOFT=0
            -x KEEL_GETLOG_SIZE=1m -x KEEL_CKPT_INTERVAL=off)
        hybrid_run 0 --die 3@10.1
        memory=$(grep -o '"memory": "[0-9a-f]*"' "$out")
        hybrid_run '[1-9]' --die 3@145.1
        has "$out" 1 "$memory"
    done
}

# before any log is full, by one rank for all; who offers safe points later, or has enough room, is told nothing
a_program_without_safe_points_is_warned_once()
{
    local lane first

    for lane in direct served; do
        for first in 100 10; do
            run 0 -n 4 --nodes 2 -x KEEL_LANES=$lane -x KEEL_OPLOG_SIZE=256k -x KEEL_GETLOG_SIZE=1m "$build/tests/proc/unsafe" 100 $first
            has "$err" $((first / 100)) 'half of a log of rank [0-3] is in use (KEEL_OPLOG_SIZE), and the program has offered no safe point yet'
            # shellcheck disable=SC2017 # lines of whole hundreds
            has "$err" $((first / 100 * 4)) 'is full'
            [ "$first" -eq 10 ] || head -1 "$err" | grep -q 'half of a log' || fail "told when it is too late"
        done
    done
}

# ranks do different numbers of sections, and one dies at nine tenths of its own
a_program_that_only_locks_begins_at_an_image()
{
    local lane step

    for lane in direct served; do
        run 0 -n 4 --nodes 2 -x KEEL_LANES=$lane -x KEEL_CKPT_INTERVAL=500gsyncs "$build/tests/proc/lock_points" 2000
        has "$out" 1 'sections are counted'
        step=$(sed -n 's/^rank 1 begins at step \([0-9]*\) of 2200$/\1/p' "$out" | head -1)
        [ "${step:-0}" -gt 0 ] || fail "rank 1 did not begin at an image"
        echo "$lane: rank 1 died at step 1980 and began at $step: $((1980 - step)) steps were done again"
    done
}

# 1: not deterministic, 4: waits, 8: threads, 16: polls; a loop that does not end is a test that does not
what_was_put_is_sent_before_looking()
{
    local job

    for job in 'poll 0' 'poll 1' 'poll 4' 'fetch 1' 'fetch 4' 'fetch 8' 'get 16' 'get 17' 'get 24' 'progress 0' 'progress 1' \
        'progress 4' 'own 1' 'own 4' 'own 12' 'own 16' 'own 17'; do
        is_due || continue
        # shellcheck disable=SC2086 # two words
        run 0 -n 3 --nodes 3 --timeout 50 -x KEEL_LANES=served "$build/tests/proc/unsent" $job
    done
    run 0 -n 3 --nodes 3 --timeout 50 -x KEEL_LANES=served -x KEEL_PROTECT=none "$build/tests/proc/unsent" own 4
}

# the rank that has the counter dies, one that draws does, both do, one after the other and the same counter twice
tickets_are_drawn_once_through_deaths()
{
    local lane deaths

    for lane in direct served auto; do
        for deaths in 0@8.2 3@9.1 1@9.2,3@9.1 2@10.0,0@12.3; do
            run 0 -n 4 --nodes 2 "${small[@]}" -v -x KEEL_LANES=$lane -x KEEL_GROUP_SIZE=4 -x KEEL_PARITIES=2 \
                "$build/tests/proc/tickets" 24 $deaths
            has "$out" 1 '^tickets: each was drawn once$'
            has "$err" $(($(tr -cd @ <<<"$deaths" | wc -c))) ' died: signal 9$'
        done
    done
}

# ---- deaths that end the job -------------------------------------------------------------------------------------------------

death_without_protection_ends_the_job()
{
    local lane

    for lane in direct served; do
        run 3 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane -x KEEL_PROTECT=none --kill 2@0.3 "$moments" plain 1000000
        grep -q 'rank 2 incarnation 0 died and KEEL_PROTECT is none: the job cannot go on$' "$err" || fail "no reason given"
    done
}

# four ranks, each on a node of its own, are killed at one line, while a survivor holds the job; KEEL_GROUP_SIZE=auto makes one group of 8
four_of_eight_killed_at_once_are_recovered()
{
    local lane victim kills=()

    for victim in 0 2 4 7; do
        kills+=(--kill "$victim@anyone:sweep 40 of")
    done
    for lane in direct served; do
        run 0 "${small[@]}" -n 8 --nodes 8 -v -x KEEL_LANES=$lane -x KEEL_PARITIES=4 -x KEEL_CKPT_INTERVAL=off -x KEEL_VERBOSE=y \
            "${kills[@]}" "$stencil" -s 64x64 -n 100 --ckpt-every 15 -v --die 1@41.1:hold
        has "$out" 1 'verification PASSED'
        has "$err" 4 ' died: signal 9$'
        for victim in 0 2 4 7; do
            grep -q "^keel $victim\.1 info: .* image of generation [0-9]* rebuilt: " "$err" || fail "no image of rank $victim was rebuilt"
        done
    done
}

deaths_beyond_parity_end_the_job()
{
    local lane

    for lane in direct served; do # both of one group, at once, with a checkpoint taken: nothing else can be the end
        run 3 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES=$lane --kill "1@anyone:step 100" --kill "3@anyone:step 100" \
            "$moments" plain 1000000
        has "$err" 1 'error: catastrophic failure: ranks 1, 3 of group 0 are lost together and its parity covers 1 (KEEL_PARITIES)$'
    done
}

# ---- deaths at the edges of a job --------------------------------------------------------------------------------------------

# the whole outcome of a job that lost a rank at an edge: it is right, or it says why it cannot go on
whole_or() # TEXT
{
    case $status in
        0) return ;;
        124 | 134 | 139) fail "status $status: a hang, or a crash of a survivor" ;;
    esac
    grep -qE -- "$1" "$err" || fail "status $status without a reason"
    ! grep -qE 'Assert|egmentation|Abort' "$err" || fail "a survivor crashed"
}

death_while_leaving_never_hangs()
{
    local lane delay

    for lane in direct served; do
        for delay in 0 50 100 200 300 500 800 1200 2000 4000 8000 16000; do
            is_due || continue
            run_any -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane "$moments" finalize $((delay / 50 % 4)) $delay
            whole_or 'nothing is recovered|rank [0-9] \(incarnation 1\) exited with status' # the latter if it came back before all others were over
        done
    done
}

death_after_the_last_gsync_is_reported_once()
{
    local mode

    for mode in announced unannounced; do
        run 137 -n 3 "${small[@]}" "$build/tests/proc/late_death" $mode "$scratch/$mode"
        has "$err" 1 'rank 1 (incarnation 0) was killed by signal 9 (Killed) while the job was leaving: nothing is recovered then$'
        ! grep -q 'exited with status' "$err" || fail "told twice"
    done
}

# the death of the one before it was recovered, and is not the reason
a_replacement_that_fails_while_others_leave_is_named()
{
    run 1 -n 4 "${small[@]}" "$build/tests/proc/extra_gsync"
    has "$err" 1 '^keelrun: rank 2 (incarnation 1) exited with status 1$'
    run 1 -n 4 --spares 1 "${small[@]}" "$build/tests/proc/extra_gsync"
    has "$err" 1 '^keelrun: rank 4 (incarnation 0) exited with status 1$'
}

# every moment: before all have met the job is started anew
death_while_meeting_is_recovered()
{
    local lane delay

    for lane in direct served; do # PMIx takes some 30 ms to start, the library 30 more
        for delay in 0 20000 30000 40000 45000 50000 55000 60000 70000 80000 100000 150000; do
            is_due || continue
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane "$moments" init $((delay / 5000 % 4)) $delay
        done
    done
}

death_of_a_starting_replacement_is_recovered()
{
    local lane delay

    for lane in direct served; do
        for delay in 0 10000 20000 30000 40000 50000 60000 70000 80000 100000; do
            is_due || continue
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane "$moments" reinit $((delay / 10000 % 4)) $delay
        done
    done
}

# ---- bad input ------------------------------------------------------------------------------------------------------------

refuse_all() # LANE MODE OPTIONS...
{
    local lane=$1 mode=$2
    shift 2
    run 0 -n 2 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" "$@" "$bad_input" "$mode"
    has "$out" 2 '^bad_input: rank [01]: all refused$'
    # each with one line
    has "$err" $(($(sed -n 's/^bad_input: \([0-9]*\) calls$/\1/p' "$out" | paste -sd+))) '^keel.* error: '
}

calls_refuse_bad_arguments()
{
    local lane

    for lane in direct served; do
        refuse_all $lane arguments
        has "$err" 2 'KEEL_RESTART_POINT without a context'
    done
}

# windows that a rollback went after
handles_from_before_a_rollback_are_refused()
{
    local lane

    for lane in direct served; do
        refuse_all $lane stale
        has "$err" 20 'error: window 1 is gone: the job rolled back to before its keel_win_alloc(), which has to be called again$'
    done
}

# and said once
calls_of_another_style_are_mixed()
{
    local lane
    local mixes='from here on every death is a rollback$'

    for lane in direct served; do
        refuse_all $lane locks -x KEEL_LOG_LEVEL=info
        has "$err" 2 "keel_wait_until in a program that locks: $mixes"
        has "$err" 2 "$mixes"
        has "$err" 4 'keel_finalize while 1 ranks are locked$' # two locks
        refuse_all $lane unlocked -x KEEL_LOG_LEVEL=info
        has "$err" 2 "keel_lock after accesses without a lock: $mixes"
        has "$err" 2 "$mixes"
        refuse_all $lane gsync -x KEEL_LOG_LEVEL=info
        has "$err" 2 "keel_lock after accesses without a lock: $mixes"
        refuse_all $lane waits -x KEEL_LOG_LEVEL=info
        has "$err" 2 "keel_lock_all in a program that waits: $mixes"
    done
    refuse_all direct rollback -x KEEL_PROTECT=none
    has "$err" 4 'keel_rollback with KEEL_PROTECT=none: there is nothing to go back to$'
}

# locks that are held across gsyncs, atomics and puts under shared ones, gsyncs, waits: as programs for MPI do
programs_that_mix_all_ways_roll_back()
{
    local lane

    for lane in direct served; do
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane -x KEEL_VERBOSE=y "$build/tests/proc/mixing" 60 -
        has "$out" 1 '^mixing: 4 ranks, 60 steps, 0 rollbacks: right$'
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane -x KEEL_VERBOSE=y "$build/tests/proc/mixing" 60 \
            1@7.0,2@23.1,0@31.2,3@44.3
        has "$out" 1 '^mixing: 4 ranks, 60 steps, 4 rollbacks: right$'
        survived 4 0 4
        has "$err" 4 ' of work lost): rank .: the program is not deterministic, as at every further death$'
        # and when it does not say so: found out
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane "$build/tests/proc/mixing" 60 - undeclared
        has "$out" 1 '^mixing: 4 ranks, 60 steps, 0 rollbacks: right$'
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane "$build/tests/proc/mixing" 60 \
            1@7.0,2@23.1,0@31.2,3@44.3 undeclared
        has "$out" 1 '^mixing: 4 ranks, 60 steps, 4 rollbacks: right$'
        has "$err" 4 ' of work lost): rank .: the program mixes ways to synchronise, or does what no log has (KEEL_LOG_LEVEL=info names the call), as at every further death$'
    done
}

# polling: which word comes first, a server's turns, tests of words; the deaths are in the midst of each
programs_that_test_words_are_recovered()
{
    local lane

    for lane in direct served auto; do
        if is_due; then
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane -x KEEL_LOG_LEVEL=info "$build/tests/proc/first_come" 60 -
            has "$out" 1 '^first_come: 4 ranks, 60 steps, 0 rollbacks: right$'
            has "$err" 0 'every death is a rollback'
        fi
        if is_due; then
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane "$build/tests/proc/first_come" 60 1@7.0,2@23.1,0@32.2,3@45.3
            has "$out" 1 '^first_come: 4 ranks, 60 steps, 0 rollbacks: right$'
        fi
        is_due || continue
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lane "$build/tests/proc/first_come" 60 1@7.0,2@23.1,0@32.2,3@45.3 declared
        has "$out" 1 '^first_come: 4 ranks, 60 steps, 4 rollbacks: right$'
    done
}

# a rank that holds parity has no part in the program: it leaves with 0, and a death of it costs nobody anything
each_wait_comes_after_what_its_own_word_follows()
{
    local lane

    for lane in direct served; do
        rm -f "$scratch/between"
        run 0 -n 3 "${small[@]}" -x KEEL_LANES=$lane "$build/tests/proc/two_waits" "$scratch/between"
        has "$out" 1 '^two_waits: 0 rollbacks, the data behind the second wait is 42: right$'
    done
}

ranks_that_hold_parity_are_none_of_the_program()
{
    local lane

    for lane in direct served; do
        run 0 -n 5 --nodes 5 "${small[@]}" -x KEEL_LANES=$lane -x KEEL_PARITY=dedicated -x KEEL_VERBOSE=y \
            --kill "4@anyone:sweep 100 of" "$stencil" -v -s 128x128 -n 1000 --ckpt-every 10 --die 0@101.1:hold
        has "$out" 1 'verification PASSED'
        has "$out" 1 ', 4 ranks'
        has "$err" 1 'keel 0.0 info: .* rank 4 incarnation 0 died'
    done
}

bad_configuration_is_named()
{
    local variable text

    while IFS='|' read -r variable text; do
        run 3 -n 2 --nodes 2 --timeout 40 -x "$variable" "$moments" plain 3
        grep -qE "^keel.* error: .*$text" "$err" || fail "$variable: no line with '$text'"
    done <<'END'
KEEL_OPLOG_SIZE=4k|KEEL_OPLOG_SIZE of 4096 bytes is too small: 12[0-9]{3} are needed
KEEL_OPLOG_SIZE=8t|KEEL_OPLOG_SIZE of 8796093022208 bytes is too large
KEEL_OPLOG_SIZE=5|KEEL_OPLOG_SIZE of 5 bytes is out of range
KEEL_OPLOG_SIZE=lots|invalid value for KEEL_OPLOG_SIZE: 'lots'
KEEL_GROUP_SIZE=1|KEEL_GROUP_SIZE of 1 is out of range
KEEL_PARITIES=0|KEEL_PARITIES of 0 is out of range, allowed are 1 to 8
KEEL_PARITIES=9|KEEL_PARITIES of 9 is out of range, allowed are 1 to 8
KEEL_PARITIES=2|groups of 2 with 2 parities cannot be formed from 2 ranks
KEEL_PARITY=elsewhere|invalid value for KEEL_PARITY: 'elsewhere'
KEEL_GROUP_SIZE=3|KEEL_GROUP_SIZE of 3 is impossible: the job has 2 ranks
KEEL_LANES=pigeon|invalid value for KEEL_LANES: 'pigeon'
KEEL_PROTECT=some|invalid value for KEEL_PROTECT: 'some'
KEEL_HEARTBEAT_TIMEOUT=1ns|KEEL_HEARTBEAT_TIMEOUT of 1e-09s is out of range
KEEL_CKPT_INTERVAL=often|invalid value for KEEL_CKPT_INTERVAL: 'often'
END
    # a misspelling is announced once in a job, and not at all if only errors are printed
    run 0 -n 4 "${small[@]}" -x KEEL_OPLOG_SIZ=1m "$stencil" -s 64x64 -n 2
    has "$err" 1 'unknown variables: KEEL_OPLOG_SIZ '
    run 0 -n 4 "${small[@]}" -x KEEL_OPLOG_SIZ=1m -x KEEL_LOG_LEVEL=error "$stencil" -s 64x64 -n 2
    has "$err" 0 'unknown variables'
    # those that hold parity are ranks that the job has to have
    run 3 -n 2 --nodes 2 --timeout 40 -x KEEL_PARITY=dedicated -x KEEL_CHECKSUM_RANKS=2 "$moments" plain 3
    grep -q "KEEL_CHECKSUM_RANKS of 2 leaves none of the job's 2 ranks" "$err" || fail "no reason given"
    # an image that does not fit is no reason to stop: the one before stays in use, and every rank says so
    run 0 -n 2 --nodes 2 "${small[@]}" -x KEEL_CKPT_SIZE=4k "$stencil" -s 64x64 -n 8 --ckpt-every 2
    grep -q 'KEEL_CKPT_SIZE of 4096 bytes is too small' "$err" || fail "no reason given"
}

run_case
