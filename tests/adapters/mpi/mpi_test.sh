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
chapters=(mpi_windows)
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

run_case
