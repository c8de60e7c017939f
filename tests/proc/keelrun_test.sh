#!/bin/bash
# One case of keelrun's tests: keelrun_test.sh KEELRUN CLIENT CASE. Each case runs keelrun one or more times by run(),
# which checks that nothing of the job is left: no process, directory or shared-memory file.
# shellcheck disable=SC2015,SC2016 # for another shell
set -u

keelrun=$1 client=$2 name=$3
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"

# ---- without deaths -------------------------------------------------------------------------------------------------

plain_program_runs()
{
    run 0 true
    run 0 -n 4 --nodes 2 hostname
    [ "$(sort "$out" | uniq -c | wc -l)" -le 2 ] && has "$out" 4 . && [ ! -s "$err" ] || fail "wrong output"
}

exit_status_is_the_programs()
{
    run 7 -n 3 --nodes 3 sh -c 'exit 7'
    one_line "exited with status 7"
    run 5 -n 4 --nodes 2 "$client" exit 5
    one_line "rank 3 (incarnation 0) exited with status 5"
}

output_is_tagged_and_whole()
{
    run 0 -n 4 --nodes 2 --tag sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo "$PMIX_RANK line $i"; done; echo e >&2; printf end'
    for rank in 0 1 2 3; do
        has "$out" 9 "^\[$rank\] $rank line [1-9]$"
        has "$out" 1 "^\[$rank\] end$"
        has "$err" 1 "^\[$rank\] e$"
    done
    run 0 -n 4 --nodes 4 sh -c 'head -c 100000 /dev/zero | tr "\0" "$PMIX_RANK" | fold -w 997; echo'
    # of each rank 100 full lines and the rest
    awk '{ good += (length($0) == 997 || length($0) == 300) && $0 !~ "[^" substr($0, 1, 1) "]" } END { exit good != 404 }' \
        "$out" || fail "lines were cut or mixed"
    run 0 sh -c 'head -c 200000 /dev/zero | tr "\0" x' # longer than any buffer
    [ "$(tr -d '\n' <"$out" | wc -c)" -eq 200000 ] || fail "a long line lost bytes"
}

bad_arguments_are_named()
{
    local arguments

    while IFS='|' read -r arguments text; do
        # shellcheck disable=SC2086
        run 2 $arguments
        one_line "$text"
    done <<'END'
-n 2 --nodes 3 true|3 nodes need at least as many ranks, not 2
-n 0 true|-n needs a number from 1
-n x true|not 'x'
--nodes -1 true|--nodes needs a number
-n 99999999999999999999 true|-n needs a number
-n 4 --kill 4@1 true|cannot kill rank 4: the job has 4
-n 4 --kill 1 true|needs VICTIM@TIME
-n 4 --kill x@1 true|a number or random
-n 4 --kill 1@x true|random:MAX_SECONDS, marker:TEXT or anyone:TEXT
-n 4 --kill 1@-1 true|random:MAX_SECONDS, marker:TEXT or anyone:TEXT
-n 4 --kill 1@random:x true|random:MAX_SECONDS, marker:TEXT or anyone:TEXT
-n 4 --kill-node 1@1 true|cannot kill node 1: the job has 1
-n 4 --kill-node 0@marker:x true|a node has no output
-n 4 --map spiral true|block or cyclic
--timeout never true|--timeout needs seconds
--restarts -1 true|--restarts needs a number
--seed x true|--seed needs a number
-x NAME true|-x needs NAME=VALUE
--frobnicate true|unknown option '--frobnicate'
-n|'-n' needs a value
-n 2|no program given
END
    run 0 --help
    grep -q -- '--kill-node' "$out" || fail "no help"
    run 0 --version
    grep -q '^keelrun [0-9]' "$out" || fail "no version"
}

