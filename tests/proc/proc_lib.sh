# What the tests with real processes share; sourced by a script that has set keelrun and name. Its cases are functions,
# each runs keelrun one or more times by run(), which checks that nothing of the job is left: no process, directory or
# shared-memory file.
# shellcheck shell=bash disable=SC2154
# shellcheck source=tests/lib/outcomes.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/outcomes.sh"

# /dev/shm of our own where the machine allows, so that other jobs on it are none of ours
if [ -z "${KEELRUN_TEST_PRIVATE:-}" ]; then
    export KEELRUN_TEST_PRIVATE=no
    if [ "$(id -u)" -eq 0 ] && unshare --mount --ipc mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
        KEELRUN_TEST_PRIVATE=yes exec unshare --mount --ipc "$BASH" "$0" "$@"
    fi
fi
[ "$KEELRUN_TEST_PRIVATE" = no ] || mount -t tmpfs tmpfs /dev/shm || exit 1

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp"
out=$scratch/out err=$scratch/err
# by these our processes and files are known
exec 3>&2
export KEELRUN_TEST_ID=keelrun_test.$$.$RANDOM TMPDIR=$scratch/tmp

# Loops take each Nth turn of their lanes, deaths and moments, from the first (thinned.cmake). N has no factor in common with
# the lengths of the loops.
each=${KEELTEST_EVERY:-1} turns=0
is_due() { [ $((turns++ % each)) -eq 0 ]; }

fail()
{
    echo "$name: $*" >&3
    { echo "--- stdout"; tail -n 30 "$out"; echo "--- stderr"; tail -n 30 "$err"; } >&3 2>/dev/null
    exit 1
}

# idle_build FOLDER: programs for perf's scripts that do nothing
idle_build()
{
    local program

    mkdir -p "$1/contrib/keelrun" "$1/perf/kernels"
    for program in contrib/keelrun/keelrun perf/keel_perftest perf/kernels/ft; do
        printf '#!/bin/sh\n' >"$1/$program"
        chmod +x "$1/$program"
    done
}

own_processes()
{
    grep -slzF "KEELRUN_TEST_ID=$KEELRUN_TEST_ID" /proc/[0-9]*/environ 2>/dev/null |
        grep -v -e "/$$/" -e "/$BASHPID/"
}

# is_left PID: prints what is left of the job of that keelrun
what_is_left()
{
    local file

    for file in $(own_processes); do
        [ -e "$file" ] && echo "process ${file//[^0-9]/}: $(tr '\0' ' ' <"${file%environ}cmdline" 2>/dev/null)"
    done
    find "$TMPDIR" -mindepth 1
    find /dev/shm -maxdepth 1 -name "keelrun.$1.*"
}

# the job's processes may still be on their way out when keelrun was killed: up to five seconds
check_nothing_left()
{
    local tries

    for ((tries = 0; tries < 100; tries++)); do
        [ -n "$(what_is_left "$1")" ] || return 0
        sleep 0.05
    done
    fail "left behind: $(what_is_left "$1")"
}

# hold RANK N: sets held, options of keelrun by which the rank waits in its N-th usleep() until it is killed
hold()
{
    # shellcheck disable=SC2034,SC2154 # of the tests
    held=(-x "LD_PRELOAD=$build/tests/proc/libheld_sleep.so" -x "KEELTEST_HELD=$1:$2")
}

# run STATUS ARGUMENTS...: keelrun ends with that status in bounded time and leaves nothing
run()
{
    local expected=$1
    shift

    run_any "$@"
    [ $status -eq "$expected" ] || fail "status $status, not $expected: keelrun $*"
}

# run_any ARGUMENTS...: the same with any status, which it sets
run_any()
{
    local pid

    timeout -k 1 60 "$keelrun" "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
    wait $pid
    status=$?
    # timeout's child is keelrun: the directory's name tells the number, if one is there
    [ -z "$(find "$TMPDIR" -mindepth 1)" ] || fail "left behind: $(find "$TMPDIR" -mindepth 1)"
    check_nothing_left '*'
    check_outcomes
}

start() # ARGUMENTS...: in the background; sets pid to keelrun's. A job that hangs ends after a minute.
{
    : >"$out" # before wait_for() looks
    : >"$err"
    "$keelrun" --timeout 60 "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
}

wait_for() # a text in a file: up to 20 seconds
{
    local tries

    for ((tries = 0; tries < 400; tries++)); do
        ! grep -q -- "$1" "$2" || return 0
        sleep 0.05
    done
    fail "'$1' never appeared"
}

# lost POINTS ARGUMENTS...: a job with checkpoints in files; keelrun and all ranks are killed at the last point (tests/lib/lost.h)
lost()
{
    local points=$1
    shift

    LOST=$points start "$@"
    wait_for 'lost here' "$out"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    check_nothing_left "$pid"
}

has() # FILE COUNT PATTERN: so many lines match
{
    [ "$(grep -c -- "$3" "$1")" -eq "$2" ] || fail "not $2 lines with '$3'"
}

# decided local|roll: how often that was said under KEEL_VERBOSE=y, by two processes or more of each death
decided()
{
    grep -o " decided: $1" "$err" | wc -l
}

# check_cost COST WHAT: the deaths of the job before were local, rollbacks, or either
check_cost()
{
    case $1 in
    local) [ "$(decided local)" -gt 0 ] && [ "$(decided roll)" -eq 0 ] ;;
    rollback) [ "$(decided roll)" -gt 0 ] && [ "$(decided local)" -eq 0 ] ;;
    either) [ "$(decided local)" -gt 0 ] || [ "$(decided roll)" -gt 0 ] ;;
    *) fail "no cost is called '$1'" ;;
    esac || fail "$2: $(decided local) local recoveries, $(decided roll) rollbacks"
}

# check_outcomes: stderr has no other line about deaths than these, and of one job its sums once, as the last of them
check_outcomes()
{
    local others

    others=$(grep '^keel: .*\( died\|recovered\|rolled back\|[0-9] deaths\?,\)' "$err" |
        grep -v -e '^keel: rank [0-9]*\.[0-9]*: ' -e "$outcome_local" -e "$outcome_rollback" -e "$outcome_sums")
    [ -z "$others" ] || fail "no such line about a death: $others"
}

# survived DEATHS LOCAL ROLLBACKS: so the job said at its end, and each death before has its line
survived()
{
    has "$err" 1 "^keel: $1 deaths\?, $2 recovered locally, $3 rollbacks\?, "
    [ "$2" -eq 0 ] || grep -q "$outcome_local" "$err" || fail "no line about a local recovery"
    has "$err" "$3" "$outcome_rollback"
    check_outcomes
}

one_line() # stderr has one line, with this text
{
    { [ "$(wc -l <"$err")" -eq 1 ] && grep -q -- "$1" "$err"; } || fail "stderr is not one line with '$1'"
}

# $name is a function of the script; what the shell says of killed jobs is no news
run_case()
{
    declare -F "$name" >/dev/null || fail "no such case"
    "$name" 2>"$scratch/trace" || { cat "$scratch/trace" >&3; exit 1; }
}
