#!/bin/bash
# One case of spares, under keelrun and under Open MPI's mpirun: spares_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun stencil=$build/perf/kernels/stencil moments=$build/tests/proc/moments
polling=$build/tests/proc/polling
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=8m -x KEEL_GETLOG_SIZE=4m --timeout 50 -v)
sweeps=(-s 64x64 -n 400 --ckpt-every 20)
dying=() # a death option of the program's

stencil_run() # ARGUMENTS...
{
    run 0 "${small[@]}" "$@" "$stencil" "${sweeps[@]}" "${dying[@]}"
    has "$out" 1 'verification PASSED'
}

# ---- keelrun ----------------------------------------------------------------------------------------------------------

unused_spares_leave()
{
    stencil_run -n 4 --nodes 2 --spares 2
    has "$out" 1 'stencil: 64 x 64, 4 ranks'
    has "$err" 6 ' left$'
}

spare_takes_a_dead_rank()
{
    local lane memory

    stencil_run -n 6 --nodes 3
    memory=$(grep '^stencil: memory' "$out")
    dying=(--die 3@31.1)
    for lane in direct served; do
        stencil_run -n 6 --nodes 3 --spares 1 -x KEEL_LANES=$lane
        has "$out" 1 "^$memory$"
        has "$err" 1 'spare 6 is rank 3$'
    done
}

lowest_rank_is_replaced_by_a_spare()
{
    dying=(--die 0@31.1)
    stencil_run -n 4 --nodes 4 --spares 1
    has "$err" 1 'spare 4 is rank 0$'
}

two_spares_take_ranks_at_once()
{
    run 0 -n 8 --nodes 4 --spares 3 "${small[@]}" "$moments" lives 1.0@8,2.0@8 # of two groups
    has "$err" 2 '^keelrun: .* spare \(8\|9\|10\) is rank [12]$'
}

# the second rank to die is taken by the second spare in its order, so it has no incarnation 1
deaths_are_those_of_processes()
{
    run 0 -n 4 --nodes 4 --spares 2 "${small[@]}" "$moments" lives 1.0@8,3.0@20
    [ "$(sed -n 's/^keelrun: .* \(spare .*\) is rank .*$/\1/p' "$err" | sort -u | wc -l)" -eq 2 ] || fail 'one spare twice'
    has "$err" 1 'rank 3 incarnation 2 joined$'
    has "$err" 1 '^keel: rank 3 died on node3; recovered in '
    has "$err" 1 '^keel: 2 deaths, 2 recovered locally, 0 rollbacks, '
}

# four ranks of one group on a node each, spares 4 to 7 on nodes 3 to 0: ranks die in a step, as moments has it
spares_everywhere=(-n 4 --nodes 4 --spares 4 "${small[@]}" -x KEEL_GROUP_SIZE=4)
# each tells its number first
# shellcheck disable=SC2016 # the shell of the process expands
tells_number=(sh -c 'echo $$ >"$0/$PMIX_RANK"; exec "$@"' "$scratch")

spare_that_keeps_the_promise_takes_the_rank()
{
    run 0 "${spares_everywhere[@]}" "$moments" lives 0.0@8,2.0@16 # the second time a spare calls
    has "$err" 1 'spare 5 is rank 2$' # on its own node, all others hold another member
    has "$err" 1 'spare 7 is rank 0$'
    has "$err" 2 'incarnation 1 joined$'
    ! grep -q 'this replacement runs on' "$err" || fail "the promise was kept"
    # groups of ranks 0, 2, 4 and of 1, 3, 5 on a node each; spare 6 is on node 5, spare 7 on node 4
    run 0 -n 6 --nodes 6 --spares 2 "${small[@]}" -x KEEL_GROUP_SIZE=3 "$moments" lives 1.0@8,0.0@16
    has "$err" 1 'spare 7 is rank 1$'
    has "$err" 1 'spare 6 is rank 0$'
    ! grep -q 'this replacement runs on' "$err" || fail "the promise was kept"
}

second_death_of_a_rank_takes_the_next_best_spare()
{
    run 0 "${spares_everywhere[@]}" "$moments" lives 1.0@8,1.1@16
    has "$err" 1 'spare 6 is rank 1$'
    has "$err" 1 'spare [457] is rank 1$'
    has "$err" 1 'rank 1 incarnation 2 joined$'
    has "$err" 1 'keel 1.2 warn: this replacement runs on node node[023], which now holds 2 of group 0'
}

