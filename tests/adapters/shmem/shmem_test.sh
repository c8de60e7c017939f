#!/bin/bash
# One case of programs for OpenSHMEM: shmem_test.sh DIRECTORY-OF-THE-BUILD CASE.
# shellcheck disable=SC2034,SC2154 # for proc_lib.sh, and of it
set -u

build=$1 name=$2
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$build/contrib/keelrun/keelrun
chapters=$build/tests/adapters/shmem/shmem_chapters
survives=$build/tests/adapters/shmem/shmem_survives
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/../../proc/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m -x SHMEM_SYMMETRIC_SIZE=4M --timeout 60)

chapters_are_right()
{
    local pes chapter

    for pes in 1 2 3 4 8; do
        run 0 -n $pes --nodes $(((pes + 1) / 2)) "${small[@]}" -x KEEL_LANES="$1" "$chapters"
        has "$out" $pes '^shmem_chapters: PE [0-9]*: right$'
    done
    for chapter in teams reductions active; do # PEs beyond KEEL_SHMEM_DIRECT_PES_MAX
        run 0 -n 9 --nodes 5 "${small[@]}" -x KEEL_LANES="$1" "$chapters" $chapter
        has "$out" 9 '^shmem_chapters: PE [0-9]*: right$'
    done
}
# by looks at the words that are waited for, as programs of several threads have them
chapters_are_right_among_threads()
{
    run 0 -n 4 --nodes 2 "${small[@]}" -x CHAPTERS_MULTIPLE=y "$chapters"
    has "$out" 4 '^shmem_chapters: PE [0-9]*: right$'
}

# with the promise nobody has another's memory
promised_programs_have_no_pointers()
{
    run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=direct -x SHMEM_KEEL_DETERMINISTIC=y "$chapters" teams
    has "$out" 4 '^shmem_chapters: PE [0-9]*: right$'
}
# shared memory within nodes, messages between them
chapters_are_right_mixed()
{
    local pes

    for pes in 3 8; do
        run 0 -n $pes --nodes $(((pes + 1) / 2)) "${small[@]}" "$chapters"
        has "$out" $pes '^shmem_chapters: PE [0-9]*: right$'
    done
}
chapters_are_right_direct() { chapters_are_right direct; }
chapters_are_right_served() { chapters_are_right served; }

wrong_calls_are_named()
{
    local call text

    while IFS='|' read -r call text; do
        run 1 -n 2 --nodes 2 "${small[@]}" "$chapters" "$call"
        grep -q "^shmem 0 error: $text" "$err" || fail "$call: no line with '$text'"
    done <<'END'
pe|shmem_int_put: there is no PE of this number: 0x2$
negative|shmem_int_get: there is no PE of this number: 0xffffffffffffffff$
stack|shmem_int_put: neither in the symmetric heap nor a global variable of the program: 0x
beyond|shmem_putmem: neither in the symmetric heap nor a global variable of the program: 0x
much|shmem_int_put: neither in the symmetric heap nor a global variable of the program: 0x
amid|shmem_free: amid memory that was allocated, not where that begins: 0x
beside|shmem_free: not memory that was allocated, or it was freed before: 0x
freed|shmem_free: not memory that was allocated, or it was freed before: 0x
foreign|shmem_realloc: not memory of the symmetric heap: 0x
comparison|shmem_int_wait_until: no comparison: 0x6$
signal|shmem_putmem_signal: no operation of a signal: 0x2$
lock|shmem_set_lock: this PE has that lock already: 0x
root|shmem_int_broadcast: there is no PE of this number: 0x2$
team|shmem_team_my_pe: not a team: 0x63$
destroyed|shmem_team_n_pes: not a team: 0x3$
world|shmem_team_destroy: this team is there for good: 0x1$
context|shmem_ctx_int_put: not a context: 0x4d$
no_context|shmem_ctx_int_atomic_inc: not a context: 0x0$
context_pe|shmem_ctx_int_p: there is no PE of this number in the context's team: 0x1$
default|shmem_ctx_destroy: the default context is there for good: 0x1$
collect|shmem_long_fcollect: neither in the symmetric heap nor a global variable of the program: 0x
reduce|shmem_long_sum_reduce: neither in the symmetric heap nor a global variable of the program: 0x
set|shmem_barrier: no active set of so many PEs: 0x2$
member|shmem_sync: this PE is not in the active set: 0x0$
END
    run 1 -n 1 "$chapters" early
    grep -q '^shmem 0 error: shmem_n_pes: not between shmem_init and shmem_finalize$' "$err" || fail "not named"
    run 1 -n 1 -x SHMEM_SYMMETRIC_SIZE=lots "$chapters"
    grep -q 'SHMEM_SYMMETRIC_SIZE is no number of bytes' "$err" || fail "not named"
    # shellcheck disable=SC2016 # the rank's shell is to expand it
    run 1 -n 2 --nodes 2 "${small[@]}" sh -c '[ "$PMIX_RANK" = 0 ] || export SHMEM_SYMMETRIC_SIZE=5M; exec "$0"' "$chapters"
    grep -q '^shmem 1 error: shmem_init_thread: SHMEM_SYMMETRIC_SIZE, or the program, is another than that of PE 0: 0x500000$' "$err" || fail "not named"
    run 9 -n 3 --nodes 2 "${small[@]}" "$chapters" exit
}

