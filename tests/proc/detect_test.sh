#!/bin/bash
# One case of ranks and nodes that hang, or that the network cannot reach: detect_test.sh DIRECTORY-OF-THE-BUILD CASE.
# Nothing tells of such a rank but its silence. No case judges times: a job that never notices runs into its bound.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun moments=$build/tests/proc/moments stencil=$build/perf/kernels/stencil
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=8m -x KEEL_GETLOG_SIZE=4m --timeout 50 -v)
quick=(-x KEEL_HEARTBEAT_INTERVAL=100ms -x KEEL_HEARTBEAT_TIMEOUT=1s)
sweeps=(-s 64x64 -n 1000 --ckpt-every 20 -v) # tells of each hundredth
amid="anyone:sweep 100 of"
stopping=() # a death option of the program's

# RANK: when all have told of the hundredth sweep it does not go on before it or another is dead, however late the launcher acts
held_by()
{
    stopping=(--die "$1@101.1:hold")
}

# stencil_run ARGUMENTS...: it ends well; twice without a death, with the same memory
stencil_run()
{
    run 0 "${small[@]}" "${quick[@]}" "$@" "$stencil" "${sweeps[@]}" "${stopping[@]}"
    has "$out" 1 'verification PASSED'
}

stopped_rank_is_replaced()
{
    local lane memory

    stencil_run -n 8 --nodes 4
    memory=$(grep '^stencil: memory' "$out")
    for lane in direct served; do
        stopping=(--die 3@31.1:stop)
        stencil_run -n 8 --nodes 4 -x KEEL_LANES=$lane
        has "$out" 1 "^$memory$"
        has "$err" 1 'rank 3 incarnation 0 killed: rank 2 does not hear it (state T)$'
        has "$err" 1 ' died: signal 9$'
    done
}

stopped_coordinator_is_replaced()
{
    stopping=(--die 0@31.1:stop)
    stencil_run -n 5 --nodes 5
    has "$err" 1 'rank 0 incarnation 0 killed: rank 4 does not hear it (state T)$'
    has "$err" 1 ' died: signal 9$'
}

stopped_neighbours_are_replaced()
{
    # of two groups: only when the first is replaced is the second one's neighbour there again, and it knows nobody yet
    held_by 2
    stencil_run -n 8 --nodes 4 -x KEEL_GROUP_SIZE=4 --stop "2@$amid" --stop "3@$amid"
    has "$err" 2 ' died: signal 9$'
    stopping=(--die 1@31.1:stop)
    stencil_run -n 2 --nodes 2
    has "$err" 1 ' died: signal 9$'
}

stopped_node_is_replaced()
{
    held_by 2
    stencil_run -n 8 --nodes 4 --stop-node "1@$amid"
    has "$err" 1 'node 1 is lost$'
    has "$err" 2 ' died: signal 9$'
    grep -q 'rank [23] incarnation 1 started on node 2' "$err" || fail "nobody moved"
}

needs_namespaces()
{
    "$keelrun" --netns true >"$out" 2>"$err"
    [ $? -ne 77 ] || { echo "no network namespaces on this machine: skipped"; exit 77; }
}

# the others are replaced on it, and reach those that are there, though nobody else
cut_node_with_most_ranks_goes_on()
{
    needs_namespaces
    held_by 3
    stencil_run -n 5 --nodes 2 --netns --cut-node "0@$amid"
    has "$err" 1 'node 0 cut off$'
    has "$err" 2 ' died: signal 9$'
    has "$err" 2 'rank [34] incarnation 1 started on node 0'
}

cut_node_is_replaced()
{
    needs_namespaces
    held_by 2
    stencil_run -n 8 --nodes 4 --netns --cut-node "1@$amid"
    has "$err" 1 'node 1 cut off$'
    has "$err" 2 ' died: signal 9$'
    has "$err" 1 'rank 2 incarnation 1 started on node [023]'
    has "$err" 1 'rank 3 incarnation 1 started on node [023]'
    # two nodes of one rank each: no side hears more than half of the job; the lower one stays
    held_by 1
    stencil_run -n 2 --nodes 2 --netns --cut-node "1@$amid"
    has "$err" 1 ' died: signal 9$'
    # and three: all accuse, the lowest one is believed, and the others' ranks come to it
    quick=(-x KEEL_HEARTBEAT_INTERVAL=100ms -x KEEL_HEARTBEAT_TIMEOUT=500ms)
    stencil_run -n 3 --nodes 3 --netns -x KEEL_PARITIES=2 --cut-node "1@$amid" --cut-node "2@$amid"
    has "$err" 1 'rank 1 incarnation 0 died: signal 9$'
    has "$err" 1 'rank 2 incarnation 0 died: signal 9$'
    has "$err" 2 'rank [12] incarnation 1 started on node 0'
    # the lower one's rank is a replacement that the other cannot greet: the other has the data and is believed
    held_by 0
    stencil_run -n 2 --nodes 2 --netns --cut-node "1@$amid" --kill "0@anyone:rank 0 incarnation 0 is silent"
    has "$err" 1 'rank 0 incarnation 2 started on node 1'
    has "$err" 1 'rank 0 incarnation 1 killed: rank 1 does not hear it (state [RSD])$'
}