program_that_cannot_run_is_named()
{
    run 127 -n 2 ./no-such-program
    one_line "cannot run './no-such-program': no such program"
    run 127 -n 2 no-such-program-anywhere
    one_line "cannot run 'no-such-program-anywhere'"
    run 126 -n 2 "$scratch"
    one_line "directory"
    touch "$scratch/plain"
    run 126 -n 2 "$scratch/plain"
    one_line "Permission denied"
    printf '\177ELF not really' >"$scratch/broken" && chmod +x "$scratch/broken"
    run 126 -n 2 --nodes 2 "$scratch/broken"
    one_line "cannot run the program"
}

variables_and_standard_input()
{
    run 0 -n 2 -x 'GREETING=hello there' sh -c 'echo "$GREETING $KEEL_INCARNATION $KEELRUN_NODE"; cat'
    has "$out" 2 '^hello there 0 0$'
}

alone_without_a_launcher()
{
    "$client" watch 0 >"$out" 2>"$err" || fail "status $?"
    has "$out" 1 '^rank 0.0 of 1 on node 0: 0 deaths, 0 joins, 0 exits$'
}

# hydra; srun without --mpi=pmix. What a batch script of Slurm's starts by itself is alone.
launcher_without_pmix_is_refused()
{
    local set

    for set in PMI_SIZE=4 SLURM_STEP_NUM_TASKS=2 "SLURM_NTASKS=2 SLURM_STEP_ID=0"; do
        # shellcheck disable=SC2086
        ! env $set "$client" watch 0 >"$out" 2>"$err" || fail "a job of one with $set"
        grep -q "^keel: ${set%%=*} is [24], but the launcher of this process does not speak PMIx.*srun --mpi=pmix" "$err" ||
            fail "no reason given with $set"
    done
    for set in PMI_SIZE=1 SLURM_NTASKS=2; do
        env $set "$client" watch 0 >"$out" 2>"$err" || fail "status $? with $set"
    done
}

nodes_have_names_and_ranks()
{
    run 0 -n 6 --nodes 3 "$client" watch 0
    for rank in 0 1 2 3 4 5; do
        has "$out" 1 "^rank $rank.0 of 6 on node $((rank / 2)): "
    done
    run 0 -n 6 --nodes 3 --map cyclic "$client" watch 0
    for rank in 0 1 2 3 4 5; do
        has "$out" 1 "^rank $rank.0 of 6 on node $((rank % 3)): "
    done
    run 0 -n 5 --nodes 4 "$client" watch 0 # the last node has no rank
    has "$out" 1 '^rank 4.0 of 5 on node 2: '
}

# ---- deaths -----------------------------------------------------------------------------------------------------------

one_death_is_announced_and_repaired()
{
    run 0 -n 5 --nodes 2 -v --kill 3@0.05 "$client" watch 1
    has "$out" 4 '^rank [0124].0 of 5 on node .: 1 deaths, 1 joins'
    has "$out" 1 '^rank 3.1 of 5 on node 1: '
    has "$err" 1 'rank 3 incarnation 0 killed$'
    has "$err" 1 'rank 3 incarnation 0 died: signal 9$'
    has "$err" 1 'rank 3 incarnation 1 joined$'
}

two_deaths_at_once_are_announced()
{
    run 0 -n 6 --nodes 3 --kill 2@0.02 --kill 5@0.02 "$client" watch 2
    has "$out" 4 '^rank [0134].0 of 6 on node .: 2 deaths, 2 joins'
    run 0 -n 6 --nodes 3 --kill 2@0 --kill 3@0 "$client" watch 2 # both of one node, as soon as can be
    has "$out" 4 '^rank [0145].0 of 6 on node .: 2 deaths, 2 joins'
}

deaths_of_replacements_are_announced()
{
    local place

    # a replacement dies before PMIx, after open(), and right after it announced itself
    for place in start opened announced; do
        run 0 -n 4 --nodes 2 --restarts 100 --kill 3@0 --kill 1@0 "$client" watch 50 "3.30.$place,1.20.$place"
        has "$out" 2 '^rank [02].0 of 4 on node .: 50 deaths'
    done
}

