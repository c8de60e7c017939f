#!/bin/bash
# One case of programs for MPI: mpi_test.sh DIRECTORY-OF-THE-BUILD openmpi|mpich CASE.
set -u

build=$1 mpi=$2 name=$3
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$build/src/adapters/mpi/keel-mpirun
programs=$build/tests/adapters/mpi
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/../../proc/proc_lib.sh"
chapters=(mpi_windows mpi_messages mpi_collectives)
small=(-x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m -x KEELMPI_ARENA=16m --timeout 50)

# each program says once for each rank that it is right, and nothing else
chapters_are_right()
{
    local ranks program

    for program in "${chapters[@]}"; do
        for ranks in 1 2 3 4 8; do
            run 0 -n $ranks --nodes $(((ranks + 1) / 2)) "${small[@]}" -x KEEL_LANES="$1" "$programs/${program}_$mpi"
            has "$out" $ranks "^$program: rank [0-9]* of $ranks: right\$"
            has "$out" $ranks ''
        done
    done
}
chapters_are_right_direct() { chapters_are_right direct; }
chapters_are_right_served() { chapters_are_right served; }

survives=$programs/mpi_survives_$mpi

deaths_are_rolled_back()
{
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES="$1" -x KEEL_VERBOSE=y "$survives" 40 1@8.0,2@15.1,0@23.2,3@31.3
    has "$out" 1 '^mpi_survives: 4 ranks, 40 steps: right$'
    has "$err" 4 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
}
deaths_are_rolled_back_direct() { deaths_are_rolled_back direct; }
deaths_are_rolled_back_served() { deaths_are_rolled_back served; }

# a communicator was freed by then, which the restored program has again; what it printed may be there twice
deaths_behind_the_last_call_are_rolled_back()
{
    run 0 -n 4 --nodes 4 "${small[@]}" "$survives" 40 0@40.9,3@39.1
    grep -q '^mpi_survives: 4 ranks, 40 steps: right$' "$out" || fail "not right"
    has "$err" 0 'started anew'
}

# ahead of the first checkpoint, and a program that has no restart point: once, by keelrun
jobs_without_a_checkpoint_are_started_anew()
{
    run 0 -n 4 --nodes 4 "${small[@]}" "$survives" 40 1@0.8
    has "$err" 1 'the job is started anew (1 of 1)$'
    has "$out" 1 '^mpi_survives: 4 ranks, 40 steps: right$'
    run 0 -n 4 --nodes 4 "${small[@]}" "$survives" 40 2@17.2 plain
    has "$err" 1 'the job is started anew (1 of 1)$'
    has "$out" 1 '^mpi_survives: 4 ranks, 40 steps: right$'
    grep -q '^mpi [0-3]: .* a rank died, and there is no .*: the job has to be started anew$' "$err" || fail "no rank says why"
    run 75 -n 4 --nodes 4 --job-restarts 0 "${small[@]}" "$survives" 40 2@17.2 plain
}

run_case
