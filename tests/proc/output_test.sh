#!/bin/bash
# One case of what ranks print when deaths have them print it again: output_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=${KEELRUN:-$build/contrib/keelrun/keelrun}
prints=$build/tests/proc/prints
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m --timeout 40)

# printed RANKS STEPS: each line of each rank once, in its order, and nothing else
printed()
{
    local rank step

    for ((rank = 0; rank < $1; rank++)); do
        {
            echo "rank $rank: it has joined"
            for ((step = 0; step < $2; step++)); do
                printf 'rank %d: step %d\nrank %d: more of step %d\n' $rank $step $rank $step
            done
        } >"$scratch/expected"
        grep "^rank $rank: [^t]" "$out" | grep -v "the end" | diff - "$scratch/expected" >&2 || fail "rank $rank printed something else"
        grep "^rank $rank: error" "$err" | diff - <(for ((step = 0; step < $2; step++)); do echo "rank $rank: error $step"; done) >&2 ||
            fail "rank $rank printed other errors"
    done
    has "$out" "$1" '^it begins$'
    [ "$(grep -o 'rank [0-9]*: the end' "$out" | sort -u | wc -l)" -eq "$1" ] || fail "an end is missing"
    [ "$(grep -o 'the end' "$out" | wc -l)" -eq "$1" ] || fail "an end too many"
    [ "$(grep -c . "$out")" -le $(($1 * (2 * $2 + 3))) ] || fail "more lines"
}

lines_appear_once()
{
    local place declared

    for declared in '' declared; do
        for place in 0 1 2 3 4; do
            is_due || continue
            run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES="$1" "$prints" 20 1@7.$place,2@12.$place $declared
            printed 4 20
            has "$err" 0 'writes otherwise'
        done
        # before any image
        [ -n "$declared" ] || for place in 1 2; do
            is_due || continue
            run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES="$1" "$prints" 20 3@1.$place,0@2.$place
            printed 4 20
        done
    done
}
lines_appear_once_direct() { lines_appear_once direct; }
lines_appear_once_served() { lines_appear_once served; }

what_differs_is_said()
{
    run 0 -n 4 --nodes 4 "${small[@]}" "$prints" 20 1@8.3 - differs
    has "$out" 1 '^rank 1: another line$'
    has "$err" 1 "^keelrun: rank 1 writes otherwise than before: 'rank 1: another line', not 'rank 1: step 8'$"
    sed -i '/another line/d' "$out"
    printed 4 20
}

# UCX writes its log to standard output, with the time in front
lines_of_ucx_are_passed_on()
{
    run 0 -n 4 --nodes 4 "${small[@]}" "$prints" 20 1@8.3 - logs
    has "$out" 1 '^\[1764384120.402311\] \[node1:4711:0\] .* UCX  WARN  a line of step 8$'
    has "$out" 1 '^\[1764384121.402311\] \[node1:4711:0\] .* UCX  WARN  a line of step 8$'
    has "$err" 0 'writes otherwise'
    sed -i '/ UCX  WARN /d' "$out"
    printed 4 20
}

# also where nobody marks anything: whoever is started again begins at its beginning
all_can_be_had()
{
    run 0 -n 4 --nodes 4 "${small[@]}" --output all "$prints" 20 1@8.3
    has "$out" 5 'it begins$' # once after the line that a death ended
    has "$out" 2 '^rank 1: it has joined$'
    [ "$(grep -c 'rank 1: step 8$' "$out")" -eq 2 ] || fail "a line was dropped"
    ! grep -q '_keel' "$out" || fail "marks where they were not asked for"
    run 2 --output some true
    one_line "keelrun: --output needs once or all, not 'some'"
}

# all had come to keel_finalize()
what_is_buffered_at_the_end_is_kept()
{
    run 137 -n 1 "${small[@]}" "$prints" 2 - killed
    has "$out" 1 '^rank 0: the end$'
}

# lost PROGRAM ARGUMENTS...: fails with one line when its standard output is a full device
lost()
{
    "$@" >/dev/full 2>"$err" </dev/null
    [ $? -eq 1 ] || fail "not status 1: $*"
    one_line 'No space left on device$\|output could not be written$'
}

# On whole lines, on a last line without its end, and on standard error, too. A reader that has gone is no failure.
output_that_cannot_be_written_is_said()
{
    local statuses

    for output in once all; do
        lost "$keelrun" -n 4 --nodes 2 --output $output sh -c 'echo line'
        lost "$keelrun" -n 1 --output $output sh -c 'printf rest'
    done
    has "$err" 1 "^keelrun: what the ranks print cannot be written: "
    "$keelrun" -n 2 --nodes 2 sh -c 'echo line >&2' >"$out" 2>/dev/full
    [ $? -eq 1 ] || fail "standard error was lost with status 0"
    "$keelrun" -n 2 sh -c 'echo line; exit 5' >/dev/full 2>"$err"
    [ $? -eq 5 ] || fail "the program's status is lost"
    (
        ulimit -f 1
        "$keelrun" -n 1 sh -c 'head -c 9999 /dev/zero' >"$out" 2>"$err"
    )
    [ $? -eq 1 ] || fail "a file of limited size was filled with status 0"
    one_line 'File too large$'
    "$keelrun" -n 2 --nodes 2 sh -c 'while echo line; do n=$((n + 1)); [ $n -lt 50000 ] || exit 0; done' 2>"$err" | head -n 1 >"$out"
    statuses="${PIPESTATUS[*]}"
    [ "$statuses" = "0 0" ] || fail "statuses $statuses where the reader has gone"
    [ ! -s "$err" ] || fail "a message where the reader has gone"
    check_nothing_left '*'
}

# Errors that no file of a test provokes: a library lets write() fail. The first line is written, and the rest is lost with one message.
each_error_of_a_write_is_said()
{
    local error number text

    for error in 5:'Input/output error' 122:'Disk quota exceeded' 28:'No space left on device'; do
        number=${error%%:*} text=${error#*:}
        KEELTEST_WRITE_FAILS=$number LD_PRELOAD=$build/tests/proc/libfailing_write.so \
            "$keelrun" -n 2 --nodes 2 sh -c 'echo line; sleep 0.2; echo line; sleep 0.2; echo line' >"$out" 2>"$err"
        [ $? -eq 1 ] || fail "not status 1: $text"
        one_line "^keelrun: what the ranks print cannot be written: $text\$"
        [ "$(head -n 1 "$out")" = line ] || fail "what could be written is lost: $text"
    done
    # the reader has gone: no failure
    KEELTEST_WRITE_FAILS=32 LD_PRELOAD=$build/tests/proc/libfailing_write.so "$keelrun" -n 1 sh -c 'echo line; sleep 0.2; echo line' >"$out" 2>"$err"
    [ $? -eq 0 ] || fail "a reader that has gone is a failure"
    [ ! -s "$err" ] || fail "a message where the reader has gone"
}

tools_say_that_their_output_is_lost()
{
    lost "$keelrun" --help
    lost "$build/src/tools/keel_info" -v
    lost "$build/src/tools/keel_info" --help
    lost "$build/src/tools/keel_info" -cf # more than a buffer
    lost "$build/src/tools/keel_plan" --help
    lost "$build/perf/keel_perftest" -h
}

run_case