# with and without another node's PE, which nobody else maps
what_was_put_is_sent_by_looks()
{
    local lane how nodes

    for lane in served auto; do
        for how in get fetch beat threads; do
            for nodes in 2 3; do
                run 0 -n 3 --nodes $nodes "${small[@]}" -x KEEL_LANES=$lane "$build/tests/adapters/shmem/shmem_looks" $how
                has "$out" 1 '^shmem_looks: [0-9]* rounds: right$'
            done
        done
    done
}

deaths_are_rolled_back()
{
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES="$1" "$survives" 40 -
    has "$out" 1 '^shmem_survives: 4 PEs, 40 steps: right$'
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES="$1" -x KEEL_VERBOSE=y "$survives" 40 1@8.0,2@15.1,0@23.2,3@31.3
    has "$out" 1 '^shmem_survives: 4 PEs, 40 steps: right$'
    has "$err" 4 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
}
stores_survive()
{
    run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$1" -x KEEL_VERBOSE=y "$build/tests/adapters/shmem/shmem_stores" 30 \
        1@5.0,2@9.1,0@15.2,3@22.3
    has "$out" 1 '^shmem_stores: 4 PEs, 30 steps: right$'
    has "$err" 4 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
}
stores_survive_direct() { stores_survive direct; }
stores_survive_served() { stores_survive served; }
deaths_are_rolled_back_direct() { deaths_are_rolled_back direct; }
deaths_are_rolled_back_served() { deaths_are_rolled_back served; }

files=(-x "KEEL_FILE_DIR=$scratch/files" -x KEEL_FILE_INTERVAL=0 -x KEEL_LOG_LEVEL=info)

# goes_on RIGHT-LINE POINTS PROMISE LANES PES PROGRAM ARGUMENTS...: all PEs are lost at the last point, keelrun too; the same command goes on
goes_on()
{
    local right=$1 points=$2 job=(-n "$5" --nodes "$5" "${small[@]}" "${files[@]}" -x SHMEM_KEEL_DETERMINISTIC="$3" -x KEEL_LANES="$4")

    shift 5
    rm -rf "$scratch/files"
    lost "$points" "${job[@]}" "$@"
    run 0 "${job[@]}" "$@"
    has "$out" 1 "$right"
    has "$err" 1 'the job restarts from checkpoint [1-9][0-9]* in'
}

# amid a put, a sum and a critical section
a_lost_job_goes_on_from_files()
{
    local promise lanes points

    while read -r promise lanes points; do
        goes_on '^shmem_survives: 4 PEs, 40 steps: right$' "$points" "$promise" "$lanes" 4 "$survives" 40 -
    done <<'END'
n direct 1@6.0,1@14.1
n served 0@6.2,0@23.2
y direct 3@6.0,3@13.3
waits served 2@7.0,2@14.1
END
}

# teams are made again before the restart point, or come back with what is protected
lost_teams_go_on_from_files()
{
    local promise lanes

    while read -r promise lanes; do
        goes_on '^shmem_teams_survive: 6 PEs, 20 steps: right$' 2@6.0,2@13.3 "$promise" "$lanes" 6 \
            "$build/tests/adapters/shmem/shmem_teams_survive" 20 -
    done <<'END'
n direct
y served
END
}

teams_survive()
{
    local teams=$build/tests/adapters/shmem/shmem_teams_survive

    run 0 -n 6 --nodes 3 "${small[@]}" -x KEEL_LANES="$1" "$teams" 12 -
    has "$out" 1 '^shmem_teams_survive: 6 PEs, 12 steps: right$'
    run 0 -n 6 --nodes 6 "${small[@]}" -x KEEL_LANES="$1" -x KEEL_VERBOSE=y "$teams" 20 1@4.0,2@7.1,0@10.2,3@13.3,5@16.4
    has "$out" 1 '^shmem_teams_survive: 6 PEs, 20 steps: right$'
    has "$err" 5 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
}
teams_survive_direct() { teams_survive direct; }
teams_survive_served() { teams_survive served; }