# the best one dies with the rank: only the next one is left
dead_spare_is_passed_over()
{
    run 0 "${spares_everywhere[@]}" "${tells_number[@]}" "$moments" lives "1.0@8:$scratch/6"
    has "$err" 1 'rank 6 incarnation 0 died: signal 9$'
    has "$err" 1 'spare [457] is rank 1$'
    has "$err" 1 'rank 1 incarnation 2 joined$'
    has "$err" 1 'keel 1.2 warn: this replacement runs on node'
}

stopped_rank_is_replaced_by_a_spare()
{
    dying=(--die 1@31.1:stop)
    stencil_run -n 4 --nodes 2 --spares 1 -x KEEL_HEARTBEAT_TIMEOUT=1s
    has "$err" 1 'spare 4 is rank 1$'
}

# whoever takes the dead rank's place never hears the stopped one
stopped_rank_beside_a_dead_one_is_replaced()
{
    # at one line, so that no replacement greets rank 2 before
    run 0 "${small[@]}" -n 4 --nodes 4 --spares 2 -x KEEL_PARITIES=2 -x KEEL_HEARTBEAT_TIMEOUT=1s \
        --kill "1@anyone:sweep 100 of" --stop "2@anyone:sweep 100 of" "$stencil" -s 64x64 -n 1000 --ckpt-every 20 -v \
        --die 2@101.1:hold
    has "$out" 1 'verification PASSED'
    has "$err" 1 'rank 2 incarnation 0 killed: rank 0 does not hear it (state T)$'
    has "$err" 2 ' died: signal 9$'
}

no_spare_left_ends_the_job()
{
    run 137 "${small[@]}" -n 4 --nodes 2 --spares 1 --kill 1@0.1 --kill 4@0.6 "$stencil" -s 64x64 -n 100000
    grep -q 'was killed by signal 9 (Killed) and no spare is left$' "$err" || fail "no reason given"
}

# spares are there, but whoever would call one is dead
death_of_all_ranks_ends_the_job()
{
    # the job stands still until they are killed
    run 137 "${small[@]}" -n 2 --nodes 2 --spares 2 -x KEEL_HEARTBEAT_TIMEOUT=0 --kill "0@anyone:sweep 80 of" \
        --kill "1@anyone:sweep 80 of" "$stencil" "${sweeps[@]}" -v --die 0@81.1:stop
    has "$err" 2 ' died: signal 9$'
    grep -q 'was killed by signal 9 (Killed) and nobody is left to call a spare$' "$err" || fail "no reason given"
}

# ---- mpirun, which tells nobody of a death ---------------------------------------------------------------------------------

mpirun_is_there()
{
    command -v mpirun >/dev/null || { echo "no mpirun on this machine: skipped"; exit 77; }
    mpirun --version | grep -q 'Open MPI' || { echo "mpirun is not Open MPI's: skipped"; exit 77; }
}

mpirun_settings()
{
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export KEEL_HEARTBEAT_TIMEOUT=1s KEEL_OPLOG_SIZE=8m KEEL_GETLOG_SIZE=4m KEEL_VERBOSE=y
}

# four ranks, and KEEL_SPARES more processes
mpirun_launch() # PROGRAM ARGUMENTS...
{
    mpirun_is_there
    mpirun_settings
    : >"$out"
    timeout -k 1 60 mpirun --oversubscribe --enable-recovery -n $((4 + ${KEEL_SPARES:-0})) "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
}

# mpirun_start OPTIONS...: they die at a step (--die), not at a time
mpirun_start()
{
    mpirun_launch "$stencil" -s 64x64 -n 600 --ckpt-every 20 -v "$@"
}

mpirun_end()
{
    local tries file left

    wait "$pid"
    status=$?
    unset "${!KEEL_@}"
    [ $status -eq 0 ] || fail "status $status of mpirun"
    has "$out" 1 'verification PASSED'
    # the daemon of another node ends when it notices that mpirun has: within five seconds, as in check_nothing_left
    for ((tries = 0; tries < 100; tries++)); do
        left=
        for file in $(own_processes); do
            [ ! -e "$file" ] || left=$file
        done
        [ -n "$left" ] || return 0
        sleep 0.05
    done
    fail "left behind: $left"
}