deaths_on_one_node_of_one_job()
{
    run 0 -n 4 --nodes 1 --restarts 100 --kill 3@0 --kill 1@0 "$client" watch 50 "3.30.announced,1.20.opened"
    has "$out" 2 '^rank [02].0 of 4 on node 0: 50 deaths'
}

random_kill_repeats_from_its_seed()
{
    run 0 -n 4 --nodes 2 --seed 7 --kill random@random:1000 "$client" watch 0 # over before that
    has "$err" 1 '^keelrun: seed 7$'
    has "$err" 1 '^keelrun: rank . was not killed: the job ended before [0-9.]* s$'
    run 0 -n 4 --nodes 2 -v --seed 5 --kill 1@random:0.01 --kill 2@random:0.01 --kill 3@random:0.01 "$client" watch 3
    has "$err" 3 ' killed$'
    sed -n 's/^keelrun: [0-9.]* \(rank . incarnation . killed\)$/\1/p' "$err" >"$scratch/first"
    run 0 -n 4 --nodes 2 -v --seed 5 --kill 1@random:0.01 --kill 2@random:0.01 --kill 3@random:0.01 "$client" watch 3
    sed -n 's/^keelrun: [0-9.]* \(rank . incarnation . killed\)$/\1/p' "$err" | cmp - "$scratch/first" ||
        fail "another order from the same seed"
}

marker_kills()
{
    run 0 -n 3 --nodes 3 -v --kill 1@0.02 --kill "1@marker:rank 1.1 is there" "$client" watch 2
    has "$err" 1 'rank 1 incarnation 1 killed$'
    has "$out" 2 '^rank [02].0 of 3 on node .: 2 deaths, '
    run 0 -n 6 --nodes 3 -v --kill-node "1@anyone:rank 0.0 is there" --kill "5@anyone:rank 0.0 is there" "$client" watch 3
    has "$err" 3 'rank [235] incarnation 0 killed$'
    run 0 -n 2 --nodes 2 --kill-node "1@anyone:no such line" "$client" watch 0
    has "$err" 1 "node 1 was not killed: the ranks did not write 'no such line' while it could be$"
}

node_moves_to_the_emptiest()
{
    run 0 -n 6 --nodes 3 -v --kill-node 1@0.02 "$client" watch 2
    has "$err" 1 'node 1 is lost$'
    has "$err" 2 'rank [23] incarnation 1 started on node 2'
    has "$out" 4 '^rank [0145].0 of 6 on node .: 2 deaths, 2 joins'
    has "$out" 2 '^rank [23].1 of 6 on node 1: ' # failure domains stay as they were
    # a node, then one that moved, then the node it moved to: the rest goes to node 0
    run 0 -n 6 --nodes 3 -v --kill-node 1@0.02 --kill '2@marker:rank 2.1 is there' --kill-node '2@anyone:rank 2.2 is there' "$client" watch 7
    has "$out" 2 '^rank [01].0 of 6 on node 0: 7 deaths'
    # node 3 is empty: all go there
    run 0 -n 6 --nodes 4 -v --kill-node 1@0.02 "$client" watch 2
    has "$err" 2 'rank [23] incarnation 1 started on node 3'
}

nodes_in_network_namespaces()
{
    "$keelrun" --netns true >"$out" 2>"$err"
    if [ $? -eq 77 ]; then
        one_line "network namespaces"
        exit 77
    fi
    run 0 -n 6 --nodes 3 --netns --kill 3@0.02 "$client" watch 1
    ip -o link >"$scratch/links" 2>/dev/null
    # each node has an address of its own; a server on one is reached from another and from no other place
    run 0 -n 2 --nodes 2 --netns --tag bash -c 'while read -r a b; do [ "$b" != "host LOCAL" ] || echo "$before"; before=$b; done \
        < <(sed "s/^ *[|+]*-* */x /" /proc/net/fib_trie | sed "s/\/32 //") | grep 10.77 | sort -u'
    has "$out" 1 '^\[0\] 10.77.0.1'
    has "$out" 1 '^\[1\] 10.77.0.2'
    ip -o link 2>/dev/null | cmp - "$scratch/links" || fail "devices of the host changed"
}