# a process that was woken has done something: it was given the core, and gave it away
wait_until_it_runs() # PID SWITCHES
{
    local tries

    for ((tries = 0; tries < 2000; tries++)); do
        [ "$(switches "$1")" -le $(($2 + 10)) ] || return 0
        sleep 0.01
    done
    fail "process $1 does not run again"
}

switches() # PID: how often it was given the core
{
    awk '/ctxt_switches/ { sum += $2 } END { print sum + 0 }' "/proc/$1/task/$1/status"
}

# LANE: as many sweeps as take far longer than it takes to stop a rank, or to go on from there
last_while()
{
    sweeps=(-s 64x64 -n 2000 --ckpt-every 50 -v)
    [ "$1" = served ] || sweeps=(-s 64x64 -n 24000 --ckpt-every 600 -v)
}

# Its neighbour has lost patience and has asked for its death, but the launcher is stopped too: the rank is awake and works
# when it is killed. Where it wants a core just then the launcher lets it live, and nobody dies.
killed_after_it_woke()
{
    local lane victim before deaths

    for lane in direct served; do
        last_while $lane
        start -n 4 --nodes 2 "${small[@]}" "${quick[@]}" -x KEEL_LANES=$lane "$stencil" "${sweeps[@]}"
        wait_for 'all ranks have met$' "$err"
        victim=$(sed -n 's/.* rank 2 incarnation 0 started on node ., pid //p' "$err")
        kill -STOP $pid "$victim"
        wait_for 'rank 2 incarnation 0 is silent' "$err"
        before=$(switches "$victim")
        kill -CONT "$victim"
        wait_until_it_runs "$victim" "$before"
        kill -CONT $pid
        wait $pid || fail "status $?"
        has "$out" 1 'verification PASSED'
        has "$err" 1 'rank 2 incarnation 0 \(killed: rank 1 does not hear it (state [RSD])$\|may live until\)'
        deaths=$(grep -c 'rank 2 incarnation 0 killed: ' "$err")
        has "$err" "$deaths" ' died: signal 9$'
    done
}

# A stopped rank is woken again before, while and, above, after its neighbour loses patience: whether it is killed or not, what it
# does counts as its own work or not at all.
woken_rank_writes_nowhere()
{
    local lane delay victim

    for lane in direct served; do
        last_while $lane
        for delay in 0.99 1; do
            start -n 4 --nodes 2 "${small[@]}" "${quick[@]}" -x KEEL_LANES=$lane --stop "2@anyone: sweep " "$stencil" "${sweeps[@]}"
            wait_for 'rank 2 incarnation 0 stopped$' "$err"
            victim=$(sed -n 's/.* rank 2 incarnation 0 started on node ., pid //p' "$err")
            sleep $delay
            kill -CONT "$victim" 2>/dev/null
            wait $pid || fail "status $?"
            has "$out" 1 'verification PASSED'
        done
    done
    killed_after_it_woke
    check_nothing_left $pid
}

computing_rank_is_not_suspected()
{
    local lane

    load=()

    for _ in 1 2; do
        # somebody else's load, and no process of the job
        env -u KEELRUN_TEST_ID -u TMPDIR timeout 60 sh -c 'while :; do :; done' &
        load+=($!)
    done
    trap 'kill "${load[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
    for lane in direct served; do
        run_any -n 10 --nodes 2 "${small[@]}" "${quick[@]}" -x KEEL_LANES=$lane "$moments" compute 3 2500
        [ $status -eq 0 ] || break
    done
    [ $status -eq 0 ] || fail "status $status"
    ! grep -q 'is silent' "$err" || fail "a rank that computes was suspected"
}

# with nobody to kill it (the launcher, too, is stopped), a suspect that goes on is no suspect any more
false_alarm_is_counted()
{
    local victim

    start -n 4 --nodes 2 "${small[@]}" "${quick[@]}" "$moments" doubted 1000000
    wait_for 'all ranks have met$' "$err"
    victim=$(sed -n 's/.* rank 2 incarnation 0 started on node ., pid //p' "$err")
    kill -STOP $pid "$victim"
    wait_for 'rank 2 incarnation 0 is silent' "$err"
    kill -CONT "$victim"
    wait_for 'moments: false alarm$' "$out"
    kill -CONT $pid
    kill -TERM $pid
    wait $pid
    check_nothing_left $pid
}

run_case
