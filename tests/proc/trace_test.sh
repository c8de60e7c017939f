#!/bin/bash
# Traces of jobs (KEEL_TRACE): trace_test.sh DIRECTORY-OF-THE-BUILD CASE.
# shellcheck disable=SC2154 # of proc_lib.sh
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun stencil=$build/perf/kernels/stencil ring=$build/tests/proc/files_ring
check=$(dirname "$0")/trace_check.py
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
trace=$scratch/trace.json
tier=(-x "KEEL_TRACE=$trace" -x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m -x KEEL_CKPT_INTERVAL=5gsyncs)

# is_right RANKS CONDITION...: the trace is one, and nothing else is left
is_right()
{
    [ ! -e "$trace.parts" ] || fail "areas are left: $(ls "$trace.parts")"
    python3 "$check" "$trace" "$@" 2>>"$err" || fail "wrong trace"
}

# data NAME: a number of the trace's otherData
data()
{
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["otherData"][sys.argv[2]])' "$trace" "$1"
}

a_local_recovery_is_traced()
{
    local lane

    for lane in direct served; do
        run 0 -n 4 "${tier[@]}" -x KEEL_LANES=$lane -x KEEL_VERBOSE=y "$stencil" -n 40 --die 2@33.1
        [ "$(decided local)" -gt 0 ] || fail "no local recovery"
        is_right 4 'death of rank 2=3' 'replacement joins=3' decision=4 'view change=4' rebuild=1 restore=1 replay=1 catch-up=1 \
            rollback=0 start-up=5 'checkpoint: copy>=12' 'checkpoint: parity>=12' 'checkpoint in use>=12' 'gsync >=120' \
            'phase >=120' 'hand over>=1' 'incarnation 0=4' 'incarnation 1=1'
        [ "$(data lives)" -eq 5 ] || fail "not five lives"
    done
}

a_rollback_is_traced()
{
    run 0 -n 4 --nodes 2 "${tier[@]}" -x KEEL_PROTECT=ckpt -x KEEL_VERBOSE=y "$stencil" -n 40 --die 1@23.0
    [ "$(decided roll)" -gt 0 ] || fail "no rollback"
    is_right 4 'death of rank 1=3' decision=4 rollback=4 replay=0 'incarnation 1=1'
}

# two ranks of a group with one parity: nobody can be rebuilt
a_catastrophe_is_traced()
{
    run_any -n 4 --job-restarts 0 "${tier[@]}" -x KEEL_GROUP_SIZE=0 "$stencil" -n 40 --die 1@23.0
    [ "$status" -ne 0 ] || fail "the job went on"
    is_right 4 'death of rank 1>=1' 'incarnation 0=4' 'gsync >=60'
}

# lose_job OPTIONS...: kills the launcher amid a job; the janitor ends the ranks
lose_job()
{
    start -n 3 "$@" -x "KEEL_FILE_DIR=$scratch/files" -x KEEL_FILE_INTERVAL=0 -x RING_MARK=here "$ring" 10000 20
    wait_for here "$out"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    check_nothing_left '*'
}

# the launcher and all ranks at once: its janitor writes the trace; then the janitor, too: the next job removes the areas
a_job_killed_by_sigkill_is_traced()
{
    lose_job "${tier[@]}"
    is_right 3 'incarnation 0=3' 'gsync >=60' 'checkpoint: file>=1'
    rm "$trace"
    mkdir "$trace.parts"
    echo "no area" >"$trace.parts/life-0.0.0"
    run 0 -n 2 "${tier[@]}" "$stencil" -n 5
    is_right 2 'incarnation 0=2'
    [ "$(data 'areas unreadable')" -eq 0 ] || fail "the areas of another job were read"
}

a_full_trace_keeps_the_death()
{
    run 0 -n 4 "${tier[@]}" -x KEEL_TRACE_EVENTS=64 "$stencil" -n 200 --die 2@33.1
    is_right 4 'death of rank 2=3' decision=4 rebuild=1 replay=1
    [ "$(data 'events overwritten')" -gt 500 ] || fail "no events were overwritten"
    run 0 -n 2 "${tier[@]}" -x KEEL_TRACE_EVENTS=0 "$stencil" -n 5
    is_right 2 'gsync =0' 'incarnation 0=2'
}

a_trace_that_cannot_be_written_is_said()
{
    run 1 -n 2 -x "KEEL_TRACE=$scratch/none/trace.json" "$stencil" -n 5
    has "$err" 1 "keelrun: cannot make the directory '$scratch/none/trace.json.parts': No such file"
    mkdir "$trace"
    run 0 -n 2 "${tier[@]}" "$stencil" -n 5
    has "$err" 1 "keelrun: cannot write '$trace': Is a directory"
}

# stat NAME: a number of the job in the statistics
stat()
{
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["job"][sys.argv[2]])' "$stats" "$1"
}

# is_stat NAME "RELATION NUMBER"
is_stat()
{
    local found

    found=$(stat "$1")
    awk "BEGIN { exit !($found $2) }" || fail "$1 is $found, not $2"
}