# ---- deaths that end the job ---------------------------------------------------------------------------------------------

# a kill of the first run that was not done stays
death_before_all_met_restarts_the_job()
{
    run 0 -n 4 --nodes 2 "$client" watch 0 2.1.first
    has "$err" 1 "^keelrun: rank 2 (incarnation 0) was killed by signal 9 (Killed) before all ranks had met$"
    has "$err" 1 "^keelrun: the job is started anew (1 of 1)$"
    has "$out" 4 "^rank [0-3].0 is there$"
    run 0 -n 4 --nodes 2 --kill 1@0.02 "$client" watch 1 2.1.first
    has "$out" 1 "^rank 1.1 is there$"
}

# rank 0 fails because of the death of rank 1, and keelrun learns of both at once
a_death_counts_before_failures_because_of_it()
{
    local program='echo $$ >"$0.$PMIX_RANK"; [ "$KEELRUN_JOB" = 0 ] || exit 0
                   until [ -e "$0.go" ]; do sleep 0.02; done; [ "$PMIX_RANK" = 0 ] || kill -9 $$
                   while [ -e "/proc/$(cat "$0.1")" ]; do sleep 0.02; done; exit 3'

    start -n 2 --nodes 1 sh -c "$program" "$scratch/rank"
    until [ -s "$scratch/rank.0" ] && [ -s "$scratch/rank.1" ]; do sleep 0.02; done
    kill -STOP "$pid"
    touch "$scratch/rank.go"
    while [ -e "/proc/$(<"$scratch/rank.0")" ]; do sleep 0.02; done
    sleep 0.1 # the node reports the end of a process that is gone
    kill -CONT "$pid"
    wait "$pid"
    status=$?
    [ $status -eq 0 ] || fail "status $status"
    has "$err" 1 "rank 1 (incarnation 0) was killed by signal 9 (Killed) before all ranks had met"
    has "$err" 1 "the job is started anew"
}

death_before_all_met_ends_the_job()
{
    run 137 -n 4 --nodes 2 --job-restarts 0 "$client" watch 0 2.1.early
    one_line "rank 2 (incarnation 0) was killed by signal 9 (Killed) before all ranks had met"
    run 137 -n 4 --nodes 2 --no-restart "$client" watch 0 2.1.early
    one_line "before all ranks had met"
    run 137 -n 4 --nodes 2 --job-restarts 2 "$client" watch 0 2.1.early
    has "$err" 3 "before all ranks had met"
    has "$err" 2 "the job is started anew (. of 2)"
}

# the launcher accepts these connections when their processes are gone
death_after_connecting_is_no_foreign_connection()
{
    # shellcheck disable=SC2016
    run 0 -n 2 bash -c '
        port=$(env | sed -n "s,^PMIX_SERVER_URI[0-9]*=.*;tcp4://127\.0\.0\.1:\([0-9]*\).*,\1,p" | head -n 1)
        [ -n "$port" ] || exit 3
        for ((i = 0; i < 40; i++)); do
            (exec 4<>"/dev/tcp/127.0.0.1/$port" && kill -9 "$BASHPID")
        done 2>/dev/null
        exec "$0" watch 0' "$client"
    [ ! -s "$err" ] || fail "standard error is not empty"
}

no_restart_ends_the_job()
{
    run 137 -n 4 --nodes 2 --no-restart --kill 2@0.02 "$client" watch 1
    one_line "rank 2 (incarnation 0) was killed by signal 9 (Killed) and is not to be started again"
}

too_many_restarts_end_the_job()
{
    run 137 -n 4 --nodes 2 --restarts 3 --kill 2@0.02 "$client" watch 99 2.99.opened
    one_line "rank 2 (incarnation 3) was killed"
}