mpirun_run()
{
    mpirun_start "$@"
    mpirun_end
}

# the same memory as of the run before, which nobody died in
same_memory()
{
    has "$out" 1 "^$memory$"
}

undisturbed()
{
    mpirun_run "$@"
    memory=$(grep '^stencil: memory' "$out")
}

mpirun_with_spares_survives_kill()
{
    undisturbed
    export KEEL_SPARES=1
    mpirun_run --die 2@300.1
    same_memory
    grep -q 'rank 2 incarnation 1 is there$' "$err" || fail "no spare took the rank"
}

mpirun_with_spares_survives_kill_of_rank_0()
{
    undisturbed
    export KEEL_SPARES=2
    mpirun_run --die 0@300.0
    same_memory
    grep -q '^keel 0[.][12] info: .* front [0-9]* reached$' "$err" || fail "no spare took the rank"
}

mpirun_with_spares_survives_stop()
{
    export KEEL_SPARES=1
    mpirun_run --die 1@300.1:stop
    grep -q 'rank 1 incarnation 1 is there$' "$err" || fail "no spare took the rank"
}

# nobody waits inside Keel, and the launcher tells of no death: the calls themselves have to look
mpirun_ranks_that_poll_notice_a_death()
{
    local how

    for how in kill stop; do
        export KEEL_SPARES=1 KEEL_HEARTBEAT_TIMEOUT=1s
        mpirun_launch "$polling" $how accesses 1
        wait $pid
        status=$?
        unset "${!KEEL_@}"
        [ $status -eq 0 ] || fail "status $status of mpirun after a $how"
        has "$out" 4 'has polled through 1 steps'
    done
}

# mpirun_on_nodes HOSTS PROCESSES PROGRAM ARGUMENTS...: hosts that are names only; what one says to the other's daemon is lost
mpirun_on_nodes()
{
    local hosts=$1 processes=$2 variable passed=()
    shift 2
    mpirun_is_there
    unshare --uts true 2>/dev/null || { echo "no host names of our own on this machine: skipped"; exit 77; }
    # what mpirun calls to start a daemon: options, the host, the command
    cat >"$scratch/agent" <<'END'
#!/bin/bash
while [[ $1 == -* ]]; do shift; done
host=$1
shift
exec unshare --uts bash -c "hostname $host; $*"
END
    chmod +x "$scratch/agent"
    mpirun_settings
    for variable in "${!KEEL_@}"; do
        passed+=(-x "$variable")
    done
    : >"$out"
    # shellcheck disable=SC2016 # the inner shell expands
    timeout -k 1 60 unshare --uts bash -c 'hostname a && exec "$@"' mpirun mpirun "${passed[@]}" --oversubscribe \
        --mca plm_rsh_agent "$scratch/agent" --enable-recovery -host "$hosts" -n "$processes" "$@" \
        >"$out" 2>"$err" </dev/null &
    pid=$!
}

# nobody hears that a rank of the other node has left
mpirun_ends_on_two_nodes()
{
    local round

    for round in 1 2 3 4 5; do
        mpirun_on_nodes a:2,b:2 4 "$stencil" -s 64x64 -n 60 --ckpt-every 20
        mpirun_end
        # Open MPI 5 reports a race between itself and the process that it starts as a daemon
        ! grep -v 'plm:ssh: Warning: setpgid([0-9,]*) failed in parent' "$err" || fail "something was said in round $round"
    done
}

# the first spare dies with the rank, and nobody tells: there all are on one node, so they are taken by their number
mpirun_passes_a_dead_spare_over()
{
    export KEEL_SPARES=2
    mpirun_launch "${tells_number[@]}" "$moments" lives "1.0@8:$scratch/4"
    wait $pid || fail "status $? of mpirun"
    grep -q 'rank 1 incarnation 2 is there$' "$err" || fail "no spare took the rank"
}