# statistics alone need no room for events
stats=$scratch/stats.json
counted=(-x "KEEL_STATS=$stats" -x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m -x KEEL_CKPT_INTERVAL=5gsyncs)

all_lives_are_counted()
{
    local puts

    run 0 -n 4 "${counted[@]}" "$stencil" -n 40
    [ ! -e "$stats.parts" ] || fail "areas are left"
    is_stat deaths "== 0"
    is_stat lives "== 4"
    is_stat recoveries "== 0"
    is_stat checkpoint_copy_ns "> 0"
    puts=$(stat puts)
    run 0 -n 4 "${counted[@]}" -x KEEL_VERBOSE=y "$stencil" -n 40 --die 2@33.1
    is_stat deaths "== 1"
    is_stat lives "== 5"
    [ "$(decided local)" -gt 0 ] || fail "no local recovery"
    is_stat recoveries "== 1"
    is_stat rollbacks "== 0"
    is_stat recovery_rebuild_ns "> 0"
    is_stat rebuilt_bytes "> 0"
    # the replacement repeats puts that its predecessor has done, too: both count
    is_stat puts "> $puts"
    python3 - "$stats" <<'END' >>"$err" || fail "wrong sums"
import json, sys
stats = json.load(open(sys.argv[1]))
lives = stats["lives"]
assert [l["incarnation"] for l in lives if l["rank"] == 2] == [0, 1]
assert [l["ended"] for l in lives if l["rank"] == 2] == ["killed", "left"]
assert sum(l["puts"] for l in lives) == sum(r["puts"] for r in stats["ranks"]) == stats["job"]["puts"]
assert all(l["gsyncs"] > 0 and l["put_log_peak_by_target"] for l in lives)
assert max(l["put_log_peak"] for l in lives) == stats["job"]["put_log_peak"] > 0
END
    stats=$scratch/stats
    run 0 -n 4 "${counted[@]}" -x "KEEL_STATS=$stats" "$stencil" -n 40 --die 2@33.1
    has "$stats" 1 '^deaths 1$'
    has "$stats" 1 '^puts  *[1-9]'
    grep -q '^put log of rank [0-3] towards rank [0-3]: at most [1-9]' "$stats" || fail "no peaks by target"
}

a_lost_job_is_counted()
{
    lose_job "${counted[@]}"
    [ ! -e "$stats.parts" ] || fail "areas are left"
    is_stat deaths "== 3"
    is_stat gsyncs ">= 20"
    is_stat puts ">= 60"
}

# a figure names every rank, is XML, and has what happened: figure RANKS TEXT...
figure()
{
    python3 - "$scratch/recovery.svg" "$@" <<'END' >>"$err" 2>&1 || fail "wrong figure"
import sys, xml.etree.ElementTree
texts = [e.text for e in xml.etree.ElementTree.parse(sys.argv[1]).iter() if e.text]
for text in [f"rank {r}" for r in range(int(sys.argv[2]))]:
    assert texts.count(text) == 1, text
for text in sys.argv[3:]:
    assert any(t.startswith(text) for t in texts), text
END
}

a_recovery_is_drawn()
{
    run 0 -n 4 --nodes 2 --timeline "$scratch/recovery.svg" -x KEEL_CKPT_INTERVAL=5gsyncs "$stencil" -n 40 --die 2@33.1
    figure 4 node1 '1 death, ' 'death of rank 2' 'view change 0: ' 'rebuild ' 'restore ' 'replay ' 'catch-up ' 'gsync ' decision
    [ ! -e "$scratch/recovery.svg.parts" ] || fail "areas are left"
    ! (figure 5) 2>/dev/null || fail "not noticed: a rank that the figure has not"
    run 0 -n 4 --nodes 2 --timeline "$scratch/recovery.svg" -x KEEL_PROTECT=ckpt "$stencil" -n 40 --die 2@33.1
    figure 4 'death of rank 2' 'rollback '
    run 0 -n 2 --timeline "$scratch/recovery.svg" "$stencil" -n 5
    figure 2 '0 deaths, ' 'gsync '
}

# the example's own launcher kills three ranks; the last rank that leaves makes the files
an_attached_job_is_traced()
{
    KEEL_TRACE=$trace KEEL_STATS=$stats KEEL_OPLOG_SIZE=4m KEEL_GETLOG_SIZE=1m timeout -k 5 100 \
        "$build/contrib/examples/attach_launch" -n 4 -N 2 -k 3 -s 1 "$build/contrib/examples/attach" >"$out" 2>"$err" ||
        fail "the job failed"
    is_right 4 'incarnation =7' 'death of rank>=3' 'decision>=4'
    is_stat deaths "== 3"
    is_stat lives "== 7"
}