death_while_leaving_is_reported_with_spares_too()
{
    run 137 -n 3 --nodes 2 --spares 2 -v --kill 2@0 "$client" finish
    has "$err" 4 ' left$'
    has "$err" 1 'while the job was leaving: nothing is recovered then$'
}

abort_prints_one_reason()
{
    run 1 -n 4 --nodes 2 "$client" abort 2
    one_line "rank 2 ends the job: the reason in two lines"
    run 1 -n 8 --nodes 4 "$client" abort -1
    one_line "ends the job: the reason in two lines"
}

deserting_rank_ends_the_job()
{
    run 1 -n 4 --nodes 2 "$client" desert 0
    one_line "rank 3 (incarnation 0) exited without leaving the job"
}

stop_of_all_ranks_ends_the_job()
{
    run 1 -n 2 --nodes 1 --timeout 40 --stop-node 0@0 "$client" watch 1
    one_line "all ranks are stopped: nobody is left to find that out"
    run 1 -n 2 --nodes 2 --timeout 40 --stop 0@0 --stop 1@0 "$client" watch 1
    one_line "all ranks are stopped: nobody is left to find that out"
}

timeout_ends_the_job()
{
    run 124 -n 2 --nodes 2 --timeout 0.3 sleep 100
    one_line "the job has not ended within 0.3 s"
}

# ---- what is left -----------------------------------------------------------------------------------------------------------

# children in a group and a session of their own, and a directory PMIx made
litter='setsid sleep 1000 & sleep 1000 & echo ready; exec '

nothing_is_left_after_the_end()
{
    run 0 -n 4 --nodes 2 bash -c "setsid sleep 1000 & sleep 1000 & exec $client watch 0"
    run 1 -n 4 --nodes 2 bash -c "setsid sleep 1000 & sleep 1000 & exec $client abort 1"
}

nothing_is_left_after_interrupt()
{
    local signal status

    for signal in INT TERM HUP; do
        start -n 4 --nodes 2 bash -c "$litter$client watch -1"
        wait_for "rank 3.0 is there" "$out"
        kill -$signal $pid
        wait $pid
        status=$?
        [ $status -eq $((128 + $(kill -l $signal))) ] || fail "status $status after $signal"
        one_line "the job ends"
        check_nothing_left $pid
    done
    start -n 4 --nodes 4 "$client" watch -1 # as early as may be: until then it is the shell, which may lose a signal
    until [ "$(cat /proc/$pid/comm)" = keelrun ]; do :; done
    kill -TERM $pid
    wait $pid
    check_nothing_left $pid
}

nothing_is_left_after_kill_of_keelrun()
{
    local wait_s

    start -n 4 --nodes 2 bash -c "$litter$client watch -1"
    wait_for "rank 3.0 is there" "$out"
    kill -KILL $pid
    wait $pid
    check_nothing_left $pid
    for wait_s in 0 0.005 0.01 0.02 0.03 0.05; do # while it starts
        start -n 4 --nodes 2 bash -c "$litter$client watch -1"
        sleep $wait_s
        kill -KILL $pid
        wait $pid
        check_nothing_left $pid
    done
}

nothing_is_left_after_kill_of_the_janitor()
{
    local janitor

    start -n 4 --nodes 2 bash -c "$litter$client watch -1"
    wait_for "rank 3.0 is there" "$out"
    janitor=$(cat "/proc/$pid/task/$pid/children")
    # shellcheck disable=SC2086
    kill -KILL $janitor
    wait $pid
    [ $? -eq 1 ] || fail "a job without a janitor went on"
    one_line "the janitor process is gone"
    check_nothing_left $pid
}

# ends keelrun and its janitor in one moment
kill_both()
{
    local janitor

    janitor=$(cat "/proc/$pid/task/$pid/children")
    # stopped first: a janitor that sees keelrun end begins to remove the directories
    # shellcheck disable=SC2086
    kill -STOP $janitor
    # shellcheck disable=SC2086
    kill -KILL $pid $janitor
    wait "$pid"
}