# ended_without_a_result RANK SPARES: each of the three that are left says so; one that hears of another's exit before it hears of the
# death, which made that one exit, names that one
ended_without_a_result()
{
    local result='^keel: rank [0-9.]*: the job ends without a result:'

    has "$err" 3 "$result rank [0-9] died, and of $2 spares none is left to take its place\$"
    grep -q "$result rank $1 died, and of $2 spares" "$err" || fail "nobody names rank $1"
    has "$out" 0 .
}

mpirun_says_that_no_spare_is_left()
{
    export KEEL_SPARES=1
    mpirun_launch "$moments" lives 1.0@8,2.0@16
    wait $pid # with 0: that is how --enable-recovery has it
    ended_without_a_result 2 1
    unset KEEL_SPARES
    mpirun_launch "$moments" lives 1.0@8
    wait "$pid"
    ended_without_a_result 1 0
}

mpirun_death_of_all_ranks_ends_the_spare()
{
    local file ranks=()

    export KEEL_SPARES=1
    mpirun_start -n 100000
    wait_for 'sweep' "$out"
    for file in $(own_processes); do
        if grep -q '^stencil' "${file%environ}comm" && tr '\0' '\n' <"$file" | grep -qx 'PMIX_RANK=[0-3]'; then
            ranks+=("$(basename "${file%/environ}")")
        fi
    done
    kill -STOP "${ranks[@]}" # so that nobody sees another die
    kill -KILL "${ranks[@]}"
    wait "$pid"
    [ $? -lt 124 ] || fail "mpirun has not ended"
    has "$err" 1 '^keel: spare 4: no rank of the job is left on this host, so nobody can call it: it ends$'
}

# ---- the job asks mpirun for a replacement when it needs one --------------------------------------------------------------

processes_left() # NAME
{
    local file

    for file in $(own_processes); do
        ! grep -qsx "$1" "${file%environ}comm" || return 0
    done
    return 1
}

# As mpirun_end(), but where mpirun, all of whose processes have ended, sometimes does not end after a spawn: it is ended here
# once rank 0 has printed the outcome and no process of the program is left.
mpirun_end_by_hand()
{
    local tries

    wait_for 'verification PASSED' "$out"
    for ((tries = 0; tries < 400; tries++)); do
        processes_left stencil || break
        sleep 0.05
    done
    ! processes_left stencil || fail "the program does not end"
    kill "$pid" 2>/dev/null
    wait "$pid"
    unset "${!KEEL_@}"
    has "$out" 1 'verification PASSED'
    ! processes_left 'mpirun\|stencil' || fail "mpirun is left behind"
}

mpirun_spawns_one_replacement()
{
    undisturbed
    export KEEL_SPAWN=1
    mpirun_start --die 2@300.1
    mpirun_end_by_hand
    same_memory
    grep -q 'rank 2 incarnation 1 is there$' "$err" || fail "nobody took the rank"
}

mpirun_spawns_a_replacement()
{
    undisturbed
    export KEEL_SPAWN=2
    mpirun_run --die 2@300.1
    same_memory
    grep -q 'rank 2 incarnation 1 is there$' "$err" || fail "nobody took the rank"
    export KEEL_SPAWN=1
    mpirun_run --die 0@300.0 # the rank that would ask for others
    same_memory
    grep -q '^keel 0[.]1 info: .* front [0-9]* reached$' "$err" || fail "nobody took the rank"
}

# a replacement that was spawned is silent, is looked at and killed like any rank, and is replaced by another
mpirun_replaces_a_spawned_process()
{
    local victim

    undisturbed -n 3000
    export KEEL_SPAWN=3
    mpirun_start -n 3000 --die 2@100.1
    wait_for 'rank 2 incarnation 1 is there$' "$err"
    victim=$(own_processes | while read -r file; do
        if tr '\0' '\n' <"$file" 2>/dev/null | grep -q '^KEEL_SPAWNED='; then basename "${file%/environ}"; fi
    done)
    kill -STOP "$victim"
    mpirun_end
    same_memory
    grep -q 'rank 2 incarnation 2 is there$' "$err" || fail "the spawned process was not replaced"
}

spares_and_spawns_exclude_each_other()
{
    export KEEL_SPAWN=1 KEEL_SPARES=1
    mpirun_start
    wait $pid # with 0: that is how --enable-recovery has it
    grep -q 'KEEL_SPARES and KEEL_SPAWN exclude each other' "$err" || fail "no reason given"
}

run_case