a_job_under_mpirun_is_traced()
{
    command -v mpirun >/dev/null || exit 77
    mpirun --version 2>&1 | grep -q 'Open MPI' || exit 77
    KEEL_TRACE=$trace KEEL_STATS=$stats KEEL_OPLOG_SIZE=4m KEEL_GETLOG_SIZE=1m OMPI_ALLOW_RUN_AS_ROOT=1 \
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 5 100 mpirun --oversubscribe -x KEEL_TRACE -x KEEL_STATS -x KEEL_OPLOG_SIZE \
        -x KEEL_GETLOG_SIZE -n 3 "$stencil" -n 20 >"$out" 2>"$err" || fail "the job failed"
    is_right 3 'incarnation 0=3' 'gsync >=60'
    is_stat lives "== 3"
    is_stat deaths "== 0"
}

an_openshmem_program_is_traced()
{
    run 0 -n 3 "${tier[@]}" -x "KEEL_STATS=$stats" "$build/contrib/examples/hello_shmem"
    is_right 3 'incarnation 0=3' 'gsync >=3'
    is_stat gsyncs "> 0"
}

an_mpi_program_is_traced()
{
    local mpi found=

    for mpi in openmpi mpich; do
        [ -x "$build/tests/adapters/mpi/mpi_windows_$mpi" ] || continue
        found=yes
        # shellcheck disable=SC2034 # of run()
        keelrun=$build/src/adapters/mpi/keel-mpirun
        run 0 -n 3 "${tier[@]}" -x "KEEL_STATS=$stats" -x KEELMPI_ARENA=16m "$build/tests/adapters/mpi/mpi_windows_$mpi"
        is_right 3 'incarnation 0=3' 'gsync >=3'
        is_stat gsyncs "> 0"
    done
    [ -n "$found" ] || exit 77
}

# all processes are killed, and no launcher is there to make the files
the_tool_makes_what_a_killed_job_left()
{
    local tool=$build/src/tools/keel_trace

    KEEL_TRACE=$trace KEEL_OPLOG_SIZE=1m KEEL_GETLOG_SIZE=1m "$build/contrib/examples/hello_keel" >"$out" 2>"$err" &
    pid=$!
    wait_for KEELAREA "$trace.parts/life-0.0.0"
    kill -KILL $pid
    wait $pid 2>/dev/null
    [ -e "$trace.parts" ] || fail "no areas are there"
    "$tool" -t "$trace" -s "$stats" -l "$scratch/recovery.svg" --remove "$trace.parts" >"$out" 2>"$err" || fail "it failed"
    is_right 1 'incarnation 0=1'
    is_stat deaths "== 1"
    figure 1
    "$tool" -t "$trace" "$trace.parts" >"$out" 2>"$err"
    [ $? -eq 3 ] || fail "a missing folder is read"
    mkdir "$trace.parts"
    "$tool" -t "$scratch/none/x" "$trace.parts" >"$out" 2>"$err"
    [ $? -eq 1 ] || fail "a missing folder is written to"
    "$tool" "$trace.parts" >"$out" 2>"$err"
    [ $? -eq 2 ] || fail "no option is taken"
}

# each change is one that the check has to notice
spoilt_traces_are_noticed()
{
    run 0 -n 2 "${tier[@]}" "$stencil" -n 5
    is_right 2
    python3 "$check" --spoil rules "$trace" 2 'del first("X")["dur"]' 'first("X")["ts"] = "1"' 'first("i")["s"] = "x"' \
        'first("C")["args"]["put log"] = None' 'first("X")["more"] = 1' 'first("X")["ph"] = "B"' \
        'events[:] = [e for e in events if e["name"] != "process_name"]' 'events.remove(first("M", "thread_name"))' \
        'events[:] = [e for e in events if e["pid"] != 1 or e["tid"] > 4]' 'first("X", "gsync")["dur"] += 1e6' 2>>"$err" || fail "not noticed"
    head -c 1000 "$trace" >"$scratch/spoilt.json"
    ! python3 "$check" "$scratch/spoilt.json" 2 2>>"$err" || fail "not noticed: half a file"
    ! python3 "$check" "$trace" 2 rollback=1 2>>"$err" || fail "not noticed: a wrong number"
}

# the same by the schema alone, which knows the names, too
spoilt_traces_do_not_fit_the_schema()
{
    local status

    run 0 -n 2 "${tier[@]}" "$stencil" -n 5
    python3 "$check" --spoil schema "$trace" 2 'del first("X")["dur"]' 'first("X")["ts"] = "1"' 'first("X")["ts"] = -1' \
        'first("i")["s"] = "x"' 'first("C")["args"]["put log"] = None' 'del first("C")["args"]["get log"]' 'first("X")["more"] = 1' \
        'first("X")["ph"] = "B"' 'first("X")["name"] = "nothing"' 'first("X")["args"]["more"] = 1' \
        'first("X", "incarnation")["args"]["ended"] = "died"' 'first("M", "thread_sort_index")["args"] = {}' \
        'first("M", "thread_name")["args"]["name"] = "row"' 'first("i")["pid"] = 0' 'events.append(1)' 'del events[:]' \
        'del trace["otherData"]["lives"]' 'del trace["displayTimeUnit"]' 2>>"$err"
    status=$?
    if [ $status -eq 77 ]; then
        exit 77 # the line says why
    fi
    [ $status -eq 0 ] || fail "the trace does not fit, or what is spoilt does"
}

"$name"