directories() # of all jobs
{
    find "$TMPDIR" /dev/shm -mindepth 1 -maxdepth 1 -name 'keelrun.*'
}

wait_for_processes()
{
    local tries left

    for ((tries = 0; tries < 400; tries++)); do
        left=$(what_is_left "$pid") # no pipe: its other end would be one of the processes
        # an exiting process loses its environment before its files, and with these the lock of the directory
        [[ $left == *"process "* ]] || ! flock -n "$TMPDIR"/keelrun."$pid".*/lock true || return 0
        sleep 0.05
    done
    fail "processes are left"
}

# by the next start, or by --clean; those of a living job, of another user, and what jobs do not make stay
directories_of_a_killed_job_are_removed_by_the_next()
{
    local living=$scratch/living.out kept

    [ "$KEELRUN_TEST_PRIVATE" = yes ] || { echo "no /dev/shm of its own: skipped"; exit 77; }
    mkdir "$TMPDIR/keelrun" /dev/shm/keelruns && touch "$TMPDIR/keelrun.file"
    mkdir "$TMPDIR/keelrun.1.other" && chown 65534 "$TMPDIR/keelrun.1.other" || fail "no directory of another user"
    kept=$(find "$TMPDIR" /dev/shm -mindepth 1)
    for how in run --clean; do
        start -n 4 --nodes 2 "$client" watch -1
        wait_for "rank 3.0 is there" "$out"
        kill_both
        wait_for_processes
        [ "$(directories | wc -l)" -eq 4 ] || fail "nothing was left"
        if [ $how = run ]; then
            "$keelrun" true || fail "status $?"
        else
            "$keelrun" --clean >"$out" 2>"$err" || fail "status $?"
            has "$out" 1 "^$TMPDIR/keelrun.$pid.* removed$"
            has "$out" 1 "^/dev/shm/keelrun.$pid.* removed$"
        fi
        [ "$(find "$TMPDIR" /dev/shm -mindepth 1)" = "$kept" ] || fail "$how: not what was there before: $(directories)"
    done
    "$keelrun" --timeout 60 -n 2 --nodes 2 "$client" watch -1 >"$living" 2>&1 </dev/null &
    pid=$!
    wait_for "rank 1.0 is there" "$living"
    "$keelrun" --clean >"$out" 2>"$err" || fail "status $?"
    [ ! -s "$out" ] || fail "a living job lost its directories: $(cat "$out")"
    kill -TERM $pid
    wait $pid
    rm -r "$TMPDIR"/keelrun* /dev/shm/keelruns
}

# a start makes its directories while others clean
starts_and_cleaning_do_not_meet()
{
    local i cleaners=()

    for i in 1 2; do
        while [ -d "$scratch" ] && [ ! -e "$scratch/end" ]; do "$keelrun" --clean; done >>"$scratch/cleaned" 2>&1 &
        cleaners+=($!)
    done
    for ((i = 0; i < 20; i++)); do
        "$keelrun" -n 2 --nodes 2 sh -c '[ -d "$UCX_POSIX_DIR" ]' >"$out" 2>"$err" || fail "status $?: round $i"
    done
    touch "$scratch/end"
    wait "${cleaners[@]}"
    check_nothing_left '*' # a cleaner may have taken what an owner was about to lock, or to remove
}

shared_memory_of_a_killed_rank_is_removed()
{
    # UCX makes its files in UCX_POSIX_DIR and removes them when all have opened them: a rank killed between leaves them
    run 137 -n 2 sh -c 'case $UCX_POSIX_DIR in /dev/shm/keelrun.*) echo x >"$UCX_POSIX_DIR/file.$PMIX_RANK" ;; esac
        [ -s "$UCX_POSIX_DIR/file.$PMIX_RANK" ] || exit 3
        kill -9 $$'
}

run_case