# with the promise that the program is deterministic: from its start, and from a checkpoint; the others do not roll back
teams_are_recovered_alone()
{
    run 0 -n 6 --nodes 6 "${small[@]}" -x KEEL_LANES="$1" -x KEEL_VERBOSE=y -x SHMEM_KEEL_DETERMINISTIC=y \
        "$build/tests/adapters/shmem/shmem_teams_survive" 20 1@1.0,3@13.3
    has "$out" 1 '^shmem_teams_survive: 6 PEs, 20 steps: right$'
    grep -q ' decided: local recovery from generation 0,' "$err" || fail "not recovered alone from its start"
    grep -q ' decided: local recovery from generation [1-9]' "$err" || fail "not recovered alone from a checkpoint"
    has "$err" 0 'roll back'
    has "$err" 0 'started anew'
}
teams_are_recovered_alone_direct() { teams_are_recovered_alone direct; }
teams_are_recovered_alone_served() { teams_are_recovered_alone served; }

threads_let_each_other_go_on()
{
    local pes chapter

    for pes in 1 2 3; do
        run 0 -n $pes --nodes $(((pes + 1) / 2)) "${small[@]}" -x KEEL_TOPO_LEVEL=none -x KEEL_LANES="$1" "$build/tests/adapters/shmem/shmem_among_threads" 5 -
        has "$out" $pes '^shmem_among_threads: PE [0-2]: right$'
        has "$err" 0 .
    done
}
threads_let_each_other_go_on_direct() { threads_let_each_other_go_on direct; }
threads_let_each_other_go_on_served() { threads_let_each_other_go_on served; }

# between threads to the restart point; amid them from the program's start; the promise does not hold, which is said once
deaths_among_threads_are_rollbacks()
{
    local threads=$build/tests/adapters/shmem/shmem_among_threads

    run 0 -n 3 --nodes 3 "${small[@]}" -x KEEL_VERBOSE=y -x SHMEM_KEEL_DETERMINISTIC=y "$threads" 8 1@2.1,0@5.1
    has "$out" 3 '^shmem_among_threads: PE [0-2]: right$'
    has "$err" 2 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
    has "$err" 0 'decided: local recovery'
    has "$err" 1 '^shmem 0 warning: shmem_init_thread: with SHMEM_THREAD_MULTIPLE no dead PE is recovered alone: deaths are rollbacks$'
    run 0 -n 3 --nodes 3 "${small[@]}" -x KEEL_VERBOSE=y "$threads" 8 2@3.0
    grep -o '^shmem_among_threads: PE [0-2]: right$' "$out" | sort -u >"$scratch/right"
    has "$scratch/right" 3 .
    has "$err" 1 '^keelrun: the job is started anew (1 of 1)$'
}

# to who died, and of who died, at the same addresses
pointers_survive()
{
    local pointers=$build/tests/adapters/shmem/shmem_pointers_survive

    run 0 -n 4 --nodes 1 "${small[@]}" "$pointers" 10 -
    has "$out" 4 '^shmem_pointers_survive: PE [0-3]: right$'
    run 0 -n 4 --nodes 1 "${small[@]}" -x KEEL_VERBOSE=y "$pointers" 20 1@4.0,2@8.1,0@13.1,3@17.0
    has "$out" 4 '^shmem_pointers_survive: PE [0-3]: right$'
    has "$err" 4 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
}

# more blocks than a table of fixed size had once; rolled back, and recovered alone from the program's start and from a checkpoint
heaps_survive()
{
    local heap=$build/tests/adapters/shmem/shmem_heap_survives deaths=1@2.1,2@5.0,0@9.1 logs=(-x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m)

    run 0 -n 2 --nodes 1 "${logs[@]}" --timeout 60 "$heap" 2 20000 -
    has "$out" 2 '^shmem_heap_survives: PE [01]: right$'
    run 0 -n 3 --nodes 3 "${logs[@]}" --timeout 60 -x KEEL_VERBOSE=y "$heap" 10 1000 ${deaths#*,}
    has "$out" 3 '^shmem_heap_survives: PE [0-2]: right$'
    has "$err" 2 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
    run 0 -n 3 --nodes 3 "${logs[@]}" --timeout 60 -x KEEL_VERBOSE=y -x SHMEM_KEEL_DETERMINISTIC=y "$heap" 10 300 $deaths
    has "$out" 3 '^shmem_heap_survives: PE [0-2]: right$'
    grep -q ' decided: local recovery from generation 0,' "$err" || fail "not recovered alone from its start"
    grep -q ' decided: local recovery from generation [1-9]' "$err" || fail "not recovered alone from a checkpoint"
    has "$err" 0 'roll back'
}

drawn=(-x KEEL_OPLOG_SIZE=64m -x KEEL_GETLOG_SIZE=1m -x SHMEM_SYMMETRIC_SIZE=64M --timeout 60)
drawn_collectives_are_right()
{
    local pes lanes seed=$RANDOM
    for pes in 1 3 4 8; do
        for lanes in direct served; do
            run 0 -n $pes --nodes $(((pes + 1) / 2)) "${drawn[@]}" -x KEEL_LANES=$lanes "$build/tests/adapters/shmem/shmem_random" $seed 150
            has "$out" $pes '^shmem_random: PE [0-9]*: right$'
        done
    done
}

# A PE dies at a drawn moment: without checkpoints and with them, with either promise and without, on 2 to 8 PEs. By hand many: DRAWN_RUNS
# of them from DRAWN_SEED on; what came of them is said then.
drawn_collectives_are_recovered()
{
    local promise save seed=${DRAWN_SEED:-$RANDOM} pes i deaths=0 locals=0 rollbacks=0 anew=0
    local lanes=(direct served auto) ways=("n 40" "y 40" "waits 0" "waits 40" "y 0" "n 0")

    for ((i = 0; i < ${DRAWN_RUNS:-6}; i++, seed++)); do
        read -r promise save <<<"${ways[i % 6]}"
        pes=$((2 + seed % 7))
        run_any -n $pes --nodes $pes "${drawn[@]}" --kill random@random:0.5 --seed "$seed" -x KEEL_VERBOSE=y \
            -x KEEL_LANES="${lanes[i / 6 % 3]}" -x SHMEM_KEEL_DETERMINISTIC="$promise" \
            "$build/tests/adapters/shmem/shmem_random" "$seed" 300 "$save"
        [ "$status" -eq 0 ] || grep -q 'was leaving: nothing is recovered then$' "$err" || fail "status $status with seed $seed"
        grep -o '^shmem_random: PE [0-9]: right$' "$out" | sort -u >"$scratch/right" # twice of a job that was started anew
        has "$scratch/right" $pes .
        if [ "$promise" = waits ]; then
            has "$err" 0 'decided: roll back'
            has "$err" 0 'started anew'
        fi
        deaths=$((deaths + $(grep -c ' died$' "$err")))
        locals=$((locals + $(grep -o 'decided: local' "$err" | sort -u | wc -l)))
        rollbacks=$((rollbacks + $(grep -o 'decided: roll' "$err" | sort -u | wc -l)))
        anew=$((anew + $(grep -c 'the job is started anew' "$err")))
    done
    [ -z "${DRAWN_RUNS:-}" ] || echo "$i runs, $deaths deaths: $locals local, $rollbacks rollbacks, $anew anew" >&3
}

# whichever way it is linked
tools_see_what_is_called()
{
    for tool in shmem_tool shmem_tool_static; do
        run 0 -n 2 --nodes 2 "${small[@]}" "$build/tests/adapters/shmem/$tool"
        has "$out" 2 '^shmem_tool: PE [01]: right$'
    done
}

programs_in_cplus_run()
{
    local folder=$build/src/adapters/shmem

    "${CXX:-c++}" -Wall -Wextra -Werror -I "$(dirname "$0")/../../../src/adapters/shmem" -o "$scratch/shmem_cplus" \
        "$(dirname "$0")/shmem_cplus.cc" -L "$folder" -lkeel-shmem "-Wl,-rpath,$folder" "-Wl,-rpath-link,$build/src" ||
        fail "the program does not compile"
    run 0 -n 3 --nodes 2 "${small[@]}" "$scratch/shmem_cplus"
    has "$out" 3 '^shmem_cplus: PE [0-2]: right$'
}

# before the first checkpoint, and a program that has no restart point: once, by keelrun
jobs_without_a_checkpoint_are_restarted()
{
    run 0 -n 4 --nodes 4 "${small[@]}" "$survives" 40 1@1.0
    has "$err" 1 'the job is started anew (1 of 1)$'
    has "$out" 1 '^shmem_survives: 4 PEs, 40 steps: right$'
    run 0 -n 4 --nodes 4 "${small[@]}" "$survives" 40 2@17.2 plain
    has "$err" 1 'the job is started anew (1 of 1)$'
    has "$out" 1 '^shmem_survives: 4 PEs, 40 steps: right$'
    has "$err" 1 '^keelrun: rank [0-3] ends the job: .* a PE died, and there is no .*: the job has to be started anew$'
    has "$err" 1 'a PE died' # once a job
    run 75 -n 4 --nodes 4 --job-restarts 0 "${small[@]}" "$survives" 40 2@17.2 plain
}

run_case
